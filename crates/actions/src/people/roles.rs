//! Roles of people in a workspace.

use base::actor::{Circle, Principal, Role};
use base::app::Cx;
use base::error::{Error, Result};
use base::ids::UserId;
use db::Tx;
use model::installation::audit_log::{self, Action};
use model::people::owners::hold_owners;

/// Changes a person's role. Only an owner makes or unmakes owners, and one owner stays.
pub fn set_role(tx: &mut Tx<'_>, cx: &Cx<'_>, person: &UserId, role: Role) -> Result<()> {
    cx.actor.must_administer()?;
    let had: Option<(Role, String)> =
        tx.opt("SELECT role, name FROM users WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, person])?;
    let (had, name) = had.ok_or(Error::NotFound("person"))?;
    if had == role {
        return Ok(());
    }
    let by_admin = matches!(cx.actor.who, Principal::Person { role: Role::Admin, .. });
    if by_admin && (had == Role::Owner || role == Role::Owner) {
        return Err(Error::Forbidden("Only an owner can make or unmake an owner.".into()));
    }
    if had == Role::Owner && hold_owners(tx, cx.actor.ws)?.len() < 2 {
        return Err(Error::invalid(
            "role",
            "this is the only owner; make somebody else an owner first",
        ));
    }
    tx.exec(
        "UPDATE users SET role = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, person, &role],
    )?;
    if role == Role::Member {
        // What only owners and admins may let an app do.
        tx.exec(
            "UPDATE agents SET scopes = replace(scopes, ' record', '')
             WHERE ws = ?1 AND made_by = ?2 AND oauth_client IS NOT NULL",
            &[&cx.actor.ws, person],
        )?;
    }
    let detail = format!("from {} to {}", had.as_str(), role.as_str());
    audit_log::record(tx, cx, &Circle::team(), Action::RoleChanged, &name, &detail)
}
