//! One round by Microsoft Graph: what is new in the inbox and in the folder of sent mail, from the oldest
//! to the newest. Every mail is had as it came and filed like one that IMAP brought.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use base::limits::{DAY_MS, FETCH_ATTEMPTS, FETCHED_MAIL_BYTES};
use base::time::Moment;
use inbound::imap::{self, GraphCursor, GraphFolder, ImapAccount};
use inbound::{FetchedMail, InboundMail, IngestError, Ingested, MailSource};
use metrics::counter;
use tokio::sync::{OwnedSemaphorePermit, SemaphorePermit};
use tokio::time::{Instant, sleep};
use transport::graph::{GraphClient, GraphFault, GraphItem};
use transport::imap_client::ImapFault;
use transport::mail_oauth::{TokenFailure, with_fresh_token};

use super::fetch_round::ours;
use super::{Fetchers, trust};

/// Pages of one listing, of a hundred mails each.
const PAGES: usize = 20_000;
/// Mails of one listing; of a larger folder the newest are had.
const LISTED: usize = 200_000;
/// How many of them stay when there are more.
const LISTED_KEPT: usize = LISTED / 4 * 3;
/// Mails from which on a listing is a long one, of which there are few at once.
const LONG_LISTING: usize = 5_000;
/// When a mailbox is asked again that found no place for a long listing.
const PLACE_WAIT: Duration = Duration::from_secs(60);
/// Mails of the folder of sent mail that are filed before the inbox is looked at again.
const SENT_AT_ONCE: usize = 200;
/// Where a folder is listed anew, mail is looked at again that was received so long before the latest
/// that is dealt with: somebody may have moved it there. What is older may have been erased here.
const LISTED_ANEW_MS: i64 = 7 * DAY_MS;

/// What a folder has to be asked for.
struct GraphListing {
    cursor: GraphCursor,
    /// From the oldest to the newest.
    items: Vec<GraphItem>,
    /// Leads to what is new after it.
    delta_link: String,
    /// Held by a long listing until it is dealt with.
    _place: Option<OwnedSemaphorePermit>,
}

/// A mail as it came; `None` where it was deleted.
type DownloadedMail = Result<Option<Vec<u8>>, GraphFault>;

impl Fetchers {
    /// Serves a mailbox that is read by Graph: rounds until the time is up, or one.
    pub(super) async fn attend_by_graph(
        &self,
        account: &ImapAccount,
        until: Option<Instant>,
    ) -> Result<(), ImapFault> {
        loop {
            self.read_graph_inbox(account).await?;
            self.read_graph_sent(account).await?;
            match until {
                Some(until) if Instant::now() < until => {
                    sleep(self.pace.poll.min(until - Instant::now())).await;
                }
                _ => return Ok(()),
            }
        }
    }

    async fn read_graph_inbox(&self, account: &ImapAccount) -> Result<(), ImapFault> {
        let listing = self.open_graph_folder(account, GraphFolder::Inbox).await?;
        for item in &listing.items {
            self.deal_with_graph_item(account, GraphFolder::Inbox, &listing.cursor, item).await?;
        }
        self.end_graph_listing(account, GraphFolder::Inbox, listing).await?;
        self.write(account, imap::note_round).await
    }

    /// Reads the folder of sent mail, and the inbox in between where there is much. A server that refuses
    /// something here is still fetched from.
    async fn read_graph_sent(&self, account: &ImapAccount) -> Result<(), ImapFault> {
        let opened = self.open_graph_folder(account, GraphFolder::Sent).await;
        let Some(listing) = unless_refused(account, opened)? else { return Ok(()) };
        for (number, some) in listing.items.chunks(SENT_AT_ONCE).enumerate() {
            if number > 0 {
                self.read_graph_inbox(account).await?;
            }
            for item in some {
                let dealt =
                    self.deal_with_graph_item(account, GraphFolder::Sent, &listing.cursor, item);
                if unless_refused(account, dealt.await)?.is_none() {
                    return Ok(());
                }
            }
        }
        self.end_graph_listing(account, GraphFolder::Sent, listing).await
    }

    async fn open_graph_folder(
        &self,
        account: &ImapAccount,
        folder: GraphFolder,
    ) -> Result<GraphListing, ImapFault> {
        let asked = account.clone();
        let cursor = self.app.store.read(move |tx| imap::graph_cursor(tx, &asked, folder)).await;
        let mut cursor = cursor.map_err(ours)?;
        let listed = match self.list_graph_folder(account, folder, &cursor).await {
            Err(GraphFault::LinkOver) => {
                self.write(account, move |tx, _, account| {
                    imap::forget_graph_link(tx, account, folder)
                })
                .await?;
                cursor.delta_link = None;
                self.list_graph_folder(account, folder, &cursor).await
            }
            listed => listed,
        };
        listed?.ok_or(ImapFault::RetryAfter(PLACE_WAIT))
    }

    /// Everything that was listed is dealt with.
    async fn end_graph_listing(
        &self,
        account: &ImapAccount,
        folder: GraphFolder,
        listing: GraphListing,
    ) -> Result<(), ImapFault> {
        let GraphListing { cursor, delta_link, .. } = listing;
        if cursor.delta_link.as_deref() == Some(delta_link.as_str()) {
            return Ok(());
        }
        self.write(account, move |tx, _, account| {
            imap::set_graph_link(tx, account, folder, &delta_link)
        })
        .await
    }

    /// What is new in a folder, or all of it where there is no link. `None` while there is no place for
    /// another long listing.
    async fn list_graph_folder(
        &self,
        account: &ImapAccount,
        folder: GraphFolder,
        cursor: &GraphCursor,
    ) -> Result<Option<GraphListing>, GraphFault> {
        let (mut link, mut items, mut place) = (cursor.delta_link.clone(), Vec::new(), None);
        let since = listed_since(account.new_since, cursor);
        let is_wanted = |item: &GraphItem| item.received_at.is_none_or(|at| at >= since);
        for number in 0..PAGES {
            let from = link.as_deref();
            let page = self.ask_graph(account, |client, token| async move {
                client.list(&token, &account.username, folder, from).await
            });
            let page = match page.await {
                // Whatever is wrong with a link that was kept, the folder can be listed without it.
                Err(GraphFault::Refused(_) | GraphFault::ForeignLink)
                    if number == 0 && cursor.delta_link.is_some() =>
                {
                    return Err(GraphFault::LinkOver);
                }
                page => page?,
            };
            items.extend(page.items.into_iter().filter(is_wanted));
            if items.len() > LONG_LISTING && place.is_none() {
                place = Arc::clone(&self.long_listings).try_acquire_owned().ok();
                if place.is_none() {
                    return Ok(None);
                }
            }
            if items.len() > LISTED {
                sort_by_age(&mut items);
                items.drain(..items.len() - LISTED_KEPT);
            }
            match (page.next_link, page.delta_link) {
                (_, Some(delta_link)) => {
                    sort_by_age(&mut items);
                    let cursor = cursor.clone();
                    return Ok(Some(GraphListing { cursor, items, delta_link, _place: place }));
                }
                (next_link, None) => link = next_link,
            }
        }
        Err(GraphFault::Unclear)
    }

    async fn deal_with_graph_item(
        &self,
        account: &ImapAccount,
        folder: GraphFolder,
        cursor: &GraphCursor,
        item: &GraphItem,
    ) -> Result<(), ImapFault> {
        if self.is_dealt_with(account, cursor, item).await? {
            return Ok(());
        }
        if cursor.stuck_item == item.id && cursor.stuck_attempts >= FETCH_ATTEMPTS {
            let why = format!("It could not be had in {FETCH_ATTEMPTS} tries.");
            return self.pass_over(account, folder, item, why).await;
        }
        let (place, raw) = self.download_graph_mail(account, item).await?;
        let raw = match raw {
            Ok(Some(raw)) => raw,
            Ok(None) => return self.note_item(account, folder, item, 0).await,
            Err(GraphFault::TooLarge) => {
                let mebibytes = FETCHED_MAIL_BYTES / (1024 * 1024);
                let why = format!("It is too large; up to {mebibytes} MiB are fetched.");
                return self.pass_over(account, folder, item, why).await;
            }
            Err(fault) => {
                if is_about_the_mail(&fault) {
                    let id = item.id.clone();
                    self.write(account, move |tx, _, account| {
                        imap::note_graph_stuck(tx, account, folder, &id)
                    })
                    .await?;
                }
                return Err(match fault {
                    // The folder was listed just now, so we may use the mailbox.
                    GraphFault::NoAccess(words) | GraphFault::NotFound(words) => {
                        ImapFault::Said(words)
                    }
                    fault => fault.into(),
                });
            }
        };
        let fetched = FetchedMail { account: account.clone(), internal_date: item.received_at };
        let taken = match folder {
            GraphFolder::Inbox => {
                let delivery = InboundMail {
                    sender: None,
                    recipients: vec![account.inbox.mailbox.address.to_string()],
                    source: MailSource::Mailbox { believed: trust::believed_results(account) },
                    raw,
                };
                inbound::ingest_fetched(&self.app, &*self.authenticator, delivery, fetched).await
            }
            GraphFolder::Sent => {
                let (recipients, source) = (Vec::new(), MailSource::OurServer);
                let delivery = InboundMail { sender: None, recipients, source, raw };
                inbound::ingest_sent(&self.app, delivery, fetched).await
            }
        };
        drop(place);
        match taken {
            Err(IngestError) => return Err(ImapFault::Ours),
            // Fetching was ended meanwhile, or the workspace takes no mail at present.
            Ok(Ingested::NoInbox | Ingested::Deferred) => return Err(ImapFault::Over),
            Ok(_) => {}
        }
        if folder == GraphFolder::Sent {
            return self.note_item(account, folder, item, 0).await;
        }
        counter!("mailroom_imap_fetched_total").increment(1);
        self.note_item(account, folder, item, 1).await
    }

    /// Has a mail as it came, with the place of its download, which is free while the server asks to wait.
    async fn download_graph_mail(
        &self,
        account: &ImapAccount,
        item: &GraphItem,
    ) -> Result<(SemaphorePermit<'_>, DownloadedMail), ImapFault> {
        let most_bytes = FETCHED_MAIL_BYTES as usize;
        let mut left = GraphClient::TRIES;
        loop {
            left -= 1;
            let place = self.downloads.acquire().await.map_err(|_| ImapFault::Over)?;
            let raw = self.ask_graph(account, |client, token| async move {
                client.mail(&token, &account.username, &item.id, most_bytes).await
            });
            let raw = raw.await;
            match raw.as_ref().err().and_then(GraphFault::short_wait) {
                Some(wait) if left > 0 => {
                    drop(place);
                    sleep(wait).await;
                }
                Some(_) => return Ok((place, Err(GraphFault::Throttled))),
                None => return Ok((place, raw)),
            }
        }
    }

    /// True for a mail that an earlier listing brought or a round that broke off, which may have left it: one
    /// from before the latest that was dealt with, whose Message-ID is known.
    async fn is_dealt_with(
        &self,
        account: &ImapAccount,
        cursor: &GraphCursor,
        item: &GraphItem,
    ) -> Result<bool, ImapFault> {
        if cursor.passed_over.lines().any(|id| id == item.id) {
            return Ok(true);
        }
        let is_old = item.received_at.is_some_and(|at| at < cursor.done_to);
        let Some(id) = item.message_id.clone().filter(|_| is_old) else { return Ok(false) };
        let asked = account.clone();
        self.app.store.read(move |tx| imap::has_message_id(tx, &asked, &id)).await.map_err(ours)
    }

    async fn note_item(
        &self,
        account: &ImapAccount,
        folder: GraphFolder,
        item: &GraphItem,
        fetched: i64,
    ) -> Result<(), ImapFault> {
        let received_at = item.received_at.unwrap_or_default();
        self.write(account, move |tx, cx, account| {
            // A mail may claim to be from the future, which would hide what comes before.
            imap::note_graph_item(tx, account, folder, received_at.min(cx.now), fetched)
        })
        .await
    }

    /// Leaves a mail where it is. One of the folder of sent mail is missed by nobody.
    async fn pass_over(
        &self,
        account: &ImapAccount,
        folder: GraphFolder,
        item: &GraphItem,
        why: String,
    ) -> Result<(), ImapFault> {
        let mailbox = &account.inbox.mailbox.id;
        tracing::warn!(%mailbox, folder = folder.as_str(), why, "a mail was not fetched");
        if folder == GraphFolder::Inbox {
            let sentence = match item.received_at {
                Some(at) => format!("The mail received {}: {why}", Moment(at).iso()),
                None => format!("A mail received at an unknown time: {why}"),
            };
            self.write(account, move |tx, cx, account| {
                imap::note_passed_over(tx, cx, account, &sentence)
            })
            .await?;
        }
        let id = item.id.clone();
        self.write(account, move |tx, _, account| {
            imap::note_graph_passed_over(tx, account, folder, &id)
        })
        .await?;
        self.note_item(account, folder, item, 0).await
    }

    /// Asks Graph with an access token, and once more with a new one if it refuses the first.
    async fn ask_graph<T, F>(
        &self,
        account: &ImapAccount,
        work: impl Fn(GraphClient, String) -> F,
    ) -> Result<T, GraphFault>
    where
        F: Future<Output = Result<T, GraphFault>>,
    {
        let missing = || TokenFailure::Passing(NOT_SET_UP.into());
        let client = self.graph.as_ref().ok_or_else(missing)?;
        let key = account.grant().ok_or_else(missing)?;
        let refuses = GraphFault::is_token_refusal;
        with_fresh_token(&*self.tokens, &key, refuses, |token: String| work(client.clone(), token))
            .await
    }
}

const NOT_SET_UP: &str = "Signing in at Microsoft is not set up on this server any more. Whoever runs it can \
    set MAILROOM_MICROSOFT_CLIENT_ID.";

/// From when on mail is had that a listing names.
fn listed_since(new_since: Option<i64>, cursor: &GraphCursor) -> i64 {
    let since = new_since.unwrap_or(i64::MIN);
    match cursor.delta_link.is_none() && cursor.done_to > 0 {
        true => since.max(cursor.done_to - LISTED_ANEW_MS),
        false => since,
    }
}

/// `None` for what the server refuses of the folder of sent mail: mail is fetched all the same.
fn unless_refused<T>(
    account: &ImapAccount,
    done: Result<T, ImapFault>,
) -> Result<Option<T>, ImapFault> {
    match done {
        Err(fault) if fault.is_refusal() || matches!(fault, ImapFault::TokenRefused(_)) => {
            let (mailbox, why) = (&account.inbox.mailbox.id, fault.trouble(account).sentence);
            tracing::warn!(%mailbox, why, "the folder of sent mail could not be used");
            Ok(None)
        }
        done => done.map(Some),
    }
}

/// Graph gives no order, and may name a mail on two pages.
fn sort_by_age(items: &mut Vec<GraphItem>) {
    let age = |item: &GraphItem| item.received_at.unwrap_or(i64::MAX);
    items.sort_by(|one, other| age(one).cmp(&age(other)).then_with(|| one.id.cmp(&other.id)));
    items.dedup_by(|one, other| one.id == other.id);
}

/// False for a fault that every other mail would have met as well.
fn is_about_the_mail(fault: &GraphFault) -> bool {
    match fault {
        GraphFault::Unreachable
        | GraphFault::NoToken(_)
        | GraphFault::TokenRefused(_)
        | GraphFault::Throttled
        | GraphFault::RetryAfter { .. } => false,
        GraphFault::BrokeOff
        | GraphFault::Slow
        | GraphFault::NoAccess(_)
        | GraphFault::NotFound(_)
        | GraphFault::ItemGone
        | GraphFault::Busy(_)
        | GraphFault::LinkOver
        | GraphFault::ForeignLink
        | GraphFault::TooLarge
        | GraphFault::Refused(_)
        | GraphFault::Failed(_)
        | GraphFault::Unclear => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_listed_anew_brings_back_what_is_young_and_nothing_older() {
        let cursor = |delta_link: Option<&str>, done_to: i64| GraphCursor {
            delta_link: delta_link.map(str::to_owned),
            done_to,
            ..GraphCursor::default()
        };
        let now = 100 * DAY_MS;
        for (new_since, cursor, since) in [
            (None, cursor(None, 0), i64::MIN),
            (None, cursor(Some("x"), now), i64::MIN),
            (None, cursor(None, now), now - LISTED_ANEW_MS),
            (Some(now - DAY_MS), cursor(None, now), now - DAY_MS),
            (Some(0), cursor(None, now), now - LISTED_ANEW_MS),
        ] {
            assert_eq!(listed_since(new_since, &cursor), since, "{cursor:?}");
        }
    }
}
