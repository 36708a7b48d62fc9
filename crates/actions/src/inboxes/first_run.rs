//! The first workspace of an installation, made in the browser, and a session for its owner.

use base::actor::Actor;
use base::app::App;
use base::error::{Error, Result};
use db::Tx;

use crate::inboxes::setup::{NewWorkspace, list_workspaces, set_up_workspace};
use crate::sign_in::sessions::{self, TokenHash};
use crate::workspace::samples;

/// Makes the first workspace as `mailroom setup` does, with the argon2 string of the owner's password.
/// A sample that was looked at before belongs to it. Answers the token of the owner's session.
pub fn set_up_first_workspace(
    tx: &mut Tx<'_>,
    app: &App,
    new: &NewWorkspace,
    password: &str,
    device: &str,
) -> Result<String> {
    if !list_workspaces(tx)?.is_empty() {
        return Err(Error::NotFound("page"));
    }
    let operator = Actor::operator(&app.ids);
    let made = set_up_workspace(tx, &app.cx(&operator), new)?;
    samples::adopt_sample(tx, made.ws)?;
    let now = app.clock.now();
    let token = sessions::begin_session(tx, &app.ids, now, made.ws, &made.owner, device, true)?;
    let session = TokenHash::of(&token).ok_or(Error::Unauthorized)?;
    let me = sessions::signed_in(tx, &session, now)?;
    sessions::set_password(tx, &app.cx(&me.actor), password, &me.session)?;
    Ok(token)
}
