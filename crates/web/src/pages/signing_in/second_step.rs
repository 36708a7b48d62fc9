//! The second step of a sign-in: a code, or the set-up of one where everybody signs in with two steps.

use std::sync::Arc;

use actions::sign_in::sessions::{FirstStep, TokenHash};
use actions::sign_in::sign_in_steps::{self, SignInProgress, SignInStep, SignInStepKind};
use askama::Template;
use axum::body::Body;
use axum::extract::State;
use axum::http::{Response, StatusCode};
use translation::t;

use crate::Web;
use crate::forms::form::{PostedForm, form};
use crate::layout::filters;
use crate::layout::qr_code::QrCode;
use crate::layout::responses::{self, PageResult, see_other};
use crate::pages::signing_in::sign_in::{self, SignInRedirect};
use crate::visitor::{CsrfToken, Visitor};

const CODE: &str = "/sign-in/code";
const SET_UP: &str = "/sign-in/set-up";

form! {
    /// A code of an app, or a recovery code.
    pub struct CodeForm {
        code: String,
    }
}

#[derive(Template)]
#[template(path = "sign_in_code.html", whitespace = "minimize")]
struct CodePage {
    csrf: CsrfToken,
    error: String,
}

#[derive(Template)]
#[template(path = "sign_in_set_up.html", whitespace = "minimize")]
struct SetUpPage {
    csrf: CsrfToken,
    qr: QrCode,
    secret: String,
    error: String,
}

/// The codes that are shown once.
#[derive(Template)]
#[template(path = "sign_in_recovery.html", whitespace = "minimize")]
pub struct RecoveryPage {
    pub codes: Vec<String>,
    pub next: String,
}

impl Web {
    /// After a password or a link: to where the person was going, or to the second step.
    pub(crate) async fn go_on_signing_in(&self, visitor: &Visitor, first: FirstStep) -> PageResult {
        let (app, device, step) = (self.app.clone(), visitor.device.clone(), first.clone());
        let ways = self.other_ways();
        let work = move |tx: &mut db::Tx<'_>| {
            sign_in_steps::go_on_signing_in(tx, &app, &step, ways, &device)
        };
        let progress = self.app.store.write(work).await?;
        let mut response = self.follow(visitor, progress, SignInRedirect::of(&first.next)).await?;
        // Whoever signed in at the provider here before is somebody else.
        self.clear_provider_account(&mut response);
        Ok(response)
    }

    /// The response to somebody who has shown who they are.
    pub(crate) async fn follow(
        &self,
        visitor: &Visitor,
        progress: SignInProgress,
        next: SignInRedirect,
    ) -> PageResult {
        Ok(match progress {
            SignInProgress::SignedIn(token) => {
                let mut response = next.go();
                self.set_session(&mut response, &token);
                response
            }
            SignInProgress::NeedsCode(token) => self.to_step(CODE, &token, &next),
            SignInProgress::NeedsSetUp(token) => self.to_step(SET_UP, &token, &next),
            SignInProgress::NeedsPasskey => {
                return sign_in::passkey_needed(self, visitor, next).await;
            }
            SignInProgress::NeedsProvider => {
                return sign_in::provider_needed(self, visitor, next).await;
            }
        })
    }

    fn to_step(&self, path: &str, token: &str, next: &SignInRedirect) -> Response<Body> {
        let mut response = see_other(path);
        self.set_step(&mut response, token);
        next.keep_opener(&mut response);
        response
    }

    async fn step(
        &self,
        visitor: &Visitor,
        kind: SignInStepKind,
    ) -> base::error::Result<Option<(TokenHash, SignInStep)>> {
        let Some(token) = visitor.step else { return Ok(None) };
        let now = self.app.clock.now();
        let read = move |tx: &mut db::Tx<'_>| sign_in_steps::look_at_step(tx, &token, kind, now);
        Ok(self.app.store.read(read).await?.map(|step| (token, step)))
    }
}

pub async fn code_page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    let Some((_, step)) = web.step(&visitor, SignInStepKind::Code).await? else {
        return Ok(see_other("/sign-in"));
    };
    let page = CodePage { csrf: visitor.csrf, error: String::new() };
    Ok(with_step_cookie(&step, responses::html(StatusCode::OK, &page)))
}

pub async fn enter_code(State(web): State<Arc<Web>>, posted: PostedForm<CodeForm>) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let Some((token, step)) = web.step(&visitor, SignInStepKind::Code).await? else {
        return Ok(see_other("/sign-in"));
    };
    let (app, device, begun) = (web.app.clone(), visitor.device.clone(), step.clone());
    let work = move |tx: &mut db::Tx<'_>| {
        sign_in_steps::enter_code_of_step(tx, &app, &token, &begun, &form.code, &device)
    };
    let (entry, session) = web.app.store.write(work).await?;
    let Some(session) = session else {
        let error = entry.sentence().unwrap_or_default();
        let page = CodePage { csrf: visitor.csrf, error };
        return Ok(with_step_cookie(
            &step,
            responses::html(StatusCode::UNPROCESSABLE_ENTITY, &page),
        ));
    };
    let mut response = SignInRedirect::of(&step.next).go();
    web.set_session(&mut response, &session);
    web.clear_step(&mut response);
    Ok(response)
}

pub async fn set_up_page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    let Some((_, step)) = web.step(&visitor, SignInStepKind::SetUp).await? else {
        return Ok(see_other("/sign-in"));
    };
    set_up(&web, visitor, &step, StatusCode::OK, "").await
}

async fn set_up(
    web: &Web,
    visitor: Visitor,
    step: &SignInStep,
    status: StatusCode,
    error: &str,
) -> PageResult {
    let (app, begun) = (web.app.clone(), step.clone());
    let read = move |tx: &mut db::Tx<'_>| sign_in_steps::set_up_of_step(tx, &app, &begun);
    let set_up = web.app.store.read(read).await?;
    let page = SetUpPage {
        csrf: visitor.csrf,
        qr: QrCode::of(&set_up.address),
        secret: in_groups(&set_up.secret.base32()),
        error: error.to_owned(),
    };
    Ok(with_step_cookie(step, responses::html(status, &page)))
}

pub async fn confirm_set_up(
    State(web): State<Arc<Web>>,
    posted: PostedForm<CodeForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let Some((token, step)) = web.step(&visitor, SignInStepKind::SetUp).await? else {
        return Ok(see_other("/sign-in"));
    };
    let (app, device, begun) = (web.app.clone(), visitor.device.clone(), step.clone());
    let work = move |tx: &mut db::Tx<'_>| {
        sign_in_steps::confirm_set_up_of_step(tx, &app, &token, &begun, &form.code, &device)
    };
    let Some((session, codes)) = web.app.store.write(work).await? else {
        let wrong = t!("That code does not fit. Type the one that the app shows now.");
        return set_up(&web, visitor, &step, StatusCode::UNPROCESSABLE_ENTITY, wrong).await;
    };
    let page = RecoveryPage { codes, next: SignInRedirect::of(&step.next).to_string() };
    let mut response = with_step_cookie(&step, responses::html(StatusCode::OK, &page));
    web.set_session(&mut response, &session);
    web.clear_step(&mut response);
    Ok(response)
}

/// A page on the way to where the person was going.
fn with_step_cookie(step: &SignInStep, mut response: Response<Body>) -> Response<Body> {
    SignInRedirect::of(&step.next).keep_opener(&mut response);
    response
}

/// A secret as people type it.
pub fn in_groups(secret: &str) -> String {
    let letters: Vec<char> = secret.chars().collect();
    let groups: Vec<String> = letters.chunks(4).map(|group| group.iter().collect()).collect();
    groups.join(" ")
}
