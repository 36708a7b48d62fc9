//! Signing in.

use std::fmt;
use std::sync::Arc;

use actions::sign_in::provider_rules::LocalSignInPolicy;
use actions::sign_in::sessions::{self, FirstStep, LinkAsker, TokenHash};
use askama::Template;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::Response;
use base::actor::Actor;
use base::error::Error;
use base::limits::{
    LINKS_PER_ADDRESS, LINKS_PER_NETWORK, SIGN_IN_ATTEMPTS_PER_ADDRESS,
    SIGN_IN_ATTEMPTS_PER_NETWORK, SIGN_IN_TOKEN_CHARS, SIGN_IN_WAIT_MINUTES,
};
use model::branding::{self, Branding};
use model::people::notices;
use translation::t;

use crate::Web;
use crate::forms::form::{Asked, FormFields, FormValue, PostedForm, form};
use crate::layout::filters;
use crate::layout::flash::Flash;
use crate::layout::responses::{self, PageResult, see_other};
use crate::visitor::{CsrfToken, Visitor};

/// The longest path to go to after signing in, in bytes.
const NEXT_BYTES: usize = 4_000;

#[derive(Template)]
#[template(path = "sign_in.html", whitespace = "minimize")]
struct SignInPage {
    csrf: CsrfToken,
    branding: Branding,
    email: String,
    next: String,
    wrong: bool,
    too_many: bool,
    signed_out: bool,
    /// True when links can be mailed.
    mails: bool,
    /// Why no link was mailed, or that one may be on its way.
    link_error: String,
    link_sent: bool,
    /// True where browsers offer passkeys, and when one was not accepted.
    passkeys: bool,
    passkey_error: String,
    /// The name of the provider at which people sign in, and why somebody was not.
    provider: Option<String>,
    provider_error: String,
    /// True where only owners sign in otherwise.
    owners_only: bool,
}

impl SignInPage {
    async fn new(
        web: &Web,
        visitor: &Visitor,
        email: &str,
        next: SignInRedirect,
    ) -> base::error::Result<SignInPage> {
        Ok(SignInPage {
            csrf: visitor.csrf.clone(),
            branding: web.app.store.read(branding::of_only_workspace).await?,
            email: email.to_owned(),
            next: next.0,
            wrong: false,
            too_many: false,
            signed_out: false,
            mails: web.mails_somebody().await?,
            link_error: String::new(),
            link_sent: false,
            passkeys: web.passkey_site().is_some(),
            passkey_error: String::new(),
            provider: web.oidc.as_ref().map(|client| client.rules().name.clone()),
            provider_error: String::new(),
            owners_only: web.other_ways() == LocalSignInPolicy::ForOwners,
        })
    }

    /// True where something went wrong with a way that is for owners only.
    fn shows_other_ways(&self) -> bool {
        self.wrong
            || self.too_many
            || self.link_sent
            || !self.link_error.is_empty()
            || !self.passkey_error.is_empty()
    }
}

form! {
    pub struct SignInForm {
        email: String,
        password: String,
        next: SignInRedirect,
    }

    /// A request for a sign-in link.
    pub struct LinkForm {
        email: String,
        next: SignInRedirect,
    }
}

/// A path on this site, to go to after signing in.
#[derive(Clone)]
pub struct SignInRedirect(String);

impl SignInRedirect {
    /// The start page if the path leads anywhere else.
    pub fn of(path: &str) -> SignInRedirect {
        let is_path = path.starts_with('/') && !path.starts_with("//") && !path.starts_with("/\\");
        let is_plain = path.bytes().all(|b| (0x21..0x7f).contains(&b) && b != b'\\');
        let is_own =
            is_path && is_plain && path.len() <= NEXT_BYTES && !path.starts_with("/sign-in");
        SignInRedirect(if is_own { path.to_owned() } else { "/".into() })
    }
}

impl SignInRedirect {
    /// True when an app that opened this page in a pop-up waits for its end.
    fn leads_to_consent(&self) -> bool {
        responses::leads_to_consent(&self.0)
    }
}

impl SignInRedirect {
    pub fn go(&self) -> Response<Body> {
        let mut response = see_other(&self.0);
        self.keep_opener(&mut response);
        response
    }

    /// Keeps the tie to an app that opened this page in a pop-up, for every response on the way.
    pub fn keep_opener(&self, response: &mut Response<Body>) {
        if self.leads_to_consent() {
            responses::keep_opener(response);
        }
    }
}

impl fmt::Display for SignInRedirect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FormValue for SignInRedirect {
    fn read(fields: &FormFields, name: &str) -> base::error::Result<SignInRedirect> {
        Ok(SignInRedirect::of(&fields.get(name)))
    }
}

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> PageResult {
    let next = SignInRedirect::of(&asked.get("next"));
    if web.read(&visitor, |_, _, _| Ok(())).await.is_ok() {
        return Ok(next.go());
    }
    let signed_out = visitor.flash == Some(Flash::SignedOut);
    let leads_to_consent = next.leads_to_consent();
    let page = SignInPage { signed_out, ..SignInPage::new(&web, &visitor, "", next).await? };
    let mut response = responses::page(&page)?;
    if leads_to_consent {
        responses::keep_opener(&mut response);
    }
    web.clear_flash(&mut response);
    Ok(response)
}

pub async fn with_password(
    State(web): State<Arc<Web>>,
    posted: PostedForm<SignInForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let (email, next) = (form.email.trim().to_owned(), form.next);
    let page = SignInPage::new(&web, &visitor, &email, next.clone()).await?;
    if !mail::is_address(&email) {
        return again(&SignInPage { wrong: true, ..page });
    }
    let (address, now) = (format!("address {}", mail::normal_address(&email)), web.app.clock.now());
    let (counted, place) = (address.clone(), format!("place {}", visitor.place));
    let may_try = web
        .app
        .store
        .write(move |tx| -> base::error::Result<bool> {
            let address =
                sessions::count_sign_in_attempt(tx, &counted, SIGN_IN_ATTEMPTS_PER_ADDRESS, now)?;
            Ok(sessions::count_sign_in_attempt(tx, &place, SIGN_IN_ATTEMPTS_PER_NETWORK, now)?
                && address)
        })
        .await?;
    if !may_try {
        return again(&SignInPage { too_many: true, ..page });
    }
    let asked = email.clone();
    let found = web.app.store.read(move |tx| sessions::stored_passwords(tx, &asked)).await?;
    let hashes = found.iter().map(|stored| stored.hash.clone()).collect();
    let Some(place) = web.fitting(form.password, hashes).await else {
        return again(&SignInPage { wrong: true, ..page });
    };
    let sessions::StoredPassword { ws, person, opens_private, .. } = found[place].clone();
    web.app.store.write(move |tx| sessions::forget_sign_in_attempts(tx, &address)).await?;
    web.go_on_signing_in(&visitor, FirstStep { ws, person, opens_private, next: next.0 }).await
}

/// The page once more, after a passkey that was not accepted.
pub(crate) async fn passkey_refused(
    web: &Web,
    visitor: &Visitor,
    next: SignInRedirect,
) -> PageResult {
    if web.other_ways() == LocalSignInPolicy::ForOwners {
        return provider_needed(web, visitor, next).await;
    }
    let passkey_error = t!(
        "That passkey does not sign in here. Use a link or a password, and look at your passkeys \
         under Settings, Signing in."
    )
    .to_owned();
    again(&SignInPage { passkey_error, ..SignInPage::new(web, visitor, "", next).await? })
}

/// The page once more, with why the provider did not sign somebody in.
pub(crate) async fn provider_refused(
    web: &Web,
    visitor: &Visitor,
    next: SignInRedirect,
    provider_error: String,
) -> PageResult {
    again(&SignInPage { provider_error, ..SignInPage::new(web, visitor, "", next).await? })
}

/// The page once more, for somebody who signs in at the provider only.
pub(crate) async fn provider_needed(
    web: &Web,
    visitor: &Visitor,
    next: SignInRedirect,
) -> PageResult {
    let provider_error = t!("Sign in with this. Only owners sign in otherwise.").to_owned();
    provider_refused(web, visitor, next, provider_error).await
}

/// The page once more, for somebody whose second step is a passkey.
pub(crate) async fn passkey_needed(
    web: &Web,
    visitor: &Visitor,
    next: SignInRedirect,
) -> PageResult {
    let passkey_error =
        t!("Use your passkey. If it is lost, ask an owner or admin to reset your sign-in.")
            .to_owned();
    again(&SignInPage { passkey_error, ..SignInPage::new(web, visitor, "", next).await? })
}

/// The page once more, with what was wrong.
fn again(page: &SignInPage) -> PageResult {
    let mut response = responses::again(page)?;
    if responses::leads_to_consent(&page.next) {
        responses::keep_opener(&mut response);
    }
    Ok(response)
}

/// What became of the wish for a link.
enum LinkRequest {
    /// A link is on its way if somebody has the address.
    Taken,
    TooMany,
    /// The address is that of an inbox here.
    ToInbox,
}

/// Mails a link to the person with the address. The response does not tell whether there is one, but it
/// does tell that an address is an inbox here; a client network learns that of a limited number of
/// addresses.
pub async fn mail_link(State(web): State<Arc<Web>>, posted: PostedForm<LinkForm>) -> PageResult {
    if !web.mails_somebody().await? {
        return Err(Error::NotFound("page").into());
    }
    let PostedForm { visitor, form } = posted;
    let email = form.email.trim().to_owned();
    let next = form.next.0.clone();
    let page = SignInPage::new(&web, &visitor, &email, form.next).await?;
    if !mail::is_address(&email) {
        let link_error = t!("That is not an e-mail address.").into();
        return again(&SignInPage { link_error, ..page });
    }
    let browser = web.app.ids.secret(SIGN_IN_TOKEN_CHARS);
    let hash = TokenHash::of(&browser).ok_or(Error::Unauthorized)?;
    let (asker, ways) = (LinkAsker { browser: hash, next }, web.other_ways());
    let (app, asked) = (web.app.clone(), mail::normal_address(&email));
    let place = format!("links for {}", visitor.place);
    let by_operator = web.mail_reach().by_operator();
    let request = web
        .app
        .store
        .write(move |tx| -> base::error::Result<LinkRequest> {
            let operator = Actor::operator(&app.ids);
            let cx = app.cx(&operator);
            if !sessions::count_sign_in_attempt(tx, &place, LINKS_PER_NETWORK, cx.now)? {
                return Ok(LinkRequest::TooMany);
            }
            if notices::is_inbox(tx, &asked)? {
                return Ok(LinkRequest::ToInbox);
            }
            let address = format!("links to {asked}");
            if !sessions::count_sign_in_attempt(tx, &address, LINKS_PER_ADDRESS, cx.now)? {
                return Ok(LinkRequest::TooMany);
            }
            sessions::mail_sign_in_link(tx, &cx, &asked, by_operator, ways, &asker)?;
            Ok(LinkRequest::Taken)
        })
        .await?;
    let link_error = match request {
        LinkRequest::Taken => {
            let mut response = responses::page(&SignInPage { link_sent: true, ..page })?;
            web.set_asker(&mut response, &browser);
            return Ok(response);
        }
        LinkRequest::TooMany => {
            let minutes = SIGN_IN_WAIT_MINUTES;
            t!("Too many links were asked for. Wait {minutes} minutes.", minutes)
        }
        LinkRequest::ToInbox => t!(
            "Links cannot be mailed to {email}: it is an inbox here, and whoever reads the inbox \
             would read the link. Sign in with a password or a passkey, or ask the operator of this \
             server for a link.",
            email
        ),
    };
    again(&SignInPage { link_error, ..page })
}

#[derive(Template)]
#[template(path = "sign_in_link.html", whitespace = "minimize")]
struct LinkPage {
    csrf: CsrfToken,
    /// The person's and the workspace's name; `None` when the link does not work.
    whom: Option<(String, String)>,
    token: String,
}

/// Opening a link does not use it up: programs that scan mail open links too.
pub async fn link_page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(token): Path<String>,
) -> PageResult {
    let now = web.app.clock.now();
    let whom = match TokenHash::of(&token) {
        None => None,
        Some(link) => {
            let look = web.app.store.read(move |tx| sessions::look_at_link(tx, &link, now));
            match look.await {
                Ok(whom) => Some(whom),
                Err(Error::NotFound(_)) => None,
                Err(error) => return Err(error.into()),
            }
        }
    };
    let token = if whom.is_some() { token } else { String::new() };
    let status = match &whom {
        Some(_) => axum::http::StatusCode::OK,
        None => axum::http::StatusCode::NOT_FOUND,
    };
    Ok(responses::html(status, &LinkPage { csrf: visitor.csrf, whom, token }))
}

pub async fn with_link(
    State(web): State<Arc<Web>>,
    Path(token): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let visitor = posted.visitor;
    let (now, asker) = (web.app.clock.now(), visitor.asker);
    let used = match TokenHash::of(&token) {
        None => Err(Error::NotFound("link")),
        Some(link) => {
            let work = move |tx: &mut db::Tx<'_>| {
                sessions::use_sign_in_link(tx, now, &link, asker.as_ref())
            };
            web.app.store.write(work).await
        }
    };
    match used {
        Ok(first) => web.go_on_signing_in(&visitor, first).await,
        Err(Error::NotFound(_)) => {
            let page = LinkPage { csrf: visitor.csrf, whom: None, token: String::new() };
            Ok(responses::html(axum::http::StatusCode::NOT_FOUND, &page))
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::SignInRedirect;

    #[test]
    fn after_signing_in_one_stays_on_this_site() {
        for good in ["/inbox?view=open", "/conversations/cnv_1#letter"] {
            assert_eq!(SignInRedirect::of(good).0, good);
        }
        for bad in [
            "",
            "//evil.example",
            "/\\evil.example",
            "https://evil.example",
            "/a\r\nb",
            "/sign-in/x",
        ] {
            assert_eq!(SignInRedirect::of(bad).0, "/", "{bad:?}");
        }
    }
}
