//! `POST /agents/{id}/resume`: lets an agent work again that paused itself.

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::AgentId;
use base::security::agent_policy::PauseReason;
use base::security::scopes::Scope;
use db::Tx;
use model::people::agent_limits::pausing;

use crate::operations::{Access, Method, Operation, PathInput, ScopeRule, answer, parse_input};
use crate::wire::Done;

/// A brake that somebody else pulled is no key's to let go.
const NOT_BY_KEYS: &str = "A person or its limits paused this agent: an owner or an admin lets it work again, in \
    the app or with mailroom agent resume.";

pub const OPERATION: Operation = Operation {
    name: "resume_agent",
    method: Method::Post,
    path: "/agents/{id}/resume",
    tool: None,
    scope: ScopeRule::Always(Scope::Admin),
    access: Access::Write,
    idempotent: true,
    title: "Let an agent work again",
    about: "Lets an agent work again that paused itself. What it had scheduled stays drafts. One that a person \
            or its limits paused is a 403: only an owner or an admin lets it work again, in the app or at the \
            command line. No key resumes itself, because a paused one only reads.",
    fields: &[],
    body_optional: true,
    success: 200,
    output: |schemas| schemas.subschema_for::<Done>(),
    example_input: "{}",
    example_output: r#"{ "ok": true }"#,
    run: |tx, cx, input| answer(&resume_agent(tx, cx, &parse_input(input)?)?),
};

/// An agent of another workspace, and one of the sandbox for a live key, are not found.
fn resume_agent(tx: &mut Tx<'_>, cx: &Cx<'_>, input: &PathInput) -> Result<Done> {
    let agent = AgentId::parse(&input.id).ok_or(Error::NotFound("agent"))?;
    let found: Option<(Option<PauseReason>,)> = tx.opt(
        "SELECT pause_reason FROM agents
         WHERE ws = ?1 AND id = ?2 AND livemode = ?3 AND revoked_at IS NULL",
        &[&cx.actor.ws, &agent, &cx.actor.livemode()],
    )?;
    let (reason,) = found.ok_or(Error::NotFound("agent"))?;
    match reason {
        Some(PauseReason::Person | PauseReason::Bulk) => Err(Error::Forbidden(NOT_BY_KEYS.into())),
        Some(PauseReason::Itself) | None => {
            pausing::resume(tx, cx, &agent)?;
            Ok(Done::OK)
        }
    }
}
