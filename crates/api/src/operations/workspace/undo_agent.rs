//! `POST /agents/{id}/undo`: undoes what an agent did since a time.

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::AgentId;
use base::security::scopes::Scope;
use base::time::NamedTime;
use db::Tx;
use outbound::agent_undo;

use crate::fields::TIME;
use crate::input::input;
use crate::operations::{Access, Method, Operation, ScopeRule, answer, parse_input};
use crate::wire::UndoneAgent;

pub const OPERATION: Operation = Operation {
    name: "undo_agent",
    method: Method::Post,
    path: "/agents/{id}/undo",
    tool: None,
    scope: ScopeRule::Always(Scope::Admin),
    access: Access::Write,
    idempotent: true,
    title: "Undo what an agent did",
    about: "Undoes what a key or connected app did since a time, of the last 30 days, as far as this key sees \
            it: status, tags, assignments, topics and snoozes are put back, notes hidden, merges parted, splits \
            joined, drafts discarded, messages that have not left stopped, bookings cancelled (with the \
            scope `send`: the guests are told). `left` lists what stays, and why. \
            With `more`, call again. `since` may also stand in the address.",
    fields: UndoAgentInput::FIELDS,
    body_optional: true,
    success: 200,
    output: |schemas| schemas.subschema_for::<UndoneAgent>(),
    example_input: r#"{ "since": "2026-11-15T09:00:00Z" }"#,
    example_output: r#"{
        "undone": [{ "id": "cnv_01kag0z8m4s6y2t9r5w1q3n7xe", "what": "changed" }],
        "left": [],
        "more": false
    }"#,
    run: |tx, cx, input| answer(&undo_agent(tx, cx, parse_input(input)?)?),
};

input! {
    struct UndoAgentInput {
        /// What it did from this day (UTC, such as 2026-11-30) or time on.
        #[required(TIME)]
        since: String,
    } beside {
        id: String,
    }
}

/// An agent of another workspace, and one of the sandbox for a live key, are not found.
fn undo_agent(tx: &mut Tx<'_>, cx: &Cx<'_>, input: UndoAgentInput) -> Result<UndoneAgent> {
    let agent = AgentId::parse(&input.id).ok_or(Error::NotFound("agent"))?;
    let known: Option<(AgentId,)> = tx.opt(
        "SELECT id FROM agents WHERE ws = ?1 AND id = ?2 AND livemode = ?3",
        &[&cx.actor.ws, &agent, &cx.actor.livemode()],
    )?;
    let (agent,) = known.ok_or(Error::NotFound("agent"))?;
    let since = NamedTime::parse(&input.since).map_or(cx.now, |since| since.begins);
    Ok(agent_undo::undo_since(tx, cx, &agent, since)?.into())
}
