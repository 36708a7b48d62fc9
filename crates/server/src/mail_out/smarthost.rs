//! The relay that hands every mail to one SMTP server.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use inbox::jobs::{BoxFuture, OutgoingMail, Relay, RelayOutcome};
use rustls::RootCertStore;
use tokio::sync::Semaphore;

use super::pool::SmtpPool;
use super::smtp::{
    self, ConnectFailure, Dial, Login, SmtpClientSession, SmtpTimeouts, TransactionOutcome,
};
use super::{envelope, options::SmtpOptions};
use crate::net::resolver::Resolver;

/// Sessions with the relay at once.
const SESSIONS: usize = 8;
/// Addresses of the relay that are tried in order.
const ADDRESSES: usize = 4;

/// Hands every mail to one server that takes it on from there.
pub struct SmarthostRelay {
    host: String,
    port: u16,
    dial: Dial,
    resolver: Arc<dyn Resolver>,
    pool: SmtpPool,
    places: Semaphore,
}

impl SmarthostRelay {
    pub fn new(
        options: &SmtpOptions,
        helo: String,
        resolver: Arc<dyn Resolver>,
        roots: RootCertStore,
        patience: SmtpTimeouts,
    ) -> Result<SmarthostRelay, String> {
        let tls = smtp::checked(roots)?;
        let login = options.login.clone().map(|(user, password)| Login { user, password });
        Ok(SmarthostRelay {
            host: options.host.clone(),
            port: options.port,
            dial: Dial { helo, security: options.security, tls, login, patience },
            resolver,
            pool: SmtpPool::default(),
            places: Semaphore::new(SESSIONS),
        })
    }

    async fn hand_over(&self, mail: &OutgoingMail, recipients: &[String]) -> Vec<RelayOutcome> {
        let _place = self.places.acquire().await;
        // The server may have closed a pooled session meanwhile. Nothing of this mail was sent
        // then, so a new session is opened.
        while let Some(session) = self.pool.take(&self.host) {
            match self.send_in_session(session, mail, recipients).await {
                TransactionOutcome::Outcomes(outcomes) => return outcomes,
                TransactionOutcome::Gone(_) => {}
            }
        }
        let sentence = match self.connect().await {
            Ok(session) => match self.send_in_session(session, mail, recipients).await {
                TransactionOutcome::Outcomes(outcomes) => return outcomes,
                TransactionOutcome::Gone(sentence) => sentence,
            },
            Err(trouble) => trouble.sentence,
        };
        vec![RelayOutcome::Later(format!("relay: {sentence}")); recipients.len()]
    }

    async fn send_in_session(
        &self,
        mut session: SmtpClientSession,
        mail: &OutgoingMail,
        recipients: &[String],
    ) -> TransactionOutcome {
        let sent = session.send(mail, recipients).await;
        self.pool.give(&self.host, session);
        sent
    }

    async fn connect(&self) -> Result<SmtpClientSession, ConnectFailure> {
        let addresses: Vec<IpAddr> = match self.host.parse() {
            Ok(address) => vec![address],
            Err(_) => self.resolver.look_up(&self.host).await.unwrap_or_default(),
        };
        let mut trouble = ConnectFailure::new("its name could not be found");
        for address in addresses.into_iter().take(ADDRESSES) {
            let address = SocketAddr::new(address, self.port);
            match SmtpClientSession::open(address, &self.host, &self.dial).await {
                Ok(session) => return Ok(session),
                Err(met) => trouble = met,
            }
        }
        Err(trouble)
    }
}

impl Relay for SmarthostRelay {
    fn send<'a>(&'a self, mail: &'a OutgoingMail) -> BoxFuture<'a, Vec<RelayOutcome>> {
        Box::pin(envelope::to_deliverable(mail, async move |mail, recipients: Vec<String>| {
            self.hand_over(&mail, &recipients).await
        }))
    }
}
