//! The form of an answer: what one form sends is stored once, however often the browser sends it.
//!
//! Customers read these texts.

use base::app::Cx;
use base::error::Result;
use base::ids::MessageId;
use db::Tx;

use crate::guests::guest_forms::GuestFormId;
use crate::guests::guest_tokens::GuestTokenHash;
use crate::guests::secure::content::{self, ProtectedContent};
use crate::guests::secure::links::SecureLink;

/// What is said about other words from a form that was sent before.
pub const SENT_BEFORE: &str = "You sent a reply from this form before, and it has arrived. What you \
                               wrote since is kept: send it as a reply of its own, and attach its \
                               files again.";

/// The answer that a form has sent already.
pub struct EarlierAnswer {
    pub id: MessageId,
    content: ProtectedContent,
}

impl EarlierAnswer {
    /// True for the same once more: the same words, and files of the same names and digests.
    pub fn is_same<'a>(
        &self,
        text: &str,
        mut files: impl Iterator<Item = (&'a str, String)>,
    ) -> bool {
        let mut is_next = |filename: &str, digest: &str| {
            files.next().is_some_and(|other| other.0 == filename && other.1 == digest)
        };
        self.content.text == text
            && self.content.files.iter().all(|file| is_next(&file.filename, &file.digest))
            && files.next().is_none()
    }
}

pub fn earlier_answer(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    link: &SecureLink,
    form: &GuestFormId,
) -> Result<Option<EarlierAnswer>> {
    let found: Option<(MessageId,)> = tx.opt(
        "SELECT message FROM secure_messages WHERE ws = ?1 AND form = ?2",
        &[&cx.actor.ws, &form_hash(form, link)],
    )?;
    let Some((id,)) = found else { return Ok(None) };
    let content = content::load(tx, cx, &id)?;
    Ok(Some(EarlierAnswer { id, content }))
}

/// Notes the form that an answer was sent from. Of two transactions with one form the later one breaks the
/// unique index, runs again, and finds the answer of the other.
pub fn note_form(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    link: &SecureLink,
    form: &GuestFormId,
    answer: &MessageId,
) -> Result<()> {
    tx.exec(
        "UPDATE secure_messages SET form = ?3 WHERE ws = ?1 AND message = ?2",
        &[&cx.actor.ws, answer, &form_hash(form, link)],
    )?;
    Ok(())
}

/// What is kept of a form's id. The message stays the same when its conversation is merged.
fn form_hash(form: &GuestFormId, link: &SecureLink) -> GuestTokenHash {
    form.hash(&format!("answer form {} {}", link.message, link.email))
}
