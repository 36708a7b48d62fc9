//! `POST /contacts/{id}/fields`: sets fields of a person who writes.

use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::Result;
use base::security::scopes::Scope;
use db::Tx;
use model::contacts::contact_profile;
use model::fields::stored_values;

use crate::operations::conversations::set_fields::SetFieldsInput;
use crate::operations::{Access, Method, Operation, ScopeRule, answer, parse_input};
use crate::wire::FieldsSet;

pub const OPERATION: Operation = Operation {
    name: "set_contact_fields",
    method: Method::Post,
    path: "/contacts/{id}/fields",
    // The tool set_fields takes the address of a contact.
    tool: None,
    scope: ScopeRule::Always(Scope::Write),
    access: Access::Write,
    idempotent: true,
    title: "Set fields of a contact",
    about: "Sets fields of a contact, by any address of theirs, as those of a conversation are set. \
            404 when the key sees no mail of theirs.",
    fields: SetFieldsInput::FIELDS,
    body_optional: false,
    success: 200,
    output: |schemas| schemas.subschema_for::<FieldsSet>(),
    example_input: r#"{ "fields": { "prices": "Trade" } }"#,
    example_output: r#"{ "ok": true, "fields": { "prices": "Trade" } }"#,
    run: |tx, cx, input| answer(&set_contact_fields(tx, cx, &parse_input(input)?)?),
};

pub fn set_contact_fields(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    input: &SetFieldsInput,
) -> Result<FieldsSet> {
    let contact = contact_profile::load(tx, cx.actor, &EmailAddress::new(&input.id))?;
    stored_values::set_of_contact(tx, cx, &contact.addresses, &input.fields)?;
    let now = stored_values::of_contact(tx, cx.actor, &contact.addresses)?;
    Ok(FieldsSet { ok: true, fields: stored_values::object(&now) })
}
