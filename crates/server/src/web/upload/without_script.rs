//! Files from a plain form, for browsers that run no script: streamed to the disk one by one.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::multipart::Field;
use axum::extract::{Multipart, Path, State};
use axum::http::Response;
use inbox::Error;
use inbox::base::blocking::spawn_blocking;
use inbox::base::ids::UploadId;
use inbox::model::uploads::{self, NewUpload};
use translation::msg;

use super::receive_file::Writer;
use super::{Web, gone};
use crate::web::layout::responses::{PageError, see_other};
use crate::web::visitor::Visitor;

/// Files in one form.
const FILES: usize = 50;
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
        return gone(PageError::Domain(busy));
    };
    match web.take_form(&visitor, &token, item, form).await {
        Ok(()) => see_other(&format!("/u/{token}#item-{item}")),
        Err(refusal) => gone(refusal),
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
        for _ in 0..FILES {
            let Ok(Ok(Some(mut field))) = tokio::time::timeout(SILENCE, form.next_field()).await
            else {
                break;
            };
            let name = field.file_name().unwrap_or_default().replace('\0', "");
            if name.is_empty() {
                continue;
            }
            let new = NewUpload { item, name, size: None, mark: String::new() };
            let whole = self.take_file(visitor, token, &new, &mut field).await?;
            if !whole {
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
        new: &NewUpload,
        field: &mut Field<'_>,
    ) -> Result<bool, PageError> {
        let wish = new.clone();
        let begun = self
            .act_for_ask(visitor, token, move |tx, cx, ask| uploads::begin(tx, cx, ask, &wish))
            .await?;
        let upload = match begun {
            Ok(upload) => upload,
            Err(sentence) => {
                self.refuse(visitor, token, new, &sentence).await?;
                return Ok(read_on(field).await);
            }
        };
        let file = self.app.blobs.partial_uploads().begin_whole(&upload.id).map_err(Error::from)?;
        let mut writer = Writer::new(file);
        let mut size = 0;
        let end = loop {
            match next_piece(field).await {
                Piece::Bytes(bytes) => {
                    size += bytes.len() as i64;
                    if size > upload.size {
                        break FileEnd::TooLarge;
                    }
                    writer.write(&bytes).await.map_err(Error::from)?;
                }
                Piece::End => break FileEnd::Whole,
                Piece::Broken => break FileEnd::CutOff,
            }
        };
        writer.finish().await.map_err(Error::from)?;
        let sentence = match end {
            FileEnd::Whole => None,
            FileEnd::TooLarge => Some(uploads::too_large(size)),
            FileEnd::CutOff => Some(CUT_OFF.to_owned()),
        };
        if let Some(sentence) = sentence {
            self.forget(visitor, token, &upload.id).await?;
            self.refuse(visitor, token, new, &sentence).await?;
            return Ok(end == FileEnd::TooLarge && read_on(field).await);
        }
        let (uploads, id) = (self.app.blobs.partial_uploads().clone(), upload.id.clone());
        let keeping = spawn_blocking(move || uploads.keep_whole(&id));
        keeping.await.map_err(Error::from)?.map_err(Error::from)?;
        let id = upload.id.clone();
        let ask = self
            .act_for_ask(visitor, token, move |tx, cx, ask| {
                uploads::note_end(tx, cx, ask, &id, size)?;
                Ok(ask.clone())
            })
            .await?;
        uploads::scan(&self.app, &ask, &upload.id).await?;
        Ok(true)
    }

    async fn forget(&self, visitor: &Visitor, token: &str, id: &UploadId) -> Result<(), PageError> {
        let id = id.clone();
        self.act_for_ask(visitor, token, move |tx, cx, ask| uploads::remove(tx, cx, ask, &id)).await
    }

    async fn refuse(
        &self,
        visitor: &Visitor,
        token: &str,
        new: &NewUpload,
        sentence: &str,
    ) -> Result<(), PageError> {
        let (new, sentence) = (new.clone(), sentence.to_owned());
        self.act_for_ask(visitor, token, move |tx, cx, ask| {
            uploads::refuse(tx, cx, ask, &new, &sentence)
        })
        .await
    }
}

/// How the bytes of a file ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FileEnd {
    Whole,
    /// Larger than a file, or than all files of the request together, may be.
    TooLarge,
    CutOff,
}

enum Piece {
    Bytes(Bytes),
    End,
    Broken,
}

async fn next_piece(field: &mut Field<'_>) -> Piece {
    match tokio::time::timeout(SILENCE, field.chunk()).await {
        Ok(Ok(Some(bytes))) => Piece::Bytes(bytes),
        Ok(Ok(None)) => Piece::End,
        Ok(Err(_)) | Err(_) => Piece::Broken,
    }
}

/// Reads the rest of a refused file, so that the browser gets the response.
async fn read_on(field: &mut Field<'_>) -> bool {
    loop {
        match next_piece(field).await {
            Piece::Bytes(_) => {}
            Piece::End => return true,
            Piece::Broken => return false,
        }
    }
}
