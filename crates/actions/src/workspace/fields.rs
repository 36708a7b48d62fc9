//! The fields of contacts and conversations, as owners and admins look after them.

use base::actor::Circle;
use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::Result;
use db::Tx;
use model::contacts::contact_profile;
use model::conversations::{self, Conversation};
use model::fields::stored_values::{self, FieldEntry};
use model::fields::typed_value::FieldValue;
use model::fields::{self, CustomField, FieldOwner};
use model::installation::audit_log::{self, Action};
use serde_json::{Map, Value};

pub fn add_field(tx: &mut Tx<'_>, cx: &Cx<'_>, field: &CustomField) -> Result<CustomField> {
    cx.actor.must_administer()?;
    let field = fields::add(tx, cx, field)?;
    audit_log::record(tx, cx, &Circle::team(), Action::FieldAdded, &field.key, "")?;
    Ok(field)
}

/// Removes a field with all its values.
pub fn remove_field(tx: &mut Tx<'_>, cx: &Cx<'_>, key: &str) -> Result<()> {
    cx.actor.must_administer()?;
    let field = fields::remove(tx, cx, key)?;
    audit_log::record(tx, cx, &Circle::team(), Action::FieldRemoved, &field.key, "")
}

/// The fields that a conversation or contact can have, and those that it has.
pub struct FieldSheet {
    pub fields: Vec<CustomField>,
    pub values: Vec<FieldEntry>,
}

/// A field as somebody typed it in a form.
#[derive(Clone, Debug)]
pub struct TypedField {
    pub key: String,
    pub typed: String,
    /// What stood there before; what is still so is not set.
    pub before: String,
}

/// The fields of a conversation that the actor sees.
pub fn fields_of_conversation(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
) -> Result<FieldSheet> {
    let ws = cx.actor.ws;
    let fields = fields::of_owner(tx, ws, FieldOwner::Conversation)?;
    let values = if fields.is_empty() {
        Vec::new()
    } else {
        stored_values::of_conversation(tx, ws, &conversation.id)?
    };
    Ok(FieldSheet { fields, values })
}

/// The fields of the contact with these addresses, as far as the actor sees them.
pub fn fields_of_contact(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    addresses: &[EmailAddress],
) -> Result<FieldSheet> {
    let fields = fields::of_owner(tx, cx.actor.ws, FieldOwner::Contact)?;
    let values = if fields.is_empty() {
        Vec::new()
    } else {
        stored_values::of_contact(tx, cx.actor, addresses)?
    };
    Ok(FieldSheet { fields, values })
}

/// Sets what somebody typed on a conversation; what they emptied is removed.
pub fn set_conversation_fields(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &str,
    typed: &[TypedField],
) -> Result<()> {
    let conversation = conversations::load(tx, cx.actor, id)?;
    let values = values_of(tx, cx, FieldOwner::Conversation, typed)?;
    if values.is_empty() {
        return Ok(());
    }
    stored_values::set_of_conversation(tx, cx, &conversation, &values)
}

/// The same for the contact with an address.
pub fn set_contact_fields(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    email: &EmailAddress,
    typed: &[TypedField],
) -> Result<()> {
    let contact = contact_profile::load(tx, cx.actor, email)?;
    let values = values_of(tx, cx, FieldOwner::Contact, typed)?;
    if values.is_empty() {
        return Ok(());
    }
    stored_values::set_of_contact(tx, cx, &contact.addresses, &values)
}

/// What was changed in a form. A field that was removed meanwhile is left out.
fn values_of(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    owner: FieldOwner,
    typed: &[TypedField],
) -> Result<Map<String, Value>> {
    let known = fields::of_owner(tx, cx.actor.ws, owner)?;
    let mut values = Map::new();
    for one in typed.iter().filter(|one| one.typed.trim() != one.before.trim()) {
        if let Some(field) = known.iter().find(|field| field.key == one.key) {
            values.insert(one.key.clone(), FieldValue::json_of_text(field, &one.typed));
        }
    }
    Ok(values)
}
