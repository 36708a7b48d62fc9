//! The public help pages: read by anybody, made of what is public and of nothing else. Reading writes nothing; the
//! one form says whether a page helped.
//!
//! Customers read the texts of this folder.

mod files;
mod flood;
pub mod languages;
mod load;
mod path;
mod views;

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::body::Body;
use axum::extract::{Extension, Path, State};
use axum::http::header::{self, HeaderName};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode};
use axum::response::IntoResponse;
use axum::routing::get;
use base::error::Error;
use db::Tx;
use knowledge::help_pages::{self, HelpAddress};
use knowledge::{help_site, votes};
use sha2::{Digest, Sha256};
use translation::{Language, Reader};
use web::Web;
use web::forms::form::Asked;
use web::guest::GuestForm;
use web::layout::filters;
use web::layout::responses::{self, PageError, see_other};
use web::visitor::{Visitor, is_from_here};

use flood::ReadCounts;
use load::HelpQuery;
use path::HelpRequest;

/// How long pages, and the files for programs, may be kept, in seconds.
const KEPT: HeaderValue = HeaderValue::from_static("public, max-age=300");
/// A search, and a voice, count as so many pages.
const SEARCH_COST: u32 = 4;
const SAY_COST: u32 = 12;
const ROBOTS: HeaderName = HeaderName::from_static("x-robots-tag");

pub fn router() -> Router<Arc<Web>> {
    Router::new()
        .route("/help", get(first))
        .route("/help/{*path}", get(read).post(say))
        .layer(Extension(Arc::new(ReadCounts::default())))
}

async fn first(
    State(web): State<Arc<Web>>,
    Extension(counts): Extension<Arc<ReadCounts>>,
    visitor: Visitor,
    headers: HeaderMap,
    Asked(asked): Asked,
) -> Response<Body> {
    let query = HelpQuery::of(&asked, &headers);
    show(&web, &counts, &visitor, &headers, ("", query)).await
}

async fn read(
    State(web): State<Arc<Web>>,
    Extension(counts): Extension<Arc<ReadCounts>>,
    visitor: Visitor,
    Path(path): Path<String>,
    headers: HeaderMap,
    Asked(asked): Asked,
) -> Response<Body> {
    let query = HelpQuery::of(&asked, &headers);
    show(&web, &counts, &visitor, &headers, (&path, query)).await
}

async fn show(
    web: &Web,
    counts: &ReadCounts,
    visitor: &Visitor,
    headers: &HeaderMap,
    (path, query): (&str, HelpQuery),
) -> Response<Body> {
    let now = web.app.clock.now();
    let Some((part, request)) = path::parse(path) else {
        let missing: base::error::Result<()> = Err(Error::NotFound("page"));
        return match web.or_miss(visitor, missing).await {
            Ok(()) => responses::nothing_here().await,
            Err(error) => error.into_response(),
        };
    };
    let is_search = request == HelpRequest::Search;
    let cost = if is_search { SEARCH_COST } else { 1 };
    // Behind a proxy that names nobody all readers are one network.
    if visitor.network.is_some() && !counts.take(&visitor.place, cost, now) {
        return too_many();
    }
    let varies = is_search || request == HelpRequest::Home(None);
    let work = move |tx: &mut Tx<'_>| {
        let site = help_site::open_at(tx, &part)?;
        load::load(tx, &site, &request, &query, now)
    };
    let found = web.app.store.read(work).await;
    let view = match web.or_miss(visitor, found).await {
        Ok(view) => view,
        Err(error) => return error.into_response(),
    };
    let reader = Reader::new(Language::parse(&view.language).unwrap_or_default());
    let mut response = reader.run(|| views::respond(&view, &web.app.public_url));
    if response.status() == StatusCode::OK {
        if is_search {
            response.headers_mut().insert(ROBOTS, HeaderValue::from_static("noindex"));
        }
        if varies {
            response
                .headers_mut()
                .append(header::VARY, HeaderValue::from_static("Accept-Language"));
        }
        response = with_tag(response, headers).await;
    }
    response
}

/// Lets browsers and caches keep a page for a while, and ask whether it changed.
async fn with_tag(response: Response<Body>, headers: &HeaderMap) -> Response<Body> {
    let (mut parts, body) = response.into_parts();
    let Ok(bytes) = axum::body::to_bytes(body, usize::MAX).await else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let digest = Sha256::digest(&bytes);
    let tag: String = digest.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
    // Weak, because pages are compressed with a random end.
    let tag = format!("W/\"{tag}\"");
    parts.headers.insert(header::CACHE_CONTROL, KEPT);
    if let Ok(value) = HeaderValue::from_str(&tag) {
        parts.headers.insert(header::ETAG, value);
    }
    let asked = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let is_known = asked.is_some_and(|asked| asked.split(',').any(|one| one.trim() == tag));
    if is_known {
        parts.status = StatusCode::NOT_MODIFIED;
        parts.headers.remove(header::CONTENT_LENGTH);
        return Response::from_parts(parts, Body::empty());
    }
    Response::from_parts(parts, Body::from(bytes))
}

#[derive(Template)]
#[template(path = "help_wait.html", whitespace = "minimize")]
struct HelpWait {}

fn too_many() -> Response<Body> {
    let mut response = responses::html(StatusCode::TOO_MANY_REQUESTS, &HelpWait {});
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("60"));
    response
}

/// Counts whether a page helped, once for each network a day; the page thanks whoever says so.
async fn say(
    State(web): State<Arc<Web>>,
    Extension(counts): Extension<Arc<ReadCounts>>,
    visitor: Visitor,
    Path(path): Path<String>,
    headers: HeaderMap,
    form: GuestForm,
) -> Response<Body> {
    if !is_from_here(&headers) {
        return PageError::Foreign.into_response();
    }
    if visitor.network.is_some() && !counts.take(&visitor.place, SAY_COST, web.app.clock.now()) {
        return too_many();
    }
    let Some((part, HelpRequest::Article(language, slug))) = path::parse(&path) else {
        return responses::nothing_here().await;
    };
    let said = form.get("helped");
    if said != "yes" && said != "no" {
        return see_other(&format!("/help/{path}"));
    }
    let (app, network, helped) = (web.app.clone(), visitor.place.clone(), said == "yes");
    let counted = web
        .app
        .store
        .write(move |tx| {
            let site = help_site::open_at(tx, &part)?;
            let actor = site.actor();
            let cx = app.cx(&actor);
            let place = (language.as_str(), slug.as_str());
            let Some(HelpAddress::Page(page)) = help_pages::at(tx, &site, place, cx.now)? else {
                return Err(Error::NotFound("page"));
            };
            votes::count_vote(tx, &cx, &page.answer, helped, &network)?;
            Ok(site.page_path(&page.language, &page.slug))
        })
        .await;
    match web.or_miss(&visitor, counted).await {
        Ok(page) => see_other(&format!("{page}?helped={said}")),
        Err(error) => error.into_response(),
    }
}
