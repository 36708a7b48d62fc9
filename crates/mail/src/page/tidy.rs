//! HTML written anew so that a tree of it is cheap to build: only tags and attributes that are
//! shown, each element ended where it has to be, and none of it beyond fixed bounds.
//!
//! Tree builders look through all open elements for many a tag, copy formatting elements that were
//! left open, and move what stands between the cells of a table: each can be made to cost the
//! square of a mail's size. This is one pass over the tokens, and its result gives them no cause.

use html5gum::{DefaultEmitter, Token, Tokenizer};

use super::attributes::{self, PictureBox};
use super::css;
use super::doctype::LayoutMode;
use super::elements::{
    CELLS, ends_paragraph, holding_rank, is_formatting, is_skipped, is_void, shown_as, table_rank,
};
use super::node::{PageAttributes, PageElement, PageNode, written_bytes};
use super::pictures::PagePictures;
use crate::html::{TagAttributes, element_role, shows_nothing};
use crate::limits::{PAGE_BYTES, PAGE_DEPTH, PAGE_IMAGES, PAGE_TAGS, STYLE_BYTES};

/// Formatting elements that go on behind the end of another.
const GOING_ON: usize = 4;
/// Open formatting elements beyond which none goes on.
const FORMATTING_DEPTH: usize = 16;
/// The same formatting elements that are open at once, of those that go on.
const ALIKE: usize = 3;

/// A page that is larger, deeper or busier than is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BeyondBounds;

/// A mail's HTML, taken apart.
#[derive(Debug, Default)]
pub(super) struct TidyPage {
    pub nodes: Vec<PageNode>,
    /// Its style sheets, cleaned, one after another.
    pub sheet: String,
    /// What its `<html>` and `<body>` declare.
    pub root: PageAttributes,
    pub body: PageAttributes,
    pub mode: LayoutMode,
}

pub(super) fn tidy(html: &str, pictures: &mut PagePictures<'_>) -> Result<TidyPage, BeyondBounds> {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let mut page = Page::new(pictures);
    for Ok(token) in Tokenizer::new_with_emitter(html, emitter) {
        match token {
            Token::StartTag(tag) => page.start(&lower(&tag.name), &tag.attributes)?,
            Token::EndTag(tag) => page.end(&lower(&tag.name))?,
            Token::String(text) => page.text(&String::from_utf8_lossy(&text))?,
            Token::Doctype(doctype) if page.tags == 0 => {
                page.written.mode = LayoutMode::of(&doctype);
            }
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
        if page.bytes > PAGE_BYTES {
            return Err(BeyondBounds);
        }
    }
    page.end_sheet();
    page.close_to(0);
    Ok(page.written)
}

fn lower(name: &[u8]) -> String {
    String::from_utf8_lossy(name).to_ascii_lowercase()
}

struct Page<'p, 'a> {
    written: TidyPage,
    open: Vec<&'static str>,
    /// The places of the open elements in what is written.
    starts: Vec<usize>,
    pictures: &'p mut PagePictures<'a>,
    tags: usize,
    images: usize,
    /// What is written so far, in bytes.
    bytes: usize,
    /// Bytes of style sheets so far.
    style_bytes: usize,
    /// The style sheet within which we are, and the screens that it is for.
    sheet: Option<(String, String)>,
    /// Within an element whose text is nothing to read, such as a script.
    skips: bool,
}

impl<'p, 'a> Page<'p, 'a> {
    fn new(pictures: &'p mut PagePictures<'a>) -> Page<'p, 'a> {
        Page {
            written: TidyPage::default(),
            open: Vec::new(),
            starts: Vec::new(),
            pictures,
            tags: 0,
            images: 0,
            bytes: 0,
            style_bytes: 0,
            sheet: None,
            skips: false,
        }
    }

    fn start(&mut self, name: &str, given: &TagAttributes) -> Result<(), BeyondBounds> {
        self.end_sheet();
        let Some(tag) = shown_as(name) else {
            self.start_other(name, given);
            return Ok(());
        };
        match table_rank(tag) {
            Some(rank) if !self.enter_table(tag, rank) => return Ok(()),
            Some(_) => {}
            None => self.enter_cell()?,
        }
        if tag == "img" {
            return self.picture(given);
        }
        self.end_implied(tag)?;
        let mut attributes = attributes::attributes(tag, given, self.pictures);
        let (role, mut hidden) = element_role(tag, given);
        let is_open = given.iter().any(|(name, _)| name.eq_ignore_ascii_case(b"open"));
        if shows_nothing(name, is_open) {
            hidden = true;
            // No style of the mail shows it again.
            attributes = vec![("style", "display:none!important".to_owned())];
        }
        self.open(PageElement { tag, attributes, role, hidden })
    }

    /// Elements that a page has no use for, but something in them.
    fn start_other(&mut self, name: &str, given: &TagAttributes) {
        self.skips = is_skipped(name);
        let attributes =
            |page: &mut Page<'_, '_>| attributes::root_attributes(given, page.pictures);
        match name {
            "html" if self.written.root.is_empty() => self.written.root = attributes(self),
            "body" if self.written.body.is_empty() => {
                self.written.body = attributes(self);
                self.written.sheet.push_str(&attributes::link_colours(given));
            }
            "style" => {
                let media = given.iter().find(|(name, _)| name.eq_ignore_ascii_case(b"media"));
                let media = media.map(|(_, value)| String::from_utf8_lossy(value).into_owned());
                self.sheet = Some((String::new(), media.unwrap_or_default()));
            }
            _ => {}
        }
    }

    fn picture(&mut self, given: &TagAttributes) -> Result<(), BeyondBounds> {
        self.images += 1;
        if self.images > PAGE_IMAGES {
            return Ok(());
        }
        match attributes::picture(given, self.pictures) {
            PictureBox::Picture(attributes) => {
                self.open(PageElement { tag: "img", attributes, ..PageElement::default() })
            }
            PictureBox::Place(attributes, alt) => {
                self.open(PageElement { tag: "span", attributes, ..PageElement::default() })?;
                self.push_text(&alt);
                self.close_to(self.open.len() - 1);
                Ok(())
            }
            PictureBox::Nothing => Ok(()),
        }
    }

    fn open(&mut self, element: PageElement) -> Result<(), BeyondBounds> {
        self.tags += 1;
        if self.tags > PAGE_TAGS || self.open.len() >= PAGE_DEPTH {
            return Err(BeyondBounds);
        }
        self.bytes += 2 * element.tag.len() + 5;
        for (name, value) in &element.attributes {
            self.bytes += name.len() + written_bytes(value) + 4;
        }
        if is_void(element.tag) {
            self.written.nodes.push(PageNode::Void(element));
        } else {
            self.open.push(element.tag);
            self.starts.push(self.written.nodes.len());
            self.written.nodes.push(PageNode::Start(element));
        }
        Ok(())
    }

    /// Ends the nearest open element of the name and all within it; formatting that was begun in it
    /// goes on behind it. A stray end is ignored, as is one that would end more than the cell it
    /// stands in.
    fn end(&mut self, name: &str) -> Result<(), BeyondBounds> {
        self.end_sheet();
        self.skips = false;
        let name = shown_as(name).unwrap_or(name);
        let of_table = name == "table" || table_rank(name).is_some();
        let within: &[&str] = if of_table { &["table"] } else { &CELLS };
        let Some(place) = self.nearest(&[name], within) else { return Ok(()) };
        let goes_on = if of_table { Vec::new() } else { self.left_open(place) };
        self.close_to(place);
        goes_on.into_iter().try_for_each(|element| self.open(element))
    }

    /// The formatting elements and links that are open in an element, where there is nothing else in it.
    fn left_open(&self, place: usize) -> Vec<PageElement> {
        let goes_on = |tag: &str| tag == "a" || is_formatting(tag);
        let within = &self.open[place + 1..];
        if within.len() > GOING_ON || !within.iter().all(|tag| goes_on(tag)) {
            return Vec::new();
        }
        let around = self.open[..place].iter().rev().take_while(|tag| !CELLS.contains(tag));
        if around.clone().filter(|tag| goes_on(tag)).count() >= FORMATTING_DEPTH {
            return Vec::new();
        }
        let around = &self.starts[place - around.count()..place];
        let is_new = |element: &&PageElement| {
            let alike = around.iter().filter(|at| self.element_started_at(**at) == Some(*element));
            alike.take(ALIKE).count() < ALIKE
        };
        let left = self.starts[place + 1..].iter().filter_map(|at| self.element_started_at(*at));
        left.filter(is_new).cloned().collect()
    }

    fn element_started_at(&self, at: usize) -> Option<&PageElement> {
        match &self.written.nodes[at] {
            PageNode::Start(element) => Some(element),
            _ => None,
        }
    }

    fn text(&mut self, text: &str) -> Result<(), BeyondBounds> {
        if let Some((sheet, _)) = &mut self.sheet {
            let room = STYLE_BYTES.saturating_sub(self.style_bytes);
            let text = &text[..text.floor_char_boundary(room)];
            self.style_bytes += text.len();
            sheet.push_str(text);
        }
        if self.skips {
            return Ok(());
        }
        if !text.trim().is_empty() {
            self.enter_cell()?;
        }
        self.push_text(text);
        Ok(())
    }

    fn push_text(&mut self, text: &str) {
        self.bytes += written_bytes(text);
        self.written.nodes.push(PageNode::Text(text.to_owned()));
    }

    fn end_sheet(&mut self) {
        if let Some((sheet, media)) = self.sheet.take() {
            self.written.sheet.push_str(&css::clean_sheet(&sheet, &media, self.pictures));
        }
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
        let part = |tag: &'static str| PageElement { tag, ..PageElement::default() };
        if self.open.last() == Some(&"colgroup") {
            self.close_to(self.open.len() - 1);
        }
        if matches!(self.open.last(), Some(&("table" | "tbody" | "thead" | "tfoot"))) {
            self.open(part("tr"))?;
        }
        if self.open.last() == Some(&"tr") {
            self.open(part("td"))?;
        }
        Ok(())
    }

    /// Ends what the start of an element ends by itself. Formatting and links go on.
    fn end_implied(&mut self, tag: &str) -> Result<(), BeyondBounds> {
        let ended = match tag {
            "a" => self.nearest(&["a"], &CELLS),
            "li" => self.nearest(&["li"], &["ul", "ol", "td", "th", "caption", "table"]),
            "dd" | "dt" => self.nearest(&["dd", "dt"], &["dl", "td", "th", "caption", "table"]),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.nearest(&["h1", "h2", "h3", "h4", "h5", "h6"], &CELLS)
            }
            _ => None,
        };
        let mut goes_on = Vec::new();
        if let Some(place) = ended {
            goes_on = if tag == "a" { Vec::new() } else { self.left_open(place) };
            self.close_to(place);
        }
        if ends_paragraph(tag)
            && let Some(place) = self.nearest(&["p"], &CELLS)
        {
            goes_on = self.left_open(place);
            self.close_to(place);
        }
        // A table is set apart from the formatting around it.
        if tag == "table" {
            return Ok(());
        }
        goes_on.into_iter().try_for_each(|element| self.open(element))
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
            self.starts.pop();
            self.written.nodes.push(PageNode::End(tag));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::node::write;
    use super::super::{PageAddresses, RemotePictures};
    use super::*;
    use crate::limits::PAGE_ATTRIBUTE_BYTES;

    fn tidy(html: &str) -> Result<String, BeyondBounds> {
        let addresses = PageAddresses { pictures: "/p", remote: RemotePictures::Shown };
        let message = crate::parser::PARSER.parse(b"Subject: x\n\nx").expect("a mail");
        let mut pictures = PagePictures::new(&message, addresses);
        super::tidy(html, &mut pictures).map(|page| write(&page.nodes))
    }

    fn tidy_page(html: &str) -> String {
        tidy(html).expect("within bounds")
    }

    #[test]
    fn what_was_left_open_is_ended_where_browsers_end_it() {
        for (html, tidy) in [
            ("<p>a<p>b", "<p>a</p><p>b</p>"),
            ("<p>a<div>b</div>", "<p>a</p><div>b</div>"),
            ("<ul><li>a<li>b</ul>", "<ul><li>a</li><li>b</li></ul>"),
            ("<a href=#x>a<a href=#y>b", "<a href=\"#x\">a</a><a href=\"#y\">b</a>"),
            ("<b>a<i>b</b>c</i>d", "<b>a<i>b</i></b><i>c</i>d"),
            (
                "<a href=#x><font color=red>a</a>b</font>c",
                "<a href=\"#x\"><font color=\"red\">a</font></a><font color=\"red\">b</font>c",
            ),
            ("<b>a<div>b</b>c", "<b>a<div>b</div></b>c"),
            (
                "<p><a href=#x>a<h2>b</h2></a>c",
                "<p><a href=\"#x\">a</a></p><a href=\"#x\"><h2>b</h2></a>c",
            ),
            ("<p><b>a</p><p>b</b>c</p>", "<p><b>a</b></p><b><p>b</p></b>c"),
            (
                "<p><b>a<table><tr><td>b</table>",
                "<p><b>a</b></p><table><tr><td>b</td></tr></table>",
            ),
            (
                "<table><tr><td>a<td>b<tr><td>c</table>d",
                "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>d",
            ),
            ("<table><tr><td><div>a</tr></table>", "<table><tr><td><div>a</div></td></tr></table>"),
            ("<td>a</td></div>b", "ab"),
        ] {
            assert_eq!(tidy_page(html), tidy, "{html}");
        }
    }

    #[test]
    fn what_is_never_ended_does_not_pile_up() {
        let depth = |html: &str| {
            let open = |part: &str| part.matches("<font").count() - part.matches("</font>").count();
            let html = tidy_page(html);
            html.match_indices("</p>").map(|(end, _)| open(&html[..end])).max()
        };
        assert_eq!(depth(&"<p><font color=red>a</p>".repeat(PAGE_DEPTH)), Some(ALIKE));
        let different = |n| format!("<p><font face=f{n}>a</p>");
        let different: String = (0..PAGE_DEPTH).map(different).collect();
        assert_eq!(depth(&different), Some(FORMATTING_DEPTH));
    }

    #[test]
    fn what_stands_between_cells_gets_a_cell() {
        assert_eq!(
            tidy_page("<table>a<tr><b>b</b><td>c</table>"),
            "<table><tr><td>a</td></tr><tr><td><b>b</b></td><td>c</td></tr></table>"
        );
        assert_eq!(
            tidy_page("<table><colgroup><col><table><tr><td>x"),
            "<table><colgroup><col></colgroup><tr><td><table><tr><td>x</td></tr></table></td></tr></table>"
        );
        assert_eq!(
            tidy_page("<table> <tr>\n<td>c</table>"),
            "<table> <tr>\n<td>c</td></tr></table>"
        );
    }

    #[test]
    fn only_what_is_shown_is_left() {
        assert_eq!(
            tidy_page("<script>a<b></script><x y=1>t</x><p onclick=x align=left q>u&lt;&amp;</p>"),
            "t<p align=\"left\">u&lt;&amp;</p>"
        );
        assert_eq!(tidy_page("<p title='\"<b>'>x"), "<p title=\"&quot;&lt;b&gt;\">x</p>");
        assert_eq!(tidy_page("<style>p{}</style><svg><path d=1>a</svg>b"), "ab");
        assert_eq!(
            tidy_page("<form action=x><label>a</label><button style='color:red'>b</button></form>"),
            "<div><span>a</span><span style=\"color:red\">b</span></div>"
        );
    }

    #[test]
    fn pages_beyond_the_bounds_are_refused() {
        assert_eq!(tidy(&"<div>".repeat(PAGE_DEPTH + 1)), Err(BeyondBounds));
        assert!(tidy(&"<div>".repeat(PAGE_DEPTH)).is_ok());
        assert_eq!(tidy(&"<br>".repeat(PAGE_TAGS + 1)), Err(BeyondBounds));
        assert!(tidy(&"<br>".repeat(PAGE_TAGS)).is_ok());
        assert_eq!(tidy(&"&".repeat(PAGE_BYTES / 2)), Err(BeyondBounds));
        let pictures = tidy_page(&"<img src=//x.example/a>".repeat(PAGE_IMAGES + 5));
        assert_eq!(pictures.matches("<img").count(), PAGE_IMAGES);
        let long = format!("<p style=\"{}\">x", "a".repeat(PAGE_ATTRIBUTE_BYTES + 1));
        assert_eq!(tidy_page(&long), "<p>x</p>");
    }
}
