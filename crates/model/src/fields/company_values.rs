//! The values of fields of companies. A company is the domain of its people's addresses, unless anybody gets an
//! address there; it is read and changed through any of its people.

use base::actor::{Actor, Circle};
use base::email_address::EmailAddress;
use base::error::Result;
use base::limits::FIELDS;
use db::Tx;

use crate::fields::field_entry::{FieldChange, FieldEntry, StoredValue};

/// The company of the person with these addresses.
pub fn company_of(addresses: &[EmailAddress]) -> Option<&str> {
    let own = addresses.iter().find(|email| mail::organisation(email).is_some());
    own.and_then(|email| email.domain())
}

/// What a company has, by key. What everybody knows comes before what is known from a private inbox.
pub fn of_company(tx: &mut Tx<'_>, actor: &Actor, company: &str) -> Result<Vec<FieldEntry>> {
    let (first, second) = actor.circles.pair();
    let found: Vec<StoredValue> = tx.all(
        &format!(
            "SELECT {} FROM company_fields v JOIN fields f ON f.ws = v.ws AND f.name = v.field
             WHERE v.ws = ?1 AND v.company = ?2 AND v.circle IN (?3, ?4)
             ORDER BY v.field, CASE WHEN v.circle = 'team' THEN 0 ELSE 1 END LIMIT ?5",
            StoredValue::COLUMNS
        ),
        &[&actor.ws, &company, first, second, &(2 * FIELDS)],
    )?;
    let mut entries: Vec<FieldEntry> = found.into_iter().map(FieldEntry::from).collect();
    entries.dedup_by(|later, first| later.key == first.key);
    Ok(entries)
}

/// Sets a field of a company for those of a circle, or removes it.
pub(super) fn set(
    tx: &mut Tx<'_>,
    actor: &Actor,
    company: &str,
    circle: &Circle,
    change: &FieldChange,
) -> Result<()> {
    let (first, second) = actor.circles.pair();
    let key = &change.field.key;
    tx.exec_soon(
        "DELETE FROM company_fields
         WHERE ws = ?1 AND company = ?2 AND field = ?3 AND circle IN (?4, ?5)",
        &[&actor.ws, &company, key, first, second],
    )?;
    if let Some(value) = &change.to {
        tx.exec_soon(
            "INSERT INTO company_fields (ws, company, field, circle, value, folded, number)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
             ON CONFLICT (ws, company, field, circle) DO UPDATE
             SET value = excluded.value, folded = excluded.folded, number = excluded.number",
            &[&actor.ws, &company, key, circle, &value.text, &value.fold_text(), &value.number],
        )?;
    }
    Ok(())
}
