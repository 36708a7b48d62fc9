//! The language model that drafts replies: the implementation of the port `jobs::ReplyModel`.

use std::path::PathBuf;
use std::time::Duration;

use jobs::{BoxFuture, ModelReply, ReplyModel};
use serde_json::Value;

use crate::net::chat_client::{ChatClient, content, read_key};
use crate::net::http_client::api_client;

/// The timeout of the whole response. A draft is not urgent, but its lease lasts a minute.
const ANSWER_TIME: Duration = Duration::from_secs(40);

/// The endpoint of the language model, as the settings have it.
#[derive(Clone, PartialEq, Eq)]
pub struct ModelEndpoint {
    /// Without a slash at the end.
    pub url: String,
    pub key_file: Option<PathBuf>,
    pub model: String,
}

base::debug_without_secrets!(ModelEndpoint { model });

impl ModelEndpoint {
    /// The host that requests go to.
    pub fn host(&self) -> String {
        let host =
            url::Url::parse(&self.url).ok().and_then(|url| url.host_str().map(str::to_owned));
        host.unwrap_or_else(|| self.url.clone())
    }
}

/// A model behind an OpenAI-compatible endpoint. It leads nowhere else: redirects are not followed.
pub struct HttpReplyModel {
    chat: ChatClient,
    model: String,
}

impl HttpReplyModel {
    /// Reads the key file; one that cannot be read refuses the start.
    pub fn open(endpoint: &ModelEndpoint) -> Result<HttpReplyModel, String> {
        let key = read_key("model_key_file", endpoint.key_file.as_deref())?;
        let client = api_client(ANSWER_TIME).map_err(|error| format!("model_url: {error}"))?;
        let chat = ChatClient::new(client, &endpoint.url, key);
        Ok(HttpReplyModel { chat, model: endpoint.model.clone() })
    }
}

impl ReplyModel for HttpReplyModel {
    fn name(&self) -> &str {
        &self.model
    }

    fn ask<'a>(&'a self, request: &'a Value) -> BoxFuture<'a, Result<ModelReply, String>> {
        Box::pin(async move {
            let answer = self.chat.ask(request).await?;
            let content = content(&answer).ok_or("response does not match the schema")?;
            let tokens = answer["usage"]["total_tokens"].as_i64().unwrap_or(0);
            Ok(ModelReply { content: content.to_owned(), tokens })
        })
    }
}
