//! The Markdown that people write in: as HTML for mails and pages, and as plain text for everything
//! else.
//!
//! It is CommonMark with two differences: a line break in the source is a line break, as in a mail,
//! and HTML is text. A picture is named by the attachment that it is: `![receipt](cid:enc_01…)`.

mod html;
mod text;

use pulldown_cmark::{Event, Options, Parser, Tag, TextMergeStream};

pub use html::{PictureUrls, markdown_article, markdown_html, markdown_html_with_originals};
pub(crate) use html::{escape, plain_html};
pub use text::markdown_text;

/// Quotations and lists inside one another that count; what is deeper stands at this depth.
const DEPTH: usize = 20;

/// What stands before the id of an attachment that is a picture in the text.
const PICTURE_SCHEME: &str = "cid:";

/// The attachments that a text shows as pictures, in the order in which it first names them.
pub fn markdown_pictures(source: &str) -> Vec<String> {
    let mut named: Vec<String> = Vec::new();
    for event in parser(source) {
        if let Event::Start(Tag::Image { dest_url, .. }) = event
            && let Some(id) = picture_id(&dest_url)
            && !named.iter().any(|known| known == id)
        {
            named.push(id.to_owned());
        }
    }
    named
}

/// Text that escapes interrupt comes in one piece, so that links in it are found.
fn parser(source: &str) -> TextMergeStream<'_, Parser<'_>> {
    TextMergeStream::new(Parser::new_ext(source, Options::empty()))
}

/// The id of an attachment; `None` for the address of a picture elsewhere, which is never fetched.
fn picture_id(address: &str) -> Option<&str> {
    let id = address.strip_prefix(PICTURE_SCHEME)?;
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    (!id.is_empty() && id.bytes().all(plain)).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pictures_of_a_text_are_its_attachments_each_once() {
        let source = "![a](cid:enc_1) ![b](cid:enc_2)\n\n> ![again](cid:enc_1)\n\n\
                      ![](https://x.example/a.png) ![](cid:../x)";
        assert_eq!(markdown_pictures(source), ["enc_1", "enc_2"]);
    }
}
