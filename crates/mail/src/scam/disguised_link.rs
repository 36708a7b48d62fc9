//! Links whose words show one site and that lead to another. The scam check weighs them, and the
//! page of a mail marks them.

use url::Url;

use super::domain;
use crate::headers::address::{Address, is_address};

/// A link that shows a domain of one owner and leads to that of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DisguisedLink {
    pub shown: String,
    pub leads: String,
}

/// Where a link leads, services unwrapped that rewrite links to check them.
pub(crate) fn link_target(href: &str) -> Option<Url> {
    let url = Url::parse(href).ok()?;
    let rewritten =
        url.host_str().is_some_and(|host| host.ends_with("safelinks.protection.outlook.com"));
    let inner = url.query_pairs().find(|(name, _)| name == "url").filter(|_| rewritten);
    inner.and_then(|(_, inner)| Url::parse(&inner).ok()).or(Some(url))
}

/// The text of a link is itself an address on the web, and one of another owner than its target.
pub(crate) fn disguised_link(text: &str, target: &Url) -> Option<DisguisedLink> {
    if !matches!(target.scheme(), "http" | "https") {
        return None;
    }
    let (shown, leads) = (shown_domain(text.trim())?, target.host_str()?);
    let disguised = !domain::is_same_owner(&shown, leads);
    disguised.then(|| DisguisedLink { shown, leads: leads.to_owned() })
}

/// The same where the text is the address of a mailbox: the link leads to pages of another owner, or
/// writes to another mailbox. At a provider where anybody gets an address, every mailbox is another
/// owner's.
pub(crate) fn disguised_mailbox(text: &str, target: &Url) -> Option<DisguisedLink> {
    let shown = shown_mailbox(text.trim())?;
    let shown_domain = domain::of_address(&shown.email);
    let leads = link_goal(target)?;
    let is_same = match target.scheme() {
        "mailto" if domain::is_freemail(shown_domain) => leads == shown.email,
        "mailto" => domain::is_same_owner(shown_domain, domain::of_address(&leads)),
        _ => domain::is_same_owner(shown_domain, &leads),
    };
    (!is_same).then(|| DisguisedLink { shown: shown.email.clone(), leads })
}

/// Where a link leads, in short: the host of a page, the mailbox that it writes to.
pub(crate) fn link_goal(target: &Url) -> Option<String> {
    match target.scheme() {
        "mailto" => {
            let first = target.path().split(',').next()?.replace("%40", "@");
            Some(crate::headers::address::normal_address(first.trim()))
                .filter(|email| email.contains('@'))
        }
        "http" | "https" => target.host_str().map(str::to_owned),
        _ => None,
    }
}

/// The mailbox in a text that is nothing but its address.
fn shown_mailbox(text: &str) -> Option<Address> {
    let bare = text.strip_prefix("mailto:").unwrap_or(text);
    if bare.contains(char::is_whitespace) || bare.contains("://") || !is_address(bare) {
        return None;
    }
    let shown = Address::new(None, bare);
    domain::exists(domain::of_address(&shown.email)).then_some(shown)
}

/// A host as it is shown to people: in its own letters, unless they are of several alphabets or only look
/// like those of another.
pub(crate) fn shown_host(host: &str) -> String {
    match domain::mixes_scripts(host) || domain::poses_as_latin(host) {
        true => host.to_owned(),
        false => idna::domain_to_unicode(host).0,
    }
}

/// The domain in a text that is nothing but a web address.
fn shown_domain(text: &str) -> Option<String> {
    if text.contains(char::is_whitespace) || text.contains('@') || !text.contains('.') {
        return None;
    }
    let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let url = Url::parse(&whole).ok()?;
    let host = url.host_str()?.to_owned();
    domain::exists(&host).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leads(text: &str, href: &str) -> Option<String> {
        disguised_link(text, &link_target(href)?).map(|link| link.leads)
    }

    #[test]
    fn a_link_that_shows_another_owners_domain_is_disguised() {
        for (text, href, expected) in [
            ("www.bank.com/login", "https://evil.com/x", Some("evil.com")),
            (" https://bank.com ", "http://bank.com.evil.org", Some("bank.com.evil.org")),
            ("bank.com", "https://www.bank.com/x", None),
            ("Click here", "https://evil.com/x", None),
            ("bank.com", "mailto:a@evil.com", None),
            (
                "bank.com",
                "https://eur01.safelinks.protection.outlook.com/?url=https%3A%2F%2Fbank.com%2Fx",
                None,
            ),
            ("readme.nosuchending", "https://evil.com", None),
        ] {
            assert_eq!(leads(text, href).as_deref(), expected, "{text} {href}");
        }
    }

    #[test]
    fn a_host_is_shown_in_its_own_letters_unless_they_are_mixed() {
        assert_eq!(shown_host("xn--mller-kva.de"), "müller.de");
        for trick in ["pаypal.com", "аррӏе.com"] {
            let ascii = idna::domain_to_ascii(trick).unwrap();
            assert_eq!(shown_host(&ascii), ascii);
        }
    }

    #[test]
    fn a_mailbox_that_a_link_shows_is_compared_with_where_it_leads() {
        for (text, href, expected) in [
            ("help@bank.com", "https://evil.com/x", Some("evil.com")),
            ("help@bank.com", "mailto:eve@evil.com", Some("eve@evil.com")),
            ("help@bank.com", "mailto:eve%40evil.com?subject=x", Some("eve@evil.com")),
            ("mailto:help@bank.com", "mailto:eve@evil.com", Some("eve@evil.com")),
            ("ann@gmail.com", "mailto:eve@gmail.com", Some("eve@gmail.com")),
            ("ann@gmail.com", "mailto:Ann@Gmail.com", None),
            ("help@bank.com", "mailto:desk@mail.bank.com", None),
            ("help@bank.com", "https://www.bank.com/contact", None),
            ("Write to help@bank.com", "mailto:eve@evil.com", None),
            ("help@nosuchending", "mailto:eve@evil.com", None),
        ] {
            let found = disguised_mailbox(text, &link_target(href).unwrap());
            assert_eq!(found.map(|link| link.leads).as_deref(), expected, "{text} {href}");
        }
    }
}
