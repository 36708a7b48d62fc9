//! Markdown as the pages of the app show it.

use mail::PictureUrls;

/// Where the pictures in a text are in the app.
const PICTURES: PictureUrls<'_> = PictureUrls { before: "/attachments/", behind: "?shown" };

/// HTML that a page can hold as it is.
pub fn formatted(markdown: &str) -> String {
    mail::markdown_html(markdown, PICTURES)
}
