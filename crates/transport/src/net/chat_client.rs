//! Calls of an OpenAI-compatible endpoint: one JSON request, one bounded JSON answer.

use std::fs;
use std::path::Path;

use reqwest::Client;
use serde_json::Value;

/// Bytes of an answer.
const ANSWER_BYTES: usize = 256 * 1024;

/// An endpoint and how it is reached.
#[derive(Clone)]
pub struct ChatClient {
    client: Client,
    /// Without a slash at the end.
    url: String,
    key: Option<String>,
}

impl ChatClient {
    pub fn new(client: Client, url: &str, key: Option<String>) -> ChatClient {
        ChatClient { client, url: url.to_owned(), key }
    }

    /// Sends a request for a chat completion. Errors quote neither the address nor the answer.
    pub async fn ask(&self, request: &Value) -> Result<Value, String> {
        let mut post = self
            .client
            .post(format!("{}/chat/completions", self.url))
            .header("content-type", "application/json")
            .body(request.to_string());
        if let Some(key) = &self.key {
            post = post.bearer_auth(key);
        }
        let mut response = post.send().await.map_err(|error| cause(&error))?;
        if !response.status().is_success() {
            return Err(format!("status {}", response.status().as_u16()));
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| cause(&error))? {
            body.extend_from_slice(&chunk);
            if body.len() > ANSWER_BYTES {
                return Err("response too large".into());
            }
        }
        serde_json::from_slice(&body).map_err(|_| "response is not JSON".into())
    }
}

/// The content of the first choice of a completion.
pub fn content(answer: &Value) -> Option<&str> {
    answer["choices"][0]["message"]["content"].as_str()
}

/// The key that a file holds; one that cannot be read refuses the start.
pub fn read_key(setting: &str, file: Option<&Path>) -> Result<Option<String>, String> {
    let Some(file) = file else { return Ok(None) };
    let shown = file.display();
    let key = fs::read_to_string(file).map_err(|error| format!("{setting}: {shown}: {error}"))?;
    Ok(Some(key.trim().to_owned()))
}

/// Why a call failed, without the URL and the response text.
fn cause(error: &reqwest::Error) -> String {
    let cause = if error.is_timeout() {
        "timeout"
    } else if error.is_connect() {
        "connection failed"
    } else {
        "connection closed"
    };
    cause.into()
}
