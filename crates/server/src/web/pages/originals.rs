//! The original of a message: its headers and text, its HTML in a sandboxed frame, and the inline
//! pictures of that HTML.

use std::sync::Arc;

use askama::Template;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, Response, Uri, header};
use db::Tx;
use inbox::actions::{self, SignedIn};
use inbox::base::ids::MessageId;
use inbox::{Cx, Error};
use mail::{MailPage, PageAddresses, PageState, RemotePictures};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use crate::web::Web;
use crate::web::form::Asked;
use crate::web::layout::filters;
use crate::web::layout::page_layout::{PageLayout, PageLocation};
use crate::web::layout::responses::{self, PageError, PageResult, guard};
use crate::web::pages::files::FILE_POLICY;
use crate::web::visitor::Visitor;

/// Mails that are parsed at one time; each takes a core.
const AT_ONCE: usize = 2;

/// How long a browser keeps a picture, which never changes.
const PICTURE_CACHING: &str = "private, max-age=3600, immutable";

/// No script of a mail runs, so it may have our origin; without that the browser would not send the
/// session cookie when it loads the pictures.
const PAGE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox allow-same-origin \
                           allow-popups allow-popups-to-escape-sandbox; form-action 'none'; base-uri 'none'; frame-ancestors 'self'";

/// Of the line above a mail whose remote pictures are left out. It takes nothing from the styles of
/// the mail.
const BLOCKED_STYLE: &str = "all:initial;display:block;margin:0 0 12px;padding:6px 10px;\
     border:1px solid #d5ddd9;border-radius:6px;background:#f4f7f5;color:#3c4a44;\
     font:13px/1.5 system-ui,sans-serif";
const BLOCKED_LINK_STYLE: &str =
    "all:initial;color:#0b5c63;font:inherit;text-decoration:underline;cursor:pointer";

/// The slots in which mails are parsed on blocking threads.
pub struct Originals(Arc<Semaphore>);

impl Originals {
    pub fn new() -> Originals {
        Originals(Arc::new(Semaphore::new(AT_ONCE)))
    }
}

#[derive(Template)]
#[template(path = "original.html", whitespace = "minimize")]
struct OriginalPage {
    frame: PageLayout,
    conversation: String,
    message: String,
    pictures: bool,
    has_html: bool,
    beyond_bounds: bool,
    headers: Vec<(String, String)>,
    text: String,
}

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path((conversation, message)): Path<(String, String)>,
    Asked(asked): Asked,
) -> PageResult {
    let location = PageLocation::at("As it came", "/inbox?view=open");
    let id = MessageId::parse(&message).ok_or(Error::NotFound("message"))?;
    let (blobs, wanted) = (web.app.blobs.clone(), conversation.clone());
    let reading = web
        .page(&visitor, location, move |tx, cx, _| actions::original(tx, cx, &blobs, &wanted, &id));
    let (frame, shown) = web.take_apart(reading, mail::original).await?;
    responses::page(&OriginalPage {
        frame,
        conversation,
        message,
        pictures: asked.has("pictures"),
        has_html: shown.page == PageState::Shown,
        beyond_bounds: shown.page == PageState::BeyondBounds,
        headers: shown.headers,
        text: shown.text,
    })
}

/// The mail's HTML, in a sandboxed frame.
pub async fn html(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path((conversation, message)): Path<(String, String)>,
    uri: Uri,
    headers: HeaderMap,
    Asked(asked): Asked,
) -> PageResult {
    let pictures = format!("/conversations/{conversation}/messages/{message}/pictures");
    let host = host(&uri, &headers);
    let policy = page_policy(&host, &pictures);
    let remote =
        if asked.has("pictures") { RemotePictures::Shown } else { RemotePictures::Blocked };
    let take = move |raw: &[u8]| {
        let addresses = PageAddresses { pictures: &pictures, remote };
        mail::mail_page(raw, &addresses).map(|page| shown(page, remote))
    };
    let reading = web.raw_mail(&visitor, conversation, &message);
    let ((), html) = web.take_apart(reading, take).await?;
    let mut response = Response::new(Body::from(html));
    guard(&mut response, PAGE_POLICY);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    Ok(response)
}

/// The page, with a line above it where remote pictures are left out.
fn shown(page: MailPage, remote: RemotePictures) -> String {
    if remote == RemotePictures::Shown || page.remote_pictures == 0 {
        return page.html;
    }
    let (what, them) = match page.remote_pictures {
        1 => ("1 remote picture is".to_owned(), "it"),
        many => (format!("{many} remote pictures are"), "them"),
    };
    let line = format!(
        "<div style=\"{BLOCKED_STYLE}\">{what} not shown: fetching {them} would tell the sender that \
         this was read. <a href=\"?pictures\" style=\"{BLOCKED_LINK_STYLE}\">Show pictures</a></div>"
    );
    let body =
        page.html.find("<body").and_then(|body| Some(body + page.html[body..].find('>')? + 1));
    let body = body.unwrap_or_default();
    format!("{}{line}{}", &page.html[..body], &page.html[body..])
}

/// A picture that a mail names at another place; the reader asked for it.
pub async fn remote_picture(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path((conversation, message, number)): Path<(String, String, String)>,
) -> PageResult {
    let number: usize = number.parse().map_err(|_| Error::NotFound("picture"))?;
    let reading = web.raw_mail(&visitor, conversation, &message);
    let take = move |raw: &[u8]| mail::remote_picture(raw, number);
    let ((), url) = web.take_apart(reading, take).await?;
    let found = web.remote_pictures.fetch(&url).await.ok_or(Error::NotFound("picture"))?;
    Ok(picture_response(found.content_type, found.bytes))
}

/// An inline picture of a mail.
pub async fn picture(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path((conversation, message, number)): Path<(String, String, String)>,
) -> PageResult {
    let number: usize = number.parse().map_err(|_| Error::NotFound("picture"))?;
    let reading = web.raw_mail(&visitor, conversation, &message);
    let take = move |raw: &[u8]| mail::inline_picture(raw, number);
    let ((), picture) = web.take_apart(reading, take).await?;
    Ok(picture_response(picture.content_type, picture.bytes))
}

fn picture_response(content_type: &'static str, bytes: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Body::from(bytes));
    guard(&mut response, FILE_POLICY);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("inline"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(PICTURE_CACHING));
    response
}

impl Web {
    /// Parses a mail on a blocking thread, a few mails at a time. `reading` finds the mail, with
    /// something else that the page shows, if the visitor may see it.
    async fn take_apart<X, T: Send + 'static>(
        &self,
        reading: impl Future<Output = Result<(X, Vec<u8>), PageError>>,
        take: impl FnOnce(&[u8]) -> Option<T> + Send + 'static,
    ) -> Result<(X, T), PageError> {
        // Waiting holds no mail in memory.
        let slot = Arc::clone(&self.originals.0).acquire_owned().await;
        let (shown, raw) = reading.await?;
        // The slot stays taken until the work is done, even if the request is cancelled.
        let work = spawn_blocking(move || {
            let _slot = slot;
            take(&raw)
        });
        let taken = work.await.ok().flatten().ok_or(Error::NotFound("message"))?;
        Ok((shown, taken))
    }

    async fn raw_mail(
        &self,
        visitor: &Visitor,
        conversation: String,
        message: &str,
    ) -> Result<((), Vec<u8>), PageError> {
        let id = MessageId::parse(message).ok_or(Error::NotFound("message"))?;
        let blobs = self.app.blobs.clone();
        let read = move |tx: &mut Tx<'_>, cx: &Cx<'_>, _: &SignedIn| {
            actions::original(tx, cx, &blobs, &conversation, &id)
        };
        self.read(visitor, read).await.map(|raw| ((), raw))
    }
}

/// The host and port of the request; empty if there is none.
fn host(uri: &Uri, headers: &HeaderMap) -> String {
    let named = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let host = named.or(uri.authority().map(|authority| authority.as_str())).unwrap_or_default();
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-.:".contains(&b);
    if host.bytes().all(plain) { host.to_ascii_lowercase() } else { String::new() }
}

/// What the frame may load: the pictures of this mail, all of them from this server.
fn page_policy(host: &str, pictures: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"/_".contains(&b);
    let own = match host {
        "" => "'self'".to_owned(),
        _ if pictures.bytes().all(plain) => format!("{host}{pictures}/"),
        _ => "'none'".to_owned(),
    };
    format!("{PAGE_POLICY}; img-src {own}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frame_loads_the_pictures_of_this_mail_and_no_others() {
        let policy = |host: &str| {
            let policy = page_policy(host, "/conversations/cnv_1/messages/msg_2/pictures");
            policy.rsplit_once("img-src ").expect("pictures").1.to_owned()
        };
        let own = "desk.example:8080/conversations/cnv_1/messages/msg_2/pictures/";
        assert_eq!(policy("desk.example:8080"), own);
        assert_eq!(policy(""), "'self'");
        let hostile = page_policy("desk.example", "/conversations/x;script-src *");
        assert!(hostile.ends_with("img-src 'none'"), "{hostile}");
    }
}
