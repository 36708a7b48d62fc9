//! What was found for an address, and where.

use super::providers::Provider;
use super::servers::{IncomingServer, OutgoingServer};

/// What was found for an address.
#[derive(Clone, Debug)]
pub struct FoundServers {
    pub incoming: Option<IncomingServer>,
    pub outgoing: Option<OutgoingServer>,
    pub username: String,
    pub source: FoundBy,
    pub provider: Option<&'static Provider>,
}

impl FoundServers {
    /// True where somebody has to look at the servers before they are told the password: DNS is not
    /// signed, so whoever can forge it names servers of their own (RFC 6186, section 6).
    pub fn needs_a_look(&self, domain: &str) -> bool {
        let hosts = self.incoming.iter().map(|server| &server.host);
        let mut hosts = hosts.chain(self.outgoing.iter().map(|server| &server.host));
        self.source == FoundBy::ServiceRecords && hosts.any(|host| !same_owner(host, domain))
    }
}

fn same_owner(host: &str, domain: &str) -> bool {
    let registered =
        |name: &str| public_suffix::registered_domain(name).unwrap_or(name).to_ascii_lowercase();
    registered(host) == registered(domain)
}

/// Where the servers were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundBy {
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

impl FoundBy {
    /// What the page says after the name of the domain.
    pub fn words(self) -> &'static str {
        match self {
            FoundBy::Provider => "known for this provider",
            FoundBy::Autoconfig => "from the domain's own configuration",
            FoundBy::ServiceRecords => "from the domain's DNS records",
            FoundBy::Guess => "guessed, and the servers answered",
            FoundBy::Nothing => "nothing was found: fill them in by hand",
        }
    }
}

#[cfg(test)]
mod tests {
    use inbox::inbound::imap::Security;

    use super::*;

    #[test]
    fn servers_of_others_that_the_dns_names_are_looked_at_first() {
        let found = |source, host: &str| FoundServers {
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
        let records = FoundBy::ServiceRecords;
        assert!(!found(records, "imap.acme.example").needs_a_look("acme.example"));
        assert!(!found(records, "imap.acme.co.uk").needs_a_look("mail.acme.co.uk"));
        assert!(found(records, "imap.evil.co.uk").needs_a_look("acme.co.uk"));
        assert!(found(records, "imap.evil.example").needs_a_look("acme.example"));
        assert!(!found(FoundBy::Autoconfig, "imap.host.example").needs_a_look("acme.example"));
    }
}
