//! Forms with files (multipart/form-data).

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use axum::http::header;
use base::concurrency::blocking::spawn_blocking;
use base::files::blobs::Blob;
use base::ids::AttachmentId;
use base::limits::{ATTACHED_BYTES, ATTACHMENTS};
use http_body_util::{BodyExt, Limited};
use model::guests::secure::{ProtectedFile, seal_file};
use model::messages::attachments::NewAttachment;
use multer::Multipart;
use transport::http::request_body::SMALL_BODY_BYTES;
use transport::http::slots::{Slot, SlotOwner, SlotShare, Slots};

use crate::Web;
use crate::forms::form::{
    FORM_TIME, Form, FormFields, PostedForm, outdated_error, shares_without_session,
};
use crate::guest::GuestForm;
use crate::layout::responses::{FORM_BYTES, FORM_WITH_FILES_BYTES, PageError};
use crate::visitor::{CsrfToken, Visitor, is_from_here};

/// A form with files must have arrived by then.
const UPLOAD_TIME: Duration = Duration::from_secs(300);
/// A form is given up after so long without a byte.
const SILENCE: Duration = Duration::from_secs(30);
/// Forms with files that are read at one time; each may take as many bytes as a message's files.
pub const FORMS_WITH_FILES: usize = 8;
/// Those of one person, and of one client network.
const FORMS_OF_PERSON: usize = 2;
const FORMS_OF_NETWORK: usize = 4;

/// A form of the same session, with the files that were chosen in it.
pub struct FormUpload<F> {
    pub visitor: Visitor,
    pub form: F,
    pub files: FormFiles,
}

/// The files of a form.
pub enum FormFiles {
    Kept(Vec<FormFile>),
    /// There were more files, or larger ones, than a message takes; none is kept.
    TooMany,
}

pub struct FormFile {
    pub filename: String,
    pub content_type: String,
    pub bytes: Vec<u8>,
}

impl FormFiles {
    /// How many files were chosen, as far as they were read.
    pub fn count(&self) -> usize {
        match self {
            FormFiles::Kept(files) => files.len(),
            FormFiles::TooMany => ATTACHMENTS + 1,
        }
    }
}

/// A form that anybody may send, from any page, with the files that were chosen in it. Whoever takes it
/// checks what proves that it is wanted.
pub struct OpenForm {
    pub fields: FormFields,
    pub files: FormFiles,
}

impl FromRequest<Arc<Web>> for OpenForm {
    type Rejection = PageError;

    async fn from_request(request: Request, web: &Arc<Web>) -> Result<Self, PageError> {
        let content_type = request.headers().get(header::CONTENT_TYPE);
        let content_type = content_type.and_then(|value| value.to_str().ok());
        let Some(boundary) = content_type.and_then(|kind| multer::parse_boundary(kind).ok()) else {
            let form = GuestForm::from_request(request, web).await?;
            let files = FormFiles::Kept(Vec::new());
            return Ok(OpenForm { fields: form.fields().clone(), files });
        };
        let (parts, body) = request.into_parts();
        let network = Visitor::of(&parts, web).network.map(SlotOwner::Network);
        let shares = network.map(|network| (network, FORMS_OF_NETWORK)).into_iter().collect();
        let slot = LateSlot { slots: Arc::clone(&web.forms), shares, taken: None };
        let reading = read(None, Multipart::new(limit_body(body), boundary), slot);
        match tokio::time::timeout(UPLOAD_TIME, reading).await {
            Ok(Ok((fields, files))) => Ok(OpenForm { fields, files }),
            Ok(Err(FormFault::Refused(refusal))) => Err(refusal),
            Ok(Err(FormFault::Outdated(_))) | Err(_) => Err(PageError::TooLarge),
        }
    }
}

impl<F: Form> FromRequest<Arc<Web>> for FormUpload<F> {
    type Rejection = PageError;

    async fn from_request(request: Request, web: &Arc<Web>) -> Result<Self, PageError> {
        let content_type = request.headers().get(header::CONTENT_TYPE);
        let content_type = content_type.and_then(|value| value.to_str().ok());
        let Some(boundary) = content_type.and_then(|kind| multer::parse_boundary(kind).ok()) else {
            let PostedForm { visitor, form } = PostedForm::from_request(request, web).await?;
            return Ok(FormUpload { visitor, form, files: FormFiles::Kept(Vec::new()) });
        };
        let (parts, body) = request.into_parts();
        let mut visitor = Visitor::of(&parts, web);
        if !is_from_here(&parts.headers) {
            return Err(PageError::Foreign);
        }
        // Only somebody who is signed in can make the server read files.
        let person = match web.read(&visitor, |_, _, me| Ok(me.id.clone())).await {
            Ok(person) => person,
            Err(PageError::SignIn { next, .. }) => {
                let shares = shares_without_session(&visitor);
                let slot = LateSlot { slots: Arc::clone(&web.large_bodies), shares, taken: None };
                let bytes = first_bytes(body, slot).await;
                let fields = typed_text(bytes, boundary).await.ok_or(PageError::TooLarge)?;
                let left = visitor.left_form(parts.uri.path(), fields.pairs());
                return Err(PageError::SignIn { next, left });
            }
            Err(refusal) => return Err(refusal),
        };
        let mut shares = vec![(SlotOwner::Person(person), FORMS_OF_PERSON)];
        let network = visitor.network.map(SlotOwner::Network);
        shares.extend(network.map(|network| (network, FORMS_OF_NETWORK)));
        let slot = LateSlot { slots: Arc::clone(&web.forms), shares, taken: None };
        let reading = read(Some(&visitor.csrf), Multipart::new(limit_body(body), boundary), slot);
        match tokio::time::timeout(UPLOAD_TIME, reading).await {
            Ok(Ok((fields, files))) => Ok(FormUpload { visitor, form: F::read(&fields)?, files }),
            Ok(Err(FormFault::Outdated(fields))) => {
                visitor.posted = visitor.left_form(parts.uri.path(), fields.pairs());
                Err(outdated_error(&visitor))
            }
            Ok(Err(FormFault::Refused(refusal))) => Err(refusal),
            Err(_) => Err(PageError::TooLarge),
        }
    }
}

/// A form of a customer's browser, who has proven who they are, with its files.
pub async fn read_guest_form(
    web: &Web,
    visitor: &Visitor,
    csrf: &CsrfToken,
    link: &str,
    (content_type, body): (&str, Body),
) -> Result<(FormFields, FormFiles), PageError> {
    let boundary = multer::parse_boundary(content_type).map_err(|_| PageError::Foreign)?;
    let mut shares = vec![(SlotOwner::Link(link.to_owned()), FORMS_OF_PERSON)];
    let network = visitor.network.map(SlotOwner::Network);
    shares.extend(network.map(|network| (network, FORMS_OF_NETWORK)));
    let slot = LateSlot { slots: Arc::clone(&web.forms), shares, taken: None };
    let reading = read(Some(csrf), Multipart::new(limit_body(body), boundary), slot);
    match tokio::time::timeout(UPLOAD_TIME, reading).await {
        Ok(Ok(read)) => Ok(read),
        Ok(Err(FormFault::Outdated(_))) => Err(PageError::Foreign),
        Ok(Err(FormFault::Refused(refusal))) => Err(refusal),
        Err(_) => Err(PageError::TooLarge),
    }
}

fn limit_body(body: Body) -> axum::body::BodyDataStream {
    Body::new(Limited::new(body, FORM_WITH_FILES_BYTES)).into_data_stream()
}

/// The beginning of a form, as long as a form without files may be: as much as anybody may make the
/// server read.
async fn first_bytes(mut body: Body, mut slot: LateSlot) -> Vec<u8> {
    let mut bytes = Vec::new();
    let reading = async {
        while bytes.len() < FORM_BYTES {
            let Some(Ok(frame)) = body.frame().await else { break };
            let Ok(data) = frame.into_data() else { continue };
            slot.take_for(bytes.len() + data.len()).await;
            bytes.extend_from_slice(&data);
        }
    };
    // What came in time may have all the texts.
    tokio::time::timeout(FORM_TIME, reading).await.ok();
    bytes.truncate(FORM_BYTES);
    bytes
}

/// A slot for a form that may be large, taken when it turns out to be: a message without files
/// does not wait for one.
struct LateSlot {
    slots: Arc<Slots>,
    shares: Vec<SlotShare>,
    taken: Option<Slot>,
}

impl LateSlot {
    async fn take_for(&mut self, bytes: usize) {
        if self.taken.is_none() && bytes > SMALL_BODY_BYTES {
            self.taken = Some(self.slots.wait(&self.shares).await);
        }
    }
}

/// The next piece of a form, unless the client stays silent.
async fn next<T>(piece: impl Future<Output = Result<T, multer::Error>>) -> Result<T, PageError> {
    match tokio::time::timeout(SILENCE, piece).await {
        Ok(Ok(next)) => Ok(next),
        Ok(Err(_)) | Err(_) => Err(PageError::TooLarge),
    }
}

/// Why a form with files was not taken.
enum FormFault {
    /// Its token is of another session; these are the texts before its first file.
    Outdated(FormFields),
    Refused(PageError),
}

impl From<PageError> for FormFault {
    fn from(refusal: PageError) -> FormFault {
        FormFault::Refused(refusal)
    }
}

/// Reads the parts. The token that proves that the form is ours comes before any file, where there is one.
async fn read(
    csrf: Option<&CsrfToken>,
    mut form: Multipart<'_>,
    mut slot: LateSlot,
) -> Result<(FormFields, FormFiles), FormFault> {
    let (mut pairs, mut files) = (Vec::new(), Vec::new());
    let (mut text_bytes, mut file_bytes, mut too_many) = (0, 0, false);
    let mut is_ours = csrf.is_none();
    while let Some(mut part) = next(form.next_field()).await? {
        let name = part.name().unwrap_or_default().to_owned();
        let filename = part.file_name().map(str::to_owned);
        // A field in which no file was chosen has no name; texts may follow it.
        let is_file = filename.as_ref().is_some_and(|name| !name.is_empty());
        if is_file && !is_ours {
            return Err(FormFault::Outdated(FormFields::of(pairs)));
        }
        let content_type = part.content_type().map(|kind| kind.essence_str().to_owned());
        let mut bytes = Vec::new();
        while let Some(chunk) = next(part.chunk()).await? {
            if filename.is_some() && !is_ours && !chunk.is_empty() {
                return Err(FormFault::Outdated(FormFields::of(pairs)));
            }
            slot.take_for(text_bytes + file_bytes + chunk.len()).await;
            let (sum, most) = match filename {
                Some(_) => (&mut file_bytes, ATTACHED_BYTES as usize),
                None => (&mut text_bytes, FORM_BYTES),
            };
            *sum += chunk.len();
            if *sum <= most {
                bytes.extend_from_slice(&chunk);
            } else if filename.is_some() {
                // The rest is read and dropped.
                too_many = true;
            } else {
                return Err(PageError::TooLarge.into());
            }
        }
        match filename {
            Some(filename) if filename.is_empty() && bytes.is_empty() => {}
            Some(_) if files.len() == ATTACHMENTS => too_many = true,
            Some(filename) => {
                let content_type =
                    content_type.unwrap_or_else(|| "application/octet-stream".into());
                let filename = mail::safe_filename(Some(&filename), &content_type, files.len() + 1);
                files.push(FormFile { filename, content_type, bytes });
            }
            None => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                is_ours |= name == "csrf" && csrf.is_some_and(|csrf| csrf.fits(&text));
                pairs.push((name, text));
            }
        }
    }
    if !is_ours {
        return Err(FormFault::Outdated(FormFields::of(pairs)));
    }
    let files = if too_many { FormFiles::TooMany } else { FormFiles::Kept(files) };
    Ok((FormFields::of(pairs), files))
}

/// The texts in the beginning of a form: what somebody typed who is not signed in. `None` where a text
/// is not whole.
async fn typed_text(bytes: Vec<u8>, boundary: String) -> Option<FormFields> {
    let mut form = Multipart::new(Body::from(bytes).into_data_stream(), boundary);
    let (mut pairs, mut has_files) = (Vec::new(), false);
    loop {
        match form.next_field().await {
            Ok(Some(part)) if part.file_name().is_some() => has_files = true,
            Ok(Some(part)) => {
                let name = part.name().unwrap_or_default().to_owned();
                pairs.push((name, part.text().await.ok()?));
            }
            Ok(None) => break,
            // The beginning ends within a file, which is not needed.
            Err(_) if has_files => break,
            Err(_) => return None,
        }
    }
    Some(FormFields::of(pairs))
}

impl Web {
    /// Stores files of an unsent text, sealed, before a row refers to them.
    pub async fn store_sealed_files(
        &self,
        files: Vec<FormFile>,
    ) -> Result<Vec<(ProtectedFile, Blob)>, PageError> {
        let app = self.app.clone();
        let sealing = spawn_blocking(move || {
            let now = app.clock.now();
            let seal = |file: FormFile| {
                let FormFile { filename, content_type, bytes } = file;
                seal_file((&app.blobs, &app.ids), now, filename, content_type, &bytes)
            };
            files.into_iter().map(seal).collect::<std::io::Result<Vec<_>>>()
        });
        let sealed = sealing.await.map_err(|error| PageError::Domain(error.into()))?;
        sealed.map_err(|error| PageError::Domain(error.into()))
    }

    /// Stores the bytes of files durably, before a row refers to them.
    pub async fn store_files(&self, files: Vec<FormFile>) -> Result<Vec<NewAttachment>, PageError> {
        let app = self.app.clone();
        let taken = spawn_blocking(move || {
            let take = |file: FormFile| -> std::io::Result<NewAttachment> {
                Ok(NewAttachment {
                    id: AttachmentId::new(&app.ids, app.clock.now()),
                    blob: app.blobs.put(&file.bytes)?,
                    filename: file.filename,
                    content_type: file.content_type,
                })
            };
            files.into_iter().map(take).collect::<std::io::Result<Vec<_>>>()
        });
        match taken.await {
            Ok(Ok(taken)) => Ok(taken),
            Ok(Err(error)) => Err(PageError::Domain(error.into())),
            Err(error) => Err(PageError::Domain(std::io::Error::other(error).into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: &str = "--b\r\nContent-Disposition: form-data; name=\"body\"\r\n\r\nMy words\r\n\
                        --b\r\nContent-Disposition: form-data; name=\"files\"; filename=\"a.txt\"\r\n\
                        Content-Type: text/plain\r\n\r\nOf the file\r\n\
                        --b\r\nContent-Disposition: form-data; name=\"secure\"\r\n\r\n1\r\n\
                        --b--\r\n";

    async fn texts_before(end: &str) -> Option<Vec<(String, String)>> {
        let length = FORM.find(end).expect("the end is in the form");
        let fields = typed_text(FORM.as_bytes()[..length].to_vec(), "b".into()).await;
        fields.map(|fields| fields.pairs().to_vec())
    }

    #[tokio::test]
    async fn a_text_is_taken_whole_or_not_at_all() {
        let (body, secure) = (("body".into(), "My words".into()), ("secure".into(), "1".into()));
        assert_eq!(texts_before("--b--").await, None, "the last text has no end");
        assert_eq!(texts_before("words").await, None);
        assert_eq!(texts_before("the file").await, Some(vec![body.clone()]));
        let whole = typed_text(FORM.into(), "b".into()).await.expect("the texts");
        assert_eq!(whole.pairs(), [body, secure]);
    }

    #[tokio::test]
    async fn texts_behind_a_field_without_a_file_are_kept_of_an_outdated_form() {
        let form = FORM.replace("a.txt", "").replace("Of the file", "");
        let multipart = |form: String| Multipart::new(limit_body(Body::from(form)), "b");
        let slot = || LateSlot { slots: Slots::new(1), shares: Vec::new(), taken: None };
        for (form, count) in [(form, 2), (FORM.to_owned(), 1)] {
            let Err(FormFault::Outdated(kept)) =
                read(Some(&CsrfToken::default()), multipart(form), slot()).await
            else {
                panic!("it has no token");
            };
            assert_eq!(kept.pairs().len(), count, "{:?}", kept.pairs());
        }
    }

    #[tokio::test]
    async fn no_more_is_read_than_a_form_without_files_may_have() {
        let slot = || LateSlot { slots: Slots::new(1), shares: Vec::new(), taken: None };
        for (length, read) in [(10, 10), (FORM_BYTES, FORM_BYTES), (FORM_BYTES + 1, FORM_BYTES)] {
            let bytes = first_bytes(Body::from(vec![b'a'; length]), slot()).await;
            assert_eq!(bytes.len(), read);
        }
    }
}
