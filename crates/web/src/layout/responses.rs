//! HTTP responses: pages, redirects and refusals, each with the security headers.

use std::sync::Arc;

use askama::Template;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{self, HeaderName};
use axum::http::{HeaderValue, Method, Response, StatusCode};
use axum::response::IntoResponse;
use base::error::{Error, OUTAGE_RETRY_SECONDS, ValidationErrors};
use base::limits::megabytes;
use translation::t;

use crate::forms::left_form::{LeftForm, page_of_form};
use crate::layout::filters;

/// Only our own files; no inline script, no frame around the page, no plug-in, no base.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                      connect-src 'self'; frame-src 'self'; manifest-src 'self'; form-action 'self'; \
                      frame-ancestors 'none'; base-uri 'none'";

const PERMISSIONS: HeaderName = HeaderName::from_static("permissions-policy");
const OPENER: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

/// Most pages have no more bytes than this.
const PAGE_BYTES: usize = 96 * 1024;

/// The largest form without files, in bytes.
pub const FORM_BYTES: usize = 1024 * 1024;
/// The largest body of a form with files that is read to its end, so that a form whose files are
/// too large can be shown again with what was typed.
pub const FORM_WITH_FILES_BYTES: usize = 64 * 1024 * 1024;

pub type PageResult = Result<Response<Body>, PageError>;

/// Why a request has no page.
pub enum PageError {
    /// Nobody is signed in; `next` is where they wanted to go, and `left` what they typed.
    SignIn {
        next: String,
        left: Option<Arc<LeftForm>>,
    },
    /// The form comes from another site, or from a page of another session.
    Foreign,
    TooLarge,
    /// Too many unknown links from one client network.
    TooManyAttempts,
    Domain(Error),
}

impl From<Error> for PageError {
    fn from(error: Error) -> PageError {
        PageError::Domain(error)
    }
}

/// What came of a form.
pub trait FormOutcome<T> {
    /// What is wrong with the input is for the page of the form, which is shown again; any other error is
    /// a page of its own.
    fn or_problems(self) -> Result<Result<T, ValidationErrors>, PageError>;
}

impl<T, E: Into<PageError>> FormOutcome<T> for Result<T, E> {
    fn or_problems(self) -> Result<Result<T, ValidationErrors>, PageError> {
        match self.map_err(Into::into) {
            Ok(outcome) => Ok(Ok(outcome)),
            Err(PageError::Domain(Error::Invalid(problems))) => Ok(Err(problems)),
            Err(refusal) => Err(refusal),
        }
    }
}

#[derive(Template)]
#[template(path = "refusal.html", whitespace = "minimize")]
struct RefusalPage {
    title: &'static str,
    sentence: String,
}

/// What a refusal said, for those who show it on a page of another kind.
#[derive(Clone)]
pub struct Refusal {
    pub title: &'static str,
    pub sentence: String,
    /// The form was of another site or another session.
    pub is_foreign: bool,
}

/// The page of a refusal.
fn refuse(status: StatusCode, refusal: Refusal) -> Response<Body> {
    let Refusal { title, sentence, .. } = refusal.clone();
    let mut response = html(status, &RefusalPage { title, sentence });
    response.extensions_mut().insert(refusal);
    response
}

/// Customers read it.
impl IntoResponse for PageError {
    fn into_response(self) -> Response<Body> {
        let is_foreign = matches!(self, PageError::Foreign);
        let (status, title, sentence) = match self {
            PageError::SignIn { next, left } => {
                let mut response = sign_in(&next);
                if let Some(left) = left {
                    response.extensions_mut().insert(left);
                }
                return response;
            }
            PageError::Foreign => (
                StatusCode::FORBIDDEN,
                t!("This page is too old"),
                t!("It was opened before you signed in, or came from another site. Nothing was \
                     changed. Go back, load the page again and repeat it.")
                .to_owned(),
            ),
            PageError::TooLarge => (
                StatusCode::PAYLOAD_TOO_LARGE,
                t!("That is too long"),
                t!(
                    "A form holds at most {n} MB, and {m} MB with its files. Nothing was changed.",
                    n = megabytes(FORM_BYTES as i64),
                    m = megabytes(FORM_WITH_FILES_BYTES as i64),
                ),
            ),
            PageError::TooManyAttempts => (
                StatusCode::TOO_MANY_REQUESTS,
                t!("Wait a little"),
                t!("Too many links that lead nowhere were opened from here.").to_owned(),
            ),
            PageError::Domain(Error::NotFound(_)) => return missing(),
            PageError::Domain(Error::Unauthorized) => return sign_in("/"),
            PageError::Domain(Error::Forbidden(sentence)) => {
                let sentence = translation::sentence(&sentence).into_owned();
                (StatusCode::FORBIDDEN, t!("Not for you to change"), sentence)
            }
            PageError::Domain(Error::Suspended { reason }) => {
                let why = if reason.is_empty() {
                    t!("Whoever runs this service can say why.").to_owned()
                } else {
                    reason
                };
                let kept = t!("Nothing of it is lost; nobody can work with it for now.");
                let sentence = format!("{why} {kept}");
                (StatusCode::FORBIDDEN, t!("This workspace is suspended"), sentence)
            }
            PageError::Domain(error @ Error::ClosedForNow) => {
                let sentence = translation::sentence(&error.to_string()).into_owned();
                (StatusCode::SERVICE_UNAVAILABLE, t!("Closed for now"), sentence)
            }
            PageError::Domain(Error::LimitReached(sentence)) => {
                let sentence = translation::sentence(&sentence).into_owned();
                (StatusCode::FORBIDDEN, t!("A limit is reached"), sentence)
            }
            PageError::Domain(Error::Throttled { sentence, .. }) => {
                let sentence = translation::sentence(&sentence).into_owned();
                (StatusCode::TOO_MANY_REQUESTS, t!("Wait a little"), sentence)
            }
            PageError::Domain(Error::Invalid(problems)) => {
                let problems = problems.0.iter();
                let sentences: Vec<_> =
                    problems.map(|problem| translation::sentence(&problem.sentence)).collect();
                (StatusCode::BAD_REQUEST, t!("That did not work"), sentences.join(" "))
            }
            PageError::Domain(error) if error.is_outage() => return unavailable(&error),
            PageError::Domain(error) => {
                tracing::error!(cause = ?cause(&error), "page request failed");
                (
                    StatusCode::INTERNAL_SERVER_ERROR,
                    t!("Something failed on our side"),
                    translation::sentence(&error.to_string()).into_owned(),
                )
            }
        };
        refuse(status, Refusal { title, sentence, is_foreign })
    }
}

/// While the database is down. Customers read it.
fn unavailable(error: &Error) -> Response<Body> {
    let refusal = Refusal {
        title: t!("Something failed on our side"),
        sentence: translation::sentence(&error.to_string()).into_owned(),
        is_foreign: false,
    };
    let mut response = refuse(StatusCode::SERVICE_UNAVAILABLE, refusal);
    ask_to_wait(&mut response);
    response
}

/// Says when a request that failed because the database is down may be repeated.
pub fn ask_to_wait(response: &mut Response<Body>) {
    response.headers_mut().insert(header::RETRY_AFTER, OUTAGE_RETRY_SECONDS.into());
}

fn cause(error: &Error) -> Option<String> {
    match error {
        Error::Store(cause) => Some(cause.to_string()),
        _ => None,
    }
}

/// Missing and invisible have the same response. Customers read it.
fn missing() -> Response<Body> {
    let refusal = Refusal {
        title: t!("There is nothing here"),
        sentence: t!("The link may be old, or it leads to an inbox you cannot see.").into(),
        is_foreign: false,
    };
    refuse(StatusCode::NOT_FOUND, refusal)
}

fn sign_in(next: &str) -> Response<Body> {
    let query =
        url::form_urlencoded::Serializer::new(String::new()).append_pair("next", next).finish();
    let mut response =
        see_other(&if next == "/" { "/sign-in".to_owned() } else { format!("/sign-in?{query}") });
    if leads_to_consent(next) {
        keep_opener(&mut response);
    }
    response
}

/// True for the page on which an app is let in, which may have opened this one in a pop-up.
pub fn leads_to_consent(path: &str) -> bool {
    path.starts_with("/authorize?")
}

pub async fn nothing_here() -> Response<Body> {
    missing()
}

/// The address of a form leads to the page that the form is on; that of a page takes no form.
/// Customers read it.
pub async fn not_this_way(request: Request) -> Response<Body> {
    if matches!(*request.method(), Method::GET | Method::HEAD) {
        return see_other(&page_of_form(request.uri().path()));
    }
    let refusal = Refusal {
        title: t!("There is nothing here"),
        sentence: t!("This address takes a visit, not a form.").into(),
        is_foreign: false,
    };
    refuse(StatusCode::METHOD_NOT_ALLOWED, refusal)
}

/// A page.
pub fn page(template: &impl Template) -> PageResult {
    Ok(html(StatusCode::OK, template))
}

/// A page that shows what was wrong with a form.
pub fn again(template: &impl Template) -> PageResult {
    Ok(html(StatusCode::UNPROCESSABLE_ENTITY, template))
}

/// Customers read it.
pub fn html(status: StatusCode, template: &impl Template) -> Response<Body> {
    // Room for most pages, so that they are not copied while they grow.
    let mut text = String::with_capacity(PAGE_BYTES);
    let (status, text) = match template.render_into(&mut text) {
        Ok(()) => (status, text),
        Err(error) => {
            tracing::error!(%error, "template rendering failed");
            (StatusCode::INTERNAL_SERVER_ERROR, t!("Something failed on our side.").to_owned())
        }
    };
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    guard(&mut response, POLICY);
    response
}

/// A text for one of our scripts.
pub fn plain(text: String) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    guard(&mut response, POLICY);
    response
}

/// For a script of ours.
pub fn json(value: &serde_json::Value) -> Response<Body> {
    let mut response = Response::new(Body::from(value.to_string()));
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    guard(&mut response, POLICY);
    response
}

/// Done, and nothing to say.
pub fn no_content() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

/// After a form: go there by GET.
pub fn see_other(path: &str) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    if let Ok(location) = HeaderValue::from_str(path) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    guard(&mut response, POLICY);
    response
}

/// Lets the form of a page lead to an OAuth client: a browser applies `form-action` to every redirect
/// after a form, and a client's own site may lead on to its program.
pub fn let_form_lead_on(response: &mut Response<Body>) {
    let policy = POLICY.replace(" form-action 'self';", "");
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
}

/// Lets pages of these sites show this one in a frame; where there is none, those of our own.
pub fn let_sites_frame(response: &mut Response<Body>, sites: &[String]) {
    let ancestors = format!("frame-ancestors 'self' {}", sites.join(" "));
    let policy = POLICY.replace("frame-ancestors 'none'", ancestors.trim_end());
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
        response.headers_mut().remove(header::X_FRAME_OPTIONS);
    }
}

/// Keeps the tie between a page and the one that opened it, which waits for a pop-up's end.
pub fn keep_opener(response: &mut Response<Body>) {
    response.headers_mut().insert(OPENER, HeaderValue::from_static("unsafe-none"));
}

/// The security headers of every response of the app.
pub fn guard(response: &mut Response<Body>, policy: &'static str) {
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(OPENER, HeaderValue::from_static("same-origin"));
    headers.insert(
        PERMISSIONS,
        HeaderValue::from_static("camera=(), microphone=(), geolocation=(), payment=()"),
    );
    let frames = if policy == POLICY { "DENY" } else { "SAMEORIGIN" };
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static(frames));
}
