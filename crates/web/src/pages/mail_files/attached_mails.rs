//! A mail that came as a file: its page, its HTML in a sandboxed frame, and the files attached to
//! it, mails among them.

use std::sync::Arc;

use actions::documents::files::StoredFile;
use actions::writing::library::{self, LibraryDocument};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Uri};
use base::error::Error;
use base::ids::DocumentId;
use mail::{Envelope, OriginalMail};
use translation::t;

use crate::Web;
use crate::forms::form::Asked;
use crate::layout::file_kinds::kind_and_size;
use crate::layout::page_layout::{PageLayout, PageLocation};
use crate::layout::responses::{self, PageResult};
use crate::layout::wording::size;
use crate::pages::conversation::timeline::FileView;
use crate::pages::mail_files::files::{file_response, is_picture};
use crate::pages::mail_files::mail_frame::{self, MailReference, host, is_mail};
use crate::pages::mail_files::mail_page::{OriginalHead, OriginalPage, OriginalView};
use crate::pages::mail_files::scaled_pictures;
use crate::visitor::Visitor;

/// Mails within mails that are opened one from another, below the one that is a file.
const DEPTH: usize = 3;

/// What is read in the mail.
struct ReadMail {
    original: OriginalMail,
    files: Vec<FileView>,
}

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path((document, path)): Path<(String, String)>,
    Asked(asked): Asked,
) -> PageResult {
    let mail = MailReference::of_attachment(&document, &path)?;
    let id = DocumentId::parse(&document).ok_or(Error::NotFound("document"))?;
    let location = PageLocation::at(t!("Attached message"), "/documents");
    let found = mail.clone();
    let reading = async {
        let (frame, (document, stored)) = web
            .page(&visitor, location, move |tx, cx, _| {
                Ok((library::look_at_document(tx, cx, &id)?, found.load_bytes(tx, cx)?))
            })
            .await?;
        Ok(((frame, document), stored))
    };
    let opened = mail.clone();
    let take = move |_: &(PageLayout, LibraryDocument), stored: &[u8]| {
        opened.open(stored, |raw| read(&opened, raw))
    };
    let ((frame, found), ReadMail { original, files }) = web.take_apart(reading, take).await?;
    responses::page(&OriginalPage {
        frame,
        head: OriginalHead::Attached {
            conversation: found.conversation().map(|(id, _, _)| format!("/conversations/{id}")),
            filename: found.filename,
            document,
        },
        mail: OriginalView::new((mail.href(), mail.href()), &asked, original, files),
    })
}

fn read(mail: &MailReference, raw: &[u8]) -> Option<ReadMail> {
    let original = mail::original(raw)?;
    let files = mail::parse(raw, Envelope::default()).attachments;
    let files = files.iter().enumerate().map(|(number, file)| {
        let href = format!("{}/files/{number}", mail.href());
        let is_shown = is_picture(&file.content_type) || file.content_type == "application/pdf";
        let is_mail = is_mail(&file.content_type, &file.filename) && depth(mail) < DEPTH;
        let within = mail.within(number).filter(|_| is_mail);
        let bytes = file.bytes.len() as i64;
        FileView {
            shown_href: is_shown.then(|| format!("{href}?shown")),
            mail_href: within.map(|within| within.href()),
            preview: None,
            href,
            name: file.filename.clone(),
            kind: if is_mail {
                size(bytes)
            } else {
                kind_and_size(&file.filename, &file.content_type, bytes)
            },
        }
    });
    Some(ReadMail { original, files: files.collect() })
}

fn depth(mail: &MailReference) -> usize {
    match mail {
        MailReference::Message { .. } => 0,
        MailReference::Attached { path, .. } => path.len(),
    }
}

/// The mail's HTML, in a sandboxed frame.
pub async fn html(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path((document, path)): Path<(String, String)>,
    uri: Uri,
    headers: HeaderMap,
    Asked(asked): Asked,
) -> PageResult {
    let mail = MailReference::of_attachment(&document, &path)?;
    mail_frame::frame(&web, &visitor, mail, &host(&uri, &headers), asked.has("pictures")).await
}

/// A picture that the mail brought, as its frame shows it.
pub async fn frame_picture(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path((document, path, number)): Path<(String, String, String)>,
) -> PageResult {
    let mail = MailReference::of_attachment(&document, &path)?;
    scaled_pictures::of_mail(&web, &visitor, mail, &number).await
}

/// The same as it came.
pub async fn picture(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path((document, path, number)): Path<(String, String, String)>,
) -> PageResult {
    let mail = MailReference::of_attachment(&document, &path)?;
    mail_frame::inline_picture(&web, &visitor, mail, &number).await
}

pub async fn remote_picture(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path((document, path, number)): Path<(String, String, String)>,
) -> PageResult {
    let mail = MailReference::of_attachment(&document, &path)?;
    mail_frame::remote_picture(&web, &visitor, mail, &number).await
}

/// A file that is attached to the mail.
pub async fn file(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path((document, path, number)): Path<(String, String, String)>,
    Asked(asked): Asked,
) -> PageResult {
    let mail = MailReference::of_attachment(&document, &path)?;
    let number: usize = number.parse().map_err(|_| Error::NotFound("file"))?;
    let found = mail.clone();
    let reading = web.read(&visitor, move |tx, cx, _| Ok(((), found.load_bytes(tx, cx)?)));
    let take = move |_: &(), stored: &[u8]| {
        mail.open(stored, |raw| {
            let files = mail::parse(raw, Envelope::default()).attachments;
            let file = files.into_iter().nth(number)?;
            let (filename, content_type) = (file.filename, file.content_type);
            Some(StoredFile { filename, content_type, bytes: file.bytes })
        })
    };
    let ((), file) = web.take_apart(reading, take).await?;
    Ok(file_response(file, &asked))
}
