//! Posts messages to the push services of browsers, by the same guard and within the same deadline as events.

use jobs::{BoxFuture, PushRequest, PushResponse, PushSender, WebhookResponse};
use reqwest::header::RETRY_AFTER;
use tokio::time::Instant;

use super::{HttpWebhookSender, headers};

impl PushSender for HttpWebhookSender {
    fn push<'a>(&'a self, request: &'a PushRequest) -> BoxFuture<'a, PushResponse> {
        Box::pin(async move {
            let until = Instant::now() + self.deadline;
            let headers = match headers(&request.headers) {
                Ok(headers) => headers,
                Err(answer) => return without_response(answer),
            };
            match self.send(&request.endpoint, headers, request.body.clone(), until).await {
                Ok(response) => {
                    let wait = response.headers().get(RETRY_AFTER).and_then(|it| it.to_str().ok());
                    PushResponse::Status {
                        code: response.status().as_u16(),
                        retry_after: wait.and_then(|seconds| seconds.trim().parse().ok()),
                    }
                }
                Err(answer) => without_response(answer),
            }
        })
    }
}

fn without_response(answer: WebhookResponse) -> PushResponse {
    match answer {
        WebhookResponse::Refused(sentence) => PushResponse::Refused(sentence),
        WebhookResponse::Failed(sentence) => PushResponse::Failed(sentence),
        WebhookResponse::Status { code, .. } => PushResponse::Status { code, retry_after: None },
    }
}
