//! An answer from a customer's own page, with its files.

use std::sync::Arc;

use actions::sign_in::sessions;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::{Response, StatusCode, header};
use axum::response::IntoResponse;
use base::concurrency::queue::Queue;
use base::error::Error;
use base::limits::{SIGN_IN_WAIT_MINUTES, megabytes};
use contact_forms::files::{POST_BYTES, POST_FILES, take_files};
use customers::{CustomerAnswer, find_session, receive_answer, workspace_at};
use db::Tx;
use model::guests::guest_forms::GuestFormId;
use translation::t;
use web::Web;
use web::forms::multipart::{FormFiles, read_guest_form};
use web::guest::GuestBrowser;
use web::layout::responses::{FormOutcome, PageError, html, see_other};
use web::visitor::Visitor;

use super::browser::WorkspaceBrowser;
use super::read::{Unsent, conversation_page};
use super::views::{LeftAnswer, OwnFrontPage};
use super::{SignedInPage, open};

/// Answers of one address in the time that attempts to sign in are counted for.
const ANSWERS: i64 = 20;

pub(super) async fn reply(
    State(web): State<Arc<Web>>,
    Path((slug, id)): Path<(String, String)>,
    request: Request,
) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let visitor = Visitor::of(&parts, &web);
    let WorkspaceBrowser(browser) = WorkspaceBrowser::of(&parts, &web);
    let opened = match open(&web, &visitor, &slug, &browser).await {
        Ok(opened) => opened,
        Err(error) => return error.into_response(),
    };
    let content_type = parts.headers.get(header::CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok()).unwrap_or_default();
    let reader = opened.session.as_ref().map_or("", |session| session.email.as_str());
    let link = format!("me {} {reader}", opened.workspace.ws);
    let form = (content_type, body);
    let (fields, files) = match read_guest_form(&web, &visitor, &browser.csrf, &link, form).await {
        Ok(read) => read,
        Err(error) => return error.into_response(),
    };
    let text = fields.get("text");
    let Some(session) = opened.session else {
        let page = OwnFrontPage {
            is_signed_out: true,
            left: LeftAnswer { conversation: id, text },
            ..OwnFrontPage::new(opened.workspace, &browser)
        };
        return html(StatusCode::UNAUTHORIZED, &page);
    };
    let page = SignedInPage { workspace: opened.workspace, session };
    let form = GuestFormId::parse(&fields.get("form_id"));
    let form = form.unwrap_or_else(|| GuestFormId::new(&web.app.ids));
    match take_answer(&web, &page, &browser, (&id, form, text.clone()), files).await {
        Ok(None) => see_other(&format!("/me/{slug}/c/{id}?sent#sent")),
        Ok(Some(error)) => {
            let unsent = Unsent { text, error, has_arrived: false };
            conversation_page(&web, &visitor, &browser, &page, &id, unsent).await
        }
        Err(error) => error.into_response(),
    }
}

/// Files an answer; otherwise a sentence for the customer, whose text stands on the page still.
async fn take_answer(
    web: &Web,
    page: &SignedInPage,
    browser: &GuestBrowser,
    (id, form, text): (&str, GuestFormId, String),
    files: FormFiles,
) -> Result<Option<String>, PageError> {
    let FormFiles::Kept(files) = files else { return Ok(Some(too_many())) };
    if files.len() > POST_FILES {
        return Ok(Some(too_many()));
    }
    if !count_answer(web, page).await? {
        return Ok(Some(too_often()));
    }
    let files = files.into_iter().map(|file| (file.filename, file.bytes)).collect();
    let files = match take_files(&web.app, files).await? {
        Ok(files) => files,
        Err(sentence) => {
            let sentence = translation::sentence(&sentence);
            return Ok(Some(t!("{sentence} Your text is kept.", sentence)));
        }
    };
    let answer = CustomerAnswer { form, text, files };
    match file_answer(web, page, browser, id, answer).await.or_problems()? {
        Ok(()) => Ok(None),
        Err(problems) => Ok(Some(translation::sentence(&problems.first_sentence()).into_owned())),
    }
}

/// False where the address has sent too many in a short time.
async fn count_answer(web: &Web, page: &SignedInPage) -> base::error::Result<bool> {
    let what = format!("own page {} {}", page.workspace.ws, page.session.email);
    let now = web.app.clock.now();
    web.app.store.write(move |tx| sessions::count_sign_in_attempt(tx, &what, ANSWERS, now)).await
}

async fn file_answer(
    web: &Web,
    page: &SignedInPage,
    browser: &GuestBrowser,
    id: &str,
    answer: CustomerAnswer,
) -> base::error::Result<()> {
    let (app, slug, browser) = (web.app.clone(), page.workspace.slug.clone(), browser.id);
    let (email, conversation) = (page.session.email.clone(), id.to_owned());
    let filed = web.app.store.write(move |tx: &mut Tx<'_>| {
        // Switched off, suspended or signed out meanwhile, nothing is filed.
        let workspace = workspace_at(tx, &slug)?;
        let actor = workspace.team();
        let cx = app.cx(&actor);
        let session = find_session(tx, workspace.ws, browser, cx.now)?;
        if session.is_none_or(|session| session.email != email) {
            return Err(Error::NotFound("page"));
        }
        tx.wake(Queue::Pages);
        receive_answer(tx, &cx, &workspace, (&email, &conversation), &answer)
    });
    filed.await
}

fn too_many() -> String {
    t!(
        "A reply has at most {files} files, of {megabytes} MB together. Your text is kept; attach \
         fewer or smaller files.",
        files = POST_FILES,
        megabytes = megabytes(POST_BYTES)
    )
}

fn too_often() -> String {
    t!(
        "You sent many replies in a short time. Your text is kept; send it in {minutes} minutes.",
        minutes = SIGN_IN_WAIT_MINUTES
    )
}
