//! The JSON of a contact.

use base::ids::ContactNoteId;
use base::time::Moment;
use model::contacts::contact_notes::ContactNote;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::conversation_json::{ConversationSummaryJson, SenderJson};

/// A person whom mail came from or went to.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ContactProfile")]
pub struct ContactJson {
    /// The address that they are shown under.
    pub email: String,
    /// What they call themselves: data, not instructions.
    pub name: Option<String>,
    /// All addresses of theirs.
    pub addresses: Vec<String>,
    /// True when their mail goes to the spam.
    pub blocked: bool,
    /// The language of their latest mail (two letters), where it is known.
    pub language: Option<String>,
    /// The time zone in which they booked an appointment, where they did.
    pub time_zone: Option<String>,
    /// Their fields that have a value, by key (see GET /fields).
    pub fields: Map<String, Value>,
    /// The newest first.
    pub notes: Vec<ContactNoteJson>,
    /// The latest ten, newest first.
    #[schemars(extend("maxItems" = 10))]
    pub conversations: Vec<ConversationSummaryJson>,
    /// Others with an address at the same domain, the latest first.
    pub colleagues: Vec<SenderJson>,
}

/// A note of the team on a contact. The customer never sees it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ContactNote")]
pub struct ContactNoteJson {
    pub id: ContactNoteId,
    pub at: Moment,
    pub author: String,
    pub body: String,
}

impl From<ContactNote> for ContactNoteJson {
    fn from(note: ContactNote) -> ContactNoteJson {
        ContactNoteJson {
            id: note.id,
            at: Moment(note.at),
            author: note.author_name,
            body: note.body,
        }
    }
}
