//! Messages of small workspaces that fall due one after the other, and when they really leave.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use api::operations::ReplyInput;
use api::operations::reply;
use base::app::Cx;
use base::limits::DAY_MS;
use base::time::Moment;
use db::{Store, StoreError, Tx};

use super::fill::{HostedFill, HostedWorkspace};
use crate::crash::Outbox;

/// When messages are planned for until their turn comes.
const FAR_MS: i64 = 200 * DAY_MS;
/// Messages that are written in one transaction.
const WRITTEN_AT_ONCE: usize = 250;
/// Conversations of a workspace that messages are written on.
const CONVERSATIONS: i64 = 500;
/// How often the folder of sent mail is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// A message that waits for its turn.
#[derive(Clone, Debug)]
pub struct PlannedSend {
    ws: i64,
    message: String,
}

/// The time now, in milliseconds since 1970.
pub fn now_ms() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64() * 1e3
}

impl HostedFill {
    /// Writes so many replies in a workspace, which are planned for a day that nobody waits for.
    pub fn plan(
        &self,
        workspace: &HostedWorkspace,
        count: usize,
    ) -> Result<Vec<PlannedSend>, String> {
        let mut planned = Vec::new();
        while planned.len() < count {
            let (ws, some) = (workspace.ws, (count - planned.len()).min(WRITTEN_AT_ONCE));
            let write = move |tx: &mut Tx<'_>, cx: &Cx<'_>| {
                let conversations: Vec<(String,)> = tx.all(
                    "SELECT id FROM conversations WHERE ws = ?1 AND circle = 'team'
                     ORDER BY id LIMIT ?2",
                    &[&ws, &CONVERSATIONS],
                )?;
                let replies = conversations.iter().cycle().take(some).map(|(id,)| {
                    let input = ReplyInput {
                        id: id.clone(),
                        body: "Your parcel left on Tuesday.".into(),
                        send: true,
                        send_at: Some(Moment(cx.now + FAR_MS)),
                        ..ReplyInput::default()
                    };
                    Ok(reply(tx, cx, input)?.message_id.as_str().to_owned())
                });
                replies.collect::<base::error::Result<Vec<String>>>()
            };
            let written = self.runtime.block_on(self.app.act(&workspace.owner, write));
            let written = written.map_err(|error| error.to_string())?;
            if written.is_empty() {
                return Err(format!("{} has no conversation", workspace.slug));
            }
            planned.extend(written.into_iter().map(|message| PlannedSend { ws, message }));
        }
        Ok(planned)
    }
}

/// Lets messages fall due at an even pace; answers when each of them is. The undo window cannot be
/// shortened, so their rows are changed while they wait for the day that they were planned for.
pub async fn let_fall_due(
    store: &Store,
    sends: &[PlannedSend],
    first_ms: i64,
    every_ms: f64,
) -> Result<HashMap<String, f64>, String> {
    let times = sends.iter().enumerate().map(|(number, send)| {
        let due = first_ms + (number as f64 * every_ms) as i64;
        (send.clone(), due)
    });
    let times: Vec<(PlannedSend, i64)> = times.collect();
    let changes = times.clone();
    let change = move |tx: &mut Tx<'_>| {
        for (send, due) in &changes {
            tx.exec(
                "UPDATE messages SET sends_at = ?3
                 WHERE ws = ?1 AND id = ?2 AND status = 'scheduled'",
                &[&send.ws, &send.message, due],
            )?;
        }
        Ok::<_, StoreError>(())
    };
    store.write(change).await.map_err(|error| error.to_string())?;
    Ok(times.into_iter().map(|(send, due)| (send.message, due as f64)).collect())
}

/// How many messages a workspace has.
pub async fn count_messages(store: &Store, ws: i64) -> Result<i64, String> {
    let count = move |tx: &mut Tx<'_>| {
        let sql = "SELECT CAST(count(*) AS BIGINT) FROM messages WHERE ws = ?1";
        Ok::<_, StoreError>(tx.one::<(i64,)>(sql, &[&ws])?.0)
    };
    store.read(count).await.map_err(|error| error.to_string())
}

/// When each message was first seen somewhere, in milliseconds since 1970.
#[derive(Clone, Default)]
pub struct Sightings(Arc<Mutex<HashMap<String, f64>>>);

impl Sightings {
    pub fn add(&self, message: String) {
        let now = now_ms();
        self.lock().entry(message).or_insert(now);
    }

    pub fn of(&self, message: &str) -> Option<f64> {
        self.lock().get(message).copied()
    }

    pub fn len(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, f64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Watches the folder that mail leaves to.
pub struct Departures {
    pub seen: Sightings,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<(), String>>,
}

impl Departures {
    pub fn watch(folder: &Path) -> Result<Departures, String> {
        let mut outbox = Outbox::watch(folder)?;
        let (seen, stop) = (Sightings::default(), Arc::new(AtomicBool::new(false)));
        let (told, stopped) = (seen.clone(), stop.clone());
        let thread = thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                outbox.look()?.into_iter().for_each(|message| told.add(message));
                thread::sleep(LOOK_EVERY);
            }
            Ok(())
        });
        Ok(Departures { seen, stop, thread })
    }

    /// Stops to watch; an error when mail was missed.
    pub fn finish(self) -> Result<(), String> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| "the folder of sent mail is not watched any more")?
    }
}

/// The message that an event says was sent.
pub fn sent_message(body: &[u8]) -> Option<String> {
    const TYPE: &str = "\"message.sent\"";
    const MESSAGE: &str = "\"message_id\":\"";
    let body = str::from_utf8(body).ok().filter(|body| body.contains(TYPE))?;
    let (_, rest) = body.split_once(MESSAGE)?;
    rest.split('"').next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::sent_message;

    #[test]
    fn only_an_event_of_a_sent_message_names_it() {
        let body = br#"{"type":"message.sent","data":{"message_id":"msg_1","author":null}}"#;
        assert_eq!(sent_message(body).as_deref(), Some("msg_1"));
        let other = br#"{"type":"client.replied","data":{"message_id":"msg_1"}}"#;
        assert_eq!(sent_message(other), None);
    }
}
