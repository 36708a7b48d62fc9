//! The folder of sent mail: what other programs sent from the mailbox is filed, and what Mailroom sent
//! is put there, once.

use base::limits::FETCHED_MAIL_BYTES;
use inbound::imap::{self, ImapAccount, SentCursor};
use inbound::{FetchedMail, InboundMail, IngestError, MailSource};
use jobs::sent_copy;
use transport::imap_client::{Folder, ImapFault};

use super::{Fetchers, fetch_round::ours};

/// Mails whose metadata is requested at once.
const OUTLINES: usize = 100;
/// Mails of the folder that are filed before the account's own folder is looked at again.
const SENT_AT_ONCE: usize = 200;

/// How far the folder of sent mail was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SentFolderProgress {
    /// There is no such folder.
    NoFolder,
    UpToDate,
    /// There is more in it.
    Unfinished,
}

impl Fetchers {
    /// Reads and fills the folder of sent mail, and opens the account's own folder again. A server
    /// that refuses something here is still fetched from.
    pub(super) async fn keep_sent(
        &self,
        account: &ImapAccount,
        folder: &mut Folder,
    ) -> Result<SentFolderProgress, ImapFault> {
        let mut round = SentFolderProgress::UpToDate;
        match self.sync_sent(account, folder).await {
            Ok(SentFolderProgress::NoFolder) => return Ok(SentFolderProgress::NoFolder),
            Ok(synced) => round = synced,
            Err(fault) if fault.is_refusal() || matches!(fault, ImapFault::NoFolder(_)) => {
                let (mailbox, why) = (&account.inbox.mailbox.id, fault.trouble(account).sentence);
                tracing::warn!(%mailbox, why, "the folder of sent mail could not be used");
            }
            Err(fault) => return Err(fault),
        }
        folder.select(&account.folder).await?;
        Ok(round)
    }

    async fn sync_sent(
        &self,
        account: &ImapAccount,
        folder: &mut Folder,
    ) -> Result<SentFolderProgress, ImapFault> {
        let asked = account.clone();
        let cursor = self.app.store.read(move |tx| imap::sent_cursor(tx, &asked)).await;
        let mut cursor = cursor.map_err(ours)?;
        let name = match &cursor.folder {
            Some(name) if !name.is_empty() => name.clone(),
            _ => match folder.find_sent().await? {
                Some(name) => name,
                None => return Ok(SentFolderProgress::NoFolder),
            },
        };
        folder.select_named(&name).await?;
        if cursor.validity != Some(folder.validity) || cursor.folder.as_ref() != Some(&name) {
            let last_uid = self.beginning(account, folder).await?;
            cursor = SentCursor { folder: Some(name), validity: Some(folder.validity), last_uid };
            self.move_sent(account, &cursor).await?;
        }
        let round = self.read_sent(account, folder, &mut cursor).await?;
        self.put_copies(account, folder, &cursor).await?;
        Ok(round)
    }

    /// Where reading begins: as far back as the account's history goes, or now. Mail that was read
    /// under other numbers is recognized by its Message-ID.
    async fn beginning(
        &self,
        account: &ImapAccount,
        folder: &mut Folder,
    ) -> Result<i64, ImapFault> {
        let last_there = folder.next_uid.map_or(0, |next| i64::from(next) - 1);
        match account.new_since {
            None => Ok(0),
            Some(since) if since < account.created_at => {
                let first = folder.first_since(since).await?;
                Ok(first.map_or(last_there, |first| i64::from(first) - 1))
            }
            Some(_) => Ok(last_there),
        }
    }

    async fn read_sent(
        &self,
        account: &ImapAccount,
        folder: &mut Folder,
        cursor: &mut SentCursor,
    ) -> Result<SentFolderProgress, ImapFault> {
        let uids = folder.uids_after(cursor.last_uid).await?;
        let now = &uids[..uids.len().min(SENT_AT_ONCE)];
        for some in now.chunks(OUTLINES) {
            let outlines = folder.outlines(some).await?;
            for uid in some {
                if let Some(outline) = outlines.get(uid)
                    && outline.bytes <= FETCHED_MAIL_BYTES
                    && let Some(raw) = folder.mail(*uid, outline.bytes).await?
                {
                    let delivery = InboundMail {
                        sender: None,
                        recipients: Vec::new(),
                        source: MailSource::OurServer,
                        raw,
                    };
                    let internal_date = outline.taken_at;
                    let fetched = FetchedMail { account: account.clone(), internal_date };
                    match inbound::ingest_sent(&self.app, delivery, fetched).await {
                        Err(IngestError) => return Err(ImapFault::Ours),
                        Ok(inbound::Ingested::NoInbox) => return Err(ImapFault::Over),
                        Ok(_) => {}
                    }
                }
                cursor.last_uid = i64::from(*uid);
                self.move_sent(account, cursor).await?;
            }
        }
        match now.len() < uids.len() {
            true => Ok(SentFolderProgress::Unfinished),
            false => Ok(SentFolderProgress::UpToDate),
        }
    }

    async fn move_sent(&self, account: &ImapAccount, cursor: &SentCursor) -> Result<(), ImapFault> {
        let cursor = cursor.clone();
        self.write(account, move |tx, _, account| imap::set_sent_cursor(tx, account, &cursor)).await
    }

    /// Puts what was sent into the folder, unless the server has done so itself.
    async fn put_copies(
        &self,
        account: &ImapAccount,
        folder: &mut Folder,
        cursor: &SentCursor,
    ) -> Result<(), ImapFault> {
        let asked = account.clone();
        let planned = self.app.store.read(move |tx| imap::planned_copies(tx, &asked)).await;
        for (message, header_id) in planned.map_err(ours)? {
            let mut refused = false;
            if !folder.has_message_id(&header_id).await? {
                let name = cursor.folder.clone().unwrap_or_default();
                let bytes = sent_copy(&self.app, &account.actor(), &message).await.map_err(ours)?;
                match folder.append(&name, &bytes).await {
                    // The client does not tell a refusal from an answer that it cannot read.
                    Err(ImapFault::Said(_) | ImapFault::Unclear) => refused = true,
                    put => put?,
                }
            }
            self.write(account, move |tx, _, account| {
                match refused {
                    true => imap::note_copy_refused(tx, account, &message)?,
                    false => imap::end_copy(tx, account, &message)?,
                }
                Ok(true)
            })
            .await?;
        }
        Ok(())
    }
}
