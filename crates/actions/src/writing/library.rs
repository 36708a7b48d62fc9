//! The document library as people see it.

use std::collections::HashMap;

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::{ConversationId, DocumentId};
use db::{Arg, Json, Tx};
use model::documents::{DocumentFields, DocumentKind};

/// A document in a list, with the fields that the API does not have.
#[derive(Clone, Debug)]
pub struct LibraryCard {
    pub content_type: String,
    pub size: i64,
    /// Whose conversation it came with.
    pub contact: String,
}

db::row! {
    /// A document with where it came from.
    #[derive(Clone, Debug)]
    pub struct LibraryDocument from "d" {
        pub id: DocumentId,
        pub title: String,
        pub filename: String,
        pub content_type: String,
        pub size: i64,
        pub kind: Option<DocumentKind>,
        pub fields: Json<DocumentFields>,
        pub corrected: bool,
        pub created_at: i64,
        /// True when a customer added it on an upload page.
        pub uploaded: bool = "d.message IS NULL",
        conversation: Option<ConversationId> = "c.id",
        subject: Option<String> = "c.subject",
        contact: Option<String> = "coalesce(c.contact_name, c.contact_email)",
    }
}

impl LibraryDocument {
    /// The conversation that it came with, its subject, and whose it is.
    pub fn conversation(&self) -> Option<(&ConversationId, &str, &str)> {
        Some((self.conversation.as_ref()?, self.subject.as_deref()?, self.contact.as_deref()?))
    }
}

/// One document, if the actor may see it.
pub fn look_at_document(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &DocumentId) -> Result<LibraryDocument> {
    let (first, second) = cx.actor.circles.pair();
    tx.opt(
        &format!(
            "SELECT {} FROM documents d
             LEFT JOIN conversations c ON c.ws = d.ws AND c.id = d.conversation
             WHERE d.ws = ?1 AND d.id = ?2 AND d.circle IN (?3, ?4)",
            LibraryDocument::COLUMNS
        ),
        &[&cx.actor.ws, id, first, second],
    )?
    .ok_or(Error::NotFound("document"))
}

/// The list's data beside its documents.
pub fn cards(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    found: &[&DocumentId],
) -> Result<HashMap<DocumentId, LibraryCard>> {
    if found.is_empty() {
        return Ok(HashMap::new());
    }
    let places: Vec<String> = (2..found.len() + 2).map(|place| format!("?{place}")).collect();
    let mut args: Vec<&dyn Arg> = vec![&cx.actor.ws];
    args.extend(found.iter().map(|id| *id as &dyn Arg));
    let rows: Vec<(DocumentId, String, i64, String)> = tx.all(
        &format!(
            "SELECT d.id, d.content_type, d.size, coalesce(c.contact_name, c.contact_email, '')
             FROM documents d
             LEFT JOIN conversations c ON c.ws = d.ws AND c.id = d.conversation
             WHERE d.ws = ?1 AND d.id IN ({})",
            places.join(", ")
        ),
        &args,
    )?;
    let cards = rows
        .into_iter()
        .map(|(id, content_type, size, contact)| (id, LibraryCard { content_type, size, contact }));
    Ok(cards.collect())
}
