//! The relay that hands every mail to one SMTP server.

use std::net::SocketAddr;
use std::sync::Arc;

use jobs::{BoxFuture, OutgoingMail, Relay, RelayOutcome};
use model::mailboxes::mailbox_grants::GrantKey;
use model::mailboxes::outgoing_servers::{SubmissionLogin, SubmissionSecurity, SubmissionServer};
use rustls::RootCertStore;
use tokio::sync::Semaphore;

use super::connect_config::ServerConnectConfig;
use super::pool::SmtpPool;
use super::smtp::{
    self, ConnectFailure, ConnectFault, Login, Security, SmtpClientSession, SmtpSessionConfig,
    SmtpTimeouts, TransactionOutcome,
};
use super::{envelope, options::SmtpOptions};
use crate::mail_oauth::{AccessTokens, with_fresh_token};
use crate::net::host_guard::{HostGuard, HostRefusal};
use crate::net::resolver::Resolver;

/// Sessions with the relay at once.
const SESSIONS: usize = 8;
/// Addresses of the relay that are tried in order.
const ADDRESSES: usize = 4;

/// Hands every mail to one server that takes it on from there.
pub struct SmarthostRelay {
    host: String,
    port: u16,
    dial: SmtpSessionConfig,
    /// Where an access token is signed in with: the user, the grant, and who has the token.
    grant: Option<GrantLogin>,
    guard: HostGuard,
    pool: SmtpPool,
    places: Semaphore,
}

struct GrantLogin {
    user: String,
    key: GrantKey,
    tokens: Arc<dyn AccessTokens>,
}

impl SmarthostRelay {
    pub fn new(
        options: &SmtpOptions,
        helo: String,
        resolver: Arc<dyn Resolver>,
        roots: RootCertStore,
        patience: SmtpTimeouts,
    ) -> Result<SmarthostRelay, String> {
        let tls = smtp::verifying_config(roots)?;
        let login = options.login.clone();
        let login = login.map(|(user, password)| Login::Password { user, password });
        let dial = SmtpSessionConfig { helo, security: options.security, tls, login, patience };
        // The operator's relay may be anywhere.
        let guard = HostGuard::new(resolver, true);
        Ok(SmarthostRelay::with(options.host.clone(), options.port, dial, guard))
    }

    /// The server of an inbox, which people name in the app.
    pub fn for_inbox(
        server: &SubmissionServer,
        dialling: &ServerConnectConfig,
    ) -> Result<SmarthostRelay, String> {
        let dial = SmtpSessionConfig {
            helo: dialling.helo.clone(),
            security: match server.security {
                SubmissionSecurity::Tls => Security::FromTheStart,
                SubmissionSecurity::StartTls => Security::Required,
                SubmissionSecurity::Plain => Security::Clear,
            },
            tls: smtp::verifying_config(dialling.roots.clone())?,
            login: match &server.login {
                Some(SubmissionLogin::Password { username, password }) => {
                    Some(Login::Password { user: username.clone(), password: password.clone() })
                }
                Some(SubmissionLogin::Grant { .. }) | None => None,
            },
            patience: dialling.timeouts,
        };
        let mut guard = dialling.guard.clone();
        let mut grant = None;
        if let Some(SubmissionLogin::Grant { username, key }) = &server.login {
            // The operator's settings name the servers of a provider, so they may be anywhere.
            guard = guard.allow_any_host();
            let tokens = Arc::clone(&dialling.tokens);
            grant = Some(GrantLogin { user: username.clone(), key: key.clone(), tokens });
        }
        let relay = SmarthostRelay::with(server.host.clone(), server.port, dial, guard);
        Ok(SmarthostRelay { grant, ..relay })
    }

    fn with(host: String, port: u16, dial: SmtpSessionConfig, guard: HostGuard) -> SmarthostRelay {
        let (pool, places) = (SmtpPool::default(), Semaphore::new(SESSIONS));
        SmarthostRelay { host, port, dial, grant: None, guard, pool, places }
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
        let reason = match self.connect().await {
            Ok(session) => match self.send_in_session(session, mail, recipients).await {
                TransactionOutcome::Outcomes(outcomes) => return outcomes,
                TransactionOutcome::Gone(reason) => reason,
            },
            Err(trouble) => trouble.reason(),
        };
        let reason = reason.map_sentence(|last| format!("relay: {last}"));
        vec![RelayOutcome::Unavailable(reason); recipients.len()]
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

    pub async fn connect(&self) -> Result<SmtpClientSession, ConnectFailure> {
        let Some(GrantLogin { user, key, tokens }) = &self.grant else {
            return self.connect_with(&self.dial).await;
        };
        let is_refusal = |failure: &ConnectFailure| failure.fault == ConnectFault::Refused;
        with_fresh_token(&**tokens, key, is_refusal, |token: String| async move {
            let login = Some(Login::AccessToken { user: user.clone(), token });
            self.connect_with(&SmtpSessionConfig { login, ..self.dial.clone() }).await
        })
        .await
    }

    async fn connect_with(
        &self,
        dial: &SmtpSessionConfig,
    ) -> Result<SmtpClientSession, ConnectFailure> {
        let addresses =
            self.guard.addresses(&self.host).await.map_err(|refusal| match refusal {
                HostRefusal::NotFound => {
                    ConnectFailure::of(ConnectFault::NotFound, "its name could not be found")
                }
                HostRefusal::Private => ConnectFailure::of(
                    ConnectFault::Private,
                    "its name leads into a private network",
                ),
            })?;
        let mut trouble = ConnectFailure::of(ConnectFault::NotFound, "its name could not be found");
        for address in addresses.into_iter().take(ADDRESSES) {
            let address = SocketAddr::new(address, self.port);
            match SmtpClientSession::open(address, &self.host, dial).await {
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
