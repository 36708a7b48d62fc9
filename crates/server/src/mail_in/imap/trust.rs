//! Which `Authentication-Results` of fetched mail are trusted: those of the mailbox's own server.

use inbound::BelievedResults;
use inbound::imap::ImapAccount;

/// Providers by the domain of their IMAP servers, with the authserv-ids under which their receiving servers
/// write. Each writes its own above all that a sender sent.
const PROVIDERS: &[(&str, &[&str])] = &[
    ("aol.com", &[".yahoo.com"]),
    ("fastmail.com", &[".messagingengine.com"]),
    ("gmail.com", &["mx.google.com"]),
    ("gmx.com", &["gmx.net"]),
    ("gmx.net", &["gmx.net"]),
    ("googlemail.com", &["mx.google.com"]),
    ("mail.ru", &["mxs.mail.ru"]),
    (
        "me.com",
        &["bimi.icloud.com", "dmarc.icloud.com", "dkim-verifier.icloud.com", "spf.icloud.com"],
    ),
    ("messagingengine.com", &[".messagingengine.com"]),
    ("yahoo.com", &[".yahoo.com"]),
    ("yandex.com", &[".yandex.net"]),
    ("yandex.ru", &[".yandex.net"]),
    ("zoho.com", &["mx.zohomail.com"]),
    ("zoho.eu", &["mx.zohomail.eu"]),
];

/// The results that the account's server writes: under the name that was set up, or those of its
/// provider. Of any other server only those under its own host name, where no sender can write.
pub fn believed_results(account: &ImapAccount) -> BelievedResults {
    if let Some(name) = &account.trusts {
        return BelievedResults::of_server(name);
    }
    let host = account.host.to_lowercase();
    let domain = public_suffix::registered_domain(&host).unwrap_or(&host);
    match PROVIDERS.iter().find(|(reading, _)| *reading == domain) {
        Some((_, names)) => BelievedResults::of_provider(names),
        None => BelievedResults::of_host(&host),
    }
}
