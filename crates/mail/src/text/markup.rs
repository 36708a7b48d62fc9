//! Plain text that is none: some programs put a page or its styles where the text of a mail belongs.

use std::sync::LazyLock;

use regex::Regex;

use crate::html;
use crate::text::clean::clean_text;

/// Rules of a style sheet in front of a text that are taken off.
const RULES: usize = 500;
/// Bytes of a text that is read as a page.
const PAGE_BYTES: usize = crate::limits::HTML_BYTES;

/// How a page begins.
static PAGE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)^(?:<\?xml[^>]*>\s*)?<(?:!doctype html|html|head|body|style|meta|table|center|div|p|span|font)[\s>/]",
    )
    .expect("the pattern is valid")
});

/// How a rule of a style sheet begins, up to its brace.
static RULE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"^(?:@(?:media|font-face|charset|import|page|-ms-viewport)[ -:<-z\r\n\t]{1,200}[{;]|",
        r"(?:[.#][a-zA-Z_][a-zA-Z0-9_-]*|\*|(?:html|body|table|tbody|td|th|tr|p|a|h[1-6]|div|span|img|ul|ol|li|center|font|u|b|strong|em)\b)",
        r"(?:[ \t\r\n,>+~.:#\[][ \t\r\n,>+~.:#a-zA-Z0-9_*()='\x22\[\]-]{0,200})?",
        r"\{[ \t\r\n]*[a-zA-Z-]{2,40}[ \t]*:)",
    ))
    .expect("the pattern is valid")
});

/// True for a text that is a page or begins with a style sheet.
pub(crate) fn is_markup(text: &str) -> bool {
    is_page(text) || after_styles(text).is_some()
}

/// A text without the markup that it is written with or begins with.
pub(crate) fn without_markup(text: String) -> String {
    if is_page(&text) {
        let page = html::read(&text[..text.floor_char_boundary(PAGE_BYTES)]);
        return clean_text(&page.whole);
    }
    match after_styles(&text) {
        Some(rest) if !rest.trim().is_empty() => rest.trim_start().to_owned(),
        Some(_) => String::new(),
        None => text,
    }
}

/// A text that begins and ends as a page does. Somebody who shows a piece of a page says something
/// before or behind it.
fn is_page(text: &str) -> bool {
    let text = text.trim();
    let closes = text.matches("</").take(2).count() >= 1 || text.contains("<br");
    text.ends_with('>') && closes && PAGE.is_match(text)
}

/// What stands behind the styles that a text begins with; `None` for one that begins with words.
fn after_styles(text: &str) -> Option<&str> {
    let mut rest = without_comment(text.trim_start());
    let mut rules = 0;
    while rules < RULES
        && let Some(found) = RULE.find(rest)
    {
        let end = match found.as_str().ends_with(';') {
            true => found.end(),
            false => {
                let open = rest[..found.end()].find('{')?;
                open + block_end(&rest[open..])?
            }
        };
        rest = without_comment(rest[end..].trim_start());
        rules += 1;
    }
    (rules > 0).then_some(rest)
}

/// A text behind the comment of a style sheet that it begins with.
fn without_comment(text: &str) -> &str {
    let comment = text.strip_prefix("/*").and_then(|rest| rest.split_once("*/"));
    comment.map_or(text, |(_, rest)| rest.trim_start())
}

/// Where the block ends that begins here, its braces included.
fn block_end(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth <= 1 => return Some(at + 1),
            b'}' => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_markup_ends() {
        for text in ["a{b:".repeat(50_000), "{".repeat(100_000), format!("a{{b:{}", "}".repeat(9))]
        {
            let _ = without_markup(text);
        }
    }
}
