//! The page of a contact form, alone and in frames of other sites. It sets no cookie: a signed time in the page
//! tells a form of ours from what a program makes up. Opening it changes nothing.
//!
//! Customers read the texts of this folder.

mod code;
mod kept;
mod page;
mod send;
mod typed_form;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{HeaderMap, Response};
use axum::middleware::map_response;
use axum::routing::{get, post};
use contact_forms::stamps::FormStamp;
use contact_forms::{PublicForm, public_at};
use db::Tx;
use web::Web;
use web::forms::form::Asked;
use web::forms::multipart::OpenForm;
use web::guest::keep_secret;
use web::layout::responses::{FORM_WITH_FILES_BYTES, PageError, let_sites_frame};
use web::visitor::Visitor;

pub(crate) use code::objection;

pub fn router() -> Router<Arc<Web>> {
    let send = || DefaultBodyLimit::max(FORM_WITH_FILES_BYTES);
    Router::new()
        .route("/f/{slug}", get(show).post(send_own).layer(send()))
        .route("/f/{slug}/embed", get(show_framed).post(send_framed).layer(send()))
        .route("/f/{slug}/code", post(enter_code).get(show_own))
        .route("/f/{slug}/embed/code", post(enter_code_framed).get(show_framed))
        .layer(map_response(keep_secret))
}

/// Where the form stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FormPlace {
    OwnPage,
    Frame,
}

impl FormPlace {
    fn path(self, slug: &str) -> String {
        match self {
            FormPlace::OwnPage => format!("/f/{slug}"),
            FormPlace::Frame => format!("/f/{slug}/embed"),
        }
    }
}

/// A form that somebody opened or sent.
struct OpenedForm {
    public: PublicForm,
    place: FormPlace,
    /// The page that it was sent from; `None` for what no page of ours carried.
    stamp: Option<FormStamp>,
    /// What its next page carries.
    made: String,
}

impl OpenedForm {
    fn path(&self) -> String {
        self.place.path(&self.public.form.slug)
    }

    /// The response in the frames of the sites that the form names, or on its own.
    fn finish(&self, mut response: Response<Body>) -> Response<Body> {
        if self.place == FormPlace::Frame {
            let_sites_frame(&mut response, &self.public.form.sites);
        }
        response
    }
}

async fn open_form(
    web: &Web,
    visitor: &Visitor,
    (slug, place): (&str, FormPlace),
    made: String,
) -> Result<OpenedForm, PageError> {
    let (app, slug) = (web.app.clone(), slug.to_owned());
    let work = move |tx: &mut Tx<'_>| {
        let public = public_at(tx, &slug)?;
        let cx = app.cx(&public.actor);
        let id = &public.form.id;
        let stamp = FormStamp::verify(tx, &cx, id, &made)?;
        // A page that is shown again is as old as the first one.
        let made = match &stamp {
            Some(_) => made.clone(),
            None => FormStamp::new(&cx).sign(tx, &cx, id)?,
        };
        Ok(OpenedForm { public, place, stamp, made })
    };
    let opened = web.app.store.read(work).await;
    web.or_miss(visitor, opened).await
}

async fn show(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(slug): Path<String>,
    headers: HeaderMap,
    Asked(asked): Asked,
) -> Response<Body> {
    page::show(&web, &visitor, (&slug, FormPlace::OwnPage), &headers, &asked).await
}

async fn show_framed(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(slug): Path<String>,
    headers: HeaderMap,
    Asked(asked): Asked,
) -> Response<Body> {
    page::show(&web, &visitor, (&slug, FormPlace::Frame), &headers, &asked).await
}

/// The address of a code leads to the form when it is opened.
async fn show_own(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(slug): Path<String>,
    headers: HeaderMap,
    Asked(asked): Asked,
) -> Response<Body> {
    page::show(&web, &visitor, (&slug, FormPlace::OwnPage), &headers, &asked).await
}

async fn send_own(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(slug): Path<String>,
    form: OpenForm,
) -> Response<Body> {
    send::take(&web, &visitor, (&slug, FormPlace::OwnPage), form).await
}

async fn send_framed(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(slug): Path<String>,
    form: OpenForm,
) -> Response<Body> {
    send::take(&web, &visitor, (&slug, FormPlace::Frame), form).await
}

async fn enter_code(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(slug): Path<String>,
    form: OpenForm,
) -> Response<Body> {
    code::enter(&web, &visitor, (&slug, FormPlace::OwnPage), &form.fields).await
}

async fn enter_code_framed(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(slug): Path<String>,
    form: OpenForm,
) -> Response<Body> {
    code::enter(&web, &visitor, (&slug, FormPlace::Frame), &form.fields).await
}
