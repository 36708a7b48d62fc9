//! Events on a laptop: prints them as they happen, and takes them, signed, to a local address.

use std::time::Duration;

use base::ids::{EventId, Ids};
use base::time::{Clock, SystemClock};
use clap::Args;
use model::webhooks::webhook_signing;
use reqwest::header::{CONTENT_TYPE, LINK};
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};
use transport::net::http_client::own_client;
use url::Url;

use super::command::say_line;
use crate::api::rest::PREFIX;
use crate::settings::Settings;

/// The wait between two looks; a key has 120 requests a minute.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The wait after a look that failed.
const PATIENCE: Duration = Duration::from_secs(5);
/// Mailroom and the local address have this long to answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// Characters that tell one simulated customer from another.
const CUSTOMER_CHARS: usize = 10;

#[derive(Args)]
pub struct Listen {
    /// The key whose events are shown: live or test
    #[arg(long, env = "MAILROOM_KEY", hide_env_values = true)]
    key: String,
    /// Take each event to this address too, signed as a webhook
    #[arg(long, value_name = "URL")]
    forward_to: Option<Url>,
    /// The secret to sign with [default: a new one, printed at the start]
    #[arg(long, env = "MAILROOM_SECRET", hide_env_values = true)]
    secret: Option<String>,
    /// Show the headers that sign each event
    #[arg(long)]
    headers: bool,
    /// With a test key: let a simulated customer write, answer them, show the signed events until
    /// they have written back, and stop
    #[arg(long)]
    try_sandbox: bool,
    /// Where Mailroom is served [default: the public URL or the listen address]
    #[arg(long, value_name = "URL")]
    server: Option<Url>,
}

impl Listen {
    pub async fn run(self, settings: &Settings) -> Result<(), String> {
        let client = own_client(ANSWER_WITHIN)?;
        let listen = || format!("http://{}", settings.listen);
        let server = match &self.server {
            Some(server) => server.as_str().trim_end_matches('/').to_owned(),
            None => settings.public_url.clone().unwrap_or_else(listen),
        };
        let secret = self.secret.clone();
        let secret = secret.unwrap_or_else(|| webhook_signing::new_secret(&Ids::random()));
        let mut poller =
            EventPoller { client, server, key: self.key.clone(), next: "start=now".into() };
        poller.look().await?;
        let mut sandbox = if self.try_sandbox { Some(poller.try_sandbox().await?) } else { None };
        if self.forward_to.is_some() || self.headers || self.try_sandbox {
            eprintln!("Events are signed with {secret}");
        }
        eprintln!("Listening. Stop with Ctrl-C.");
        loop {
            let events = match poller.look().await {
                Ok(events) => events,
                Err(sentence) => {
                    eprintln!("mailroom: {sentence}");
                    tokio::time::sleep(PATIENCE).await;
                    continue;
                }
            };
            for event in &events {
                say_line!("{}", self.forward(&poller.client, &secret, event).await);
                if sandbox.as_mut().is_some_and(|sandbox| sandbox.ends_with(event)) {
                    return Ok(());
                }
            }
            if events.is_empty() {
                tokio::time::sleep(LOOK_EVERY).await;
            }
        }
    }

    /// Forwards an event; returns the text to print.
    async fn forward(&self, client: &Client, secret: &str, event: &Value) -> String {
        let body = event.to_string();
        let id = event["id"].as_str().and_then(EventId::parse);
        let Some(id) = id else { return format!("not an event: {body}") };
        let headers = webhook_signing::headers(&id, SystemClock.now(), &body, &[secret.to_owned()]);
        let shown: String = if self.headers || self.try_sandbox {
            headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect()
        } else {
            String::new()
        };
        let outcome = match &self.forward_to {
            Some(url) => format!("\n-> {}", forward(client, url, headers, body.clone()).await),
            None => String::new(),
        };
        let gap = if shown.is_empty() { "" } else { "\n" };
        format!("{shown}{gap}{body}{outcome}{gap}")
    }
}

/// The conversation with the simulated customer, as seen by its events.
struct SandboxRun {
    conversation: String,
    answered: bool,
}

impl SandboxRun {
    /// True for the event of the customer's reply to our message.
    fn ends_with(&mut self, event: &Value) -> bool {
        if event["data"]["conversation_id"] != self.conversation.as_str() {
            return false;
        }
        self.answered |= event["type"] == "message.sent";
        self.answered && event["type"] == "client.replied"
    }
}

/// Polls the events API, with a cursor.
struct EventPoller {
    client: Client,
    server: String,
    key: String,
    /// The query of the next poll.
    next: String,
}

impl EventPoller {
    /// The events since the last poll.
    async fn look(&mut self) -> Result<Vec<Value>, String> {
        let url = format!("{}{PREFIX}/events?limit=100&{}", self.server, self.next);
        let (link, body) = self.ask(self.client.get(url)).await?;
        if let Some(cursor) = link.split(['?', '&', '>']).find(|part| part.starts_with("cursor=")) {
            self.next = cursor.to_owned();
        }
        Ok(body.as_array().cloned().unwrap_or_default())
    }

    /// A customer at `reply+…@` writes, and is answered; five seconds later they write back. Each
    /// time it is another customer, so that their mail begins a conversation of its own.
    async fn try_sandbox(&self) -> Result<SandboxRun, String> {
        let url = format!("{}{PREFIX}/sandbox/inbound", self.server);
        let mail = json!({
            "from": format!("reply+{}@customer.test", Ids::random().token(CUSTOMER_CHARS)),
            "name": "Mara Lind",
            "subject": "Brass desk lamp",
            "text": "Is the brass desk lamp in stock?",
        });
        let (_, made) = self.ask(self.client.post(url).body(mail.to_string())).await?;
        let id = made["conversationId"].as_str().unwrap_or_default();
        let url = format!("{}{PREFIX}/conversations/{id}/replies", self.server);
        let reply = json!({ "body": "Yes, it is.", "send": true });
        self.ask(self.client.post(url).body(reply.to_string())).await?;
        Ok(SandboxRun { conversation: id.to_owned(), answered: false })
    }

    /// The Link header and the body of a response, or the error's sentence.
    async fn ask(&self, request: RequestBuilder) -> Result<(String, Value), String> {
        let request = request.bearer_auth(&self.key).header(CONTENT_TYPE, "application/json");
        let server = &self.server;
        let unreachable = |error: reqwest::Error| {
            let reason = error.without_url();
            format!("{server} cannot be reached ({reason}). Name another address with --server.")
        };
        let answer = request.send().await.map_err(unreachable)?;
        let status = answer.status();
        let link = answer.headers().get(LINK).and_then(|link| link.to_str().ok());
        let link = link.unwrap_or_default().to_owned();
        let body = answer.bytes().await.map_err(unreachable)?;
        let body: Value = serde_json::from_slice(&body)
            .map_err(|_| format!("{server} is no Mailroom. Name its address with --server."))?;
        if status.is_success() {
            Ok((link, body))
        } else {
            Err(body["error"].as_str().unwrap_or("The answer was an error.").to_owned())
        }
    }
}

/// Sends an event as a webhook call; returns the outcome in a few words.
async fn forward(
    client: &Client,
    url: &Url,
    headers: Vec<(&'static str, String)>,
    body: String,
) -> String {
    let mut request = client.post(url.clone()).body(body);
    for (name, value) in headers {
        request = request.header(name, value);
    }
    match request.send().await {
        Ok(answer) => answer.status().as_u16().to_string(),
        Err(error) => error.without_url().to_string(),
    }
}
