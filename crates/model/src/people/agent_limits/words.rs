//! The words of a message as far as they are judged: all that its recipients will read, and what of it
//! stands in plain mail.

use crate::conversations::Conversation;

/// All that the recipients of a message will read of its writer's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageWords {
    /// Stands in plain mail, whatever becomes of the rest.
    subject: Option<String>,
    /// The text, and what stands on the list of documents that it asks for.
    body: String,
}

/// The words of a message with this text, which asks for documents of these labels and descriptions. Its
/// summary is for those who approve it, so it is none of them.
pub fn words_of_message<'a>(
    conversation: &Conversation,
    text: &'a str,
    documents: impl IntoIterator<Item = (&'a str, Option<&'a str>)>,
) -> MessageWords {
    // The subject is the writer's own as long as nobody else has written.
    let is_own = conversation.last_direction.is_none();
    let asked = documents
        .into_iter()
        .flat_map(|(label, description)| std::iter::once(label).chain(description));
    let body: Vec<&str> = std::iter::once(text).chain(asked).collect();
    MessageWords { subject: is_own.then(|| conversation.subject.clone()), body: body.join("\n") }
}

impl MessageWords {
    pub fn all(&self) -> String {
        match &self.subject {
            Some(subject) => format!("{subject}\n{}", self.body),
            None => self.body.clone(),
        }
    }

    /// What stands in plain mail: of a message on a protected page, the subject alone.
    pub fn in_plain_mail(&self, is_secure: bool) -> String {
        match is_secure {
            true => self.subject.clone().unwrap_or_default(),
            false => self.all(),
        }
    }
}
