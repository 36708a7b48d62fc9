//! The catcher: what happened in the sandbox, as a webhook would get it.

use std::sync::Arc;

use actions::integrations::console::{self, CaughtEvent};
use askama::Template;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Response, StatusCode, header};
use base::actor::authenticate;
use base::app::Cx;
use base::error::Error;
use base::security::api_key::KeyHash;
use base::security::scopes::Scope;
use db::Tx;
use model::webhooks::webhook_signing;
use serde_json::{Value, json};
use web::Web;
use web::layout::filters;
use web::layout::responses::{self, PageResult};
use web::visitor::Visitor;

use super::{ArticlePage, Site, SiteFrame, html};

const PATH: &str = "/developers/catcher";
const NEEDS_TEST_KEY: &str =
    "The catcher shows events of the sandbox. Use a test key, rk_test_…, with the scope read.";

#[derive(Template)]
#[template(path = "developers_catcher.html", whitespace = "minimize")]
struct CatcherPage {
    frame: SiteFrame,
    /// What the shown calls are signed with.
    secret: String,
    events: Vec<CaughtCall>,
}

/// A call as a webhook would get it now.
struct CaughtCall {
    kind: String,
    at: String,
    headers: Vec<(&'static str, String)>,
    /// The bytes that are signed, and the same to be read.
    body: String,
    shown: String,
}

pub async fn page(site: Site, visitor: Visitor) -> PageResult {
    let found = site.pages().find(PATH).ok_or(base::error::Error::NotFound("page"))?;
    let frame = site.frame(&visitor, PATH, &found.title).await;
    if frame.person.is_none() {
        let article = found.article.clone();
        return responses::page(&ArticlePage {
            frame,
            article,
            takes_key: false,
            made: None,
            words: String::new(),
        });
    }
    let (events, secret, now) =
        site.web.act_quietly(&visitor, |tx, cx, _| caught_events(tx, cx)).await?;
    let call = |event: CaughtEvent| {
        let secrets = std::slice::from_ref(&secret);
        let value: serde_json::Value = serde_json::from_str(&event.body).unwrap_or_default();
        let shown = serde_json::to_string_pretty(&value).unwrap_or_default();
        CaughtCall {
            kind: event.kind,
            at: event.created_at.iso(),
            headers: webhook_signing::headers(&event.id, now, &event.body, secrets),
            shown: html::json(&shown),
            body: event.body,
        }
    };
    let events = events.into_iter().map(call).collect();
    responses::page(&CatcherPage { frame, secret, events })
}

/// The events, the secret that signs them, and the time. The first reader makes the workspace's key.
fn caught_events(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
) -> base::error::Result<(Vec<CaughtEvent>, String, i64)> {
    Ok((console::sandbox_events(tx, cx)?, console::catcher_secret(tx, cx)?, cx.now))
}

/// The same for a program with a test key: each event with the headers and the body that a webhook would get. It is
/// admitted and counted as a call of the API is.
pub async fn for_programs(State(web): State<Arc<Web>>, headers: HeaderMap) -> Response<Body> {
    let (events, secret, now) = match caught_by_program(&web, &headers).await {
        Ok(caught) => caught,
        Err(error) => return error_response(&error),
    };
    let call = |event: CaughtEvent| {
        let signed =
            webhook_signing::headers(&event.id, now, &event.body, std::slice::from_ref(&secret));
        let headers: serde_json::Map<String, Value> =
            signed.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
        json!({ "headers": headers, "body": event.body })
    };
    let events: Vec<Value> = events.into_iter().map(call).collect();
    responses::json(&json!({ "secret": secret, "events": events }))
}

async fn caught_by_program(
    web: &Web,
    headers: &HeaderMap,
) -> base::error::Result<(Vec<CaughtEvent>, String, i64)> {
    let text = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let key = text.and_then(|text| text.strip_prefix("Bearer ")).and_then(KeyHash::of);
    let key = key.ok_or(Error::Unauthorized)?;
    let (scopes, _) = ::api::calls::admit(&web.app, key).await;
    let may_read = scopes?.has(Scope::Read);
    let app = web.app.clone();
    let work = move |tx: &mut Tx<'_>| {
        let (actor, _) = authenticate(tx, &key, app.clock.now())?;
        if actor.livemode() || !may_read {
            return Err(Error::Forbidden(NEEDS_TEST_KEY.into()));
        }
        caught_events(tx, &app.cx(&actor))
    };
    web.app.store.write(work).await
}

fn error_response(error: &Error) -> Response<Body> {
    let mut response = responses::json(&json!({ "error": error.to_string() }));
    *response.status_mut() =
        StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if error.is_outage() {
        responses::ask_to_wait(&mut response);
    }
    response
}
