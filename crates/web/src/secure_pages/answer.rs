//! The reply that a customer writes on a secure page, with its files.

use std::sync::Arc;

use actions::sign_in::sessions;
use axum::body::Body;
use axum::extract::{FromRequestParts, Path, Request, State};
use axum::http::{Response, StatusCode, header};
use base::concurrency::blocking::spawn_blocking;
use base::concurrency::queue::Queue;
use base::error::Error;
use base::files::blobs::Blobs;
use base::limits::{SIGN_IN_WAIT_MINUTES, megabytes};
use db::Tx;
use inbound::guest_pages::secure_answer::{SecureAnswer, receive_answer};
use model::guests::guest_forms::GuestFormId;
use model::guests::guest_sessions;
use model::guests::secure::{self, ANSWER_BYTES, ANSWER_FILES, LinkState, SENT_BEFORE};
use translation::t;

use super::browser::ReaderBrowser;
use super::views::{FrontPage, GuestTimeFormat, ReadPage, SecurePageHeader};
use super::{GuestPage, read, refusal};
use crate::Web;
use crate::forms::multipart::{FormFile, FormFiles, read_guest_form};
use crate::guest::GuestBrowser;
use crate::layout::responses::{FormOutcome, PageError, html, see_other};
use crate::visitor::Visitor;

/// Replies of one link in the time that attempts to sign in are counted for.
const ANSWERS_PER_LINK: i64 = 20;

/// What the form of a reply has sent before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SentBefore {
    Nothing,
    /// The back button, a reload or a second click sends it again.
    TheSame,
    OtherWords,
}

pub async fn reply(
    State(web): State<Arc<Web>>,
    Path(token): Path<String>,
    request: Request,
) -> Response<Body> {
    let (mut parts, body) = request.into_parts();
    let visitor = Visitor::of(&parts, &web);
    let ReaderBrowser(browser) = match ReaderBrowser::from_request_parts(&mut parts, &web).await {
        Ok(browser) => browser,
        Err(error) => return refusal(error),
    };
    let page = match web.guest_page(&visitor, &token, browser.id).await {
        Ok(page) => page,
        Err(error) => return refusal(error),
    };
    let now = web.app.clock.now();
    let times = GuestTimeFormat::new(now, &visitor, &page);
    let content_type = parts.headers.get(header::CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok()).unwrap_or_default();
    let form = (content_type, body);
    let (fields, files) = match read_guest_form(&web, &visitor, &browser.csrf, &token, form).await {
        Ok(read) => read,
        Err(error) => return refusal(error),
    };
    let text = fields.get("text");
    // A page that was shown by an earlier version has a form without an id.
    let form = GuestFormId::parse(&fields.get("form_id"));
    let (before, files) = match web.sent_before(&page, form.as_ref(), &text, files).await {
        Ok(before) => before,
        Err(error) => return refusal(error),
    };
    let has_arrived = before == SentBefore::TheSame;
    if page.link.state == LinkState::Closed || page.session.is_none() {
        let unsent = if has_arrived { String::new() } else { text };
        if page.link.state == LinkState::Closed {
            return read::gone_page(&browser, &token, &page, &times, now, unsent);
        }
        let mut front =
            FrontPage::new(SecurePageHeader::new(&token, &browser, &page), &page, &times);
        (front.signed_out, front.draft) = (true, unsent);
        return html(StatusCode::UNAUTHORIZED, &front);
    }
    if has_arrived {
        return see_other(&arrival_path(&token));
    }
    if before == SentBefore::OtherWords {
        let sentence = translation::sentence(SENT_BEFORE).into_owned();
        let shown = read::show_with(&web, &browser, &token, &page, &times, |read| {
            (read.error, read.draft) = (sentence, text);
        });
        return shown.await;
    }
    // Nothing was stored, so the same form is shown again.
    let again = |read: &mut ReadPage, sentence: String, text: String| {
        (read.error, read.draft) = (sentence, text);
        if let Some(form) = form.clone() {
            read.form_id = form;
        }
    };
    match web.count_answer(&page).await {
        Ok(true) => {}
        Ok(false) => {
            let shown = read::show_with(&web, &browser, &token, &page, &times, |read| {
                again(read, too_often(), text);
            });
            let mut response = shown.await;
            if response.status() == StatusCode::BAD_REQUEST {
                *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
            }
            return response;
        }
        Err(error) => return refusal(error),
    }
    let answered = match files {
        FormFiles::TooMany => Err(too_many()),
        FormFiles::Kept(files) => {
            let answer = (text.clone(), files, form.clone());
            match web.take_answer(&token, &browser, answer).await {
                Ok(answered) => answered,
                Err(error) => return refusal(error),
            }
        }
    };
    match answered {
        Ok(()) => see_other(&arrival_path(&token)),
        Err(sentence) => {
            // Another sending of the same form was quicker: this one needs a form of its own.
            let is_used = sentence == translation::sentence(SENT_BEFORE);
            let shown = read::show_with(&web, &browser, &token, &page, &times, |read| {
                if is_used {
                    (read.error, read.draft) = (sentence, text);
                } else {
                    again(read, sentence, text);
                }
            });
            shown.await
        }
    }
}

/// The page after a reply was sent.
fn arrival_path(token: &str) -> String {
    format!("/s/{token}?sent#sent")
}

fn too_many() -> String {
    t!(
        "A reply has at most {files} files, of {megabytes} MB together. Your text is kept; attach \
         fewer or smaller files.",
        files = ANSWER_FILES,
        megabytes = megabytes(ANSWER_BYTES)
    )
}

fn too_often() -> String {
    t!(
        "You sent many replies in a short time. Your text is kept; send it in {minutes} minutes.",
        minutes = SIGN_IN_WAIT_MINUTES
    )
}

impl Web {
    /// Counts a reply of a link; `false` at the limit.
    async fn count_answer(&self, page: &GuestPage) -> Result<bool, PageError> {
        let (what, now) = (format!("answer {}", page.link.purpose()), self.app.clock.now());
        let counted = self
            .app
            .store
            .write(move |tx| sessions::count_sign_in_attempt(tx, &what, ANSWERS_PER_LINK, now));
        Ok(counted.await?)
    }

    /// What the form has sent before, and the files again.
    async fn sent_before(
        &self,
        page: &GuestPage,
        form: Option<&GuestFormId>,
        text: &str,
        files: FormFiles,
    ) -> Result<(SentBefore, FormFiles), PageError> {
        let Some(form) = form.cloned() else { return Ok((SentBefore::Nothing, files)) };
        let found = self
            .read_for_guest(page, move |tx, cx, link| secure::earlier_answer(tx, cx, link, &form));
        let Some(earlier) = found.await? else { return Ok((SentBefore::Nothing, files)) };
        let text = text.to_owned();
        // Large files take long to hash.
        let compared = spawn_blocking(move || {
            let is_same = match &files {
                FormFiles::Kept(kept) => {
                    let kept = kept.iter();
                    let kept =
                        kept.map(|file| (file.filename.as_str(), Blobs::hash_of(&file.bytes)));
                    earlier.is_same(&text, kept)
                }
                // More than any reply has.
                FormFiles::TooMany => false,
            };
            (is_same, files)
        });
        let (is_same, files) = compared.await.map_err(Error::from)?;
        Ok((if is_same { SentBefore::TheSame } else { SentBefore::OtherWords }, files))
    }

    /// Files the reply. The inner error is a sentence for the customer.
    async fn take_answer(
        &self,
        token: &str,
        browser: &GuestBrowser,
        (text, files, form): (String, Vec<FormFile>, Option<GuestFormId>),
    ) -> Result<Result<(), String>, PageError> {
        if files.len() > ANSWER_FILES {
            return Ok(Err(too_many()));
        }
        let mut taken = Vec::with_capacity(files.len());
        for file in files {
            match secure::take_file(&self.app, &file.filename, file.bytes).await? {
                Ok(file) => taken.push(file),
                Err(sentence) => {
                    let sentence = translation::sentence(&sentence);
                    return Ok(Err(t!("{sentence} Your text is kept.", sentence)));
                }
            }
        }
        let answer = SecureAnswer { text, files: taken, form };
        let (app, token, id) = (self.app.clone(), token.to_owned(), browser.id);
        let work = move |tx: &mut Tx<'_>| {
            let link = secure::link_at(tx, &token, app.clock.now())?;
            let cx = app.cx(&link.actor);
            let session = guest_sessions::find(tx, cx.actor.ws, id, &link.conversation, cx.now)?;
            session.filter(|session| session.email == link.email).ok_or(Error::NotFound("page"))?;
            tx.wake(Queue::Pages);
            receive_answer(tx, &cx, &link, &answer)
        };
        match self.app.store.write(work).await.or_problems()? {
            Ok(_) => Ok(Ok(())),
            Err(problems) => {
                Ok(Err(translation::sentence(&problems.first_sentence()).into_owned()))
            }
        }
    }
}
