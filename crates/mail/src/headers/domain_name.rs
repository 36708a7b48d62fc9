//! The name of a domain in the one form in which names are compared, looked up and kept.

use std::fmt;

/// The longest name (RFC 1035, section 2.3.4), in bytes.
const NAME_BYTES: usize = 253;
/// The longest label (RFC 1035, section 2.3.4), in bytes.
const LABEL_BYTES: usize = 63;

/// A name as the DNS has it: ASCII (IDNA), lower case, no dot at its end. `Victim.example.` and
/// `victim.example` are one name; every rule about domains goes by this form.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DomainName(String);

impl DomainName {
    /// `None` for what is no name of a domain, such as a bare IP address.
    pub fn parse(name: &str) -> Option<DomainName> {
        let ascii = idna::domain_to_ascii(name.trim().trim_end_matches('.')).ok()?;
        // Dots of other scripts become plain ones.
        let ascii = ascii.trim_end_matches('.');
        let label = |label: &str| {
            (1..=LABEL_BYTES).contains(&label.len())
                && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        };
        let numeric =
            ascii.rsplit('.').next().is_some_and(|last| last.bytes().all(|b| b.is_ascii_digit()));
        let valid = ascii.len() <= NAME_BYTES && !numeric && ascii.split('.').all(label);
        valid.then(|| DomainName(ascii.to_owned()))
    }

    /// The domain of a mail address.
    pub fn of_address(email: &str) -> Option<DomainName> {
        DomainName::parse(email.rsplit_once('@')?.1)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The part that an organisation registered: `shop.co.uk` of `mail.shop.co.uk`.
    pub fn organisation(&self) -> DomainName {
        DomainName(public_suffix::registered_domain(&self.0).unwrap_or(&self.0).to_owned())
    }

    /// True when it is the other or a part of it.
    pub fn is_within(&self, other: &DomainName) -> bool {
        let rest = self.0.strip_suffix(other.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    }
}

impl fmt::Display for DomainName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_text(name: &str) -> Option<String> {
        DomainName::parse(name).map(|name| name.to_string())
    }

    #[test]
    fn one_domain_has_one_form() {
        for name in [
            "victim.example",
            "VICTIM.Example.",
            "victim.example..",
            " victim.example",
            "victim。example",
        ] {
            assert_eq!(parse_text(name).as_deref(), Some("victim.example"), "{name}");
        }
        assert_eq!(parse_text("Bücher.example.").as_deref(), Some("xn--bcher-kva.example"));
        assert_eq!(parse_text("xn--bcher-kva.example").as_deref(), Some("xn--bcher-kva.example"));
        for bad in ["", ".", "a..b", "192.0.2.1", "[192.0.2.1]", "a b.example", "-_/x"] {
            assert_eq!(parse_text(bad), None, "{bad}");
        }
    }

    #[test]
    fn organisations_are_told_by_what_is_registered() {
        let organisation = |name: &str| DomainName::parse(name).unwrap().organisation().to_string();
        assert_eq!(organisation("Mail.Shop.co.uk."), "shop.co.uk");
        assert_eq!(organisation("shop.example"), "shop.example");
        let name = |name: &str| DomainName::parse(name).unwrap();
        assert!(name("a.shop.example").is_within(&name("SHOP.example.")));
        assert!(!name("ashop.example").is_within(&name("shop.example")));
    }
}
