//! The reply that a customer writes on a secure page, with its files.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequestParts, Path, Request, State};
use axum::http::{Response, StatusCode, header};
use db::Tx;
use inbox::Error;
use inbox::base::limits::megabytes;
use inbox::base::queue::Queue;
use inbox::inbound::secure_answer::{SecureAnswer, receive_answer};
use inbox::model::guest_sessions;
use inbox::model::secure::{self, ANSWER_BYTES, ANSWER_FILES, LinkState};

use super::views::{FrontPage, GuestSheet, GuestTimes};
use super::{read, refusal};
use crate::web::Web;
use crate::web::guest::GuestBrowser;
use crate::web::layout::responses::{PageError, html, see_other};
use crate::web::multipart::{FormFile, FormFiles, read_guest_form};
use crate::web::visitor::Visitor;

pub async fn reply(
    State(web): State<Arc<Web>>,
    Path(token): Path<String>,
    request: Request,
) -> Response<Body> {
    let (mut parts, body) = request.into_parts();
    let visitor = Visitor::of(&parts, &web);
    let Ok(browser) = GuestBrowser::from_request_parts(&mut parts, &web).await;
    let page = match web.guest_page(&visitor, &token, browser.id).await {
        Ok(page) => page,
        Err(error) => return refusal(error),
    };
    let (now, times) = (web.app.clock.now(), GuestTimes::new(web.app.clock.now(), &visitor));
    if page.link.state == LinkState::Closed {
        return read::gone(&browser, &token, &page, &times, now);
    }
    let content_type = parts.headers.get(header::CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok()).unwrap_or_default();
    let form = (content_type, body);
    let (fields, files) = match read_guest_form(&web, &visitor, &browser.csrf, &token, form).await {
        Ok(read) => read,
        Err(error) => return refusal(error),
    };
    let text = fields.get("text");
    if page.session.is_none() {
        let mut front = FrontPage::new(GuestSheet::new(&token, &browser, &page), &page, &times);
        (front.signed_out, front.draft) = (true, text);
        return html(StatusCode::UNAUTHORIZED, &front);
    }
    let answered = match files {
        FormFiles::TooMany => Err(too_many()),
        FormFiles::Kept(files) => match web.take_answer(&token, &browser, &text, files).await {
            Ok(answered) => answered,
            Err(error) => return refusal(error),
        },
    };
    match answered {
        Ok(()) => see_other(&format!("/s/{token}?sent#sent")),
        Err(sentence) => {
            read::shown(&web, &browser, &token, &page, &times, |read| {
                (read.error, read.draft) = (sentence, text);
            })
            .await
        }
    }
}

fn too_many() -> String {
    format!(
        "A reply has at most {ANSWER_FILES} files, of {} MB together. Your text is kept; attach fewer \
         or smaller files.",
        megabytes(ANSWER_BYTES)
    )
}

impl Web {
    /// Files the reply. The inner error is a sentence for the customer.
    async fn take_answer(
        &self,
        token: &str,
        browser: &GuestBrowser,
        text: &str,
        files: Vec<FormFile>,
    ) -> Result<Result<(), String>, PageError> {
        if files.len() > ANSWER_FILES {
            return Ok(Err(too_many()));
        }
        let mut taken = Vec::with_capacity(files.len());
        for file in files {
            match secure::take_file(&self.app, &file.filename, file.bytes).await? {
                Ok(file) => taken.push(file),
                Err(sentence) => return Ok(Err(format!("{sentence} Your text is kept."))),
            }
        }
        let answer = SecureAnswer { text: text.to_owned(), files: taken };
        let (app, token, id) = (self.app.clone(), token.to_owned(), browser.id);
        let work = move |tx: &mut Tx<'_>| {
            let link = secure::link_at(tx, &token, app.clock.now())?;
            let cx = app.cx(&link.actor);
            let session = guest_sessions::find(tx, cx.actor.ws, id, &link.conversation, cx.now)?;
            session.filter(|session| session.email == link.email).ok_or(Error::NotFound("page"))?;
            tx.wake(Queue::Pages);
            receive_answer(tx, &cx, &link, &answer)
        };
        match self.app.store.write(work).await {
            Ok(_) => Ok(Ok(())),
            Err(Error::Invalid(problems)) => {
                let first = problems.0.into_iter().next();
                Ok(Err(first.map(|problem| problem.sentence).unwrap_or_default()))
            }
            Err(error) => Err(error.into()),
        }
    }
}
