//! The second step of a sign-in: codes of an authenticator app, and recovery codes for a lost device.

use base::actor::Circle;
use base::app::Cx;
use base::error::{Error, Result};
use base::ids::UserId;
use base::limits::{RECOVERY_CODES, SECOND_STEP_TRIES, SIGN_IN_WAIT_MINUTES};
use base::security::totp::TotpSecret;
use db::Tx;
use model::guests::guest_tokens::keyed_digest;
use model::installation::audit_log::{self, Action};
use model::installation::sealing;
use model::people::notices::{Notice, notify};

use crate::sign_in::sessions::{count_sign_in_attempt, forget_sign_in_attempts, own_id};

/// Characters of a recovery code, 5 bits each, in two groups.
const RECOVERY_CHARS: usize = 10;

/// What a person has for the second step of a sign-in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecondStep {
    /// Since when codes of an app are asked for.
    pub since: Option<i64>,
    pub recovery_codes: i64,
}

/// A secret that is being set up.
#[derive(Clone)]
pub struct TotpSetUp {
    pub secret: TotpSecret,
    /// The address that the QR code carries.
    pub address: String,
}

/// The outcome of a code that somebody typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecondStepEntry {
    Right,
    Wrong,
    /// There were too many; the next may be tried after a while.
    TooMany,
}

impl SecondStepEntry {
    /// What the page says, if the code was not right.
    pub fn sentence(self) -> Option<String> {
        match self {
            SecondStepEntry::Right => None,
            SecondStepEntry::Wrong => Some(
                "That code does not fit. Type the one that the app shows now; each works once."
                    .into(),
            ),
            SecondStepEntry::TooMany => {
                Some(format!("Too many codes were tried. Wait {SIGN_IN_WAIT_MINUTES} minutes."))
            }
        }
    }
}

/// What the actor has set up.
pub fn own_second_step(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<SecondStep> {
    second_step_of(tx, cx.actor.ws, own_id(cx)?)
}

pub(crate) fn second_step_of(tx: &mut Tx<'_>, ws: i64, person: &UserId) -> Result<SecondStep> {
    let since: Option<(i64,)> = tx.opt(
        "SELECT confirmed_at FROM totp_secrets
         WHERE ws = ?1 AND person = ?2 AND confirmed_at IS NOT NULL",
        &[&ws, person],
    )?;
    let (recovery_codes,): (i64,) = tx.one(
        "SELECT CAST(count(*) AS BIGINT) FROM recovery_codes WHERE ws = ?1 AND person = ?2",
        &[&ws, person],
    )?;
    Ok(SecondStep { since: since.map(|(at,)| at), recovery_codes })
}

/// Makes a secret, sealed. Only the browser that began to set it up is shown it: whoever else knows a
/// secret before it is confirmed has the second step, too.
pub(crate) fn new_totp_secret(cx: &Cx<'_>, person: &UserId) -> String {
    let secret = TotpSecret::new(cx.ids.bytes());
    sealing::seal(cx, &sealing::totp_purpose(cx.actor.ws, person), &secret.base32())
}

pub(crate) fn already_set_up() -> Error {
    Error::invalid("code", "The second step is set up already.")
}

/// What a browser shows of a sealed secret.
pub(crate) fn totp_set_up_of(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    person: &UserId,
    kept: &str,
) -> Result<TotpSetUp> {
    let secret = open_secret(cx, person, kept.to_owned())?;
    let (email, workspace): (String, String) = tx.one(
        "SELECT u.email, w.name FROM users u JOIN workspaces w ON w.ws = u.ws
         WHERE u.ws = ?1 AND u.id = ?2",
        &[&cx.actor.ws, person],
    )?;
    let address = secret.address(&workspace, &email);
    Ok(TotpSetUp { secret, address })
}

/// The code shows that the person's app has the sealed secret: from now on codes are asked for. Answers
/// the recovery codes; `None` for a code that does not fit.
pub(crate) fn confirm_totp_of(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    person: &UserId,
    kept: &str,
    typed: &str,
) -> Result<Option<Vec<String>>> {
    let secret = open_secret(cx, person, kept.to_owned())?;
    let Some(step) = secret.fits(typed, cx.now, 0) else { return Ok(None) };
    let confirmed = tx.exec(
        "INSERT INTO totp_secrets (ws, person, secret, created_at, confirmed_at, last_step)
         VALUES (?1, ?2, ?3, ?4, ?4, ?5)
         ON CONFLICT (ws, person) DO UPDATE
         SET secret = excluded.secret, created_at = excluded.created_at,
             confirmed_at = excluded.confirmed_at, last_step = excluded.last_step
         WHERE totp_secrets.confirmed_at IS NULL",
        &[&cx.actor.ws, person, &kept, &cx.now, &step],
    )?;
    if confirmed == 0 {
        return Err(already_set_up());
    }
    let codes = make_recovery_codes(tx, cx, person)?;
    tell(
        tx,
        cx,
        person,
        Action::SecondStepOn,
        "Your second step is on",
        "From now on signing in asks for a code of your authenticator app, unless you use a passkey.",
    )?;
    Ok(Some(codes))
}

/// The same in the place of the app that the person has: its codes do not count any more, nor do the
/// recovery codes from before.
pub(crate) fn replace_totp_of(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    person: &UserId,
    kept: &str,
    typed: &str,
) -> Result<Option<Vec<String>>> {
    let secret = open_secret(cx, person, kept.to_owned())?;
    let Some(step) = secret.fits(typed, cx.now, 0) else { return Ok(None) };
    let replaced = tx.exec(
        "UPDATE totp_secrets SET secret = ?3, created_at = ?4, confirmed_at = ?4, last_step = ?5
         WHERE ws = ?1 AND person = ?2 AND confirmed_at IS NOT NULL",
        &[&cx.actor.ws, person, &kept, &cx.now, &step],
    )?;
    if replaced == 0 {
        return Err(Error::invalid("code", "This was begun too long ago. Begin it again."));
    }
    let codes = make_recovery_codes(tx, cx, person)?;
    tell(
        tx,
        cx,
        person,
        Action::SecondStepReplaced,
        "Your authenticator app was replaced",
        "From now on signing in asks for a code of your new authenticator app. Codes of the one before, and \
         recovery codes from before, do not work any more.",
    )?;
    Ok(Some(codes))
}

/// Switches the actor's second step off. A code shows that it is them and not somebody at an unlocked
/// computer.
pub fn switch_totp_off(tx: &mut Tx<'_>, cx: &Cx<'_>, typed: &str) -> Result<SecondStepEntry> {
    let me = own_id(cx)?;
    let (required,): (bool,) =
        tx.one("SELECT two_steps FROM workspaces WHERE ws = ?1", &[&cx.actor.ws])?;
    if required {
        let sentence = "Everybody here signs in with two steps, so it stays on.";
        return Err(Error::Forbidden(sentence.into()));
    }
    let entry = enter_second_step(tx, cx, me, typed)?;
    if entry != SecondStepEntry::Right {
        return Ok(entry);
    }
    forget_second_step(tx, cx.actor.ws, me)?;
    tell(
        tx,
        cx,
        me,
        Action::SecondStepOff,
        "Your second step is off",
        "Signing in asks for no code of an authenticator app any more.",
    )?;
    Ok(entry)
}

/// Asks the actor for a code before they change how they sign in. `None` where they have no second step.
pub fn prove_second_step(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    typed: &str,
) -> Result<Option<SecondStepEntry>> {
    let me = own_id(cx)?;
    if second_step_of(tx, cx.actor.ws, me)?.since.is_none() {
        return Ok(None);
    }
    enter_second_step(tx, cx, me, typed).map(Some)
}

/// Makes new recovery codes for the actor; those before stop working.
pub fn renew_recovery_codes(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    typed: &str,
) -> Result<(SecondStepEntry, Vec<String>)> {
    let me = own_id(cx)?;
    let entry = enter_second_step(tx, cx, me, typed)?;
    if entry != SecondStepEntry::Right {
        return Ok((entry, Vec::new()));
    }
    let codes = make_recovery_codes(tx, cx, me)?;
    tell(
        tx,
        cx,
        me,
        Action::RecoveryCodesMade,
        "You have new recovery codes",
        "The recovery codes that you had before do not work any more.",
    )?;
    Ok((entry, codes))
}

/// Tries a code of the app, or a recovery code, which is used up. Tries are counted in the database, so
/// that several nodes allow no more of them.
pub(crate) fn enter_second_step(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    person: &UserId,
    typed: &str,
) -> Result<SecondStepEntry> {
    let what = format!("second step {person}");
    if !count_sign_in_attempt(tx, &what, SECOND_STEP_TRIES, cx.now)? {
        return Ok(SecondStepEntry::TooMany);
    }
    let is_right = uses_code(tx, cx, person, typed)? || uses_recovery_code(tx, cx, person, typed)?;
    if !is_right {
        return Ok(SecondStepEntry::Wrong);
    }
    forget_sign_in_attempts(tx, &what)?;
    Ok(SecondStepEntry::Right)
}

fn uses_code(tx: &mut Tx<'_>, cx: &Cx<'_>, person: &UserId, typed: &str) -> Result<bool> {
    let found: Option<(String, i64)> = tx.opt(
        "SELECT secret, last_step FROM totp_secrets
         WHERE ws = ?1 AND person = ?2 AND confirmed_at IS NOT NULL",
        &[&cx.actor.ws, person],
    )?;
    let Some((kept, last_step)) = found else { return Ok(false) };
    let Some(step) = open_secret(cx, person, kept)?.fits(typed, cx.now, last_step) else {
        return Ok(false);
    };
    let used = tx.exec(
        "UPDATE totp_secrets SET last_step = ?3 WHERE ws = ?1 AND person = ?2 AND last_step < ?3",
        &[&cx.actor.ws, person, &step],
    )?;
    Ok(used > 0)
}

fn uses_recovery_code(tx: &mut Tx<'_>, cx: &Cx<'_>, person: &UserId, typed: &str) -> Result<bool> {
    let plain = |c: &char| c.is_ascii_alphanumeric();
    let code: String = typed.to_ascii_lowercase().chars().filter(plain).collect();
    if code.len() != RECOVERY_CHARS {
        return Ok(false);
    }
    let hash = recovery_hash(tx, cx, person, &code)?;
    let used = tx.exec(
        "DELETE FROM recovery_codes WHERE ws = ?1 AND person = ?2 AND hash = ?3",
        &[&cx.actor.ws, person, &hash.as_slice()],
    )?;
    if used == 0 {
        return Ok(false);
    }
    let left = second_step_of(tx, cx.actor.ws, person)?.recovery_codes;
    let sentence = format!(
        "One of your recovery codes was used to sign in, or to change your second step. {left} are left. \
         If your device is lost, set up another one under Settings, Signing in."
    );
    tell(tx, cx, person, Action::RecoveryCodeUsed, "A recovery code was used", &sentence)?;
    Ok(true)
}

fn make_recovery_codes(tx: &mut Tx<'_>, cx: &Cx<'_>, person: &UserId) -> Result<Vec<String>> {
    tx.exec("DELETE FROM recovery_codes WHERE ws = ?1 AND person = ?2", &[&cx.actor.ws, person])?;
    let mut codes = Vec::with_capacity(RECOVERY_CODES);
    for _ in 0..RECOVERY_CODES {
        let code = cx.ids.token(RECOVERY_CHARS);
        let hash = recovery_hash(tx, cx, person, &code)?;
        tx.exec(
            "INSERT INTO recovery_codes (ws, person, hash) VALUES (?1, ?2, ?3)",
            &[&cx.actor.ws, person, &hash.as_slice()],
        )?;
        let (first, second) = code.split_at(RECOVERY_CHARS / 2);
        codes.push(format!("{first}-{second}"));
    }
    Ok(codes)
}

fn recovery_hash(tx: &mut Tx<'_>, cx: &Cx<'_>, person: &UserId, code: &str) -> Result<[u8; 32]> {
    keyed_digest(tx, cx, &format!("recovery code {person} {code}"))
}

pub(crate) fn forget_second_step(tx: &mut Tx<'_>, ws: i64, person: &UserId) -> Result<()> {
    for sql in [
        "DELETE FROM totp_secrets WHERE ws = ?1 AND person = ?2",
        "DELETE FROM recovery_codes WHERE ws = ?1 AND person = ?2",
    ] {
        tx.exec(sql, &[&ws, person])?;
    }
    Ok(())
}

fn open_secret(cx: &Cx<'_>, person: &UserId, kept: String) -> Result<TotpSecret> {
    let purpose = sealing::totp_purpose(cx.actor.ws, person);
    let text = sealing::unseal(cx.sealer, &purpose, kept)?;
    TotpSecret::parse(&text)
        .ok_or_else(|| std::io::Error::other("a second step cannot be read").into())
}

/// Writes a change of how somebody signs in to the audit log, and mails it to them.
pub(crate) fn tell(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    person: &UserId,
    action: Action,
    subject: &str,
    sentence: &str,
) -> Result<()> {
    let (name, workspace): (String, String) = tx.one(
        "SELECT u.name, w.name FROM users u JOIN workspaces w ON w.ws = u.ws
         WHERE u.ws = ?1 AND u.id = ?2",
        &[&cx.actor.ws, person],
    )?;
    audit_log::record(tx, cx, &Circle::team(), action, &name, "")?;
    let subject = format!("{subject} at {workspace}");
    let text = format!(
        "{sentence}\n\nIf this was not you, end your sessions under Settings, You, and tell an owner of \
         {workspace}:\n\n{}/settings/you\n",
        cx.public_url
    );
    notify(tx, cx, person, &Notice { subject: &subject, text: &text })
}

/// True where everybody signs in with two steps.
pub fn wants_two_steps(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<bool> {
    let (wants,): (bool,) =
        tx.one("SELECT two_steps FROM workspaces WHERE ws = ?1", &[&cx.actor.ws])?;
    Ok(wants)
}

/// Says whether everybody signs in with two steps. Who has none sets one up at their next sign-in.
pub fn want_two_steps(tx: &mut Tx<'_>, cx: &Cx<'_>, wants: bool) -> Result<()> {
    cx.actor.must_administer()?;
    let changed = tx.exec(
        "UPDATE workspaces SET two_steps = ?2 WHERE ws = ?1 AND two_steps <> ?2",
        &[&cx.actor.ws, &wants],
    )?;
    if changed == 0 {
        return Ok(());
    }
    let who = if wants { "everybody" } else { "who wants to" };
    audit_log::record(tx, cx, &Circle::team(), Action::TwoStepsChanged, who, "")
}
