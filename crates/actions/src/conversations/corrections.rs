//! A person corrects what was extracted from a document.

use base::app::Cx;
use base::error::{Error, Result, ValidationError, ValidationErrors};
use base::ids::DocumentId;
use base::limits::{DOCUMENT_AMOUNT, DOCUMENT_FIELD_CHARS};
use base::time::is_date;
use db::Tx;
use model::documents;
use model::documents::{DocumentFields, DocumentKind};

/// Replaces a document's extracted fields by a person's correction. The document is not extracted
/// again.
pub fn correct_document(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &DocumentId,
    kind: DocumentKind,
    fields: &DocumentFields,
) -> Result<()> {
    check(fields)?;
    let (first, second) = cx.actor.circles.pair();
    let seen = tx.exec(
        "UPDATE documents SET corrected = TRUE, extract_at = NULL
         WHERE ws = ?1 AND id = ?2 AND circle IN (?3, ?4)",
        &[&cx.actor.ws, id, first, second],
    )?;
    if seen == 0 {
        return Err(Error::NotFound("document"));
    }
    documents::describe(tx, (cx.actor.ws, cx.now), id, kind, fields)
}

/// Names everything that a field cannot be, at once.
fn check(fields: &DocumentFields) -> Result<()> {
    let mut problems = Vec::new();
    let mut refuse = |field: &str, sentence: String| {
        problems.push(ValidationError { field: field.into(), sentence });
    };
    for (name, value) in [("vendor", &fields.vendor), ("reference", &fields.reference)] {
        let is_fine = |text: &String| {
            !text.trim().is_empty()
                && text.chars().count() <= DOCUMENT_FIELD_CHARS
                && !text.contains(char::is_control)
        };
        if !value.as_ref().is_none_or(is_fine) {
            refuse(name, format!("must be 1 to {DOCUMENT_FIELD_CHARS} characters in one line"));
        }
    }
    if fields.amount.is_some_and(|amount| !amount.is_finite() || amount.abs() > DOCUMENT_AMOUNT) {
        refuse("amount", "must be a number of at most twelve digits before the point".into());
    }
    let is_code = |code: &String| code.len() == 3 && code.bytes().all(|b| b.is_ascii_uppercase());
    if !fields.currency.as_ref().is_none_or(is_code) {
        refuse("currency", "must be a code of three capital letters such as EUR".into());
    }
    for (name, value) in [("date", &fields.date), ("dueDate", &fields.due_date)] {
        if !value.as_deref().is_none_or(is_date) {
            refuse(name, "must be a day such as 2026-11-15".into());
        }
    }
    match problems.is_empty() {
        true => Ok(()),
        false => Err(Error::Invalid(ValidationErrors(problems))),
    }
}
