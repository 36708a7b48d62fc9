//! The HTML of a mail as a part of another, for somebody it is passed on to: as safe as its page, with the
//! pictures that it brought under new names and those from elsewhere where they were.

use std::collections::BTreeSet;

use super::node::{PageAttributes, write_attributes};
use super::pictures::{PagePictures, own_pictures};
use super::{InlinePicture, PageAddresses, RemotePictures, guard, node, tidy_page, with_message};
use crate::markdown::escape;

/// Stands for a picture while the page is written.
const PLACE: &str = "/mailroom-forwarded";
/// Bytes of pictures that go along.
const PICTURES_BYTES: usize = 10 * 1024 * 1024;
/// Attributes of the whole page that its part keeps.
const KEPT: &[&str] = &["dir", "lang", "style"];

/// The HTML of a mail that is passed on, and the pictures in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForwardedHtml {
    pub html: String,
    /// Content-IDs, without angle brackets, with their pictures.
    pub pictures: Vec<(String, InlinePicture)>,
}

/// The HTML of a mail, to be passed on; `None` where it has none that is shown. `domain` stands behind
/// the @ of Content-IDs. The style sheet stays behind: it would style what is written above.
pub fn forwarded_html(raw: &[u8], domain: &str) -> Option<ForwardedHtml> {
    with_message(raw, |message| {
        let addresses = PageAddresses { pictures: PLACE, remote: RemotePictures::Shown };
        let mut pictures = PagePictures::new(message, addresses);
        let page = tidy_page(message, &mut pictures)?.ok()?;
        let body = guard::guard(&node::write(&page.nodes), &addresses);
        let mut names =
            PictureNames { domain, remote: pictures.into_remote(), own: BTreeSet::new() };
        let mut html = String::from("<div");
        let kept = |(name, value): &(&'static str, String)| {
            let plain = !value.contains(PLACE) && !value.contains(['<', '\\', '@']);
            KEPT.contains(name) && plain
        };
        let attributes: PageAttributes =
            page.body.iter().filter(|one| kept(one)).cloned().collect();
        write_attributes(&mut html, &attributes);
        html.push('>');
        html.push_str(&names.put(&body));
        html.push_str("</div>");
        let mut left = PICTURES_BYTES;
        let brought = own_pictures(message).filter_map(|picture| {
            let bytes = message.parts[picture.number].contents();
            let goes = names.own.contains(&picture.number) && bytes.len() <= left;
            goes.then(|| {
                left -= bytes.len();
                let content_type = picture.content_type;
                let picture_of = InlinePicture { content_type, bytes: bytes.to_vec() };
                (content_id(picture.number, domain), picture_of)
            })
        });
        Some(ForwardedHtml { html, pictures: brought.collect() })
    })
}

fn content_id(number: usize, domain: &str) -> String {
    format!("forwarded-{number}@{domain}")
}

/// The addresses that pictures get.
struct PictureNames<'a> {
    domain: &'a str,
    remote: Vec<String>,
    /// Pictures that the mail brought and the page shows.
    own: BTreeSet<usize>,
}

impl PictureNames<'_> {
    /// Puts addresses into the places of pictures, in attributes and in styles.
    fn put(&mut self, body: &str) -> String {
        let mut written = String::with_capacity(body.len());
        let mut rest = body;
        while let Some(at) = rest.find(PLACE) {
            let (before, place) = rest.split_at(at);
            written.push_str(before);
            let number = &place[PLACE.len()..];
            let is_address = before.ends_with("src=\"") || before.ends_with("url('");
            match is_address.then(|| self.address(number)).flatten() {
                Some((address, after)) => {
                    escape(&mut written, &address);
                    rest = after;
                }
                None => {
                    written.push_str(PLACE);
                    rest = number;
                }
            }
        }
        written.push_str(rest);
        written
    }

    /// The address of the picture whose number this text begins with, and what follows.
    fn address<'t>(&mut self, text: &'t str) -> Option<(String, &'t str)> {
        let (is_remote, number) = match text.strip_prefix("/remote/") {
            Some(number) => (true, number),
            None => (false, text.strip_prefix('/')?),
        };
        let end = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
        let (number, after) = number.split_at(end);
        let number: usize = number.parse().ok()?;
        match is_remote {
            // A quotation mark would end the address in a style.
            true => {
                let address = self.remote.get(number)?.replace('\'', "%27");
                Some((address, after))
            }
            false => {
                self.own.insert(number);
                Some((format!("cid:{}", content_id(number, self.domain)), after))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIL: &str = "From: a@b.example\r\nMIME-Version: 1.0\r\n\
        Content-Type: multipart/related; boundary=b\r\n\r\n\
        --b\r\nContent-Type: text/html\r\n\r\n\
        <html><head><style>p{color:red}</style></head><body style=\"color:#123456\" onload=\"x()\">\
        <p onclick=\"x()\">Hello <b>you</b> /mailroom-forwarded/1</p><script>alert(1)</script>\
        <img src=\"cid:one\"><img src=\"https://x.example/a.png?b=1&amp;c=2\" width=200 height=100>\
        <a href=\"javascript:x()\">bad</a><a href=\"https://x.example/\">good</a></body></html>\r\n\
        --b\r\nContent-Type: image/png\r\nContent-ID: <one>\r\n\r\nPNG\r\n\
        --b\r\nContent-Type: image/png\r\nContent-ID: <two>\r\n\r\nUNUSED\r\n--b--\r\n";

    #[test]
    fn a_mail_is_passed_on_as_it_looks_and_can_do_nothing() {
        let forwarded = forwarded_html(MAIL.as_bytes(), "acme.example").expect("HTML");
        let html = &forwarded.html;
        assert!(html.starts_with("<div style=\"color:#123456\">"), "{html}");
        assert!(html.contains("<p>Hello <b>you</b> /mailroom-forwarded/1</p>"), "{html}");
        assert_eq!(forwarded.pictures.len(), 1, "only what is shown goes along");
        let (id, picture) = &forwarded.pictures[0];
        assert!(html.contains(&format!("src=\"cid:{id}\"")), "{html}");
        assert!(id.ends_with("@acme.example") && picture.bytes == b"PNG", "{id}");
        assert!(html.contains("src=\"https://x.example/a.png?b=1&amp;c=2\""), "{html}");
        assert!(html.contains("https://x.example/") && html.contains("bad"));
        for gone in ["script", "onclick", "onload", "javascript", "color:red", "<style"] {
            assert!(!html.contains(gone), "{gone} in {html}");
        }
        let again = forwarded_html(MAIL.as_bytes(), "acme.example").expect("HTML");
        assert_eq!(again, forwarded, "the same bytes on every attempt");
    }

    #[test]
    fn a_mail_without_html_has_none_to_pass_on() {
        assert_eq!(forwarded_html(b"From: a@b.example\r\n\r\nHello\r\n", "x.example"), None);
    }
}
