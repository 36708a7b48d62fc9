//! Where finished mail goes: the bodies of the relay that `MAILROOM_RELAY` can name.

pub mod dns_records;
mod domain_slots;
mod envelope;
mod folder;
mod mta_sts;
mod mx;
mod options;
mod pool;
mod smarthost;
mod smtp;

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use inbox::base::public_ip::is_public;
use inbox::jobs::{BoxFuture, OutgoingMail, Relay, RelayOutcome};
use url::{Host, Url};

use crate::net::dns_lookup::Lookup;
use crate::settings::Settings;
use crate::webhooks;

pub use folder::FolderRelay;
pub use mta_sts::{Fetching, PolicySource, WebPolicies};
pub use mx::MxRelay;
pub use options::{MxOptions, MxTls, SmtpOptions};
pub use smarthost::SmarthostRelay;
pub use smtp::{Security, SmtpTimeouts};

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

    pub fn open(&self, settings: &Settings) -> Result<Arc<dyn Relay>, String> {
        let roots = webhooks::system_roots;
        Ok(match self {
            RelayTarget::Smarthost(options) => {
                let helo = self.name(settings).unwrap_or_else(|| "localhost".into());
                let resolver = webhooks::resolver_of(settings)?;
                Arc::new(SmarthostRelay::new(
                    options,
                    helo,
                    resolver,
                    roots(),
                    SmtpTimeouts::default(),
                )?)
            }
            RelayTarget::Direct(options) => {
                let helo = self.name(settings).ok_or(
                    "relay: mx: needs the name by which other mail servers find this one: set \
                     MAILROOM_PUBLIC_URL, or write mx:?helo=NAME",
                )?;
                let may_dial = if settings.webhooks_allow_private { |_| true } else { is_public };
                let lookup = Lookup::of(settings)?;
                let policies = WebPolicies::new(webhooks::SsrfGuard::of(settings)?, roots())?;
                Arc::new(MxRelay::new(
                    options,
                    helo,
                    lookup,
                    may_dial,
                    roots(),
                    SmtpTimeouts::default(),
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

    /// The name by which this machine is known: what was set, or that of the public address.
    pub fn name(&self, settings: &Settings) -> Option<String> {
        let set = match self {
            RelayTarget::Smarthost(options) => options.helo.clone(),
            RelayTarget::Direct(options) => options.helo.clone(),
            RelayTarget::Folder(_) | RelayTarget::Nowhere => None,
        };
        let public = || {
            let url = Url::parse(settings.public_url.as_deref()?).ok()?;
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
        let outcome = RelayOutcome::Later("no relay is configured".into());
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
