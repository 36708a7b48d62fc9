//! Markdown as the pages of the app show it.

use mail::PictureUrls;

/// Where the pictures in a text are in the app: scaled copies.
const PICTURES: PictureUrls<'_> = PictureUrls { before: "/attachments/", behind: "/scaled" };
/// The same pictures as they came.
const ORIGINALS: PictureUrls<'_> = PictureUrls { before: PICTURES.before, behind: SHOWN };
/// What follows the address of a file that is shown as it is.
const SHOWN: &str = "?shown";

/// HTML that a page can hold as it is.
pub fn to_html(markdown: &str) -> String {
    mail::markdown_html(markdown, PICTURES)
}

/// The same for a text that is read: a click on a picture opens the original.
pub fn to_html_with_originals(markdown: &str) -> String {
    mail::markdown_html_with_originals(markdown, PICTURES, ORIGINALS)
}

/// The same for a text whose pictures are files of a page, under the address that it has for them.
pub fn formatted_with_files(markdown: &str, files: &str) -> String {
    mail::markdown_html(markdown, PictureUrls { before: files, behind: SHOWN })
}

/// The same for a secure message, as the team sees it.
pub fn formatted_secure(markdown: &str, message: &str) -> String {
    formatted_with_files(markdown, &format!("/protected/{message}/"))
}

/// True for a file that is a picture in this text.
pub fn shows_file(markdown: &str, id: &str) -> bool {
    markdown.contains(&format!("](cid:{id})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_leads_to_its_original_unless_it_is_a_link_already() {
        let picture = "<img loading=\"lazy\" src=\"/attachments/enc_1/scaled\" alt=\"a\">";
        let original =
            "<a href=\"/attachments/enc_1?shown\" target=\"_blank\" rel=\"noopener noreferrer\">";
        assert_eq!(
            to_html_with_originals("x ![a](cid:enc_1) y ![a](cid:enc_1)"),
            format!("<p>x {original}{picture}</a> y {original}{picture}</a></p>")
        );
        let within = to_html_with_originals("[![a](cid:enc_1)](https://x.example) z");
        assert!(within.contains(picture) && !within.contains("?shown"), "{within}");
        assert_eq!(to_html_with_originals("no picture"), to_html("no picture"));
        // A description may hold what ends a tag.
        for source in ["![>x](cid:enc_1) y", "![a\"> <b>](cid:enc_1) y"] {
            let html = to_html_with_originals(source);
            let (start, end) = (format!("<p>{original}<img "), "\"></a> y</p>");
            assert!(html.starts_with(&start) && html.ends_with(end), "{html}");
            let bare = html.replacen(original, "", 1).replacen("</a>", "", 1);
            assert_eq!(bare.replacen(" loading=\"lazy\"", "", 1), to_html(source));
        }
    }
}
