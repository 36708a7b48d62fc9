//! Sends each mail through the server of its inbox, where it has one, and every other mail through
//! the operator's relay.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use jobs::{BoxFuture, OutgoingMail, Relay, RelayOutcome, RelayReason};
use model::mailboxes::outgoing_servers::{SubmissionProtocol, SubmissionServer};

use super::connect_config::ServerConnectConfig;
use super::graph_relay::GraphRelay;
use super::smarthost::SmarthostRelay;

/// Servers that are kept with their open sessions.
const SERVERS: usize = 500;

pub struct RelayRouter {
    default: Arc<dyn Relay>,
    /// The operator's relay reaches people.
    reaches_people: bool,
    dialling: ServerConnectConfig,
    open: Mutex<HashMap<String, OpenServer>>,
}

struct OpenServer {
    server: Arc<SubmissionServer>,
    relay: Arc<dyn Relay>,
}

impl RelayRouter {
    pub fn new(
        default: Arc<dyn Relay>,
        reaches_people: bool,
        dialling: ServerConnectConfig,
    ) -> RelayRouter {
        RelayRouter { default, reaches_people, dialling, open: Mutex::default() }
    }

    /// The relay of a server. One whose settings changed is made anew; its running mails go on.
    fn relay_of(&self, server: &Arc<SubmissionServer>) -> Result<Arc<dyn Relay>, String> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let key = server.key();
        if let Some(known) = open.get(&key).filter(|known| known.server == *server) {
            return Ok(Arc::clone(&known.relay));
        }
        if open.len() >= SERVERS {
            open.clear();
        }
        let relay: Arc<dyn Relay> = match server.protocol {
            SubmissionProtocol::Smtp => {
                Arc::new(SmarthostRelay::for_inbox(server, &self.dialling)?)
            }
            SubmissionProtocol::Graph => Arc::new(GraphRelay::for_inbox(server, &self.dialling)?),
        };
        open.insert(key, OpenServer { server: Arc::clone(server), relay: Arc::clone(&relay) });
        Ok(relay)
    }

    async fn send_through(
        &self,
        server: &Arc<SubmissionServer>,
        mail: &OutgoingMail,
    ) -> Vec<RelayOutcome> {
        match self.relay_of(server) {
            Ok(relay) => relay.send(mail).await,
            Err(sentence) => {
                let reason = RelayReason::new("server-settings", sentence);
                vec![RelayOutcome::Unavailable(reason); mail.recipients.len()]
            }
        }
    }
}

impl Relay for RelayRouter {
    fn send<'a>(&'a self, mail: &'a OutgoingMail) -> BoxFuture<'a, Vec<RelayOutcome>> {
        let own = mail.server.as_ref().filter(|_| !(mail.of_service && self.reaches_people));
        match own {
            Some(server) => Box::pin(self.send_through(server, mail)),
            None => self.default.send(mail),
        }
    }

    fn parts(&self, recipients: &[String]) -> Vec<Vec<String>> {
        self.default.parts(recipients)
    }
}
