//! The code that proves the address of what was sent, on the page that follows the form. The message is with the
//! team already; with the right code nobody has to look at it first.

use askama::Template;
use axum::body::Body;
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse;
use contact_forms::PublicForm;
use contact_forms::posts::{self, FiledPost, PostProof};
use contact_forms::proof::{self, PostPage, code_words};
use contact_forms::stamps::FormStamp;
use db::Tx;
use inbound::guest_pages::form_posts::prove_post;
use model::branding::Branding;
use model::people::one_time_codes::CodeEntry;
use model::times::local_times::LocalTimes;
use translation::t;
use web::Web;
use web::forms::form::FormFields;
use web::layout::filters;
use web::layout::responses::{PageError, html, see_other};
use web::visitor::Visitor;

use super::{FormPlace, OpenedForm, open_form};

#[derive(Template)]
#[template(path = "contact_form_code.html", whitespace = "minimize")]
struct FormCodePage {
    firm: String,
    branding: Branding,
    title: String,
    is_framed: bool,
    action: String,
    made: String,
    /// Where the code went.
    email: String,
    subject: String,
    error: String,
    /// When another code can be asked for, if not at once.
    next_at: String,
}

/// What was entered, or asked for.
enum CodeStep {
    Entered(CodeEntry),
    Sent,
    /// There were enough codes; the next is possible at this time on the inbox's clock.
    Wait(String),
}

/// The page after a form was sent whose address is to be proven.
pub(super) async fn first(
    web: &Web,
    visitor: &Visitor,
    opened: &OpenedForm,
    stamp: &FormStamp,
    post: &FiledPost,
) -> Response<Body> {
    // A form that is sent again has its code already.
    match mail_code(web, visitor, &opened.public, stamp, false).await {
        Ok(CodeStep::Wait(at)) => opened.code_page(post, StatusCode::OK, String::new(), at),
        Ok(_) => opened.code_page(post, StatusCode::OK, String::new(), String::new()),
        Err(error) => {
            // The message is there; only its code is not.
            tracing::error!(cause = ?error, "the code of a form was not mailed");
            opened.finish(see_other(&format!("{}?sent", opened.path())))
        }
    }
}

/// Takes the code that was entered, or mails another.
pub(super) async fn enter(
    web: &Web,
    visitor: &Visitor,
    place: (&str, FormPlace),
    fields: &FormFields,
) -> Response<Body> {
    let opened = match open_form(web, visitor, place, fields.get("made")).await {
        Ok(opened) => opened,
        Err(error) => return error.into_response(),
    };
    let Some(stamp) = opened.stamp.clone() else {
        return opened.finish(see_other(&opened.path()));
    };
    let public = opened.public.clone();
    let (id, ws) = (stamp.id.clone(), public.actor.ws);
    let form = public.form.id.clone();
    let found = web.app.store.read(move |tx| posts::sent_from(tx, ws, &form, &id)).await;
    let post = match found {
        Ok(Some(post)) if post.proof == PostProof::Asked => post,
        Ok(Some(_)) => return opened.finish(see_other(&format!("{}?sent", opened.path()))),
        Ok(None) => return opened.finish(see_other(&opened.path())),
        Err(error) => return opened.finish(PageError::from(error).into_response()),
    };
    let step = if fields.has("again") {
        mail_code(web, visitor, &public, &stamp, true).await
    } else {
        try_code(web, visitor, &public, &stamp, fields.get("code")).await.map(CodeStep::Entered)
    };
    let (status, error, next_at) = match step {
        Ok(CodeStep::Entered(CodeEntry::Right)) => {
            return opened.finish(see_other(&format!("{}?sent", opened.path())));
        }
        Ok(CodeStep::Entered(entry)) => (StatusCode::UNAUTHORIZED, objection(entry), String::new()),
        Ok(CodeStep::Sent) => (StatusCode::OK, String::new(), String::new()),
        Ok(CodeStep::Wait(at)) => (StatusCode::TOO_MANY_REQUESTS, String::new(), at),
        Err(error) => return opened.finish(PageError::from(error).into_response()),
    };
    opened.code_page(&post, status, error, next_at)
}

/// What is wrong with a code.
pub(crate) fn objection(entry: CodeEntry) -> String {
    match entry {
        CodeEntry::Right => String::new(),
        CodeEntry::Wrong { tries_left: 1 } => {
            t!("That is not the code. You have 1 try left.").to_owned()
        }
        CodeEntry::Wrong { tries_left } if tries_left > 0 => {
            t!("That is not the code. You have {tries_left} tries left.", tries_left)
        }
        _ => t!("That code has run out. Ask for a new one.").to_owned(),
    }
}

impl OpenedForm {
    fn code_page(
        &self,
        post: &FiledPost,
        status: StatusCode,
        error: String,
        next_at: String,
    ) -> Response<Body> {
        let firm = self.public.firm.clone();
        let page = FormCodePage {
            subject: code_words(&firm, "", "").0,
            title: self.words().title,
            is_framed: self.place == FormPlace::Frame,
            action: format!("{}/code", self.path()),
            made: self.made.clone(),
            email: post.email.to_string(),
            branding: self.public.branding.clone(),
            firm,
            error,
            next_at,
        };
        self.finish(html(status, &page))
    }
}

/// Mails a code; unless it is asked for, only the first.
async fn mail_code(
    web: &Web,
    visitor: &Visitor,
    public: &PublicForm,
    stamp: &FormStamp,
    is_again: bool,
) -> base::error::Result<CodeStep> {
    let page = PostPage { stamp: stamp.id.clone(), place: visitor.place.clone() };
    let (public, reader) = (public.clone(), translation::Reader::current());
    let firm = public.firm.clone();
    let actor = public.actor.clone();
    web.app
        .act(&actor, move |tx, cx| {
            let id = &public.form.id;
            let Some(post) = posts::sent_from(tx, cx.actor.ws, id, &page.stamp)? else {
                return Ok(CodeStep::Sent);
            };
            if !is_again && proof::find_sent(tx, &public, &page)?.is_some() {
                return Ok(CodeStep::Sent);
            }
            let words = |code: &str, until: &str| reader.run(|| code_words(&firm, code, until));
            match proof::mail_code(tx, cx, (&public, &post), &page, &words)? {
                None => Ok(CodeStep::Sent),
                Some(until) => {
                    let times = LocalTimes::of(tx, cx.actor.ws, &public.form.mailbox)?;
                    Ok(CodeStep::Wait(times.clock(until)))
                }
            }
        })
        .await
}

async fn try_code(
    web: &Web,
    visitor: &Visitor,
    public: &PublicForm,
    stamp: &FormStamp,
    typed: String,
) -> base::error::Result<CodeEntry> {
    let page = PostPage { stamp: stamp.id.clone(), place: visitor.place.clone() };
    let public = public.clone();
    let actor = public.actor.clone();
    web.app
        .act(&actor, move |tx: &mut Tx<'_>, cx| {
            let found = posts::sent_from(tx, cx.actor.ws, &public.form.id, &page.stamp)?;
            let Some(post) = found else { return Ok(CodeEntry::NotAsked) };
            let entry = proof::enter(tx, cx, (&public, &post), &page, &typed)?;
            if entry == CodeEntry::Right {
                prove_post(tx, cx, &post)?;
            }
            Ok(entry)
        })
        .await
}
