//! HTML written anew so that a tree of it is cheap to build: only tags and attributes that are
//! shown, each element ended where it has to be, and none of it beyond fixed bounds.
//!
//! Tree builders look through all open elements for many a tag, copy formatting elements that were
//! left open, and move what stands between the cells of a table: each can be made to cost the
//! square of a mail's size. This is one pass over the tokens, and its result gives them no cause.

use html5gum::{DefaultEmitter, Token, Tokenizer};

use crate::html::TagAttributes;
use crate::limits::{PAGE_ATTRIBUTE_BYTES, PAGE_BYTES, PAGE_DEPTH, PAGE_IMAGES, PAGE_TAGS};

/// The elements that a mail's page is shown with.
pub(super) const TAGS: &[&str] = &[
    "a",
    "abbr",
    "acronym",
    "address",
    "article",
    "aside",
    "b",
    "bdi",
    "bdo",
    "big",
    "blockquote",
    "br",
    "caption",
    "center",
    "cite",
    "code",
    "col",
    "colgroup",
    "dd",
    "del",
    "details",
    "dfn",
    "div",
    "dl",
    "dt",
    "em",
    "figcaption",
    "figure",
    "font",
    "footer",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "i",
    "img",
    "ins",
    "kbd",
    "li",
    "main",
    "mark",
    "nav",
    "ol",
    "p",
    "pre",
    "q",
    "s",
    "samp",
    "section",
    "small",
    "span",
    "strike",
    "strong",
    "sub",
    "summary",
    "sup",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "time",
    "tr",
    "tt",
    "u",
    "ul",
    "var",
    "wbr",
];

/// The attributes of any of them that are looked at.
const ATTRIBUTES: &[&str] = &[
    "align",
    "alt",
    "bgcolor",
    "border",
    "cellpadding",
    "cellspacing",
    "color",
    "colspan",
    "dir",
    "face",
    "height",
    "href",
    "lang",
    "rowspan",
    "size",
    "span",
    "src",
    "start",
    "style",
    "title",
    "valign",
    "width",
];

/// A page that is larger, deeper or busier than is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BeyondBounds;

pub(super) fn tidy(html: &str) -> Result<String, BeyondBounds> {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let mut page = Page::default();
    for Ok(token) in Tokenizer::new_with_emitter(html, emitter) {
        match token {
            Token::StartTag(tag) => page.start(&lower(&tag.name), &tag.attributes)?,
            Token::EndTag(tag) => page.end(&lower(&tag.name)),
            Token::String(text) => page.text(&String::from_utf8_lossy(&text))?,
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
        if page.written.len() > PAGE_BYTES {
            return Err(BeyondBounds);
        }
    }
    page.close_to(0);
    Ok(page.written)
}

fn lower(name: &[u8]) -> String {
    String::from_utf8_lossy(name).to_ascii_lowercase()
}

#[derive(Default)]
struct Page {
    written: String,
    open: Vec<&'static str>,
    tags: usize,
    images: usize,
    /// Within an element whose text is nothing to read, such as a script.
    skips: bool,
}

impl Page {
    fn start(&mut self, name: &str, attributes: &TagAttributes) -> Result<(), BeyondBounds> {
        let Some(tag) = TAGS.iter().find(|tag| **tag == name).copied() else {
            self.skips = is_skipped(name);
            return Ok(());
        };
        if tag == "img" {
            self.images += 1;
            if self.images > PAGE_IMAGES {
                return Ok(());
            }
        }
        match table_rank(tag) {
            Some(rank) if !self.enter_table(tag, rank) => return Ok(()),
            Some(_) => {}
            None => self.enter_cell()?,
        }
        self.end_implied(tag);
        self.open(tag, attributes)
    }

    fn open(&mut self, tag: &'static str, attributes: &TagAttributes) -> Result<(), BeyondBounds> {
        self.tags += 1;
        if self.tags > PAGE_TAGS || self.open.len() >= PAGE_DEPTH {
            return Err(BeyondBounds);
        }
        self.written.push('<');
        self.written.push_str(tag);
        for (name, value) in attributes {
            let Some(name) = ATTRIBUTES.iter().find(|known| known.as_bytes() == &***name) else {
                continue;
            };
            if value.len() <= PAGE_ATTRIBUTE_BYTES {
                self.written.push(' ');
                self.written.push_str(name);
                self.written.push_str("=\"");
                escape(&mut self.written, &String::from_utf8_lossy(value));
                self.written.push('"');
            }
        }
        self.written.push('>');
        if !is_void(tag) {
            self.open.push(tag);
        }
        Ok(())
    }

    /// Ends the nearest open element of the name and all within it. A stray end is ignored, as is
    /// one that would end more than the cell it stands in.
    fn end(&mut self, name: &str) {
        self.skips = false;
        let of_table = name == "table" || table_rank(name).is_some();
        let within: &[&str] = if of_table { &["table"] } else { &CELLS };
        let place = self.nearest(&[name], within);
        if let Some(place) = place {
            self.close_to(place);
        }
    }

    fn text(&mut self, text: &str) -> Result<(), BeyondBounds> {
        if self.skips {
            return Ok(());
        }
        if !text.trim().is_empty() {
            self.enter_cell()?;
        }
        escape(&mut self.written, text);
        Ok(())
    }

    /// Makes a place for a part of a table: whatever stands between it and the row, the group or the
    /// table that holds it is ended. False where there is no table.
    fn enter_table(&mut self, tag: &str, rank: u8) -> bool {
        let Some(table) = self.nearest(&["table"], &[]) else { return false };
        if tag == "col" && self.open.last() == Some(&"colgroup") {
            return true;
        }
        let holds = |open: &&str| holding_rank(open).is_some_and(|holder| holder < rank);
        let holder = self.open[table..].iter().rposition(holds).unwrap_or(0);
        self.close_to(table + holder + 1);
        true
    }

    /// What stands between the cells of a table gets a cell of its own.
    fn enter_cell(&mut self) -> Result<(), BeyondBounds> {
        let none = TagAttributes::new();
        if self.open.last() == Some(&"colgroup") {
            self.close_to(self.open.len() - 1);
        }
        if matches!(self.open.last(), Some(&("table" | "tbody" | "thead" | "tfoot"))) {
            self.open("tr", &none)?;
        }
        if self.open.last() == Some(&"tr") {
            self.open("td", &none)?;
        }
        Ok(())
    }

    /// Ends what the start of an element ends by itself.
    fn end_implied(&mut self, tag: &str) {
        let ended = match tag {
            "a" => self.nearest(&["a"], &CELLS),
            "li" => self.nearest(&["li"], &["ul", "ol", "td", "th", "caption", "table"]),
            "dd" | "dt" => self.nearest(&["dd", "dt"], &["dl", "td", "th", "caption", "table"]),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.nearest(&["h1", "h2", "h3", "h4", "h5", "h6"], &CELLS)
            }
            _ => None,
        };
        if let Some(place) = ended {
            self.close_to(place);
        }
        if ends_paragraph(tag)
            && let Some(place) = self.nearest(&["p"], &CELLS)
        {
            self.close_to(place);
        }
    }

    /// The place of the innermost open element of these names, looked for no further out than the
    /// innermost of the others.
    fn nearest(&self, names: &[&str], within: &[&str]) -> Option<usize> {
        for (place, open) in self.open.iter().enumerate().rev() {
            if names.contains(open) {
                return Some(place);
            }
            if within.contains(open) {
                return None;
            }
        }
        None
    }

    fn close_to(&mut self, depth: usize) {
        while self.open.len() > depth {
            let Some(tag) = self.open.pop() else { return };
            self.written.push_str("</");
            self.written.push_str(tag);
            self.written.push('>');
        }
    }
}

/// What no end tag or start tag within it reaches out of.
const CELLS: [&str; 4] = ["td", "th", "caption", "table"];

/// How deep in a table its parts stand.
fn table_rank(tag: &str) -> Option<u8> {
    match tag {
        "tbody" | "thead" | "tfoot" | "caption" | "colgroup" | "col" => Some(1),
        "tr" => Some(2),
        "td" | "th" => Some(3),
        _ => None,
    }
}

/// The same of those that hold other parts.
fn holding_rank(tag: &str) -> Option<u8> {
    match tag {
        "table" => Some(0),
        "tbody" | "thead" | "tfoot" => Some(1),
        "tr" => Some(2),
        _ => None,
    }
}

fn is_void(tag: &str) -> bool {
    matches!(tag, "br" | "col" | "hr" | "img" | "wbr")
}

/// Elements whose text the tokenizer hands over as it stands and nobody is meant to read.
fn is_skipped(name: &str) -> bool {
    matches!(name, "script" | "style" | "title" | "iframe" | "noembed" | "noscript")
}

fn ends_paragraph(tag: &str) -> bool {
    matches!(
        tag,
        "address"
            | "article"
            | "aside"
            | "blockquote"
            | "center"
            | "dd"
            | "details"
            | "div"
            | "dl"
            | "dt"
            | "figcaption"
            | "figure"
            | "footer"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "header"
            | "hr"
            | "li"
            | "main"
            | "nav"
            | "ol"
            | "p"
            | "pre"
            | "section"
            | "summary"
            | "table"
            | "ul"
    )
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

#[cfg(test)]
mod tests {
    use super::*;

    fn tidied(html: &str) -> String {
        tidy(html).expect("within bounds")
    }

    #[test]
    fn what_was_left_open_is_ended_where_browsers_end_it() {
        for (html, tidy) in [
            ("<p>a<p>b", "<p>a</p><p>b</p>"),
            ("<p>a<div>b</div>", "<p>a</p><div>b</div>"),
            ("<ul><li>a<li>b</ul>", "<ul><li>a</li><li>b</li></ul>"),
            ("<a href=x>a<a href=y>b", "<a href=\"x\">a</a><a href=\"y\">b</a>"),
            ("<b>a<i>b</b>c</i>d", "<b>a<i>b</i></b>cd"),
            (
                "<table><tr><td>a<td>b<tr><td>c</table>d",
                "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>d",
            ),
            ("<table><tr><td><div>a</tr></table>", "<table><tr><td><div>a</div></td></tr></table>"),
            ("<td>a</td></div>b", "ab"),
        ] {
            assert_eq!(tidied(html), tidy, "{html}");
        }
    }

    #[test]
    fn what_stands_between_cells_gets_a_cell() {
        assert_eq!(
            tidied("<table>a<tr><b>b</b><td>c</table>"),
            "<table><tr><td>a</td></tr><tr><td><b>b</b></td><td>c</td></tr></table>"
        );
        assert_eq!(
            tidied("<table><colgroup><col><table><tr><td>x"),
            "<table><colgroup><col></colgroup><tr><td><table><tr><td>x</td></tr></table></td></tr></table>"
        );
        assert_eq!(tidied("<table> <tr>\n<td>c</table>"), "<table> <tr>\n<td>c</td></tr></table>");
    }

    #[test]
    fn only_what_is_shown_is_left() {
        assert_eq!(
            tidied("<script>a<b></script><x y=1>t</x><p onclick=x align=left q>u&lt;&amp;</p>"),
            "t<p align=\"left\">u&lt;&amp;</p>"
        );
        assert_eq!(tidied("<p title='\"<b>'>x"), "<p title=\"&quot;&lt;b&gt;\">x</p>");
        assert_eq!(tidied("<style>p{}</style><svg><path d=1>a</svg>b"), "ab");
    }

    #[test]
    fn pages_beyond_the_bounds_are_refused() {
        assert_eq!(tidy(&"<div>".repeat(PAGE_DEPTH + 1)), Err(BeyondBounds));
        assert!(tidy(&"<div>".repeat(PAGE_DEPTH)).is_ok());
        assert_eq!(tidy(&"<br>".repeat(PAGE_TAGS + 1)), Err(BeyondBounds));
        assert!(tidy(&"<br>".repeat(PAGE_TAGS)).is_ok());
        assert_eq!(tidy(&"&".repeat(PAGE_BYTES / 2)), Err(BeyondBounds));
        assert_eq!(tidied(&"<img>".repeat(PAGE_IMAGES + 5)), "<img>".repeat(PAGE_IMAGES));
        let long = format!("<p style=\"{}\">x", "a".repeat(PAGE_ATTRIBUTE_BYTES + 1));
        assert_eq!(tidied(&long), "<p>x</p>");
    }
}
