//! Whether replies to an inbox go to addresses with a plus tag: tested, or as its owner says.

use std::sync::Arc;

use actions::inboxes::setup;
use axum::extract::{Path, State};
use base::actor::Actor;
use base::error::Error;
use base::ids::MailboxId;
use base::limits::PLUS_TAG_TEST_MS;
use jobs::{RelayOutcome, send_plus_tag_test};
use model::mailboxes;
use model::mailboxes::plus_tags::{PlusTagState, PlusTags};
use translation::t;
use web::Web;
use web::forms::form::{PostedForm, form};
use web::layout::flash::Flash;
use web::layout::responses::{PageError, PageResult};
use web::layout::wording::TimeFormat;

use crate::inboxes::incoming_mail::StatusBadge;

/// What is known about the plus tags of an inbox that is fetched.
pub struct PlusTagsView {
    pub state: StatusBadge,
    pub sentence: String,
    /// Replies go to addresses with a tag.
    pub used: bool,
    /// A test mail can leave now.
    pub testable: bool,
}

impl PlusTagsView {
    pub fn of(tags: &PlusTags, times: &TimeFormat, testable: bool) -> PlusTagsView {
        let when = || tags.tested_at.map(|at| times.long(at).text).unwrap_or_default();
        let is_late = tags.tested_at.is_none_or(|at| times.now - at > PLUS_TAG_TEST_MS);
        let badge = |class, icon, word| StatusBadge { class, icon, word };
        let (state, sentence) = match tags.state {
            PlusTagState::Works => (
                badge("ok", "check", t!("Tested, they work")),
                t!("A test mail to an address with a plus tag came back ({when}).", when = when()),
            ),
            PlusTagState::Sent if is_late => (
                badge("warn", "warn", t!("Not supported")),
                t!("The test mail did not come back ({when}).", when = when()),
            ),
            PlusTagState::Sent => (
                badge("act", "wait", t!("Being tested")),
                t!("The test mail is on its way ({when}).", when = when()),
            ),
            PlusTagState::Refused => (
                badge("warn", "warn", t!("Not supported")),
                t!("The test mail was refused ({when}).", when = when()),
            ),
            PlusTagState::Untested => {
                (badge("", "wait", t!("Not tested")), t!("No test mail came back yet.").into())
            }
            PlusTagState::SaidToWork => {
                (badge("ok", "check", t!("In use")), t!("Somebody said that they arrive.").into())
            }
            PlusTagState::SaidNotToWork => {
                (badge("", "x", t!("Not in use")), t!("Somebody said not to use them.").into())
            }
        };
        PlusTagsView { state, sentence, used: tags.used, testable }
    }
}

form! {
    /// One of the buttons: `test`, `on` or `off`.
    pub struct PlusTagsForm {
        tags: String,
    }
}

pub async fn decide(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<PlusTagsForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let mailbox = MailboxId::parse(&id).ok_or(Error::NotFound("inbox"))?;
    let path = format!("/settings/inboxes/{id}");
    let wanted = mailbox.clone();
    let actor = web
        .read(&visitor, move |tx, cx, me| {
            cx.actor.must_administer()?;
            mailboxes::seen_by(tx, cx.actor, &wanted)?.ok_or(Error::NotFound("inbox"))?;
            Ok(me.actor.clone())
        })
        .await?;
    let on = match form.tags.as_str() {
        "on" => true,
        "off" => false,
        "test" => {
            let flash = match test_plus_tags(&web, &actor, &mailbox).await? {
                Some(RelayOutcome::Delivered) => Flash::PlusTagsTested,
                Some(RelayOutcome::Never(_)) => Flash::PlusTagsRefused,
                _ => Flash::PlusTagsUntested,
            };
            return web.redirect(&path, flash);
        }
        _ => return Err(Error::invalid("tags", "must be test, on or off").into()),
    };
    web.act(&visitor, move |tx, cx, _| setup::set_plus_tags(tx, cx, &mailbox, on)).await?;
    web.redirect(&path, Flash::Saved)
}

/// Sends the test mail of an inbox, where its mail leaves; `None` where it does not.
async fn test_plus_tags(
    web: &Web,
    actor: &Actor,
    mailbox: &MailboxId,
) -> Result<Option<RelayOutcome>, PageError> {
    let (reach, wanted, ws) = (web.mail_reach(), mailbox.clone(), actor.ws);
    let leaves = web.app.store.read(move |tx| reach.leaves_inbox(tx, ws, &wanted)).await?;
    let Ok(_place) = web.trials.try_acquire() else { return Ok(None) };
    if !leaves || web.quiet.is_quiet() {
        return Ok(None);
    }
    let sent = send_plus_tag_test(&web.app, &*web.outgoing.relay, actor, mailbox).await?;
    Ok(Some(sent))
}

/// Tests the plus tags of a mailbox that was just connected, while its page is shown.
pub fn begin_plus_tag_test(web: &Arc<Web>, actor: Actor, mailbox: MailboxId) {
    let own = Arc::clone(web);
    web.app.background.start("test of plus tags", async move {
        match test_plus_tags(&own, &actor, &mailbox).await {
            Err(PageError::Domain(error)) => Err(error),
            _ => Ok(()),
        }
    });
}
