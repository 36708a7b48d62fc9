//! What a mail that is too large for one request is sent by: its words become a draft, each file is
//! attached to it, the large ones in pieces, and the draft is sent.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{CONTENT_RANGE, CONTENT_TYPE};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::client::{GraphClient, MAIL_WITHIN, STABLE_IDS, body_of, ok_or_fault};
use super::fault::GraphFault;
use crate::net::token_address::token_address;

/// Files from this size on are uploaded in pieces.
const SMALL_FILE_BYTES: usize = 3_000_000;
/// A piece of an upload: less than 4 MB, and a multiple of 320 KiB as Graph asks for.
const PIECE_BYTES: usize = 10 * 320 * 1024;
const PIECE_WITHIN: Duration = Duration::from_secs(5 * 60);
/// How often a draft is sent that the server is busy with, and how long is waited in between.
const SENDING_TRIES: usize = 4;
const BETWEEN_TRIES: Duration = Duration::from_secs(1);
/// The largest response, in bytes.
const RESPONSE_BYTES: usize = 1024 * 1024;

/// A file of a mail.
pub struct GraphFile {
    pub name: String,
    pub content_type: String,
    pub bytes: Vec<u8>,
}

#[derive(Deserialize)]
struct DraftBody {
    id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UploadBody {
    upload_url: String,
}

impl GraphClient {
    /// Puts a mail into the folder of drafts; its id.
    pub async fn create_draft(
        &self,
        token: &str,
        mailbox: &str,
        mail: &[u8],
    ) -> Result<String, GraphFault> {
        let url = self.url(&["users", mailbox, "messages"])?;
        let encoded = STANDARD.encode(mail);
        let request = || {
            let request = self.http.post(url.clone()).header(CONTENT_TYPE, "text/plain");
            request.header("Prefer", STABLE_IDS).timeout(MAIL_WITHIN).body(encoded.clone())
        };
        let draft: DraftBody = read(&self.json(token, request).await?)?;
        Ok(draft.id)
    }

    /// Attaches a file to a draft.
    pub async fn attach(
        &self,
        token: &str,
        mailbox: &str,
        id: &str,
        file: &GraphFile,
    ) -> Result<(), GraphFault> {
        let path = ["users", mailbox, "messages", id, "attachments"];
        if file.bytes.len() < SMALL_FILE_BYTES {
            let body = json!({
                "@odata.type": "#microsoft.graph.fileAttachment",
                "name": file.name,
                "contentType": file.content_type,
                "contentBytes": STANDARD.encode(&file.bytes),
            });
            return self.post_json(token, &path, &body).await.map(drop);
        }
        let body = json!({ "AttachmentItem": {
            "attachmentType": "file",
            "name": file.name,
            "contentType": file.content_type,
            "size": file.bytes.len(),
        } });
        let path = [&path[..], &["createUploadSession"]].concat();
        let session: UploadBody = read(&self.post_json(token, &path, &body).await?)?;
        self.upload(&session.upload_url, &file.bytes).await
    }

    /// Uploads a file in pieces to the address that Graph gave for it. The address is the key to it, so
    /// no token goes there.
    async fn upload(&self, address: &str, bytes: &[u8]) -> Result<(), GraphFault> {
        let url = token_address(address).map_err(|_| GraphFault::Unclear)?;
        for (number, piece) in bytes.chunks(PIECE_BYTES).enumerate() {
            let from = number * PIECE_BYTES;
            let range = format!("bytes {from}-{}/{}", from + piece.len() - 1, bytes.len());
            let request = self.http.put(url.clone()).header(CONTENT_RANGE, range);
            let request = request.header(CONTENT_TYPE, "application/octet-stream");
            let response = request.timeout(PIECE_WITHIN).body(piece.to_vec()).send().await?;
            ok_or_fault(response).await?;
        }
        Ok(())
    }

    /// Sends a draft. One that the server is still busy with is sent a little later.
    pub async fn send_draft(&self, token: &str, mailbox: &str, id: &str) -> Result<(), GraphFault> {
        let url = self.url(&["users", mailbox, "messages", id, "send"])?;
        let mut left = SENDING_TRIES;
        loop {
            left -= 1;
            let response = self.call(token, || self.http.post(url.clone()).body("")).await?;
            match ok_or_fault(response).await {
                Err(GraphFault::Busy(409 | 412)) if left > 0 => sleep(BETWEEN_TRIES).await,
                sent => return sent.map(drop),
            }
        }
    }

    /// Removes a draft, if it is still there.
    pub async fn remove_draft(
        &self,
        token: &str,
        mailbox: &str,
        id: &str,
    ) -> Result<(), GraphFault> {
        let url = self.url(&["users", mailbox, "messages", id])?;
        let response = self.call(token, || self.http.delete(url.clone())).await?;
        match ok_or_fault(response).await {
            Ok(_) | Err(GraphFault::ItemGone | GraphFault::NotFound(_)) => Ok(()),
            Err(fault) => Err(fault),
        }
    }

    async fn post_json(
        &self,
        token: &str,
        path: &[&str],
        body: &Value,
    ) -> Result<Vec<u8>, GraphFault> {
        let (url, body) = (self.url(path)?, body.to_string());
        let request = || {
            let request = self.http.post(url.clone()).header(CONTENT_TYPE, "application/json");
            request.timeout(PIECE_WITHIN).body(body.clone())
        };
        let response = self.call(token, request).await?;
        body_of(ok_or_fault(response).await?, RESPONSE_BYTES).await
    }
}

fn read<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, GraphFault> {
    serde_json::from_slice(body).map_err(|_| GraphFault::Unclear)
}
