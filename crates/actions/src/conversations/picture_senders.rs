//! Senders whose remote pictures a person always sees.
//!
//! The choice is each person's own: whoever fetches a picture tells its sender that the mail is
//! being read.

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::{MemberId, MessageId};
use base::limits::{PICTURE_SENDERS, thousands};
use base::states::Direction;
use db::{Arg, Json, Tx};
use model::authentication::SenderAuthentication;
use model::conversations;

db::row! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct PictureSender from "picture_senders" {
        pub email: String,
        pub created_at: i64,
    }
}

/// Always shows the reader the remote pictures of whoever sent this message; returns the address.
pub fn always_show_pictures(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &str,
    message: &MessageId,
) -> Result<String> {
    let me = reader(cx)?;
    let sender = sender_of(tx, cx, conversation, message)?;
    let (known,): (i64,) = tx.one(
        "SELECT count(*) FROM picture_senders WHERE ws = ?1 AND person = ?2 AND email <> ?3",
        &[&cx.actor.ws, &me, &sender.email],
    )?;
    if known >= PICTURE_SENDERS {
        let sentence = format!(
            "You always see the pictures of {} senders already. Remove one under Settings, You.",
            thousands(PICTURE_SENDERS as usize)
        );
        return Err(Error::invalid("sender", sentence));
    }
    tx.exec_soon(
        "INSERT INTO picture_senders (ws, person, email, created_at) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (ws, person, email) DO NOTHING",
        &[&cx.actor.ws, &me, &sender.email, &cx.now],
    )?;
    Ok(sender.email)
}

/// Stops it for the sender of a message.
pub fn stop_showing_pictures(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &str,
    message: &MessageId,
) -> Result<()> {
    let sender = sender_of(tx, cx, conversation, message)?;
    remove_picture_sender(tx, cx, &sender.email)
}

/// Stops it for a sender, whether or not it was so.
pub fn remove_picture_sender(tx: &mut Tx<'_>, cx: &Cx<'_>, email: &str) -> Result<()> {
    tx.exec_soon(
        "DELETE FROM picture_senders WHERE ws = ?1 AND person = ?2 AND email = ?3",
        &[&cx.actor.ws, &reader(cx)?, &email],
    )?;
    Ok(())
}

/// The reader's senders, by address.
pub fn picture_senders(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<PictureSender>> {
    Ok(tx.all(
        &format!(
            "SELECT {} FROM picture_senders WHERE ws = ?1 AND person = ?2 ORDER BY email LIMIT ?3",
            PictureSender::COLUMNS
        ),
        &[&cx.actor.ws, &reader(cx)?, &PICTURE_SENDERS],
    )?)
}

/// True when the reader sees the remote pictures of a message without asking. A mail that does not prove
/// its sender only claims to be from them, and is not trusted like one.
pub fn shows_pictures(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &str,
    message: &MessageId,
) -> Result<bool> {
    let sender = sender_of(tx, cx, conversation, message)?;
    if !sender.is_proven {
        return Ok(false);
    }
    Ok(!among_picture_senders(tx, cx, &[&sender.email])?.is_empty())
}

/// Those of the addresses whose pictures the reader always sees.
pub(crate) fn among_picture_senders(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    emails: &[&str],
) -> Result<Vec<String>> {
    let Some(me) = cx.actor.member() else { return Ok(Vec::new()) };
    if emails.is_empty() {
        return Ok(Vec::new());
    }
    let places: Vec<String> = (3..emails.len() + 3).map(|place| format!("?{place}")).collect();
    let mut args: Vec<&dyn Arg> = vec![&cx.actor.ws, &me];
    args.extend(emails.iter().map(|email| email as &dyn Arg));
    let found: Vec<(String,)> = tx.all(
        &format!(
            "SELECT email FROM picture_senders
             WHERE ws = ?1 AND person = ?2 AND email IN ({})",
            places.join(", ")
        ),
        &args,
    )?;
    Ok(found.into_iter().map(|(email,)| email).collect())
}

struct Sender {
    email: String,
    is_proven: bool,
}

/// Who sent a message that the reader may see. Messages of ours have no remote pictures.
fn sender_of(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &str,
    message: &MessageId,
) -> Result<Sender> {
    let missing = || Error::NotFound("message");
    let conversation = conversations::load(tx, cx.actor, conversation).map_err(|_| missing())?;
    let found: Option<(String, Option<Json<SenderAuthentication>>)> = tx.opt(
        "SELECT from_email, authentication FROM messages
         WHERE ws = ?1 AND id = ?2 AND conversation = ?3 AND direction = ?4",
        &[&cx.actor.ws, message, &conversation.id, &Direction::Inbound],
    )?;
    let (email, found) = found.ok_or_else(missing)?;
    let is_proven = found.is_some_and(|found| found.0.is_proven());
    Ok(Sender { email, is_proven })
}

fn reader(cx: &Cx<'_>) -> Result<MemberId> {
    cx.actor.member().ok_or(Error::NotFound("person"))
}
