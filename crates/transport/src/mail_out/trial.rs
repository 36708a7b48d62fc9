//! Tries a server out before it is saved, and says what is wrong in a sentence for the people who set
//! up an inbox.

use std::time::Duration;

use model::mailboxes::outgoing_servers::{SubmissionLogin, SubmissionServer};

use super::connect_config::ServerConnectConfig;
use super::smarthost::SmarthostRelay;
use super::smtp::{ConnectFailure, ConnectFault, SmtpTimeouts};

/// A trial has somebody waiting: it gives up sooner than sending does.
const TRIAL: SmtpTimeouts = SmtpTimeouts {
    connect: Duration::from_secs(10),
    command: Duration::from_secs(15),
    block: Duration::from_secs(15),
    verdict: Duration::from_secs(15),
};

/// Why a server cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrialFailure {
    pub sentence: String,
    /// The server was reached and does not accept the user name and password.
    pub refused: bool,
    /// The server's own words for that, in a few characters.
    pub said: String,
}

/// Connects, encrypts and logs in, and sends nothing.
pub async fn try_submission(
    server: &SubmissionServer,
    dialling: &ServerConnectConfig,
) -> Result<(), TrialFailure> {
    let dialling = ServerConnectConfig { timeouts: TRIAL, ..dialling.clone() };
    let relay = SmarthostRelay::for_inbox(server, &dialling).map_err(|sentence| TrialFailure {
        sentence,
        refused: false,
        said: String::new(),
    })?;
    match relay.connect().await {
        Ok(session) => {
            session.quit().await;
            Ok(())
        }
        Err(failure) => Err(trial_failure(server, &failure)),
    }
}

fn trial_failure(server: &SubmissionServer, failure: &ConnectFailure) -> TrialFailure {
    let SubmissionServer { host, port, .. } = server;
    let said = match failure.said.is_empty() {
        true => String::new(),
        false => format!(" It said: {}.", failure.said.trim_end_matches('.')),
    };
    let sentence = match failure.fault {
        ConnectFault::NotFound => format!("There is no server called {host}."),
        ConnectFault::Private => format!(
            "{host} is in a private network, which this service does not connect to. Whoever runs \
             it can allow that with MAILROOM_MAIL_ALLOW_PRIVATE."
        ),
        ConnectFault::Unreachable => format!("Nobody answers at {host} on port {port}."),
        ConnectFault::Slow => format!("{host} did not answer in time on port {port}."),
        ConnectFault::NoEncryption => {
            format!("{host} offers no encryption on port {port}, and nothing is sent without it.")
        }
        ConnectFault::Encryption => format!(
            "The connection to {host} on port {port} could not be encrypted. See whether the port \
             belongs to this kind of encryption, and whether the certificate is for this name."
        ),
        ConnectFault::Refused => match server.login {
            Some(SubmissionLogin::Grant { .. }) => {
                format!("{host} does not let this user send by this sign-in.{said}")
            }
            Some(SubmissionLogin::Password { .. }) | None => {
                format!("{host} does not accept the user name and password.{said}")
            }
        },
        ConnectFault::NoToken => failure.sentence.clone(),
        ConnectFault::Other => format!("{host} cannot be used: {}.", failure.sentence),
    };
    let refused = failure.fault == ConnectFault::Refused;
    TrialFailure { sentence, refused, said: failure.said.clone() }
}
