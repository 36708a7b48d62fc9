//! The mail of an IMAP account: its inbox and its folder of sent mail, or the folders that are named.

use std::time::Duration;

use inbound::imap::{ImapServer, PostFetchAction};
use transport::imap_client::{Dialer, Folder, ImapCredential, ImapFault, ImapTimeouts};
use transport::net::host_guard::HostGuard;
use transport::net::http_client::system_roots;

use super::listing::{ListedMail, MailLocation};
use crate::cli::imap::server;
use crate::serve::net_config;
use crate::settings::Settings;

/// How long the server may take; a whole account is read, so it has time.
const TIMEOUTS: ImapTimeouts = ImapTimeouts {
    connecting: Duration::from_secs(20),
    answering: Duration::from_secs(120),
    downloading: Duration::from_secs(300),
};
/// Mails whose dates are asked for at once.
const OUTLINES: usize = 500;

/// An account with its folders open, each on a connection of its own.
pub struct ImapHistory {
    server: ImapServer,
    folders: Vec<Folder>,
    source: AccountSource,
}

/// What an account is opened with, again after a lost connection.
struct AccountSource {
    settings: Settings,
    source: String,
    password: String,
    names: Vec<String>,
}

impl ImapHistory {
    pub async fn open(
        settings: &Settings,
        source: &str,
        password: &str,
        names: &[String],
    ) -> Result<ImapHistory, String> {
        let (host, port, security, username) = server(source)?;
        let inbox = ImapServer {
            host,
            port,
            security,
            username,
            folder: names.first().map_or("INBOX", String::as_str).to_owned(),
            by_operator: true,
        };
        let dialer = Dialer::new(system_roots(), HostGuard::of(&net_config(settings))?)?;
        let told = |fault: ImapFault| fault.trouble(&inbox).sentence;
        let mut first = open(&dialer, &inbox, password).await.map_err(told)?;
        let mut folders = Vec::new();
        if names.is_empty() {
            if let Some(sent) = first.find_sent().await.map_err(told)? {
                let mut folder = open(&dialer, &inbox, password).await.map_err(told)?;
                folder.select_named(&sent).await.map_err(told)?;
                folders.push(folder);
            }
            first.select(&inbox.folder).await.map_err(told)?;
        }
        for name in names.iter().skip(1) {
            let server = ImapServer { folder: name.clone(), ..inbox.clone() };
            folders.push(open(&dialer, &server, password).await.map_err(told)?);
        }
        folders.insert(0, first);
        let source = AccountSource {
            settings: settings.clone(),
            source: source.to_owned(),
            password: password.to_owned(),
            names: names.to_vec(),
        };
        Ok(ImapHistory { server: inbox, folders, source })
    }

    /// The mails of all folders.
    pub async fn list(mut self, account: usize) -> Result<(ImapHistory, Vec<ListedMail>), String> {
        let mut listed = Vec::new();
        for (folder, opened) in self.folders.iter_mut().enumerate() {
            let told = |fault: ImapFault| fault.trouble(&self.server).sentence;
            let mut last = 0;
            loop {
                let uids = opened.uids_after(last).await.map_err(told)?;
                let Some(newest) = uids.last() else { break };
                last = i64::from(*newest);
                for some in uids.chunks(OUTLINES) {
                    let outlines = opened.outlines(some).await.map_err(told)?;
                    listed.extend(outlines.into_iter().map(|(uid, outline)| ListedMail {
                        at: outline.taken_at.unwrap_or(0),
                        bytes: u64::from(outline.bytes),
                        taken_at: outline.taken_at,
                        place: MailLocation::Imap { account, folder, uid },
                    }));
                }
            }
        }
        Ok((self, listed))
    }

    /// A mail, or why this one cannot be had. The error is of the account: a connection that was lost
    /// is opened once more.
    pub async fn read(
        &mut self,
        folder: usize,
        uid: u32,
        bytes: u64,
    ) -> Result<Result<Vec<u8>, String>, String> {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let mut read = self.folders[folder].mail(uid, bytes).await;
        if read.as_ref().is_err_and(is_lost) {
            let AccountSource { settings, source, password, names } = &self.source;
            self.folders = ImapHistory::open(settings, source, password, names).await?.folders;
            let opened = self.folders.get_mut(folder).ok_or("A folder is gone there.")?;
            read = opened.mail(uid, bytes).await;
        }
        match read {
            Ok(Some(raw)) => Ok(Ok(raw)),
            Ok(None) => Ok(Err("it was deleted there".to_owned())),
            Err(fault) if is_lost(&fault) => Err(format!(
                "{} What was imported so far stays; repeat the command for the rest.",
                fault.trouble(&self.server).sentence
            )),
            Err(fault) => Ok(Err(fault.trouble(&self.server).sentence)),
        }
    }
}

/// True when the connection is of no more use.
fn is_lost(fault: &ImapFault) -> bool {
    matches!(fault, ImapFault::BrokeOff | ImapFault::Slow(_) | ImapFault::Unreachable(_))
}

async fn open(dialer: &Dialer, server: &ImapServer, password: &str) -> Result<Folder, ImapFault> {
    let line = dialer.dial(server, &TIMEOUTS).await?;
    let credential = ImapCredential::Password(password);
    Folder::open(line, server, credential, &PostFetchAction::Nothing, TIMEOUTS).await
}
