//! Markdown as the pages of the app show it.

use mail::PictureUrls;

/// Where the pictures in a text are in the app.
const PICTURES: PictureUrls<'_> = PictureUrls { before: "/attachments/", behind: "?shown" };

/// HTML that a page can hold as it is.
pub fn to_html(markdown: &str) -> String {
    mail::markdown_html(markdown, PICTURES)
}

/// The same for a text whose pictures are files of a page, under the address that it has for them.
pub fn formatted_with_files(markdown: &str, files: &str) -> String {
    mail::markdown_html(markdown, PictureUrls { before: files, behind: PICTURES.behind })
}

/// The same for a secure message, as the team sees it.
pub fn formatted_secure(markdown: &str, message: &str) -> String {
    formatted_with_files(markdown, &format!("/protected/{message}/"))
}

/// True for a file that is a picture in this text.
pub fn shows_file(markdown: &str, id: &str) -> bool {
    markdown.contains(&format!("](cid:{id})"))
}
