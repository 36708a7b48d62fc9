//! Signing in to a mailbox's servers before it is connected.

use std::sync::Arc;
use std::time::Duration;

use inbound::imap::{FetchFailure, ImapServer, PostFetchAction};
use model::mailboxes::mailbox_grants::GrantKey;
use model::mailboxes::outgoing_servers::{SubmissionLogin, SubmissionProtocol, SubmissionServer};
use tokio::time::timeout;
use url::Url;

use super::MailboxFinder;
use super::providers::{PasswordAccess, Provider};
use super::servers::{IncomingServer, OutgoingServer};
use crate::graph::GraphClient;
use crate::imap_client::{ImapCredential, ImapFault, try_out};
use crate::mail_oauth::FixedToken;
use crate::mail_out::try_submission;

/// How long somebody waits for what Microsoft Graph says of a mailbox.
const COUNTING: Duration = Duration::from_secs(30);

/// What is tried.
#[derive(Clone)]
pub struct MailboxTrial {
    pub incoming: IncomingServer,
    /// `None` where the mailbox is only read.
    pub outgoing: Option<OutgoingServer>,
    pub username: String,
    pub credential: TrialCredential,
    pub provider: Option<&'static Provider>,
}

/// What the servers are signed in to with.
#[derive(Clone)]
pub enum TrialCredential {
    Password(String),
    AccessToken(String),
}

impl TrialCredential {
    fn imap(&self) -> ImapCredential<'_> {
        match self {
            TrialCredential::Password(password) => ImapCredential::Password(password),
            TrialCredential::AccessToken(token) => ImapCredential::AccessToken(token),
        }
    }

    fn submission(&self, username: &str) -> SubmissionLogin {
        let username = username.to_owned();
        match self {
            TrialCredential::Password(password) => {
                SubmissionLogin::Password { username, password: password.clone() }
            }
            // Nothing is stored yet, so there is no grant: the dialling has the token.
            TrialCredential::AccessToken(_) => {
                let key = GrantKey { ws: 0, mailbox: String::new() };
                SubmissionLogin::Grant { username, key }
            }
        }
    }
}

/// How it went: an error is a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriedMailbox {
    /// The number of mails in the mailbox.
    pub incoming: Result<u32, String>,
    pub outgoing: Result<(), String>,
    /// What to do about a refused password, where that is known.
    pub advice: Option<String>,
    /// A server was reached and refused the password.
    pub refused: bool,
}

impl TriedMailbox {
    pub fn works(&self) -> bool {
        self.incoming.is_ok() && self.outgoing.is_ok()
    }
}

impl MailboxFinder {
    /// Signs in to both servers, reads how many mails there are, and sends nothing.
    pub async fn try_out(&self, trial: &MailboxTrial) -> TriedMailbox {
        let IncomingServer { host, port, security } = trial.incoming.clone();
        let server = ImapServer {
            host,
            port,
            security,
            username: trial.username.clone(),
            folder: "INBOX".into(),
            by_operator: matches!(trial.credential, TrialCredential::AccessToken(_)),
        };
        let submission = trial.outgoing.clone().map(|outgoing| SubmissionServer {
            ws: 0,
            mailbox: String::new(),
            protocol: SubmissionProtocol::Smtp,
            host: outgoing.host,
            port: outgoing.port,
            security: outgoing.security,
            login: Some(trial.credential.submission(&trial.username)),
        });
        let mut dialling = self.dialling.clone();
        if let TrialCredential::AccessToken(token) = &trial.credential {
            dialling.tokens = Arc::new(FixedToken(token.clone()));
        }
        let sends = async {
            match &submission {
                Some(server) => try_submission(server, &dialling).await,
                None => Ok(()),
            }
        };
        let credential = trial.credential.imap();
        let reads = try_out(&server, credential, &PostFetchAction::Nothing, &self.dialer);
        let (reads, sends) = tokio::join!(reads, sends);
        let refused = reads.as_ref().is_err_and(FetchFailure::is_refused)
            || sends.as_ref().is_err_and(|failure| failure.refused);
        let said = match (&reads, &sends) {
            (Err(failure), _) => failure.sentence.clone(),
            (_, Err(failure)) => failure.said.clone(),
            _ => String::new(),
        };
        TriedMailbox {
            incoming: reads.map_err(|failure| failure.sentence),
            outgoing: sends.map_err(|failure| failure.sentence),
            advice: if refused { advice(trial.provider, &said) } else { None },
            refused,
        }
    }
}

/// The same by Microsoft Graph. What it lets the account send is seen only by sending.
pub async fn try_graph(address: &Url, trial: &MailboxTrial) -> TriedMailbox {
    let IncomingServer { host, port, security } = trial.incoming.clone();
    let server = ImapServer {
        host,
        port,
        security,
        username: trial.username.clone(),
        folder: String::new(),
        by_operator: true,
    };
    let counted = match (&trial.credential, GraphClient::new(address.clone())) {
        (TrialCredential::AccessToken(token), Ok(client)) => {
            let counting = client.count(token, &trial.username);
            let counted = timeout(COUNTING, counting).await;
            counted
                .map_err(|_| ImapFault::Slow(COUNTING))
                .and_then(|counted| counted.map_err(ImapFault::from))
        }
        _ => Err(ImapFault::Ours),
    };
    TriedMailbox {
        incoming: counted.map_err(|fault| fault.trouble(&server).sentence),
        outgoing: Ok(()),
        advice: None,
        refused: false,
    }
}

/// What to do about a refused password.
fn advice(provider: Option<&Provider>, said: &str) -> Option<String> {
    let said = said.to_ascii_lowercase();
    let wants_app_password = ["application-specific", "app password", "app-specific"]
        .iter()
        .any(|words| said.contains(words));
    match provider.map(|provider| (provider.name, provider.access)) {
        Some((name, PasswordAccess::AppPassword(page))) => Some(format!(
            "{name} does not take the usual password from mail programs. Make an app password at \
             {page} and put it in here."
        )),
        Some((name, PasswordAccess::SignIn)) => Some(format!(
            "{name} takes no passwords from mail programs any more. Connect the mailbox by signing \
             in at {name}, or forward its mail to an inbox here."
        )),
        _ if wants_app_password => Some(
            "This provider wants an app password: one that you make in your account there for this \
             use alone."
                .into(),
        ),
        _ => None,
    }
}
