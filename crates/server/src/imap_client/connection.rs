//! Connects and signs in to an IMAP server.

use async_imap::imap_proto::{Response, Status};
use async_imap::{Authenticator, Client, Session};

use super::failures::ImapFault;
use super::transport::ImapWire;

/// A connection before LOGIN.
pub struct ImapConnection(Client<ImapWire>);

impl ImapConnection {
    pub fn new(wire: ImapWire) -> ImapConnection {
        ImapConnection(Client::new(wire))
    }

    pub fn into_wire(self) -> ImapWire {
        self.0.into_inner()
    }

    /// Reads the greeting; a server that is not ready says BYE here.
    pub async fn greeting(&mut self) -> Result<(), ImapFault> {
        let greeting = self.0.read_response().await?.ok_or(ImapFault::BrokeOff)?;
        match greeting.parsed() {
            Response::Data { status: Status::Ok | Status::PreAuth, .. } => Ok(()),
            Response::Data { outcome, .. } => {
                Err(ImapFault::said(outcome.information.as_deref().unwrap_or("it is not ready")))
            }
            _ => Err(ImapFault::Unclear),
        }
    }

    pub async fn start_tls(&mut self) -> Result<(), ImapFault> {
        let started = self.0.run_command_and_check_ok("STARTTLS", None).await;
        started.map_err(|error| match ImapFault::from(error) {
            ImapFault::Said(_) => ImapFault::NoStartTls,
            fault => fault,
        })
    }

    /// Logs in. LOGIN takes ASCII only, so other names and passwords use AUTHENTICATE PLAIN.
    pub async fn log_in(
        self,
        username: &str,
        password: &str,
    ) -> Result<Session<ImapWire>, ImapFault> {
        let logged_in = if username.is_ascii() && password.is_ascii() {
            self.0.login(username, password).await
        } else {
            self.0.authenticate("PLAIN", Plain { username, password }).await
        };
        logged_in.map_err(|(error, _)| match ImapFault::from(error) {
            ImapFault::Said(words) => ImapFault::Refused(words),
            fault => fault,
        })
    }
}

/// The SASL mechanism PLAIN (RFC 4616).
struct Plain<'a> {
    username: &'a str,
    password: &'a str,
}

impl Authenticator for Plain<'_> {
    type Response = String;

    fn process(&mut self, _: &[u8]) -> String {
        format!("\0{}\0{}", self.username, self.password)
    }
}
