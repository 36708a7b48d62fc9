//! `GET /fields`: the fields that the workspace adds to contacts and conversations.

use base::app::Cx;
use base::error::Result;
use base::security::scopes::Scope;
use db::Tx;
use model::fields::{self, CustomField};

use crate::operations::{Access, Method, Operation, ScopeRule, Tool, answer};
use crate::wire::FieldJson;

pub const OPERATION: Operation = Operation {
    name: "list_fields",
    method: Method::Get,
    path: "/fields",
    tool: Some(Tool {
        name: "list_fields",
        about: "Fields of contacts, companies, conversations.",
        help: "Lists the fields that contacts, companies and conversations have here, with their \
                type and choices. Use it before set_fields, and before a search by \
                field.KEY:value. A company has those of its people. The \
                customer notices nothing.",
        hints: &[],
        example: r#"{}"#,
        list: Some("fields"),
        destructive: false,
    }),
    scope: ScopeRule::Always(Scope::Read),
    access: Access::Read,
    idempotent: true,
    title: "List fields",
    about: "Every field of the workspace by key: what it belongs to, what its values can be, and the \
            choices where it has some.",
    fields: &[],
    body_optional: false,
    success: 200,
    output: |schemas| schemas.subschema_for::<Vec<FieldJson>>(),
    example_input: "",
    example_output: r#"[
        { "key": "order", "on": "conversation", "type": "reference", "choices": [] },
        { "key": "plan", "on": "contact", "type": "choice", "choices": ["Free", "Pro"] }
    ]"#,
    run: |tx, cx, _| answer(&list_fields(tx, cx)?),
};

pub fn list_fields(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<FieldJson>> {
    let found = fields::all(tx, cx.actor.ws)?;
    Ok(found.into_iter().map(FieldJson::from).collect())
}

impl From<CustomField> for FieldJson {
    fn from(field: CustomField) -> FieldJson {
        FieldJson { key: field.key, on: field.owner, kind: field.kind, choices: field.choices.0 }
    }
}
