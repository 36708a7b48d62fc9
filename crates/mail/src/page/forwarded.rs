//! The HTML of a mail as a part of another, for somebody it is passed on to or who wrote it: as safe as its page,
//! with the pictures that it brought under new names. Those from elsewhere stay where they were in a mail that is
//! passed on, and are not named in a quotation.

use std::collections::BTreeSet;

use super::node::{PageAttributes, PageNode, write_attributes};
use super::pictures::{PagePictures, own_pictures};
use super::{InlinePicture, PageAddresses, RemotePictures, guard, node, tidy_page, with_message};
use crate::markdown::escape;

/// Stands for a picture while the page is written.
const PLACE: &str = "/mailroom-forwarded";
/// Bytes of pictures that go along with a mail that is passed on, and with a quotation.
const PICTURES_BYTES: usize = 10 * 1024 * 1024;
const QUOTED_PICTURES_BYTES: usize = 1024 * 1024;
/// Bytes of the HTML of a quotation; a longer mail is quoted by its text.
const QUOTED_HTML_BYTES: usize = 100 * 1024;
/// Quotations within one another that go along with a quotation.
const QUOTED_LEVELS: usize = 5;
/// Attributes of the whole page that its part keeps.
const KEPT: &[&str] = &["dir", "lang", "style"];

/// The HTML of a mail as a part of another, and the pictures in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForwardedHtml {
    pub html: String,
    /// Content-IDs, without angle brackets, with their pictures.
    pub pictures: Vec<(String, InlinePicture)>,
    /// True where quotations within it were left out.
    pub is_shortened: bool,
}

/// The HTML of a mail, to be passed on; `None` where it has none that is shown. `domain` stands behind
/// the @ of Content-IDs. The style sheet stays behind: it would style what is written above.
pub fn forwarded_html(raw: &[u8], domain: &str) -> Option<ForwardedHtml> {
    let names = PictureNames { domain, stem: "forwarded", ..PictureNames::default() };
    part_of_mail(raw, RemotePictures::Shown, usize::MAX, names, PICTURES_BYTES)
}

/// The HTML of a mail, to be quoted below an answer to it; `None` where it has none, or too much.
pub fn quoted_html(raw: &[u8], domain: &str) -> Option<ForwardedHtml> {
    let names = PictureNames { domain, stem: "quoted", ..PictureNames::default() };
    let quoted =
        part_of_mail(raw, RemotePictures::Blocked, QUOTED_LEVELS, names, QUOTED_PICTURES_BYTES)?;
    (quoted.html.len() <= QUOTED_HTML_BYTES).then_some(quoted)
}

fn part_of_mail(
    raw: &[u8],
    remote: RemotePictures,
    levels: usize,
    mut names: PictureNames<'_>,
    most: usize,
) -> Option<ForwardedHtml> {
    with_message(raw, |message| {
        let addresses = PageAddresses { pictures: PLACE, remote };
        let mut pictures = PagePictures::new(message, addresses);
        let mut page = tidy_page(message, &mut pictures)?.ok()?;
        let before = page.nodes.len();
        let nodes = without_deep_quotes(std::mem::take(&mut page.nodes), levels);
        let is_shortened = nodes.len() < before;
        let body = guard::guard(&node::write(&nodes), &addresses);
        names.remote = pictures.into_remote();
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
        let mut left = most;
        let brought = own_pictures(message).filter_map(|picture| {
            let bytes = message.parts[picture.number].contents();
            let goes = names.own.contains(&picture.number) && bytes.len() <= left;
            goes.then(|| {
                left -= bytes.len();
                let content_type = picture.content_type;
                let picture_of = InlinePicture { content_type, bytes: bytes.to_vec() };
                (names.content_id(picture.number), picture_of)
            })
        });
        Some(ForwardedHtml { html, pictures: brought.collect(), is_shortened })
    })
}

/// The nodes without quotations that lie within so many others.
fn without_deep_quotes(nodes: Vec<PageNode>, levels: usize) -> Vec<PageNode> {
    let mut depth = 0;
    let mut stays = |node: &PageNode| match node {
        PageNode::Start(element) if element.tag == "blockquote" => {
            depth += 1;
            depth <= levels
        }
        PageNode::End("blockquote") => {
            depth -= 1;
            depth < levels
        }
        _ => depth <= levels,
    };
    nodes.into_iter().filter(|node| stays(node)).collect()
}

/// The addresses that pictures get.
#[derive(Default)]
struct PictureNames<'a> {
    domain: &'a str,
    /// What their Content-IDs begin with.
    stem: &'a str,
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
            // A quotation mark would end the address in a style, and a backslash have its end go on.
            true => {
                let address = self.remote.get(number)?;
                let address = address.replace('\'', "%27").replace('\\', "%5C");
                Some((address, after))
            }
            false => {
                self.own.insert(number);
                Some((format!("cid:{}", self.content_id(number)), after))
            }
        }
    }

    fn content_id(&self, number: usize) -> String {
        format!("{}-{number}@{}", self.stem, self.domain)
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
    fn a_quotation_keeps_tables_links_and_own_pictures_and_names_nothing_elsewhere() {
        let raw = MAIL.replace("<p onclick", "<table><tr><td>Oak</td></tr></table><p onclick");
        let quoted = quoted_html(raw.as_bytes(), "acme.example").expect("HTML");
        let html = &quoted.html;
        assert!(html.contains("<td>Oak</td>") && html.contains("<b>you</b>"), "{html}");
        assert!(html.contains("href=\"https://x.example/\""), "{html}");
        assert!(quoted.pictures[0].0.starts_with("quoted-"), "{:?}", quoted.pictures[0].0);
        assert!(html.contains(&format!("src=\"cid:{}\"", quoted.pictures[0].0)), "{html}");
        for gone in ["script", "onclick", "javascript", "a.png", "mailroom-forwarded/remote"] {
            assert!(!html.contains(gone), "{gone} in {html}");
        }
        assert!(!quoted.is_shortened);
    }

    #[test]
    fn a_quotation_is_bounded_in_depth_and_in_bytes() {
        let mail =
            |html: &str| format!("From: a@b.example\r\nContent-Type: text/html\r\n\r\n{html}");
        let deep: String = (0..9).map(|n| format!("<blockquote>level {n}")).collect();
        let quoted = quoted_html(mail(&deep).as_bytes(), "x.example").expect("HTML");
        assert!(quoted.html.contains("level 4") && !quoted.html.contains("level 5"), "{quoted:?}");
        assert!(quoted.is_shortened);
        assert_eq!(quoted.html.matches("</blockquote>").count(), QUOTED_LEVELS);
        let long = mail(&"<p>Hello</p>".repeat(QUOTED_HTML_BYTES / 10));
        assert_eq!(quoted_html(long.as_bytes(), "x.example"), None);
    }

    #[test]
    fn the_address_of_a_picture_ends_where_its_style_says() {
        let style = "background-image:url('https://x.example/?\\5c ');\
                     font-family:'x);position:fixed;top:0;y'";
        let mail = format!("Content-Type: text/html\r\n\r\n<p style=\"{style}\">Hello</p>");
        let forwarded = forwarded_html(mail.as_bytes(), "x.example").expect("HTML").html;
        assert!(forwarded.contains("https://x.example/?%5C')"), "{forwarded}");
        assert!(!forwarded.contains('\\'), "{forwarded}");
    }

    #[test]
    fn a_mail_without_html_has_none_to_pass_on() {
        assert_eq!(forwarded_html(b"From: a@b.example\r\n\r\nHello\r\n", "x.example"), None);
    }
}
