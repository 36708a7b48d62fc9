//! The page on which a person lets an OAuth client in, or refuses it.

use std::sync::Arc;

use actions::integrations::oauth_consent::{self, ClientUse, Consent, WorksIn};
use askama::Template;
use axum::body::Body;
use axum::extract::State;
use axum::http::Response;
use base::error::Error;
use base::security::redirect_uri::{RedirectTarget, RedirectUri};
use base::security::scopes::{Scope, Scopes};
use model::people::oauth_clients::{OauthClient, is_document_address};

use crate::Web;
use crate::forms::form::{Asked, FormFields, PostedForm, form};
use crate::layout::filters;
use crate::layout::responses::{self, PageError, PageResult, see_other};
use crate::layout::wording::{DisplayTime, TimeFormat};
use crate::visitor::{CsrfToken, Visitor};

/// The longest `state` of a client that is carried, in bytes.
const STATE_BYTES: usize = 2_000;
/// Characters of the base64 of a SHA-256.
const CHALLENGE_CHARS: usize = 43;

#[derive(Template)]
#[template(path = "consent.html", whitespace = "minimize")]
struct ConsentPage {
    csrf: CsrfToken,
    /// The signed-in person and their workspace.
    person: String,
    workspace: String,
    administers: bool,
    client: String,
    /// The site that the client proved to come from.
    host: Option<String>,
    registered: DisplayTime,
    target: RedirectTarget,
    seen: Option<SeenBefore>,
    joins_as: String,
    /// The scopes that are ticked.
    ticked: Vec<Scope>,
    /// Where the person lets it work already. Nothing is chosen for them: what a sandbox is must be known
    /// before mail of customers is given away, and an app in the sandbox finds none of it.
    works: Option<WorksIn>,
    /// True when the form came without that choice.
    lacks_choice: bool,
    request: ConsentForm,
}

/// Who connected the client before.
struct SeenBefore {
    by: String,
    since: DisplayTime,
    used: Option<DisplayTime>,
}

impl ConsentPage {
    fn ticks(&self, scope: &str) -> bool {
        self.ticked.iter().any(|ticked| ticked.as_str() == scope)
    }

    /// True when the site that asks also gets the answer. A program on this computer could be any.
    fn is_confirmed(&self) -> bool {
        match (&self.host, &self.target) {
            (Some(host), RedirectTarget::Site(site)) => {
                site == host || site.ends_with(&format!(".{host}"))
            }
            _ => false,
        }
    }
}

form! {
    /// A client's request, as its link and as the form on the page carry it, and the person's answer.
    pub struct ConsentForm {
        response_type: String,
        client_id: String,
        redirect_uri: String,
        code_challenge: String,
        code_challenge_method: String,
        state: String,
        scope: String,
        resource: String,
        answer: String,
        allowed: Vec<Scope> = "allow",
        works: String,
    }
}

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> PageResult {
    if says_twice(&asked) {
        return Err(unusable("It says something twice."));
    }
    let request = <ConsentForm as crate::forms::form::Form>::read(&asked)?;
    let (client, redirect_uri) = match client_of(&web, &visitor, &request).await? {
        Ok(found) => found,
        Err(answered) => return Ok(answered),
    };
    let page = build(&web, &visitor, client, redirect_uri, request).await?;
    allow_redirect(responses::page(&page)?)
}

/// The page, whose form leads on to the client.
fn allow_redirect(mut response: Response<Body>) -> PageResult {
    responses::let_form_lead_on(&mut response);
    responses::keep_opener(&mut response);
    Ok(response)
}

fn says_twice(asked: &FormFields) -> bool {
    let pairs = asked.pairs();
    let is_earlier = |place: usize| pairs[..place].iter().any(|(name, _)| *name == pairs[place].0);
    (0..pairs.len()).any(is_earlier)
}

/// The client of a request and where it is answered. A request that the client itself got wrong is
/// answered to the client; one whose client or address is not known leads nowhere.
async fn client_of(
    web: &Web,
    visitor: &Visitor,
    request: &ConsentForm,
) -> Result<Result<(OauthClient, RedirectUri), Response<Body>>, PageError> {
    if !oauth_consent::oauth_works_at(&web.app.public_url) {
        let sentence = "Apps can be connected only where Mailroom has an https address. Its operator \
                        sets it with MAILROOM_PUBLIC_URL.";
        return Err(Error::Forbidden(sentence.into()).into());
    }
    let client = find_client(web, visitor, &request.client_id).await?;
    let redirect_uri = RedirectUri::parse(&request.redirect_uri);
    let redirect_uri = redirect_uri.filter(|uri| client.may_be_answered_at(uri));
    let Some(redirect_uri) = redirect_uri else {
        return Err(unusable("It wants its answer at an address that it has not named before."));
    };
    if let Some(error) = protocol_error(web, request) {
        // Anybody can name a site of theirs; nobody is sent to one without a word.
        if matches!(redirect_uri.target(), RedirectTarget::Site(_)) {
            let RequestError { code, description } = error;
            return Err(unusable(&format!("The app made a mistake: {code}. {description}")));
        }
        return Ok(Err(refuse(web, &redirect_uri, &request.state, error)));
    }
    Ok(Ok((client, redirect_uri)))
}

/// A client that is known, or that the document at its address tells of.
async fn find_client(
    web: &Web,
    visitor: &Visitor,
    client_id: &str,
) -> Result<OauthClient, PageError> {
    let id = client_id.to_owned();
    let known = web
        .read(visitor, move |tx, cx, _| {
            oauth_consent::must_connect_apps(tx, cx)?;
            oauth_consent::known_client(tx, cx, &id)
        })
        .await?;
    if let Some(client) = known {
        return Ok(client);
    }
    if !is_document_address(client_id) {
        return Err(unusable("The app is not known here. Connect it anew from the app itself."));
    }
    if !web.act_quietly(visitor, |tx, cx, _| oauth_consent::count_client_document(tx, cx)).await? {
        return Err(PageError::TooManyAttempts);
    }
    let Some(metadata) = web.client_documents.fetch(client_id).await else {
        return Err(unusable("What the app says about itself could not be read at its address."));
    };
    let id = client_id.to_owned();
    let kept = web.act_quietly(visitor, move |tx, cx, _| {
        oauth_consent::keep_client_document(tx, cx, &id, &metadata)
    });
    kept.await
}

fn unusable(why: &str) -> PageError {
    let sentence = format!("This link of an app cannot be used. {why} Nothing was changed.");
    Error::invalid("request", sentence).into()
}

/// Why a client gets no code: the name of the error in the specification, and a sentence for its developer
/// (RFC 6749 section 4.1.2.1).
#[derive(Clone, Copy)]
struct RequestError {
    code: &'static str,
    description: &'static str,
}

const ACCESS_DENIED: RequestError =
    RequestError { code: "access_denied", description: "The person refused." };

/// What the client did wrong.
fn protocol_error(web: &Web, request: &ConsentForm) -> Option<RequestError> {
    let challenge = request.code_challenge.as_bytes();
    let is_challenge = challenge.len() == CHALLENGE_CHARS
        && challenge.iter().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(b));
    let own = format!("{}/mcp", web.app.public_url);
    let (code, description) = if request.response_type != "code" {
        ("unsupported_response_type", "The response_type must be code.")
    } else if request.code_challenge_method != "S256" {
        ("invalid_request", "PKCE is needed: code_challenge_method must be S256.")
    } else if !is_challenge {
        ("invalid_request", "The code_challenge must be the SHA-256 of the verifier in base64url.")
    } else if request.state.len() > STATE_BYTES {
        ("invalid_request", "The state is longer than 2000 bytes.")
    } else if !request.resource.is_empty() && request.resource != own {
        (
            "invalid_target",
            "The resource must be the one that the protected resource metadata names.",
        )
    } else {
        return None;
    };
    Some(RequestError { code, description })
}

async fn build(
    web: &Web,
    visitor: &Visitor,
    client: OauthClient,
    redirect_uri: RedirectUri,
    request: ConsentForm,
) -> Result<ConsentPage, PageError> {
    let id = client.id.clone();
    let read = web.read(visitor, move |tx, cx, me| {
        let seen = oauth_consent::client_use(tx, cx, &id)?;
        let granted = oauth_consent::granted_before(tx, cx, &id)?;
        let person = (cx.actor.name().to_owned(), me.workspace_name.clone(), me.administers());
        Ok((person, seen, granted))
    });
    let ((person, workspace, administers), seen, granted) = read.await?;
    let times = TimeFormat::new(web.app.clock.now(), visitor.zone.clone());
    let seen = seen.map(|ClientUse { by, since, last_used_at }| SeenBefore {
        by,
        since: times.short(since),
        used: last_used_at.map(|at| times.short(at)),
    });
    Ok(ConsentPage {
        csrf: visitor.csrf.clone(),
        joins_as: oauth_consent::app_name(&client.name, &person),
        person,
        workspace,
        administers,
        host: client.host(),
        registered: times.short(client.created_at),
        client: client.name,
        target: redirect_uri.target(),
        seen,
        works: granted.as_ref().map(|granted| granted.works),
        ticked: preselected_scopes(&request.scope, granted.map(|granted| granted.scopes).as_ref()),
        lacks_choice: false,
        request,
    })
}

/// What the client may do already, and write and draft, unless it asks for less than that. Send and
/// record are never ticked before a person has chosen them.
fn preselected_scopes(scope: &str, granted: Option<&Scopes>) -> Vec<Scope> {
    let asked: Vec<Scope> = scope.split(' ').filter_map(Scope::parse).collect();
    let has = |scope: &Scope| granted.is_some_and(|granted| granted.has(*scope));
    let is_wanted = |scope: &Scope| {
        let is_usual = matches!(scope, Scope::Write | Scope::Draft);
        is_usual && (asked.is_empty() || asked.contains(scope))
    };
    let all = [Scope::Write, Scope::Draft, Scope::Send, Scope::Record];
    all.into_iter().filter(|scope| has(scope) || is_wanted(scope)).collect()
}

pub async fn decide(State(web): State<Arc<Web>>, posted: PostedForm<ConsentForm>) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let (client, redirect_uri) = match client_of(&web, &visitor, &form).await? {
        Ok(found) => found,
        Err(answered) => return Ok(answered),
    };
    if form.answer != "allow" {
        return Ok(refuse(&web, &redirect_uri, &form.state, ACCESS_DENIED));
    }
    let Some(works) = WorksIn::parse(&form.works) else {
        let ticked = form.allowed.clone();
        let page = build(&web, &visitor, client, redirect_uri, form).await?;
        return allow_redirect(responses::again(&ConsentPage {
            ticked,
            lacks_choice: true,
            ..page
        })?);
    };
    let consent = Consent {
        client,
        redirect_uri: redirect_uri.clone(),
        challenge: form.code_challenge.clone(),
        scopes: form.allowed.clone(),
        livemode: works == WorksIn::Live,
    };
    let connect = web.act(&visitor, move |tx, cx, _| oauth_consent::connect_app(tx, cx, &consent));
    let code = connect.await?;
    Ok(answer(&web, &redirect_uri, &form.state, &[("code", &code)]))
}

fn refuse(
    web: &Web,
    redirect_uri: &RedirectUri,
    state: &str,
    RequestError { code, description }: RequestError,
) -> Response<Body> {
    answer(web, redirect_uri, state, &[("error", code), ("error_description", description)])
}

/// Sends the person back to the client with an answer, and with who gives it, so that a client that
/// talks to several servers cannot mix them up.
fn answer(
    web: &Web,
    redirect_uri: &RedirectUri,
    state: &str,
    answer: &[(&str, &str)],
) -> Response<Body> {
    let mut told = answer.to_vec();
    if !state.is_empty() {
        told.push(("state", state));
    }
    told.push(("iss", &web.app.public_url));
    let mut response = see_other(&redirect_uri.with_answer(&told));
    responses::keep_opener(&mut response);
    response
}
