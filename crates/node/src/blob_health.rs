//! Whether the store of blobs answers, where they are in one that several nodes share.

use std::time::Duration;

use base::files::blobs::Blobs;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

/// How long an answer counts.
const ASKED_EVERY: Duration = Duration::from_secs(10);
/// A store that takes longer counts as silent. Calls themselves end later, each at its own limit.
const PATIENCE: Duration = Duration::from_secs(3);
/// The object that is asked for; it need not be there.
const TRIAL_NAME: &str = "mailroom-id";

/// What is said while the store is silent.
pub const SILENT: &str =
    "the object store of blobs does not answer: large mails and files cannot be read or taken in";

/// Asks the store now and then, and remembers what it said.
pub struct BlobHealth {
    blobs: Blobs,
    last: Mutex<Option<(Instant, bool)>>,
}

impl BlobHealth {
    pub fn of(blobs: &Blobs) -> BlobHealth {
        BlobHealth { blobs: blobs.clone(), last: Mutex::default() }
    }

    /// False while the store does not answer; `None` where blobs are in a folder.
    pub async fn is_up(&self) -> Option<bool> {
        self.blobs.shared_files()?;
        let mut last = self.last.lock().await;
        if let Some((at, is_up)) = *last
            && at.elapsed() < ASKED_EVERY
        {
            return Some(is_up);
        }
        let blobs = self.blobs.clone();
        let asked = tokio::task::spawn_blocking(move || {
            blobs.shared_files().map(|store| store.exists(TRIAL_NAME).map_err(|e| e.to_string()))
        });
        let problem = match timeout(PATIENCE, asked).await {
            Ok(Ok(Some(Ok(_)) | None)) => None,
            Ok(Ok(Some(Err(error)))) => Some(error),
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some("no answer in time".to_owned()),
        };
        let is_up = problem.is_none();
        let was_up = last.replace((Instant::now(), is_up)).is_none_or(|(_, was_up)| was_up);
        match problem {
            Some(why) if was_up => tracing::error!(why, "{SILENT}"),
            None if !was_up => tracing::info!("the object store of blobs answers again"),
            _ => {}
        }
        Some(is_up)
    }
}
