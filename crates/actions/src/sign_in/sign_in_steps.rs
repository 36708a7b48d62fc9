//! Signing in takes several requests of one browser: what it has begun, until it is finished.
//!
//! The browser keeps a token in a cookie; the row has what is due: a code, the set-up of one, or
//! the answer of a passkey.

use base::actor::{self, Actor, Role};
use base::app::{App, Cx};
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::ids::{Ids, SessionId, UserId};
use base::limits::{PASSKEY_CHALLENGE_MS, SIGN_IN_STEP_MS, SIGN_IN_TOKEN_CHARS};
use base::string_enum::string_enum;
use db::Tx;

use crate::sign_in::passkeys::uses_passkeys;
use crate::sign_in::provider_rules::{LocalSignInPolicy, ProviderPlan};
use crate::sign_in::second_step::{
    SecondStepEntry, TotpSetUp, already_set_up, confirm_totp_of, enter_second_step,
    new_totp_secret, replace_totp_of, second_step_of, totp_set_up_of,
};
use crate::sign_in::sessions::{FirstStep, TokenHash, begin_session, end_other_ways_in, own_id};

string_enum! {
    /// What a browser has to do next.
    SignInStepKind {
        Code = "code",
        SetUp = "set-up",
        NewApp = "new-app",
        OtherApp = "other-app",
        Passkey = "passkey",
        NewPasskey = "new-passkey",
        Provider = "provider",
        Form = "form",
    }
}

/// How a sign-in goes on, with the token of the session or of the step.
#[derive(Clone, PartialEq, Eq)]
pub enum SignInProgress {
    SignedIn(String),
    NeedsCode(String),
    NeedsSetUp(String),
    /// The person's passkeys are their second step: a password or a link sets up no other one.
    NeedsPasskey,
    /// The person signs in at the provider only.
    NeedsProvider,
}

/// Tokens are in no log.
impl std::fmt::Debug for SignInProgress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            SignInProgress::SignedIn(_) => "SignedIn",
            SignInProgress::NeedsCode(_) => "NeedsCode",
            SignInProgress::NeedsSetUp(_) => "NeedsSetUp",
            SignInProgress::NeedsPasskey => "NeedsPasskey",
            SignInProgress::NeedsProvider => "NeedsProvider",
        })
    }
}

db::row! {
    /// A step that a browser has begun.
    #[derive(Clone, Debug)]
    pub struct SignInStep from "sign_in_steps" {
        pub ws: i64,
        pub kind: SignInStepKind,
        person: String,
        pub opens_private: bool,
        pub next: String,
        /// The challenge of a passkey, the sealed secret of an app that is being set up, what a
        /// sign-in at the provider went out with, or the sealed fields of a form.
        pub data: String,
    }
}

impl SignInStep {
    pub fn person(&self) -> Option<UserId> {
        UserId::parse(&self.person)
    }
}

/// A step that is not begun yet.
pub(crate) struct NewStep<'a> {
    pub ws: i64,
    pub kind: SignInStepKind,
    pub person: &'a str,
    pub opens_private: bool,
    pub next: &'a str,
    pub data: &'a str,
    pub works_ms: i64,
}

/// After a password or a link: what is next, for those who sign in by them.
pub fn go_on_signing_in(
    tx: &mut Tx<'_>,
    app: &App,
    first: &FirstStep,
    other_ways: LocalSignInPolicy,
    device: &str,
) -> Result<SignInProgress> {
    if !other_ways.let_in(role_of(tx, first)?) {
        return Ok(SignInProgress::NeedsProvider);
    }
    go_on_after_first_step(tx, app, first, other_ways, device)
}

fn role_of(tx: &mut Tx<'_>, first: &FirstStep) -> Result<Role> {
    let found: Option<(Role,)> =
        tx.opt("SELECT role FROM users WHERE ws = ?1 AND id = ?2", &[&first.ws, &first.person])?;
    found.map(|(role,)| role).ok_or(Error::Unauthorized)
}

/// Begins the session of somebody whose sign-in was both steps in one.
pub(crate) fn skip_second_step(
    tx: &mut Tx<'_>,
    app: &App,
    first: &FirstStep,
    device: &str,
) -> Result<SignInProgress> {
    let (ws, private, now) = (first.ws, first.opens_private, app.clock.now());
    let token = begin_session(tx, &app.ids, now, ws, &first.person, device, private)?;
    Ok(SignInProgress::SignedIn(token))
}

/// A session, or the second step where the person has one, or its set-up where everybody needs one and
/// the person has no passkey to sign in with either.
pub(crate) fn go_on_after_first_step(
    tx: &mut Tx<'_>,
    app: &App,
    first: &FirstStep,
    other_ways: LocalSignInPolicy,
    device: &str,
) -> Result<SignInProgress> {
    let (ws, person) = (first.ws, &first.person);
    let (required,): (bool,) = tx.one("SELECT two_steps FROM workspaces WHERE ws = ?1", &[&ws])?;
    let has_second_step = second_step_of(tx, ws, person)?.since.is_some();
    if !has_second_step && !required {
        return skip_second_step(tx, app, first, device);
    }
    let step = NewStep {
        ws,
        kind: SignInStepKind::Code,
        person: person.as_str(),
        opens_private: first.opens_private,
        next: &first.next,
        data: "",
        works_ms: SIGN_IN_STEP_MS,
    };
    let now = app.clock.now();
    if has_second_step {
        return Ok(SignInProgress::NeedsCode(begin_step(tx, &app.ids, now, &step)?));
    }
    if other_ways.let_in(role_of(tx, first)?) && uses_passkeys(tx, app, ws, person)? {
        return Ok(SignInProgress::NeedsPasskey);
    }
    let actor = actor_of(tx, ws, person)?;
    let secret = new_totp_secret(&app.cx(&actor), person);
    let step = NewStep { kind: SignInStepKind::SetUp, data: &secret, ..step };
    Ok(SignInProgress::NeedsSetUp(begin_step(tx, &app.ids, now, &step)?))
}

/// Makes a secret for the actor's app. Answers the token of the step, which only this browser has.
pub fn begin_totp(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<String> {
    let me = own_id(cx)?;
    if second_step_of(tx, cx.actor.ws, me)?.since.is_some() {
        return Err(already_set_up());
    }
    begin_app(tx, cx, me, SignInStepKind::NewApp)
}

/// The same for an app in the place of the one that the actor has. A code of that one, or a recovery code,
/// shows that it is them.
pub fn begin_other_totp(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    typed: &str,
) -> Result<(SecondStepEntry, Option<String>)> {
    let me = own_id(cx)?;
    let entry = enter_second_step(tx, cx, me, typed)?;
    match entry {
        SecondStepEntry::Right => {
            Ok((entry, Some(begin_app(tx, cx, me, SignInStepKind::OtherApp)?)))
        }
        _ => Ok((entry, None)),
    }
}

fn begin_app(tx: &mut Tx<'_>, cx: &Cx<'_>, me: &UserId, kind: SignInStepKind) -> Result<String> {
    let step = NewStep {
        ws: cx.actor.ws,
        kind,
        person: me.as_str(),
        opens_private: false,
        next: "",
        data: &new_totp_secret(cx, me),
        works_ms: SIGN_IN_STEP_MS,
    };
    begin_step(tx, cx.ids, cx.now, &step)
}

/// The secret that the actor is setting up in this browser.
pub fn totp_set_up(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    token: Option<&TokenHash>,
) -> Result<Option<TotpSetUp>> {
    match own_new_app(tx, cx, token)? {
        Some(step) => totp_set_up_of(tx, cx, own_id(cx)?, &step.data).map(Some),
        None => Ok(None),
    }
}

/// The actor's code shows that their app has the secret: from now on codes are asked for. Answers the
/// recovery codes, which are shown once. The actor's other sessions end.
pub fn confirm_totp(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    token: Option<&TokenHash>,
    typed: &str,
    kept: &SessionId,
) -> Result<Option<Vec<String>>> {
    let Some(step) = own_new_app(tx, cx, token)? else {
        return Err(Error::invalid("code", "This was begun too long ago. Begin it again."));
    };
    let me = own_id(cx)?;
    let codes = match step.kind {
        SignInStepKind::OtherApp => replace_totp_of(tx, cx, me, &step.data, typed)?,
        _ => confirm_totp_of(tx, cx, me, &step.data, typed)?,
    };
    if codes.is_some() {
        end_other_ways_in(tx, cx.actor.ws, me, Some(kept))?;
    }
    Ok(codes)
}

/// The step by which the actor sets up an app in this browser.
fn own_new_app(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    token: Option<&TokenHash>,
) -> Result<Option<SignInStep>> {
    let Some(token) = token else { return Ok(None) };
    let me = own_id(cx)?;
    let found = match look_at_step(tx, token, SignInStepKind::NewApp, cx.now)? {
        Some(step) => Some(step),
        None => look_at_step(tx, token, SignInStepKind::OtherApp, cx.now)?,
    };
    Ok(found.filter(|step| step.ws == cx.actor.ws && step.person().as_ref() == Some(me)))
}

/// A challenge for a passkey, of whoever signs in or, in a session, of the actor's new one. Answers the
/// token of the step.
pub fn begin_passkey_step(
    tx: &mut Tx<'_>,
    app: &App,
    challenge: &str,
    adds_for: Option<&Actor>,
) -> Result<String> {
    let person = adds_for.and_then(|actor| actor.member()).map(|member| member.as_str().to_owned());
    let step = NewStep {
        ws: adds_for.map_or(0, |actor| actor.ws),
        kind: match adds_for {
            Some(_) => SignInStepKind::NewPasskey,
            None => SignInStepKind::Passkey,
        },
        person: person.as_deref().unwrap_or_default(),
        opens_private: false,
        next: "",
        data: challenge,
        works_ms: PASSKEY_CHALLENGE_MS,
    };
    begin_step(tx, &app.ids, app.clock.now(), &step)
}

/// A sign-in at the provider, of whoever it is or, in a session, to link the actor's account. Answers the
/// token of the step.
pub fn begin_provider_step(
    tx: &mut Tx<'_>,
    app: &App,
    plan: &ProviderPlan,
    next: &str,
    links_for: Option<&Actor>,
) -> Result<String> {
    let person = links_for.and_then(|actor| actor.member()).map(|it| it.as_str().to_owned());
    let step = NewStep {
        ws: links_for.map_or(0, |actor| actor.ws),
        kind: SignInStepKind::Provider,
        person: person.as_deref().unwrap_or_default(),
        opens_private: false,
        next,
        data: &serde_json::to_string(plan).map_err(std::io::Error::other)?,
        works_ms: SIGN_IN_STEP_MS,
    };
    begin_step(tx, &app.ids, app.clock.now(), &step)
}

pub(crate) fn begin_step(
    tx: &mut Tx<'_>,
    ids: &Ids,
    now: i64,
    step: &NewStep<'_>,
) -> Result<String> {
    tx.exec("DELETE FROM sign_in_steps WHERE expires_at <= ?1", &[&now])?;
    let token = ids.secret(SIGN_IN_TOKEN_CHARS);
    let hash = TokenHash::of(&token).ok_or(Error::Unauthorized)?;
    tx.exec(
        "INSERT INTO sign_in_steps (
            ws, token_hash, kind, person, opens_private, next, data, expires_at
         ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        &[
            &step.ws,
            &hash,
            &step.kind,
            &step.person,
            &step.opens_private,
            &step.next,
            &step.data,
            &(now + step.works_ms),
        ],
    )?;
    Ok(token)
}

/// The step of a browser's token, if it is of this kind and not too old.
pub fn look_at_step(
    tx: &mut Tx<'_>,
    token: &TokenHash,
    kind: SignInStepKind,
    now: i64,
) -> Result<Option<SignInStep>> {
    Ok(tx.opt(
        &format!(
            "SELECT {} FROM sign_in_steps WHERE token_hash = ?1 AND kind = ?2 AND expires_at > ?3",
            SignInStep::COLUMNS
        ),
        &[token, &kind, &now],
    )?)
}

/// The same, used up.
pub fn take_step(
    tx: &mut Tx<'_>,
    token: &TokenHash,
    kind: SignInStepKind,
    now: i64,
) -> Result<Option<SignInStep>> {
    let found = look_at_step(tx, token, kind, now)?;
    let used =
        tx.exec("DELETE FROM sign_in_steps WHERE token_hash = ?1 AND kind = ?2", &[token, &kind])?;
    Ok(found.filter(|_| used > 0))
}

/// What a browser shows that has to set up a second step.
pub fn set_up_of_step(tx: &mut Tx<'_>, app: &App, step: &SignInStep) -> Result<TotpSetUp> {
    let person = step.person().ok_or(Error::Unauthorized)?;
    let actor = actor_of(tx, step.ws, &person)?;
    totp_set_up_of(tx, &app.cx(&actor), &person, &step.data)
}

/// Tries the code of a step, and begins the session once it is right.
pub fn enter_code_of_step(
    tx: &mut Tx<'_>,
    app: &App,
    token: &TokenHash,
    step: &SignInStep,
    typed: &str,
    device: &str,
) -> Result<(SecondStepEntry, Option<String>)> {
    let person = step.person().ok_or(Error::Unauthorized)?;
    let actor = actor_of(tx, step.ws, &person)?;
    let entry = enter_second_step(tx, &app.cx(&actor), &person, typed)?;
    match entry {
        SecondStepEntry::Right => Ok((entry, Some(finish(tx, app, token, step, &person, device)?))),
        _ => Ok((entry, None)),
    }
}

/// Confirms the second step that a browser had to set up, ends the sessions from before it, and begins
/// one. Answers its token and the recovery codes.
pub fn confirm_set_up_of_step(
    tx: &mut Tx<'_>,
    app: &App,
    token: &TokenHash,
    step: &SignInStep,
    typed: &str,
    device: &str,
) -> Result<Option<(String, Vec<String>)>> {
    let person = step.person().ok_or(Error::Unauthorized)?;
    let actor = actor_of(tx, step.ws, &person)?;
    let confirmed = confirm_totp_of(tx, &app.cx(&actor), &person, &step.data, typed)?;
    let Some(codes) = confirmed else { return Ok(None) };
    let session = finish(tx, app, token, step, &person, device)?;
    Ok(Some((session, codes)))
}

fn finish(
    tx: &mut Tx<'_>,
    app: &App,
    token: &TokenHash,
    step: &SignInStep,
    person: &UserId,
    device: &str,
) -> Result<String> {
    let now = app.clock.now();
    take_step(tx, token, step.kind, now)?.ok_or(Error::Unauthorized)?;
    if step.kind == SignInStepKind::SetUp {
        end_other_ways_in(tx, step.ws, person, None)?;
    }
    begin_session(tx, &app.ids, now, step.ws, person, device, step.opens_private)
}

/// The person of a step as an actor.
pub(crate) fn actor_of(tx: &mut Tx<'_>, ws: i64, person: &UserId) -> Result<Actor> {
    let found: Option<(EmailAddress,)> =
        tx.opt("SELECT email FROM users WHERE ws = ?1 AND id = ?2", &[&ws, person])?;
    let (email,) = found.ok_or(Error::Unauthorized)?;
    actor::person(tx, ws, &email)
}
