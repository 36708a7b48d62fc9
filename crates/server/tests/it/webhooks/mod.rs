//! The courier against real sockets and real TLS. Where names lead is scripted, and 127.0.0.1
//! stands for the public internet: 127.0.0.2 is what a private address would be.

mod adding;
mod addresses;
mod answers;
mod certificates;
mod client_documents;
mod dns;
mod pages;
mod patience;
mod proxy;
pub mod receiver;
mod reuse;

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base::concurrency::future::BoxFuture;
use jobs::{WebhookRequest, WebhookResponse, WebhookSender};
use transport::webhooks::{
    HttpWebhookSender, NotFound, ResolvedAddresses, Resolver, SsrfGuard, SsrfRules,
};

use receiver::Authority;

/// The name that the receivers' certificate is for.
const NAME: &str = "hooks.example.com";
const OUTSIDE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const INSIDE: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
/// Long enough for a slow machine; what is expected to run out uses `SHORT`.
const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(300);

/// A resolver that gives the answers it was told, in their order, and then the last one forever.
struct Script {
    answers: Mutex<VecDeque<ResolvedAddresses>>,
    asked: Mutex<Vec<String>>,
}

impl Script {
    fn new(answers: impl IntoIterator<Item = ResolvedAddresses>) -> Arc<Script> {
        let answers = Mutex::new(answers.into_iter().collect());
        Arc::new(Script { answers, asked: Mutex::default() })
    }

    fn always(addresses: &[IpAddr]) -> Arc<Script> {
        Script::new([Ok(addresses.to_vec())])
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Resolver for Script {
    fn look_up<'a>(&'a self, name: &'a str) -> BoxFuture<'a, ResolvedAddresses> {
        self.asked.lock().unwrap().push(name.to_owned());
        let mut answers = self.answers.lock().unwrap();
        let next = match answers.len() {
            0 => Err(NotFound),
            1 => answers[0].clone(),
            _ => answers.pop_front().unwrap(),
        };
        Box::pin(async move { next })
    }
}

/// The rules of production, but for the address that stands for the public internet.
fn rules() -> SsrfRules {
    SsrfRules { is_public: |ip| ip == OUTSIDE, ..SsrfRules::new(false) }
}

fn webhook_sender(
    resolver: Arc<dyn Resolver>,
    authority: &Authority,
    deadline: Duration,
) -> HttpWebhookSender {
    HttpWebhookSender::new(SsrfGuard::new(resolver, rules()), authority.roots(), deadline).unwrap()
}

/// A courier for whom every name leads to 127.0.0.1.
fn courier_outside(authority: &Authority, deadline: Duration) -> HttpWebhookSender {
    webhook_sender(Script::always(&[OUTSIDE]), authority, deadline)
}

fn call(url: impl Into<String>) -> WebhookRequest {
    WebhookRequest { url: url.into(), headers: Vec::new(), body: r#"{"id":"evt_1"}"#.into() }
}

/// Posts an event. Whatever comes of it, the customer is not told what the name led to.
async fn post(webhook_sender: &HttpWebhookSender, url: impl Into<String>) -> WebhookResponse {
    let answer = webhook_sender.post(&call(url)).await;
    if let WebhookResponse::Failed(sentence) | WebhookResponse::Refused(sentence) = &answer {
        assert!(!sentence.contains("127.0.0."), "{sentence}");
    }
    answer
}

fn status(code: u16, body: &str) -> WebhookResponse {
    WebhookResponse::Status { code, body: body.into() }
}

fn failed(sentence: &str) -> WebhookResponse {
    WebhookResponse::Failed(sentence.into())
}
