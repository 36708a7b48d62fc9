//! The port through which messages are posted to push services.

use base::concurrency::future::BoxFuture;

/// Posts one message to the push service of a browser.
pub trait PushSender: Send + Sync {
    fn push<'a>(&'a self, request: &'a PushRequest) -> BoxFuture<'a, PushResponse>;
}

/// One attempt: the browser's address, the headers and the encrypted message.
#[derive(Clone)]
pub struct PushRequest {
    pub endpoint: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
}

base::debug_without_secrets!(PushRequest {});

/// The response. Sentences are for the log and name no address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PushResponse {
    /// The push service responded, perhaps with how long to wait, in seconds.
    Status { code: u16, retry_after: Option<i64> },
    /// No valid HTTP response before the timeout.
    Failed(String),
    /// The address may not be called.
    Refused(String),
}
