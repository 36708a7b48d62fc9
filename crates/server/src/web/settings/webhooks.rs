//! Webhooks: adding one and seeing which there are.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use inbox::Error;
use inbox::people::{self, SignedIn, WebhookListing};

use super::spot;
use crate::web::Web;
use crate::web::answers::{self, Answer, Refusal};
use crate::web::form::Posted;
use crate::web::frame::Frame;
use crate::web::visitor::Visitor;
use crate::web::wording::{When, filters};

#[derive(Template)]
#[template(path = "settings_webhooks.html")]
struct WebhooksPage {
    frame: Frame,
    hooks: Vec<HookView>,
    url: String,
    hears: String,
    url_error: String,
    /// The address, its secret, shown this once, and the page of its own.
    made: Option<(String, String, String)>,
    has_api: bool,
}

struct HookView {
    id: String,
    url: String,
    hears: &'static str,
    state: String,
    made: When,
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> Answer {
    web.show(&visitor, &build(&web, &visitor).await?)
}

async fn build(web: &Web, visitor: &Visitor) -> Result<WebhooksPage, Refusal> {
    let (frame, (hooks, me)): (Frame, (Vec<WebhookListing>, SignedIn)) = web
        .page(visitor, spot(super::SettingsPage::Webhooks), |tx, cx, me| {
            Ok((people::list_webhooks(tx, cx)?, me.clone()))
        })
        .await?;
    let view = |hook: WebhookListing| HookView {
        id: hook.id.to_string(),
        url: hook.url,
        hears: hears(hook.livemode, hook.private),
        state: hook.state,
        made: frame.watch.short(hook.created_at.0),
    };
    Ok(WebhooksPage {
        hooks: hooks.into_iter().map(view).collect(),
        frame,
        url: String::new(),
        hears: "team".into(),
        url_error: String::new(),
        made: None,
        has_api: me.plan.has_api(),
    })
}

/// What a webhook hears of, in words.
pub fn hears(livemode: bool, private: bool) -> &'static str {
    match (livemode, private) {
        (false, _) => "Sandbox",
        (true, true) => "Your private inboxes",
        (true, false) => "Team inboxes",
    }
}

pub async fn add(State(web): State<Arc<Web>>, posted: Posted) -> Answer {
    let Posted { visitor, fields } = posted;
    let (typed, hears) = (fields.get("url").trim().to_owned(), fields.get("hears"));
    let (private, live) = match hears.as_str() {
        "private" => (true, true),
        "sandbox" => (false, false),
        _ => (false, true),
    };
    // Nobody else makes us look names up.
    web.read(&visitor, |_, cx, _| cx.actor.must_administer()).await?;
    let made = match web.gate.vet(&typed).await {
        Ok(url) => {
            web.act(&visitor, move |tx, cx, _| people::add_webhook(tx, cx, &url, private, live))
                .await
        }
        Err(error) => Err(Refusal::Domain(error)),
    };
    match made {
        Ok(made) => {
            let page = build(&web, &visitor).await?;
            let made = Some((typed, made.secret, made.id.to_string()));
            answers::page(&WebhooksPage { made, ..page })
        }
        Err(Refusal::Domain(Error::Invalid(problems))) => {
            let page = build(&web, &visitor).await?;
            let first = problems.0.first().map(|problem| problem.sentence.clone());
            let url_error = format!("The address {}.", first.unwrap_or_default());
            answers::again(&WebhooksPage { url: typed, hears, url_error, ..page })
        }
        Err(refusal) => Err(refusal),
    }
}
