//! The catcher: what happened in the sandbox, as a webhook would get it.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use inbox::actions::{self, CaughtEvent};
use inbox::model::webhook_signing;
use sha2::{Digest, Sha256};

use super::site::ROOT;
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
    let (events, owner, now): (Vec<CaughtEvent>, String, i64) = web
        .read(&visitor, |tx, cx, me| {
            let owner = format!("{} {}", cx.actor.workspace, me.id);
            Ok((actions::sandbox_events(tx, cx)?, owner, cx.now))
        })
        .await?;
    let secret = secret(&owner);
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

/// A secret that only signs what this page shows to one person.
fn secret(owner: &str) -> String {
    let digest = Sha256::digest(format!("the catcher of {owner} at {ROOT}"));
    format!("whsec_{}", STANDARD.encode(digest))
}
