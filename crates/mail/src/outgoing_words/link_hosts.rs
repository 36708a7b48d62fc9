//! The hosts that a text's links lead to, those included that only a mail program makes a link of.
//!
//! A text is read in several ways, because programs differ in where they see a link end; every host that
//! one of them may open counts.

use std::net::Ipv4Addr;

use url::Url;

use super::MOST_FOUND;
use super::unmask::{unmask, unmask_with_gaps};
use crate::DomainName;
use crate::limits::LINK_TARGET_BYTES;
use crate::text::clean::cut_bytes;
use crate::text::text_links::{TextSegment, text_blocks};

/// Stands last where a text has more hosts than are looked at. It is nobody's, so no list allows it.
const MORE_HOSTS: &str = "more hosts than can be judged";
/// Bytes of a host that are shown; the longest that there is has 253.
const HOST_BYTES: usize = 1_000;
/// What programs take for the start of an address even without `//`.
const SCHEMES: [&str; 3] = ["http:", "https:", "ftp:"];
/// What begins a link that writes a mail, in lower case.
const MAILTO: &str = "mailto:";
/// Endings that no registry has and that some programs open all the same.
const UNLISTED_ENDINGS: [&str; 3] = ["onion", "i2p", "eth"];
/// A full stop of other scripts, which in a host is a dot.
const FULL_STOP: char = '。';
/// Signs beyond ASCII around a word that no host has.
const AROUND: &str = "“”„‟‘’‚‛«»‹›「」『』【】〔〕〖〗《》〈〉、–—―•‣◦→⇒←↔▶►➜➔➤✓✔★☆";
/// Signs beside letters and digits at which no program ends an address.
const IN_PATHS: &str = "-._~:/?#@&=+%$";

/// The hosts that links in a text lead to, each once and as the DNS has it: of addresses with a scheme, and
/// of words that look like a domain, because mail programs link those too. Addresses of mailboxes are none,
/// unless `mailto:` makes a link of them.
/// Where there are more than can be judged, the last entry says so and is no host.
pub fn link_hosts(text: &str) -> Vec<String> {
    let mut hosts = HostList::default();
    let joined = unmask(text).replace(FULL_STOP, ".");
    let parted = unmask_with_gaps(text).replace(FULL_STOP, " ");
    add_addresses(&mut hosts, &joined);
    add_domains(&mut hosts, &joined);
    add_mailboxes(&mut hosts, &joined);
    if parted != joined {
        add_addresses(&mut hosts, &parted);
        add_domains(&mut hosts, &parted);
    }
    if joined.contains('%') {
        let decoded = unmask(&decode_percent(&joined)).replace(FULL_STOP, ".");
        add_addresses(&mut hosts, &decoded);
        add_mailboxes(&mut hosts, &decoded);
    }
    add_linked(&mut hosts, text);
    if hosts.has_more {
        hosts.found.push(MORE_HOSTS.to_owned());
    }
    hosts.found
}

/// The hosts that whoever wrote a text has linked to, so that a link there surprises nobody. A suffix under
/// which anybody registers, such as `com`, is none of them.
pub fn familiar_hosts(text: &str) -> Vec<String> {
    let mut hosts = link_hosts(text);
    hosts.retain(|host| public_suffix::registered_domain(host).is_some());
    hosts
}

#[derive(Default)]
struct HostList {
    found: Vec<String>,
    /// More of them are there than are kept.
    has_more: bool,
}

impl HostList {
    fn add(&mut self, host: &str) {
        let host = host.trim_matches('.');
        let name = match DomainName::parse(host) {
            Some(name) => name.to_string(),
            None => cut_bytes(host.to_lowercase(), HOST_BYTES),
        };
        if name.is_empty() || self.found.contains(&name) {
            return;
        }
        if self.found.len() < MOST_FOUND {
            self.found.push(name);
        } else {
            self.has_more = true;
        }
    }
}

/// The hosts behind schemes and double slashes, wherever they stand.
fn add_addresses(hosts: &mut HostList, text: &str) {
    let mut judged = 0;
    for (at, _) in text.match_indices([':', '/', '\\']) {
        let rest = &text[at + 1..];
        if rest.starts_with(['/', '\\']) || !begins_address(&text[..=at]) {
            continue;
        }
        let near = &rest[..rest.floor_char_boundary(LINK_TARGET_BYTES)];
        let end = match near.find(ends_authority) {
            Some(end) => end,
            None if near.len() == rest.len() => near.len(),
            None => {
                hosts.has_more = true;
                return;
            }
        };
        // Of an address within an authority, only what stands before the next `@` is new.
        let most = if at < judged { 1 } else { usize::MAX };
        for part in near[..end].split('@').take(most) {
            add_addressed(hosts, part);
        }
        judged = at + 1 + end;
        if hosts.has_more {
            return;
        }
    }
}

/// True for a start of a text behind which an address has its host: it ends with a scheme, or with `//` that
/// does not part two words.
fn begins_address(before: &str) -> bool {
    let stem = before.trim_end_matches(['/', '\\']);
    let ends_with = |scheme: &&str| {
        let tail = stem.len().checked_sub(scheme.len()).and_then(|at| stem.get(at..));
        tail.is_some_and(|tail| tail.eq_ignore_ascii_case(scheme))
    };
    SCHEMES.iter().any(ends_with)
        || (before.len() - stem.len() >= 2 && !stem.ends_with(char::is_alphanumeric))
}

fn ends_authority(c: char) -> bool {
    c.is_whitespace() || c.is_control() || "/\\?#<>\"".contains(c)
}

/// Adds the host of an authority (RFC 3986, section 3.2). What stands before its `@` counts as one too,
/// because some programs end the link there.
fn add_addressed(hosts: &mut HostList, part: &str) {
    if part.starts_with('[')
        && let Some(end) = part.find(']')
    {
        return hosts.add(&part[..=end]);
    }
    let end = part.find(|c| !is_host_char(c)).unwrap_or(part.len());
    let is_scheme = part[end..].starts_with(':')
        && SCHEMES
            .iter()
            .any(|scheme| scheme.trim_end_matches(':').eq_ignore_ascii_case(&part[..end]));
    if !is_scheme {
        let host = part[..end].trim_end_matches(|c: char| !c.is_alphanumeric());
        hosts.add(without_words_behind(host));
    }
}

/// A host without the words that follow it where a language writes no spaces: no domain ends with them.
fn without_words_behind(host: &str) -> &str {
    let mut bare = host;
    while let Some(ending) = bare.rsplit('.').next().filter(|ending| !ending.is_ascii())
        && !public_suffix::has_known_suffix(&ending.to_lowercase())
    {
        let ascii = ending.find(|c: char| !c.is_ascii()).unwrap_or_default();
        let kept = bare.len() - ending.len() + ascii;
        bare = bare[..kept].trim_end_matches(|c: char| !c.is_alphanumeric());
    }
    if bare.is_empty() { host } else { bare }
}

/// The domains of the mailboxes that a `mailto:` writes to, those included that get a copy (RFC 6068).
fn add_mailboxes(hosts: &mut HostList, text: &str) {
    let lower = text.to_ascii_lowercase();
    let mut from = 0;
    while !hosts.has_more
        && let Some(start) = lower[from..].find(MAILTO).map(|at| from + at + MAILTO.len())
    {
        let rest = &text[start..];
        let end = rest.find(ends_mailto).unwrap_or(rest.len());
        for part in rest[..end].split('@').skip(1) {
            add_addressed(hosts, part);
        }
        from = start + end;
    }
}

fn ends_mailto(c: char) -> bool {
    c.is_whitespace() || c.is_control() || "<>\"".contains(c)
}

/// The words that look like a domain, outside mailboxes' addresses and of the paths of addresses.
fn add_domains(hosts: &mut HostList, text: &str) {
    let mut from = 0;
    while !hosts.has_more
        && let Some(start) = text[from..].find(is_host_char).map(|at| from + at)
    {
        let end = text[start..].find(|c| !is_host_char(c)).map_or(text.len(), |at| start + at);
        let (before, word, after) = (&text[..start], &text[start..end], &text[end..]);
        let has_path = begins_address(before)
            || (!is_of_mailbox(before, after) && add_domain(hosts, word, after));
        from = if has_path { end + path_length(after) } else { end };
    }
}

/// Letters, digits and what else stands in hosts; beyond ASCII nearly everything may.
fn is_host_char(c: char) -> bool {
    match c.is_ascii() {
        true => c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'),
        false => !(c.is_whitespace() || c.is_control() || AROUND.contains(c)),
    }
}

/// True beside the `@` of a mailbox's address, unless a path makes it the address of a page.
fn is_of_mailbox(before: &str, after: &str) -> bool {
    let is_local = |c: char| c.is_alphanumeric() || "._%+-'".contains(c);
    let is_behind = before.strip_suffix('@').is_some_and(|local| local.ends_with(is_local));
    let is_before = after.strip_prefix('@').is_some_and(|domain| {
        let end = domain.find(|c| !is_host_char(c)).unwrap_or(domain.len());
        has_labels(domain[..end].trim_end_matches(|c: char| !c.is_alphanumeric()))
    });
    is_before || (is_behind && !begins_path(after))
}

/// Adds the domains that a word is or has in it. True where the whole word is one that the public suffix
/// list knows, so that a path may follow.
fn add_domain(hosts: &mut HostList, word: &str, after: &str) -> bool {
    let whole = word.trim_matches(|c: char| !c.is_alphanumeric());
    let is_domain = looks_like_host(whole, after);
    if is_domain {
        hosts.add(whole);
    }
    for piece in ascii_pieces(word) {
        let is_end = whole.ends_with(piece);
        let behind = if is_end { after } else { "" };
        // The end of a domain is judged with the rest of it.
        if !(is_domain && is_end) && looks_like_host(piece, behind) {
            hosts.add(piece);
        }
    }
    is_domain && public_suffix::has_known_suffix(&whole.to_lowercase())
}

/// The parts of a word that a program takes for a host which knows ASCII and whole labels only.
fn ascii_pieces(word: &str) -> impl Iterator<Item = &str> {
    word.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '.')))
        .flat_map(|piece| piece.split("-."))
        .flat_map(|piece| piece.split(".-"))
        .flat_map(|piece| piece.split(".."))
        .map(|piece| piece.trim_matches(['-', '.']))
}

fn looks_like_host(host: &str, after: &str) -> bool {
    if host.parse::<Ipv4Addr>().is_ok() {
        return true;
    }
    let host = host.to_lowercase();
    has_labels(&host)
        && (host.starts_with("www.")
            || begins_path(after)
            || begins_query(after)
            || UNLISTED_ENDINGS.iter().any(|ending| host.rsplit('.').next() == Some(ending))
            || public_suffix::has_known_suffix(&host))
}

/// Two labels or more, the last of letters.
fn has_labels(host: &str) -> bool {
    let Some((_, ending)) = host.rsplit_once('.') else { return false };
    let is_ending = ending.chars().count() >= 2
        && (ending.chars().all(char::is_alphabetic) || ending.starts_with("xn--"));
    is_ending && !host.split('.').any(str::is_empty)
}

/// A path, or a port.
fn begins_path(after: &str) -> bool {
    let port = after.strip_prefix(':');
    after.starts_with('/')
        || port.is_some_and(|port| port.starts_with(|c: char| c.is_ascii_digit()))
}

/// A query or a fragment; a question mark that ends a sentence is none.
fn begins_query(after: &str) -> bool {
    let rest = after.strip_prefix(['?', '#']);
    rest.is_some_and(|rest| rest.starts_with(char::is_alphanumeric))
}

/// The bytes of the path, query and fragment that stand behind a host.
fn path_length(after: &str) -> usize {
    if !begins_path(after) && !after.starts_with(['?', '#']) {
        return 0;
    }
    let is_in_path = |c: char| c.is_ascii_alphanumeric() || IN_PATHS.contains(c);
    after.find(|c| !is_in_path(c)).unwrap_or(after.len())
}

/// A text with the bytes that are written as `%2e` (RFC 3986, section 2.1).
fn decode_percent(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let is_hex = |two: &&str| two.bytes().all(|byte| byte.is_ascii_hexdigit());
        let byte = digits.filter(is_hex).and_then(|two| u8::from_str_radix(two, 16).ok());
        match byte.filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The hosts of the links that our own mails and pages make of a text.
fn add_linked(hosts: &mut HostList, text: &str) {
    for segment in text_blocks(text).into_iter().flat_map(|block| block.segments) {
        if let TextSegment::Link { href, .. } = segment
            && let Ok(url) = Url::parse(&href)
            && let Some(host) = url.host_str()
        {
            hosts.add(host);
        }
    }
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
            ("evil.example:8080", "evil.example"),
            ("go to evil.com now", "evil.com"),
            ("//evil.example/x", "evil.example"),
            ("https:evil.example", "evil.example"),
            ("https:/\\evil.example", "evil.example"),
            ("https://evil.example:8443/x", "evil.example"),
            ("http://192.0.2.7/x", "192.0.2.7"),
            ("see 192.0.2.7.", "192.0.2.7"),
            ("http://[2001:db8::1]/x", "[2001:db8::1]"),
            ("ftp://evil.example", "evil.example"),
            ("[pay](https://evil.example/a)", "evil.example"),
            ("[pay](//evil.example)", "evil.example"),
            ("<evil.com>", "evil.com"),
            ("<a href=\"//evil.example\">", "evil.example"),
            ("https://evil.co.uk", "evil.co.uk"),
            ("http://müller.de/ü", "xn--mller-kva.de"),
            ("evil.рф", "evil.xn--p1ai"),
            ("open evilevilevil.onion in Tor", "evilevilevil.onion"),
            ("pay.evil.onion/x", "pay.evil.onion"),
            ("evil.eth", "evil.eth"),
            ("evil.example?pay=1", "evil.example"),
            ("evil.example#pay", "evil.example"),
            ("[write](mailto:pay@evil.example)", "evil.example"),
            ("<a href=\"MailTo:pay@evil.example?subject=Hi\">", "evil.example"),
        ] {
            assert_eq!(link_hosts(text), [host], "{text}");
        }
    }

    #[test]
    fn a_link_is_found_however_it_is_hidden() {
        for (text, host) in [
            ("Details//https://evil.example", "evil.example"),
            ("xhttps://evil.example", "evil.example"),
            ("here:evil.com", "evil.com"),
            ("‘evil.com’", "evil.com"),
            ("see⟨evil.com⟩now", "evil.com"),
            ("*evil.com*, _evil.com_", "evil.com"),
            ("a=evil.com;b", "evil.com"),
            ("请看evil.com请", "evil.com"),
            ("请看https://evil.com。谢谢", "evil.com"),
            ("https://ev\u{200b}il.example", "evil.example"),
            ("ev\u{ad}il\u{2060}.c\u{fe0f}om", "evil.com"),
            ("evil\u{202e}.com", "evil.com"),
            ("e\u{e0041}vil.com", "evil.com"),
            ("acme\u{200b}evil.com", "evil.com"),
            ("evil.com\u{200b}.acme.example", "evil.com"),
            ("evil.com_.acme.example", "evil.com"),
            ("ｅｖｉｌ．ｃｏｍ", "evil.com"),
            ("https://evil。com", "evil.com"),
            ("https://evil%2Eexample/x", "evil.example"),
            ("https://%65vil.example", "evil.example"),
            ("https://acme.example%2eevil.example", "acme.example.evil.example"),
            ("https://acme.example@evil.example/x", "evil.example"),
            ("https://a:b!c,d@evil.example", "evil.example"),
            ("https://evil.example@acme.example/", "evil.example"),
            ("https://acme.example/?next=https://evil.example", "evil.example"),
            ("https://acme.example/?next=https%3A%2F%2Fevil.example", "evil.example"),
            ("https://acme.example/x”evil.com", "evil.com"),
            ("https://acme.com💩.ws", "acme.com💩.ws"),
            ("ann@evil.com/pay", "evil.com"),
            ("@evil.com", "evil.com"),
            ("http://3232235777/", "3232235777"),
            ("mailto:us@acme.example?bcc=pay@evil.example", "evil.example"),
            ("mailto:pay%40evil.example", "evil.example"),
            ("mailto:us@acme.example,pay@evil.example", "evil.example"),
        ] {
            let hosts = link_hosts(text);
            let host = DomainName::parse(host).map_or(host.to_owned(), |name| name.to_string());
            assert!(hosts.contains(&host), "{text:?}: {hosts:?}");
        }
    }

    #[test]
    fn a_link_to_ones_own_pages_leads_nowhere_else() {
        for text in [
            "See https://acme.com/help/guide.md?x=shop.de#a.b, thanks.",
            "“https://acme.com”",
            "请看 https://acme.com。谢谢",
            "acme.com/a.zip",
            "**acme.com** — acme.com…",
            "https://acme.com/a%20b",
        ] {
            assert_eq!(link_hosts(text), ["acme.com"], "{text}");
        }
    }

    #[test]
    fn sentences_addresses_and_numbers_are_no_links() {
        for text in [
            "It left on 3.11. and costs 1.240,50 EUR",
            "Write to bruno@keller.example or bruno@keller.com.",
            "Write to b.info@keller.com, or to bruno@keller.com?",
            "z.B. heute, d.h. bald... e.g. now",
            "See invoice.pdf and and/or either.",
            "Did you get invoice.pdf? It is invoice.pdf#",
            "12:30 Uhr, yes//no, // a comment",
            "version 1.2.3",
        ] {
            assert!(link_hosts(text).is_empty(), "{text}: {:?}", link_hosts(text));
        }
    }

    #[test]
    fn more_hosts_than_are_looked_at_are_said_to_be_there() {
        let many: String =
            (0..=MOST_FOUND).map(|number| format!("https://h{number}.example ")).collect();
        let hosts = link_hosts(&many);
        assert_eq!(hosts.len(), MOST_FOUND + 1);
        assert_eq!(hosts.last().map(String::as_str), Some(MORE_HOSTS));
        assert_eq!(
            link_hosts(&format!("https://{}", "x".repeat(10_000))).last().unwrap(),
            MORE_HOSTS
        );
        assert_eq!(familiar_hosts(&many).len(), MOST_FOUND);
    }

    #[test]
    fn a_suffix_makes_nothing_below_it_familiar() {
        let text = "https://com https://co.uk https://shop.example https://192.0.2.7";
        assert_eq!(familiar_hosts(text), ["shop.example", "192.0.2.7"]);
    }

    #[test]
    fn long_texts_take_little_time() {
        for piece in
            ["http:", "http:@x", "//", "a.", "a@", "evil.com ", "。谢", "%2f", "-._", "mailto:@"]
        {
            link_hosts(&piece.repeat(200_000 / piece.len()));
        }
    }
}
