//! The port through which events are posted to webhooks.

use std::sync::Arc;

use base::concurrency::future::BoxFuture;

/// Posts one event to a webhook's URL.
pub trait WebhookSender: Send + Sync {
    fn post<'a>(&'a self, call: &'a WebhookRequest) -> BoxFuture<'a, WebhookResponse>;
}

/// One attempt: the URL, the headers, and the stored bytes of the event.
#[derive(Clone)]
pub struct WebhookRequest {
    pub url: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: Arc<str>,
}

base::debug_without_secrets!(WebhookRequest {});

/// The response. Sentences are shown to the customer and never repeat resolver internals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebhookResponse {
    /// The receiver responded, with the start of its body (at most 4 KiB, as text).
    Status { code: u16, body: String },
    /// No valid HTTP response before the timeout.
    Failed(String),
    /// The address may not be called.
    Refused(String),
}
