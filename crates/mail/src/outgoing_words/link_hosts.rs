//! The hosts that a text's links lead to, those included that only a mail program makes a link of.

use super::MOST_FOUND;

/// Signs around a word that no host has.
const AROUND: &str = "<>()[]{}\"'`,;|*“”„‟«»‹›「」『』【】《》〈〉（）［］，。；！？、";

/// The hosts that links in a text lead to, each once and in lower case: of addresses with a scheme, and of
/// words that look like a domain, because mail programs link those too. Addresses of mailboxes are none.
pub fn link_hosts(text: &str) -> Vec<String> {
    let mut hosts: Vec<String> = Vec::new();
    let words = text.split(|c: char| c.is_whitespace() || c.is_control() || AROUND.contains(c));
    for host in words.filter_map(host_of_word) {
        if !hosts.contains(&host) {
            hosts.push(host);
        }
        if hosts.len() == MOST_FOUND {
            break;
        }
    }
    hosts
}

fn host_of_word(word: &str) -> Option<String> {
    let word = word.trim_matches(|c: char| ".:!?_-~…".contains(c));
    if let Some((scheme, rest)) = word.split_once("//") {
        let rest = rest.trim_start_matches(['/', '\\']);
        let is_web = scheme.is_empty() || scheme.ends_with(':');
        return if is_web { host_of(rest, true) } else { host_of(word, false) };
    }
    // `https:evil.example` leads there in browsers, too.
    for scheme in ["http:", "https:"] {
        if let Some(start) =
            word.get(..scheme.len()).filter(|start| start.eq_ignore_ascii_case(scheme))
        {
            return host_of(word[start.len()..].trim_start_matches(['/', '\\']), true);
        }
    }
    host_of(word, false)
}

/// The host at the start of an address. Without a scheme it has to look like one.
fn host_of(rest: &str, has_scheme: bool) -> Option<String> {
    let end = rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    if !has_scheme && authority.contains('@') {
        return None;
    }
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host =
        if host.starts_with('[') { host } else { host.split(':').next().unwrap_or_default() };
    let host = host.trim_end_matches('.').to_lowercase();
    let looks_like_one = || {
        let is_domain = has_labels(&host);
        let is_linked = host.starts_with("www.") || path.starts_with('/');
        is_domain && (is_linked || public_suffix::has_known_suffix(&host))
    };
    (!host.is_empty() && (has_scheme || looks_like_one())).then_some(host)
}

/// Two labels or more, the last of letters.
fn has_labels(host: &str) -> bool {
    let is_label =
        |label: &str| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-');
    let Some((_, ending)) = host.rsplit_once('.') else { return false };
    let is_ending = ending.chars().count() >= 2
        && (ending.chars().all(char::is_alphabetic) || ending.starts_with("xn--"));
    is_ending && host.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_found_however_it_is_written() {
        for (text, host) in [
            ("See https://evil.example/pay?x=1.", "evil.example"),
            ("(http://EVIL.example)", "evil.example"),
            ("www.evil.example", "www.evil.example"),
            ("evil.example/pay", "evil.example"),
            ("go to evil.com now", "evil.com"),
            ("//evil.example/x", "evil.example"),
            ("https:evil.example", "evil.example"),
            ("https://shop.example@evil.example/x", "evil.example"),
            ("https://evil.example:8443/x", "evil.example"),
            ("http://192.0.2.7/x", "192.0.2.7"),
            ("ftp://evil.example", "evil.example"),
            ("[pay](https://evil.example/a)", "evil.example"),
        ] {
            assert_eq!(link_hosts(text), [host], "{text}");
        }
    }

    #[test]
    fn sentences_addresses_and_numbers_are_no_links() {
        for text in [
            "It left on 3.11. and costs 1.240,50 EUR",
            "Write to bruno@keller.example or bruno@keller.com.",
            "z.B. heute, d.h. bald... e.g. now",
            "See invoice.pdf and and/or either.",
            "12:30 Uhr",
        ] {
            assert!(link_hosts(text).is_empty(), "{text}: {:?}", link_hosts(text));
        }
    }
}
