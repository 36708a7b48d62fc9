//! Files from a plain form, for browsers that run no script: streamed to the disk one by one. What a form
//! sends again is stored once.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::multipart::Field;
use axum::extract::{Multipart, Path, State};
use axum::http::Response;
use base::concurrency::blocking::spawn_blocking;
use base::error::Error;
use base::ids::UploadId;
use model::documents::uploads::{self, NewUpload, SentFile, Upload};
use model::guests::guest_forms::GuestFormId;
use sha2::{Digest, Sha256};
use translation::msg;

use super::receive_file::Writer;
use super::{Web, gone_page};
use crate::layout::responses::{PageError, see_other};
use crate::visitor::Visitor;

/// Files in one form.
const FILES: usize = 50;
/// Fields of the form that are no files.
const OTHER_FIELDS: usize = 1;
/// Bytes that are read of a field that is no file.
const FIELD_BYTES: usize = 100;
/// A client that is silent for so long is gone.
const SILENCE: Duration = Duration::from_secs(60);
const CUT_OFF: &str = msg!("This file did not arrive whole. Add it again.");

pub async fn add(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path((token, item)): Path<(String, i64)>,
    form: Multipart,
) -> Response<Body> {
    let Some(_place) = web.take_stream(&visitor, &token) else {
        let busy = Error::invalid("file", "Many files arrive just now. Wait a minute, try again.");
        return gone_page(PageError::Domain(busy));
    };
    match web.take_form(&visitor, &token, item, form).await {
        Ok(()) => see_other(&format!("/u/{token}#item-{item}")),
        Err(refusal) => gone_page(refusal),
    }
}

/// A file of a form before its bytes are read.
struct FormUploadRequest {
    new: NewUpload,
    /// A page that was shown by an earlier version has a form without an id.
    form: Option<GuestFormId>,
}

impl FormUploadRequest {
    /// What the file is known by when the form sends it again.
    fn sent_file(&self, bytes: &FileBytes<'_, '_>, is_whole: bool) -> Option<SentFile> {
        let form = self.form.as_ref()?;
        let digest = is_whole.then(|| bytes.hash.clone().finalize());
        Some(SentFile::new(form, &self.new, digest.as_deref()))
    }
}

impl Web {
    async fn take_form(
        &self,
        visitor: &Visitor,
        token: &str,
        item: i64,
        mut form: Multipart,
    ) -> Result<(), PageError> {
        // An unknown link is refused before anything is read.
        self.read_ask(visitor, token, |_, _| Ok(())).await?;
        let mut form_id = None;
        for _ in 0..FILES + OTHER_FIELDS {
            let Ok(Ok(Some(mut field))) = tokio::time::timeout(SILENCE, form.next_field()).await
            else {
                break;
            };
            if field.name() == Some("form_id") {
                form_id = GuestFormId::parse(&short_text(&mut field).await);
                continue;
            }
            let name = field.file_name().unwrap_or_default().replace('\0', "");
            if name.is_empty() {
                continue;
            }
            let new = NewUpload { item, name, size: None, mark: String::new() };
            let request = FormUploadRequest { new, form: form_id.clone() };
            let goes_on = self.take_file(visitor, token, &request, &mut field).await?;
            if !goes_on {
                break;
            }
        }
        Ok(())
    }

    /// Takes one file of a form; returns whether the form goes on after it.
    async fn take_file(
        &self,
        visitor: &Visitor,
        token: &str,
        request: &FormUploadRequest,
        field: &mut Field<'_>,
    ) -> Result<bool, PageError> {
        let new = request.new.clone();
        let begun = self
            .act_for_ask(visitor, token, move |tx, cx, ask| uploads::begin(tx, cx, ask, &new))
            .await?;
        let mut bytes = FileBytes { field, hash: Sha256::new(), size: 0 };
        let sentence = match begun {
            Err(sentence) => sentence,
            Ok(upload) => match self.write_file(&upload, &mut bytes).await? {
                FileEnd::Whole => {
                    let sent = request.sent_file(&bytes, true);
                    self.keep_file(visitor, token, &upload.id, (bytes.size, sent)).await?;
                    return Ok(true);
                }
                FileEnd::TooLarge => {
                    self.forget(visitor, token, &upload.id).await?;
                    uploads::too_large(bytes.size)
                }
                FileEnd::CutOff => {
                    self.forget(visitor, token, &upload.id).await?;
                    let sent = request.sent_file(&bytes, false);
                    self.refuse(visitor, token, request, (CUT_OFF, sent)).await?;
                    return Ok(false);
                }
            },
        };
        // The rest is read, so that the browser gets the response.
        let is_whole = bytes.read_on().await;
        let sent = request.sent_file(&bytes, is_whole);
        self.refuse(visitor, token, request, (&sentence, sent)).await?;
        Ok(is_whole)
    }

    /// Writes the bytes of a file to the disk, never more than there is room for.
    async fn write_file(
        &self,
        upload: &Upload,
        bytes: &mut FileBytes<'_, '_>,
    ) -> Result<FileEnd, PageError> {
        let file = self.app.blobs.partial_uploads().begin_whole(&upload.id).map_err(Error::from)?;
        let mut writer = Writer::new(file);
        let end = loop {
            match bytes.next().await {
                Piece::Bytes(_) if bytes.size > upload.size => break FileEnd::TooLarge,
                Piece::Bytes(piece) => writer.write(&piece).await.map_err(Error::from)?,
                Piece::End => break FileEnd::Whole,
                Piece::Broken => break FileEnd::CutOff,
            }
        };
        writer.finish().await.map_err(Error::from)?;
        Ok(end)
    }

    /// Keeps a file that is whole, and has it checked. Of one that the form has sent before, the earlier
    /// copy is: the request that brought it may have ended before its check.
    async fn keep_file(
        &self,
        visitor: &Visitor,
        token: &str,
        id: &UploadId,
        (size, sent): (i64, Option<SentFile>),
    ) -> Result<(), PageError> {
        let (uploads, whole) = (self.app.blobs.partial_uploads().clone(), id.clone());
        let keeping = spawn_blocking(move || uploads.keep_whole(&whole));
        keeping.await.map_err(Error::from)?.map_err(Error::from)?;
        let id = id.clone();
        let (ask, kept) = self
            .act_for_ask(visitor, token, move |tx, cx, ask| {
                let kept = uploads::note_end(tx, cx, ask, &id, size, sent.as_ref())?;
                Ok((ask.clone(), kept))
            })
            .await?;
        match uploads::scan(&self.app, &ask, &kept).await {
            // It was taken back meanwhile, or refused and sent once more.
            Ok(_) | Err(Error::NotFound(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    async fn forget(&self, visitor: &Visitor, token: &str, id: &UploadId) -> Result<(), PageError> {
        let id = id.clone();
        self.act_for_ask(visitor, token, move |tx, cx, ask| uploads::remove(tx, cx, ask, &id)).await
    }

    async fn refuse(
        &self,
        visitor: &Visitor,
        token: &str,
        request: &FormUploadRequest,
        (sentence, sent): (&str, Option<SentFile>),
    ) -> Result<(), PageError> {
        let (new, sentence) = (request.new.clone(), sentence.to_owned());
        self.act_for_ask(visitor, token, move |tx, cx, ask| {
            uploads::refuse(tx, cx, ask, &new, &sentence, sent.as_ref())
        })
        .await
    }
}

/// How the bytes of a file ended.
enum FileEnd {
    Whole,
    /// Larger than a file, or than all files of the request together, may be.
    TooLarge,
    CutOff,
}

/// The bytes of a file as they come.
struct FileBytes<'a, 'f> {
    field: &'a mut Field<'f>,
    hash: Sha256,
    size: i64,
}

enum Piece {
    Bytes(Bytes),
    End,
    Broken,
}

impl FileBytes<'_, '_> {
    async fn next(&mut self) -> Piece {
        let piece = next_piece(self.field).await;
        if let Piece::Bytes(bytes) = &piece {
            self.hash.update(bytes);
            self.size += bytes.len() as i64;
        }
        piece
    }

    /// Reads the rest of a refused file; true when it came to its end.
    async fn read_on(&mut self) -> bool {
        loop {
            match self.next().await {
                Piece::Bytes(_) => {}
                Piece::End => return true,
                Piece::Broken => return false,
            }
        }
    }
}

async fn next_piece(field: &mut Field<'_>) -> Piece {
    match tokio::time::timeout(SILENCE, field.chunk()).await {
        Ok(Ok(Some(bytes))) => Piece::Bytes(bytes),
        Ok(Ok(None)) => Piece::End,
        Ok(Err(_)) | Err(_) => Piece::Broken,
    }
}

/// The text of a field; empty when it is longer than any of ours.
async fn short_text(field: &mut Field<'_>) -> String {
    let mut text = Vec::new();
    let mut is_short = true;
    while let Piece::Bytes(bytes) = next_piece(field).await {
        is_short &= text.len() + bytes.len() <= FIELD_BYTES;
        if is_short {
            text.extend_from_slice(&bytes);
        }
    }
    if is_short { String::from_utf8_lossy(&text).into_owned() } else { String::new() }
}
