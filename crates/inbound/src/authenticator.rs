//! The port that authenticates a mail's sender: SPF, DKIM, DMARC and ARC.

use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;

use mail::Authentication;

/// Authenticates a mail by SPF, DKIM, DMARC and ARC.
pub trait Authenticator: Send + Sync {
    fn check<'a>(&'a self, credentials: Credentials<'a>) -> Checking<'a>;
}

pub type Checking<'a> = Pin<Box<dyn Future<Output = Authentication> + Send + 'a>>;

/// The source of a mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MailSource {
    /// Directly from the sender's mail server.
    Sender {
        ip: IpAddr,
        /// The name given in HELO or EHLO.
        helo: String,
    },
    /// From a server of ours that received it: over LMTP, from a trusted network.
    OurServer,
    /// Fetched from another mailbox, whose server added its Authentication-Results.
    Mailbox { believed: BelievedResults },
}

/// The `Authentication-Results` that are believed, by the authserv-id under which a server writes them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BelievedResults {
    /// Names, lower case. One that begins with a dot stands for all servers of that domain, for
    /// providers that give each its own name.
    authserv_ids: Vec<String>,
    /// The server is known to remove what senders write in its name.
    pub removes_forgeries: bool,
}

impl BelievedResults {
    /// Those of the server that the operator or owner named.
    pub fn of_server(authserv_id: &str) -> BelievedResults {
        BelievedResults::of_provider(&[authserv_id])
    }

    /// Those of a provider whose names are known.
    pub fn of_provider(authserv_ids: &[&str]) -> BelievedResults {
        BelievedResults {
            authserv_ids: authserv_ids.iter().map(|name| name.to_lowercase()).collect(),
            removes_forgeries: true,
        }
    }

    /// Those of a server that is guessed from its host: only what stands where no sender can write.
    pub fn of_host(host: &str) -> BelievedResults {
        BelievedResults { authserv_ids: vec![host.to_lowercase()], removes_forgeries: false }
    }

    /// True for the authserv-id of one of these servers, lower case.
    pub fn names(&self, server: &str) -> bool {
        self.authserv_ids.iter().any(|name| match name.starts_with('.') {
            true => server.ends_with(name),
            false => server == name,
        })
    }
}

/// The data that authentication is based on.
#[derive(Clone, Copy, Debug)]
pub struct Credentials<'a> {
    pub raw: &'a [u8],
    /// The From address, which is the one that must be authenticated.
    pub from: Option<&'a str>,
    pub sender: Option<&'a str>,
    pub source: &'a MailSource,
}
