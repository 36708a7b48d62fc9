//! E-mail addresses in the one form in which they are compared, looked up and kept.

use std::fmt;
use std::ops::Deref;

use db::{Arg, Column, FromColumn, Value};
use serde::{Deserialize, Serialize};

/// The domain of a Message-ID whose sender has no domain.
const NO_DOMAIN: &str = "localhost";

/// An address in its normal form: lower case, its domain as a [`mail::DomainName`]. Headers also
/// hold values that are no address, such as `mailer-daemon`; these have no domain. Values from the
/// database are not checked again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EmailAddress(String);

impl EmailAddress {
    pub fn new(text: &str) -> EmailAddress {
        EmailAddress(mail::normal_address(text))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// True when a text has this address, in whatever case.
    pub fn is_in(&self, text: &str) -> bool {
        text.to_lowercase().contains(&self.0)
    }

    /// The local part, its plus tag included.
    pub fn local(&self) -> &str {
        self.0.rsplit_once('@').map_or(&self.0, |(local, _)| local)
    }

    pub fn domain(&self) -> Option<&str> {
        self.0.rsplit_once('@').map(|(_, domain)| domain)
    }

    /// The domain for the Message-IDs of mail from this address.
    pub fn message_id_domain(&self) -> &str {
        self.domain().unwrap_or(NO_DOMAIN)
    }

    pub fn without_tag(&self) -> EmailAddress {
        EmailAddress(mail::plus_tag(&self.0).0)
    }

    /// True when mail to this address is for an inbox, with a plus tag or without.
    pub fn is_for(&self, inbox: &EmailAddress) -> bool {
        self.without_tag() == *inbox
    }

    /// The reference in its plus tag (API section 4.13.1).
    pub fn reference(&self) -> Option<String> {
        mail::plus_tag(&self.0).1
    }

    pub fn with_tag(&self, tag: &str) -> EmailAddress {
        match self.domain() {
            Some(domain) => EmailAddress::new(&format!("{}+{tag}@{domain}", self.local())),
            None => self.clone(),
        }
    }
}

impl Deref for EmailAddress {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EmailAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<EmailAddress> for String {
    fn from(address: EmailAddress) -> String {
        address.0
    }
}

impl PartialEq<str> for EmailAddress {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for EmailAddress {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl Arg for EmailAddress {
    fn value(&self) -> Value<'_> {
        Value::Text(&self.0)
    }
}

impl FromColumn for EmailAddress {
    const WANTED: &'static str = String::WANTED;
    fn from_column(column: Column<'_>) -> Option<Self> {
        String::from_column(column).map(EmailAddress)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_local_part_a_domain_and_perhaps_a_tag() {
        let address = EmailAddress::new(" Support+INV-7@Bücher.example. ");
        assert_eq!(address, "support+inv-7@xn--bcher-kva.example");
        assert_eq!(address.local(), "support+inv-7");
        assert_eq!(address.domain(), Some("xn--bcher-kva.example"));
        assert_eq!(address.without_tag(), "support@xn--bcher-kva.example");
        assert_eq!(address.reference().as_deref(), Some("inv-7"));
        assert_eq!(address.without_tag().with_tag("A-1"), "support+a-1@xn--bcher-kva.example");
    }

    #[test]
    fn what_is_no_address_has_no_domain() {
        for text in ["", "MAILER-DAEMON"] {
            let address = EmailAddress::new(text);
            assert_eq!(address, text.to_lowercase().as_str());
            assert_eq!((address.local(), address.domain()), (address.as_str(), None));
            assert_eq!(address.without_tag(), address);
            assert_eq!(address.with_tag("a-1"), address);
            assert_eq!(address.message_id_domain(), "localhost");
        }
    }

    #[test]
    fn a_stored_address_stays_as_it_is() {
        let stored = EmailAddress::from_column(Column::Text("Ann@Example.com"));
        assert_eq!(stored.as_deref(), Some("Ann@Example.com"));
    }
}
