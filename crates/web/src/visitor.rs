//! The client of a request: cookies, CSRF token, time zone and network.

use std::fmt;
use std::sync::Arc;

use actions::sign_in::sessions::TokenHash;
use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, Response};
use base::ids::{Ids, MailboxId, MessageId, WorkspaceId};
use base::limits::{
    INTERRUPTED_FORM_MS, MAILED_LINK_MS, SESSION_IDLE_MS, SESSION_MS, SIGN_IN_STEP_MS,
};
use jiff::tz::TimeZone;
use model::guests::guest_tokens::GuestTokenHash;
use sha2::{Digest, Sha256};
use transport::http::{ClientNetwork, Peer};
use url::{Position, Url};

use crate::Web;
use crate::forms::left_form::{LeftForm, page_of_form};
use crate::layout::flash::Flash;
use crate::layout::responses::{PageResult, see_other};

const SESSION: &str = "mailroom_session";
/// Browsers send a `__Host-` cookie to this host only, and only over https.
const SESSION_HTTPS: &str = "__Host-mailroom_session";
/// A sign-in that has begun in this browser.
const STEP: &str = "mailroom_step";
const STEP_HTTPS: &str = "__Host-mailroom_step";
/// A browser that asked for a sign-in link.
const ASKER: &str = "mailroom_asker";
const ASKER_HTTPS: &str = "__Host-mailroom_asker";
/// Who signed in at the provider in this browser, sealed. It is sent with the form that signs out only.
const PROVIDER: &str = "mailroom_provider";
const PROVIDER_HTTPS: &str = "__Secure-mailroom_provider";
const PROVIDER_PATH: &str = "/sign-out";
const GUEST: &str = "mailroom_guest";
const GUEST_HTTPS: &str = "__Host-mailroom_guest";
/// The session that a look around in a sample returns to.
const HOME: &str = "mailroom_home";
const HOME_HTTPS: &str = "__Host-mailroom_home";
const FLASH: &str = "mailroom_flash";
const UNDO: &str = "mailroom_undo";
/// What was typed in this browser when its session was over.
const UNSENT: &str = "mailroom_unsent";
const UNSENT_HTTPS: &str = "__Host-mailroom_unsent";
const ZONE: &str = "mailroom_zone";
const LAST_INBOX: &str = "mailroom_inbox";
const LAST_INBOX_SECONDS: i64 = 365 * 24 * 60 * 60;
const FLASH_SECONDS: i64 = 30;
/// How long a browser remembers what it sent; pages show it for less, see `page_layout`.
const UNDO_SECONDS: i64 = 60;
/// What just happened is shown in a stack of so many at most.
pub const TOASTS: usize = 3;
const CSRF_BYTES: usize = 16;
/// Characters of chance, 5 bits each, that a mask is made of.
const MASK_CHARS: usize = 26;

/// What a request says about its client, before anything is looked up.
#[derive(Clone)]
pub struct Visitor {
    pub session: Option<TokenHash>,
    /// The session that this browser returns to when it has looked around in a sample.
    pub home: Option<TokenHash>,
    /// A sign-in that this browser has begun.
    pub step: Option<TokenHash>,
    /// The sign-in link that this browser asked for last.
    pub asker: Option<TokenHash>,
    /// The browser of a customer as the protected pages of each workspace know it.
    pub readers: Vec<(WorkspaceId, GuestTokenHash)>,
    /// What a form of this session carries, masked anew for each response.
    pub csrf: CsrfToken,
    pub flash: Option<Flash>,
    /// The messages that were just sent, the newest last.
    pub undo: Vec<MessageId>,
    pub zone: TimeZone,
    /// When the request came.
    pub now: i64,
    /// The inbox that the last first mail of this browser was sent from.
    pub last_inbox: Option<MailboxId>,
    /// A form that was posted when its session was over, which this browser left behind.
    pub unsent: Option<TokenHash>,
    /// The form that is posted, to be kept if it turns out that nobody is signed in.
    pub posted: Option<Arc<LeftForm>>,
    /// The page to return to after signing in: that of the request, or of the form that it posts.
    pub here: String,
    pub device: String,
    /// What sign-in attempts are counted for: the client's network, as far as it is known.
    pub place: String,
    /// The client's network; `None` if only our own proxy is known.
    pub network: Option<ClientNetwork>,
}

impl FromRequestParts<Arc<Web>> for Visitor {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(
        parts: &mut Parts,
        web: &Arc<Web>,
    ) -> Result<Self, Self::Rejection> {
        Ok(Visitor::of(parts, web))
    }
}

impl Visitor {
    pub fn of(parts: &Parts, web: &Web) -> Visitor {
        // Under https the plain name is not read: any site of the domain could have set it.
        let token = cookie(&parts.headers, web.session_cookie()).unwrap_or_default();
        let peer = parts.extensions.get::<Peer>();
        let session = TokenHash::of(&token);
        let zone = cookie(&parts.headers, ZONE).and_then(|name| zone(&name));
        Visitor {
            session,
            home: cookie(&parts.headers, web.home_cookie()).and_then(|it| TokenHash::of(&it)),
            step: cookie(&parts.headers, web.step_cookie()).and_then(|it| TokenHash::of(&it)),
            asker: cookie(&parts.headers, web.asker_cookie()).and_then(|it| TokenHash::of(&it)),
            readers: readers(&parts.headers, web.guest_cookie()),
            csrf: match session {
                Some(_) => CsrfToken::of(&token, &web.app.ids),
                None => CsrfToken::default(),
            },
            flash: cookie(&parts.headers, FLASH).and_then(|code| Flash::parse(&code)),
            undo: cookie(&parts.headers, UNDO).map_or_else(Vec::new, |ids| just_sent(&ids)),
            zone: zone.unwrap_or(TimeZone::UTC),
            now: web.app.clock.now(),
            last_inbox: cookie(&parts.headers, LAST_INBOX).and_then(|id| MailboxId::parse(&id)),
            unsent: cookie(&parts.headers, web.unsent_cookie()).and_then(|it| TokenHash::of(&it)),
            posted: None,
            here: match parts.method {
                Method::GET | Method::HEAD => {
                    parts.uri.path_and_query().map_or("/", |here| here.as_str()).to_owned()
                }
                _ => page_of_form_or_before(parts),
            },
            device: text_header(&parts.headers, header::USER_AGENT.as_str()),
            place: match peer {
                Some(peer) => ClientNetwork::of(peer.client(&parts.headers)).to_string(),
                None => "unknown".into(),
            },
            network: peer.and_then(|peer| peer.client_network(&parts.headers)),
        }
    }
}

impl Visitor {
    /// The browser as the protected pages of a workspace know it.
    pub fn reader_at(&self, workspace: &WorkspaceId) -> Option<GuestTokenHash> {
        let own = self.readers.iter().find(|(of, _)| of == workspace);
        own.map(|(_, browser)| *browser)
    }

    /// What is kept of a form that this client posts, if nobody turns out to be signed in.
    pub fn left_form(&self, path: &str, fields: &[(String, String)]) -> Option<Arc<LeftForm>> {
        LeftForm::of(&self.here, &self.place, path, fields).map(Arc::new)
    }
}

/// The page that a form was posted from, as the browser says, or else the one that it belongs to.
fn page_of_form_or_before(parts: &Parts) -> String {
    let before = Url::parse(&text_header(&parts.headers, header::REFERER.as_str())).ok();
    let host = text_header(&parts.headers, header::HOST.as_str());
    let own = before.filter(|page| {
        let port = page.port().map(|port| format!(":{port}")).unwrap_or_default();
        page.host_str().is_some_and(|name| format!("{name}{port}") == host)
    });
    match own {
        Some(page) if page.path() != parts.uri.path() => page[Position::BeforePath..].to_owned(),
        _ => page_of_form(parts.uri.path()),
    }
}

/// The ids of messages, with dots between them.
fn just_sent(ids: &str) -> Vec<MessageId> {
    ids.split('.').take(TOASTS).filter_map(MessageId::parse).collect()
}

/// A name such as `Europe/Berlin`, as the script writes it into a cookie.
fn zone(name: &str) -> Option<TimeZone> {
    let name = name.replace("%2F", "/");
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"/_+-".contains(&b);
    (name.len() <= 64 && name.bytes().all(plain)).then(|| TimeZone::get(&name).ok())?
}

/// What a form must carry, derived from the session's token, which cannot be computed back from it.
///
/// It is written as a random mask and the masked value, so that it looks different in each response:
/// the size of compressed pages tells nothing about it (BREACH).
#[derive(Clone, Default)]
pub struct CsrfToken {
    value: [u8; CSRF_BYTES],
    written: String,
}

impl CsrfToken {
    pub(super) fn of(token: &str, ids: &Ids) -> CsrfToken {
        let value = first_bytes(&format!("a form of {token}"));
        let mask = first_bytes(&ids.token(MASK_CHARS));
        let masked = xor(value, mask);
        let written = mask.iter().chain(&masked).map(|byte| format!("{byte:02x}")).collect();
        CsrfToken { value, written }
    }

    /// True if a form of this session carries this. A visitor without a session has an empty token.
    pub fn fits(&self, written: &str) -> bool {
        if self.written.is_empty() {
            return written.is_empty();
        }
        unmask(written) == Some(self.value)
    }
}

impl fmt::Display for CsrfToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

fn unmask(written: &str) -> Option<[u8; CSRF_BYTES]> {
    let is_hex = written.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    if written.len() != 4 * CSRF_BYTES || !is_hex {
        return None;
    }
    let mut bytes = [0; 2 * CSRF_BYTES];
    for (place, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&written[2 * place..2 * place + 2], 16).ok()?;
    }
    let (mask, masked) = bytes.split_at(CSRF_BYTES);
    Some(xor(mask.try_into().ok()?, masked.try_into().ok()?))
}

fn xor(one: [u8; CSRF_BYTES], other: [u8; CSRF_BYTES]) -> [u8; CSRF_BYTES] {
    std::array::from_fn(|place| one[place] ^ other[place])
}

fn first_bytes(text: &str) -> [u8; CSRF_BYTES] {
    let hash = Sha256::digest(text);
    std::array::from_fn(|place| hash[place])
}

/// True for a browser that began a session here, even if it has ended.
pub fn has_session_cookie(headers: &HeaderMap) -> bool {
    [SESSION, SESSION_HTTPS].into_iter().any(|name| cookie(headers, name).is_some())
}

pub(super) fn cookie(headers: &HeaderMap, name: &str) -> Option<String> {
    cookies(headers).find(|(found, _)| *found == name).map(|(_, value)| value.to_owned())
}

/// The cookies for the protected pages of workspaces, whose names end with the workspace.
fn readers(headers: &HeaderMap, guest_cookie: &str) -> Vec<(WorkspaceId, GuestTokenHash)> {
    let own = |(name, token): (&str, &str)| {
        let workspace = name.strip_prefix(guest_cookie)?.strip_prefix('-')?;
        Some((WorkspaceId::parse(workspace)?, GuestTokenHash::of(token)))
    };
    cookies(headers).filter_map(own).collect()
}

/// The cookies of a request: name and value.
fn cookies(headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='))
}

fn text_header(headers: &HeaderMap, name: &str) -> String {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("").to_owned()
}

/// True if the request comes from a page of this site, or from a client that sends neither
/// `Sec-Fetch-Site` nor `Origin`.
pub fn is_from_here(headers: &HeaderMap) -> bool {
    match text_header(headers, "sec-fetch-site").as_str() {
        "same-origin" => return true,
        "" => {}
        _ => return false,
    }
    let origin = text_header(headers, header::ORIGIN.as_str());
    let host = text_header(headers, header::HOST.as_str());
    match origin.split_once("://") {
        None => origin.is_empty(),
        Some((_, from)) => from == host,
    }
}

impl Web {
    pub fn set_session<B>(&self, response: &mut Response<B>, token: &str) {
        self.set_cookie(response, self.session_cookie(), token, SESSION_IDLE_MS / 1_000);
    }

    pub fn clear_session<B>(&self, response: &mut Response<B>) {
        self.set_cookie(response, self.session_cookie(), "", 0);
    }

    /// Goes from the session of this browser into one in a sample, and remembers the way back.
    pub fn set_sample_session<B>(
        &self,
        response: &mut Response<B>,
        headers: &HeaderMap,
        sample: &str,
    ) {
        let own = cookie(headers, self.session_cookie()).unwrap_or_default();
        self.set_cookie(response, self.home_cookie(), &own, SESSION_IDLE_MS / 1_000);
        self.set_session(response, sample);
    }

    /// Returns to the session from before the sample.
    pub fn set_home_session<B>(&self, response: &mut Response<B>, headers: &HeaderMap) {
        match cookie(headers, self.home_cookie()) {
            Some(own) => self.set_session(response, &own),
            None => self.clear_session(response),
        }
        self.clear_home(response);
    }

    pub fn clear_home<B>(&self, response: &mut Response<B>) {
        self.set_cookie(response, self.home_cookie(), "", 0);
    }

    fn home_cookie(&self) -> &'static str {
        if self.https { HOME_HTTPS } else { HOME }
    }

    /// Begins a step of a sign-in in this browser.
    pub fn set_step<B>(&self, response: &mut Response<B>, token: &str) {
        self.set_cookie(response, self.step_cookie(), token, SIGN_IN_STEP_MS / 1_000);
    }

    pub fn clear_step<B>(&self, response: &mut Response<B>) {
        self.set_cookie(response, self.step_cookie(), "", 0);
    }

    /// Remembers who signed in at the provider in this browser.
    pub fn set_provider_account<B>(&self, response: &mut Response<B>, sealed: &str) {
        let name = self.provider_cookie();
        self.set_cookie_at(response, PROVIDER_PATH, name, sealed, SESSION_MS / 1_000);
    }

    pub fn clear_provider_account<B>(&self, response: &mut Response<B>) {
        self.set_cookie_at(response, PROVIDER_PATH, self.provider_cookie(), "", 0);
    }

    /// Who signed in at the provider in this browser, as it was sealed.
    pub fn provider_account(&self, headers: &HeaderMap) -> Option<String> {
        cookie(headers, self.provider_cookie())
    }

    /// Remembers that this browser asked for a sign-in link.
    pub fn set_asker<B>(&self, response: &mut Response<B>, token: &str) {
        self.set_cookie(response, self.asker_cookie(), token, MAILED_LINK_MS / 1_000);
    }

    /// Remembers the inbox that a first mail was sent from.
    pub fn set_last_inbox<B>(&self, response: &mut Response<B>, inbox: &MailboxId) {
        self.set_cookie(response, LAST_INBOX, inbox.as_str(), LAST_INBOX_SECONDS);
    }

    /// Remembers that this browser left a form behind.
    pub fn set_unsent<B>(&self, response: &mut Response<B>, token: &str) {
        self.set_cookie(response, self.unsent_cookie(), token, INTERRUPTED_FORM_MS / 1_000);
    }

    pub fn clear_unsent<B>(&self, response: &mut Response<B>) {
        self.set_cookie(response, self.unsent_cookie(), "", 0);
    }

    fn unsent_cookie(&self) -> &'static str {
        if self.https { UNSENT_HTTPS } else { UNSENT }
    }

    fn provider_cookie(&self) -> &'static str {
        if self.https { PROVIDER_HTTPS } else { PROVIDER }
    }

    fn asker_cookie(&self) -> &'static str {
        if self.https { ASKER_HTTPS } else { ASKER }
    }

    fn step_cookie(&self) -> &'static str {
        if self.https { STEP_HTTPS } else { STEP }
    }

    /// The cookie of a customer's browser.
    pub(super) fn guest_cookie(&self) -> &'static str {
        if self.https { GUEST_HTTPS } else { GUEST }
    }

    fn session_cookie(&self) -> &'static str {
        if self.https { SESSION_HTTPS } else { SESSION }
    }

    /// After a form: go there by GET, where the page says what was done.
    pub fn redirect(&self, path: &str, flash: Flash) -> PageResult {
        let mut response = see_other(path);
        self.set_cookie(&mut response, FLASH, flash.code(), FLASH_SECONDS);
        Ok(response)
    }

    pub fn clear_flash<B>(&self, response: &mut Response<B>) {
        self.set_cookie(response, FLASH, "", 0);
    }

    /// Lets the next pages offer to stop a message, beside those that were sent just before.
    pub fn set_undo<B>(&self, response: &mut Response<B>, visitor: &Visitor, message: &MessageId) {
        let before = visitor.undo.iter().filter(|id| *id != message);
        let mut ids: Vec<&str> = before.chain([message]).map(MessageId::as_str).collect();
        ids.drain(..ids.len().saturating_sub(TOASTS));
        self.set_cookie(response, UNDO, &ids.join("."), UNDO_SECONDS);
    }

    pub(super) fn set_cookie<B>(
        &self,
        response: &mut Response<B>,
        name: &str,
        value: &str,
        seconds: i64,
    ) {
        self.set_cookie_at(response, "/", name, value, seconds);
    }

    /// A cookie that is sent with this path and what is below it only.
    fn set_cookie_at<B>(
        &self,
        response: &mut Response<B>,
        path: &str,
        name: &str,
        value: &str,
        seconds: i64,
    ) {
        let secure = if self.https { "; Secure" } else { "" };
        let text = format!(
            "{name}={value}; Path={path}; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}"
        );
        if let Ok(value) = HeaderValue::from_str(&text) {
            response.headers_mut().append(header::SET_COOKIE, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn only_pages_of_this_site_post_its_forms() {
        let host = ("host", "mail.example");
        for (pairs, here) in [
            (vec![host], true),
            (vec![host, ("sec-fetch-site", "same-origin")], true),
            (vec![host, ("sec-fetch-site", "same-site")], false),
            (
                vec![host, ("sec-fetch-site", "cross-site"), ("origin", "https://mail.example")],
                false,
            ),
            (vec![host, ("origin", "https://mail.example")], true),
            (vec![host, ("origin", "https://evil.example")], false),
            (vec![host, ("origin", "null")], false),
        ] {
            assert_eq!(is_from_here(&headers(&pairs)), here, "{pairs:?}");
        }
    }

    #[test]
    fn a_token_looks_different_each_time_and_fits_its_session_alone() {
        let ids = Ids::with_seed(1);
        let (one, again) = (CsrfToken::of("a", &ids), CsrfToken::of("a", &ids));
        let other = CsrfToken::of("b", &ids);
        assert_ne!(one.to_string(), again.to_string());
        assert!(one.fits(&again.to_string()) && again.fits(&one.to_string()));
        assert!(!one.fits(&other.to_string()) && !other.fits(&one.to_string()));
        let upper = one.to_string().to_uppercase();
        for bad in ["", "00", &upper, &"0".repeat(64), &"é".repeat(32)] {
            assert!(!one.fits(bad), "{bad}");
        }
        assert!(CsrfToken::default().fits("") && !CsrfToken::default().fits("00"));
    }

    #[test]
    fn a_cookie_is_found_among_others() {
        let headers = headers(&[("cookie", "a=1; mailroom_flash=stopped;b=2")]);
        assert_eq!(cookie(&headers, FLASH).as_deref(), Some("stopped"));
        assert_eq!(cookie(&headers, "flash"), None);
    }

    #[test]
    fn a_zone_is_a_name_that_is_known() {
        assert!(zone("Europe%2FBerlin").is_some());
        for bad in ["", "../../etc/passwd", "Nowhere/Land", "a b"] {
            assert!(zone(bad).is_none(), "{bad}");
        }
    }
}
