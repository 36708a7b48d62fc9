//! `POST /agents/{id}/pause`: a key that pauses itself.

use base::actor::Principal;
use base::app::Cx;
use base::error::{Error, Result};
use base::security::agent_policy::PauseReason;
use base::security::scopes::Scope;
use db::Tx;
use model::people::agent_limits::pausing;

use crate::operations::{Access, Method, Operation, PathInput, ScopeRule, answer, parse_input};
use crate::wire::Done;

/// The key itself, in place of its id.
const ME: &str = "me";

pub const OPERATION: Operation = Operation {
    name: "pause_agent",
    method: Method::Post,
    path: "/agents/{id}/pause",
    tool: None,
    scope: ScopeRule::Always(Scope::Send),
    access: Access::Write,
    idempotent: true,
    title: "Pause yourself",
    about: "Pauses the agent of this key: from then on its key only reads, and what it has scheduled \
            becomes drafts again. A key pauses itself alone, with its id of GET /me or as me. Only an owner or an \
            admin lets it work again, in the app or at the command line.",
    fields: &[],
    body_optional: true,
    success: 200,
    output: |schemas| schemas.subschema_for::<Done>(),
    example_input: "{}",
    example_output: r#"{ "ok": true }"#,
    run: |tx, cx, input| answer(&pause_agent(tx, cx, parse_input(input)?)?),
};

fn pause_agent(tx: &mut Tx<'_>, cx: &Cx<'_>, input: PathInput) -> Result<Done> {
    let me = match &cx.actor.who {
        Principal::Agent { id, .. } if input.id == ME || input.id == id.as_str() => Some(id),
        _ => None,
    };
    let agent = me.ok_or(Error::NotFound("agent"))?;
    pausing::pause(tx, cx, agent, PauseReason::Itself)?;
    Ok(Done::OK)
}
