//! The list of webhooks, and adding one.

use std::sync::Arc;

use actions::integrations::webhooks::{self, WebhookListing};
use actions::sign_in::sessions::SignedIn;
use askama::Template;
use axum::extract::State;
use base::ids::MailboxId;
use model::mailboxes::{self, Mailbox};
use model::webhooks::WebhookFormat;
use translation::t;
use web::Web;
use web::forms::form::{PostedForm, form};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::responses::{self, FormOutcome, PageError, PageResult};
use web::layout::wording::DisplayTime;
use web::visitor::Visitor;

use crate::{SettingsPage, location};

#[derive(Template)]
#[template(path = "settings_webhooks.html", whitespace = "minimize")]
struct WebhooksPage {
    frame: PageLayout,
    hooks: Vec<HookView>,
    url: String,
    /// The forms in which one can be told: value, words, and whether it is chosen.
    formats: Vec<(&'static str, &'static str, bool)>,
    hears: String,
    /// The inboxes for some that the reader sees, by id and name.
    inboxes: Vec<(String, String)>,
    url_error: String,
    /// The address, its secret, shown this once, and the page of its own.
    made: Option<(String, String, String)>,
    has_api: bool,
}

struct HookView {
    id: String,
    url: String,
    hears: String,
    /// The product, where it is a chat.
    chat: Option<&'static str>,
    state: &'static str,
    made: DisplayTime,
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    web.show(&visitor, &build(&web, &visitor).await?)
}

async fn build(web: &Web, visitor: &Visitor) -> Result<WebhooksPage, PageError> {
    type Read = (Vec<WebhookListing>, SignedIn, Vec<Mailbox>);
    let (frame, (hooks, me, inboxes)): (PageLayout, Read) = web
        .page(visitor, location(SettingsPage::Webhooks), |tx, cx, me| {
            let inboxes = mailboxes::all_seen_by(tx, cx.actor)?;
            Ok((webhooks::list_webhooks(tx, cx)?, me.clone(), inboxes))
        })
        .await?;
    let view = |hook: WebhookListing| HookView {
        id: hook.id.to_string(),
        url: hook.url,
        hears: hears(hook.livemode, hook.private, hook.inbox.as_deref()),
        chat: Some(format_words(hook.format)).filter(|_| hook.format.is_chat()),
        state: hook.state.as_str(),
        made: frame.times.short(hook.created_at.0),
    };
    Ok(WebhooksPage {
        hooks: hooks.into_iter().map(view).collect(),
        frame,
        url: String::new(),
        formats: formats(WebhookFormat::Mailroom),
        hears: "team".into(),
        inboxes: inboxes
            .into_iter()
            .filter(|inbox| inbox.circle.inbox().is_some())
            .map(|inbox| (inbox.id.to_string(), inbox.name))
            .collect(),
        url_error: String::new(),
        made: None,
        has_api: me.plan.has_api(),
    })
}

/// The form in which a webhook is told, in words.
pub fn format_words(format: WebhookFormat) -> &'static str {
    match format {
        WebhookFormat::Mailroom => t!("Signed events, for software of yours"),
        WebhookFormat::Slack => "Slack",
        WebhookFormat::Mattermost => "Mattermost",
        WebhookFormat::Teams => "Microsoft Teams",
    }
}

fn formats(chosen: WebhookFormat) -> Vec<(&'static str, &'static str, bool)> {
    let all = WebhookFormat::ALL.iter();
    all.map(|format| (format.as_str(), format_words(*format), *format == chosen)).collect()
}

/// The events that a webhook receives, in words.
pub fn hears(livemode: bool, private: bool, inbox: Option<&str>) -> String {
    match (livemode, private, inbox) {
        (_, _, Some(inbox)) => inbox.to_owned(),
        (false, ..) => t!("Sandbox").into(),
        (true, true, None) => t!("Your private inboxes").into(),
        (true, false, None) => t!("Team inboxes").into(),
    }
}

form! {
    pub struct NewWebhookForm {
        url: String,
        format: String,
        hears: String,
    }
}

pub async fn add(State(web): State<Arc<Web>>, posted: PostedForm<NewWebhookForm>) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let (typed, hears) = (form.url.trim().to_owned(), form.hears);
    let format = WebhookFormat::parse(&form.format).unwrap_or(WebhookFormat::Mailroom);
    let (private, live) = match hears.as_str() {
        "private" => (true, true),
        "sandbox" => (false, false),
        _ => (false, true),
    };
    // Only owners and admins can make the server look up a name.
    web.read(&visitor, |_, cx, _| cx.actor.must_administer()).await?;
    let made = match web.ssrf_guard.vet(&typed).await {
        Ok(url) => {
            let inbox = MailboxId::parse(&hears);
            web.act(&visitor, move |tx, cx, _| match &inbox {
                Some(inbox) => webhooks::add_inbox_webhook(tx, cx, (&url, format), inbox),
                None => webhooks::add_webhook_in_format(tx, cx, (&url, format), private, live),
            })
            .await
        }
        Err(error) => Err(PageError::Domain(error)),
    };
    match made.or_problems()? {
        Ok(made) => {
            let Some(secret) = made.secret else {
                let path = format!("/settings/webhooks/{}", made.id);
                return web.redirect(&path, Flash::ChatWebhookAdded);
            };
            let page = build(&web, &visitor).await?;
            let made = Some((typed, secret, made.id.to_string()));
            responses::page(&WebhooksPage { made, ..page })
        }
        Err(problems) => {
            let page = build(&web, &visitor).await?;
            let url_error = format!("The address {}.", problems.first_sentence());
            let formats = formats(format);
            responses::again(&WebhooksPage { url: typed, formats, hears, url_error, ..page })
        }
    }
}
