//! Email addresses: parsing, normalisation and plus tags.

use crate::headers::domain_name::DomainName;

/// The longest address that can be delivered to (RFC 5321, section 4.5.3.1).
const ADDRESS_CHARS: usize = 254;
/// The longest plus tag that can be a reference.
const REFERENCE_CHARS: usize = 40;

/// A mailbox with the name its owner gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    pub name: Option<String>,
    pub email: String,
}

impl Address {
    /// Overlong addresses are truncated: they can be stored but not replied to.
    pub fn new(name: Option<&str>, email: &str) -> Address {
        let name = name.map(str::trim).filter(|name| !name.is_empty());
        let email = normal_address(email).chars().take(ADDRESS_CHARS).collect();
        Address { name: name.map(str::to_owned), email }
    }
}

/// True for `local@domain` without spaces, brackets or other characters that only a header needs.
pub fn is_address(text: &str) -> bool {
    let plain = |c: char| {
        !c.is_whitespace()
            && !c.is_control()
            && !matches!(c, '@' | '<' | '>' | ',' | ';' | ':' | '"')
    };
    text.chars().count() <= ADDRESS_CHARS
        && text.split_once('@').is_some_and(|(local, domain)| {
            !local.is_empty()
                && !domain.is_empty()
                && local.chars().all(plain)
                && domain.chars().all(plain)
        })
}

/// The name of a domain as the DNS has it, in ASCII and lower case; `None` for invalid names, such
/// as an IP address.
pub fn ascii_domain(domain: &str) -> Option<String> {
    DomainName::parse(domain).map(|name| name.to_string())
}

/// True for unattended addresses: delivery systems and no-reply addresses. Automatic mail is never
/// sent to them, which prevents mail loops.
pub fn is_unattended(email: &str) -> bool {
    let email = normal_address(email);
    let local = email.rsplit_once('@').map_or(email.as_str(), |(local, _)| local);
    let letters: String = local.chars().filter(char::is_ascii_alphanumeric).collect();
    let known = ["mailerdaemon", "postmaster", "bounce", "bounces", "nobody"];
    known.contains(&letters.as_str())
        || ["noreply", "donotreply", "dontreply"].iter().any(|word| letters.contains(word))
}

/// The form in which addresses are compared and kept: no spaces around it, lower case, its domain as
/// a [`DomainName`].
pub fn normal_address(email: &str) -> String {
    let email = email.trim().to_lowercase();
    let Some((local, domain)) = email.rsplit_once('@') else { return email };
    match DomainName::parse(domain) {
        Some(domain) => format!("{local}@{domain}"),
        // A bare IP address in brackets, or no domain at all.
        None => email,
    }
}

/// An address without its plus tag, and the reference that the tag holds (API section 4.13.1):
/// letters, digits, `_` and `-`, at least one digit, at most 40 characters, lower-cased.
pub fn plus_tag(email: &str) -> (String, Option<String>) {
    let email = normal_address(email);
    let Some((local, domain)) = email.rsplit_once('@') else { return (email, None) };
    let Some((base, tag)) = local.split_once('+') else { return (email, None) };
    let reference = is_reference(tag).then(|| tag.to_owned());
    (format!("{base}@{domain}"), reference)
}

fn is_reference(tag: &str) -> bool {
    (1..=REFERENCE_CHARS).contains(&tag.len())
        && tag.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
        && tag.bytes().any(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_machines_are_known() {
        for machine in [
            "MAILER-DAEMON@mx.example",
            "postmaster@x.example",
            "no-reply@x.example",
            "Acme.NoReply@x.example",
            "do_not_reply+7@x.example",
            "bounces@x.example",
        ] {
            assert!(is_unattended(machine), "{machine}");
        }
        for person in ["ann@noreply.example", "reply@x.example", "daemon.bauer@x.example"] {
            assert!(!is_unattended(person), "{person}");
        }
    }

    #[test]
    fn a_plus_tag_is_a_reference_only_by_the_rules_of_the_api() {
        let reference = |email: &str| plus_tag(email).1;
        assert_eq!(reference("Support+INV-2041@Acme.example"), Some("inv-2041".into()));
        assert_eq!(reference("support+a_1@acme.example"), Some("a_1".into()));
        assert_eq!(reference("support+billing@acme.example"), None);
        assert_eq!(reference("support+in.v1@acme.example"), None);
        assert_eq!(reference("support@acme.example"), None);
        assert_eq!(
            reference(&format!("s+{}1@a.example", "x".repeat(39))).map(|r| r.len()),
            Some(40)
        );
        assert_eq!(reference(&format!("s+{}1@a.example", "x".repeat(40))), None);
        assert_eq!(plus_tag("support+billing@acme.example").0, "support@acme.example");
    }

    #[test]
    fn one_mailbox_has_one_address() {
        for email in ["boss@victim.example", " Boss@VICTIM.example.", "boss@victim.example.."] {
            assert_eq!(normal_address(email), "boss@victim.example", "{email}");
            assert_eq!(Address::new(None, email).email, "boss@victim.example", "{email}");
            assert_eq!(plus_tag(email).0, "boss@victim.example", "{email}");
        }
        assert_eq!(normal_address("ann@Bücher.example"), "ann@xn--bcher-kva.example");
        assert_eq!(normal_address("ann@[192.0.2.1]"), "ann@[192.0.2.1]");
        assert_eq!(normal_address("MAILER-DAEMON"), "mailer-daemon");
    }

    #[test]
    fn an_address_has_a_local_part_and_a_domain_and_nothing_else() {
        for good in ["a@b", "first.last+tag@example.com", "ü@exämple.de"] {
            assert!(is_address(good), "{good}");
        }
        for bad in ["", "a", "@b", "a@", "a b@c", "a@b@c", "<a@b>", "a@b,c@d", "a\n@b"] {
            assert!(!is_address(bad), "{bad}");
        }
        assert!(!is_address(&format!("{}@b", "a".repeat(253))));
    }
}
