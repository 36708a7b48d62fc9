//! HTML as lines of text, with what mail programs tell about history in it.
//!
//! The tokens are walked once, with a stack of what is open: no tree is built, so that a mail can
//! be neither too deep nor too wide.

mod element;
mod lines;

use html5gum::{DefaultEmitter, Token, Tokenizer};

use crate::limits::{HTML_BYTES, HTML_DEPTH, LINK_TARGET_BYTES, LINK_TEXT_CHARS, LINKS};
use crate::trim::Mark;
use element::{Attributes, Meaning};
use lines::{Lines, Setting};

/// Open elements among which an end tag looks for its own.
const CLOSING_REACH: usize = 64;

/// What a mail's HTML says.
#[derive(Debug, Default)]
pub struct Page {
    /// All of it, as plain text; what is quoted stands behind `> `.
    pub text: String,
    /// The same for trimming: signatures left out, announcements of earlier mails marked.
    pub marked: String,
    /// True when a mail program told history apart.
    pub tells_history: bool,
    pub links: Vec<Link>,
}

/// A link as the reader sees it and where it leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub text: String,
    pub target: String,
}

pub fn read(html: &str) -> Page {
    let html = &html[..html.floor_char_boundary(HTML_BYTES)];
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let mut reader = Reader::default();
    for Ok(token) in Tokenizer::new_with_emitter(html, emitter) {
        match token {
            Token::StartTag(tag) => {
                let name = lower(&tag.name);
                let attributes = attributes(&tag.attributes);
                reader.open(name, attributes);
            }
            Token::EndTag(tag) => reader.close(&lower(&tag.name)),
            Token::String(text) => reader.text(&String::from_utf8_lossy(&text)),
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    reader.finish()
}

/// The attributes of a tag, as the tokenizer hands them over.
pub type TagAttributes =
    std::collections::BTreeMap<html5gum::HtmlString, html5gum::Spanned<html5gum::HtmlString, ()>>;

fn attributes(of_tag: &TagAttributes) -> Attributes {
    let mut attributes = Attributes::default();
    for (name, value) in of_tag {
        match name.as_slice() {
            b"id" => attributes.id = lower(value),
            b"class" => attributes.class = lower(value),
            b"style" => {
                attributes.style = lower(value);
                attributes.style.retain(|c| !c.is_whitespace());
            }
            b"type" => attributes.kind = lower(value),
            b"name" => attributes.name = lower(value),
            b"cite" => attributes.cite = true,
            b"data-marker" => attributes.data_marker = lower(value),
            b"hidden" => attributes.hidden = true,
            b"href" => {
                let end = value.len().min(LINK_TARGET_BYTES);
                attributes.href = Some(String::from_utf8_lossy(&value[..end]).trim().to_owned());
            }
            _ => {}
        }
    }
    attributes
}

fn lower(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).to_lowercase()
}

#[derive(Default)]
struct Reader {
    lines: Lines,
    open: Vec<Open>,
    tells_history: bool,
    link: Option<Link>,
    links: Vec<Link>,
}

struct Open {
    tag: String,
    inside: Inside,
}

/// What text stands in, all open elements taken together.
#[derive(Clone, Copy, Default)]
struct Inside {
    hidden: bool,
    preformatted: bool,
    lines: Setting,
}

impl Inside {
    fn and(self, meaning: Meaning) -> Inside {
        Inside {
            hidden: self.hidden || meaning.hidden,
            preformatted: self.preformatted || meaning.preformatted,
            lines: Setting {
                depth: self.lines.depth + usize::from(meaning.quote),
                signature: self.lines.signature || meaning.signature,
                announces: self.lines.announces || meaning.marker,
            },
        }
    }
}

impl Reader {
    fn open(&mut self, tag: String, attributes: Attributes) {
        if element::closes_itself(&tag) && self.open.last().is_some_and(|open| open.tag == tag) {
            self.close(&tag);
        }
        self.break_before(&tag);
        let meaning = element::meaning(&tag, &attributes);
        let inside = self.inside();
        self.tells_history |= meaning.tells_history() && !inside.hidden;
        if meaning.boundary && !inside.hidden {
            self.lines.mark(Mark::Boundary);
        }
        match tag.as_str() {
            "br" if !inside.hidden => self.lines.end_line(),
            "hr" if !inside.hidden => self.lines.rule(),
            "li" if !inside.hidden => self.lines.bullet(),
            "a" => {
                self.end_link();
                self.link = attributes.href.map(|target| Link { text: String::new(), target });
            }
            _ => {}
        }
        if !element::is_void(&tag) && self.open.len() < HTML_DEPTH {
            let inside = inside.and(meaning);
            self.lines.setting = inside.lines;
            self.open.push(Open { tag, inside });
        }
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
        }
        match tag {
            "a" => self.end_link(),
            "td" | "th" => self.lines.cell(),
            _ => {}
        }
        self.break_before(tag);
        self.lines.setting = self.inside().lines;
    }

    fn text(&mut self, text: &str) {
        let inside = self.inside();
        if inside.hidden {
            return;
        }
        if let Some(link) = &mut self.link {
            let room = LINK_TEXT_CHARS.saturating_sub(link.text.chars().count());
            link.text.extend(text.chars().take(room));
        }
        if inside.preformatted {
            self.lines.preformatted(text);
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

    fn inside(&self) -> Inside {
        self.open.last().map(|open| open.inside).unwrap_or_default()
    }

    fn end_link(&mut self) {
        if let Some(mut link) = self.link.take()
            && self.links.len() < LINKS
        {
            link.text = link.text.split_whitespace().collect::<Vec<_>>().join(" ");
            self.links.push(link);
        }
    }

    fn finish(mut self) -> Page {
        self.end_link();
        let (text, marked) = self.lines.finish();
        Page { text, marked, tells_history: self.tells_history, links: self.links }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trim::trim_marked;

    fn own(html: &str) -> String {
        trim_marked(&read(html).marked)
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
        let deep = format!("{}x{}", "<div><b>".repeat(200_000), "</b></div>".repeat(200_000));
        assert!(read(&deep).text.contains('x'));
        let wide = "<blockquote>x".repeat(20_000);
        assert!(read(&wide).text.len() < 20_000 * (HTML_DEPTH * 2 + 4));
    }
}
