//! What there is to tell people of: written in the transaction of what happened, for those who want it.

use base::actor::Circle;
use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::Result;
use base::ids::{ConversationId, MailboxId, MemberId, UserId};
use base::limits::{NOTICE_MAIL_AGAIN_MS, NOTICE_SETTLES_MS};
use base::string_enum::string_enum;
use db::Tx;

use crate::people::notifications::choices::{self, MailNotice};
use crate::people::notifications::push;
use crate::people::notifications::settings::NoticeSettings;

pub use crate::people::notifications::choices::NoticeKind;

string_enum! {
    /// By which way somebody is told.
    NoticeChannel { Browser = "browser", Mail = "mail" }
}

/// Where something happened.
#[derive(Clone, Copy, Debug)]
pub struct NoticePlace<'a> {
    pub conversation: &'a ConversationId,
    pub mailbox: &'a MailboxId,
    pub circle: &'a Circle,
}

/// Notes something for one person, unless they did it themselves.
pub fn note(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    place: NoticePlace<'_>,
    kind: NoticeKind,
    person: &UserId,
) -> Result<()> {
    note_by(tx, cx, place, kind, person, cx.actor.name())
}

/// The same for what another did than the actor, or is to be looked at in another's doing.
pub fn note_by(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    place: NoticePlace<'_>,
    kind: NoticeKind,
    person: &UserId,
    by: &str,
) -> Result<()> {
    if is_own(cx, person) || place.circle.is_sandbox() {
        return Ok(());
    }
    let ws = cx.actor.ws;
    let choice = choices::of(tx, ws, person, kind, Some(place.mailbox))?;
    if choice.browser && push::has_browser(tx, ws, person)? {
        let due_at = cx.now + settles(kind);
        let planned = Planned { channel: NoticeChannel::Browser, due_at, batched: false, by };
        write(tx, cx, place, kind, person, &planned)?;
    }
    let (due_at, batched) = match choice.mail {
        MailNotice::No => return Ok(()),
        MailNotice::AtOnce => (cx.now + settles(kind), false),
        MailNotice::Digest => (NoticeSettings::of(tx, ws, person)?.next_digest(cx.now), true),
    };
    write(
        tx,
        cx,
        place,
        kind,
        person,
        &Planned { channel: NoticeChannel::Mail, due_at, batched, by },
    )
}

/// True where the person is the one who acts.
pub fn is_own(cx: &Cx<'_>, person: &UserId) -> bool {
    matches!(cx.actor.member(), Some(MemberId::User(actor)) if actor == *person)
}

/// Notes something for whoever has the conversation. Where no person has it, for everybody who chose to be
/// told of it.
pub fn note_for_team(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    place: NoticePlace<'_>,
    kind: NoticeKind,
    assignee: Option<&MemberId>,
) -> Result<()> {
    if place.circle.is_sandbox() {
        return Ok(());
    }
    if let Some(MemberId::User(person)) = assignee {
        return note(tx, cx, place, kind, person);
    }
    for person in choices::choosers(tx, cx.actor.ws, kind, Some(place.mailbox))? {
        note(tx, cx, place, kind, &person)?;
    }
    Ok(())
}

/// Notes for a person that a conversation was given to them.
pub fn note_assigned(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    place: NoticePlace<'_>,
    to: Option<&MemberId>,
) -> Result<()> {
    match to {
        Some(MemberId::User(person)) => note(tx, cx, place, NoticeKind::Assigned, person),
        _ => Ok(()),
    }
}

/// Notes that a message was not delivered, for its author, or for whoever has the conversation where the author
/// is no person.
pub fn note_failed(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    place: NoticePlace<'_>,
    author: Option<&str>,
    assignee: Option<&MemberId>,
) -> Result<()> {
    let author = author.and_then(UserId::parse);
    let person = match (author, assignee) {
        (None, Some(MemberId::User(person))) => Some(person.clone()),
        (author, _) => author,
    };
    match person {
        Some(person) => note(tx, cx, place, NoticeKind::MessageFailed, &person),
        None => Ok(()),
    }
}

fn settles(kind: NoticeKind) -> i64 {
    match kind {
        NoticeKind::Reply | NoticeKind::Followed | NoticeKind::NewConversation => NOTICE_SETTLES_MS,
        _ => 0,
    }
}

/// How and when a fact is to be told.
struct Planned<'a> {
    channel: NoticeChannel,
    due_at: i64,
    batched: bool,
    /// Who did it.
    by: &'a str,
}

/// One row for each conversation and kind: what happens again before it was told changes its time only.
fn write(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    place: NoticePlace<'_>,
    kind: NoticeKind,
    person: &UserId,
    planned: &Planned<'_>,
) -> Result<()> {
    let ws = cx.actor.ws;
    let found: Option<(Option<i64>, Option<i64>, bool)> = tx.opt(
        "SELECT due_at, told_at, batched FROM notice_facts
         WHERE ws = ?1 AND person = ?2 AND conversation = ?3 AND channel = ?4 AND kind = ?5",
        &[&ws, person, place.conversation, &planned.channel, &kind],
    )?;
    let (due_at, batched) = match found {
        Some((Some(due_at), _, batched)) => (due_at, batched),
        Some((None, Some(told_at), _)) => {
            (planned.due_at.max(told_at + NOTICE_MAIL_AGAIN_MS), planned.batched)
        }
        _ => (planned.due_at, planned.batched),
    };
    tx.exec(
        "INSERT INTO notice_facts (
            ws, person, conversation, channel, kind, by_name, at, due_at, batched
         ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
         ON CONFLICT (ws, person, conversation, channel, kind) DO UPDATE
         SET by_name = excluded.by_name, at = excluded.at, due_at = excluded.due_at,
             batched = excluded.batched",
        &[
            &ws,
            person,
            place.conversation,
            &planned.channel,
            &kind,
            &planned.by,
            &cx.now,
            &due_at,
            &batched,
        ],
    )?;
    tx.wake(Queue::Notifications);
    Ok(())
}
