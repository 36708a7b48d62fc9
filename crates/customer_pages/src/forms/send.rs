//! A form that was sent: checked, counted and filed, or shown again with everything that was typed.

use actions::sign_in::sessions;
use axum::body::Body;
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse;
use base::error::Error;
use base::files::blobs::Blob;
use base::limits::{
    FORM_LEAST_MS, FORM_POSTS_PER_FORM, FORM_POSTS_PER_NETWORK, SIGN_IN_WAIT_MINUTES, megabytes,
};
use contact_forms::files::{POST_BYTES, POST_FILES, take_files};
use contact_forms::posts::{FiledPost, PostProof};
use contact_forms::stamps::FormStamp;
use inbound::guest_pages::form_posts::{FormDoubt, FormPost, ReceivedPost, receive_post};
use mail::Attachment;
use translation::t;
use web::Web;
use web::forms::multipart::{FormFiles, OpenForm};
use web::layout::responses::{PageError, see_other};
use web::visitor::Visitor;

use super::typed_form::TypedForm;
use super::{FormPlace, OpenedForm, code, kept, open_form};

/// Files what was sent and leads to the thanks; otherwise the form again, with everything that was typed.
pub(super) async fn take(
    web: &Web,
    visitor: &Visitor,
    place: (&str, FormPlace),
    form: OpenForm,
) -> Response<Body> {
    let OpenForm { fields, files } = form;
    let has_files = files.count() > 0;
    let opened = match open_form(web, visitor, place, fields.get("made")).await {
        Ok(opened) => opened,
        Err(PageError::Domain(error)) if is_fault(&error) => {
            return kept::page(place, &fields, has_files);
        }
        Err(error) => return error.into_response(),
    };
    let mut typed =
        TypedForm::read(&fields, &opened.public.form.fields, |day| visitor.iso_day(day));
    let again = |typed: TypedForm, alert: &str| {
        let words = if has_files {
            t!("{alert} Choose your files again: a page cannot keep them.", alert)
        } else {
            alert.to_owned()
        };
        opened.page(StatusCode::UNPROCESSABLE_ENTITY, typed, words)
    };
    if typed.has_new_questions(&opened.public.form.fields) {
        let alert =
            t!("More questions follow from your answer. Please look at them, then send it.");
        return again(typed, alert);
    }
    if !typed.check(&opened.public, &files) {
        return if has_files {
            again(typed, t!("Something is not right yet."))
        } else {
            opened.page(StatusCode::UNPROCESSABLE_ENTITY, typed, String::new())
        };
    }
    let Some(stamp) = &opened.stamp else {
        let alert = if fields.has("made") {
            t!("This page was open for too long, so nothing was sent. What you wrote is kept: \
                 please send it again.")
        } else {
            t!("Please look at it once more, then send it.")
        };
        return again(typed, alert);
    };
    match count(web, visitor).await {
        Ok(true) => {}
        Ok(false) => {
            let alert = t!(
                "Many messages were sent from your network, so this one was not. What you wrote is \
                 kept: please send it again in {minutes} minutes.",
                minutes = SIGN_IN_WAIT_MINUTES,
            );
            return opened.page(StatusCode::TOO_MANY_REQUESTS, typed, alert);
        }
        Err(error) => return opened.finish(failure_page(place, error, &fields, has_files)),
    }
    let files = match check_files(web, files).await {
        Ok(Ok(files)) => files,
        Ok(Err(sentence)) => return again(typed, &translation::sentence(&sentence)),
        Err(error) => return opened.finish(failure_page(place, error, &fields, has_files)),
    };
    match receive(web, &opened, stamp, &typed, files).await {
        Ok(sent) if sent.post.proof == PostProof::Asked => {
            let opened = OpenedForm { made: sent.made, ..opened };
            code::first(web, visitor, &opened, &sent.stamp, &sent.post).await
        }
        Ok(_) => opened.finish(see_other(&format!("{}?sent", opened.path()))),
        Err(error) => opened.finish(failure_page(place, error, &fields, has_files)),
    }
}

/// A fault of ours, not of what was typed.
fn is_fault(error: &Error) -> bool {
    !matches!(error, Error::NotFound(_) | Error::Invalid(_))
}

fn failure_page(
    place: (&str, FormPlace),
    error: Error,
    fields: &web::forms::form::FormFields,
    has_files: bool,
) -> Response<Body> {
    if !is_fault(&error) {
        return PageError::from(error).into_response();
    }
    if !error.is_outage() && !matches!(error, Error::ClosedForNow) {
        tracing::error!(cause = ?error, "a form was not taken");
    }
    kept::page(place, fields, has_files)
}

/// Counts a form of a client network; false at the limit.
async fn count(web: &Web, visitor: &Visitor) -> base::error::Result<bool> {
    let (what, now) = (format!("contact form {}", visitor.place), web.app.clock.now());
    web.app
        .store
        .write(move |tx| sessions::count_sign_in_attempt(tx, &what, FORM_POSTS_PER_NETWORK, now))
        .await
}

/// The files with the blobs that hold them, or a sentence for the customer.
async fn check_files(
    web: &Web,
    files: FormFiles,
) -> base::error::Result<Result<Vec<(Attachment, Blob)>, String>> {
    let too_many = || {
        format!(
            "A message has at most {POST_FILES} files, of {} MB together.",
            megabytes(POST_BYTES)
        )
    };
    let FormFiles::Kept(files) = files else { return Ok(Err(too_many())) };
    if files.len() > POST_FILES {
        return Ok(Err(too_many()));
    }
    let files = files.into_iter().map(|file| (file.filename, file.bytes));
    take_files(&web.app, files.collect()).await
}

/// A post that is filed, and the page that its code belongs to: its stamp, and that as the next page carries it.
struct SentForm {
    post: FiledPost,
    stamp: FormStamp,
    made: String,
}

async fn receive(
    web: &Web,
    opened: &OpenedForm,
    stamp: &FormStamp,
    typed: &TypedForm,
    files: Vec<(Attachment, Blob)>,
) -> base::error::Result<SentForm> {
    let (form, actor) = (opened.public.form.clone(), opened.public.actor.clone());
    let is_fast = web.app.clock.now() < stamp.made_at + FORM_LEAST_MS;
    let doubts = [
        (typed.is_trapped, FormDoubt::Trap),
        (is_fast, FormDoubt::TooFast),
        (typed.has_many_links(), FormDoubt::ManyLinks),
    ];
    let doubts = doubts.into_iter().filter(|(holds, _)| *holds).map(|(_, doubt)| doubt);
    let post = FormPost {
        id: stamp.id.clone(),
        name: typed.name.clone(),
        email: typed.email.clone(),
        message: typed.message.clone(),
        answers: typed.answers(&form.fields),
        files,
        page: typed.page.clone(),
        doubts: doubts.collect(),
    };
    let (slug, ws, what) = (form.slug.clone(), actor.ws, format!("form {}", form.id));
    let made_at = stamp.made_at;
    let filed = web.app.act(&actor, move |tx, cx| {
        let mut post = post.clone();
        if !sessions::count_sign_in_attempt(tx, &what, FORM_POSTS_PER_FORM, cx.now)? {
            post.doubts.push(FormDoubt::ManyPosts);
        }
        let ReceivedPost { post, page } = receive_post(tx, cx, &form, &post)?;
        let stamp = FormStamp { made_at, id: page };
        let made = stamp.sign(tx, cx, &form.id)?;
        Ok(SentForm { post, stamp, made })
    });
    let filed = filed.await?;
    tracing::info!(workspace = ws, form = %slug, id = %filed.post.message, "a form came in");
    Ok(filed)
}
