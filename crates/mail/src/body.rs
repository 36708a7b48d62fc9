//! The text of a mail: the part that counts, decoded and cleaned.

use mail_parser::{Message, MessagePart, MimeHeaders, PartType};

use crate::files::{content, is_broken_multipart, transfer_bytes};
use crate::html::{self, HtmlText, Link};
use crate::limits::{HTML_BYTES, QUOTED_BYTES, TEXT_BYTES};
use crate::text::charset;
use crate::text::clean::{clean_text, cut_bytes};
use crate::text::flowed;
use crate::text::invisible::count_hidden;
use crate::text::markup;
use crate::trim::{TrimmedText, split, split_marked};

/// The text of a mail.
#[derive(Debug, Default)]
pub struct Body {
    /// The writer's own words.
    pub text: String,
    /// What they quote or pass on, as far as it was taken off their own words.
    pub quoted: String,
    /// The whole body as plain text, hidden text included.
    pub original: String,
    /// As it was sent, for the app, which cleans it before it shows it.
    pub html: Option<String>,
    pub links: Vec<Link>,
    /// The visible text of the HTML; empty without HTML.
    pub page_text: String,
    /// The text of the HTML with what it hides; empty where it hides nothing.
    pub hidden_text: String,
}

/// Reads the body. Of a mail with both forms, the HTML is used to find the writer's own text if a
/// mail client marked quotes in it, else the plain text.
pub fn body(message: &Message<'_>) -> Body {
    let html = html_text(message);
    let page = html.as_deref().map(html::read).unwrap_or_default();
    let seen = clean_text(&page.text);
    let (original, readable) = match plain(message, &page) {
        Some(plain) => (plain.clone(), plain),
        None => (clean_text(&page.whole), seen.clone()),
    };
    let told = page.tells_history || readable == seen;
    let by_html = match told {
        true => split_marked(&clean_marked(&page.marked)),
        false => TrimmedText::default(),
    };
    let trimmed = if by_html.own.is_empty() { split(&readable) } else { by_html };
    let hidden_text = if page.whole == page.text { String::new() } else { page.whole };
    Body {
        text: trimmed.own,
        quoted: cut_bytes(trimmed.quoted, QUOTED_BYTES),
        original: original.trim().to_owned(),
        html,
        links: page.links,
        page_text: seen,
        hidden_text,
    }
}

/// Characters of the body that nobody sees and only programs read, in the form that has most of them.
pub fn hidden_letters(message: &Message<'_>) -> usize {
    let parts =
        body_parts(message, &message.text_body).chain(body_parts(message, &message.html_body));
    let texts = parts.filter_map(|part| match &part.body {
        PartType::Text(text) | PartType::Html(text) => Some(text),
        _ => None,
    });
    let within = |text: &str| count_hidden(&text[..text.floor_char_boundary(HTML_BYTES)]);
    texts.map(|text| within(text)).max().unwrap_or_default()
}

/// A page as plain text.
pub fn text_of_html(html: &str) -> String {
    clean_text(&html::read(html).text).trim().to_owned()
}

/// The whole body as plain text, hidden text included, and nothing else.
pub fn whole(message: &Message<'_>) -> String {
    let page = html_text(message).as_deref().map(html::read).unwrap_or_default();
    let whole = plain(message, &page).unwrap_or_else(|| clean_text(&page.whole));
    whole.trim().to_owned()
}

/// The plain text, unless the HTML alone has text, or much more of it.
fn plain(message: &Message<'_>, page: &HtmlText) -> Option<String> {
    let has_page = !page.text.trim().is_empty();
    let counts = |plain: &String| match plain.trim().is_empty() {
        true => page.whole.trim().is_empty(),
        false => !(is_stub(plain, &page.text) || has_page && markup::is_markup(plain)),
    };
    plain_text(message).filter(counts).map(markup::without_markup)
}

/// The number of words from which HTML is preferred to a placeholder plain text.
const PAGE_WORDS: usize = 40;
/// How many times the words of a plain text a page must have to be the richer part.
const MUCH_RICHER: usize = 4;
/// The most words of a placeholder plain text.
const STUB_WORDS: usize = 60;

/// Phrases of placeholder plain texts in HTML mail.
const STUBS: &[&str] = &[
    "view this email in your browser",
    "view in browser",
    "view in your browser",
    "view this email online",
    "view online",
    "view it online",
    "does not support html",
    "doesn't support html",
    "not support html",
    "cannot display html",
    "can't display html",
    "html-capable",
    "html compatible",
    "html email",
    "html message",
    "html format",
    "im browser",
    "online ansehen",
    "unterstützt kein html",
    "html-format",
    "dans votre navigateur",
    "version en ligne",
    "en su navegador",
    "en tu navegador",
    "nel tuo browser",
    "in je browser",
    "no seu navegador",
];

/// True for a placeholder plain text: it only refers to the HTML, or has far less text.
fn is_stub(plain: &str, page: &str) -> bool {
    let words = |text: &str| text.split_whitespace().filter(|word| is_word(word)).count();
    let (told, shown) = (words(plain), words(page));
    if told <= STUB_WORDS && shown > told {
        let lower = plain.to_lowercase();
        if STUBS.iter().any(|stub| lower.contains(stub)) {
            return true;
        }
    }
    shown >= PAGE_WORDS && told * MUCH_RICHER <= shown
}

/// Addresses and rules are no words.
fn is_word(word: &str) -> bool {
    word.contains(char::is_alphanumeric) && !word.contains("://")
}

/// The text of bytes without a parseable header.
pub fn bare_text(bytes: &[u8]) -> Body {
    let original = clean_text(&charset::decode(&bytes[..bytes.len().min(TEXT_BYTES)], None));
    let TrimmedText { own, quoted } = split(&original);
    let quoted = cut_bytes(quoted, QUOTED_BYTES);
    Body { text: own, quoted, original: original.trim().to_owned(), ..Body::default() }
}

/// Clean text in which the signs of HTML stay.
fn clean_marked(marked: &str) -> String {
    let clean =
        |line: &str| match line.chars().next().filter(|c| crate::trim::LineMark::is_sign(*c)) {
            Some(sign) => format!("{sign}{}", clean_text(line)),
            None => clean_text(line),
        };
    marked.split('\n').map(clean).collect::<Vec<_>>().join("\n")
}

/// The plain parts one after another; `None` when the mail has only HTML.
fn plain_text(message: &Message<'_>) -> Option<String> {
    let mut texts = Vec::new();
    let mut left = TEXT_BYTES;
    let mut any = false;
    for part in body_parts(message, &message.text_body) {
        let text = match &part.body {
            PartType::Text(text) => {
                any = true;
                plain_part(message, part, text)
            }
            // HTML between plain parts of a mail that has both.
            PartType::Html(text) => html::read(&decode(message, part, text, HTML_BYTES)).text,
            _ => continue,
        };
        let text = cut_bytes(text, left);
        left -= text.len();
        texts.push(clean_text(&text));
    }
    if !any && message.html_body.is_empty() {
        let broken = message.parts.iter().filter(|part| is_broken_multipart(part));
        let text = |part| charset::decode(&content(message, part), None);
        texts = broken.map(|part| clean_text(&cut_bytes(text(part), TEXT_BYTES))).collect();
        any = !texts.is_empty();
    }
    any.then(|| cut_bytes(texts.join("\n"), TEXT_BYTES))
}

fn plain_part(message: &Message<'_>, part: &MessagePart<'_>, text: &str) -> String {
    let text = decode(message, part, text, TEXT_BYTES);
    let attribute = |name| part.content_type().and_then(|kind| kind.attribute(name));
    match attribute("format") {
        Some(format) if format.eq_ignore_ascii_case("flowed") => {
            let closed = attribute("delsp").is_some_and(|value| value.eq_ignore_ascii_case("yes"));
            flowed::unwrap(&text, closed)
        }
        _ => text,
    }
}

/// The HTML parts one after another; `None` when the mail has none.
pub fn html_text(message: &Message<'_>) -> Option<String> {
    let mut whole = String::new();
    let mut any = false;
    for part in body_parts(message, &message.html_body) {
        match &part.body {
            PartType::Html(text) => {
                any = true;
                whole.push_str(&decode(message, part, text, HTML_BYTES));
            }
            PartType::Text(text) => {
                let text = plain_part(message, part, text);
                let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
                whole.push_str(&format!("<pre>{escaped}</pre>"));
            }
            _ => {}
        }
        whole = cut_bytes(whole, HTML_BYTES);
    }
    whole.retain(|c| c != '\0');
    any.then_some(whole)
}

fn body_parts<'a, 'x>(
    message: &'a Message<'x>,
    ids: &'a [u32],
) -> impl Iterator<Item = &'a MessagePart<'x>> {
    ids.iter().filter_map(|id| message.parts.get(*id as usize))
}

/// A text part in its character set, decoded again where the parser found bytes invalid in the
/// declared set; at most `most` bytes.
fn decode(message: &Message<'_>, part: &MessagePart<'_>, text: &str, most: usize) -> String {
    let text = &text[..text.floor_char_boundary(most)];
    // UTF-8 read as Latin shows these; no language does.
    let misread = text.contains('\u{fffd}')
        || ["Ã¤", "Ã¶", "Ã¼", "Ã©", "Ã¨", "Ã±", "Ã§", "Ã¡", "Ã³", "Â ", "â€"]
            .iter()
            .any(|sign| text.contains(sign))
        || text.contains('\u{1b}');
    if !misread {
        return text.to_owned();
    }
    let label = part.content_type().and_then(|kind| kind.attribute("charset"));
    match transfer_bytes(message, part) {
        Some(bytes) => charset::decode(&bytes[..bytes.len().min(most)], label),
        None => text.to_owned(),
    }
}
