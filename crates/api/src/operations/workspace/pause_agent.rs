//! `POST /agents/{id}/pause`: a key that pauses itself.

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::AgentId;
use base::security::agent_policy::PauseReason;
use base::security::scopes::Scope;
use db::Tx;
use model::people::agent_limits::pausing;

use crate::operations::{Access, Method, Operation, PathInput, ScopeRule, answer, parse_input};
use crate::wire::Done;

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
            becomes drafts again. A key pauses itself alone, with its id of GET /me. Only an owner or an \
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
    let agent = AgentId::parse(&input.id).filter(|id| pausing::is_itself(cx, id));
    let agent = agent.ok_or(Error::NotFound("agent"))?;
    pausing::pause(tx, cx, &agent, PauseReason::Itself)?;
    Ok(Done::OK)
}
