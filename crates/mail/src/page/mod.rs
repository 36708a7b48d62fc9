//! The HTML of a mail as a page that looks as it was sent and can do nothing: it runs, submits and
//! fetches nothing, and speaks to no origin, ours included, but for its pictures.
//!
//! `tidy` rewrites the tokens within bounds (`attributes`, `css` and `pictures` say what stays of
//! each), `link_marks` marks links that show another domain, `quoted` folds history, `guard` looks at
//! the result as a browser would, and `document` puts it into a page of ours, in the layout that
//! `doctype` finds. `forwarded` makes it a part of another mail instead.

mod attributes;
mod css;
mod doctype;
mod document;
mod elements;
mod forwarded;
mod guard;
mod link_marks;
mod links;
mod node;
mod picture_size;
mod pictures;
mod quoted;
mod tidy;

use mail_parser::Message;

pub use forwarded::{ForwardedHtml, forwarded_html, quoted_html};
pub(crate) use links::safe_target;
pub use quoted::quoted_button;

use crate::headers::subject;
use crate::limits::HTML_BYTES;
use crate::{body, mime, source};
use pictures::PagePictures;

/// Whether a mail has a page that [`mail_page`] gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageState {
    /// It has none.
    Absent,
    Shown,
    /// It is larger, deeper or busier than is shown.
    BeyondBounds,
}

/// Where the page of a mail asks for its pictures.
#[derive(Clone, Copy, Debug)]
pub struct PageAddresses<'a> {
    /// What stands before the number of a picture that the mail brought, and a slash; and before
    /// `/remote/` and the number of one from elsewhere.
    pub pictures: &'a str,
    pub remote: RemotePictures,
}

/// Whether the page asks for pictures from elsewhere, at an address of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemotePictures {
    /// A place of their size stands for them.
    Blocked,
    Shown,
}

/// The page of a mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailPage {
    /// A whole document, for a frame of its own.
    pub html: String,
    /// Different pictures from elsewhere, whether shown or not.
    pub remote_pictures: usize,
    /// Pictures that only tell that the mail was read; they are never asked for.
    pub trackers: usize,
    /// Lines of history that are folded; 0 where there are none.
    pub quoted_lines: usize,
    /// Links that show another domain than they lead to.
    pub marked_links: usize,
}

/// A picture that a mail brought for its page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlinePicture {
    pub content_type: &'static str,
    pub bytes: Vec<u8>,
}

/// The page of a mail. `None` unless its [`PageState`] is `Shown`.
pub fn mail_page(raw: &[u8], addresses: &PageAddresses<'_>) -> Option<MailPage> {
    with_message(raw, |message| {
        let mut pictures = PagePictures::new(message, *addresses);
        let mut page = tidy_page(message, &mut pictures)?.ok()?;
        let nodes = std::mem::take(&mut page.nodes);
        let (nodes, marked_links) = link_marks::mark_links(nodes, &page.sheet, &page.body);
        let (nodes, quoted_lines) = match subject::is_forward(message.subject().unwrap_or_default())
        {
            true => (nodes, 0),
            false => quoted::fold_history(nodes),
        };
        let body = guard::guard(&node::write(&nodes), addresses);
        Some(MailPage {
            html: document::document(&page, &body),
            remote_pictures: pictures.remote_count(),
            trackers: pictures.trackers,
            quoted_lines,
            marked_links,
        })
    })
}

/// The pictures of a mail's page, taken apart at once for all requests that follow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MailPictures {
    /// Those that the mail brought, with their numbers.
    pub inline: Vec<(usize, InlinePicture)>,
    /// True when some of those were left out, because they are too large together.
    pub is_partial: bool,
    /// The addresses of those from elsewhere; the place of each is its number.
    pub remote: Vec<String>,
}

impl MailPictures {
    /// The bytes that it holds.
    pub fn size(&self) -> usize {
        let inline = self.inline.iter().map(|(_, picture)| picture.bytes.len());
        inline.chain(self.remote.iter().map(String::len)).sum()
    }
}

/// The pictures of a mail's page, with at most so many bytes of those that the mail brought.
pub fn mail_pictures(raw: &[u8], most: usize) -> Option<MailPictures> {
    with_message(raw, |message| {
        let mut found = MailPictures { remote: remote_pictures(message), ..Default::default() };
        let mut left = most;
        for picture in pictures::own_pictures(message) {
            let bytes = message.parts[picture.number].contents();
            match left.checked_sub(bytes.len()) {
                Some(rest) => left = rest,
                None => {
                    found.is_partial = true;
                    continue;
                }
            }
            let content_type = picture.content_type;
            let bytes = bytes.to_vec();
            found.inline.push((picture.number, InlinePicture { content_type, bytes }));
        }
        Some(found)
    })
}

/// The picture to which the page of a mail gives this number.
pub fn inline_picture(raw: &[u8], number: usize) -> Option<InlinePicture> {
    with_message(raw, |message| {
        let picture = pictures::own_pictures(message).find(|picture| picture.number == number)?;
        let bytes = message.parts[number].contents().to_vec();
        Some(InlinePicture { content_type: picture.content_type, bytes })
    })
}

/// The address, by http or https, of the picture from elsewhere to which the page of a mail gives
/// this number.
pub fn remote_picture(raw: &[u8], number: usize) -> Option<String> {
    with_message(raw, |message| remote_pictures(message).into_iter().nth(number))
}

/// The addresses of the pictures from elsewhere; none if the mail has no page.
fn remote_pictures(message: &Message<'_>) -> Vec<String> {
    let addresses = PageAddresses { pictures: "", remote: RemotePictures::Blocked };
    let mut pictures = PagePictures::new(message, addresses);
    match tidy_page(message, &mut pictures) {
        Some(Ok(_)) => pictures.into_remote(),
        Some(Err(tidy::BeyondBounds)) | None => Vec::new(),
    }
}

pub(crate) fn page_state(message: &Message<'_>) -> PageState {
    let addresses = PageAddresses { pictures: "", remote: RemotePictures::Blocked };
    match tidy_page(message, &mut PagePictures::new(message, addresses)) {
        None => PageState::Absent,
        Some(Ok(_)) => PageState::Shown,
        Some(Err(tidy::BeyondBounds)) => PageState::BeyondBounds,
    }
}

fn with_message<T>(raw: &[u8], read: impl FnOnce(&Message<'_>) -> Option<T>) -> Option<T> {
    let source = source::prepare(raw);
    let message = source.readable.then(|| mime::read_parts(source.bytes.as_ref()))??;
    read(&message)
}

/// The HTML taken apart; `None` for a mail that has none.
fn tidy_page(
    message: &Message<'_>,
    pictures: &mut PagePictures<'_>,
) -> Option<Result<tidy::TidyPage, tidy::BeyondBounds>> {
    let html = body::html_text(message)?;
    // What was cut at the limit would be shown without its end.
    Some(match html.len() >= HTML_BYTES {
        true => Err(tidy::BeyondBounds),
        false => tidy::tidy(&html, pictures),
    })
}

#[cfg(test)]
mod tests;
