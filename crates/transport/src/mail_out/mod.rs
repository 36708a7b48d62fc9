//! Outgoing mail: the relays that `MAILROOM_RELAY` can name.

mod connect_config;
mod divided_mail;
pub mod dns_records;
mod domain_slots;
mod envelope;
mod folder;
mod graph_relay;
mod mta_sts;
mod mx;
mod options;
mod pool;
mod router;
mod smarthost;
mod smtp;
mod trial;

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use base::security::public_ip::is_public;
use jobs::{BoxFuture, OutgoingMail, Relay, RelayOutcome, RelayReason};
use url::{Host, Url};

use crate::mail_oauth::AccessTokens;
use crate::net::config::NetConfig;
use crate::net::dns::resolver_at;
use crate::net::dns_lookup::Lookup;
use crate::net::host_guard::HostGuard;
use crate::net::http_client::system_roots;
use crate::net::ssrf_guard::SsrfGuard;

pub use connect_config::ServerConnectConfig;
pub use folder::FolderRelay;
pub use mta_sts::{PolicySource, WebPolicies};
pub use mx::MxRelay;
pub use options::{MxOptions, MxTls, SmtpOptions};
pub use router::RelayRouter;
pub use smarthost::SmarthostRelay;
pub use smtp::{Security, SmtpTimeouts};
pub use trial::{TrialFailure, try_submission};

/// What `MAILROOM_RELAY` names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RelayTarget {
    /// `smtp://…` and `smtps://…`: one server takes every mail.
    Smarthost(SmtpOptions),
    /// `mx:`: every mail goes to the servers of its recipients.
    Direct(MxOptions),
    /// `file:FOLDER`: each mail becomes a file there.
    Folder(PathBuf),
    /// Nothing is configured: mail waits.
    Nowhere,
}

impl FromStr for RelayTarget {
    type Err = String;

    /// The error is a sentence without its subject, and never repeats a password.
    fn from_str(text: &str) -> Result<RelayTarget, String> {
        match text.split_once(':') {
            Some(("smtp" | "smtps", _)) => text.parse().map(RelayTarget::Smarthost),
            Some(("mx", _)) => text.parse().map(RelayTarget::Direct),
            Some(("file", folder)) if !folder.is_empty() => Ok(RelayTarget::Folder(folder.into())),
            _ => Err("must be smtp://HOST, smtps://HOST, mx: or file:FOLDER".into()),
        }
    }
}

impl RelayTarget {
    /// False where mail waits or becomes a file.
    pub fn reaches_people(&self) -> bool {
        !matches!(self, RelayTarget::Folder(_) | RelayTarget::Nowhere)
    }
}

/// How outgoing mail leaves this machine.
#[derive(Clone, Debug)]
pub struct RelayConfig {
    pub target: RelayTarget,
    pub public_url: Option<String>,
    pub net: NetConfig,
}

impl RelayConfig {
    /// The operator's relay, and the servers that inboxes have of their own.
    pub fn open_router(&self, tokens: Arc<dyn AccessTokens>) -> Result<Arc<dyn Relay>, String> {
        let reaches_people = self.target.reaches_people();
        Ok(Arc::new(RelayRouter::new(self.open()?, reaches_people, self.dialling(tokens)?)))
    }

    /// How the servers of inboxes are connected to.
    pub fn dialling(&self, tokens: Arc<dyn AccessTokens>) -> Result<ServerConnectConfig, String> {
        Ok(ServerConnectConfig {
            helo: self.host_name().unwrap_or_else(|| "localhost".into()),
            guard: HostGuard::of(&self.net)?,
            roots: system_roots(),
            timeouts: SmtpTimeouts::default(),
            tokens,
        })
    }

    pub fn open(&self) -> Result<Arc<dyn Relay>, String> {
        let timeouts = SmtpTimeouts::default();
        Ok(match &self.target {
            RelayTarget::Smarthost(options) => {
                let helo = self.host_name().unwrap_or_else(|| "localhost".into());
                let resolver = resolver_at(self.net.dns)?;
                Arc::new(SmarthostRelay::new(options, helo, resolver, system_roots(), timeouts)?)
            }
            RelayTarget::Direct(options) => {
                let helo = self.host_name().ok_or(
                    "relay: mx: needs the name by which other mail servers find this one: set \
                     MAILROOM_PUBLIC_URL, or write mx:?helo=NAME",
                )?;
                let may_dial = if self.net.allow_private { |_| true } else { is_public };
                let lookup = Lookup::at(self.net.dns)?;
                let policies = WebPolicies::new(SsrfGuard::of(&self.net)?, system_roots())?;
                Arc::new(MxRelay::new(
                    options,
                    helo,
                    lookup,
                    may_dial,
                    system_roots(),
                    timeouts,
                    Arc::new(policies),
                )?)
            }
            RelayTarget::Folder(folder) => Arc::new(
                FolderRelay::open(folder)
                    .map_err(|error| format!("relay: {}: {error}", folder.display()))?,
            ),
            RelayTarget::Nowhere => Arc::new(NoRelay),
        })
    }

    /// The host name of this machine: the `helo` of the relay, or the host of the public URL.
    pub fn host_name(&self) -> Option<String> {
        let set = match &self.target {
            RelayTarget::Smarthost(options) => options.helo.clone(),
            RelayTarget::Direct(options) => options.helo.clone(),
            RelayTarget::Folder(_) | RelayTarget::Nowhere => None,
        };
        let public = || {
            let url = Url::parse(self.public_url.as_deref()?).ok()?;
            match url.host()? {
                Host::Domain(name) if name.contains('.') => Some(name.to_owned()),
                _ => None,
            }
        };
        set.or_else(public)
    }
}

/// Keeps mail waiting until a relay is configured.
struct NoRelay;

impl Relay for NoRelay {
    fn send<'a>(&'a self, mail: &'a OutgoingMail) -> BoxFuture<'a, Vec<RelayOutcome>> {
        let reason = RelayReason::new("no-server", "no relay is configured");
        let outcome = RelayOutcome::Unavailable(reason);
        Box::pin(async move { vec![outcome; mail.recipients.len()] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relay_is_named_by_its_kind_and_place() {
        assert_eq!("file:out/mail".parse(), Ok(RelayTarget::Folder("out/mail".into())));
        assert!(matches!("mx:".parse(), Ok(RelayTarget::Direct(_))));
        assert!(matches!("smtps://mail.example".parse(), Ok(RelayTarget::Smarthost(_))));
        for bad in ["", "file:", "out", "ftp://x", "smtp:", "mx:acme.example"] {
            assert!(bad.parse::<RelayTarget>().is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_relay_is_said_without_its_password() {
        for bad in ["smtp://ann:hunter2@mail.example/x", "smtp://ann:hunter2@mail.example?tls=no"] {
            let sentence = bad.parse::<RelayTarget>().unwrap_err();
            assert!(!sentence.contains("hunter2"), "{sentence}");
        }
    }
}
