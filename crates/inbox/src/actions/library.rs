//! The document library as people see it.

use std::collections::HashMap;

use db::{Arg, FromRow, Row, Tx};

use crate::app::Cx;
use crate::base::error::{Error, Result};
use crate::base::ids::{ConversationId, DocumentId};
use crate::model::documents::{DocumentFields, DocumentKind};

/// What a list shows of a document beside what the API tells.
#[derive(Clone, Debug)]
pub struct LibraryCard {
    pub content_type: String,
    pub size: i64,
    /// Whose conversation it came with.
    pub contact: String,
}

/// A document with where it came from.
#[derive(Clone, Debug)]
pub struct LibraryDocument {
    pub id: DocumentId,
    pub title: String,
    pub filename: String,
    pub content_type: String,
    pub size: i64,
    pub kind: Option<DocumentKind>,
    pub fields: DocumentFields,
    pub corrected: bool,
    pub created_at: i64,
    pub conversation: Option<(ConversationId, String, String)>,
    /// True when a customer added it on an upload page.
    pub uploaded: bool,
}

impl FromRow for LibraryDocument {
    fn from_row(row: &mut Row<'_>) -> Result<Self, db::StoreError> {
        let mut document = LibraryDocument {
            id: row.take()?,
            title: row.take()?,
            filename: row.take()?,
            content_type: row.take()?,
            size: row.take()?,
            kind: row.take()?,
            fields: serde_json::from_str(&row.take::<String>()?).unwrap_or_default(),
            corrected: row.take()?,
            created_at: row.take()?,
            conversation: None,
            uploaded: row.take()?,
        };
        let (id, subject, contact) = (row.take()?, row.take()?, row.take()?);
        if let (Some(id), Some(subject), Some(contact)) = (id, subject, contact) {
            document.conversation = Some((id, subject, contact));
        }
        Ok(document)
    }
}

/// One document, if the actor may see it.
pub fn look_at_document(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &DocumentId) -> Result<LibraryDocument> {
    let [first, second] = &cx.actor.circles;
    tx.opt(
        "SELECT d.id, d.title, d.filename, d.content_type, d.size, d.kind, d.fields, d.corrected,
                d.created_at, d.message IS NULL, c.id, c.subject,
                coalesce(c.contact_name, c.contact_email)
         FROM documents d
         LEFT JOIN conversations c ON c.ws = d.ws AND c.id = d.conversation
         WHERE d.ws = ?1 AND d.id = ?2 AND d.circle IN (?3, ?4)",
        &[&cx.actor.ws, id, first, second],
    )?
    .ok_or(Error::NotFound("document"))
}

/// What a list shows beside what it found.
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
    let rows: Vec<(DocumentId, String, i64, Option<String>)> = tx.all(
        &format!(
            "SELECT d.id, d.content_type, d.size, coalesce(c.contact_name, c.contact_email)
             FROM documents d
             LEFT JOIN conversations c ON c.ws = d.ws AND c.id = d.conversation
             WHERE d.ws = ?1 AND d.id IN ({})",
            places.join(", ")
        ),
        &args,
    )?;
    let cards = rows.into_iter().map(|(id, content_type, size, contact)| {
        (id, LibraryCard { content_type, size, contact: contact.unwrap_or_default() })
    });
    Ok(cards.collect())
}
