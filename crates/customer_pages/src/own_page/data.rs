//! A customer takes their data along, or asks for its deletion.

use std::sync::Arc;

use actions::sign_in::sessions;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::Response;
use axum::response::IntoResponse;
use base::concurrency::queue::Queue;
use base::error::Error;
use base::limits::{SIGN_IN_WAIT_MINUTES, SIGN_IN_WINDOW_MS};
use customers::{own_data, request_deletion};
use db::Tx;
use model::documents::StoredFile;
use translation::t;
use web::Web;
use web::forms::form::FormFields;
use web::guest::GuestForm;
use web::layout::responses::{PageError, see_other};
use web::pages::mail_files::files::picture_or_download;
use web::visitor::Visitor;

use super::browser::WorkspaceBrowser;
use super::{read_page, signed_in};

/// Downloads of one address in the time that attempts to sign in are counted for.
const DOWNLOADS: i64 = 3;

/// Everything on the page, as one file.
pub(super) async fn download(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    WorkspaceBrowser(browser): WorkspaceBrowser,
    Path(slug): Path<String>,
    form: GuestForm,
) -> Response<Body> {
    let page = match signed_in(&web, &visitor, &slug, &browser).await {
        Ok(page) => page,
        Err(response) => return *response,
    };
    if !browser.csrf.fits(&form.csrf()) {
        return PageError::Foreign.into_response();
    }
    let email = page.session.email.clone();
    let what = format!("own data {} {email}", page.workspace.ws);
    let now = web.app.clock.now();
    let counted = web
        .app
        .store
        .write(move |tx| sessions::count_sign_in_attempt(tx, &what, DOWNLOADS, now))
        .await;
    match counted {
        Ok(true) => {}
        Ok(false) => return too_often().into_response(),
        Err(error) => return PageError::from(error).into_response(),
    }
    let data = read_page(&web, &page, move |tx, cx, workspace| own_data(tx, cx, workspace, &email));
    match data.await {
        Ok(bytes) => {
            let (filename, content_type) = ("your-data.zip".into(), "application/zip".into());
            picture_or_download(
                StoredFile { filename, content_type, bytes },
                &FormFields::default(),
            )
        }
        Err(error) => error.into_response(),
    }
}

fn too_often() -> PageError {
    let sentence = t!(
        "You took your data along several times in a short time. Wait {minutes} minutes.",
        minutes = SIGN_IN_WAIT_MINUTES
    );
    PageError::Domain(Error::Throttled { sentence, resets_in: SIGN_IN_WINDOW_MS / 1_000 })
}

/// Asks the team to delete everything.
pub(super) async fn forget(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    WorkspaceBrowser(browser): WorkspaceBrowser,
    Path(slug): Path<String>,
    form: GuestForm,
) -> Response<Body> {
    let page = match signed_in(&web, &visitor, &slug, &browser).await {
        Ok(page) => page,
        Err(response) => return *response,
    };
    if !browser.csrf.fits(&form.csrf()) {
        return PageError::Foreign.into_response();
    }
    let (app, workspace, email) = (web.app.clone(), page.workspace, page.session.email);
    let subject = t!("Please delete my data");
    let text = t!(
        "I have proven on my own page that {email} is my address. Please delete everything that you \
         keep about me, and tell me when it is done.",
        email = email
    );
    let asked = web.app.store.write(move |tx: &mut Tx<'_>| {
        let actor = workspace.team();
        tx.wake(Queue::Pages);
        request_deletion(tx, &app.cx(&actor), &workspace, &email, (subject, &text))
    });
    match asked.await {
        Ok(()) => see_other(&format!("/me/{slug}#data")),
        Err(error) => PageError::from(error).into_response(),
    }
}
