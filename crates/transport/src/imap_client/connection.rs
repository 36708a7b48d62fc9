//! Connects and signs in to an IMAP server.

use async_imap::imap_proto::{Response, Status};
use async_imap::{Authenticator, Client, Session};

use super::failures::ImapFault;
use super::transport::ImapWire;
use crate::mail_oauth::xoauth2;

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
            Response::Data { outcome, .. } => Err(ImapFault::from_refusal(
                outcome.information.as_deref().unwrap_or("it is not ready"),
            )),
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
        credential: ImapCredential<'_>,
    ) -> Result<Session<ImapWire>, ImapFault> {
        let (logged_in, refused): (_, fn(String) -> ImapFault) = match credential {
            ImapCredential::Password(password) => {
                let logged_in = if username.is_ascii() && password.is_ascii() {
                    self.0.login(username, password).await
                } else {
                    self.0.authenticate("PLAIN", Plain { username, password }).await
                };
                (logged_in, ImapFault::Refused)
            }
            ImapCredential::AccessToken(token) => {
                let first = Some(xoauth2(username, token));
                (self.0.authenticate("XOAUTH2", XOAuth2(first)).await, ImapFault::TokenRefused)
            }
        };
        logged_in.map_err(|(error, _)| match ImapFault::from(error) {
            ImapFault::Said(words) => refused(words),
            fault => fault,
        })
    }
}

/// What a server is signed in to with.
#[derive(Clone, Copy)]
pub enum ImapCredential<'a> {
    Password(&'a str),
    AccessToken(&'a str),
}

/// The SASL mechanism XOAUTH2: a refusal is a second challenge, and is answered with nothing.
struct XOAuth2(Option<String>);

impl Authenticator for XOAuth2 {
    type Response = String;

    fn process(&mut self, _: &[u8]) -> String {
        self.0.take().unwrap_or_default()
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
