//! Values that stand in Markdown as they are: a customer's name must not become a link.

/// A value on one line, with a backslash before what Markdown or placeholders read as a sign.
pub fn escape_markdown(value: &str) -> String {
    let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut escaped = String::with_capacity(value.len());
    for (at, c) in value.char_indices() {
        let before = &value[..at];
        let begins_line = match c {
            '#' | '-' | '+' | '=' | '~' => before.is_empty(),
            // A numbered list.
            '.' | ')' => !before.is_empty() && before.bytes().all(|b| b.is_ascii_digit()),
            _ => false,
        };
        if begins_line || matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '{' | '}') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_reads_as_it_was_and_makes_no_markup() {
        let pictures = mail::PictureUrls { before: "/", behind: "" };
        for value in [
            "[Login](https:evil)",
            "![x](cid:enc_1)",
            "<b>x</b>",
            "*bold* _it_ `code` \\*",
            "# Title",
            "- item",
            "1. item",
            "2) item",
            "> so",
            "~~~",
            "Order #12 - late (HM-2026)",
            "Bo Berg",
        ] {
            let escaped = escape_markdown(value);
            assert_eq!(mail::markdown_text(&escaped), value, "{escaped}");
            let html = mail::markdown_html(&escaped, pictures);
            assert_eq!(html.matches('<').count(), 2, "a paragraph alone: {html}");
        }
        assert_eq!(escape_markdown("Order #12 - late (HM-2026)"), "Order #12 - late (HM-2026)");
    }

    #[test]
    fn a_value_has_one_line_and_no_placeholder() {
        assert_eq!(escape_markdown("a\n\n# b"), "a # b");
        assert!(!escape_markdown("{{my_name}}").contains("{{"));
    }
}
