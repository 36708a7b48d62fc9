//! What was found for an address, and where.

use super::providers::Provider;
use super::servers::{IncomingServer, OutgoingServer};

/// What was found for an address.
#[derive(Clone, Debug)]
pub struct ServerDiscovery {
    pub incoming: Option<IncomingServer>,
    pub outgoing: Option<OutgoingServer>,
    pub username: String,
    pub source: DiscoverySource,
    pub provider: Option<&'static Provider>,
}

impl ServerDiscovery {
    /// True where somebody has to look at the servers before they are told the password: DNS is not
    /// signed, so whoever can forge it names servers of their own (RFC 6186, section 6).
    pub fn needs_a_look(&self, domain: &str) -> bool {
        let hosts = self.incoming.iter().map(|server| &server.host);
        let mut hosts = hosts.chain(self.outgoing.iter().map(|server| &server.host));
        self.source == DiscoverySource::ServiceRecords
            && hosts.any(|host| !same_owner(host, domain))
    }
}

fn same_owner(host: &str, domain: &str) -> bool {
    let registered =
        |name: &str| public_suffix::registered_domain(name).unwrap_or(name).to_ascii_lowercase();
    registered(host) == registered(domain)
}

/// Where the servers were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiscoverySource {
    /// The table of well-known providers.
    Provider,
    /// The domain's own configuration file.
    Autoconfig,
    /// SRV records of the domain.
    ServiceRecords,
    /// Usual names that answered.
    Guess,
    Nothing,
}

impl DiscoverySource {
    /// What the page says after the name of the domain.
    pub fn words(self) -> &'static str {
        match self {
            DiscoverySource::Provider => "known for this provider",
            DiscoverySource::Autoconfig => "from the domain's own configuration",
            DiscoverySource::ServiceRecords => "from the domain's DNS records",
            DiscoverySource::Guess => "guessed, and the servers answered",
            DiscoverySource::Nothing => "nothing was found: fill them in by hand",
        }
    }
}

#[cfg(test)]
mod tests {
    use inbound::imap::Security;

    use super::*;

    #[test]
    fn servers_of_others_that_the_dns_names_are_looked_at_first() {
        let found = |source, host: &str| ServerDiscovery {
            incoming: Some(IncomingServer {
                host: host.into(),
                port: 993,
                security: Security::Tls,
            }),
            outgoing: None,
            username: String::new(),
            source,
            provider: None,
        };
        let records = DiscoverySource::ServiceRecords;
        assert!(!found(records, "imap.acme.example").needs_a_look("acme.example"));
        assert!(!found(records, "imap.acme.co.uk").needs_a_look("mail.acme.co.uk"));
        assert!(found(records, "imap.evil.co.uk").needs_a_look("acme.co.uk"));
        assert!(found(records, "imap.evil.example").needs_a_look("acme.example"));
        assert!(
            !found(DiscoverySource::Autoconfig, "imap.host.example").needs_a_look("acme.example")
        );
    }
}
