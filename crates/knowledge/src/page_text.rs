//! The words of a public page: those written for it, or the reply without what is for one customer.

use base::limits::HELP_PAGE_BYTES;
use mail::{markdown_article, markdown_text};

/// What opens a placeholder, and a gap that a person fills.
const PLACEHOLDER: &str = "{{";
const GAP: &str = "[…]";
/// Characters of a summary.
const SUMMARY_CHARS: usize = 180;

/// Why a text cannot be public.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageTextProblem {
    /// A placeholder or a gap is left in the words of the page.
    Placeholder,
    /// Nothing is left of the reply.
    Empty,
    /// Its page would have more bytes than pages have.
    TooLarge,
}

/// The words of a page, where they fit on one.
fn fitting(text: String) -> Result<String, PageTextProblem> {
    if markdown_article(&text).len() > HELP_PAGE_BYTES {
        return Err(PageTextProblem::TooLarge);
    }
    Ok(text)
}

/// What the public page says: `help_body`, or else the reply without its greeting and its end.
pub fn page_body(body: &str, help_body: &str) -> Result<String, PageTextProblem> {
    let is_filled_in = |text: &str| text.contains(PLACEHOLDER) || text.contains(GAP);
    if !help_body.trim().is_empty() {
        let problem = is_filled_in(help_body).then_some(PageTextProblem::Placeholder);
        return problem.map_or_else(|| fitting(help_body.trim().to_owned()), Err);
    }
    let paragraphs: Vec<&str> = body.split("\n\n").map(str::trim).collect();
    let is_frame = |place: usize| place == 0 || place + 1 == paragraphs.len();
    let mut left = Vec::new();
    for (place, paragraph) in paragraphs.iter().enumerate() {
        if !is_filled_in(paragraph) {
            left.push(*paragraph);
        } else if !is_frame(place) {
            return Err(PageTextProblem::Placeholder);
        }
    }
    let text = left.join("\n\n").trim().to_owned();
    if text.is_empty() { Err(PageTextProblem::Empty) } else { fitting(text) }
}

/// The words alone, on one line.
pub fn plain_words(body: &str) -> String {
    markdown_text(body).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The beginning of a page, for lists and search engines.
pub fn summary(plain: &str) -> String {
    if plain.chars().count() <= SUMMARY_CHARS {
        return plain.to_owned();
    }
    let cut: String = plain.chars().take(SUMMARY_CHARS).collect();
    let whole = cut.rsplit_once(' ').map_or(cut.as_str(), |(whole, _)| whole);
    format!("{whole} …")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_public_without_its_greeting_and_its_end() {
        let reply = "Hello {{first_name|there}},\n\nyes, we do.\n\nIt is **free**.\n\nKind regards\n{{my_name}}";
        assert_eq!(page_body(reply, ""), Ok("yes, we do.\n\nIt is **free**.".to_owned()));
        assert_eq!(page_body(reply, " For all. "), Ok("For all.".to_owned()));
        assert_eq!(page_body("Hello {{name}}", ""), Err(PageTextProblem::Empty));
        let inside = "Hello,\n\nyour {{subject}} comes.\n\nBye";
        assert_eq!(page_body(inside, ""), Err(PageTextProblem::Placeholder));
        assert_eq!(page_body("x", "It costs […]"), Err(PageTextProblem::Placeholder));
    }

    #[test]
    fn a_summary_ends_at_a_word() {
        let text = summary(&plain_words(&"several *words* ".repeat(30)));
        assert!(text.chars().count() <= SUMMARY_CHARS + 2 && text.ends_with(" …"), "{text}");
        assert_eq!(summary("short"), "short");
    }
}
