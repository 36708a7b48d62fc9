//! The leases of the inboxes that this node fetches, renewed together: idle mailboxes cost one write now and then,
//! however many there are.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::app::App;
use base::limits::FETCHING_LEASE_MS;
use inbound::imap::{self, ImapAccount};
use tokio_util::sync::CancellationToken;

use super::fetch_round::ours;

/// A lease lasts for four renewals, so that three may fail.
const RENEWED_EVERY: Duration = Duration::from_millis(FETCHING_LEASE_MS.unsigned_abs() / 4);

/// The leases that this node has.
#[derive(Clone, Default)]
pub(super) struct HeldLeases(Arc<Mutex<LeaseTable>>);

#[derive(Default)]
struct LeaseTable {
    next: u64,
    held: HashMap<u64, (ImapAccount, CancellationToken)>,
}

/// One of them, until this is dropped.
pub(super) struct HeldLease {
    leases: HeldLeases,
    number: u64,
    lost: CancellationToken,
}

impl HeldLeases {
    /// Renews the lease of an inbox from now on.
    pub fn add(&self, account: &ImapAccount) -> HeldLease {
        let (mut table, lost) = (self.table(), CancellationToken::new());
        let number = table.next;
        table.next += 1;
        table.held.insert(number, (account.clone(), lost.clone()));
        HeldLease { leases: self.clone(), number, lost }
    }

    /// Renews all of them for as long as it is polled.
    pub async fn keep(&self, app: &App) {
        loop {
            tokio::time::sleep(RENEWED_EVERY).await;
            self.renew(app).await;
        }
    }

    /// Renews all of them in one write, which need not be on the disk: after a power cut they are claimed anew.
    async fn renew(&self, app: &App) {
        let held: Vec<(ImapAccount, CancellationToken)> =
            self.table().held.values().cloned().collect();
        if held.is_empty() {
            return;
        }
        let (accounts, tokens): (Vec<ImapAccount>, Vec<CancellationToken>) =
            held.into_iter().unzip();
        let own = app.clone();
        let renew = move |tx: &mut db::Tx<'_>| imap::hold_all(tx, &accounts, own.clock.now());
        match app.store.write_relaxed(renew).await {
            Ok(held) => {
                let lost = tokens.iter().zip(held).filter(|(_, is_held)| !is_held);
                lost.for_each(|(token, _)| token.cancel());
            }
            Err(error) => drop(ours(error)),
        }
    }

    fn table(&self) -> MutexGuard<'_, LeaseTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HeldLease {
    /// Ready when another process has the inbox, or it was set up anew or removed.
    pub async fn wait_until_lost(&self) {
        self.lost.cancelled().await;
    }
}

impl Drop for HeldLease {
    fn drop(&mut self) {
        self.leases.table().held.remove(&self.number);
    }
}
