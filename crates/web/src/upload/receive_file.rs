//! Files that a script uploads in pieces, so that a broken connection costs little: begin (POST),
//! send from an offset (PATCH), ask for the offset (GET or HEAD).

use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::header::{self, HeaderName};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode};
use base::concurrency::blocking::spawn_blocking;
use base::error::Error;
use base::files::partial_uploads::UploadPiece;
use base::ids::UploadId;
use base::limits::SIGN_IN_WAIT_MINUTES;
use http_body_util::{BodyExt, Limited};
use model::documents::uploads::{self, NewUpload, Upload, UploadState};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use translation::t;

use super::Web;
use crate::layout::responses::{PageError, ask_to_wait, guard};
use crate::visitor::Visitor;

/// The largest body that begins an upload, in bytes.
const BEGIN_BYTES: usize = 8 * 1024;
/// The read timeout of a client's request body.
const SILENCE: Duration = Duration::from_secs(30);
/// Bytes that are buffered before they are written.
const PIECE_BYTES: usize = 128 * 1024;

const OFFSET: HeaderName = HeaderName::from_static("upload-offset");
const POLICY: &str = "default-src 'none'; frame-ancestors 'none'";

#[derive(Deserialize)]
struct NewUploadRequest {
    item: i64,
    name: String,
    size: i64,
    #[serde(default)]
    mark: String,
}

/// Begins an upload, or finds the one that was cut off.
pub async fn begin(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(token): Path<String>,
    body: Body,
) -> Response<Body> {
    let read = tokio::time::timeout(SILENCE, Limited::new(body, BEGIN_BYTES).collect()).await;
    let request = match read {
        Ok(Ok(collected)) => serde_json::from_slice::<NewUploadRequest>(&collected.to_bytes()).ok(),
        _ => None,
    };
    let Some(request) =
        request.filter(|request| !request.name.contains('\0') && !request.mark.contains('\0'))
    else {
        return text_response(StatusCode::BAD_REQUEST, t!("This is not how a file is announced."));
    };
    let new = NewUpload {
        item: request.item,
        name: request.name,
        size: Some(request.size),
        mark: request.mark,
    };
    let begun =
        web.act_for_ask(&visitor, &token, move |tx, cx, ask| uploads::begin(tx, cx, ask, &new));
    match begun.await {
        Ok(Ok(upload)) => {
            let mut response = answer(StatusCode::CREATED, &upload);
            let location = format!("/u/{token}/uploads/{}", upload.id);
            if let Ok(location) = HeaderValue::from_str(&location) {
                response.headers_mut().insert(header::LOCATION, location);
            }
            response
        }
        Ok(Err(sentence)) => {
            text_response(StatusCode::UNPROCESSABLE_ENTITY, &translation::sentence(&sentence))
        }
        Err(refusal) => error_response(refusal),
    }
}

/// The offset of an upload. The client wants to continue, so an older request that still holds the
/// upload is ended first.
pub async fn offset(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path((token, id)): Path<(String, String)>,
) -> Response<Body> {
    let Some(id) = UploadId::parse(&id) else { return missing() };
    let turn = web.locks.enter(id.as_str()).await;
    let found = web.read_ask(&visitor, &token, move |tx, ask| uploads::load(tx, ask, &id)).await;
    drop(turn);
    match found {
        Ok(upload) => answer(StatusCode::OK, &upload),
        Err(refusal) => error_response(refusal),
    }
}

/// Receives bytes from an offset on. After the last byte the file is scanned.
pub async fn go_on(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path((token, id)): Path<(String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Response<Body> {
    let Some(id) = UploadId::parse(&id) else { return missing() };
    let Some(_place) = web.take_stream(&visitor, &token) else {
        let sentence = t!("Many files arrive just now. Try again.");
        return text_response(StatusCode::SERVICE_UNAVAILABLE, sentence);
    };
    let turn = web.locks.enter(id.as_str()).await;
    let told_offset = headers.get(OFFSET).and_then(|value| value.to_str().ok());
    let offset: Option<i64> = told_offset.and_then(|text| text.parse().ok());
    let wanted = id.clone();
    let found = web
        .act_for_ask(&visitor, &token, move |tx, cx, ask| {
            let upload = uploads::load(tx, ask, &wanted)?;
            let piece = match offset {
                Some(offset) if upload.state == UploadState::Arriving => {
                    uploads::begin_piece(tx, cx, ask, &upload, offset)?
                }
                _ => None,
            };
            Ok((upload, piece, ask.clone()))
        })
        .await;
    let (upload, piece, ask) = match found {
        Ok((upload, Some(piece), ask)) => (upload, piece, ask),
        Ok((upload, None, _)) => return answer(StatusCode::CONFLICT, &upload),
        Err(refusal) => return error_response(refusal),
    };
    let received = match web.receive(&upload, &piece, body, &turn.stop).await {
        Ok(received) => received,
        Err(error) => return error_response(PageError::Domain(error.into())),
    };
    let (before, kept) = (upload, (piece.clone(), received.bytes));
    let written = web.act_for_ask(&visitor, &token, move |tx, cx, ask| {
        let counts = uploads::keep_piece(tx, cx, ask, &before, (&kept.0, kept.1))?;
        Ok((uploads::load(tx, ask, &before.id)?, counts))
    });
    let (upload, counts) = match written.await {
        Ok(written) => written,
        Err(refusal) => return error_response(refusal),
    };
    if !counts {
        let uploads = web.app.blobs.partial_uploads().clone();
        let removed = spawn_blocking(move || uploads.remove_piece(&piece)).await;
        if let Ok(Err(error)) = removed {
            tracing::warn!(%error, "an unused chunk of an upload could not be removed");
        }
        if received.bytes > 0 {
            return answer(StatusCode::CONFLICT, &upload);
        }
    }
    if received.too_much {
        return answer(StatusCode::PAYLOAD_TOO_LARGE, &upload);
    }
    if upload.received < upload.size {
        return answer(StatusCode::OK, &upload);
    }
    match uploads::scan(&web.app, &ask, &id).await {
        Ok(upload) => answer(StatusCode::OK, &upload),
        Err(error) => error_response(PageError::Domain(error)),
    }
}

/// The outcome of a body.
pub struct ReceivedBody {
    pub bytes: i64,
    /// The body is longer than the file.
    pub too_much: bool,
}

impl Web {
    /// Writes a body into a piece, never beyond the file's length, and returns how many bytes are
    /// safely kept, however the body ended.
    async fn receive(
        &self,
        upload: &Upload,
        piece: &UploadPiece,
        body: Body,
        stop: &CancellationToken,
    ) -> std::io::Result<ReceivedBody> {
        let uploads = self.app.blobs.partial_uploads().clone();
        let file = uploads.begin_piece(piece)?;
        let mut writer = Writer::new(file);
        let room = (upload.size - upload.received).unsigned_abs() as usize;
        let (mut body, mut taken, mut too_much) = (body, 0, false);
        loop {
            let frame = tokio::select! {
                frame = tokio::time::timeout(SILENCE, body.frame()) => frame,
                () = stop.cancelled() => break,
            };
            let Ok(Some(Ok(frame))) = frame else { break };
            let Ok(data) = frame.into_data() else { continue };
            let fits = data.len().min(room - taken);
            too_much |= fits < data.len();
            writer.write(&data[..fits]).await?;
            taken += fits;
            if too_much {
                break;
            }
        }
        writer.finish().await?;
        if taken > 0 {
            let piece = piece.clone();
            let keeping = spawn_blocking(move || uploads.keep_piece(&piece));
            keeping.await.map_err(std::io::Error::other)??;
        }
        Ok(ReceivedBody { bytes: taken as i64, too_much })
    }
}

/// Writes a file in pieces on blocking threads.
pub struct Writer {
    file: Option<File>,
    piece: Vec<u8>,
}

impl Writer {
    pub fn new(file: File) -> Writer {
        Writer { file: Some(file), piece: Vec::new() }
    }

    pub async fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.piece.extend_from_slice(bytes);
        if self.piece.len() >= PIECE_BYTES { self.flush(false).await } else { Ok(()) }
    }

    /// Everything is on the disk after this.
    pub async fn finish(mut self) -> std::io::Result<()> {
        self.flush(true).await
    }

    async fn flush(&mut self, sync: bool) -> std::io::Result<()> {
        let Some(mut file) = self.file.take() else {
            return Err(std::io::ErrorKind::BrokenPipe.into());
        };
        let mut piece = std::mem::take(&mut self.piece);
        let written = spawn_blocking(move || {
            file.write_all(&piece)?;
            if sync {
                file.sync_all()?;
            }
            piece.clear();
            Ok::<_, std::io::Error>((file, piece))
        });
        let (file, piece) = written.await.map_err(std::io::Error::other)??;
        (self.file, self.piece) = (Some(file), piece);
        Ok(())
    }
}

fn answer(status: StatusCode, upload: &Upload) -> Response<Body> {
    let told = json!({
        "id": upload.id.as_str(),
        "offset": upload.received,
        "size": upload.size,
        "state": upload.state.as_str(),
        "problem": upload.problem.as_deref().map(translation::sentence),
    });
    let mut response = json_answer(status, &told);
    response.headers_mut().insert(OFFSET, HeaderValue::from(upload.received));
    response
}

fn text_response(status: StatusCode, sentence: &str) -> Response<Body> {
    json_answer(status, &json!({ "problem": sentence }))
}

fn missing() -> Response<Body> {
    text_response(StatusCode::NOT_FOUND, t!("There is no such file on its way."))
}

fn error_response(refusal: PageError) -> Response<Body> {
    match refusal {
        PageError::Domain(Error::NotFound(_)) => missing(),
        PageError::Domain(Error::Unauthorized) => {
            let sentence =
                t!("You are signed out. Open the link in the mail about this page again.");
            text_response(StatusCode::UNAUTHORIZED, sentence)
        }
        PageError::Domain(Error::Invalid(problems)) => {
            let sentence = problems.sentences();
            text_response(StatusCode::UNPROCESSABLE_ENTITY, &translation::sentence(&sentence))
        }
        PageError::TooManyAttempts => {
            let minutes = SIGN_IN_WAIT_MINUTES;
            let sentence = t!("Too many attempts. Wait {minutes} minutes.", minutes);
            text_response(StatusCode::TOO_MANY_REQUESTS, &sentence)
        }
        PageError::Domain(error) if error.is_outage() => {
            let sentence = t!("Something failed on our side. Try again.");
            let mut response = text_response(StatusCode::SERVICE_UNAVAILABLE, sentence);
            ask_to_wait(&mut response);
            response
        }
        PageError::Domain(error) => {
            tracing::error!(cause = ?error, "an upload failed");
            let sentence = t!("Something failed on our side. Try again.");
            text_response(StatusCode::INTERNAL_SERVER_ERROR, sentence)
        }
        _ => text_response(StatusCode::BAD_REQUEST, t!("This cannot be done here.")),
    }
}

fn json_answer(status: StatusCode, body: &Value) -> Response<Body> {
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    guard(&mut response, POLICY);
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}
