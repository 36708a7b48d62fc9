//! What the team of the sample workspace knows about a customer.

use actions::conversations::contacts;
use actions::workspace::fields::{TypedField, add_field, set_contact_fields};
use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::Result;
use db::{Json, Tx};
use model::fields::{CustomField, FieldKind, FieldOwner};

/// The customer with an appointment.
const NOOR: &str = "noor@haddad-interiors.example";

/// A note on a contact.
pub fn note(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<()> {
    let body = "Furnishes flats for others, so she asks for trade prices. Prefers a call in the \
                afternoon.";
    contacts::add_contact_note(tx, cx, &EmailAddress::new(NOOR), body)
}

/// The fields of the workspace, and what one contact has.
pub fn fill_fields(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<()> {
    let field = |key: &str, owner, kind, choices: &[&str]| CustomField {
        key: key.to_owned(),
        owner,
        kind,
        choices: Json(choices.iter().map(|choice| (*choice).to_owned()).collect()),
    };
    let (contact, conversation) = (FieldOwner::Contact, FieldOwner::Conversation);
    let company = FieldOwner::Company;
    for field in [
        field("order", conversation, FieldKind::Reference, &[]),
        field("prices", contact, FieldKind::Choice, &["Retail", "Trade"]),
        field("customer_since", contact, FieldKind::Date, &[]),
        field("payment_terms", company, FieldKind::Choice, &["14 days", "30 days"]),
    ] {
        add_field(tx, cx, &field)?;
    }
    let values =
        [("prices", "Trade"), ("customer_since", "2024-03-01"), ("payment_terms", "30 days")];
    let typed = values.map(|(key, typed)| TypedField {
        key: key.to_owned(),
        typed: typed.to_owned(),
        before: String::new(),
    });
    set_contact_fields(tx, cx, &EmailAddress::new(NOOR), &typed)
}
