//! Who a mail is from and to.

use std::sync::LazyLock;

use mail_parser::{HeaderName, Message};
use regex::Regex;

use crate::headers::address::{Address, is_address};
use crate::headers::header::Header;
use crate::limits::ADDRESSES;
use crate::text::clean::clean_name;
use crate::text::invisible::count_hidden;

static ADDRESS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"[^\s<>()\[\]",;:@]+@[^\s<>()\[\]",;:@]+"#).expect("the pattern is valid")
});

/// Who a mail is from: the first address in any `From`. Names with commas make parsers see several
/// people, the first of them without an address; then all the names are one.
pub fn sender(message: &Message<'_>, header: &Header) -> Option<Address> {
    let mut names: Vec<String> = Vec::new();
    for value in message.header_values(HeaderName::From) {
        let Some(people) = value.as_address() else { continue };
        for person in people.iter() {
            let email = person.address.as_deref().map(str::trim).unwrap_or_default();
            names.extend(person.name.as_deref().and_then(clean_name));
            if is_address(email) {
                let name = names.join(", ");
                return Some(Address::new(Some(&name), email));
            }
            // What stood before the comma of "Lee, Ann <ann@x.example>" comes as an address.
            if person.name.is_none() && !email.contains('@') {
                names.extend(clean_name(email));
            }
        }
    }
    header.all("from").find_map(address_within)
}

/// Characters in the sender's name that nobody sees.
pub fn hidden_letters(message: &Message<'_>) -> usize {
    let people = message.from().map(|people| people.iter().take(ADDRESSES));
    let names = people.into_iter().flatten().filter_map(|person| person.name.as_deref());
    names.map(count_hidden).sum()
}

/// The people of a field, in order. Where its grammar tells none, the first address in it counts.
pub fn people(message: &Message<'_>, header: &Header, field: HeaderName<'static>) -> Vec<Address> {
    let name = field.as_str().to_ascii_lowercase();
    let values = message.header_values(field).filter_map(|value| value.as_address());
    let mut found: Vec<Address> = Vec::new();
    for person in values.flat_map(|people| people.iter()) {
        let email = person.address.as_deref().map(str::trim).unwrap_or_default();
        if found.len() == ADDRESSES {
            break;
        }
        if is_address(email) {
            let name = person.name.as_deref().and_then(clean_name);
            found.push(Address::new(name.as_deref(), email));
        }
    }
    if found.is_empty() {
        found.extend(header.all(&name).find_map(address_within));
    }
    found
}

/// The addresses that machines on the way noted a mail was delivered to.
pub fn delivered_to(header: &Header) -> Vec<String> {
    const FIELDS: [&str; 6] = [
        "delivered-to",
        "x-original-to",
        "x-forwarded-to",
        "envelope-to",
        "x-envelope-to",
        "x-rcpt-to",
    ];
    let mut found: Vec<String> = Vec::new();
    for value in FIELDS.iter().flat_map(|field| header.all(field)) {
        if let Some(address) = address_within(value)
            && !found.contains(&address.email)
            && found.len() < ADDRESSES
        {
            found.push(address.email);
        }
    }
    found
}

/// The return path in a header: `Some` and empty for a mail that wants no answer.
pub fn return_path(header: &Header) -> Option<String> {
    let value = header.get("return-path")?;
    Some(address_within(value).map(|address| address.email).unwrap_or_default())
}

/// The first address anywhere in a text.
pub fn address_within(text: &str) -> Option<Address> {
    let text = text.strip_prefix("mailto:").unwrap_or(text);
    let found = ADDRESS.find_iter(text).map(|found| found.as_str());
    let mut found = found.map(|email| email.trim_matches(|c| matches!(c, '.' | '\'' | '`' | '*')));
    found.find(|email| is_address(email)).map(|email| Address::new(None, email))
}
