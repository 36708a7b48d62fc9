//! One round: everything that is new in a folder, one mail after the other, from the oldest to the
//! newest.

use base::app::Cx;
use base::error::{Error, Result as InboxResult};
use base::limits::{FETCH_ATTEMPTS, FETCHED_MAIL_BYTES};
use db::Tx;
use inbound::imap::{self, FolderCursor, ImapAccount};
use inbound::{FetchedMail, InboundMail, IngestError, Ingested, MailSource};
use metrics::counter;
use transport::imap_client::{Folder, ImapFault, MailOutline};

use super::{Fetchers, trust};

/// Mails whose metadata is requested at once.
const OUTLINES: usize = 100;

impl Fetchers {
    /// Deals with everything that is in the folder and was not dealt with before.
    pub(super) async fn catch_up(
        &self,
        account: &mut ImapAccount,
        folder: &mut Folder,
    ) -> Result<(), ImapFault> {
        self.settle_count(account, folder).await?;
        loop {
            let last = account.cursor.map_or(0, |cursor| cursor.last_uid);
            let uids = folder.uids_after(last).await?;
            if uids.is_empty() {
                break;
            }
            for some in uids.chunks(OUTLINES) {
                let outlines = folder.outlines(some).await?;
                for uid in some {
                    self.deal_with(account, folder, *uid, outlines.get(uid)).await?;
                    if let Some(cursor) = &mut account.cursor {
                        cursor.last_uid = i64::from(*uid);
                    }
                }
            }
        }
        self.write(account, imap::note_round).await
    }

    /// Sees to it that the count is of the numbers that the server gives today.
    async fn settle_count(
        &self,
        account: &mut ImapAccount,
        folder: &mut Folder,
    ) -> Result<(), ImapFault> {
        let validity = folder.validity;
        let last_there = folder.next_uid.map(|next| i64::from(next) - 1);
        let cursor = match account.cursor {
            Some(cursor) if cursor.validity == validity => return Ok(()),
            // UIDVALIDITY changed: what is not known by its header is fetched again, and duplicates are
            // recognized by Message-ID and content.
            Some(_) => {
                let seen_to = last_there.unwrap_or(i64::from(u32::MAX));
                FolderCursor { validity, last_uid: 0, seen_to }
            }
            None => {
                let last_uid = match account.new_since {
                    None => 0,
                    Some(since) if since < account.created_at => {
                        match folder.first_since(since).await? {
                            Some(first) => i64::from(first) - 1,
                            None => last_there.ok_or(ImapFault::Unclear)?,
                        }
                    }
                    Some(_) => last_there.ok_or(ImapFault::Unclear)?,
                };
                FolderCursor { validity, last_uid, seen_to: 0 }
            }
        };
        self.write(account, move |tx, _, account| imap::begin_count(tx, account, &cursor)).await?;
        account.cursor = Some(cursor);
        account.stuck = (0, 0);
        Ok(())
    }

    async fn deal_with(
        &self,
        account: &ImapAccount,
        folder: &mut Folder,
        uid: u32,
        outline: Option<&MailOutline>,
    ) -> Result<(), ImapFault> {
        let number = i64::from(uid);
        let Some(outline) = outline else {
            return self.count(account, number, 0).await;
        };
        if account.may_be_known(number) && self.is_known(account, folder, uid, outline).await? {
            return self.count(account, number, 0).await;
        }
        if outline.bytes > FETCHED_MAIL_BYTES {
            let mebibytes = FETCHED_MAIL_BYTES / (1024 * 1024);
            let why = format!("It has {} bytes; up to {mebibytes} MiB are fetched.", outline.bytes);
            return self.skip(account, number, why).await;
        }
        if account.stuck.0 == number && account.stuck.1 >= FETCH_ATTEMPTS {
            let why = format!("It could not be had in {FETCH_ATTEMPTS} tries.");
            return self.skip(account, number, why).await;
        }
        match self.fetch(account, folder, uid, outline).await {
            Err(ImapFault::Said(words)) => {
                let why = format!("{} does not hand it over: {words}.", account.host);
                self.skip(account, number, why).await
            }
            Err(fault) => {
                self.write(account, move |tx, _, account| {
                    imap::note_stuck(tx, account, number).map(|()| true)
                })
                .await?;
                Err(fault)
            }
            Ok(fetched) => self.count(account, number, i64::from(fetched)).await,
        }
    }

    /// True for a mail that was dealt with under its older number, or was to be left alone then.
    async fn is_known(
        &self,
        account: &ImapAccount,
        folder: &mut Folder,
        uid: u32,
        outline: &MailOutline,
    ) -> Result<bool, ImapFault> {
        if let (Some(since), Some(taken)) = (account.new_since, outline.taken_at)
            && taken < since
        {
            return Ok(true);
        }
        let Some(header) = folder.header(uid).await? else { return Ok(true) };
        let named = inbound::message_id_of(&self.app, header.clone()).await.map_err(ours)?;
        let Some(id) = named else { return Ok(false) };
        let (asked, blobs, bytes) = (account.clone(), self.app.blobs.clone(), outline.bytes);
        let known = self
            .app
            .store
            .read(move |tx| imap::is_filed(tx, &blobs, &asked, (&id, &header, bytes)));
        known.await.map_err(ours)
    }

    /// Downloads and files a mail; false when it was gone. Duplicates are recognized by Message-ID
    /// and content, so that what is moved there is stored here.
    async fn fetch(
        &self,
        account: &ImapAccount,
        folder: &mut Folder,
        uid: u32,
        outline: &MailOutline,
    ) -> Result<bool, ImapFault> {
        let place = self.downloads.acquire().await.map_err(|_| ImapFault::Over)?;
        let Some(raw) = folder.mail(uid, outline.bytes).await? else { return Ok(false) };
        let delivery = InboundMail {
            sender: None,
            recipients: vec![account.inbox.mailbox.address.to_string()],
            source: MailSource::Mailbox { believed: trust::believed_results(account) },
            raw,
        };
        let fetched = FetchedMail { account: account.clone(), internal_date: outline.taken_at };
        let authenticator = &*self.authenticator;
        let taken = inbound::ingest_fetched(&self.app, authenticator, delivery, fetched).await;
        drop(place);
        match taken {
            Err(IngestError) => return Err(ImapFault::Ours),
            // Fetching was ended meanwhile. The mail was not filed, so it is left untouched in its
            // mailbox.
            Ok(Ingested::NoInbox | Ingested::Deferred) => return Err(ImapFault::Over),
            Ok(_) => {}
        }
        counter!("mailroom_imap_fetched_total").increment(1);
        match folder.afterwards(uid, &account.after).await {
            Err(fault) if fault.is_refusal() => {
                let (mailbox, why) = (&account.inbox.mailbox.id, fault.trouble(account).sentence);
                tracing::warn!(%mailbox, uid, why, "the IMAP server refused the post-fetch action; the mail is unchanged there");
            }
            done => done?,
        }
        Ok(true)
    }

    async fn count(&self, account: &ImapAccount, uid: i64, fetched: i64) -> Result<(), ImapFault> {
        self.write(account, move |tx, _, account| imap::count(tx, account, uid, fetched)).await
    }

    async fn skip(&self, account: &ImapAccount, uid: i64, why: String) -> Result<(), ImapFault> {
        let mailbox = &account.inbox.mailbox.id;
        tracing::warn!(%mailbox, uid, why, "a mail was not fetched");
        self.write(account, move |tx, cx, account| imap::note_skipped(tx, cx, account, uid, &why))
            .await
    }

    /// Writes something down for an inbox that is still ours; it is over when it is not.
    pub(super) async fn write<F>(&self, account: &ImapAccount, mut work: F) -> Result<(), ImapFault>
    where
        F: FnMut(&mut Tx<'_>, &Cx<'_>, &ImapAccount) -> InboxResult<bool> + Send + 'static,
    {
        let (actor, account) = (account.actor(), account.clone());
        let written = self.app.act(&actor, move |tx, cx| work(tx, cx, &account)).await;
        if written.map_err(ours)? { Ok(()) } else { Err(ImapFault::Over) }
    }
}

pub(super) fn ours(error: Error) -> ImapFault {
    tracing::error!(cause = ?error, "fetching mail failed on our side");
    ImapFault::Ours
}
