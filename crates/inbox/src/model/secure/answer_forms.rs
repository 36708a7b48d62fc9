//! The form of an answer. Each that is shown has an id of its own, and what one form sends is stored once,
//! however often the browser sends it.

use db::Tx;

use super::content::{self, ProtectedContent};
use super::links::SecureLink;
use crate::app::Cx;
use crate::base::error::Result;
use crate::base::ids::{Ids, MessageId};
use crate::model::guest_tokens::GuestTokenHash;

/// Characters of an id, almost 6 bits each.
const ID_CHARS: usize = 26;

/// What is said about other words from a form that was sent before.
pub const SENT_BEFORE: &str = "You sent a reply from this form before, and it has arrived. What you \
                               wrote since is kept: send it as a reply of its own, and attach its \
                               files again.";

/// The id of a form that was shown: a random word, which counts for the page of one link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerFormId(String);

impl AnswerFormId {
    pub fn new(ids: &Ids) -> AnswerFormId {
        AnswerFormId(ids.secret(ID_CHARS))
    }

    /// `None` for what no form carries.
    pub fn parse(text: &str) -> Option<AnswerFormId> {
        let is_plain = text.bytes().all(|b| b.is_ascii_alphanumeric());
        (text.len() == ID_CHARS && is_plain).then(|| AnswerFormId(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What is kept of it. The message stays the same when its conversation is merged.
    fn hash(&self, link: &SecureLink) -> GuestTokenHash {
        GuestTokenHash::of(&format!("answer form {} {} {}", link.message, link.email, self.0))
    }
}

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
    form: &AnswerFormId,
) -> Result<Option<EarlierAnswer>> {
    let found: Option<(MessageId,)> = tx.opt(
        "SELECT message FROM secure_messages WHERE ws = ?1 AND form = ?2",
        &[&cx.actor.ws, &form.hash(link)],
    )?;
    let Some((id,)) = found else { return Ok(None) };
    let content = content::load(tx, cx, &id)?;
    Ok(Some(EarlierAnswer { id, content }))
}

/// Notes the form that an answer was sent from. Of two transactions with one form the later one breaks the
/// unique index, runs again, and finds the answer of the other.
pub(crate) fn note_form(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    link: &SecureLink,
    form: &AnswerFormId,
    answer: &MessageId,
) -> Result<()> {
    tx.exec(
        "UPDATE secure_messages SET form = ?3 WHERE ws = ?1 AND message = ?2",
        &[&cx.actor.ws, answer, &form.hash(link)],
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_form_carries_is_its_id() {
        let id = AnswerFormId::new(&Ids::seeded(1));
        assert_eq!(AnswerFormId::parse(id.as_str()), Some(id.clone()));
        assert_ne!(AnswerFormId::new(&Ids::seeded(2)), id);
        for bad in ["", "a1", &id.as_str()[1..], &format!("{}a", id.as_str()), &"é".repeat(13)] {
            assert!(AnswerFormId::parse(bad).is_none(), "{bad}");
        }
    }
}
