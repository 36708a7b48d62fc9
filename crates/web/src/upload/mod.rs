//! The page on which a customer uploads the documents of a request. The link is the permission:
//! there is no account, and the page shows only the request.
//!
//! Customers read the texts of this folder.

mod page;
mod receive_file;
mod upload_locks;
mod without_script;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::DefaultBodyLimit;
use axum::http::{Response, StatusCode};
use axum::middleware::map_response;
use axum::routing::{get, post};
use base::app::Cx;
use base::error::Error;
use base::limits::{SIGN_IN_WAIT_MINUTES, UPLOADS_BYTES};
use db::Tx;
use model::documents::uploads::{self, Ask};
use translation::t;
use transport::http::slots::{Slot, SlotOwner};

use crate::Web;
use crate::guest::keep_secret;
use crate::layout::responses::{PageError, html};
use crate::visitor::Visitor;

pub use upload_locks::UploadLocks;

/// Bytes of a form with files beside those of the files.
const FORM_ROOM_BYTES: usize = 1024 * 1024;
/// Files that may be uploaded at one time, in all.
pub const STREAMS: usize = 200;
/// Those of one link, and of one client network.
const STREAMS_OF_LINK: usize = 8;
const STREAMS_OF_NETWORK: usize = 40;

pub fn router() -> Router<Arc<Web>> {
    let most = UPLOADS_BYTES.unsigned_abs() as usize + FORM_ROOM_BYTES;
    Router::new()
        .route("/u/{token}", get(page::show).post(page::hand_over))
        .route("/u/{token}/stop", get(page::ask_to_stop).post(page::stop))
        .route(
            "/u/{token}/items/{item}",
            post(without_script::add).layer(DefaultBodyLimit::max(most)),
        )
        .route("/u/{token}/uploads", post(receive_file::begin))
        .route("/u/{token}/uploads/{upload}", get(receive_file::offset).patch(receive_file::go_on))
        .route("/u/{token}/uploads/{upload}/remove", post(page::remove))
        .layer(map_response(keep_secret))
}

impl Web {
    /// A slot for an upload; none if this link, this network or all together have too many.
    fn take_stream(&self, visitor: &Visitor, token: &str) -> Option<Slot> {
        let mut shares = vec![(SlotOwner::Link(token.to_owned()), STREAMS_OF_LINK)];
        let network = visitor.network.map(SlotOwner::Network);
        shares.extend(network.map(|network| (network, STREAMS_OF_NETWORK)));
        self.streams.take(&shares)
    }

    /// Reads for somebody with the link.
    async fn read_ask<T, F>(
        &self,
        visitor: &Visitor,
        token: &str,
        mut read: F,
    ) -> Result<T, PageError>
    where
        F: FnMut(&mut Tx<'_>, &Ask) -> base::error::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        let (wanted, now) = (token.to_owned(), self.app.clock.now());
        let reader = visitor.clone();
        let work = move |tx: &mut Tx<'_>| {
            let ask = uploads::ask_at(tx, &wanted, now)?;
            let browser = reader.reader_at(&ask.actor.workspace);
            ask.must_be_proven(tx, browser, now)?;
            read(tx, &ask)
        };
        let outcome = self.app.store.read(work).await;
        self.or_miss(visitor, outcome).await
    }

    /// Writes for somebody with the link, in one transaction.
    async fn act_for_ask<T, F>(
        &self,
        visitor: &Visitor,
        token: &str,
        mut operation: F,
    ) -> Result<T, PageError>
    where
        F: FnMut(&mut Tx<'_>, &Cx<'_>, &Ask) -> base::error::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        let (wanted, app) = (token.to_owned(), self.app.clone());
        let reader = visitor.clone();
        let work = move |tx: &mut Tx<'_>| {
            let ask = uploads::ask_at(tx, &wanted, app.clock.now())?;
            let browser = reader.reader_at(&ask.actor.workspace);
            ask.must_be_proven(tx, browser, app.clock.now())?;
            ask.keep_signed_in(tx, browser, app.clock.now())?;
            operation(tx, &app.cx(&ask.actor), &ask)
        };
        let outcome = self.app.store.write(work).await;
        self.or_miss(visitor, outcome).await
    }
}

/// The response for a link that is unknown, revoked or expired.
fn gone_page(refusal: PageError) -> Response<Body> {
    use axum::response::IntoResponse;
    match refusal {
        PageError::Domain(Error::NotFound(_)) => {
            let sentence = t!(
                "It may have been taken back, or everything is in and its time is over. Answer the \
                 e-mail you got it from, and ask for a new one."
            )
            .to_owned();
            let page = page::Nothing { title: t!("This link leads nowhere"), sentence };
            html(StatusCode::NOT_FOUND, &page)
        }
        PageError::Domain(Error::Unauthorized) => {
            let sentence = t!(
                "This page belongs to a protected message. Open the link in the mail about it, \
                 enter the code that is mailed to you, and come here from there."
            )
            .to_owned();
            let page = page::Nothing { title: t!("Prove your address first"), sentence };
            html(StatusCode::UNAUTHORIZED, &page)
        }
        PageError::TooManyAttempts => {
            let sentence = t!(
                "Too many links that lead nowhere were opened from here. Wait {minutes} minutes \
                 and open yours again.",
                minutes = SIGN_IN_WAIT_MINUTES
            );
            let page = page::Nothing { title: t!("Wait a little"), sentence };
            html(StatusCode::TOO_MANY_REQUESTS, &page)
        }
        refusal => refusal.into_response(),
    }
}
