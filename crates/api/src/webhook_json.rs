//! The JSON of webhooks.

use base::ids::WebhookId;
use base::time::Moment;
use model::webhooks::events::EVENTS;
use model::webhooks::registration::RegisteredWebhook;
use model::webhooks::{State, WebhookFormat};
use schemars::JsonSchema;
use serde::Serialize;

/// An address that is told of events.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Webhook")]
pub struct WebhookJson {
    pub id: WebhookId,
    /// Of a chat no more than its host and its end: the rest is a secret.
    pub url: String,
    /// In which form it is told.
    pub format: WebhookFormat,
    /// The events that it hears.
    pub events: Vec<&'static str>,
    /// Nothing is sent while it is `paused` or `off`.
    pub state: State,
    pub created_at: Moment,
}

/// A webhook with its secret, which is told this once.
#[derive(Serialize, JsonSchema)]
pub struct CreatedWebhook {
    pub id: WebhookId,
    pub url: String,
    /// In which form it is told.
    pub format: WebhookFormat,
    /// The events that it hears.
    pub events: Vec<&'static str>,
    /// Signs what is sent to it. One of a chat has none: its address is the secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

base::debug_without_secrets!(CreatedWebhook { id });

impl From<RegisteredWebhook> for WebhookJson {
    fn from(webhook: RegisteredWebhook) -> WebhookJson {
        WebhookJson {
            id: webhook.id,
            url: webhook.url,
            format: webhook.format,
            events: heard_events(webhook.format, &webhook.chosen_events.0),
            state: webhook.state,
            created_at: webhook.created_at,
        }
    }
}

/// What a webhook of a format with these chosen events hears, in the order of the events.
pub fn heard_events<T: AsRef<str>>(format: WebhookFormat, chosen: &[T]) -> Vec<&'static str> {
    let hears = |name: &str| chosen.iter().any(|known| known.as_ref() == name);
    EVENTS
        .iter()
        .filter(|event| (!format.is_chat() && !event.by_choice) || hears(event.name))
        .map(|event| event.name)
        .collect()
}
