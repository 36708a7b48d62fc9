//! The passkeys of a person: added, named, removed, and used to sign in without a name typed.

use base::actor::{Circle, Role};
use base::app::{App, Cx};
use base::error::{Error, Result};
use base::ids::{PasskeyId, SessionId, UserId};
use base::limits::{PASSKEY_NAME_CHARS, PASSKEYS_PER_PERSON};
use base::security::webauthn::{Assertion, CheckedCredential, PasskeyFault, RelyingParty};
use db::Tx;
use model::installation::audit_log::Action;

use crate::sign_in::provider_rules::LocalSignInPolicy;
use crate::sign_in::second_step::tell;
use crate::sign_in::sessions::{begin_session, end_other_ways_in, own_id};

db::row! {
    #[derive(Clone, Debug)]
    pub struct PasskeyListing from "passkeys" {
        pub id: PasskeyId,
        pub credential: Vec<u8>,
        pub name: String,
        pub created_at: i64,
        pub used_at: Option<i64>,
    }
}

db::row! {
    struct UsedPasskey from "p" {
        ws: i64,
        person: UserId,
        id: PasskeyId,
        public_key: Vec<u8>,
        algorithm: i64,
        opens_private: bool,
        role: Role = "u.role",
    }
}

/// The actor's own passkeys, the oldest first.
pub fn list_passkeys(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<PasskeyListing>> {
    Ok(tx.all(
        &format!(
            "SELECT {} FROM passkeys WHERE ws = ?1 AND person = ?2 ORDER BY created_at, id LIMIT ?3",
            PasskeyListing::COLUMNS
        ),
        &[&cx.actor.ws, own_id(cx)?, &PASSKEYS_PER_PERSON],
    )?)
}

/// True for a person who can sign in with a passkey on this site.
pub(crate) fn uses_passkeys(tx: &mut Tx<'_>, app: &App, ws: i64, person: &UserId) -> Result<bool> {
    let found: Option<(PasskeyId,)> =
        tx.opt("SELECT id FROM passkeys WHERE ws = ?1 AND person = ?2 LIMIT 1", &[&ws, person])?;
    Ok(found.is_some() && RelyingParty::at(&app.public_url).is_some())
}

/// Adds a passkey. It opens private inboxes where this session does.
pub fn add_passkey(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    name: &str,
    credential: &CheckedCredential,
) -> Result<()> {
    let me = own_id(cx)?;
    if list_passkeys(tx, cx)?.len() as i64 >= PASSKEYS_PER_PERSON {
        let sentence = format!("There are {PASSKEYS_PER_PERSON} passkeys. Remove one first.");
        return Err(Error::invalid("name", sentence));
    }
    let name = passkey_name(name)?;
    let id = PasskeyId::new(cx.ids, cx.now);
    let added = tx.exec(
        "INSERT INTO passkeys (
            ws, person, id, credential, public_key, algorithm, counter, name, created_at, opens_private
         ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
         ON CONFLICT (credential) DO NOTHING",
        &[
            &cx.actor.ws,
            me,
            &id,
            &credential.id.as_slice(),
            &credential.public_key.as_slice(),
            &credential.algorithm,
            &credential.counter,
            &name,
            &cx.now,
            &cx.actor.sees(&Circle::of(me)),
        ],
    )?;
    if added == 0 {
        return Err(Error::invalid("name", "This passkey is known here already."));
    }
    // Whoever began to set up a second step with only a password or a link does not finish it.
    tx.exec("DELETE FROM sign_in_steps WHERE ws = ?1 AND person = ?2", &[&cx.actor.ws, me])?;
    let sentence = format!(
        "The passkey “{name}” signs you in from now on. If you did not add it, remove it under Settings, \
         Signing in."
    );
    tell(tx, cx, me, Action::PasskeyAdded, "A passkey was added", &sentence)
}

pub fn rename_passkey(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &PasskeyId, name: &str) -> Result<()> {
    let renamed = tx.exec(
        "UPDATE passkeys SET name = ?4 WHERE ws = ?1 AND person = ?2 AND id = ?3",
        &[&cx.actor.ws, own_id(cx)?, id, &passkey_name(name)?],
    )?;
    if renamed == 0 { Err(Error::NotFound("passkey")) } else { Ok(()) }
}

/// Removes a passkey. The actor's other sessions end: one of them may have begun with it.
pub fn remove_passkey(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &PasskeyId,
    kept: &SessionId,
) -> Result<()> {
    let me = own_id(cx)?;
    let removed: Option<(String,)> = tx.opt(
        "DELETE FROM passkeys WHERE ws = ?1 AND person = ?2 AND id = ?3 RETURNING name",
        &[&cx.actor.ws, me, id],
    )?;
    let (name,) = removed.ok_or(Error::NotFound("passkey"))?;
    end_other_ways_in(tx, cx.actor.ws, me, Some(kept))?;
    let sentence = format!("The passkey “{name}” does not sign you in any more.");
    tell(tx, cx, me, Action::PasskeyRemoved, "A passkey was removed", &sentence)
}

fn passkey_name(name: &str) -> Result<String> {
    let name = name.trim();
    if name.is_empty()
        || name.chars().count() > PASSKEY_NAME_CHARS
        || name.contains(char::is_control)
    {
        let sentence = format!("Name the passkey in 1 to {PASSKEY_NAME_CHARS} characters.");
        return Err(Error::invalid("name", sentence));
    }
    Ok(name.to_owned())
}

/// Begins a session for whoever's passkey answered the challenge. `Err` inside tells the log why it
/// did not; the browser hears no more than that it failed.
pub fn sign_in_with_passkey(
    tx: &mut Tx<'_>,
    app: &App,
    site: &RelyingParty,
    challenge: &str,
    used: &Assertion,
    other_ways: LocalSignInPolicy,
    device: &str,
) -> Result<std::result::Result<String, PasskeyFault>> {
    let credential = match used.credential() {
        Ok(credential) => credential,
        Err(fault) => return Ok(Err(fault)),
    };
    let found: Option<UsedPasskey> = tx.opt(
        &format!(
            "SELECT {} FROM passkeys p JOIN users u ON u.ws = p.ws AND u.id = p.person
             WHERE p.credential = ?1",
            UsedPasskey::COLUMNS
        ),
        &[&credential.as_slice()],
    )?;
    let Some(passkey) = found else {
        return Ok(Err(PasskeyFault("the passkey is not known here")));
    };
    let person = passkey.person.as_str();
    let checked = used.check(site, challenge, person, &passkey.public_key, passkey.algorithm);
    let counter = match checked {
        Ok(counter) => counter,
        Err(fault) => return Ok(Err(fault)),
    };
    if !other_ways.let_in(passkey.role) {
        return Ok(Err(PasskeyFault("only owners use passkeys beside the provider")));
    }
    let now = app.clock.now();
    tx.exec(
        "UPDATE passkeys SET counter = ?4, used_at = ?5 WHERE ws = ?1 AND person = ?2 AND id = ?3",
        &[&passkey.ws, &passkey.person, &passkey.id, &counter, &now],
    )?;
    let (ws, private) = (passkey.ws, passkey.opens_private);
    begin_session(tx, &app.ids, now, ws, &passkey.person, device, private).map(Ok)
}
