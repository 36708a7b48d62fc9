//! The text of documents, for answers that hold it: parsed in the sandbox, a few at a time.

use std::io;
use std::path::PathBuf;

use api::calls::ApiCall;
use api::operations::{FileOutput, OperationOutput};
use api::wire::DocumentText;
use base::app::App;
use base::error::{Error, Result};
use base::limits::DOCUMENT_TEXT_CHARS;
use base::rate_limit::RateStatus;
use tokio::sync::Semaphore;

use super::{BuiltInReader, FileReading};

/// Documents that are in memory and read at one time.
const AT_ONCE: usize = 2;

pub struct DocumentTexts {
    reader: BuiltInReader,
    slots: Semaphore,
}

impl DocumentTexts {
    /// `program` is started for each file.
    pub fn new(program: PathBuf) -> DocumentTexts {
        let reader = BuiltInReader::with_program(program);
        DocumentTexts { reader, slots: Semaphore::new(AT_ONCE) }
    }

    /// Makes a call. What a document says is read after the transaction, with no database held.
    pub async fn call(&self, app: &App, call: ApiCall) -> (Result<OperationOutput>, RateStatus) {
        if !call.operation.reads_text() {
            return ::api::calls::call(app, call).await;
        }
        // Only a valid key waits for a place, and a file is loaded only when it can be read.
        if let Err(error) = ::api::calls::check_key(app, call.key).await {
            return (Err(error), app.limiter.full_status());
        }
        let Ok(_place) = self.slots.acquire().await else {
            let error = io::Error::other("no document is read any more");
            return (Err(Error::Files(error)), app.limiter.full_status());
        };
        let (result, rate) = ::api::calls::call(app, call).await;
        match result {
            Ok(output) => (self.complete(output).await, rate),
            Err(error) => (Err(error), rate),
        }
    }

    /// The output with the text of its document, if it has one to be read.
    async fn complete(&self, output: OperationOutput) -> Result<OperationOutput> {
        let (answer, bytes, output) = match output {
            OperationOutput {
                file: Some(FileOutput::Text(answer, bytes)),
                body,
                next,
                count,
                warning,
                has_secret,
            } => (
                answer,
                bytes,
                OperationOutput { body, next, count, warning, has_secret, file: None },
            ),
            other => return Ok(other),
        };
        let answer = match self.reader.read_bytes(bytes).await {
            FileReading::Read { text, .. } => with_text(answer, &text),
            FileReading::Unreadable(sentence) => DocumentText { note: Some(sentence), ..answer },
            FileReading::Later(reason) => return Err(Error::Files(io::Error::other(reason))),
        };
        let body = serde_json::to_vec(&answer).map_err(io::Error::other)?;
        Ok(OperationOutput { body, ..output })
    }
}

fn with_text(answer: DocumentText, text: &str) -> DocumentText {
    if text.trim().is_empty() {
        return DocumentText { note: Some("No text was found in it.".into()), ..answer };
    }
    let end = text.char_indices().nth(DOCUMENT_TEXT_CHARS).map(|(end, _)| end);
    let text_kept = &text[..end.unwrap_or(text.len())];
    DocumentText { text: text_kept.to_owned(), truncated: end.is_some(), ..answer }
}
