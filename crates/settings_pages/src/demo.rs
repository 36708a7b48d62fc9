//! The door of a public demo: what it is, the button that begins a visit, and how to start one's own.

use std::sync::Arc;

use actions::sign_in::sessions;
use askama::Template;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, Response, StatusCode, header};
use base::error::Error;
use db::Tx;
use translation::t;
use web::demo_visits::DemoRefusal;
use web::forms::form::PostedForm;
use web::layout::filters;
use web::layout::responses::{self, PageResult, see_other};
use web::layout::wording::TimeFormat;
use web::visitor::{CsrfToken, Visitor};
use web::{DemoVisits, Web};

/// Where a visit begins.
const FIRST_PAGE: &str = "/inbox?view=open";
/// No page of a demo is for a search engine.
const ROBOTS: &str = "User-agent: *\nDisallow: /\n";

#[derive(Template)]
#[template(path = "demo.html", whitespace = "minimize")]
struct DemoPage {
    csrf: CsrfToken,
    minutes: i64,
    /// Why no visit could be begun.
    refusal: Option<String>,
    /// This browser is on a visit already.
    is_inside: bool,
}

/// The demo that this server is, or nothing.
fn demo(web: &Web) -> base::error::Result<Arc<dyn DemoVisits>> {
    web.demo_visits.clone().ok_or(Error::NotFound("page"))
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    let demo = demo(&web)?;
    let is_inside = is_inside(&web, &visitor).await?;
    let minutes = demo.minutes();
    responses::page(&DemoPage { csrf: visitor.csrf, minutes, refusal: None, is_inside })
}

async fn is_inside(web: &Web, visitor: &Visitor) -> base::error::Result<bool> {
    let Some(session) = visitor.session else { return Ok(false) };
    let now = web.app.clock.now();
    let look = move |tx: &mut Tx<'_>| match sessions::signed_in(tx, &session, now) {
        Ok(me) => Ok(me.sample.is_some()),
        Err(Error::Unauthorized) => Ok(false),
        Err(error) => Err(error),
    };
    web.app.store.read(look).await
}

/// Begins a visit. Opening a page never does, so that programs that follow links take no place.
pub async fn begin(State(web): State<Arc<Web>>, posted: PostedForm) -> PageResult {
    let demo = demo(&web)?;
    let visitor = posted.visitor;
    if is_inside(&web, &visitor).await? {
        return Ok(see_other(FIRST_PAGE));
    }
    let refusal = match demo.begin(&visitor.place, &visitor.device).await? {
        Ok(session) => {
            let mut response = see_other(FIRST_PAGE);
            web.set_session(&mut response, &session);
            return Ok(response);
        }
        Err(refusal) => refusal,
    };
    let (status, sentence) = match refusal {
        DemoRefusal::Full(Some(next)) => {
            let times = TimeFormat::new(web.app.clock.now(), visitor.zone.clone());
            let time = times.clock(next);
            let words =
                t!("All demos are taken just now. The next one is free at about {time}.", time);
            (StatusCode::SERVICE_UNAVAILABLE, words)
        }
        DemoRefusal::Full(None) => (
            StatusCode::SERVICE_UNAVAILABLE,
            t!("All demos are taken just now. Try again in a few minutes.").into(),
        ),
        DemoRefusal::TooMany => (
            StatusCode::TOO_MANY_REQUESTS,
            t!("Several demos were begun from your network in the last hour. Try again later.")
                .into(),
        ),
    };
    let (csrf, minutes) = (visitor.csrf, demo.minutes());
    let page = DemoPage { csrf, minutes, refusal: Some(sentence), is_inside: false };
    Ok(responses::html(status, &page))
}

/// In a demo nothing is indexed; elsewhere there is no such file.
pub async fn robots(State(web): State<Arc<Web>>) -> PageResult {
    demo(&web)?;
    let mut response = Response::new(Body::from(ROBOTS));
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    Ok(response)
}
