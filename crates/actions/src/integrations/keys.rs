//! API keys: made, listed, revoked.

use base::actor::{Circle, Principal};
use base::app::Cx;
use base::error::{Error, Result};
use base::ids::{AgentId, UserId};
use base::limits::PERSON_NAME_CHARS;
use base::security::agent_policy::{AgentPolicy, PolicyProfile};
use base::security::api_key::{KEY_SECRET_CHARS, KeyHash};
use base::security::scopes::{Scope, Scopes};
use base::time::Moment;
use db::Tx;
use model::installation::audit_log::{self, Action};
use model::people::agent_limits::pausing;
use serde::Serialize;

/// A key, shown this once; only its hash is kept.
#[derive(Serialize)]
pub struct MadeKey {
    pub id: AgentId,
    pub key: String,
}

base::debug_without_secrets!(MadeKey { id });

/// Makes a key and the agent it acts as, for a program of one's own. It sees its maker's private inboxes
/// where its maker does when making it.
pub fn make_key(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    name: &str,
    scopes: &[Scope],
    livemode: bool,
) -> Result<MadeKey> {
    make_key_with(tx, cx, name, scopes, livemode, PolicyProfile::Program)
}

/// The same with the limits of a profile. A test key works in the sandbox alone and has none.
pub fn make_key_with(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    name: &str,
    scopes: &[Scope],
    livemode: bool,
    profile: PolicyProfile,
) -> Result<MadeKey> {
    cx.actor.must_administer()?;
    let Principal::Person { id: made_by, .. } = &cx.actor.who else {
        return Err(Error::Forbidden("Only a person can make a key.".into()));
    };
    let name = name.trim();
    if name.is_empty() || name.contains('\0') || name.chars().count() > PERSON_NAME_CHARS {
        let sentence = format!("must be 1 to {PERSON_NAME_CHARS} characters");
        return Err(Error::invalid("name", sentence));
    }
    if scopes.is_empty() {
        return Err(Error::invalid(
            "scopes",
            "must name at least one of read, write, draft, send, record, admin",
        ));
    }
    let kind = if livemode { "live" } else { "test" };
    let key = format!("rk_{kind}_{}", cx.ids.secret(KEY_SECRET_CHARS));
    let hash = KeyHash::of(&key).ok_or(Error::Unauthorized)?;
    let id = AgentId::new(cx.ids, cx.now);
    tx.exec(
        "INSERT INTO agents (
            ws, id, name, key_hash, scopes, livemode, made_by, created_at, sees_private, policy
         ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        &[
            &cx.actor.ws,
            &id,
            &name,
            &hash,
            &Scopes::new(scopes).to_row(),
            &livemode,
            made_by,
            &cx.now,
            &cx.actor.sees(&Circle::of(made_by)),
            &AgentPolicy::of(profile).to_row()?,
        ],
    )?;
    let works = if livemode { "live" } else { "sandbox" };
    let may = Scopes::new(scopes).to_row().replace(' ', ", ");
    let detail = format!("{works}, may {may}, limits: {}", profile.as_str());
    audit_log::record(tx, cx, &Circle::team(), Action::KeyMade, name, &detail)?;
    Ok(MadeKey { id, key })
}

/// Revokes a key at once. Revoking one that is revoked changes nothing.
pub fn revoke_key(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &AgentId) -> Result<()> {
    cx.actor.must_administer()?;
    let known: Option<(String,)> =
        tx.opt("SELECT name FROM agents WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, id])?;
    let (name,) = known.ok_or(Error::NotFound("key"))?;
    let revoked = tx.exec(
        "UPDATE agents SET revoked_at = ?3 WHERE ws = ?1 AND id = ?2 AND revoked_at IS NULL",
        &[&cx.actor.ws, id, &cx.now],
    )?;
    if revoked == 0 {
        return Ok(());
    }
    let stopped = pausing::stop_what_waits(tx, cx, id)?;
    let detail = match stopped {
        0 => String::new(),
        stopped => format!("{stopped} messages became drafts again"),
    };
    audit_log::record(tx, cx, &Circle::team(), Action::KeyRevoked, &name, &detail)
}

db::row! {
    #[derive(Debug, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct KeyListing from "agents" {
        pub id: AgentId,
        pub name: String,
        pub scopes: String,
        pub livemode: bool,
        pub made_by: UserId,
        pub created_at: Moment,
        pub revoked_at: Option<Moment>,
        pub last_used_at: Option<Moment>,
        pub paused_at: Option<Moment>,
    }
}

pub fn list_keys(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<KeyListing>> {
    cx.actor.must_administer()?;
    Ok(tx.all(
        &format!(
            "SELECT {} FROM agents WHERE ws = ?1 AND oauth_client IS NULL ORDER BY created_at, id",
            KeyListing::COLUMNS
        ),
        &[&cx.actor.ws],
    )?)
}
