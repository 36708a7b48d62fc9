//! Hosts behind which anybody can stand, read from `hosts.txt`.

use std::collections::HashMap;
use std::sync::LazyLock;

use url::Url;

/// A host that says nothing about who made the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnonymousHost {
    Shortener,
    Bucket,
    FreeHost,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum HostKind {
    Anonymous(AnonymousHost),
    Tracker,
}

static HOSTS: LazyLock<HashMap<&'static str, HostKind>> = LazyLock::new(|| {
    let mut kind = HostKind::Tracker;
    let mut hosts = HashMap::new();
    for line in include_str!("hosts.txt").lines().map(str::trim) {
        match line {
            "" => {}
            "[shortener]" => kind = HostKind::Anonymous(AnonymousHost::Shortener),
            "[bucket]" => kind = HostKind::Anonymous(AnonymousHost::Bucket),
            "[free host]" => kind = HostKind::Anonymous(AnonymousHost::FreeHost),
            "[tracker]" => kind = HostKind::Tracker,
            comment if comment.starts_with('#') => {}
            host => drop(hosts.insert(host, kind)),
        }
    }
    hosts
});

fn kind(host: &str) -> Option<HostKind> {
    let mut rest = host;
    loop {
        if let Some(kind) = HOSTS.get(rest) {
            return Some(*kind);
        }
        rest = rest.split_once('.')?.1;
    }
}

pub(super) fn anonymous_host(host: &str) -> Option<AnonymousHost> {
    // Buckets have the region in their name: s3.eu-west-1.amazonaws.com.
    if host.ends_with(".amazonaws.com") && host.split('.').any(|part| part.starts_with("s3")) {
        return Some(AnonymousHost::Bucket);
    }
    match kind(host)? {
        HostKind::Anonymous(host) => Some(host),
        HostKind::Tracker => None,
    }
}

/// Services that pass a click on, as mail programs and newsletters use them.
pub(super) fn is_tracker(host: &str) -> bool {
    matches!(kind(&host.to_lowercase()), Some(HostKind::Tracker))
}

/// Where a page of somebody else's sends its visitors on to, if it sends them on.
pub(super) fn passed_on(target: &Url) -> Option<Url> {
    let inner = target.query_pairs().take(PARAMETERS).find_map(|(_, value)| web_address(&value));
    let after = || target.path().split_once("/amp/s/").and_then(|(_, rest)| web_address(rest));
    inner.or_else(after)
}

/// Parameters of a link that are looked at.
const PARAMETERS: usize = 20;

fn web_address(text: &str) -> Option<Url> {
    let whole = match text.split_once("://") {
        Some(("http" | "https", _)) => text.to_owned(),
        _ if text.starts_with("www.") => format!("http://{text}"),
        _ => return None,
    };
    Url::parse(&whole).ok().filter(|url| url.host_str().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anonymous_hosts_are_known_by_their_domain() {
        for (host, expected) in [
            ("bit.ly", Some(AnonymousHost::Shortener)),
            ("storage.googleapis.com", Some(AnonymousHost::Bucket)),
            ("x.s3.eu-west-1.amazonaws.com", Some(AnonymousHost::Bucket)),
            ("login-here.pages.dev", Some(AnonymousHost::FreeHost)),
            ("google.com", None),
            ("habit.ly", None),
        ] {
            assert_eq!(anonymous_host(host), expected, "{host}");
        }
        assert!(is_tracker("click.list-manage.com") && !is_tracker("bit.ly"));
    }

    #[test]
    fn a_redirect_is_seen_in_the_link() {
        let on = |link: &str| {
            passed_on(&Url::parse(link).unwrap()).and_then(|url| url.host_str().map(str::to_owned))
        };
        assert_eq!(on("https://google.com/url?q=https://evil.com/x").as_deref(), Some("evil.com"));
        assert_eq!(on("https://shop.com/?q=lamps"), None);
    }
}
