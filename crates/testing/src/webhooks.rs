//! Webhooks, their deliveries and signatures.

use actions::integrations::delivery_log::{self, LogFilter, LoggedDelivery};
use actions::integrations::webhooks;
use base::actor::Actor;
use base::ids::{EventId, WebhookId};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac};
use jobs::WebhookRequest;
use sha2::Sha256;

use crate::TestApp;

/// A webhook as its maker knows it.
#[derive(Clone)]
pub struct TestWebhook {
    pub id: WebhookId,
    pub url: String,
    pub secret: String,
}

/// What a webhook hears.
#[derive(Clone, Copy)]
pub enum Hears {
    Team,
    Private,
    Sandbox,
}

impl TestApp {
    pub async fn webhook(&self, maker: &Actor, private: bool, livemode: bool) -> WebhookId {
        let url = webhooks::check_url("https://example.com/hook", false).unwrap();
        let made =
            self.act(maker, move |tx, cx| webhooks::add_webhook(tx, cx, &url, private, livemode));
        made.await.id
    }

    /// A webhook for the team's inboxes, made by the owner.
    pub async fn hook(&self, name: &str) -> TestWebhook {
        self.hook_of(&self.owner, name, Hears::Team).await
    }

    pub async fn hook_of(&self, maker: &Actor, name: &str, hears: Hears) -> TestWebhook {
        let url = webhooks::check_url(&format!("https://{name}.example/hook"), false).unwrap();
        let (private, livemode) =
            (matches!(hears, Hears::Private), !matches!(hears, Hears::Sandbox));
        let address = url.clone();
        let made = self
            .act(maker, move |tx, cx| webhooks::add_webhook(tx, cx, &address, private, livemode));
        let made = made.await;
        TestWebhook { id: made.id, url: url.to_string(), secret: made.secret.unwrap_or_default() }
    }

    /// The next mail of somebody new: one `turn.changed`.
    pub async fn something_happens(&self, name: &str) {
        self.mail(&format!("{name}@x.example"), name, "text").await;
    }

    pub fn calls_to(&self, hook: &TestWebhook) -> Vec<WebhookRequest> {
        self.outside.webhook_sender.calls_to(&hook.url)
    }

    /// The whole log of a webhook's latest deliveries, newest first.
    pub async fn log(&self, hook: &TestWebhook) -> Vec<LoggedDelivery> {
        self.filtered_log(hook, LogFilter::default()).await
    }

    pub async fn filtered_log(&self, hook: &TestWebhook, filter: LogFilter) -> Vec<LoggedDelivery> {
        let id = hook.id.clone();
        self.act(&self.owner, move |tx, cx| delivery_log::delivery_log(tx, cx, &id, &filter)).await
    }

    /// The states of its deliveries, newest first.
    pub async fn states(&self, hook: &TestWebhook) -> Vec<&'static str> {
        self.log(hook).await.iter().map(|delivery| delivery.state.as_str()).collect()
    }

    pub async fn state_of(&self, hook: &TestWebhook) -> &'static str {
        let listed = self.act(&self.owner, webhooks::list_webhooks).await;
        let found = listed.into_iter().find(|listing| listing.id == hook.id);
        found.expect("the webhook").state.as_str()
    }

    pub async fn send_test_event(&self, hook: &TestWebhook) -> EventId {
        let id = hook.id.clone();
        self.act(&self.owner, move |tx, cx| delivery_log::send_test_event(tx, cx, &id)).await
    }

    pub async fn pause(&self, hook: &TestWebhook) {
        let id = hook.id.clone();
        self.act(&self.owner, move |tx, cx| delivery_log::pause_webhook(tx, cx, &id)).await;
    }

    pub async fn resume(&self, hook: &TestWebhook) {
        let id = hook.id.clone();
        self.act(&self.owner, move |tx, cx| delivery_log::resume_webhook(tx, cx, &id)).await;
    }

    pub async fn redeliver(&self, hook: &TestWebhook, event: &EventId) {
        let (id, event) = (hook.id.clone(), event.clone());
        self.act(&self.owner, move |tx, cx| delivery_log::redeliver(tx, cx, &id, &event)).await;
    }
}

pub fn header<'a>(call: &'a WebhookRequest, name: &str) -> &'a str {
    let found = call.headers.iter().find(|(header, _)| *header == name);
    found.map(|(_, value)| value.as_str()).unwrap_or_else(|| panic!("no {name} in {call:?}"))
}

/// The signatures of a call, as a receiver would split them.
pub fn signatures(call: &WebhookRequest) -> Vec<&str> {
    header(call, "webhook-signature").split(' ').collect()
}

/// What a secret signs a call with: HMAC-SHA256 over id, time and body.
pub fn signature(secret: &str, call: &WebhookRequest) -> String {
    let key = STANDARD.decode(secret.strip_prefix("whsec_").expect("the prefix")).unwrap();
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
    let (id, at) = (header(call, "webhook-id"), header(call, "webhook-timestamp"));
    mac.update(format!("{id}.{at}.{}", call.body).as_bytes());
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}
