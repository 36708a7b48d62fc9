//! The port through which a language model is asked for a draft.

use base::concurrency::future::BoxFuture;
use serde_json::Value;

/// A language model behind an endpoint that understands chat completions.
pub trait ReplyModel: Send + Sync {
    /// The name that requests ask for.
    fn name(&self) -> &str;

    /// Sends a request, once. The error is for the log and the settings: it quotes nothing.
    fn ask<'a>(&'a self, request: &'a Value) -> BoxFuture<'a, Result<ModelReply, String>>;
}

/// What a model answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelReply {
    pub content: String,
    /// What the call cost, in the units that models count; 0 where it does not say.
    pub tokens: i64,
}
