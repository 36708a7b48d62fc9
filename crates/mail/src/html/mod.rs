//! Converts HTML to lines of text, with the quote markers of mail clients.
//!
//! The tokens are walked with a stack of what is open: no tree is built, so that a mail can be
//! neither too deep nor too wide. Hidden text is recognized (`style`, `sheet`).

mod element;
mod lines;
mod media;
mod quote_role;
mod selector;
mod sheet;
mod style;
mod visibility;

use html5gum::{DefaultEmitter, Token, Tokenizer};

use crate::limits::{HTML_BYTES, HTML_DEPTH, HTML_TAGS, LINK_TARGET_BYTES, LINK_TEXT_CHARS, LINKS};
use crate::trim::LineMark;
use element::{Attributes, ElementRole};
pub(crate) use element::{is_block, shows_nothing};
use lines::{Lines, Setting};
use media::Holding;
pub(crate) use quote_role::QuoteRole;
use selector::{ElementNames, ElementPath};
use sheet::StyleSheet;
use style::{CascadedStyles, Shade, StyleDeclarations, StyleEffect};
pub(crate) use visibility::{TextVisibility, VisibilityTracker};

/// Open elements among which an end tag looks for its own.
const CLOSING_REACH: usize = 64;

/// The text of a mail's HTML.
#[derive(Debug, Default)]
pub struct HtmlText {
    /// The visible text; quotes are prefixed by `> `.
    pub text: String,
    /// The same with hidden text.
    pub whole: String,
    /// The same for trimming: signatures left out, announcements of earlier mails marked.
    pub marked: String,
    /// True when the mail client marked quoted history.
    pub tells_history: bool,
    pub links: Vec<Link>,
}

/// A link as the reader sees it and where it leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub text: String,
    pub target: String,
}

pub fn read(html: &str) -> HtmlText {
    let html = &html[..html.floor_char_boundary(HTML_BYTES)];
    let sheet = sheet(html);
    let (mut page, conceals) = walk(html, &sheet, Words::Seen);
    page.whole = match conceals {
        true => walk(html, &sheet, Words::All).0.text,
        false => page.text.clone(),
    };
    page
}

/// Which words are read.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Words {
    #[default]
    Seen,
    All,
}

/// The visible text, and whether hidden text was skipped.
fn walk(html: &str, sheet: &StyleSheet, words: Words) -> (HtmlText, bool) {
    let mut reader = Reader { words, ..Reader::default() };
    let mut tags = 0;
    for Ok(token) in tokens(html) {
        match token {
            Token::StartTag(tag) => {
                tags += 1;
                if tags > HTML_TAGS {
                    break;
                }
                let name = lower(&tag.name);
                let attributes = attributes(&tag.attributes);
                let declared = declarations_for(sheet, &name, &attributes, Some(&reader.path));
                reader.open(name, attributes, &declared);
            }
            Token::EndTag(tag) => reader.close(&lower(&tag.name)),
            Token::String(text) => reader.text(&String::from_utf8_lossy(&text)),
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    let conceals = reader.conceals;
    (reader.finish(), conceals)
}

/// What the sheet, its own attributes and the browser declare for an element.
fn declarations_for(
    sheet: &StyleSheet,
    tag: &str,
    attributes: &Attributes,
    path: Option<&ElementPath>,
) -> StyleDeclarations {
    let mut styles = sheet.cascade(tag, attributes, path);
    styles.overridden_by(&attributes.declared);
    let mut declared = styles.resolve();
    style::usual(tag, attributes, &mut declared);
    declared
}

/// The rules of all style blocks, wherever they stand.
fn sheet(html: &str) -> StyleSheet {
    let mut sheet = StyleSheet::default();
    let has_style = html.as_bytes().windows(6).any(|tag| tag.eq_ignore_ascii_case(b"<style"));
    if !has_style {
        return sheet;
    }
    let mut within: Option<Holding> = None;
    for Ok(token) in tokens(html) {
        match token {
            Token::StartTag(tag) => {
                let media = attributes(&tag.attributes).media;
                let is_style = tag.name.eq_ignore_ascii_case(b"style");
                within = is_style.then(|| media::holding_of_attribute(&media)).flatten();
            }
            Token::String(css) if within.is_some() => {
                sheet.read_held(&String::from_utf8_lossy(&css), within.unwrap_or_default());
            }
            Token::EndTag(_) => within = None,
            _ => {}
        }
    }
    sheet
}

fn tokens(html: &str) -> Tokenizer<html5gum::StringReader<'_>, DefaultEmitter> {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    Tokenizer::new_with_emitter(html, emitter)
}

/// The attributes of a tag, as the tokenizer hands them over.
pub type TagAttributes =
    std::collections::BTreeMap<html5gum::HtmlString, html5gum::Spanned<html5gum::HtmlString, ()>>;

fn attributes(of_tag: &TagAttributes) -> Attributes {
    known_attributes(of_tag.iter().map(|(name, value)| (name.as_slice(), value.as_slice())))
}

/// The attributes of an element, a style behind all others.
fn known_attributes<'a>(given: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> Attributes {
    let mut attributes = Attributes::default();
    for (name, value) in given {
        match name {
            b"id" => attributes.id = lower(value),
            b"class" => attributes.class = lower(value),
            b"style" => {
                attributes.style = lower(value);
                let declared = CascadedStyles::parse(&attributes.style);
                attributes.declared.overridden_by(&declared);
                attributes.style.retain(|c| !c.is_whitespace());
            }
            // These come before a style in the alphabet, and count for less.
            b"bgcolor" => attributes.declared.normal.paper = style::shade(&lower(value)),
            b"background" => attributes.declared.normal.paper = Some(Shade::Unknown),
            b"color" => attributes.declared.normal.ink = style::shade(&lower(value)),
            b"media" => attributes.media = lower(value),
            b"type" => attributes.kind = lower(value),
            b"name" => attributes.name = lower(value),
            b"cite" => attributes.cite = true,
            b"data-marker" => attributes.data_marker = lower(value),
            b"open" => attributes.open = true,
            b"hidden" => attributes.hidden = true,
            b"text" => {
                let normal = &mut attributes.declared.normal;
                normal.ink = normal.ink.or(style::shade(&lower(value)));
            }
            b"href" => {
                let end = value.len().min(LINK_TARGET_BYTES);
                attributes.href = Some(String::from_utf8_lossy(&value[..end]).trim().to_owned());
            }
            _ => {}
        }
    }
    attributes
}

/// What an element is to the history of a mail, and whether it shows nothing of what is in it.
pub(crate) fn element_role(tag: &str, of_tag: &TagAttributes) -> (QuoteRole, bool) {
    let attributes = attributes(of_tag);
    let conceals = attributes.hidden || attributes.declared.resolve().conceals();
    (quote_role::quote_role(tag, &attributes), conceals)
}

fn lower(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).to_lowercase()
}

#[derive(Default)]
struct Reader {
    lines: Lines,
    open: Vec<Open>,
    /// The names of what is open, for selectors that ask for them.
    path: ElementPath,
    tells_history: bool,
    link: Option<Link>,
    links: Vec<Link>,
    words: Words,
    /// Hidden text was skipped.
    conceals: bool,
    /// Something deeper than is told apart conceals what stands in it: the rest counts as concealed.
    lost: bool,
}

struct Open {
    tag: String,
    context: ElementContext,
}

/// The combined context of all open elements.
#[derive(Clone, Copy, Default)]
struct ElementContext {
    /// The content is not text.
    silent: bool,
    /// Nothing that stands here is seen.
    concealed: bool,
    /// In a box that is closed until somebody opens it.
    folded: bool,
    look: StyleEffect,
    preformatted: bool,
    lines: Setting,
}

impl ElementContext {
    fn and(
        self,
        role: ElementRole,
        conceals: bool,
        declared: &StyleDeclarations,
    ) -> ElementContext {
        ElementContext {
            silent: self.silent || role.silent,
            concealed: self.concealed || conceals,
            folded: self.folded,
            look: self.look.within(declared),
            preformatted: self.preformatted || role.preformatted,
            lines: Setting {
                depth: self.lines.depth + usize::from(role.quote),
                signature: self.lines.signature || role.signature,
                announces: self.lines.announces || role.marker,
            },
        }
    }
}

impl Reader {
    fn open(&mut self, tag: String, attributes: Attributes, declared: &StyleDeclarations) {
        if element::closes_itself(&tag) && self.open.last().is_some_and(|open| open.tag == tag) {
            self.close(&tag);
        }
        self.break_before(&tag);
        let role = element::role(&tag, &attributes);
        let names = ElementNames::of(&tag, &attributes);
        let conceals = attributes.hidden || declared.conceals();
        let context = self.context();
        let shown = !context.silent && !self.passes_over(&context);
        self.tells_history |= role.tells_history() && shown;
        if role.boundary && shown {
            self.lines.mark(LineMark::Boundary);
        }
        match tag.as_str() {
            "br" if shown => self.lines.end_line(),
            "hr" if shown => self.lines.rule(),
            "li" if shown && !(conceals && self.words == Words::Seen) => self.lines.bullet(),
            "a" => {
                self.end_link();
                self.link = attributes.href.map(|target| Link { text: String::new(), target });
            }
            _ => {}
        }
        self.path.enter(names);
        if element::is_void(&tag) {
            self.path.truncate(self.open.len());
            return;
        }
        let mut context = context.and(role, conceals, declared);
        match tag.as_str() {
            "details" => context.folded |= !attributes.open,
            "summary" => context.folded = false,
            tag => context.folded |= element::shows_nothing(tag, attributes.open),
        }
        if self.open.len() < HTML_DEPTH {
            self.lines.setting = context.lines;
            self.open.push(Open { tag, context });
        } else {
            self.path.truncate(self.open.len());
            self.lost |= context.concealed || context.look.hides_text();
        }
    }

    /// True inside a hidden element, whose text is skipped. Text hidden by size or colour keeps its
    /// line breaks.
    fn passes_over(&self, context: &ElementContext) -> bool {
        self.words == Words::Seen && context.concealed
    }

    /// Ends the nearest open element of this name and all within it. A stray end is ignored, as is
    /// one that would end more than the cell it stands in.
    fn close(&mut self, tag: &str) {
        let within_cell = |open: &&Open| !matches!(open.tag.as_str(), "td" | "th" | "table");
        let reach = match tag {
            "td" | "th" | "tr" | "table" | "tbody" | "thead" | "body" | "html" => CLOSING_REACH,
            _ => self.open.iter().rev().take(CLOSING_REACH).take_while(within_cell).count() + 1,
        };
        let found = self.open.iter().rev().take(reach).position(|open| open.tag == tag);
        if let Some(above) = found {
            self.open.truncate(self.open.len() - above - 1);
            self.path.truncate(self.open.len());
        }
        match tag {
            "a" => self.end_link(),
            "td" | "th" => self.lines.cell(),
            _ => {}
        }
        self.break_before(tag);
        self.lines.setting = self.context().lines;
    }

    fn text(&mut self, text: &str) {
        let context = self.context();
        if context.silent {
            return;
        }
        let unseen = context.concealed || context.folded || context.look.hides_text() || self.lost;
        if unseen && self.words == Words::Seen {
            let blank = text.trim().is_empty();
            self.conceals |= !blank;
            // Words apart stay apart, however narrow the space between them.
            if blank && !context.concealed {
                self.lines.cell();
            }
            return;
        }
        if let Some(link) = &mut self.link {
            let room = LINK_TEXT_CHARS.saturating_sub(link.text.chars().count());
            link.text.extend(text.chars().take(room));
        }
        if context.preformatted {
            self.lines.push_preformatted(text);
        } else {
            self.lines.text(text);
        }
    }

    fn break_before(&mut self, tag: &str) {
        if element::is_paragraph(tag) {
            self.lines.paragraph();
        } else if element::is_block(tag) {
            self.lines.begin_line();
        }
    }

    fn context(&self) -> ElementContext {
        self.open.last().map(|open| open.context).unwrap_or_default()
    }

    fn end_link(&mut self) {
        if let Some(mut link) = self.link.take()
            && self.links.len() < LINKS
        {
            link.text = link.text.split_whitespace().collect::<Vec<_>>().join(" ");
            self.links.push(link);
        }
    }

    fn finish(mut self) -> HtmlText {
        self.end_link();
        let (text, marked) = self.lines.finish();
        let whole = String::new();
        HtmlText { text, whole, marked, tells_history: self.tells_history, links: self.links }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trim::split_marked;

    fn own(html: &str) -> String {
        split_marked(&read(html).marked).own
    }

    #[test]
    fn html_reads_as_it_would_be_seen() {
        let page = read(
            "<html><head><title>no</title><style>p{}</style></head><body><p>Dear  Ann,</p>\
             <p>two<br>lines &amp; a <b>lamp</b></p><ul><li>one<li>two</ul>\
             <table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>\
             <div style='display: none'>hidden</div><pre>x\n  y</pre>end",
        );
        assert_eq!(
            page.text,
            "Dear Ann,\n\ntwo\nlines & a lamp\n\n- one\n- two\n\na b\nc\n\nx\n  y\n\nend"
        );
        assert!(!page.tells_history);
    }

    #[test]
    fn words_that_nobody_sees_are_not_read_and_stay_in_the_whole() {
        for hidden in [
            "<div style='display:none'>hidden</div>",
            "<div style='display: none !important'>hidden</div>",
            "<span style='visibility:hidden'>hidden</span>",
            "<span style='font-size:0'>hidden</span>",
            "<span style='FONT-SIZE: 0px;'>hidden</span>",
            "<span style='font-size:1px'><b>hidden</b></span>",
            "<span style='font:0/0 a'>hidden</span>",
            "<span style='font-size:0.01em'>hidden</span>",
            "<div style='max-height:0;overflow:hidden'>hidden</div>",
            "<div style='overflow:hidden;height:0px'>hidden</div>",
            "<div style='width:0; overflow:hidden'>hidden</div>",
            "<div style='opacity:0'>hidden</div>",
            "<div style='opacity: 0.0'>hidden</div>",
            "<div style='text-indent:-9999px'>hidden</div>",
            "<div style='position:absolute;left:-9999px'>hidden</div>",
            "<div style='margin-left:-10000px'>hidden</div>",
            "<div style='clip:rect(0,0,0,0);position:absolute'>hidden</div>",
            "<font color=white>hidden</font>",
            "<span style='color:#fff'>hidden</span>",
            "<span style='color:#FEFEFE'>hidden</span>",
            "<span style='color:rgb(255, 255, 255)'>hidden</span>",
            "<span style='color:transparent'>hidden</span>",
            "<span style='color:rgba(0,0,0,0)'>hidden</span>",
            "<table bgcolor='#102030'><tr><td style='color:#102030'>hidden</td></tr></table>",
            "<div style='background:#eee'><p><span style='color:#eeeeee'>hidden</span></p></div>",
            "<div hidden>hidden</div>",
            "<div style='mso-hide:all'>hidden</div>",
            "<style>.x{display:none}</style><p class='y x'>hidden</p>",
            "<style>/* a */ p#k , .z { font-size:0 }</style><p id=k>hidden</p>",
            "<style>em{visibility:hidden}</style><em>hidden</em>",
            "<style><!-- .w{color:#fff} --></style><p class=w>hidden</p>",
            "<p class=late>hidden</p><style>.late{display:none}</style>",
        ] {
            let page = read(&format!("<p>Seen before</p>{hidden}<p>and after</p>"));
            assert!(!page.text.contains("hidden"), "{hidden}: {}", page.text);
            assert!(!page.marked.contains("hidden"), "{hidden}");
            assert!(page.whole.contains("hidden"), "{hidden}: {}", page.whole);
            for text in [&page.text, &page.whole] {
                assert!(text.starts_with("Seen before") && text.ends_with("and after"), "{hidden}");
            }
        }
    }

    #[test]
    fn words_that_somebody_sees_stay() {
        for seen in [
            "<div style='font-size:0'><span style='font-size:14px'>seen</span></div>",
            "<div style='visibility:hidden'><b style='visibility:visible'>seen</b></div>",
            "<div style='color:#fff'><p style='color:black'>seen</p></div>",
            "<td style='color:#fff;background:url(x.png)'>seen</td>",
            "<table background=x.png><tr><td style='color:#fff'>seen</table>",
            "<a style='background-color:#205080;color:#ffffff'>seen</a>",
            "<table bgcolor=#205080><tr><td><font color=#ffffff>seen</font></table>",
            "<a style='display:inline-block;mso-hide:all;'>seen</a>",
            "<div style='max-height:0'>seen</div>",
            "<div style='width:0'>seen</div>",
            "<div style='overflow:hidden;height:20px'>seen</div>",
            "<style>@media (max-width:600px){.x{display:none}}</style><p class=x>seen</p>",
            "<style>@media print{p{display:none}} .q{color:red}</style><p class=x>seen</p>",
            "<style media='(max-width:600px)'>.x{display:none}</style><p class=x>seen</p>",
            "<style>.x:hover{display:none} .a .x{display:none}</style><p class=x>seen</p>",
            "<style>div.x{display:none}</style><p class=x>seen</p>",
            "<style>.dark td{background:#000}</style><table><td style='color:#fff'>seen</table>",
            "<style>.b{background:#123}</style><div class=b><p style='color:#fff'>seen</p></div>",
            "<style>.x{display:none}</style><p class=x style='display:block'>seen</p>",
            "<div style='text-indent:-20px'>seen</div>",
            "<div style='line-height:0;font-size:80%'>seen</div>",
            "<div style='opacity:0.9'>seen</div>",
            "<font color=white><a href='https://x.example'>seen</a></font>",
            "<style>body{background:black}</style><body>seen</body>",
        ] {
            assert!(read(seen).text.contains("seen"), "{seen}");
        }
    }

    #[test]
    fn words_apart_stay_apart() {
        let small = "<div style='font-size:0'><b style='font-size:9px'>a</b> <b \
                     style='font-size:9px'>b</b></div>";
        assert_eq!(read(small).text, "a b");
        assert_eq!(read("f<i style='font-size:0'>o x o</i>ish").text, "fish");
    }

    #[test]
    fn words_cannot_hide_by_depth() {
        let open = "<b>".repeat(HTML_DEPTH + 5);
        let page = read(&format!("seen{open}<i style='display:none'>hidden</i>"));
        assert_eq!((page.text.as_str(), page.whole.as_str()), ("seen", "seenhidden"));
    }

    #[test]
    fn history_is_told_by_the_marks_of_mail_programs() {
        for html in [
            "<div>Own.</div><div class='gmail_quote'><div class='gmail_attr'>zxcv 1:<br></div>\
             <blockquote class='gmail_quote'>Old.</blockquote></div>",
            "<div>Own.</div><hr><div id='divRplyFwdMsg'><b>zxcv:</b> x</div><div>Old.</div>",
            "<p>Own.</p><div><div style='border:none;border-top:solid #E1E1E1 1.0pt;\
             padding:3.0pt 0in 0in 0in'><p>zxcv: x</p></div></div><p>Old.</p>",
            "<div>Own.</div><blockquote type='cite'><div>zxcv</div><div>Old.</div></blockquote>",
            "<div class='moz-cite-prefix'>zxcv</div><blockquote type='cite'>Old.</blockquote>Own.",
            "<div>Own.</div><div id='ydp1yahoo_quoted_2'><div>zxcv</div><div>Old.</div></div>",
            "<div>Own.</div><div class='protonmail_quote'>zxcv<blockquote>Old.</blockquote></div>",
            "<div>Own.</div><hr data-marker='__DIVIDER__'><div>Old.</div>",
            "<div>Own.</div><div name='messageReplySection'>zxcv<blockquote>Old.</blockquote></div>",
            "<div>Own.</div><div name='quote'>zxcv<div name='quoted-content'>Old.</div></div>",
            "<div>Own.</div><div class='gmail_signature'>zxcv</div>",
        ] {
            assert_eq!(own(html), "Own.", "{html}");
            assert!(read(html).tells_history, "{html}");
        }
    }

    #[test]
    fn answers_between_quotes_stay_with_what_they_answer() {
        let html = "<div class='gmail_quote'><div class='gmail_attr'>zxcv:</div>\
                    <blockquote class='gmail_quote'>Red?</blockquote><div>Yes.</div>\
                    <blockquote class='gmail_quote'>Blue?</blockquote><div>No.</div></div>";
        assert_eq!(own(html), "> Red?\n\nYes.\n\n> Blue?\n\nNo.".replace("\n\n", "\n"));
    }

    #[test]
    fn indented_text_of_the_writer_is_not_quoted() {
        let html = "Look:<blockquote style='margin: 0 0 0 40px; border: none'>mine</blockquote>";
        assert_eq!(own(html), "Look:\nmine");
    }

    #[test]
    fn links_keep_what_is_seen_and_where_it_leads() {
        let page = read("<a href=' https://a.example/x '>Your <b>bank</b></a> <a>no</a>");
        let link = Link { text: "Your bank".into(), target: "https://a.example/x".into() };
        assert_eq!(page.links, [link]);
    }

    #[test]
    fn bombs_of_tags_take_no_depth_and_little_time() {
        let deep = format!("{}x{}", "<div><b>".repeat(90_000), "</b></div>".repeat(90_000));
        assert!(read(&deep).text.contains('x'));
        let wide = "<blockquote>x".repeat(20_000);
        assert!(read(&wide).text.len() < 20_000 * (HTML_DEPTH * 2 + 4));
    }
}
