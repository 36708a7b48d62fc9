//! `POST /messages/{id}/revoke`: takes a secure message back.

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::MessageId;
use base::security::scopes::Scope;
use db::Tx;
use outbound::{messages, taking_back};

use crate::operations::{
    Access, Method, Operation, PathInput, ScopeRule, Tool, answer, parse_input,
};
use crate::wire::Done;

pub const OPERATION: Operation = Operation {
    name: "revoke_message",
    method: Method::Post,
    path: "/messages/{id}/revoke",
    tool: Some(Tool {
        name: "revoke_message",
        about: "Closes the page of a secure message that left.",
        help: "Closes the page of a secure message of an agent that has left, for everybody, at \
                once. Use it when it went to the wrong address or says something wrong. No mail \
                goes out; what the customer has read stays known to them. What a person wrote or \
                approved, a person takes back.",
        hints: &[],
        example: r#"{ "id": "msg_01kag13z8m4s6y2t9r5w1q3n7x" }"#,
        list: None,
        destructive: true,
    }),
    scope: ScopeRule::Always(Scope::Send),
    access: Access::Write,
    idempotent: true,
    title: "Take back a secure message",
    about: "Closes the page of a secure message that has left, at once. Taking it back twice changes \
            nothing; an ordinary message cannot be taken back, and what a person wrote or approved \
            answers 403.",
    fields: &[],
    body_optional: true,
    success: 200,
    output: |schemas| schemas.subschema_for::<Done>(),
    example_input: "{}",
    example_output: r#"{ "ok": true }"#,
    run: |tx, cx, input| answer(&revoke_message(tx, cx, parse_input(input)?)?),
};

fn revoke_message(tx: &mut Tx<'_>, cx: &Cx<'_>, input: PathInput) -> Result<Done> {
    let id = MessageId::parse(&input.id).ok_or(Error::NotFound("message"))?;
    let (message, conversation) = messages::load_outgoing(tx, cx.actor, &id)?;
    taking_back::revoke(tx, cx, &conversation, &message)?;
    Ok(Done::OK)
}
