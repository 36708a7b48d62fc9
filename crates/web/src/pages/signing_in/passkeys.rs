//! Signing in with a passkey, and the challenges of passkeys. A script asks for a challenge, hands it to
//! the browser, and sends the answer as a form.

use std::sync::Arc;

use actions::sign_in::sign_in_steps::{self, SignInStepKind};
use actions::sign_in::{passkeys, sessions};
use axum::extract::State;
use base::error::{Error, Result};
use base::limits::{PASSKEY_CHALLENGE_MS, SIGN_IN_STEPS_PER_NETWORK};
use base::security::webauthn::{
    ALGORITHMS, Assertion, CHALLENGE_BYTES, PasskeyFault, RelyingParty,
};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;

use crate::Web;
use crate::forms::form::{PostedForm, form};
use crate::layout::responses::{self, PageError, PageResult};
use crate::pages::signing_in::sign_in::{self, SignInRedirect};

form! {
    /// What a browser says when a passkey was used.
    pub struct PasskeyForm {
        id: String,
        client_data: String,
        authenticator_data: String,
        signature: String,
        user_handle: String,
        next: SignInRedirect,
    }
}

impl Web {
    /// The site that passkeys are made for; `None` where browsers offer none.
    pub fn passkey_site(&self) -> Option<RelyingParty> {
        RelyingParty::at(&self.app.public_url)
    }

    pub fn new_challenge(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.app.ids.bytes::<CHALLENGE_BYTES>())
    }
}

/// A challenge for a sign-in. It names no passkeys, so it tells nothing about who is known here.
pub async fn challenge(State(web): State<Arc<Web>>, posted: PostedForm) -> PageResult {
    let site = web.passkey_site().ok_or(Error::NotFound("page"))?;
    let (app, challenge) = (web.app.clone(), web.new_challenge());
    let (place, asked) = (format!("passkeys from {}", posted.visitor.place), challenge.clone());
    let work = move |tx: &mut db::Tx<'_>| -> Result<Option<String>> {
        let now = app.clock.now();
        if !sessions::count_sign_in_attempt(tx, &place, SIGN_IN_STEPS_PER_NETWORK, now)? {
            return Ok(None);
        }
        sign_in_steps::begin_passkey_step(tx, &app, &asked, None).map(Some)
    };
    let Some(token) = web.app.store.write(work).await? else {
        return Err(PageError::TooManyAttempts);
    };
    let mut response = responses::json(&json!({
        "challenge": challenge,
        "rpId": site.id,
        "timeout": PASSKEY_CHALLENGE_MS,
        "userVerification": "required",
    }));
    web.set_step(&mut response, &token);
    Ok(response)
}

/// What a browser needs to make a passkey for a signed-in person.
pub async fn new_challenge(State(web): State<Arc<Web>>, posted: PostedForm) -> PageResult {
    let site = web.passkey_site().ok_or(Error::NotFound("page"))?;
    let (app, challenge) = (web.app.clone(), web.new_challenge());
    let asked = challenge.clone();
    let act = web.act_quietly(&posted.visitor, move |tx, cx, me| {
        let token = sign_in_steps::begin_passkey_step(tx, &app, &asked, Some(cx.actor))?;
        let known = passkeys::list_passkeys(tx, cx)?;
        Ok((token, known, me.clone()))
    });
    let (token, known, me) = act.await?;
    let known: Vec<_> = known
        .iter()
        .map(|key| json!({ "type": "public-key", "id": URL_SAFE_NO_PAD.encode(&key.credential) }))
        .collect();
    let wanted: Vec<_> =
        ALGORITHMS.iter().map(|alg| json!({ "type": "public-key", "alg": alg })).collect();
    let mut response = responses::json(&json!({
        "challenge": challenge,
        "rp": { "id": site.id, "name": me.workspace_name },
        "user": {
            "id": URL_SAFE_NO_PAD.encode(me.id.as_str()),
            "name": me.email.to_string(),
            "displayName": format!("{} ({})", me.actor.name(), me.workspace_name),
        },
        "pubKeyCredParams": wanted,
        "timeout": PASSKEY_CHALLENGE_MS,
        "attestation": "none",
        "authenticatorSelection": { "residentKey": "required", "userVerification": "required" },
        "excludeCredentials": known,
    }));
    web.set_step(&mut response, &token);
    Ok(response)
}

pub async fn sign_in(State(web): State<Arc<Web>>, posted: PostedForm<PasskeyForm>) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let site = web.passkey_site().ok_or(Error::NotFound("page"))?;
    let used = Assertion {
        id: form.id,
        client_data: form.client_data,
        authenticator_data: form.authenticator_data,
        signature: form.signature,
        user_handle: form.user_handle,
    };
    let (app, device, step) = (web.app.clone(), visitor.device.clone(), visitor.step);
    let ways = web.other_ways();
    let work = move |tx: &mut db::Tx<'_>| {
        let (kind, now) = (SignInStepKind::Passkey, app.clock.now());
        let begun = match &step {
            Some(token) => sign_in_steps::take_step(tx, token, kind, now)?,
            None => None,
        };
        match begun {
            None => Ok(Err(PasskeyFault("the challenge is too old, or another browser's"))),
            Some(begun) => {
                passkeys::sign_in_with_passkey(tx, &app, &site, &begun.data, &used, ways, &device)
            }
        }
    };
    match web.app.store.write(work).await? {
        Ok(session) => {
            let mut response = form.next.go();
            web.set_session(&mut response, &session);
            web.clear_step(&mut response);
            web.clear_provider_account(&mut response);
            Ok(response)
        }
        Err(PasskeyFault(reason)) => {
            tracing::info!(reason, "a passkey was refused");
            sign_in::passkey_refused(&web, &visitor, form.next).await
        }
    }
}
