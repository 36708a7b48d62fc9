//! Sends the mail of the service itself to people of a workspace: see `crate::notices`.

use db::{FromRow, Row, Tx};
use mail::{Address, Letter};

use super::parcels::{Back, Unsealed};
use super::sending::{RETRY_FOR_MS, retry_after};
use super::{LEASE_MS, Outcome, Worker, claims};
use crate::actor::{Actor, Circle};
use crate::app::{App, Cx};
use crate::error::{Error, Result};
use crate::ids::WorkspaceId;
use crate::sealing;

/// Notices claimed in one transaction.
const AT_ONCE: i64 = 20;

#[derive(Clone)]
struct Claimed {
    ws: i64,
    id: String,
    attempts: i64,
    created_at: i64,
    unsealed: Unsealed,
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
                let id = claimed.id.clone();
                let outcome = worker.send_notice(&claimed).await;
                if let Err(error) = worker.record_notice(claimed, outcome).await {
                    tracing::error!(id, %error, "what became of a notice was not recorded");
                }
            });
        }
        Ok(count)
    }

    async fn send_notice(&self, claimed: &Claimed) -> Outcome {
        let parcel = match self.seal(&claimed.unsealed).await {
            Ok(parcel) => parcel,
            Err(error) => return Outcome::Later(error.to_string()),
        };
        let mut outcomes =
            claims::held(self.relay.send(&parcel), || self.renew_notice(claimed)).await;
        outcomes.pop().unwrap_or_else(|| Outcome::Later("nothing was said of it".into()))
    }

    async fn renew_notice(&self, claimed: &Claimed) {
        let (ws, id) = (claimed.ws, claimed.id.clone());
        let lapses = self.app.clock.now() + LEASE_MS;
        let renewed = self.app.store.write(move |tx| {
            let sql = "UPDATE notices SET due_at = ?3 WHERE ws = ?1 AND id = ?2";
            tx.exec(sql, &[&ws, &id, &lapses])?;
            Ok::<_, Error>(())
        });
        if let Err(error) = renewed.await {
            tracing::error!(id = claimed.id, %error, "a claim could not be renewed");
        }
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
    workspace: WorkspaceId,
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
            workspace: row.take()?,
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
    let lock = tx.pick("", " FOR UPDATE OF n SKIP LOCKED");
    let due: Vec<Due> = tx.all(
        &format!(
            "SELECT n.ws, w.id, n.id, n.email, n.subject, n.text, n.attempts, n.created_at
             FROM notices n JOIN workspaces w ON w.ws = n.ws
             WHERE n.due_at <= ?1 ORDER BY n.due_at LIMIT ?2{lock}"
        ),
        &[&now, &AT_ONCE],
    )?;
    let mut claimed = Vec::new();
    for due in due {
        tx.exec(
            "UPDATE notices SET due_at = ?3, attempts = attempts + 1 WHERE ws = ?1 AND id = ?2",
            &[&due.ws, &due.id, &(now + LEASE_MS)],
        )?;
        let actor = Actor::system(due.ws, due.workspace.clone(), Circle::team());
        let cx = Cx { now, ..app.cx(&actor) };
        claimed.push(Claimed {
            ws: due.ws,
            id: due.id.clone(),
            attempts: due.attempts + 1,
            created_at: due.created_at,
            unsealed: unsealed(tx, &cx, due)?,
        });
    }
    Ok(claimed)
}

/// The notice as mail from the workspace's first inbox.
fn unsealed(tx: &mut Tx<'_>, cx: &Cx<'_>, due: Due) -> Result<Unsealed> {
    let (address,): (String,) = tx.one(
        "SELECT address FROM mailboxes WHERE ws = ?1 AND circle = 'team'
         ORDER BY created_at, id LIMIT 1",
        &[&due.ws],
    )?;
    let domain = address.rsplit_once('@').map_or("localhost", |(_, domain)| domain);
    let purpose = sealing::notice_purpose(due.ws, &due.id);
    let text = sealing::unseal(cx.sealer, &purpose, due.text)?;
    let letter = Letter {
        message_id: format!("notice.{}@{domain}", due.id),
        answers: Vec::new(),
        from: Address::new(Some("Mailroom"), &address),
        reply_to: None,
        to: vec![Address::new(None, &due.email)],
        cc: Vec::new(),
        subject: due.subject,
        text,
        attachments: Vec::new(),
        at: due.created_at,
        automatic: true,
        loop_mark: None,
        unsubscribe: None,
    };
    let message = format!("msg_{}", due.id);
    let back = Back { message: &message, conversation: None };
    Unsealed::new(tx, cx, letter, &back, vec![due.email])
}
