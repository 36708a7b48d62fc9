//! `POST /undo/{id}`: undoes an act of the key's own.

use base::actor::Principal;
use base::app::Cx;
use base::error::{Error, Result};
use base::ids::UndoId;
use base::security::scopes::Scope;
use db::Tx;
use outbound::agent_undo;

use crate::operations::{
    Access, Method, Operation, PathInput, ScopeRule, Tool, answer, parse_input,
};
use crate::wire::UndoneAct;

pub const OPERATION: Operation = Operation {
    name: "undo",
    method: Method::Post,
    path: "/undo/{id}",
    tool: Some(Tool {
        name: "undo",
        about: "Takes back your update_conversations within a day, by undoId; what was changed \
                since stays.",
        help: "Puts status, tags, assignee, topic and snooze back as they were before an act of yours of the \
               last day. Use it when a triage turns out wrong; the customers notice nothing. What somebody \
               changed since stays, and is listed under left.",
        hints: &[],
        example: r#"{ "id": "und_01kag14b6d8f0h2k4m6p8r0t2v" }"#,
        list: None,
        destructive: false,
    }),
    scope: ScopeRule::Always(Scope::Write),
    access: Access::Write,
    idempotent: true,
    title: "Undo an own act",
    about: "Undoes what this key did with one call of the last day, exactly: status, tags, assignee, topic \
            and snooze are as they were before. What somebody changed since is left, and listed. Undoing \
            again changes nothing.",
    fields: &[],
    body_optional: true,
    success: 200,
    output: |schemas| schemas.subschema_for::<UndoneAct>(),
    example_input: "{}",
    example_output: r#"{ "undone": ["cnv_01kag0z8m4s6y2t9r5w1q3n7xe"], "left": [] }"#,
    run: |tx, cx, input| answer(&undo(tx, cx, parse_input(input)?)?),
};

fn undo(tx: &mut Tx<'_>, cx: &Cx<'_>, input: PathInput) -> Result<UndoneAct> {
    let Principal::Agent { id: agent, .. } = &cx.actor.who else {
        return Err(Error::Forbidden("Only a key has an agent.".into()));
    };
    let act = UndoId::parse(&input.id).ok_or(Error::NotFound("act to undo"))?;
    Ok(agent_undo::undo_own(tx, cx, agent, &act)?.into())
}
