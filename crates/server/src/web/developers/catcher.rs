//! The catcher: what happened in the sandbox, as a webhook would get it.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use inbox::actions::{self, CaughtEvent};
use inbox::model::webhook_signing;

use super::{ArticlePage, SiteFrame, html};
use crate::web::Web;
use crate::web::layout::filters;
use crate::web::layout::responses::{self, PageResult};
use crate::web::visitor::Visitor;

const PATH: &str = "/developers/catcher";

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

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    let found = web.site().find(PATH).ok_or(inbox::Error::NotFound("page"))?;
    let frame = web.site_frame(&visitor, PATH, &found.title).await;
    if frame.person.is_none() {
        let article = found.article.clone();
        return responses::page(&ArticlePage { frame, article, made: None, words: String::new() });
    }
    // The first reader makes the workspace's key.
    let (events, secret, now): (Vec<CaughtEvent>, String, i64) = web
        .act_quietly(&visitor, |tx, cx, _| {
            Ok((actions::sandbox_events(tx, cx)?, actions::catcher_secret(tx, cx)?, cx.now))
        })
        .await?;
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
