//! The text of documents, for answers that hold it: parsed in the sandbox, a few at a time.

use std::io;
use std::path::PathBuf;

use inbox::api::operations::{FileOutput, OperationOutput};
use inbox::api::wire::DocumentText;
use inbox::base::limits::DOCUMENT_TEXT_CHARS;
use inbox::{Error, Result};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::documents::{BuiltInReader, FileReading};

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

    /// Waits for a place, so that a file is loaded only when it can be read.
    pub async fn slot(&self) -> Result<SemaphorePermit<'_>> {
        self.slots.acquire().await.map_err(|_| Error::Files(io::Error::other("no more readers")))
    }

    /// The output with the text of its document, if it has one to be read.
    pub async fn complete(&self, output: OperationOutput) -> Result<OperationOutput> {
        let (answer, bytes, output) = match output {
            OperationOutput { file: Some(FileOutput::Text(answer, bytes)), body, next, warning } => {
                (answer, bytes, OperationOutput { body, next, warning, file: None })
            }
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
