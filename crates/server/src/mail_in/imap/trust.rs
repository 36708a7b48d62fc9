//! Which `Authentication-Results` of fetched mail are trusted: those of the mailbox's own server.

use inbox::inbound::imap::ImapAccount;

/// Providers whose servers for receiving have another domain than those for reading.
const ELSEWHERE: &[(&str, &str)] = &[
    ("gmail.com", "mx.google.com"),
    ("googlemail.com", "mx.google.com"),
    ("fastmail.com", "messagingengine.com"),
    ("me.com", "icloud.com"),
];

/// The names under which the account's server signs its `Authentication-Results`: the one that was
/// set up, or the provider's domain. Subdomains count as well.
pub fn believed(account: &ImapAccount) -> Vec<String> {
    if let Some(name) = &account.trusts {
        return vec![name.to_lowercase()];
    }
    let host = account.host.to_lowercase();
    let domain = public_suffix::registered_domain(&host).unwrap_or(&host);
    let elsewhere = ELSEWHERE.iter().filter(|(reading, _)| *reading == domain);
    elsewhere.map(|(_, receiving)| *receiving).chain([domain]).map(str::to_owned).collect()
}
