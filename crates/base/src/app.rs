//! The application: store, clock, ids, blobs and ports that everything else is handed.

use std::sync::Arc;

use db::{Store, Tx};

use crate::actor::Actor;
use crate::agent_presence::AgentPresence;
use crate::call_log::CallLog;
use crate::concurrency::background_writes::BackgroundWrites;
use crate::concurrency::queue::Queue;
use crate::error::Result;
use crate::files::blobs::Blobs;
use crate::files::scanner::Scanner;
use crate::ids::Ids;
use crate::mail_reading::MailReading;
use crate::panel_answers::PanelAnswers;
use crate::rate_limit::RateLimiter;
use crate::security::secret_sealer::SecretSealer;
use crate::sorter_models::SorterModels;
use crate::time::Clock;

/// The dependencies of operations. Cheap to clone.
#[derive(Clone)]
pub struct App {
    pub store: Store,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<Ids>,
    pub blobs: Blobs,
    /// Reads mails, and remembers those that ended a process.
    pub reading: MailReading,
    pub limiter: Arc<RateLimiter>,
    /// Which agents are at work on which conversation.
    pub agents: Arc<AgentPresence>,
    /// The calls of keys that are still to be written down.
    pub calls: Arc<CallLog>,
    /// What was learned from decisions about mail.
    pub sorters: Arc<SorterModels>,
    /// What the apps of owners answered about customers, and the port to them.
    pub panels: Arc<PanelAnswers>,
    /// Writes that no response waits for.
    pub background: BackgroundWrites,
    /// The virus scanner for customers' uploads, if one is configured.
    pub scanner: Option<Arc<dyn Scanner>>,
    /// Encrypts the secrets in the database.
    pub sealer: Arc<dyn SecretSealer>,
    /// False while no relay is configured: then messages are refused instead of promised.
    pub has_relay: bool,
    /// Where this service can be reached from outside, without a slash at the end.
    pub public_url: Arc<str>,
}

/// The context of an operation: the actor, the current time, and the source of random ids.
pub struct Cx<'a> {
    pub actor: &'a Actor,
    /// False while no relay is configured.
    pub has_relay: bool,
    pub now: i64,
    pub ids: &'a Ids,
    pub public_url: &'a str,
    pub blobs: &'a Blobs,
    pub sealer: &'a dyn SecretSealer,
    pub sorters: &'a SorterModels,
    pub panels: &'a PanelAnswers,
}

impl App {
    pub fn cx<'a>(&'a self, actor: &'a Actor) -> Cx<'a> {
        Cx {
            actor,
            has_relay: self.has_relay,
            now: self.clock.now(),
            ids: &self.ids,
            public_url: &self.public_url,
            blobs: &self.blobs,
            sealer: &*self.sealer,
            sorters: &self.sorters,
            panels: &self.panels,
        }
    }

    /// Runs a read operation as an authenticated actor.
    pub async fn read<T, F>(&self, actor: &Actor, mut operation: F) -> Result<T>
    where
        F: FnMut(&mut Tx<'_>, &Cx<'_>) -> Result<T> + Send + 'static,
        T: Send + 'static,
    {
        let (app, actor) = (self.clone(), actor.clone());
        self.store.read(move |tx| operation(tx, &app.cx(&actor))).await
    }

    /// Runs a write operation as an authenticated actor, and notifies open pages.
    pub async fn act<T, F>(&self, actor: &Actor, mut operation: F) -> Result<T>
    where
        F: FnMut(&mut Tx<'_>, &Cx<'_>) -> Result<T> + Send + 'static,
        T: Send + 'static,
    {
        let (app, actor) = (self.clone(), actor.clone());
        self.store
            .write(move |tx| {
                tx.wake(Queue::Pages);
                operation(tx, &app.cx(&actor))
            })
            .await
    }
}
