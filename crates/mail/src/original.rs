//! A mail as it came, made safe to look at.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use ammonia::Builder;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mail_parser::{Message, MessageParser, MimeHeaders};

/// The largest picture of the mail's own that is put into its page, in bytes.
const OWN_PICTURE_BYTES: usize = 2 * 1024 * 1024;
/// Pictures of the mail's own that are put into its page.
const OWN_PICTURES: usize = 50;
/// Characters of one header that are shown.
const HEADER_CHARS: usize = 1_000;

/// A mail taken apart for showing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Original {
    /// From, To and the like, as names and values.
    pub headers: Vec<(String, String)>,
    /// Its words without any markup, quoted history included.
    pub text: String,
    /// Its page, if it has one: no script, no form, nothing that acts. Pictures from elsewhere are
    /// still named in it; whether they may be fetched is for the one who shows it to decide.
    pub html: Option<String>,
}

/// Takes a mail apart. `None` for what is no mail.
pub fn original(raw: &[u8]) -> Option<Original> {
    let message = MessageParser::default().parse(raw)?;
    let html = has_html(&message).then(|| message.body_html(0)).flatten();
    let html = html.map(|html| page(&clean(&html, &own_pictures(&message))));
    let text = message.body_text(0).map(Cow::into_owned).unwrap_or_default();
    Some(Original { headers: headers(&message), text, html })
}

/// The parser makes HTML of plain text too; only what was HTML counts here.
fn has_html(message: &Message<'_>) -> bool {
    message.html_bodies().any(|part| part.is_text_html())
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

/// Pictures that the mail brought along, by their Content-ID, as `data:` addresses.
fn own_pictures(message: &Message<'_>) -> HashMap<String, String> {
    let mut pictures = HashMap::new();
    for part in message.parts.iter() {
        let (Some(id), Some(kind)) = (part.content_id(), part.content_type()) else { continue };
        let subtype = kind.subtype().unwrap_or("").to_ascii_lowercase();
        let shown = ["png", "jpeg", "gif", "webp"].contains(&subtype.as_str());
        let bytes = part.contents();
        if !shown || kind.ctype() != "image" || bytes.len() > OWN_PICTURE_BYTES {
            continue;
        }
        let data = format!("data:image/{subtype};base64,{}", STANDARD.encode(bytes));
        pictures.insert(id.trim_matches(['<', '>']).to_owned(), data);
        if pictures.len() == OWN_PICTURES {
            break;
        }
    }
    pictures
}

/// What a mail's page is usually laid out with. Nothing here fetches, moves over other things or
/// acts.
const STYLES: &[&str] = &[
    "background-color",
    "border",
    "border-bottom",
    "border-collapse",
    "border-color",
    "border-left",
    "border-radius",
    "border-right",
    "border-spacing",
    "border-style",
    "border-top",
    "border-width",
    "color",
    "font-family",
    "font-size",
    "font-style",
    "font-weight",
    "height",
    "letter-spacing",
    "line-height",
    "margin",
    "margin-bottom",
    "margin-left",
    "margin-right",
    "margin-top",
    "max-width",
    "min-width",
    "padding",
    "padding-bottom",
    "padding-left",
    "padding-right",
    "padding-top",
    "text-align",
    "text-decoration",
    "text-transform",
    "vertical-align",
    "white-space",
    "width",
];

fn clean(html: &str, pictures: &HashMap<String, String>) -> String {
    let pictures = pictures.clone();
    let mut builder = Builder::default();
    builder
        .add_tags(["font", "center"])
        .add_tag_attributes("font", ["color", "face", "size"])
        .add_tag_attributes("table", ["cellpadding", "cellspacing", "border", "width", "bgcolor"])
        .add_tag_attributes("td", ["width", "height", "bgcolor", "valign"])
        .add_tag_attributes("tr", ["bgcolor", "valign"])
        .add_generic_attributes(["style", "align", "dir"])
        .url_schemes(HashSet::from(["http", "https", "mailto", "tel", "cid"]))
        .url_relative(ammonia::UrlRelative::Deny)
        .link_rel(Some("noopener noreferrer nofollow"))
        .set_tag_attribute_value("a", "target", "_blank")
        .attribute_filter(move |tag, name, value| match (tag, name) {
            ("img", "src") => picture(value, &pictures),
            (_, "src") => None,
            ("a", "href") if value.starts_with("cid:") => None,
            (_, "style") => plain_style(value).map(Cow::Owned),
            _ => Some(Cow::Borrowed(value)),
        });
    builder.clean(html).to_string()
}

/// The declarations of a style that only lay out and colour; `None` when none is left. Whatever could
/// name a file, escape or nest is dropped with its declaration.
fn plain_style(style: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || " #%.,-'\"!".contains(c);
    let kept: Vec<String> = style
        .split(';')
        .filter_map(|declaration| declaration.split_once(':'))
        .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim()))
        .filter(|(name, _)| STYLES.contains(&name.as_str()))
        .filter(|(_, value)| {
            let colour = ["rgb(", "rgba(", "hsl(", "hsla("]
                .iter()
                .find_map(|start| value.strip_prefix(start)?.strip_suffix(')'));
            let closed = ['\'', '"'].iter().all(|quote| value.matches(*quote).count() % 2 == 0);
            !value.is_empty() && closed && colour.unwrap_or(value).chars().all(plain)
        })
        .map(|(name, value)| format!("{name}:{value}"))
        .collect();
    (!kept.is_empty()).then(|| kept.join(";"))
}

/// A picture's address: its bytes where the mail brought it, an https address otherwise.
fn picture<'v>(value: &'v str, own: &HashMap<String, String>) -> Option<Cow<'v, str>> {
    match value.strip_prefix("cid:") {
        Some(id) => own.get(id).cloned().map(Cow::Owned),
        None if value.starts_with("https:") => Some(Cow::Borrowed(value)),
        None => None,
    }
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

    fn shown(html: &str) -> String {
        let raw = format!(
            "From: a@example.com\r\nSubject: =?utf-8?q?Caf=C3=A9?=\r\nContent-Type: text/html; \
             charset=utf-8\r\n\r\n{html}"
        );
        let html = original(raw.as_bytes()).and_then(|shown| shown.html).expect("a page");
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

    #[test]
    fn a_style_keeps_what_only_lays_out_and_colours() {
        for (style, kept) in [
            ("color: red; FONT-SIZE: 12px", Some("color:red;font-size:12px")),
            ("color: rgb(1, 2, 3)", Some("color:rgb(1, 2, 3)")),
            ("color: expression(alert(1)); width: 10%", Some("width:10%")),
            ("background-color: url(https://e.example/x)", None),
            ("color: \\75rl(x)", None),
            ("font-family: 'a;b'; color: #fff", Some("color:#fff")),
            ("font-family: 'Open Sans', serif", Some("font-family:'Open Sans', serif")),
            ("position: fixed", None),
            ("", None),
        ] {
            assert_eq!(plain_style(style).as_deref(), kept, "{style}");
        }
    }

    #[test]
    fn pictures_that_the_mail_brought_are_put_in_place() {
        let raw = "From: a@example.com\r\nContent-Type: multipart/related; boundary=b\r\n\r\n\
            --b\r\nContent-Type: text/html\r\n\r\n<img src=\"cid:one\"><img src=\"cid:two\">\r\n\
            --b\r\nContent-Type: image/png\r\nContent-ID: <one>\r\n\
            Content-Transfer-Encoding: base64\r\n\r\niVBORw0KGgo=\r\n--b--\r\n";
        let html = original(raw.as_bytes()).and_then(|shown| shown.html).expect("a page");
        assert!(html.contains("<img src=\"data:image/png;base64,iVBORw0KGgo=\"><img>"), "{html}");
    }

    #[test]
    fn a_plain_mail_has_no_page_and_headers_are_read() {
        let raw =
            "From: A <a@example.com>\r\nSubject: =?utf-8?q?Caf=C3=A9?=\r\n\r\nHello\r\n> you\r\n";
        let shown = original(raw.as_bytes()).expect("a mail");
        assert_eq!(shown.html, None);
        assert_eq!(shown.text, "Hello\r\n> you\r\n");
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(shown.headers, [pair("From", "A <a@example.com>"), pair("Subject", "Café")]);
    }
}
