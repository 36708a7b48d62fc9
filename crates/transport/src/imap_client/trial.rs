//! Tests an account before it is set up.

use std::time::Duration;

use inbound::imap::{FetchFailure, ImapServer, PostFetchAction};

use super::connection::ImapCredential;
use super::dialer::Dialer;
use super::failures::{ImapFault, ImapTimeouts};
use super::folder::Folder;

/// A trial has somebody waiting: it gives up sooner than fetching does.
const TRIAL: ImapTimeouts = ImapTimeouts {
    connecting: Duration::from_secs(10),
    answering: Duration::from_secs(15),
    downloading: Duration::from_secs(15),
};

/// The number of mails in the folder, or why it cannot be read.
pub async fn try_out(
    server: &ImapServer,
    credential: ImapCredential<'_>,
    after: &PostFetchAction,
    dialer: &Dialer,
) -> Result<u32, FetchFailure> {
    let tried = async {
        let line = dialer.dial(server, &TRIAL).await?;
        let folder = Folder::open(line, server, credential, after, TRIAL).await?;
        let mails = folder.mails;
        folder.close().await;
        Ok(mails)
    };
    tried.await.map_err(|fault: ImapFault| fault.trouble(server))
}
