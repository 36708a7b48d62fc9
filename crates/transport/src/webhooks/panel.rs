//! Asks the app of a workspace's owner about a customer, by the same guard as webhooks.

use base::panel_answers::{PanelCall, PanelCaller, PanelReply};
use jobs::{BoxFuture, WebhookResponse};
use reqwest::Response;
use tokio::time::{Instant, timeout_at};

use super::{HttpWebhookSender, headers};
use crate::net::failures;

impl PanelCaller for HttpWebhookSender {
    fn post<'a>(&'a self, call: &'a PanelCall) -> BoxFuture<'a, PanelReply> {
        Box::pin(async move {
            let until = Instant::now() + call.within;
            let headers = match headers(&call.headers) {
                Ok(headers) => headers,
                Err(answer) => return without_answer(answer),
            };
            match self.send(&call.url, headers, call.body.as_bytes().to_vec(), until).await {
                Ok(response) => read(response, call, until).await,
                Err(_) if Instant::now() >= until => {
                    PanelReply::Failed(failures::too_slow(call.within))
                }
                Err(answer) => without_answer(answer),
            }
        })
    }
}

/// The whole answer, or nothing where it does not end in time.
async fn read(mut response: Response, call: &PanelCall, until: Instant) -> PanelReply {
    let code = response.status().as_u16();
    let mut body = Vec::new();
    loop {
        match timeout_at(until, response.chunk()).await {
            Ok(Ok(Some(chunk))) if Instant::now() < until => {
                let room = call.most_bytes - body.len();
                body.extend_from_slice(&chunk[..chunk.len().min(room)]);
                if chunk.len() > room {
                    return PanelReply::Answer { code, body, is_whole: false };
                }
            }
            Ok(Ok(None)) => return PanelReply::Answer { code, body, is_whole: true },
            Ok(Err(_)) => {
                return PanelReply::Failed("The connection broke before the answer ended.".into());
            }
            _ => return PanelReply::Failed(failures::too_slow(call.within)),
        }
    }
}

fn without_answer(answer: WebhookResponse) -> PanelReply {
    match answer {
        WebhookResponse::Refused(sentence) | WebhookResponse::Failed(sentence) => {
            PanelReply::Failed(sentence)
        }
        WebhookResponse::Status { code, .. } => {
            PanelReply::Failed(format!("The app answered with status {code}."))
        }
    }
}
