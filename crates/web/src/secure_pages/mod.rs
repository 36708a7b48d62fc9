//! The page of a secure message, for the customer: who wrote, the code, then the messages and the
//! answer. Opening it changes nothing; only forms do.
//!
//! Customers read the texts of this folder.

mod answer;
mod browser;
mod code;
mod read;
mod views;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::DefaultBodyLimit;
use axum::http::{Response, StatusCode};
use axum::middleware::map_response;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use base::error::Error;
use base::limits::{GUEST_SEEN_EVERY_MS, GUEST_SESSION_IDLE_MS, SIGN_IN_WAIT_MINUTES};
use db::Tx;
use model::guests::guest_sessions::{self, GuestSession};
use model::guests::guest_tokens::GuestTokenHash;
use model::guests::secure::{self, LinkState, SecureFront, SecureLink};
use model::people::one_time_codes::{self, CodeHolder, SentCode};
use model::times::local_times::LocalTimes;
use translation::t;

use crate::Web;
use crate::guest::keep_secret;
use crate::layout::responses::{FORM_WITH_FILES_BYTES, PageError, html};
use crate::visitor::Visitor;
use views::NothingPage;

pub fn router() -> Router<Arc<Web>> {
    Router::new()
        .route("/s/{token}", get(read::show))
        .route("/s/{token}/code", post(code::request).get(read::front))
        .route("/s/{token}/open", post(code::enter).get(read::front))
        .route("/s/{token}/read", post(read::open).get(read::front))
        .route(
            "/s/{token}/reply",
            post(answer::reply)
                .get(read::front)
                .layer(DefaultBodyLimit::max(FORM_WITH_FILES_BYTES)),
        )
        .route("/s/{token}/sign-out", post(read::sign_out))
        .route("/s/{token}/ask", post(read::ask))
        .route("/s/{token}/files/{file}", get(read::file))
        .layer(map_response(keep_secret))
}

/// A page and how far its reader is.
struct GuestPage {
    link: SecureLink,
    front: SecureFront,
    /// The proven address of this browser, if it is the page's.
    session: Option<GuestSession>,
    /// The newest code of this browser, until its time is over.
    code: Option<SentCode>,
    /// When the next code can be asked for, if not at once.
    next_code_at: Option<i64>,
    /// The subject of the mail with a code.
    code_subject: String,
    /// The clock of the inbox.
    times: LocalTimes,
}

impl Web {
    /// What a browser may see of a page.
    async fn guest_page(
        &self,
        visitor: &Visitor,
        token: &str,
        browser: GuestTokenHash,
    ) -> Result<GuestPage, PageError> {
        let (token, now) = (token.to_owned(), self.app.clock.now());
        let (app, place) = (self.app.clone(), visitor.place.clone());
        let work = move |tx: &mut Tx<'_>| {
            let link = secure::link_at(tx, &token, now)?;
            let front = secure::front(tx, &link)?;
            let ws = link.actor.ws;
            let session = guest_sessions::find(tx, ws, browser, &link.conversation, now)?;
            let session = session
                .filter(|session| session.email == link.email && link.state != LinkState::Closed);
            let purpose = link.purpose();
            let code = one_time_codes::find_sent(tx, ws, &purpose, browser)?;
            let code = code.filter(|code| code.expires_at > now);
            let next_code_at = match code {
                Some(_) => {
                    let (purpose, email) = (purpose.as_str(), link.email.as_str());
                    let holder = CodeHolder { purpose, email, browser, place: &place };
                    one_time_codes::must_wait_until(tx, &app.cx(&link.actor), &holder)?
                }
                None => None,
            };
            let times = LocalTimes::of(tx, ws, &link.mailbox)?;
            let code_subject = secure::code_subject(tx, &link, &front.workspace)?;
            Ok(GuestPage { link, front, session, code, next_code_at, code_subject, times })
        };
        let outcome = self.app.store.read(work).await;
        self.or_miss(visitor, outcome).await
    }

    /// Somebody who is signed in goes on reading: the session lasts longer.
    async fn keep_signed_in(
        &self,
        page: &GuestPage,
        browser: GuestTokenHash,
    ) -> Result<(), PageError> {
        let (Some(session), now) = (&page.session, self.app.clock.now()) else { return Ok(()) };
        if session.ends_at > now + GUEST_SESSION_IDLE_MS - GUEST_SEEN_EVERY_MS {
            return Ok(());
        }
        let (ws, conversation) = (page.link.actor.ws, page.link.conversation.clone());
        let touched = self
            .app
            .store
            .write(move |tx| guest_sessions::touch(tx, ws, browser, &conversation, now));
        Ok(touched.await?)
    }
}

/// The response for a link that is unknown, or was guessed too often.
fn refusal(error: PageError) -> Response<Body> {
    match error {
        PageError::Domain(Error::NotFound(_)) => {
            let sentence = t!(
                "The link is not complete, or there is a newer one. Look at the newest mail from \
                 the people who wrote to you."
            )
            .to_owned();
            let page = NothingPage { title: t!("There is nothing here"), sentence };
            html(StatusCode::NOT_FOUND, &page)
        }
        PageError::TooManyAttempts => {
            let sentence = t!(
                "Too many links that lead nowhere were opened from here. Wait {minutes} minutes \
                 and open yours again.",
                minutes = SIGN_IN_WAIT_MINUTES
            );
            let page = NothingPage { title: t!("Wait a little"), sentence };
            html(StatusCode::TOO_MANY_REQUESTS, &page)
        }
        error => error.into_response(),
    }
}
