//! `DELETE /links/{id}`: removes a link of a conversation.

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::LinkId;
use base::security::scopes::Scope;
use db::Tx;
use model::linked_items;

use crate::operations::{Access, Method, Operation, PathInput, ScopeRule, answer, parse_input};
use crate::wire::Done;

pub const OPERATION: Operation = Operation {
    name: "unlink_item",
    method: Method::Delete,
    path: "/links/{id}",
    tool: None,
    scope: ScopeRule::Always(Scope::Write),
    access: Access::Write,
    idempotent: true,
    title: "Remove a link",
    about: "Removes a link of a conversation to an item of an issue tracker, by the id that the \
            conversation names it with.",
    fields: &[],
    body_optional: true,
    success: 200,
    output: |schemas| schemas.subschema_for::<Done>(),
    example_input: "{}",
    example_output: r#"{ "ok": true }"#,
    run: |tx, cx, input| answer(&unlink_item(tx, cx, &parse_input(input)?)?),
};

fn unlink_item(tx: &mut Tx<'_>, cx: &Cx<'_>, input: &PathInput) -> Result<Done> {
    let id = LinkId::parse(&input.id).ok_or(Error::NotFound("link"))?;
    linked_items::unlink(tx, cx, &id)?;
    Ok(Done::OK)
}
