//! Issue trackers that tell how linked items stand: their addresses and secrets, and what follows when an item closes.

use base::actor::Circle;
use base::app::Cx;
use base::error::{Error, Result};
use base::limits::{
    TRACKER_SECRET_CHARS, TRACKER_SECRET_CHARS_LEAST, TRACKER_SECRET_CHARS_MOST,
    TRACKER_TOKEN_CHARS,
};
use base::workspaces::samples::refuse_in_sample;
use db::Tx;
use model::installation::audit_log::{self, Action};
use model::installation::sealing;
use model::linked_items::{Tracker, item_reports};

/// What owners and admins see of it.
pub struct TrackerSettings {
    /// Conversations are opened again when a linked item closes.
    pub reopens: bool,
    pub connections: Vec<TrackerConnection>,
}

db::row! {
    /// A tracker whose calls are taken.
    pub struct TrackerConnection from "tracker_webhooks" {
        pub kind: Tracker,
        /// The address that it is to call.
        pub address: String = "tracker_webhooks.token",
        /// False until the secret that proves its calls is set.
        pub complete: bool = "tracker_webhooks.secret IS NOT NULL",
        pub called_at: Option<i64>,
    }
}

base::debug_without_secrets!(TrackerConnection { kind, complete });

pub fn tracker_settings(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<TrackerSettings> {
    cx.actor.must_administer()?;
    let mut connections: Vec<TrackerConnection> = tx.all(
        &format!(
            "SELECT {} FROM tracker_webhooks WHERE ws = ?1 ORDER BY kind",
            TrackerConnection::COLUMNS
        ),
        &[&cx.actor.ws],
    )?;
    for connection in &mut connections {
        // The row has the token, which is the last part of the address.
        let kind = connection.kind.as_str();
        connection.address = format!("{}/hooks/items/{kind}/{}", cx.public_url, connection.address);
    }
    let reopens = item_reports::reopens_linked(tx, cx.actor.ws)?;
    Ok(TrackerSettings { reopens, connections })
}

/// Makes the address that a tracker is to call, and the secret that proves its calls, shown this once. Linear makes
/// the secret itself. One that is connected already keeps its address and gets a new secret.
pub fn connect_tracker(tx: &mut Tx<'_>, cx: &Cx<'_>, tracker: Tracker) -> Result<Option<String>> {
    cx.actor.must_administer()?;
    refuse_in_sample(tx, cx.actor.ws)?;
    let secret = (tracker != Tracker::Linear).then(|| cx.ids.secret(TRACKER_SECRET_CHARS));
    let kept = secret.as_ref().map(|secret| seal(cx, tracker, secret));
    let made = tx.exec(
        "INSERT INTO tracker_webhooks (ws, kind, token, secret, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (ws, kind) DO NOTHING",
        &[&cx.actor.ws, &tracker, &cx.ids.token(TRACKER_TOKEN_CHARS), &kept, &cx.now],
    )?;
    if made > 0 {
        record(tx, cx, Action::TrackerConnected, tracker.label())?;
    } else if let Some(kept) = &kept {
        replace_secret(tx, cx, tracker, kept)?;
    }
    Ok(secret)
}

/// Sets a secret that the tracker made.
pub fn set_tracker_secret(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    tracker: Tracker,
    secret: &str,
) -> Result<()> {
    cx.actor.must_administer()?;
    let secret = secret.trim();
    let fits = (TRACKER_SECRET_CHARS_LEAST..=TRACKER_SECRET_CHARS_MOST).contains(&secret.len());
    if !fits || !secret.bytes().all(|b| b.is_ascii_graphic()) {
        let sentence = format!(
            "This is no secret: it has {TRACKER_SECRET_CHARS_LEAST} to \
             {TRACKER_SECRET_CHARS_MOST} letters, digits and signs."
        );
        return Err(Error::invalid("secret", sentence));
    }
    replace_secret(tx, cx, tracker, &seal(cx, tracker, secret))
}

fn replace_secret(tx: &mut Tx<'_>, cx: &Cx<'_>, tracker: Tracker, kept: &str) -> Result<()> {
    let changed = tx.exec(
        "UPDATE tracker_webhooks SET secret = ?3, called_at = NULL WHERE ws = ?1 AND kind = ?2",
        &[&cx.actor.ws, &tracker, &kept],
    )?;
    if changed == 0 {
        return Err(Error::NotFound("connection"));
    }
    record(tx, cx, Action::TrackerSecretChanged, tracker.label())
}

fn seal(cx: &Cx<'_>, tracker: Tracker, secret: &str) -> String {
    sealing::seal(cx, &sealing::tracker_purpose(cx.actor.ws, tracker.as_str()), secret)
}

/// Refuses the calls of a tracker from now on. Links stay as they are.
pub fn disconnect_tracker(tx: &mut Tx<'_>, cx: &Cx<'_>, tracker: Tracker) -> Result<()> {
    cx.actor.must_administer()?;
    let removed = tx.exec(
        "DELETE FROM tracker_webhooks WHERE ws = ?1 AND kind = ?2",
        &[&cx.actor.ws, &tracker],
    )?;
    if removed == 0 {
        return Err(Error::NotFound("connection"));
    }
    record(tx, cx, Action::TrackerDisconnected, tracker.label())
}

/// Chooses whether conversations are opened again when a linked item closes.
pub fn set_reopening(tx: &mut Tx<'_>, cx: &Cx<'_>, reopens: bool) -> Result<()> {
    cx.actor.must_administer()?;
    let changed = tx.exec(
        "UPDATE workspaces SET reopens_linked = ?2 WHERE ws = ?1 AND reopens_linked <> ?2",
        &[&cx.actor.ws, &reopens],
    )?;
    if changed == 0 {
        return Ok(());
    }
    record(tx, cx, Action::ReopeningChanged, if reopens { "on" } else { "off" })
}

fn record(tx: &mut Tx<'_>, cx: &Cx<'_>, action: Action, thing: &str) -> Result<()> {
    audit_log::record(tx, cx, &Circle::team(), action, thing, "")
}
