//! A mail as it came, made safe to look at.

mod clean;
mod tidy;

use mail_parser::{Message, MessagePart, MimeHeaders};

use crate::body;
use crate::files::content_type;
use crate::limits::{HTML_BYTES, OWN_PICTURE_BYTES, OWN_PICTURES};
use crate::{parse, source};

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

/// Whether a mail has a page that [`original_html`] gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageState {
    /// It has none.
    Absent,
    Shown,
    /// It is larger, deeper or busier than is shown.
    BeyondBounds,
}

/// Where the page of a mail is shown.
#[derive(Clone, Copy, Debug)]
pub struct PageAddresses<'a> {
    /// What stands before the number of a picture that the mail brought, and a slash.
    pub pictures: &'a str,
    /// Our own host, with its port if that is not the usual one; a mail may ask it for nothing else.
    pub host: &'a str,
}

/// A picture that a mail brought for its page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlinePicture {
    pub content_type: &'static str,
    pub bytes: Vec<u8>,
}

/// Takes a mail apart. `None` for what is no mail.
pub fn original(raw: &[u8]) -> Option<OriginalMail> {
    let source = source::prepare(raw);
    if !source.readable {
        let message = parse::PARSER.parse_headers(source.bytes.as_ref())?;
        let (headers, text) = (headers(&message), String::new());
        return Some(OriginalMail { headers, text, page: PageState::BeyondBounds });
    }
    let message = parse::PARSER.parse(source.bytes.as_ref())?;
    let page = match tidy_page(&message) {
        None => PageState::Absent,
        Some(Ok(_)) => PageState::Shown,
        Some(Err(tidy::BeyondBounds)) => PageState::BeyondBounds,
    };
    Some(OriginalMail { headers: headers(&message), text: body::whole(&message), page })
}

/// The page of a mail: no script, no form, nothing that acts. Pictures from elsewhere are still
/// named in it; whether they may be fetched is for the one who shows it to decide. `None` unless
/// its [`PageState`] is `Shown`.
pub fn original_html(raw: &[u8], addresses: &PageAddresses<'_>) -> Option<String> {
    let source = source::prepare(raw);
    let message = source.readable.then(|| parse::PARSER.parse(source.bytes.as_ref()))??;
    let tidy = tidy_page(&message)?.ok()?;
    let pictures = own_pictures(&message);
    let own = pictures.map(|(number, id, _)| (id.to_owned(), number)).collect();
    Some(page(&clean::clean(&tidy, own, addresses)))
}

/// The picture to which the page of a mail gives this number.
pub fn original_picture(raw: &[u8], number: usize) -> Option<InlinePicture> {
    let source = source::prepare(raw);
    let message = source.readable.then(|| parse::PARSER.parse(source.bytes.as_ref()))??;
    let mut pictures = own_pictures(&message);
    let (_, _, content_type) = pictures.find(|(found, _, _)| *found == number)?;
    Some(InlinePicture { content_type, bytes: message.parts[number].contents().to_vec() })
}

/// The HTML written anew; `None` for a mail that has none.
fn tidy_page(message: &Message<'_>) -> Option<Result<String, tidy::BeyondBounds>> {
    let html = body::html_text(message)?;
    // What was cut at the limit would be shown without its end.
    Some(if html.len() >= HTML_BYTES { Err(tidy::BeyondBounds) } else { tidy::tidy(&html) })
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

/// The pictures that the page may ask for: number, Content-ID and type of each.
fn own_pictures<'a>(
    message: &'a Message<'_>,
) -> impl Iterator<Item = (usize, &'a str, &'static str)> {
    let numbered = message.parts.iter().enumerate();
    let pictures = numbered.filter_map(|(number, part)| {
        let id = part.content_id()?.trim_matches(['<', '>']);
        Some((number, id, picture_type(part)?))
    });
    pictures.take(OWN_PICTURES)
}

/// The type of a part that browsers show as a picture and do nothing else with.
fn picture_type(part: &MessagePart<'_>) -> Option<&'static str> {
    const SAFE: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
    let named = content_type(part);
    let named = if named == "image/jpg" { "image/jpeg" } else { named.as_str() };
    let fits = part.contents().len() <= OWN_PICTURE_BYTES;
    SAFE.into_iter().find(|safe| *safe == named).filter(|_| fits)
}

fn page(body: &str) -> String {
    format!(
        "<!doctype html><html><head><meta charset=\"utf-8\"><style>body {{ margin: 16px; \
         font-family: sans-serif; font-size: 15px; color: #14201b; background: #fff; \
         overflow-wrap: anywhere; }} img {{ max-width: 100%; }}</style></head><body>{body}\
         </body></html>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESSES: PageAddresses<'_> =
        PageAddresses { pictures: "/m/pictures", host: "desk.example" };

    fn shown(html: &str) -> String {
        let raw = format!(
            "From: a@example.com\r\nSubject: =?utf-8?q?Caf=C3=A9?=\r\nContent-Type: text/html; \
             charset=utf-8\r\n\r\n{html}"
        );
        let html = original_html(raw.as_bytes(), &ADDRESSES).expect("a page");
        let (_, body) = html.split_once("<body>").expect("a body");
        body.strip_suffix("</body></html>").expect("an end").to_owned()
    }

    #[test]
    fn nothing_that_acts_is_left() {
        for (html, left) in [
            ("<p>Hi</p>", "<p>Hi</p>"),
            ("<script>alert(1)</script>x", "x"),
            ("<img src=x onerror=alert(1)>", "<img>"),
            ("<svg><script>alert(1)</script></svg>", ""),
            ("<svg onload=alert(1)></svg>", ""),
            ("<iframe src=https://e.example></iframe>", ""),
            ("<form action=https://e.example><input name=a></form>", ""),
            (
                "<a href=javascript:alert(1)>x</a>",
                "<a target=\"_blank\" rel=\"noopener noreferrer nofollow\">x</a>",
            ),
            (
                "<a href=/inbox>x</a><a href=//e.example>y</a><img src=/inbox>",
                "<a rel=\"noopener noreferrer nofollow\" target=\"_blank\">x</a>\
                 <a rel=\"noopener noreferrer nofollow\" target=\"_blank\">y</a><img>",
            ),
            ("<base href=https://e.example>", ""),
            ("<meta http-equiv=refresh content='0;url=https://e.example'>", ""),
            ("<link rel=stylesheet href=https://e.example/x.css>", ""),
            ("<style>@import 'https://e.example/x.css'</style>", ""),
            (
                "<p style=\"background:url(https://e.example/x);color:red\">x</p>",
                "<p style=\"color:red\">x</p>",
            ),
            ("<p style=\"position:fixed;top:0\">x</p>", "<p>x</p>"),
            ("<img src=http://e.example/x.png>", "<img>"),
            ("<img src=https://e.example/x.png>", "<img src=\"https://e.example/x.png\">"),
            ("<img src=data:image/svg+xml;base64,AAAA>", "<img>"),
            ("<object data=x></object><embed src=x>", ""),
        ] {
            assert_eq!(shown(html), left, "{html}");
        }
    }

    const PICTURES: &str = "From: a@example.com\r\nContent-Type: multipart/related; boundary=b\r\n\r\n\
        --b\r\nContent-Type: text/html\r\n\r\n<img src=\"cid:one\"><img src=\"cid:two\">\
        <img src=\"cid:one\"><img src=\"cid:bad\">\r\n\
        --b\r\nContent-Type: image/png\r\nContent-ID: <one>\r\n\
        Content-Transfer-Encoding: base64\r\n\r\niVBORw0KGgo=\r\n\
        --b\r\nContent-Type: image/svg+xml\r\nContent-ID: <bad>\r\n\r\n<svg/>\r\n--b--\r\n";

    #[test]
    fn pictures_that_the_mail_brought_are_asked_for_by_address() {
        let html = original_html(PICTURES.as_bytes(), &ADDRESSES).expect("a page");
        let picture = "<img src=\"/m/pictures/2\">";
        assert!(html.contains(&format!("{picture}<img>{picture}<img>")), "{html}");
        let found = original_picture(PICTURES.as_bytes(), 2).expect("a picture");
        assert_eq!((found.content_type, found.bytes.len()), ("image/png", 8));
        for other in [0, 1, 3, 4, 99] {
            assert_eq!(original_picture(PICTURES.as_bytes(), other), None, "{other}");
        }
    }

    #[test]
    fn a_page_asks_for_so_many_pictures_and_no_more() {
        let count = OWN_PICTURES + 5;
        let tags: String = (0..count).map(|n| format!("<img src=cid:p{n}>")).collect();
        let part = |n| format!("--b\nContent-Type: image/png\nContent-ID: <p{n}>\n\nx\n");
        let parts: String = (0..count).map(part).collect();
        let tags = tags.repeat(20);
        let raw = format!(
            "Content-Type: multipart/related; boundary=b\n\n--b\nContent-Type: text/html\n\n\
             {tags}\n{parts}--b--\n"
        );
        let html = original_html(raw.as_bytes(), &ADDRESSES).expect("a page");
        assert_eq!(html.matches("<img").count(), crate::limits::PAGE_IMAGES);
        assert!(!html.contains("/m/pictures/53"), "{html}");
        assert!(html.len() < 40_000, "{}", html.len());
    }

    #[test]
    fn a_page_beyond_the_bounds_leaves_its_text() {
        let raw = |html: &str| format!("Content-Type: text/html\n\n{html}");
        let deep = raw(&format!("Hello{}", "<div>".repeat(1_000)));
        let shown = original(deep.as_bytes()).expect("a mail");
        assert_eq!((shown.page, shown.text.as_str()), (PageState::BeyondBounds, "Hello"));
        assert_eq!(original_html(deep.as_bytes(), &ADDRESSES), None);
        let nested = "Content-Type: message/rfc822\n\n".repeat(100_000);
        let shown = original(nested.as_bytes()).expect("a mail");
        assert_eq!(shown.page, PageState::BeyondBounds);
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
