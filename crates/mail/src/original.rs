//! A mail as it came: its header and its whole text.

use mail_parser::Message;

use crate::page::{PageState, page_state};
use crate::{body, mime, parser, source};

/// Characters of one header that are shown.
const HEADER_CHARS: usize = 1_000;

/// A mail taken apart for showing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginalMail {
    /// From, To and the like, as names and values.
    pub headers: Vec<(String, String)>,
    /// Its words without any markup, quoted history included.
    pub text: String,
    pub page: PageState,
}

/// Takes a mail apart. `None` for what is no mail.
pub fn original(raw: &[u8]) -> Option<OriginalMail> {
    let source = source::prepare(raw);
    if !source.readable {
        let message = parser::PARSER.parse_headers(source.bytes.as_ref())?;
        let (headers, text) = (headers(&message), String::new());
        return Some(OriginalMail { headers, text, page: PageState::BeyondBounds });
    }
    let message = mime::read_parts(source.bytes.as_ref())?;
    let (headers, text) = (headers(&message), body::whole(&message));
    Some(OriginalMail { headers, text, page: page_state(&message) })
}

fn headers(message: &Message<'_>) -> Vec<(String, String)> {
    ["From", "Reply-To", "To", "Cc", "Date", "Subject", "Message-ID"]
        .iter()
        .filter_map(|name| {
            let value = message.header_raw(*name)?;
            let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
            let value = match *name {
                "Subject" => message.subject().map(str::to_owned).unwrap_or(value),
                _ => value,
            };
            Some(((*name).to_owned(), value.chars().take(HEADER_CHARS).collect()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_beyond_the_bounds_leaves_its_text() {
        let raw = |html: &str| format!("Content-Type: text/html\n\n{html}");
        let deep = raw(&format!("Hello{}", "<div>".repeat(1_000)));
        let shown = original(deep.as_bytes()).expect("a mail");
        assert_eq!((shown.page, shown.text.as_str()), (PageState::BeyondBounds, "Hello"));
    }

    #[test]
    fn a_plain_mail_has_no_page_and_headers_are_read() {
        let raw =
            "From: A <a@example.com>\r\nSubject: =?utf-8?q?Caf=C3=A9?=\r\n\r\nHello\r\n> you\r\n";
        let shown = original(raw.as_bytes()).expect("a mail");
        assert_eq!(shown.page, PageState::Absent);
        assert_eq!(shown.text, "Hello\n> you");
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(shown.headers, [pair("From", "A <a@example.com>"), pair("Subject", "Café")]);
    }
}
