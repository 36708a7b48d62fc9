//! The apps that people let in by OAuth: listed, changed, disconnected.

use base::actor::Circle;
use base::app::Cx;
use base::error::{Error, Result};
use base::ids::{AgentId, UserId};
use base::security::scopes::{Scope, Scopes};
use db::Tx;
use model::installation::audit_log::{self, Action};
use model::people::agent_limits::pausing;
use model::people::oauth_clients::ClientKind;
use model::people::oauth_tokens::end_tokens;

use crate::integrations::oauth_consent::must_connect_apps;
use crate::sign_in::sessions::own_id;

db::row! {
    #[derive(Clone, Debug)]
    pub struct ConnectedApp from "a" {
        pub id: AgentId,
        pub name: String,
        pub scopes: String,
        pub livemode: bool,
        pub made_by: UserId,
        pub person: String = "u.name",
        pub client_id: String = "a.oauth_client",
        pub kind: Option<ClientKind> = "c.kind",
        pub created_at: i64,
        pub last_used_at: Option<i64>,
        pub paused_at: Option<i64>,
    }
}

/// The apps that the actor connected; for owners and admins those of everybody.
pub fn list_apps(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<ConnectedApp>> {
    let own = match cx.actor.must_administer() {
        Ok(()) => "",
        Err(_) => "AND a.made_by = ?2",
    };
    let sql = format!(
        "SELECT {} FROM agents a
         JOIN users u ON u.ws = a.ws AND u.id = a.made_by
         LEFT JOIN oauth_clients c ON c.client_id = a.oauth_client
         WHERE a.ws = ?1 AND a.oauth_client IS NOT NULL AND a.revoked_at IS NULL {own}
         ORDER BY a.created_at, a.id",
        ConnectedApp::COLUMNS
    );
    let me = own_id(cx)?;
    Ok(match own {
        "" => tx.all(&sql, &[&cx.actor.ws])?,
        _ => tx.all(&sql, &[&cx.actor.ws, me])?,
    })
}

/// Changes what an app may do, from its next request on.
pub fn change_app_scopes(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &AgentId,
    scopes: &[Scope],
) -> Result<()> {
    let ConnectedApp { name, scopes: old, .. } = app_to_change(tx, cx, id)?;
    let old = Scopes::from_stored(&old);
    if scopes.iter().any(|scope| !old.has(*scope)) {
        must_connect_apps(tx, cx)?;
    }
    if scopes.contains(&Scope::Record) {
        cx.actor.must_administer()?;
    }
    let scopes = Scopes::of_app(scopes).to_row();
    let changed = tx.exec(
        "UPDATE agents SET scopes = ?3 WHERE ws = ?1 AND id = ?2 AND scopes <> ?3",
        &[&cx.actor.ws, id, &scopes],
    )?;
    if changed == 0 {
        return Ok(());
    }
    let detail = format!("may {}", scopes.replace(' ', ", "));
    audit_log::record(tx, cx, &Circle::team(), Action::AppScopesChanged, &name, &detail)
}

/// Disconnects an app: its next request is refused.
pub fn disconnect_app(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &AgentId) -> Result<()> {
    let name = app_to_change(tx, cx, id)?.name;
    end_tokens(tx, cx.actor.ws, id)?;
    tx.exec(
        "UPDATE agents SET revoked_at = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, id, &cx.now],
    )?;
    pausing::stop_what_waits(tx, cx, id)?;
    audit_log::record(tx, cx, &Circle::team(), Action::AppDisconnected, &name, "")
}

/// Decides whether everybody may connect apps, or owners and admins alone.
pub fn let_everybody_connect_apps(tx: &mut Tx<'_>, cx: &Cx<'_>, everybody: bool) -> Result<()> {
    cx.actor.must_administer()?;
    let changed = tx.exec(
        "UPDATE workspaces SET everybody_connects_apps = ?2
         WHERE ws = ?1 AND everybody_connects_apps <> ?2",
        &[&cx.actor.ws, &everybody],
    )?;
    if changed == 0 {
        return Ok(());
    }
    let who = if everybody { "everybody" } else { "owners and admins" };
    audit_log::record(tx, cx, &Circle::team(), Action::AppRuleChanged, who, "")
}

/// An app that the actor may change: their own, or for owners and admins any.
fn app_to_change(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &AgentId) -> Result<ConnectedApp> {
    let apps = list_apps(tx, cx)?;
    let found = apps.into_iter().find(|app| app.id == *id);
    found.ok_or(Error::NotFound("app"))
}
