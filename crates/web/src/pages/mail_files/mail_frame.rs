//! The HTML of a stored mail in a sandboxed frame, and the pictures of that HTML.

use std::sync::Arc;

use actions::conversations::picture_senders;
use actions::documents::files;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Response, Uri, header};
use base::app::Cx;
use base::concurrency::blocking::spawn_blocking;
use base::error::Error;
use base::files::blobs::Blobs;
use base::ids::{DocumentId, MessageId};
use db::Tx;
use mail::{InlinePicture, MailPage, MailPictures, PageAddresses, RemotePictures};
use tokio::sync::Semaphore;
use translation::{Reader, t};

use crate::layout::responses::{PageError, PageResult, guard};
use crate::pages::mail_files::files::FILE_POLICY;
use crate::visitor::Visitor;
use crate::{Web, picture_cache};

/// Mails that are parsed at one time; each takes a core.
const AT_ONCE: usize = 2;

/// How long a browser keeps a picture or its scaled copy, which never change.
const PICTURE_CACHING: &str = "private, max-age=3600, immutable";

/// No script of a mail runs, so it may have our origin; without that the browser would not send the
/// session cookie when it loads the pictures.
const PAGE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox allow-same-origin \
                           allow-popups allow-popups-to-escape-sandbox; form-action 'none'; base-uri 'none'; frame-ancestors 'self'";

/// Of the line above a mail whose remote pictures are left out. It takes nothing from the styles of
/// the mail, whose rules may be important ones.
const BLOCKED_STYLE: &str = "all:initial!important;display:block!important;\
     margin:0 0 12px!important;padding:6px 10px!important;\
     border:1px solid #d5ddd9!important;border-radius:6px!important;\
     background:#f4f7f5!important;color:#3c4a44!important;\
     font:13px/1.5 system-ui,sans-serif!important";
const BLOCKED_LINK_STYLE: &str = "all:initial!important;color:#0b5c63!important;\
     font:inherit!important;text-decoration:underline!important;cursor:pointer!important";

/// The first part of the path of a mail that is attached.
const TOP: &str = "top";

/// The slots in which mails are parsed on blocking threads.
pub struct MailParsers(Arc<Semaphore>);

impl Default for MailParsers {
    fn default() -> MailParsers {
        MailParsers(Arc::new(Semaphore::new(AT_ONCE)))
    }
}

/// A mail whose bytes are stored.
#[derive(Clone, Debug)]
pub enum MailReference {
    /// A message of a conversation, as it came.
    Message { conversation: String, id: MessageId },
    /// A mail that came as a file, or one that is attached to that mail: the numbers of the files on
    /// the way to it.
    Attached { document: DocumentId, path: Vec<usize> },
}

impl MailReference {
    pub fn message(conversation: &str, message: &str) -> Result<MailReference, Error> {
        let id = MessageId::parse(message).ok_or(Error::NotFound("message"))?;
        Ok(MailReference::Message { conversation: conversation.to_owned(), id })
    }

    /// `path` is `top`, or `top-0-2` for the third file of the first file.
    pub fn of_attachment(document: &str, path: &str) -> Result<MailReference, Error> {
        let missing = || Error::NotFound("document");
        let document = DocumentId::parse(document).ok_or_else(missing)?;
        let mut parts = path.split('-');
        if parts.next() != Some(TOP) {
            return Err(missing());
        }
        let numbers = parts.map(|part| part.parse().map_err(|_| missing()));
        Ok(MailReference::Attached { document, path: numbers.collect::<Result<_, _>>()? })
    }

    /// Where its parts are: `html`, `pictures` and the like.
    pub fn href(&self) -> String {
        match self {
            MailReference::Message { conversation, id } => {
                format!("/conversations/{conversation}/messages/{id}")
            }
            MailReference::Attached { document, path } => {
                let path: String = path.iter().map(|number| format!("-{number}")).collect();
                format!("/documents/{document}/mail/{TOP}{path}")
            }
        }
    }

    /// A mail that is attached to this one, by the number of the file.
    pub fn within(&self, number: usize) -> Option<MailReference> {
        match self {
            MailReference::Message { .. } => None,
            MailReference::Attached { document, path } => {
                let path = path.iter().copied().chain([number]).collect();
                Some(MailReference::Attached { document: document.clone(), path })
            }
        }
    }

    /// Where a picture of this mail is within the stored bytes: the files on the way to the mail, and its number.
    pub fn place_of_picture(&self, number: usize) -> String {
        match self {
            MailReference::Message { .. } => number.to_string(),
            MailReference::Attached { path, .. } => {
                let path: String = path.iter().map(|file| format!("-{file}")).collect();
                format!("{TOP}{path}-{number}")
            }
        }
    }

    /// The name of the stored bytes, if the reader may see the mail.
    pub fn hash(&self, tx: &mut Tx<'_>, cx: &Cx<'_>) -> base::error::Result<String> {
        match self {
            MailReference::Message { conversation, id } => {
                files::original(tx, cx, conversation, id)
            }
            MailReference::Attached { document, .. } => {
                let file = files::find_document(tx, cx, document)?;
                let is_mail = is_mail(&file.content_type, &file.filename);
                is_mail.then_some(file.hash).ok_or(Error::NotFound("document"))
            }
        }
    }

    /// The stored bytes, if the reader may see the mail.
    pub fn load_bytes(&self, tx: &mut Tx<'_>, cx: &Cx<'_>) -> base::error::Result<Vec<u8>> {
        let hash = self.hash(tx, cx)?;
        files::original_bytes(tx, cx, &hash)
    }

    /// Runs with the bytes of the mail itself.
    pub fn open<T>(&self, stored: &[u8], read: impl FnOnce(&[u8]) -> Option<T>) -> Option<T> {
        match self {
            MailReference::Attached { path, .. } if !path.is_empty() => {
                read(&mail::attached_mail(stored, path)?)
            }
            MailReference::Message { .. } | MailReference::Attached { .. } => read(stored),
        }
    }

    fn shows_pictures(&self, tx: &mut Tx<'_>, cx: &Cx<'_>) -> base::error::Result<bool> {
        match self {
            MailReference::Message { conversation, id } => {
                picture_senders::shows_pictures(tx, cx, conversation, id)
            }
            // Nobody has proven who sent a mail that is attached.
            MailReference::Attached { .. } => Ok(false),
        }
    }
}

/// True for a file that is a mail.
pub fn is_mail(content_type: &str, filename: &str) -> bool {
    matches!(content_type, "message/rfc822" | "message/global")
        || filename.to_ascii_lowercase().ends_with(".eml")
}

/// The mail's HTML, for a sandboxed frame.
pub async fn frame(
    web: &Web,
    visitor: &Visitor,
    mail: MailReference,
    host: &str,
    asked_for_pictures: bool,
) -> PageResult {
    let pictures = format!("{}/html/pictures", mail.href());
    let policy = page_policy(host, &pictures);
    let found = mail.clone();
    let reading = web.read(visitor, move |tx, cx, _| {
        let stored = found.load_bytes(tx, cx)?;
        Ok((asked_for_pictures || found.shows_pictures(tx, cx)?, stored))
    });
    let take = move |shown: &bool, stored: &[u8]| {
        let remote = if *shown { RemotePictures::Shown } else { RemotePictures::Blocked };
        let addresses = PageAddresses { pictures: &pictures, remote };
        let page = mail.open(stored, |raw| mail::mail_page(raw, &addresses))?;
        Some(with_blocked_line(with_translated_words(page), remote))
    };
    let (_, html) = web.take_apart(reading, take).await?;
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

/// The page, whose words of ours speak the reader's language.
fn with_translated_words(page: MailPage) -> MailPage {
    let mut html = page.html;
    if page.quoted_lines > 0 {
        let said = match page.quoted_lines {
            1 => t!("Show 1 quoted line").to_owned(),
            n => t!("Show {n} quoted lines", n),
        };
        let button = |words: &str| format!("<summary>{words}</summary>");
        html = html.replacen(&button(&mail::quoted_button(page.quoted_lines)), &button(&said), 1);
    }
    if page.marked_links > 0 {
        // The class is ours alone: what a mail brings cannot have it.
        let mark = |words: &str| format!("<span class=\"mailroom-goes\">{words} ");
        html = html.replace(&mark("goes to"), &mark(t!("goes to")));
    }
    MailPage { html, ..page }
}

/// The page, with a line above it where remote pictures are left out.
fn with_blocked_line(page: MailPage, remote: RemotePictures) -> String {
    if remote == RemotePictures::Shown || page.remote_pictures == 0 {
        return page.html;
    }
    let told = match page.remote_pictures {
        1 => t!(
            "1 remote picture is not shown: fetching it would tell the sender that this was read."
        )
        .to_owned(),
        many => t!(
            "{many} remote pictures are not shown: fetching them would tell the sender that this \
             was read.",
            many
        ),
    };
    let show = t!("Show pictures");
    let line = format!(
        "<div style=\"{BLOCKED_STYLE}\">{told} <a href=\"?pictures\" \
         style=\"{BLOCKED_LINK_STYLE}\">{show}</a></div>"
    );
    let body =
        page.html.find("<body").and_then(|body| Some(body + page.html[body..].find('>')? + 1));
    let body = body.unwrap_or_default();
    format!("{}{line}{}", &page.html[..body], &page.html[body..])
}

/// A picture that a mail brought, as it came.
pub async fn inline_picture(
    web: &Web,
    visitor: &Visitor,
    mail: MailReference,
    number: &str,
) -> PageResult {
    let picture = web.inline_picture(visitor, &mail, picture_number(number)?).await?;
    Ok(picture_response(picture.content_type, picture.bytes))
}

pub fn picture_number(number: &str) -> Result<usize, Error> {
    number.parse().map_err(|_| Error::NotFound("picture"))
}

/// A picture that a mail names at another place; the reader asked for it.
pub async fn remote_picture(
    web: &Web,
    visitor: &Visitor,
    mail: MailReference,
    number: &str,
) -> PageResult {
    let missing = || Error::NotFound("picture");
    let number = picture_number(number)?;
    let pictures = web.mail_pictures(visitor, &mail).await?;
    let url = pictures.remote.get(number).ok_or_else(missing)?;
    let found = web.remote_pictures.fetch(url).await.ok_or_else(missing)?;
    Ok(picture_response(found.content_type, found.bytes))
}

/// A picture, or the scaled copy of one, that the browser keeps for a while.
pub fn picture_response(content_type: &'static str, bytes: Vec<u8>) -> Response<Body> {
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
    pub async fn take_apart<X: Send + 'static, T: Send + 'static>(
        &self,
        reading: impl Future<Output = Result<(X, Vec<u8>), PageError>>,
        take: impl FnOnce(&X, &[u8]) -> Option<T> + Send + 'static,
    ) -> Result<(X, T), PageError> {
        // Waiting holds no mail in memory.
        let slot = Arc::clone(&self.mail_parsers.0).acquire_owned().await;
        let (shown, stored) = reading.await?;
        let (reader, reading) = (Reader::current(), self.app.reading.clone());
        // The slot stays taken until the work is done, even if the request is cancelled.
        let work = spawn_blocking(move || {
            let _slot = slot;
            // A mail that ended the process is not taken apart again.
            let hash = Blobs::hash_of(&stored);
            if !reading.is_safe(&hash, &stored) {
                return None;
            }
            let _mark = reading.begin(&hash);
            let taken = reader.run(|| take(&shown, &stored));
            taken.map(|taken| (shown, taken))
        });
        Ok(work.await.ok().flatten().ok_or(Error::NotFound("message"))?)
    }

    /// Whether the remote pictures of a mail are shown to the visitor; `None` where it has none.
    pub async fn shows_remote_pictures(
        &self,
        visitor: &Visitor,
        mail: &MailReference,
    ) -> Result<Option<bool>, PageError> {
        let pictures = match self.mail_pictures(visitor, mail).await {
            Err(PageError::Domain(Error::NotFound(_))) => return Ok(None),
            found => found?,
        };
        if pictures.remote.is_empty() {
            return Ok(None);
        }
        let found = mail.clone();
        self.read(visitor, move |tx, cx, _| found.shows_pictures(tx, cx)).await.map(Some)
    }

    /// A picture that a mail brought, if the visitor may see the mail.
    pub async fn inline_picture(
        &self,
        visitor: &Visitor,
        mail: &MailReference,
        number: usize,
    ) -> Result<InlinePicture, PageError> {
        let pictures = self.mail_pictures(visitor, mail).await?;
        let kept = pictures.inline.iter().find(|(kept, _)| *kept == number);
        match kept {
            Some((_, picture)) => Ok(picture.clone()),
            None if pictures.is_partial => {
                let (found, opened) = (mail.clone(), mail.clone());
                let reading =
                    self.read(visitor, move |tx, cx, _| Ok(((), found.load_bytes(tx, cx)?)));
                let take = move |_: &(), stored: &[u8]| {
                    opened.open(stored, |raw| mail::inline_picture(raw, number))
                };
                Ok(self.take_apart(reading, take).await?.1)
            }
            None => Err(Error::NotFound("picture").into()),
        }
    }

    /// The pictures of a mail that the visitor may see, which is parsed once for all of them.
    async fn mail_pictures(
        &self,
        visitor: &Visitor,
        mail: &MailReference,
    ) -> Result<Arc<MailPictures>, PageError> {
        let found = mail.clone();
        let hash = self.read(visitor, move |tx, cx, _| found.hash(tx, cx)).await?;
        let key = match mail {
            MailReference::Message { .. } => hash,
            MailReference::Attached { path, .. } => format!("{hash} {path:?}"),
        };
        if let Some(pictures) = self.picture_cache.get(&key) {
            return Ok(pictures);
        }
        let (found, parsed) = (mail.clone(), mail.clone());
        let cache = Arc::clone(&self.picture_cache);
        let reading = async {
            // Another request may have parsed it while this one waited for its slot.
            match self.picture_cache.get(&key) {
                Some(pictures) => Ok((Some(pictures), Vec::new())),
                None => {
                    let stored =
                        self.read(visitor, move |tx, cx, _| found.load_bytes(tx, cx)).await?;
                    Ok((None, stored))
                }
            }
        };
        let name = key.clone();
        let take = move |known: &Option<Arc<MailPictures>>, stored: &[u8]| match known {
            Some(pictures) => Some(Arc::clone(pictures)),
            None => {
                let most = picture_cache::MAIL_BYTES;
                let found = parsed.open(stored, |raw| mail::mail_pictures(raw, most))?;
                Some(cache.put(&name, found))
            }
        };
        Ok(self.take_apart(reading, take).await?.1)
    }
}

/// The host and port of the request; empty if there is none.
pub fn host(uri: &Uri, headers: &HeaderMap) -> String {
    let named = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let host = named.or(uri.authority().map(|authority| authority.as_str())).unwrap_or_default();
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-.:".contains(&b);
    if host.bytes().all(plain) { host.to_ascii_lowercase() } else { String::new() }
}

/// What the frame may load: the pictures of this mail, all of them from this server.
fn page_policy(host: &str, pictures: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"/_-".contains(&b);
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

    #[test]
    fn an_attached_mail_is_named_by_the_files_on_the_way_to_it() {
        let mail = MailReference::of_attachment("doc_1", "top-0-2").expect("a path");
        assert_eq!(mail.href(), "/documents/doc_1/mail/top-0-2");
        let within = mail.within(3).map(|mail| mail.href());
        assert_eq!(within.as_deref(), Some("/documents/doc_1/mail/top-0-2-3"));
        for bad in ["", "0", "top-", "top-x", "top-0;", "top--1", "top-18446744073709551616"] {
            assert!(MailReference::of_attachment("doc_1", bad).is_err(), "{bad}");
        }
    }
}
