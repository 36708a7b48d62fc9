//! The developer site's console: a person's own agent of the sandbox, and what happened there.

use base::actor::{Circle, Principal};
use base::app::Cx;
use base::error::{Error, Result};
use base::ids::{AgentId, EventId, UserId};
use base::limits::PERSON_NAME_CHARS;
use base::security::api_key::{KEY_SECRET_CHARS, KeyHash};
use base::security::scopes::{Scope, Scopes};
use base::time::Moment;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use db::Tx;
use model::guests::guest_tokens;
use model::installation::audit_log::{self, Action};

/// Events of the sandbox that the catcher shows.
const CAUGHT_EVENTS: i64 = 50;

/// The agent that runs operations for a person; nobody knows its key.
#[derive(Clone)]
pub struct ConsoleAgent {
    pub name: String,
    pub key: KeyHash,
}

/// The person's agent, if it was made already.
pub fn find_console_agent(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Option<ConsoleAgent>> {
    let (person, name) = owner(cx)?;
    let found: Option<(Vec<u8>,)> = tx.opt(
        "SELECT key_hash FROM agents
         WHERE ws = ?1 AND made_by = ?2 AND name = ?3 AND scopes = ?4 AND livemode = FALSE
           AND revoked_at IS NULL AND oauth_client IS NULL
         ORDER BY created_at LIMIT 1",
        &[&cx.actor.ws, &person, &name, &scopes().to_row()],
    )?;
    let key = found.and_then(|(hash,)| KeyHash::from_stored(&hash));
    Ok(key.map(|key| ConsoleAgent { name, key }))
}

/// The same, made where there is none. It works in the sandbox alone, so everybody may have one.
pub fn console_agent(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<ConsoleAgent> {
    if let Some(found) = find_console_agent(tx, cx)? {
        return Ok(found);
    }
    let (person, name) = owner(cx)?;
    let key = format!("rk_test_{}", cx.ids.secret(KEY_SECRET_CHARS));
    let key = KeyHash::of(&key).ok_or(Error::Unauthorized)?;
    let id = AgentId::new(cx.ids, cx.now);
    tx.exec(
        "INSERT INTO agents (
            ws, id, name, key_hash, scopes, livemode, made_by, created_at, sees_private
         ) VALUES (?1, ?2, ?3, ?4, ?5, FALSE, ?6, ?7, FALSE)",
        &[&cx.actor.ws, &id, &name, &key, &scopes().to_row(), &person, &cx.now],
    )?;
    let detail = "sandbox, for the console of the developer site";
    audit_log::record(tx, cx, &Circle::team(), Action::KeyMade, &name, detail)?;
    Ok(ConsoleAgent { name, key })
}

fn owner(cx: &Cx<'_>) -> Result<(UserId, String)> {
    let Principal::Person { id, name, .. } = &cx.actor.who else {
        return Err(Error::Forbidden("Only a person has a console.".into()));
    };
    let name = format!("Console · {name}").chars().take(PERSON_NAME_CHARS).collect();
    Ok((id.clone(), name))
}

fn scopes() -> Scopes {
    Scopes::new(&[Scope::Read, Scope::Write, Scope::Draft, Scope::Send, Scope::Record])
}

db::row! {
    /// An event with the bytes that webhooks get.
    pub struct CaughtEvent from "events" {
        pub id: EventId,
        pub kind: String = "type",
        pub body: String,
        pub created_at: Moment,
    }
}

/// The secret that signs what the catcher shows to one person or agent. Only this workspace can derive it.
pub fn catcher_secret(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<String> {
    let reader = match &cx.actor.who {
        Principal::Agent { id, .. } => id.to_string(),
        _ => owner(cx)?.0.to_string(),
    };
    let digest = guest_tokens::keyed_digest(tx, cx, &format!("the catcher of {reader}"))?;
    Ok(format!("whsec_{}", STANDARD.encode(digest)))
}

/// What happened in the sandbox, newest first. Its customers are invented, so everybody of the
/// workspace may see it.
pub fn sandbox_events(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<CaughtEvent>> {
    Ok(tx.all(
        &format!(
            "SELECT {} FROM events WHERE ws = ?1 AND circle = ?2
             ORDER BY txn DESC, id DESC LIMIT ?3",
            CaughtEvent::COLUMNS
        ),
        &[&cx.actor.ws, &Circle::sandbox(), &CAUGHT_EVENTS],
    )?)
}
