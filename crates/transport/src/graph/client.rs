//! The calls of Microsoft Graph that a mailbox is read and sent from by. Each carries an access token, so
//! it goes to the operator's address of Graph and nowhere else, whatever a response names.

use std::collections::BTreeSet;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use inbound::imap::GraphFolder;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use reqwest::{Client, RequestBuilder, Response};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::time::sleep;
use url::Url;

use super::delta::DeltaPage;
use super::fault::GraphFault;
use crate::net::http_client::api_client;

/// One deadline for name, connection and response, and that of a mail.
const WITHIN: Duration = Duration::from_secs(60);
pub(super) const MAIL_WITHIN: Duration = Duration::from_secs(10 * 60);
/// The largest page that is read, in bytes, and the largest error.
const PAGE_BYTES: usize = 8 * 1024 * 1024;
const ERROR_BYTES: usize = 64 * 1024;
/// Mails on one page.
const PAGE_MAILS: &str = "odata.maxpagesize=100";
/// Ids that stay the same when a mail is moved.
pub(super) const STABLE_IDS: &str = r#"IdType="ImmutableId""#;

/// Microsoft Graph at one address.
#[derive(Clone)]
pub struct GraphClient {
    pub(super) http: Client,
    base: Url,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FolderBody {
    total_item_count: u32,
}

#[derive(Deserialize)]
struct FoundMails<T> {
    value: Vec<T>,
}

#[derive(Deserialize)]
struct FoundDraft {
    id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FoundMail {
    #[serde(default)]
    to_recipients: Vec<FoundRecipient>,
    #[serde(default)]
    cc_recipients: Vec<FoundRecipient>,
    #[serde(default)]
    bcc_recipients: Vec<FoundRecipient>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FoundRecipient {
    email_address: FoundAddress,
}

#[derive(Deserialize)]
struct FoundAddress {
    #[serde(default)]
    address: String,
}

impl GraphClient {
    /// How often a request is made that is throttled.
    pub const TRIES: usize = 4;

    /// Graph at an address such as `https://graph.microsoft.com/v1.0`.
    pub fn new(base: Url) -> Result<GraphClient, String> {
        Ok(GraphClient { http: api_client(WITHIN)?, base })
    }

    /// A page of what is in a folder: its first one, or the one that a link leads to.
    pub async fn list(
        &self,
        token: &str,
        mailbox: &str,
        folder: GraphFolder,
        link: Option<&str>,
    ) -> Result<DeltaPage, GraphFault> {
        let url = match link {
            Some(link) => self.own_link(link)?,
            None => {
                let mut url = self.url(&[
                    "users",
                    mailbox,
                    "mailFolders",
                    folder.as_str(),
                    "messages",
                    "delta",
                ])?;
                url.set_query(Some(
                    "$select=id,receivedDateTime,internetMessageId&changeType=created",
                ));
                url
            }
        };
        let request = || {
            let request = self.http.get(url.clone()).header("Prefer", STABLE_IDS);
            request.header("Prefer", PAGE_MAILS)
        };
        let body = self.json(token, request).await?;
        DeltaPage::parse(&body).ok_or(GraphFault::Unclear)
    }

    /// A mail as it came; `None` when it is gone. Where too many were asked for, the caller waits.
    pub async fn mail(
        &self,
        token: &str,
        mailbox: &str,
        id: &str,
        most_bytes: usize,
    ) -> Result<Option<Vec<u8>>, GraphFault> {
        let url = self.url(&["users", mailbox, "messages", id, "$value"])?;
        let request = self.http.get(url).header("Prefer", STABLE_IDS).timeout(MAIL_WITHIN);
        let response = with_token(request, token).send().await?;
        match ok_or_fault(response).await {
            Ok(response) => body_of(response, most_bytes).await.map(Some),
            Err(GraphFault::ItemGone) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// The number of mails in the inbox of a mailbox.
    pub async fn count(&self, token: &str, mailbox: &str) -> Result<u32, GraphFault> {
        let mut url = self.url(&["users", mailbox, "mailFolders", GraphFolder::Inbox.as_str()])?;
        url.set_query(Some("$select=totalItemCount"));
        let body = self.json(token, || self.http.get(url.clone())).await?;
        let folder: FolderBody = serde_json::from_slice(&body).map_err(|_| GraphFault::Unclear)?;
        Ok(folder.total_item_count)
    }

    /// Whom the mail with this Message-ID was sent to, as the folder of sent mail knows it, in lower case.
    pub async fn sent_to(
        &self,
        token: &str,
        mailbox: &str,
        message_id: &str,
    ) -> Result<BTreeSet<String>, GraphFault> {
        let fields = "toRecipients,ccRecipients,bccRecipients";
        let sent = GraphFolder::Sent.as_str();
        let found: Vec<FoundMail> =
            self.find_mails(token, mailbox, sent, message_id, fields).await?;
        let everyone = found.into_iter().flat_map(|mail| {
            mail.to_recipients.into_iter().chain(mail.cc_recipients).chain(mail.bcc_recipients)
        });
        Ok(everyone.map(|one| one.email_address.address.to_ascii_lowercase()).collect())
    }

    /// The ids of the drafts with this Message-ID.
    pub async fn find_drafts(
        &self,
        token: &str,
        mailbox: &str,
        message_id: &str,
    ) -> Result<Vec<String>, GraphFault> {
        let found: Vec<FoundDraft> =
            self.find_mails(token, mailbox, "drafts", message_id, "id").await?;
        Ok(found.into_iter().map(|draft| draft.id).collect())
    }

    async fn find_mails<T: DeserializeOwned>(
        &self,
        token: &str,
        mailbox: &str,
        folder: &str,
        message_id: &str,
        fields: &str,
    ) -> Result<Vec<T>, GraphFault> {
        let mut url = self.url(&["users", mailbox, "mailFolders", folder, "messages"])?;
        let filter = format!("internetMessageId eq '<{}>'", message_id.replace('\'', "''"));
        let filter = utf8_percent_encode(&filter, NON_ALPHANUMERIC);
        url.set_query(Some(&format!("$filter={filter}&$select={fields}")));
        let request = || self.http.get(url.clone()).header("Prefer", STABLE_IDS);
        let body = self.json(token, request).await?;
        let found: FoundMails<T> =
            serde_json::from_slice(&body).map_err(|_| GraphFault::Unclear)?;
        Ok(found.value)
    }

    /// Sends a mail to everybody whom its header names; Graph keeps a copy in the folder of sent mail.
    pub async fn send(&self, token: &str, mailbox: &str, mail: &[u8]) -> Result<(), GraphFault> {
        let url = self.url(&["users", mailbox, "sendMail"])?;
        let encoded = STANDARD.encode(mail);
        let request = || {
            let request = self.http.post(url.clone()).header(CONTENT_TYPE, "text/plain");
            request.timeout(MAIL_WITHIN).body(encoded.clone())
        };
        let response = self.call(token, request).await?;
        ok_or_fault(response).await.map(drop)
    }

    pub(super) async fn json(
        &self,
        token: &str,
        request: impl Fn() -> RequestBuilder,
    ) -> Result<Vec<u8>, GraphFault> {
        let request = || request().header(ACCEPT, "application/json");
        let response = self.call(token, request).await?;
        body_of(ok_or_fault(response).await?, PAGE_BYTES).await
    }

    /// Makes a request, and again after a while where there were too many.
    pub(super) async fn call(
        &self,
        token: &str,
        request: impl Fn() -> RequestBuilder,
    ) -> Result<Response, GraphFault> {
        for _ in 0..Self::TRIES {
            let response = with_token(request(), token).send().await?;
            if response.status().as_u16() != 429 {
                return Ok(response);
            }
            let fault = fault_of(response).await;
            match fault.short_wait() {
                Some(wait) => sleep(wait).await,
                None => return Err(fault),
            }
        }
        Err(GraphFault::Throttled)
    }

    /// The address of something below Graph's.
    pub(super) fn url(&self, path: &[&str]) -> Result<Url, GraphFault> {
        let mut url = self.base.clone();
        url.path_segments_mut().map_err(|()| GraphFault::Unclear)?.pop_if_empty().extend(path);
        Ok(url)
    }

    /// A link that leads to Graph itself: no other server gets the token.
    fn own_link(&self, link: &str) -> Result<Url, GraphFault> {
        let url = Url::parse(link).map_err(|_| GraphFault::ForeignLink)?;
        if url.origin() == self.base.origin() { Ok(url) } else { Err(GraphFault::ForeignLink) }
    }
}

fn with_token(request: RequestBuilder, token: &str) -> RequestBuilder {
    request.header(AUTHORIZATION, format!("Bearer {token}"))
}

fn wait_of(response: &Response) -> Option<Duration> {
    let said = response.headers().get(RETRY_AFTER)?.to_str().ok()?;
    said.trim().parse().ok().map(Duration::from_secs)
}

pub(super) async fn ok_or_fault(response: Response) -> Result<Response, GraphFault> {
    if response.status().is_success() { Ok(response) } else { Err(fault_of(response).await) }
}

async fn fault_of(response: Response) -> GraphFault {
    let (status, wait) = (response.status().as_u16(), wait_of(&response));
    let body = body_of(response, ERROR_BYTES).await.unwrap_or_default();
    GraphFault::of_response(status, wait, &body)
}

pub(super) async fn body_of(
    mut response: Response,
    most_bytes: usize,
) -> Result<Vec<u8>, GraphFault> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > most_bytes {
            return Err(GraphFault::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_goes_to_graph_itself_and_nowhere_else() {
        let base = Url::parse("https://graph.example/v1.0").unwrap();
        let client = GraphClient::new(base).unwrap();
        assert!(client.own_link("https://graph.example/v1.0/users/a/delta?$deltatoken=1").is_ok());
        for bad in [
            "https://evil.example/v1.0",
            "http://graph.example/v1.0",
            "https://graph.example:8/",
            "x",
        ] {
            assert_eq!(client.own_link(bad), Err(GraphFault::ForeignLink), "{bad}");
        }
        let url = client.url(&["users", "a/../b@x.example", "messages", "A=", "$value"]).unwrap();
        assert_eq!(
            url.as_str(),
            "https://graph.example/v1.0/users/a%2F..%2Fb@x.example/messages/A=/$value"
        );
    }
}
