//! The page of a mail as it came: that of a message, or of a mail that is a file.

use askama::Template;
use mail::{OriginalMail, PageState};

use crate::forms::form::FormFields;
use crate::layout::filters;
use crate::layout::page_layout::PageLayout;
use crate::pages::conversation::timeline::FileView;

#[derive(Template)]
#[template(path = "mail_page.html", whitespace = "minimize")]
pub(super) struct OriginalPage {
    pub frame: PageLayout,
    pub head: OriginalHead,
    pub mail: OriginalView,
}

/// What stands above the mail.
pub(super) enum OriginalHead {
    Message {
        conversation: String,
        /// Where all its header fields are.
        headers: String,
    },
    Attached {
        filename: String,
        document: String,
        /// The one that it came with.
        conversation: Option<String>,
    },
}

pub(super) struct OriginalView {
    /// The address of the page.
    page: String,
    /// Where the mail's parts are.
    parts: String,
    /// True when remote pictures are asked for.
    pictures: bool,
    /// True when the text is shown although there is HTML.
    as_text: bool,
    has_html: bool,
    beyond_bounds: bool,
    headers: Vec<(String, String)>,
    text: String,
    files: Vec<FileView>,
}

impl OriginalView {
    pub fn new(
        (page, parts): (String, String),
        asked: &FormFields,
        mail: OriginalMail,
        files: Vec<FileView>,
    ) -> OriginalView {
        OriginalView {
            page,
            parts,
            pictures: asked.has("pictures"),
            as_text: asked.get("as") == "text",
            has_html: mail.page == PageState::Shown,
            beyond_bounds: mail.page == PageState::BeyondBounds,
            headers: mail.headers,
            text: mail.text,
            files,
        }
    }
}
