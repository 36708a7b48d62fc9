//! What people say of themselves to the team.

use base::app::Cx;
use base::error::{Error, Result};
use base::limits::{DUTY_CHARS, LANGUAGE_CHARS};
use db::Tx;

use crate::sign_in::sessions::own_id;

/// What the actor looks after; empty when they have not said.
pub fn own_duty(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<String> {
    let (duty,): (Option<String>,) =
        tx.one("SELECT duty FROM users WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, own_id(cx)?])?;
    Ok(duty.unwrap_or_default())
}

/// Says what the actor looks after; nothing takes it back.
pub fn set_duty(tx: &mut Tx<'_>, cx: &Cx<'_>, duty: &str) -> Result<()> {
    let duty = duty.trim();
    if duty.chars().count() > DUTY_CHARS || duty.contains(char::is_control) {
        let sentence = format!("must be one line of at most {DUTY_CHARS} characters");
        return Err(Error::invalid("duty", sentence));
    }
    tx.exec(
        "UPDATE users SET duty = nullif(?3, '') WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, own_id(cx)?, &duty],
    )?;
    Ok(())
}

/// The actor's language of the app, by its code; nothing for that of the browser.
pub fn choose_language(tx: &mut Tx<'_>, cx: &Cx<'_>, code: &str) -> Result<()> {
    let is_code = code.len() <= LANGUAGE_CHARS && code.bytes().all(|b| b.is_ascii_lowercase());
    if !is_code {
        return Err(Error::invalid("language", "must be the code of a language, such as de"));
    }
    tx.exec(
        "UPDATE users SET language = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, own_id(cx)?, &code],
    )?;
    Ok(())
}
