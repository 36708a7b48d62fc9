//! `POST /conversations/{id}/fields`: sets fields of a conversation. Its tool sets those of a contact, too.

use base::app::Cx;
use base::error::Result;
use base::limits::FIELDS_SET;
use base::security::scopes::Scope;
use db::Tx;
use model::conversations;
use model::fields::stored_values;
use serde_json::{Map, Value};

use crate::fields::InputKind;
use crate::input::input;
use crate::operations::workspace::set_contact_fields::set_contact_fields;
use crate::operations::{Access, Method, Operation, ScopeRule, Tool, answer, parse_input};
use crate::wire::FieldsSet;

/// Values by the keys of their fields.
const VALUES: InputKind = InputKind::Values { max: FIELDS_SET };

pub const OPERATION: Operation = Operation {
    name: "set_fields",
    method: Method::Post,
    path: "/conversations/{id}/fields",
    tool: Some(Tool {
        name: "set_fields",
        about: "Sets fields of a conversation or contact (id: an address).",
        help: "Sets fields of a conversation, or of the contact whose address id is. Use it to \
                keep what others look for, such as an order number. fields is an object by key of \
                list_fields: a number, true or false, a day such as 2026-11-15, an amount as \
                {\"currency\": \"EUR\", \"value\": 129.9}, else text; null removes one. What is \
                not named stays. The customer notices nothing.",
        hints: &[],
        example: r#"{
            "id": "cnv_01kag0z8m4s6y2t9r5w1q3n7xe",
            "fields": { "order": "20418" }
        }"#,
        list: None,
        destructive: false,
    }),
    scope: ScopeRule::Always(Scope::Write),
    access: Access::Write,
    idempotent: true,
    title: "Set fields of a conversation",
    about: "Sets fields of a conversation by key, null removes one; what is not named stays. The \
            answer has all fields as they are now. A key that is no field of conversations, or a \
            value that does not fit its field, is a 400 that names each, and changes nothing.",
    fields: SetFieldsInput::FIELDS,
    body_optional: false,
    success: 200,
    output: |schemas| schemas.subschema_for::<FieldsSet>(),
    example_input: r#"{ "fields": { "order": "20418" } }"#,
    example_output: r#"{ "ok": true, "fields": { "order": "20418" } }"#,
    run: |tx, cx, input| answer(&set_fields(tx, cx, &parse_input(input)?)?),
};

input! {
    #[derive(Clone, Debug, Default)]
    pub struct SetFieldsInput {
        /// Values by key (see GET /fields); null removes one.
        #[required(VALUES)]
        pub fields: Map<String, Value>,
    } beside {
        pub id: String,
    }
}

pub fn set_fields(tx: &mut Tx<'_>, cx: &Cx<'_>, input: &SetFieldsInput) -> Result<FieldsSet> {
    // No id of a conversation has it.
    if input.id.contains('@') {
        return set_contact_fields(tx, cx, input);
    }
    let conversation = conversations::load(tx, cx.actor, &input.id)?;
    stored_values::set_of_conversation(tx, cx, &conversation, &input.fields)?;
    let now = stored_values::of_conversation(tx, cx.actor.ws, &conversation.id)?;
    Ok(FieldsSet { ok: true, fields: stored_values::object(&now) })
}
