//! A form that may bring files along.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use axum::http::header;
use http_body_util::Limited;
use inbox::NewAttachment;
use inbox::base::ids::AttachmentId;
use inbox::base::limits::{ATTACHED_BYTES, ATTACHMENTS};
use multer::Multipart;

use crate::http::request_body::SMALL_BODY_BYTES;
use crate::http::slots::{Slot, SlotOwner, SlotShare, Slots};
use crate::web::Web;
use crate::web::form::{FORM_BYTES, FormFields, Posted};
use crate::web::layout::responses::PageError;
use crate::web::visitor::{Visitor, is_from_here};

/// The largest body that is read to its end, so that a form with files that are too large can be
/// shown again with what was typed.
const BODY_BYTES: usize = 64 * 1024 * 1024;
/// A form with files must have arrived by then.
const UPLOAD_TIME: Duration = Duration::from_secs(300);
/// A form of which nothing comes for so long is given up.
const SILENCE: Duration = Duration::from_secs(30);
/// Forms with files that are read at one time; each may take the bytes of a letter's files.
pub const FORMS_WITH_FILES: usize = 8;
/// Those of one person, and of one client network.
const FORMS_OF_PERSON: usize = 2;
const FORMS_OF_NETWORK: usize = 4;

/// A form of this very session, with the files that were chosen in it.
pub struct FormUpload {
    pub visitor: Visitor,
    pub fields: FormFields,
    pub files: Vec<FormFile>,
    /// True when there were more files, or larger ones, than a letter takes; none are kept then.
    pub too_much: bool,
}

pub struct FormFile {
    pub filename: String,
    pub content_type: String,
    pub bytes: Vec<u8>,
}

impl FromRequest<Arc<Web>> for FormUpload {
    type Rejection = PageError;

    async fn from_request(request: Request, web: &Arc<Web>) -> Result<Self, PageError> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let Some(boundary) = kind.and_then(|kind| multer::parse_boundary(kind).ok()) else {
            let Posted { visitor, fields } = Posted::from_request(request, web).await?;
            return Ok(FormUpload { visitor, fields, files: Vec::new(), too_much: false });
        };
        let (parts, body) = request.into_parts();
        let visitor = Visitor::of(&parts, web);
        if !is_from_here(&parts.headers) {
            return Err(PageError::Foreign);
        }
        // Nobody else makes us take in files.
        let person = web.read(&visitor, |_, _, me| Ok(me.id.clone())).await?;
        let mut shares = vec![(SlotOwner::Person(person), FORMS_OF_PERSON)];
        let network = visitor.network.map(SlotOwner::Network);
        shares.extend(network.map(|network| (network, FORMS_OF_NETWORK)));
        let room = Room { slots: Arc::clone(&web.forms), shares, slot: None };
        let open = read(visitor, Multipart::new(limited(body), boundary), room);
        match tokio::time::timeout(UPLOAD_TIME, open).await {
            Ok(read) => read,
            Err(_) => Err(PageError::TooLarge),
        }
    }
}

fn limited(body: Body) -> axum::body::BodyDataStream {
    Body::new(Limited::new(body, BODY_BYTES)).into_data_stream()
}

/// Room for a form with files, taken when it turns out to be large: a letter without files waits
/// for nobody.
struct Room {
    slots: Arc<Slots>,
    shares: Vec<SlotShare>,
    slot: Option<Slot>,
}

impl Room {
    async fn make(&mut self, bytes: usize) {
        if self.slot.is_none() && bytes > SMALL_BODY_BYTES {
            self.slot = Some(self.slots.wait(&self.shares).await);
        }
    }
}

/// What comes next of a form, unless nothing comes.
async fn next<T>(coming: impl Future<Output = Result<T, multer::Error>>) -> Result<T, PageError> {
    match tokio::time::timeout(SILENCE, coming).await {
        Ok(Ok(next)) => Ok(next),
        Ok(Err(_)) | Err(_) => Err(PageError::TooLarge),
    }
}

/// Reads the parts. The token that shows that the form is ours comes before any file.
async fn read(
    visitor: Visitor,
    mut form: Multipart<'_>,
    mut room: Room,
) -> Result<FormUpload, PageError> {
    let (mut pairs, mut files) = (Vec::new(), Vec::new());
    let (mut typed, mut brought, mut too_much, mut ours) = (0, 0, false, false);
    while let Some(mut part) = next(form.next_field()).await? {
        let name = part.name().unwrap_or_default().to_owned();
        let filename = part.file_name().map(str::to_owned);
        if filename.is_some() && !ours {
            return Err(PageError::Foreign);
        }
        let content_type = part.content_type().map(|kind| kind.essence_str().to_owned());
        let mut bytes = Vec::new();
        while let Some(chunk) = next(part.chunk()).await? {
            room.make(typed + brought + chunk.len()).await;
            let (sum, most) = match filename {
                Some(_) => (&mut brought, ATTACHED_BYTES as usize),
                None => (&mut typed, FORM_BYTES),
            };
            *sum += chunk.len();
            match (*sum > most, &filename) {
                (false, _) => bytes.extend_from_slice(&chunk),
                // What is too much is read and not kept.
                (true, Some(_)) => too_much = true,
                (true, None) => return Err(PageError::TooLarge),
            }
        }
        match filename {
            // A field in which no file was chosen.
            Some(filename) if filename.is_empty() && bytes.is_empty() => {}
            Some(_) if files.len() == ATTACHMENTS => too_much = true,
            Some(filename) => {
                let content_type =
                    content_type.unwrap_or_else(|| "application/octet-stream".into());
                let filename = mail::safe_filename(Some(&filename), &content_type, files.len() + 1);
                files.push(FormFile { filename, content_type, bytes });
            }
            None => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                ours |= name == "csrf" && text == visitor.csrf;
                pairs.push((name, text));
            }
        }
    }
    if !ours {
        return Err(PageError::Foreign);
    }
    if too_much {
        files.clear();
    }
    Ok(FormUpload { visitor, fields: FormFields::of(pairs), files, too_much })
}

impl Web {
    /// Takes the bytes of files in, durably, before anything names them.
    pub async fn take_in(&self, files: Vec<FormFile>) -> Result<Vec<NewAttachment>, PageError> {
        let app = self.app.clone();
        let taken = tokio::task::spawn_blocking(move || {
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
