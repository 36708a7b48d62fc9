//! Everybody on a mail, and its whole header.

use mail_parser::{HeaderName, Message};

use crate::headers::address::Address;
use crate::headers::header::Header;
use crate::headers::people;
use crate::limits::{HEADER_FIELD_CHARS, HEADER_FIELDS};
use crate::text::clean::{clean_line, cut_chars};
use crate::{parser, source};

/// Everybody whom the header of a mail names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Participants {
    pub from: Vec<Address>,
    /// Who sent it for those that it is from.
    pub sender: Option<Address>,
    /// Where answers are wanted.
    pub reply_to: Vec<Address>,
    pub to: Vec<Address>,
    pub cc: Vec<Address>,
}

/// A field of a header, unfolded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderField {
    pub name: String,
    pub value: String,
}

/// Reads who is on a mail.
pub fn participants(raw: &[u8]) -> Participants {
    with_header(raw, |message| {
        let header = Header::of(message);
        let people = |field| people::people(message, &header, field);
        // Names with commas are put together for the first author only.
        let first = people::sender(message, &header);
        let is_first =
            |author: &Address| first.as_ref().is_some_and(|first| first.email == author.email);
        let others = people(HeaderName::From).into_iter().filter(|author| !is_first(author));
        Participants {
            from: first.clone().into_iter().chain(others).collect(),
            sender: people(HeaderName::Sender).into_iter().next(),
            reply_to: people(HeaderName::ReplyTo),
            to: people(HeaderName::To),
            cc: people(HeaderName::Cc),
        }
    })
    .unwrap_or_default()
}

/// Reads the header of a mail, field by field, as it came.
pub fn header_fields(raw: &[u8]) -> Vec<HeaderField> {
    with_header(raw, |message| {
        let fields = message.headers_raw().take(HEADER_FIELDS);
        let fields = fields.map(|(name, value)| HeaderField {
            name: cut_chars(clean_line(name), HEADER_FIELD_CHARS),
            value: cut_chars(clean_line(value), HEADER_FIELD_CHARS),
        });
        fields.collect()
    })
    .unwrap_or_default()
}

fn with_header<T>(raw: &[u8], read: impl FnOnce(&Message<'_>) -> T) -> Option<T> {
    let source = source::prepare(raw);
    parser::PARSER.parse_headers(source.bytes.as_ref()).map(|message| read(&message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_on_a_mail_is_named() {
        let raw = "From: Lee, Ann <ann@x.example>\r\nSender: \"Desk\" <desk@x.example>\r\n\
            Reply-To: office@x.example\r\nTo: =?utf-8?q?J=C3=BCrgen?= <j@y.example>, k@y.example\r\n\
            Cc: Team: a@z.example, \"B, C\" <b@z.example>;\r\n\r\nHi";
        let found = participants(raw.as_bytes());
        let shown = |people: &[Address]| {
            let one = |person: &Address| match &person.name {
                Some(name) => format!("{name} <{}>", person.email),
                None => person.email.clone(),
            };
            people.iter().map(one).collect::<Vec<_>>()
        };
        assert_eq!(shown(&found.from), ["Lee, Ann <ann@x.example>"]);
        assert_eq!(found.sender, Some(Address::new(Some("Desk"), "desk@x.example")));
        assert_eq!(shown(&found.reply_to), ["office@x.example"]);
        assert_eq!(shown(&found.to), ["Jürgen <j@y.example>", "k@y.example"]);
        assert_eq!(shown(&found.cc), ["a@z.example", "B, C <b@z.example>"]);
    }

    #[test]
    fn the_header_is_read_field_by_field_and_bounded() {
        let raw =
            format!("Received: from a\r\n\tby b\r\nX-Long: {}\r\n\r\nbody: no", "y".repeat(9_000));
        let fields = header_fields(raw.as_bytes());
        assert_eq!(fields.len(), 2);
        assert_eq!(
            (fields[0].name.as_str(), fields[0].value.as_str()),
            ("Received", "from a by b")
        );
        assert_eq!(fields[1].value.len(), HEADER_FIELD_CHARS);
        let many = "X: y\n".repeat(5_000) + "\nbody";
        assert_eq!(header_fields(many.as_bytes()).len(), HEADER_FIELDS);
    }
}
