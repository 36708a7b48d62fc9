//! XML of other servers. The parser compares the attributes of an element with one another, and has each
//! element that declares a name space take over all those around it: both are counted before it sees them.

use std::collections::HashSet;

use roxmltree::{Document, ParsingOptions};

/// Attributes of one element.
const ATTRIBUTES: usize = 100;
/// Bytes of the prefix of a name space.
const PREFIX_BYTES: usize = 256;
/// Name spaces that a document gives a prefix.
const PREFIXES: usize = 100;

/// A document with at most so many nodes; `None` for what is no XML, and for what would take too long.
/// It has no entities, which are how small files become large.
pub fn parse_xml(text: &str, nodes_limit: u32) -> Option<Document<'_>> {
    let options = ParsingOptions { allow_dtd: false, nodes_limit, ..Default::default() };
    is_simple(text).then(|| Document::parse_with_options(text, options).ok())?
}

fn is_simple(text: &str) -> bool {
    let mut prefixes = HashSet::new();
    for (at, declared) in text.match_indices("xmlns:") {
        let Some(prefix) = prefix(&text[at + declared.len()..]) else { return false };
        if prefixes.insert(prefix) && prefixes.len() > PREFIXES {
            return false;
        }
    }
    // A value has no `<`, so whatever follows one is a tag until a `>` outside of quotes.
    text.split('<').skip(1).filter(|tag| !tag.starts_with(['!', '?'])).all(|tag| {
        let (mut quote, mut attributes) = (None, 0);
        for byte in tag.bytes() {
            match (quote, byte) {
                (None, b'>') => break,
                (None, b'"' | b'\'') => quote = Some(byte),
                (None, b'=') => attributes += 1,
                (Some(open), byte) if open == byte => quote = None,
                _ => {}
            }
        }
        attributes <= ATTRIBUTES
    })
}

/// The name at the beginning of a text; `None` where it is too long.
fn prefix(text: &str) -> Option<&[u8]> {
    let name = &text.as_bytes()[..text.len().min(PREFIX_BYTES)];
    let end = name.iter().position(|byte| byte.is_ascii_whitespace() || *byte == b'=')?;
    Some(&name[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODES: u32 = 100_000;

    #[test]
    fn documents_of_servers_are_read() {
        let text = "<?xml version=\"1.0\"?><a xmlns=\"DAV:\" xmlns:c='x'><!-- \" --><c:b d=\"e=f>g\"/>\
                    <t>h=i=j \"k</t></a>";
        assert!(parse_xml(text, NODES).is_some());
        assert!(parse_xml(&format!("<a>{}</a>", "=".repeat(10_000)), NODES).is_some());
    }

    #[test]
    fn documents_made_to_take_long_are_refused() {
        let attributes: String = (0..200_000).map(|n| format!(" a{n}=''")).collect();
        assert!(parse_xml(&format!("<a{attributes}/>"), NODES).is_none());
        assert!(parse_xml(&format!("<!-- \" --><a b='>' {attributes}/>"), NODES).is_none());
        let nested: String = (0..50_000).map(|n| format!("<a xmlns:p{n}='x'>")).collect();
        assert!(parse_xml(&nested, NODES).is_none());
        assert!(parse_xml(&format!("<a>{}</a>", "<b/>".repeat(200_000)), NODES).is_none());
        assert!(parse_xml(&"<a>".repeat(50_000), NODES).is_none());
        assert!(parse_xml("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", NODES).is_none());
    }
}
