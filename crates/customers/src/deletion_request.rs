//! A customer asks for the deletion of everything about them: a conversation for the team, who decide and do it.

use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::limits::DAY_MS;
use db::Tx;
use inbound::guest_pages::own_page::{OwnPageMail, receive_own};
use model::conversations;
use model::conversations::tags::{self, TagName};
use model::guests::guest_forms::GuestFormId;

use crate::conversations::{inbox_for, list};
use crate::workspace::CustomerWorkspace;

/// It can be asked for once in this time.
const ASKED_EVERY_MS: i64 = 7 * DAY_MS;
/// The tag of the conversation.
const TAG: &str = "delete my data";

/// True while a request is new.
pub fn is_deletion_asked(tx: &mut Tx<'_>, ws: i64, email: &EmailAddress, now: i64) -> Result<bool> {
    let found: Option<(i64,)> = tx.opt(
        "SELECT asked_at FROM deletion_requests WHERE ws = ?1 AND email = ?2",
        &[&ws, email],
    )?;
    Ok(found.is_some_and(|(at,)| at > now - ASKED_EVERY_MS))
}

/// Tells the team, once a week at most. `words` are the subject and the text, in the customer's language.
pub fn request_deletion(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    workspace: &CustomerWorkspace,
    email: &EmailAddress,
    (subject, text): (&str, &str),
) -> Result<()> {
    if is_deletion_asked(tx, workspace.ws, email, cx.now)? {
        return Ok(());
    }
    // Where the team as a whole reads it, if the customer wrote there.
    let all = list(tx, workspace, email)?;
    let of_team = all.into_iter().find(|one| one.circle.is_team());
    let (mailbox, circle) = match of_team {
        Some(one) => (one.mailbox, one.circle),
        None => inbox_for(tx, workspace, email)?.ok_or(Error::NotFound("page"))?,
    };
    tx.exec(
        "INSERT INTO deletion_requests (ws, email, asked_at) VALUES (?1, ?2, ?3)
         ON CONFLICT (ws, email) DO UPDATE SET asked_at = excluded.asked_at",
        &[&workspace.ws, email, &cx.now],
    )?;
    let mail = OwnPageMail {
        id: GuestFormId::new(cx.ids),
        email: email.clone(),
        name: None,
        subject: subject.to_owned(),
        text: text.to_owned(),
        files: Vec::new(),
        joins: None,
    };
    let actor = workspace.actor(&circle);
    let cx = &Cx { actor: &actor, ..*cx };
    let filed = receive_own(tx, cx, &mailbox, &mail)?;
    let mut conversation = conversations::load(tx, cx.actor, filed.conversation.as_str())?;
    tags::change(tx, cx, &mut conversation, &[TagName::new(TAG)], &[]).map(drop)
}
