//! How people write: rich or plain text, and the signatures below their messages.

use base::actor::{Circle, Principal};
use base::app::Cx;
use base::error::{Error, Result};
use base::ids::MailboxId;
use base::limits::{SIGNATURE_CHARS, thousands};
use db::Tx;
use model::guests::secure;
use model::installation::audit_log::{self, Action};
use model::mailboxes::{self, InboxWriting};
use model::messages::signatures;
use model::messages::undo_time;
use model::messages::written_text::TextFormat;

use crate::sign_in::sessions::own_id;

/// How somebody writes in an inbox.
#[derive(Clone, Debug, Default)]
pub struct WritingSettings {
    pub format: TextFormat,
    /// The signature that goes below, as Markdown; empty where there is none.
    pub signature: String,
    /// The inbox sends secure messages only.
    pub always_secure: bool,
    /// The writer may send secure messages without being asked to.
    pub may_protect: bool,
}

pub fn writing_settings(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &MailboxId,
) -> Result<WritingSettings> {
    let Principal::Person { id: me, .. } = &cx.actor.who else {
        return Ok(WritingSettings::default());
    };
    let found = signatures::writing_of(tx, cx.actor.ws, me)?;
    let (signature, plain_text) = found.ok_or(Error::NotFound("person"))?;
    let own = OwnWriting { signature: Some(signature), plain_text: Some(plain_text) };
    let inbox = mailboxes::writing_of(tx, cx.actor.ws, mailbox)?;
    settings_of(tx, cx, &own, &inbox)
}

db::row! {
    /// How somebody writes; for an actor who is no person there is nothing.
    pub(crate) struct OwnWriting from "users" {
        signature: Option<String>,
        plain_text: Option<bool>,
    }
}

/// The same from what was read of the actor and the inbox.
pub(crate) fn settings_of(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    own: &OwnWriting,
    inbox: &InboxWriting,
) -> Result<WritingSettings> {
    let Some(plain_text) = own.plain_text else { return Ok(WritingSettings::default()) };
    Ok(WritingSettings {
        format: text_format(plain_text),
        signature: signatures::choose(own.signature.as_deref(), inbox, cx.actor.name()),
        always_secure: inbox.always_secure,
        may_protect: secure::may_protect(tx, cx)?,
    })
}

/// The format that the actor writes in.
pub fn own_format(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<TextFormat> {
    let found = signatures::writing_of(tx, cx.actor.ws, own_id(cx)?)?;
    let (_, plain_text) = found.ok_or(Error::NotFound("person"))?;
    Ok(text_format(plain_text))
}

fn text_format(plain_text: bool) -> TextFormat {
    if plain_text { TextFormat::Plain } else { TextFormat::Markdown }
}

pub fn choose_format(tx: &mut Tx<'_>, cx: &Cx<'_>, format: TextFormat) -> Result<()> {
    tx.exec(
        "UPDATE users SET plain_text = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, own_id(cx)?, &(format == TextFormat::Plain)],
    )?;
    Ok(())
}

/// For how long somebody can stop what they wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UndoChoice {
    /// The seconds that they chose; `None` leaves it to the workspace.
    pub own: Option<i64>,
    pub of_workspace: i64,
}

pub fn undo_choice(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<UndoChoice> {
    Ok(UndoChoice {
        own: undo_time::own_choice(tx, cx.actor.ws, own_id(cx)?)?,
        of_workspace: undo_time::of_workspace(tx, cx.actor.ws)?,
    })
}

/// Chooses the actor's own undo time; `None` leaves it to the workspace.
pub fn choose_undo(tx: &mut Tx<'_>, cx: &Cx<'_>, seconds: Option<i64>) -> Result<()> {
    let seconds = seconds.map(undo_time::check).transpose()?;
    tx.exec(
        "UPDATE users SET undo_seconds = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, own_id(cx)?, &seconds],
    )?;
    Ok(())
}

/// How messages of people are sent in the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendingRules {
    /// For how many seconds those who chose nothing can stop what they wrote.
    pub undo_seconds: i64,
    /// Who answers a conversation that nobody has gets it.
    pub answer_assigns: bool,
}

pub fn sending_rules(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<SendingRules> {
    let (undo_seconds, answer_assigns) = tx.one(
        "SELECT undo_seconds, answer_assigns FROM workspaces WHERE ws = ?1",
        &[&cx.actor.ws],
    )?;
    Ok(SendingRules { undo_seconds, answer_assigns })
}

pub fn set_sending_rules(tx: &mut Tx<'_>, cx: &Cx<'_>, rules: SendingRules) -> Result<()> {
    cx.actor.must_administer()?;
    let SendingRules { undo_seconds, answer_assigns } = rules;
    undo_time::check(undo_seconds)?;
    let changed = tx.exec(
        "UPDATE workspaces SET undo_seconds = ?2, answer_assigns = ?3
         WHERE ws = ?1 AND (undo_seconds <> ?2 OR answer_assigns <> ?3)",
        &[&cx.actor.ws, &undo_seconds, &answer_assigns],
    )?;
    if changed == 0 {
        return Ok(());
    }
    let assigns = if answer_assigns { "answers assign" } else { "answers do not assign" };
    let rules = format!("{undo_seconds} s, {assigns}");
    audit_log::record(tx, cx, &Circle::team(), Action::SendingRulesChanged, &rules, "")
}

/// The actor's own signature.
pub fn own_signature(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<String> {
    let (signature,) = tx.one(
        "SELECT signature FROM users WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, own_id(cx)?],
    )?;
    Ok(signature)
}

pub fn set_own_signature(tx: &mut Tx<'_>, cx: &Cx<'_>, signature: &str) -> Result<()> {
    tx.exec(
        "UPDATE users SET signature = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, own_id(cx)?, &check_signature(signature)?],
    )?;
    Ok(())
}

db::row! {
    /// The signature of an inbox.
    #[derive(Clone, Debug)]
    pub struct InboxSignature from "mailboxes" {
        pub id: MailboxId,
        pub name: String,
        pub signature: String,
        pub is_private: bool = "mailboxes.circle LIKE 'usr%'",
    }
}

/// The signatures of the inboxes that the actor sees.
pub fn inbox_signatures(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<InboxSignature>> {
    let (first, second) = cx.actor.circles.pair();
    Ok(tx.all(
        &format!(
            "SELECT {} FROM mailboxes WHERE ws = ?1 AND circle IN (?2, ?3) ORDER BY name, id",
            InboxSignature::COLUMNS
        ),
        &[&cx.actor.ws, first, second],
    )?)
}

/// Sets the signature of an inbox: owners and admins do, and whose private inbox it is.
pub fn set_inbox_signature(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &MailboxId,
    signature: &str,
) -> Result<()> {
    let inbox = mailboxes::seen_by(tx, cx.actor, id)?.ok_or(Error::NotFound("inbox"))?;
    if inbox.circle.person().is_none() {
        cx.actor.must_administer()?;
    }
    tx.exec(
        "UPDATE mailboxes SET signature = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, id, &check_signature(signature)?],
    )?;
    audit_log::record(tx, cx, &inbox.circle, Action::SignatureChanged, &inbox.name, "")
}

fn check_signature(signature: &str) -> Result<&str> {
    let signature = signature.trim();
    if signature.contains('\0') || signature.chars().count() > SIGNATURE_CHARS {
        let most = thousands(SIGNATURE_CHARS);
        let sentence = format!("A signature has at most {most} characters.");
        return Err(Error::invalid("signature", sentence));
    }
    Ok(signature)
}
