//! The nodes of a page as it is written: every element that begins also ends.

use crate::html::QuoteRole;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum PageNode {
    Start(PageElement),
    End(&'static str),
    /// An element that has no end.
    Void(PageElement),
    Text(String),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PageElement {
    pub tag: &'static str,
    pub attributes: PageAttributes,
    pub role: QuoteRole,
    /// Nothing that stands in it is seen.
    pub hidden: bool,
}

/// PageAttributes with their values, not yet escaped.
pub(super) type PageAttributes = Vec<(&'static str, String)>;

impl PageElement {
    /// An element of ours.
    pub fn ours(tag: &'static str, class: &str) -> PageElement {
        let attributes = vec![("class", class.to_owned())];
        PageElement { tag, attributes, ..PageElement::default() }
    }

    pub fn attribute(&self, name: &str) -> Option<&str> {
        let mut named = self.attributes.iter().filter(|(known, _)| *known == name);
        named.next().map(|(_, value)| value.as_str())
    }
}

pub(super) fn write(nodes: &[PageNode]) -> String {
    let mut written = String::new();
    for node in nodes {
        match node {
            PageNode::Start(element) | PageNode::Void(element) => {
                written.push('<');
                written.push_str(element.tag);
                write_attributes(&mut written, &element.attributes);
                written.push('>');
            }
            PageNode::End(tag) => {
                written.push_str("</");
                written.push_str(tag);
                written.push('>');
            }
            PageNode::Text(text) => escape(&mut written, text),
        }
    }
    written
}

pub(super) fn write_attributes(written: &mut String, attributes: &PageAttributes) {
    for (name, value) in attributes {
        written.push(' ');
        written.push_str(name);
        written.push_str("=\"");
        escape(written, value);
        written.push('"');
    }
}

fn escape(into: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => into.push_str("&amp;"),
            '<' => into.push_str("&lt;"),
            '>' => into.push_str("&gt;"),
            '"' => into.push_str("&quot;"),
            '\0' => {}
            c => into.push(c),
        }
    }
}

/// Bytes that a text takes at most once it is written.
pub(super) fn written_bytes(text: &str) -> usize {
    const ESCAPED: usize = "&quot;".len();
    let escaped = text.bytes().filter(|byte| matches!(byte, b'&' | b'<' | b'>' | b'"')).count();
    text.len() + escaped * (ESCAPED - 1)
}
