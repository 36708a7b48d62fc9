//! The way back for somebody whose device is lost.

use base::actor::{Principal, Role};
use base::app::Cx;
use base::error::{Error, Result};
use base::ids::UserId;
use db::Tx;
use model::installation::audit_log::Action;
use model::people::notifications::push;

use crate::sign_in::second_step::{forget_second_step, tell};

/// Ends every way in that is tied to a device, and every session. Whoever does it gains no access: the
/// person signs in with their password or by a link that is mailed to them, and a link that somebody
/// else makes opens no private inbox.
pub fn reset_sign_in(tx: &mut Tx<'_>, cx: &Cx<'_>, person: &UserId) -> Result<()> {
    cx.actor.must_administer()?;
    if matches!(&cx.actor.who, Principal::Person { id, .. } if id == person) {
        let sentence = "Somebody else resets your sign-in, or the operator of the machine.";
        return Err(Error::Forbidden(sentence.into()));
    }
    let found: Option<(Role,)> =
        tx.opt("SELECT role FROM users WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, person])?;
    let (role,) = found.ok_or(Error::NotFound("person"))?;
    if role == Role::Owner && matches!(cx.actor.who, Principal::Person { role: Role::Admin, .. }) {
        return Err(Error::Forbidden("Only an owner can reset the sign-in of an owner.".into()));
    }
    forget_second_step(tx, cx.actor.ws, person)?;
    for sql in [
        "DELETE FROM passkeys WHERE ws = ?1 AND person = ?2",
        "DELETE FROM provider_accounts WHERE ws = ?1 AND person = ?2",
        // What they typed when they were signed out is in workspace 0.
        "DELETE FROM sign_in_steps WHERE ws IN (0, ?1) AND person = ?2",
        "DELETE FROM sign_in_links WHERE ws = ?1 AND person = ?2",
        "DELETE FROM sessions WHERE ws = ?1 AND person = ?2",
    ] {
        tx.exec(sql, &[&cx.actor.ws, person])?;
    }
    push::end_with_sessions(tx, cx.actor.ws, person)?;
    let sentence = format!(
        "{} has reset how you sign in: your second step, recovery codes and passkeys are removed, no account \
         at a sign-in provider is linked any more, and all your sessions are over. Sign in with your \
         password, or by a link that you ask for on the sign-in page.",
        cx.actor.name()
    );
    tell(tx, cx, person, Action::SignInReset, "Your sign-in was reset", &sentence)
}
