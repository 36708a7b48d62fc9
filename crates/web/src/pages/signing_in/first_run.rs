//! The first run of an installation: one page behind a secret that the server prints at its start, on
//! which whoever has the link makes the workspace. Until then every other page says what to do.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use actions::inboxes::first_run;
use actions::inboxes::setup::{self, NewWorkspace};
use actions::workspace::samples;
use askama::Template;
use axum::body::Body;
use axum::extract::{FromRequestParts, Path, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Response, StatusCode, Uri, header};
use axum::middleware::Next;
use base::app::App;
use base::concurrency::future::BoxFuture;
use base::error::{Error, ValidationErrors};
use base::limits::SIGN_IN_TOKEN_CHARS;
use base::workspaces::samples::SAMPLE_OF_NONE;
use db::Tx;
use sha2::{Digest, Sha256};
use tokio::sync::Mutex;
use url::{Host, Url};

use crate::Web;
use crate::forms::field_errors::FieldErrors;
use crate::forms::form::{PostedForm, form};
use crate::layout::filters;
use crate::layout::responses::{self, FormOutcome, PageError, PageResult, see_other};
use crate::visitor::{CsrfToken, Visitor};

/// What the addresses of the page begin with; the secret follows.
const SET_UP: &str = "/setup/";
/// Addresses that are the same with and without a workspace.
const OPEN_TO_ALL: &[&str] =
    &[SET_UP, "/assets/", "/developers", "/llms", "/service-worker.js", "/manifest", "/offline"];
/// The name of the first inbox, until somebody types another.
const INBOX_NAME: &str = "Support";
/// The fields of the form; what is wrong with anything else is shown at the last.
const FIELDS: &[&str] =
    &["workspace", "owner-name", "owner-email", "password", "inbox-name", INBOX];
const INBOX: &str = "inbox";

/// Makes a workspace with made-up mail in the workspace with this number, or before there is any.
pub type FillSample =
    Arc<dyn Fn(App, i64) -> BoxFuture<'static, base::error::Result<()>> + Send + Sync>;

/// The set-up of an installation without a workspace. Its secret is made anew at each start, and only
/// its hash stays in memory.
pub struct FirstRun {
    secret_hash: [u8; 32],
    /// A workspace was seen, whoever made it.
    is_over: AtomicBool,
    /// One set-up at a time.
    turn: Mutex<()>,
}

impl FirstRun {
    /// A new set-up, with the link to its page.
    pub fn begin(app: &App) -> (Arc<FirstRun>, String) {
        let secret = app.ids.secret(SIGN_IN_TOKEN_CHARS);
        let link = format!("{}{SET_UP}{secret}", app.public_url);
        let first_run = FirstRun {
            secret_hash: Sha256::digest(&secret).into(),
            is_over: AtomicBool::new(false),
            turn: Mutex::default(),
        };
        (Arc::new(first_run), link)
    }

    /// True while there is no workspace but a sample.
    async fn is_open(&self, app: &App) -> base::error::Result<bool> {
        if self.is_over.load(Ordering::Relaxed) {
            return Ok(false);
        }
        let is_empty = app.store.read(setup::list_workspaces).await?.is_empty();
        if !is_empty {
            self.end();
        }
        Ok(is_empty)
    }

    /// True while there is not even a sample.
    async fn is_empty(&self, app: &App) -> base::error::Result<bool> {
        let sample = |tx: &mut Tx<'_>| samples::find_sample(tx, SAMPLE_OF_NONE);
        Ok(self.is_open(app).await? && app.store.read(sample).await?.is_none())
    }

    fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Compares in constant time.
    fn has_secret(&self, secret: &str) -> bool {
        let asked: [u8; 32] = Sha256::digest(secret).into();
        let pairs = self.secret_hash.iter().zip(&asked);
        pairs.fold(0, |difference, (own, asked)| difference | (own ^ asked)) == 0
    }
}

/// True for this machine's own names and the public address. No other name leads to the page, whatever
/// a DNS server says of it.
fn is_own_host(host: &str, public_url: &str) -> bool {
    let Ok(asked) = Url::parse(&format!("http://{host}/")) else { return false };
    let is_this_machine = match asked.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    is_this_machine || Url::parse(public_url).is_ok_and(|public| public.host() == asked.host())
}

/// The host and port that a request names.
fn asked_host<'a>(uri: &'a Uri, headers: &'a HeaderMap) -> &'a str {
    let named = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    named.or(uri.authority().map(|authority| authority.as_str())).unwrap_or_default()
}

/// Somebody who has the link, while there is no workspace. Everybody else finds nothing.
pub struct SetUpVisitor {
    first_run: Arc<FirstRun>,
    /// The path of the page.
    here: String,
    csrf: CsrfToken,
    device: String,
}

impl FromRequestParts<Arc<Web>> for SetUpVisitor {
    type Rejection = PageError;

    async fn from_request_parts(
        parts: &mut Parts,
        web: &Arc<Web>,
    ) -> Result<SetUpVisitor, PageError> {
        let visitor = Visitor::of(parts, web);
        let host = asked_host(&parts.uri, &parts.headers);
        let is_own = is_own_host(host, &web.app.public_url);
        let first_run = web.first_run.clone().filter(|_| is_own);
        let first_run = first_run.ok_or(Error::NotFound("page"))?;
        if !first_run.is_open(&web.app).await? {
            return Err(Error::NotFound("page").into());
        }
        let asked = Path::<String>::from_request_parts(parts, web).await;
        let secret = asked.map_or_else(|_| String::new(), |Path(secret)| secret);
        if !first_run.has_secret(&secret) {
            web.or_miss(&visitor, Err::<(), _>(Error::NotFound("page"))).await?;
        }
        let here = format!("{SET_UP}{secret}");
        Ok(SetUpVisitor { first_run, here, csrf: visitor.csrf, device: visitor.device })
    }
}

form! {
    pub struct SetUpForm {
        workspace: String,
        owner_name: String = "owner-name",
        owner_email: String = "owner-email",
        password: String,
        inbox: String,
        inbox_name: String = "inbox-name",
    }
}

#[derive(Template)]
#[template(path = "first_run.html", whitespace = "minimize")]
struct FirstRunPage {
    csrf: CsrfToken,
    here: String,
    new: NewWorkspace,
    errors: FieldErrors,
}

impl FirstRunPage {
    fn new(visitor: &SetUpVisitor, new: NewWorkspace) -> FirstRunPage {
        let here = visitor.here.clone();
        FirstRunPage { csrf: visitor.csrf.clone(), here, new, errors: FieldErrors::default() }
    }
}

pub async fn page(visitor: SetUpVisitor) -> PageResult {
    let new = NewWorkspace { inbox_name: INBOX_NAME.into(), ..NewWorkspace::default() };
    responses::page(&FirstRunPage::new(&visitor, new))
}

/// Makes the workspace, and leads its owner, who is signed in from here on, to the first steps.
pub async fn set_up(
    State(web): State<Arc<Web>>,
    visitor: SetUpVisitor,
    posted: PostedForm<SetUpForm>,
) -> PageResult {
    let SetUpForm { workspace, owner_name, owner_email, password, inbox, inbox_name } = posted.form;
    let new = NewWorkspace { name: workspace, owner_email, owner_name, inbox, inbox_name };
    let _turn = visitor.first_run.turn.lock().await;
    let hash = web.hash_password(password).await.or_problems()?;
    let problems = new.problems();
    let hash = match hash {
        Ok(hash) if problems.0.is_empty() => hash,
        Ok(_) => return again(&visitor, new, problems),
        Err(wrong) => return again(&visitor, new, problems.and(wrong)),
    };
    let (app, device, typed) = (web.app.clone(), visitor.device.clone(), new.clone());
    let work =
        move |tx: &mut Tx<'_>| first_run::set_up_first_workspace(tx, &app, &new, &hash, &device);
    match web.app.store.write(work).await.or_problems()? {
        Ok(session) => Ok(go_in(&web, &visitor, &session, "/welcome")),
        Err(problems) => again(&visitor, typed, problems),
    }
}

/// The page once more, with what was typed, but for the password.
fn again(visitor: &SetUpVisitor, new: NewWorkspace, problems: ValidationErrors) -> PageResult {
    let errors = FieldErrors::of(problems, FIELDS, INBOX);
    responses::again(&FirstRunPage { errors, ..FirstRunPage::new(visitor, new) })
}

/// Fills in the sample workspace where there is none yet, and signs its owner in. The page stays as it is
/// until there is a workspace of somebody's own.
pub async fn fill_sample(
    State(web): State<Arc<Web>>,
    visitor: SetUpVisitor,
    _posted: PostedForm,
) -> PageResult {
    let _turn = visitor.first_run.turn.lock().await;
    if !visitor.first_run.is_open(&web.app).await? {
        return Err(Error::NotFound("page").into());
    }
    let is_there = |tx: &mut Tx<'_>| samples::find_sample(tx, SAMPLE_OF_NONE);
    if web.app.store.read(is_there).await?.is_none() {
        match (web.fill_sample)(web.app.clone(), SAMPLE_OF_NONE).await {
            // Another process has made it meanwhile.
            Ok(()) | Err(Error::Conflict(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let (app, device) = (web.app.clone(), visitor.device.clone());
    let begin = move |tx: &mut Tx<'_>| samples::enter_sample(tx, &app, SAMPLE_OF_NONE, &device);
    let session = web.app.store.write(begin).await?;
    let mut response = see_other("/inbox?view=open");
    web.set_session(&mut response, &session);
    Ok(response)
}

fn go_in(web: &Web, visitor: &SetUpVisitor, session: &str, path: &str) -> Response<Body> {
    visitor.first_run.end();
    let mut response = see_other(path);
    web.set_session(&mut response, session);
    response
}

#[derive(Template)]
#[template(path = "first_run_waits.html", whitespace = "minimize")]
struct NotSetUpPage;

/// While there is no workspace, a page says what to do instead of asking for a sign-in.
pub async fn lead(State(web): State<Arc<Web>>, request: Request, next: Next) -> Response<Body> {
    let path = request.uri().path();
    let is_open_to_all = OPEN_TO_ALL.iter().any(|start| path.starts_with(start));
    if let Some(first_run) = web.first_run.as_ref().filter(|_| !is_open_to_all)
        && first_run.is_empty(&web.app).await.unwrap_or(false)
    {
        return responses::html(StatusCode::SERVICE_UNAVAILABLE, &NotSetUpPage);
    }
    next.run(request).await
}

#[cfg(test)]
mod tests {
    use super::is_own_host;

    #[test]
    fn the_page_is_found_under_the_names_of_this_machine_and_the_public_address_alone() {
        for (host, is_own) in [
            ("localhost:8080", true),
            ("127.0.0.1:8080", true),
            ("[::1]:8080", true),
            ("mail.acme.example", true),
            ("MAIL.acme.example:443", true),
            ("evil.example", false),
            ("mail.acme.example.evil.example", false),
            ("localhost.evil.example", false),
            ("192.168.1.5:8080", false),
            ("", false),
        ] {
            assert_eq!(is_own_host(host, "https://mail.acme.example"), is_own, "{host}");
        }
    }
}
