//! The JSON of webhooks.

use base::ids::WebhookId;
use base::time::Moment;
use model::webhooks::State;
use model::webhooks::events::EVENTS;
use model::webhooks::registration::RegisteredWebhook;
use schemars::JsonSchema;
use serde::Serialize;

/// An address that is told of events.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Webhook")]
pub struct WebhookJson {
    pub id: WebhookId,
    pub url: String,
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
    /// The events that it hears.
    pub events: Vec<&'static str>,
    /// Signs what is sent to it.
    pub secret: String,
}

base::debug_without_secrets!(CreatedWebhook { id });

impl From<RegisteredWebhook> for WebhookJson {
    fn from(webhook: RegisteredWebhook) -> WebhookJson {
        WebhookJson {
            id: webhook.id,
            url: webhook.url,
            events: heard_events(&webhook.chosen_events.0),
            state: webhook.state,
            created_at: webhook.created_at,
        }
    }
}

/// What a webhook with these events by choice hears, in the order of the events.
pub fn heard_events<T: AsRef<str>>(chosen: &[T]) -> Vec<&'static str> {
    let hears = |name: &str| chosen.iter().any(|known| known.as_ref() == name);
    EVENTS
        .iter()
        .filter(|event| !event.by_choice || hears(event.name))
        .map(|event| event.name)
        .collect()
}
