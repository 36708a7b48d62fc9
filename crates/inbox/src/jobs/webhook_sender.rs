use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// Takes one event to a webhook's address.
pub trait WebhookSender: Send + Sync {
    fn post<'a>(&'a self, call: &'a WebhookRequest) -> Posting<'a>;
}

pub type Posting<'a> = Pin<Box<dyn Future<Output = WebhookResponse> + Send + 'a>>;

/// One try: where it goes, its headers, and the stored bytes of the event.
#[derive(Clone, Debug)]
pub struct WebhookRequest {
    pub url: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: Arc<str>,
}

/// What came back. Sentences are shown to the customer and never repeat resolver internals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebhookResponse {
    /// The receiver answered, with the start of its body (at most 4 KiB, as text).
    Status { code: u16, body: String },
    /// Nobody answered in time or in a way that can be understood.
    Failed(String),
    /// The address may not be called.
    Refused(String),
}
