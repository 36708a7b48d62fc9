//! Reads the body of a sent mail at the service that sent it.

use std::time::Duration;

use jobs::{AppMailBody, AppMailReader, AppMailRequest, BoxFuture};
use node::vault::Vault;
use outbound::services::Service;
use reqwest::{Client, Response, StatusCode};
use serde_json::Value;
use tokio::time::timeout;
use transport::net::http_client::api_client;

use super::formats;
use super::purpose;

/// The timeout of one request.
const WITHIN: Duration = Duration::from_secs(30);
/// Bytes of a response that are read; no mail's text is longer.
const ANSWER_BYTES: usize = 4 * 1024 * 1024;

/// Asks services over their HTTP APIs.
pub struct HttpReader {
    client: Client,
    vault: Vault,
}

impl HttpReader {
    pub fn new(vault: Vault) -> Result<HttpReader, String> {
        Ok(HttpReader { client: api_client(WITHIN)?, vault })
    }

    async fn ask(&self, wanted: &AppMailRequest) -> AppMailBody {
        if !wanted.service.keeps_text() {
            let label = wanted.service.label();
            return AppMailBody::Never(format!("{label} does not keep the text of sent mail."));
        }
        let Ok(key) = self.vault.unseal(&purpose("key", &wanted.connection), &wanted.api_key)
        else {
            return AppMailBody::Later(
                "The API key cannot be opened: secret.key has changed.".into(),
            );
        };
        let url = format!("{}{}", wanted.api_url, formats::path_of(wanted.service, &wanted.mail));
        let request = self.client.get(url).header("accept", "application/json");
        let request = match wanted.service {
            Service::Resend => request.bearer_auth(key),
            Service::Postmark => request.header("x-postmark-server-token", key),
            Service::Mailgun => request.basic_auth("api", Some(key)),
            Service::SendGrid | Service::AmazonSes => request,
        };
        let Ok(response) = request.send().await else {
            return AppMailBody::Later("The service did not answer.".into());
        };
        match response.status() {
            StatusCode::OK => {}
            StatusCode::NOT_FOUND | StatusCode::GONE | StatusCode::UNPROCESSABLE_ENTITY => {
                return AppMailBody::Never("The service does not have the mail.".into());
            }
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                return AppMailBody::Later("The service does not accept the API key.".into());
            }
            status => {
                return AppMailBody::Later(format!("The service answered {}.", status.as_u16()));
            }
        }
        let Some(body) = body(response).await else {
            return AppMailBody::Later("The service's answer broke off or was too long.".into());
        };
        match serde_json::from_slice::<Value>(&body) {
            Ok(answer) => formats::words(wanted.service, &answer),
            Err(_) => AppMailBody::Later("The service's answer could not be understood.".into()),
        }
    }
}

impl AppMailReader for HttpReader {
    fn read<'a>(&'a self, wanted: &'a AppMailRequest) -> BoxFuture<'a, AppMailBody> {
        Box::pin(async move {
            let slow = || AppMailBody::Later("The service did not answer in time.".into());
            timeout(WITHIN, self.ask(wanted)).await.unwrap_or_else(|_| slow())
        })
    }
}

async fn body(mut response: Response) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        if body.len() + chunk.len() > ANSWER_BYTES {
            return None;
        }
        body.extend_from_slice(&chunk);
    }
    Some(body)
}
