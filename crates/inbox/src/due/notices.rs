//! Sends the mail of the service itself to people of a workspace: see `crate::notices`.

use db::{FromRow, Row, Tx};
use mail::{Address, Letter};

use super::sending::{RETRY_FOR_MS, retry_after};
use super::{LEASE_MS, Outcome, Parcel, Worker};
use crate::app::App;
use crate::error::Result;

/// Notices claimed in one transaction.
const AT_ONCE: i64 = 20;

#[derive(Clone)]
struct Claimed {
    ws: i64,
    id: String,
    attempts: i64,
    created_at: i64,
    parcel: Parcel,
}

impl Worker {
    /// Sends the notices that are due; answers how many were taken on.
    pub(super) async fn send_notices(&self) -> Result<usize> {
        let app = self.app.clone();
        let claimed = self.app.store.write(move |tx| claim(tx, &app)).await?;
        let count = claimed.len();
        for claimed in claimed {
            let worker = self.clone();
            self.tasks.spawn(async move {
                let outcome = worker.relay.send(&claimed.parcel).await;
                let id = claimed.id.clone();
                if let Err(error) = worker.record_notice(claimed, outcome).await {
                    tracing::error!(id, %error, "what became of a notice was not recorded");
                }
            });
        }
        Ok(count)
    }

    async fn record_notice(&self, claimed: Claimed, outcome: Outcome) -> Result<()> {
        let now = self.app.clock.now();
        let again = matches!(outcome, Outcome::Later(_)) && now - claimed.created_at < RETRY_FOR_MS;
        if let (Outcome::Never(reason) | Outcome::Later(reason), false) = (&outcome, again) {
            tracing::warn!(id = claimed.id, reason, "a notice could not be sent");
        }
        let work = move |tx: &mut Tx<'_>| {
            match again {
                true => tx.exec(
                    "UPDATE notices SET due_at = ?3 WHERE ws = ?1 AND id = ?2",
                    &[&claimed.ws, &claimed.id, &(now + retry_after(claimed.attempts))],
                )?,
                false => tx.exec(
                    "DELETE FROM notices WHERE ws = ?1 AND id = ?2",
                    &[&claimed.ws, &claimed.id],
                )?,
            };
            Ok(())
        };
        self.app.store.write(work).await
    }
}

struct Due {
    ws: i64,
    id: String,
    email: String,
    subject: String,
    text: String,
    attempts: i64,
    created_at: i64,
}

impl FromRow for Due {
    fn from_row(row: &mut Row<'_>) -> Result<Self, db::Error> {
        Ok(Due {
            ws: row.take()?,
            id: row.take()?,
            email: row.take()?,
            subject: row.take()?,
            text: row.take()?,
            attempts: row.take()?,
            created_at: row.take()?,
        })
    }
}

fn claim(tx: &mut Tx<'_>, app: &App) -> Result<Vec<Claimed>> {
    let now = app.clock.now();
    let lock = tx.pick("", " FOR UPDATE SKIP LOCKED");
    let due: Vec<Due> = tx.all(
        &format!(
            "SELECT ws, id, email, subject, text, attempts, created_at FROM notices
             WHERE due_at <= ?1 ORDER BY due_at LIMIT ?2{lock}"
        ),
        &[&now, &AT_ONCE],
    )?;
    let mut claimed = Vec::new();
    for due in due {
        tx.exec(
            "UPDATE notices SET due_at = ?3, attempts = attempts + 1 WHERE ws = ?1 AND id = ?2",
            &[&due.ws, &due.id, &(now + LEASE_MS)],
        )?;
        claimed.push(Claimed {
            ws: due.ws,
            id: due.id.clone(),
            attempts: due.attempts + 1,
            created_at: due.created_at,
            parcel: parcel(tx, due)?,
        });
    }
    Ok(claimed)
}

/// The notice as mail from the workspace's first inbox.
fn parcel(tx: &mut Tx<'_>, due: Due) -> Result<Parcel> {
    let (address,): (String,) = tx.one(
        "SELECT address FROM mailboxes WHERE ws = ?1 AND circle = 'team'
         ORDER BY created_at, id LIMIT 1",
        &[&due.ws],
    )?;
    let domain = address.rsplit_once('@').map_or("localhost", |(_, domain)| domain);
    let letter = Letter {
        message_id: format!("notice.{}@{domain}", due.id),
        answers: Vec::new(),
        from: Address::new(Some("Mailroom"), &address),
        to: vec![Address::new(None, &due.email)],
        cc: Vec::new(),
        subject: due.subject,
        text: due.text,
        at: due.created_at,
        automatic: true,
        attachments: Vec::new(),
    };
    Ok(Parcel {
        bytes: mail::compose(&letter),
        message_id: letter.message_id,
        sender: address,
        recipients: vec![due.email],
    })
}
