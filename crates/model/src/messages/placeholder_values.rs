//! What placeholders stand for in a conversation: its contact, subject, inbox, reference and fields.

use base::error::Result;
use db::Tx;

use crate::conversations::Conversation;
use crate::fields::stored_values::{self, FieldEntry};
use crate::messages::placeholders::first_word;

/// Leads the placeholder of a field: `field.plan`.
pub const FIELD_PLACEHOLDER: &str = "field.";

/// The values of one conversation; all are empty where there is none.
#[derive(Clone, Debug, Default)]
pub struct PlaceholderValues {
    name: String,
    email: String,
    subject: String,
    inbox: String,
    reference: String,
    fields: Vec<FieldEntry>,
}

impl PlaceholderValues {
    /// Those of a conversation in an inbox of this name. Its fields are those that everybody knows who sees it.
    pub fn of(
        tx: &mut Tx<'_>,
        ws: i64,
        conversation: &Conversation,
        inbox: &str,
    ) -> Result<PlaceholderValues> {
        Ok(PlaceholderValues {
            name: conversation.contact_name.as_deref().unwrap_or("").trim().to_owned(),
            email: conversation.contact_email.to_string(),
            subject: conversation.subject.clone(),
            inbox: inbox.to_owned(),
            reference: conversation.reference.clone().unwrap_or_default(),
            fields: stored_values::known_about(tx, ws, conversation)?,
        })
    }

    /// What a placeholder stands for, empty where the conversation has no such value; `None` for what is no
    /// value of a conversation, such as the writer's name.
    pub fn value_of(&self, placeholder: &str) -> Option<String> {
        if let Some(key) = placeholder.strip_prefix(FIELD_PLACEHOLDER) {
            let entry = self.fields.iter().find(|entry| entry.key == key);
            return Some(entry.map(|entry| entry.value.text.clone()).unwrap_or_default());
        }
        let value: &str = match placeholder {
            "first_name" => first_word(&self.name),
            "name" => &self.name,
            "email" => &self.email,
            "subject" => &self.subject,
            "inbox" => &self.inbox,
            "reference" => &self.reference,
            _ => return None,
        };
        Some(value.to_owned())
    }
}
