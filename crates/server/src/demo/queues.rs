//! What waits or failed in the sample workspace: a reply whose recipient's mailbox is full, and an
//! event that Ines holds back.

use actions::integrations::delivery_log::{pause_webhook, send_test_event};
use actions::integrations::webhooks::{add_webhook, check_url};
use api::operations::ReplyInput;
use api::operations::reply;
use base::app::{App, Cx};
use base::error::Result;
use base::ids::ConversationId;
use base::limits::{MINUTE_MS, UNDO_LIVE_MS};
use db::Tx;
use jobs::queues::{QueueAct, change_queue};
use model::messages::send_failure::SendFailure;
use outbound::failed_messages::mark_failed;
use outbound::messages::load_outgoing;

use super::people::SamplePeople;
use super::scenario::{SampleInbox, SampleMember};

/// The conversation whose last reply came to nothing, by its subject.
pub const FAILED: &str = "Order 20425: one lamp missing from the parcel";

/// How long ago the reply was written.
const WRITTEN_AGO_MS: i64 = 25 * MINUTE_MS;

pub fn add(
    tx: &mut Tx<'_>,
    app: &App,
    now: i64,
    people: &SamplePeople,
    conversation: Option<&ConversationId>,
) -> Result<()> {
    if let Some(conversation) = conversation {
        fail_reply(tx, app, now, people, conversation)?;
    }
    let ines = &Cx { now, ..app.cx(people.member(SampleMember::Ines)) };
    let url = check_url("https://erp.lumen-holz.example/mailroom", false)?;
    let webhook = add_webhook(tx, ines, &url, false, true)?.id;
    let event = send_test_event(tx, ines, &webhook)?;
    change_queue(tx, ines, &format!("{webhook}/{event}"), QueueAct::Hold)?;
    // Nothing of the sample is sent to an address that nobody has.
    pause_webhook(tx, ines, &webhook)
}

fn fail_reply(
    tx: &mut Tx<'_>,
    app: &App,
    now: i64,
    people: &SamplePeople,
    conversation: &ConversationId,
) -> Result<()> {
    let jonas = people.member(SampleMember::Jonas);
    let written_at = now - WRITTEN_AGO_MS;
    let input = ReplyInput {
        id: conversation.to_string(),
        body:
            "Dear Tomás,\n\nyou are right: the third lamp is still here, my mistake while packing. \
               It leaves with tomorrow's pickup and costs you nothing.\n\nSorry for the \
               trouble\nJonas"
                .into(),
        send: true,
        ..ReplyInput::default()
    };
    let message = reply(tx, &Cx { now: written_at, ..app.cx(jonas) }, input)?.message_id;
    let mailroom = people.mailroom(SampleInbox::Support);
    let cx = &Cx { now: written_at + UNDO_LIVE_MS, ..app.cx(&mailroom) };
    let (message, conversation) = load_outgoing(tx, cx.actor, &message)?;
    let failure = SendFailure::new("5.2.2", "", "5.2.2 The mailbox is over its quota");
    mark_failed(tx, cx, &conversation, &message, &failure)
}
