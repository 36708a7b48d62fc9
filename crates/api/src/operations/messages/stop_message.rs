//! `POST /messages/{id}/stop`: stops a message within its undo window.

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::MessageId;
use base::limits::{undo_minutes, undo_sandbox_seconds};
use base::security::scopes::Scope;
use db::Tx;
use outbound::{messages, taking_back};

use crate::operations::{
    Access, Method, Operation, PathInput, ScopeRule, Tool, answer, parse_input,
};
use crate::wire::Done;

pub const OPERATION: Operation = Operation {
    name: "stop_message",
    method: Method::Post,
    path: "/messages/{id}/stop",
    tool: Some(Tool {
        name: "stop_message",
        about: "Stops a scheduled message; it is a draft again.",
        help: concat!(
            "Stops a scheduled message of an agent within its undo window (",
            undo_minutes!(),
            " minutes or what the key's limits say, ",
            undo_sandbox_seconds!(),
            " seconds in the sandbox). Use it as soon as a reply turns out wrong. The customer never \
             gets it; it is a draft again and waits for a person. What a person wrote or approved, a \
             person stops.",
        ),
        hints: &[],
        example: r#"{ "id": "msg_01kag13z8m4s6y2t9r5w1q3n7x" }"#,
        list: None,
        destructive: false,
    }),
    scope: ScopeRule::Always(Scope::Send),
    access: Access::Write,
    idempotent: true,
    title: "Stop a scheduled message",
    about: "Takes back a message that an agent sent, while its undo window is open. It is a draft \
            again and waits for a person. Stopping a draft changes nothing; a message that has \
            left cannot be stopped, and what a person wrote or approved answers 403.",
    fields: &[],
    body_optional: true,
    success: 200,
    output: |schemas| schemas.subschema_for::<Done>(),
    example_input: "{}",
    example_output: r#"{ "ok": true }"#,
    run: |tx, cx, input| answer(&stop_message(tx, cx, parse_input(input)?)?),
};

pub fn stop_message(tx: &mut Tx<'_>, cx: &Cx<'_>, input: PathInput) -> Result<Done> {
    let id = MessageId::parse(&input.id).ok_or(Error::NotFound("message"))?;
    let (message, conversation) = messages::load_outgoing(tx, cx.actor, &id)?;
    taking_back::stop(tx, cx, &conversation, &message)?;
    Ok(Done::OK)
}
