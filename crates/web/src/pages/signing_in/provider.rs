//! Signing in at the operator's OpenID provider: leaving for there, and who came back.
//!
//! A form of ours cannot end at the provider, because pages allow forms to lead to this site only and
//! browsers apply that to redirects as well. So the form's response is a page that goes on by itself.

use std::sync::Arc;

use actions::sign_in::provider_rules::{LocalSignInPolicy, ProviderPlan};
use actions::sign_in::sign_in_steps::{self, SignInStep, SignInStepKind};
use actions::sign_in::{provider_accounts, sessions};
use askama::Template;
use axum::body::Body;
use axum::extract::State;
use axum::http::{Response, StatusCode};
use base::error::{Error, Result};
use base::limits::{SIGN_IN_STEPS_PER_NETWORK, SIGN_IN_WAIT_MINUTES};
use translation::t;
use transport::oidc::{OidcClient, OidcFault, ProviderSignIn};

use crate::Web;
use crate::forms::form::{FormFields, PostedForm, form};
use crate::layout::filters;
use crate::layout::responses::{self, PageResult};
use crate::pages::signing_in::sign_in::{self, SignInRedirect};
use crate::visitor::Visitor;

/// Bytes of an identity token that a cookie holds when it is sealed.
const KEPT_TOKEN_BYTES: usize = 2_800;

#[derive(Template)]
#[template(path = "leaving_to_sign_in.html", whitespace = "minimize")]
struct LeavingToSignInPage {
    provider: String,
    url: String,
    back: &'static str,
}

form! {
    pub struct ProviderForm {
        next: SignInRedirect,
    }
}

impl Web {
    /// Who signs in by passkey, password or link.
    pub fn other_ways(&self) -> LocalSignInPolicy {
        self.oidc.as_ref().map_or(LocalSignInPolicy::default(), |client| client.rules().other_ways)
    }

    /// The provider's name where only owners sign in otherwise.
    pub fn only_provider(&self) -> Option<String> {
        let rules = self.oidc.as_ref().map(|client| client.rules());
        let only = rules.filter(|rules| rules.other_ways == LocalSignInPolicy::ForOwners);
        only.map(|rules| rules.name.clone())
    }

    pub fn provider(&self) -> Result<&OidcClient> {
        self.oidc.as_ref().ok_or(Error::NotFound("page"))
    }

    /// Remembers in this browser who signed in at the provider, for when they sign out. A token that is
    /// too long for a cookie is left out.
    pub fn keep_provider_account(&self, response: &mut Response<Body>, id_token: &str) {
        let Some(client) = &self.oidc else { return };
        let kept = if id_token.len() <= KEPT_TOKEN_BYTES { id_token } else { "" };
        let sealed = self.app.sealer.seal(&self.app.ids, &account_purpose(client), kept);
        self.set_provider_account(response, &sealed);
    }
}

/// Leaves for the provider to sign in.
pub async fn begin(State(web): State<Arc<Web>>, posted: PostedForm<ProviderForm>) -> PageResult {
    let PostedForm { visitor, form } = posted;
    web.provider()?;
    let (app, next) = (web.app.clone(), form.next.to_string());
    let place = format!("provider from {}", visitor.place);
    let (plan, asked) = (ProviderPlan::new(&web.app.ids), form.next);
    let planned = plan.clone();
    let work = move |tx: &mut db::Tx<'_>| -> Result<Option<String>> {
        let now = app.clock.now();
        if !sessions::count_sign_in_attempt(tx, &place, SIGN_IN_STEPS_PER_NETWORK, now)? {
            return Ok(None);
        }
        sign_in_steps::begin_provider_step(tx, &app, &planned, &next, None).map(Some)
    };
    let Some(token) = web.app.store.write(work).await? else {
        let minutes = SIGN_IN_WAIT_MINUTES;
        let sentence =
            t!("Too many sign-ins were begun from here. Wait {minutes} minutes.", minutes);
        return sign_in::provider_refused(&web, &visitor, asked, sentence).await;
    };
    match leave(&web, &plan, &token, "/sign-in").await {
        Ok(mut response) => {
            asked.keep_opener(&mut response);
            Ok(response)
        }
        Err(sentence) => sign_in::provider_refused(&web, &visitor, asked, sentence).await,
    }
}

/// A page that goes on to the provider, in a browser that has begun this step. The error is a sentence.
pub async fn leave(
    web: &Web,
    plan: &ProviderPlan,
    token: &str,
    back: &'static str,
) -> std::result::Result<Response<Body>, String> {
    let client = web.provider().map_err(|error| error.to_string())?;
    let (url, now) = (&web.app.public_url, web.app.clock.now());
    let url =
        client.sign_in_url(plan, url, now).await.map_err(|fault| fault_sentence(client, &fault))?;
    let page = LeavingToSignInPage { provider: client.rules().name.clone(), url, back };
    let mut response = responses::html(StatusCode::OK, &page);
    web.set_step(&mut response, token);
    Ok(response)
}

/// The step that this browser has begun, used up, if the answer belongs to it.
pub async fn take_returning_step(
    web: &Web,
    visitor: &Visitor,
    asked: &FormFields,
) -> Result<Option<(SignInStep, ProviderPlan)>> {
    let (Some(token), state) = (visitor.step, asked.get("state")) else { return Ok(None) };
    let now = web.app.clock.now();
    let work = move |tx: &mut db::Tx<'_>| -> Result<Option<(SignInStep, ProviderPlan)>> {
        let kind = SignInStepKind::Provider;
        let begun = sign_in_steps::look_at_step(tx, &token, kind, now)?;
        let plan = begun.and_then(|step| serde_json::from_str::<ProviderPlan>(&step.data).ok());
        // Another site that opens this address ends no sign-in that somebody has begun.
        let Some(plan) = plan.filter(|plan| plan.state == state) else { return Ok(None) };
        Ok(sign_in_steps::take_step(tx, &token, kind, now)?.map(|step| (step, plan)))
    };
    web.app.store.write(work).await
}

/// Who signed in at the provider. The error is a sentence.
pub async fn signed_in_there(
    web: &Web,
    plan: &ProviderPlan,
    asked: &FormFields,
) -> std::result::Result<ProviderSignIn, String> {
    let client = web.provider().map_err(|error| error.to_string())?;
    let now = web.app.clock.now();
    let check = async {
        client.check_answer(asked.opt("iss").as_deref(), now).await?;
        if let Some(word) = asked.opt("error") {
            return Err(OidcFault::Refused(word));
        }
        client.redeem(plan, &asked.get("code"), &web.app.public_url, now).await
    };
    check.await.map_err(|fault| fault_sentence(client, &fault))
}

fn fault_sentence(client: &OidcClient, fault: &OidcFault) -> String {
    tracing::warn!(reason = fault.reason(), "a sign-in at the provider failed");
    fault.sentence(&client.rules().name)
}

/// The browser came back without a step that it belongs to.
pub async fn too_old(web: &Web, visitor: &Visitor) -> PageResult {
    let sentence =
        t!("This sign-in was begun in another browser, or too long ago. Begin it again.");
    sign_in::provider_refused(web, visitor, SignInRedirect::of("/"), sentence.into()).await
}

/// Signs in whoever came back.
pub async fn finish(
    web: &Web,
    visitor: &Visitor,
    step: SignInStep,
    plan: ProviderPlan,
    asked: &FormFields,
) -> PageResult {
    let next = SignInRedirect::of(&step.next);
    let ProviderSignIn { identity, id_token } = match signed_in_there(web, &plan, asked).await {
        Ok(signed_in) => signed_in,
        Err(sentence) => return sign_in::provider_refused(web, visitor, next, sentence).await,
    };
    let rules = web.provider()?.rules().clone();
    let (app, device, known) = (web.app.clone(), visitor.device.clone(), rules.clone());
    let going = next.to_string();
    let work = move |tx: &mut db::Tx<'_>| {
        provider_accounts::sign_in_with_provider(tx, &app, &known, &identity, &going, &device)
    };
    match web.app.store.write(work).await? {
        Ok(progress) => {
            let mut response = web.follow(visitor, progress, next).await?;
            web.keep_provider_account(&mut response, &id_token);
            Ok(response)
        }
        Err(refusal) => {
            let sentence = refusal.sentence(&rules);
            tracing::info!(reason = refusal.reason(), "an account of the provider was not let in");
            sign_in::provider_refused(web, visitor, next, sentence).await
        }
    }
}

/// What the identity token of an account is sealed for: it is of no use at another provider.
pub fn account_purpose(client: &OidcClient) -> String {
    format!("signing out at {}", client.rules().issuer)
}
