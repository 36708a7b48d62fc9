//! Files of an answer on a protected page: checked and scanned as uploads are, then sealed.
//!
//! Customers read these texts.

use std::io::Cursor;

use base::app::App;
use base::concurrency::blocking::spawn_blocking;
use base::error::Result;
use base::files::blobs::Blob;
use base::files::scanner::{ScanResult, Scanner};
use base::ids::UploadId;
use base::limits::ATTACHED_BYTES;

use crate::documents::file_checks::{self, FileRefusal};
use crate::guests::secure::content::{ProtectedFile, seal_file};

/// Files of one answer, and their bytes together.
pub const ANSWER_FILES: usize = 10;
pub const ANSWER_BYTES: i64 = ATTACHED_BYTES;

const NOT_SCANNED: &str =
    "Files cannot be checked for viruses just now. Try again in a few minutes.";

/// Takes one file in. The inner error is a sentence for the customer.
pub async fn take_file(
    app: &App,
    filename: &str,
    bytes: Vec<u8>,
) -> Result<std::result::Result<(ProtectedFile, Blob), String>> {
    let size = bytes.len() as u64;
    let format = match file_checks::look(&mut Cursor::new(&bytes), size, filename)? {
        Ok(format) => format,
        Err(refusal) => return Ok(Err(refusal_sentence(filename, &refusal.sentence()))),
    };
    if let Some(scanner) = &app.scanner {
        match scan(app, scanner.as_ref(), &bytes).await? {
            ScanResult::Clean => {}
            ScanResult::Infected => {
                return Ok(Err(refusal_sentence(filename, &FileRefusal::Infected.sentence())));
            }
            ScanResult::Later(reason) => {
                tracing::warn!(reason, "the virus scanner cannot be reached; an answer waits");
                return Ok(Err(NOT_SCANNED.into()));
            }
        }
    }
    let (app, filename) = (app.clone(), filename.to_owned());
    let sealing = spawn_blocking(move || {
        let content_type = format.content_type().to_owned();
        let now = app.clock.now();
        seal_file((&app.blobs, &app.ids), now, filename, content_type, &bytes)
    });
    Ok(Ok(sealing.await??))
}

fn refusal_sentence(filename: &str, sentence: &str) -> String {
    format!("“{filename}” was not taken. {sentence}")
}

/// The scanner reads a file, which is gone as soon as it was read.
async fn scan(app: &App, scanner: &dyn Scanner, bytes: &[u8]) -> Result<ScanResult> {
    let id = UploadId::new(&app.ids, app.clock.now());
    let file = app.blobs.partial_uploads().unlinked_file(&id, bytes)?;
    Ok(scanner.scan(file).await)
}
