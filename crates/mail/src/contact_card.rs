//! Reads vCards (RFC 6350, RFC 2426, vCard 2.1): name, organisation, telephones and addresses.

use mail_parser::decoders::quoted_printable::quoted_printable_decode;

use crate::limits::{VCARD_BYTES, VCARD_CHARS, VCARD_VALUES, VCARDS};
use crate::text::charset;
use crate::text::clean::{clean_line, cut_chars};

/// A person or an organisation as a vCard has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContactCard {
    pub name: Option<String>,
    pub organisation: Option<String>,
    pub phones: Vec<String>,
    pub emails: Vec<String>,
}

/// The cards of a file; those that say nothing are left out.
pub fn contact_cards(bytes: &[u8]) -> Vec<ContactCard> {
    let bytes = &bytes[..bytes.len().min(VCARD_BYTES)];
    let mut cards: Vec<ContactCard> = Vec::new();
    let mut open: Option<ContactCard> = None;
    for line in unfold(bytes) {
        let Some(property) = Property::parse(&line) else { continue };
        match (property.name.as_str(), &mut open) {
            ("BEGIN", _) if property.is("VCARD") => open = Some(ContactCard::default()),
            ("END", _) if property.is("VCARD") => {
                cards.extend(open.take().filter(|card| *card != ContactCard::default()));
                if cards.len() == VCARDS {
                    break;
                }
            }
            (_, Some(card)) => property.into_card(card),
            _ => {}
        }
    }
    cards
}

/// The lines of a file, put together where they were folded: with a space before the rest, or with
/// an equals sign at the end of what is quoted-printable.
fn unfold(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut lines: Vec<Vec<u8>> = Vec::new();
    let mut soft = false;
    for line in bytes.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        match lines.last_mut() {
            Some(last) if soft => {
                last.pop();
                last.extend_from_slice(line);
            }
            Some(last) if matches!(line.first(), Some(b' ' | b'\t')) => {
                last.extend_from_slice(&line[1..]);
            }
            _ => lines.push(line.to_vec()),
        }
        let quoted = |line: &Vec<u8>| {
            let colon = line.iter().position(|byte| *byte == b':').unwrap_or(0);
            let head = line[..colon].to_ascii_uppercase();
            head.windows(16).any(|word| word == b"QUOTED-PRINTABLE")
        };
        // The head stands in the first line, which is not looked through again while it is soft.
        soft = line.ends_with(b"=") && (soft || lines.last().is_some_and(quoted));
    }
    lines
}

struct Property {
    /// Upper case, without its group.
    name: String,
    value: String,
}

impl Property {
    fn parse(line: &[u8]) -> Option<Property> {
        let mut in_quotes = false;
        let colon = line.iter().position(|byte| {
            in_quotes ^= *byte == b'"';
            *byte == b':' && !in_quotes
        })?;
        let head = String::from_utf8_lossy(&line[..colon]).to_ascii_uppercase();
        let mut parameters = head.split(';');
        let name = parameters.next()?.rsplit('.').next()?.trim().to_owned();
        let parameters: Vec<&str> = parameters.map(str::trim).collect();
        let bytes = &line[colon + 1..];
        let quoted = parameters.iter().any(|one| one.ends_with("QUOTED-PRINTABLE"));
        let decoded = if quoted { quoted_printable_decode(bytes) } else { None };
        let bytes = decoded.as_deref().unwrap_or(bytes);
        let charset = parameters.iter().find_map(|one| one.strip_prefix("CHARSET="));
        Some(Property { name, value: charset::decode(bytes, charset) })
    }

    fn is(&self, value: &str) -> bool {
        self.value.trim().eq_ignore_ascii_case(value)
    }

    fn into_card(self, card: &mut ContactCard) {
        match self.name.as_str() {
            "FN" => card.name = line(&unescape(&self.value)).or(card.name.take()),
            // Family name, given name, further names, before and after the name.
            "N" if card.name.is_none() => {
                let parts = components(&self.value);
                let order = [3, 1, 2, 0, 4].iter().filter_map(|place: &usize| parts.get(*place));
                card.name = line(&order.cloned().collect::<Vec<_>>().join(" "));
            }
            "ORG" => {
                let parts = components(&self.value).into_iter().filter(|part| !part.is_empty());
                card.organisation = line(&parts.collect::<Vec<_>>().join(", "));
            }
            "TEL" => add(&mut card.phones, without_scheme(&self.value, "tel:")),
            "EMAIL" => add(&mut card.emails, without_scheme(&self.value, "mailto:")),
            _ => {}
        }
    }
}

fn add(values: &mut Vec<String>, value: &str) {
    if let Some(value) = line(&unescape(value))
        && values.len() < VCARD_VALUES
        && !values.contains(&value)
    {
        values.push(value);
    }
}

fn line(value: &str) -> Option<String> {
    let value = cut_chars(clean_line(value), VCARD_CHARS);
    (!value.is_empty()).then_some(value)
}

fn without_scheme<'a>(value: &'a str, scheme: &str) -> &'a str {
    let value = value.trim();
    match value.get(..scheme.len()) {
        Some(start) if start.eq_ignore_ascii_case(scheme) => &value[scheme.len()..],
        _ => value,
    }
}

/// The parts of a value between semicolons that are not escaped.
fn components(value: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let (mut start, mut escaped) = (0, false);
    for (at, c) in value.char_indices() {
        if c == ';' && !escaped {
            parts.push(unescape(&value[start..at]).trim().to_owned());
            start = at + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    parts.push(unescape(&value[start..]).trim().to_owned());
    parts
}

fn unescape(value: &str) -> String {
    let mut plain = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n' | 'N') => plain.push(' '),
                Some(other) => plain.push(other),
                None => {}
            },
            c => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(card: &str) -> ContactCard {
        contact_cards(card.as_bytes()).remove(0)
    }

    #[test]
    fn cards_of_every_version_are_read() {
        let old = one(
            "BEGIN:VCARD\r\nVERSION:2.1\r\nN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:M=C3=\r\n\
            =BCller;J=C3=BCrgen\r\nORG;ENCODING=QUOTED-PRINTABLE:Caf=E9;Bar\r\nTEL;WORK:+49 40 1\r\n\
            EMAIL;INTERNET:j@x.example\r\nEND:VCARD\r\n",
        );
        assert_eq!(old.name.as_deref(), Some("Jürgen Müller"));
        assert_eq!(old.organisation.as_deref(), Some("Café, Bar"));
        assert_eq!((old.phones, old.emails), (vec!["+49 40 1".into()], vec!["j@x.example".into()]));
        let newer =
            one("BEGIN:VCARD\nVERSION:3.0\nN:Lee;Ann;;Dr.;\nFN:Dr. Ann\n  Lee\nORG:Lamps\\, \
            Ltd.;Sales\nitem1.EMAIL;type=\"a:b\":ann@x.example\nTEL:1\nTEL:1\nEND:VCARD");
        assert_eq!(newer.name.as_deref(), Some("Dr. Ann Lee"));
        assert_eq!(newer.organisation.as_deref(), Some("Lamps, Ltd., Sales"));
        assert_eq!((newer.phones.len(), newer.emails), (1, vec!["ann@x.example".into()]));
        let newest = one("begin:vcard\nversion:4.0\nfn:Ann\ntel;value=uri:tel:+1-555\nend:vcard\n");
        assert_eq!(newest.phones, ["+1-555"]);
    }

    #[test]
    fn files_of_several_cards_and_broken_ones_are_read_within_bounds() {
        let many = "BEGIN:VCARD\nFN:A\nEND:VCARD\n".repeat(VCARDS + 5);
        assert_eq!(contact_cards(many.as_bytes()).len(), VCARDS);
        assert_eq!(contact_cards(b"FN:A\nEND:VCARD\nBEGIN:VCARD\nEND:VCARD"), []);
        let soft = format!("BEGIN:VCARD\nN;QUOTED-PRINTABLE:{}", "a=\n".repeat(300_000));
        assert_eq!(contact_cards(soft.as_bytes()), []);
        let card = one(&format!("BEGIN:VCARD\nFN:{}\nEND:VCARD", "a\u{202e}\0".repeat(9_000)));
        assert_eq!(card.name.map(|name| name.len() <= VCARD_CHARS), Some(true));
    }
}
