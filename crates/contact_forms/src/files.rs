//! Files that come with what a customer writes on a page: checked and scanned as uploads are, then stored.
//!
//! Customers read these texts.

use std::io::Cursor;

use base::app::App;
use base::concurrency::blocking::spawn_blocking;
use base::error::Result;
use base::files::blobs::Blob;
use base::files::scanner::ScanResult;
use base::ids::UploadId;
use base::limits::ATTACHED_BYTES;
use mail::Attachment;
use model::documents::file_checks::{self, FileRefusal};

/// Files of one post, and their bytes together.
pub const POST_FILES: usize = 10;
pub const POST_BYTES: i64 = ATTACHED_BYTES;

const NOT_SCANNED: &str =
    "Files cannot be checked for viruses just now. Try again in a few minutes.";

/// Files with the blobs that hold their bytes, or a sentence for the customer.
pub type CheckedFiles = std::result::Result<Vec<(Attachment, Blob)>, String>;

/// Takes files in, all or none. Their names and bytes are the customer's.
pub async fn take_files(app: &App, files: Vec<(String, Vec<u8>)>) -> Result<CheckedFiles> {
    let mut taken = Vec::with_capacity(files.len());
    for (filename, bytes) in files {
        match take_file(app, filename, bytes).await? {
            Ok(file) => taken.push(file),
            Err(sentence) => return Ok(Err(sentence)),
        }
    }
    Ok(Ok(taken))
}

async fn take_file(
    app: &App,
    filename: String,
    bytes: Vec<u8>,
) -> Result<std::result::Result<(Attachment, Blob), String>> {
    let size = bytes.len() as u64;
    let format = match file_checks::look(&mut Cursor::new(&bytes), size, &filename)? {
        Ok(format) => format,
        Err(refusal) => return Ok(Err(refusal_sentence(&filename, &refusal.sentence()))),
    };
    if let Some(scanner) = &app.scanner {
        let id = UploadId::new(&app.ids, app.clock.now());
        let file = app.blobs.partial_uploads().unlinked_file(&id, &bytes)?;
        match scanner.scan(file).await {
            ScanResult::Clean => {}
            ScanResult::Infected => {
                return Ok(Err(refusal_sentence(&filename, &FileRefusal::Infected.sentence())));
            }
            ScanResult::Later(reason) => {
                tracing::warn!(
                    reason,
                    "the virus scanner cannot be reached; a customer's file waits"
                );
                return Ok(Err(NOT_SCANNED.into()));
            }
        }
    }
    let app = app.clone();
    let storing = spawn_blocking(move || {
        let blob = app.blobs.put(&bytes)?;
        let content_type = format.content_type().to_owned();
        std::io::Result::Ok((Attachment { filename, content_type, bytes }, blob))
    });
    Ok(Ok(storing.await??))
}

fn refusal_sentence(filename: &str, sentence: &str) -> String {
    format!("“{filename}” was not taken. {sentence}")
}
