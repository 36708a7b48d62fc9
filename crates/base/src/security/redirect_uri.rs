//! The addresses that OAuth clients name for our answers, and which of them are accepted.

use std::fmt;

use url::{Host, Url};

/// The longest address, in bytes.
const MOST_BYTES: usize = 2_000;

/// The schemes of programs that register one with the system, in place of a web address.
const PROGRAM_SCHEMES: &[&str] =
    &["claude", "cursor", "jetbrains", "vscode", "vscode-insiders", "windsurf", "zed"];

/// An address that a client may be answered at. It has one spelling only: what a browser makes of it is
/// what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedirectUri(Url);

/// Where an answer goes, as a person is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedirectTarget {
    /// The site's host, with a port that is not the usual one.
    Site(String),
    /// Host and port of a program on the person's own computer.
    ThisComputer(String),
    /// The scheme that a program has registered.
    Program(String),
}

impl RedirectUri {
    /// `None` for what nobody may be sent to: other schemes, `http` to another computer, user names,
    /// fragments, and every spelling that a browser would change.
    pub fn parse(text: &str) -> Option<RedirectUri> {
        let is_plain = text.bytes().all(|b| b.is_ascii_graphic() && !b"\\<>\"'`{}|^".contains(&b));
        if text.len() > MOST_BYTES || !is_plain {
            return None;
        }
        let url = Url::parse(text).ok()?;
        let has_user = !url.username().is_empty() || url.password().is_some() || text.contains('@');
        let has_dot = url.host_str().is_some_and(|host| host.ends_with('.'));
        if has_user || has_dot || url.fragment().is_some() || !is_spelled_so(&url, text) {
            return None;
        }
        let is_accepted = match url.scheme() {
            "https" => url.host_str().is_some_and(|host| !host.is_empty()),
            "http" => is_this_computer(&url),
            scheme => PROGRAM_SCHEMES.contains(&scheme) && text[scheme.len()..].starts_with("://"),
        };
        is_accepted.then_some(RedirectUri(url))
    }

    /// True if a client that names this address may be answered at the other. A program on the person's
    /// computer takes any port that is free, so the port does not count there.
    pub fn admits(&self, asked: &RedirectUri) -> bool {
        if self.0.scheme() != "http" {
            return self == asked;
        }
        let without_port = |url: &Url| {
            let mut url = url.clone();
            url.set_port(None).map(|()| url)
        };
        without_port(&self.0).is_ok_and(|own| Ok(own) == without_port(&asked.0))
    }

    pub fn target(&self) -> RedirectTarget {
        let host = self.0.host_str().unwrap_or_default();
        let host = match self.0.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
        match self.0.scheme() {
            "https" => RedirectTarget::Site(host),
            "http" => RedirectTarget::ThisComputer(host),
            scheme => RedirectTarget::Program(scheme.to_owned()),
        }
    }

    /// The address with an answer in its query.
    pub fn with_answer(&self, answer: &[(&str, &str)]) -> String {
        let mut url = self.0.clone();
        url.query_pairs_mut().extend_pairs(answer);
        url.to_string()
    }
}

impl fmt::Display for RedirectUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str())
    }
}

/// The parser adds a missing path and changes nothing else.
fn is_spelled_so(url: &Url, text: &str) -> bool {
    url.as_str() == text || url.as_str().strip_suffix('/') == Some(text)
}

fn is_this_computer(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.octets() == [127, 0, 0, 1],
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uri(text: &str) -> RedirectUri {
        RedirectUri::parse(text).unwrap_or_else(|| panic!("{text} is refused"))
    }

    #[test]
    fn nobody_is_sent_to_an_address_that_reads_otherwise_than_it_leads() {
        for bad in [
            "",
            "callback",
            "//evil.example/cb",
            "javascript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "ftp://example.com/",
            "http://example.com/cb",
            "http://127.0.0.2/cb",
            "http://localhost.evil.example/cb",
            "http://localhost@evil.example/cb",
            "https://user@example.com/cb",
            "https://example.com\\@evil.example/cb",
            "https://example.com/cb#part",
            "https://example.com./cb",
            "https://EXAMPLE.com/cb",
            "https://example.com/a/../cb",
            "https://exämple.com/cb",
            "https://example.com/cb\n",
            "https:example.com/cb",
            "https:///example.com/cb",
            "cursor:anysphere",
            "unknown://callback",
        ] {
            assert!(RedirectUri::parse(bad).is_none(), "{bad:?}");
        }
    }

    #[test]
    fn the_addresses_of_known_clients_are_accepted() {
        for (text, target) in [
            ("https://claude.ai/api/mcp/auth_callback", RedirectTarget::Site("claude.ai".into())),
            (
                "http://localhost:6274/oauth/callback",
                RedirectTarget::ThisComputer("localhost:6274".into()),
            ),
            ("http://127.0.0.1:33418/", RedirectTarget::ThisComputer("127.0.0.1:33418".into())),
            (
                "cursor://anysphere.cursor-mcp/oauth/callback",
                RedirectTarget::Program("cursor".into()),
            ),
        ] {
            assert_eq!(uri(text).target(), target);
            assert!(uri(text).admits(&uri(text)));
        }
    }

    #[test]
    fn the_port_of_a_program_on_this_computer_does_not_count() {
        let registered = uri("http://localhost/callback");
        assert!(registered.admits(&uri("http://localhost:51234/callback")));
        for other in [
            "http://localhost:51234/other",
            "http://localhost:51234/callback?next=1",
            "http://127.0.0.1:51234/callback",
        ] {
            assert!(!registered.admits(&uri(other)), "{other}");
        }
        let site = uri("https://example.com/cb");
        assert!(!site.admits(&uri("https://example.com:8443/cb")));
        assert!(!site.admits(&uri("https://example.com/cb/")));
    }

    #[test]
    fn an_answer_is_added_to_the_query() {
        let answer =
            uri("https://example.com/cb?a=1").with_answer(&[("code", "x y"), ("state", "&")]);
        assert_eq!(answer, "https://example.com/cb?a=1&code=x+y&state=%26");
    }
}
