//! The built-in extractor: rules over the document's text, in a sandboxed child process. It needs
//! no external service.

use std::path::PathBuf;
use std::time::Duration;

use extraction::{ExtractedDocument, ExtractedFields, PaperKind};
use jobs::{DocumentFile, DocumentReader, ExtractionOutcome};
use model::documents::{DocumentFields, DocumentKind};
use tokio::sync::OnceCell;

use super::child::{self, ChildFailure, READER_TIME};
use super::ocr::Tesseract;
use super::parser::{OF_PICTURE, OF_SCAN, ParserReport, TABLE_END};

pub struct BuiltInReader {
    program: PathBuf,
    time: Duration,
    ocr: OnceCell<Option<Tesseract>>,
}

/// The result of extraction.
pub enum FileReading {
    Read {
        paper: ExtractedDocument,
        /// The fields come from structured data in the file, such as an XML invoice.
        stated: bool,
        text: String,
    },
    /// A sentence for people: nothing can be made of the file.
    Unreadable(String),
    /// A sentence for the log: the file is not to blame.
    Later(String),
}

impl BuiltInReader {
    pub fn of_this_program() -> BuiltInReader {
        BuiltInReader::with_program(child::this_program())
    }

    /// The program that is started for each file.
    pub fn with_program(program: PathBuf) -> BuiltInReader {
        BuiltInReader { program, time: READER_TIME, ocr: OnceCell::new() }
    }

    /// The same with another time for each file.
    pub fn within(self, time: Duration) -> BuiltInReader {
        BuiltInReader { time, ..self }
    }

    /// Reads a file's bytes without touching anything else.
    pub async fn read_bytes(&self, bytes: Vec<u8>) -> FileReading {
        let answer = match child::ask(&self.program, &["file"], &[], bytes, self.time).await {
            Ok(answer) => answer,
            Err(failure) => return failure_reading(failure),
        };
        let Some((report, pictures)) = parse(&answer) else {
            return failure_reading(ChildFailure::Died);
        };
        match (self.ocr().await, pictures.is_empty()) {
            (Some(ocr), false) => self.look(ocr, report, &pictures).await,
            _ => outcome(report),
        }
    }

    async fn ocr(&self) -> Option<&Tesseract> {
        self.ocr.get_or_init(|| Tesseract::open(&self.program)).await.as_ref()
    }

    /// The extraction from OCR text; without any text, the earlier result.
    async fn look(
        &self,
        ocr: &Tesseract,
        report: ParserReport,
        pictures: &[Vec<u8>],
    ) -> FileReading {
        let Ok(tables) = ocr.look(&self.program, pictures).await else { return outcome(report) };
        let origin = if report.is_picture { OF_PICTURE } else { OF_SCAN };
        let tables = tables.join(&TABLE_END.to_string());
        let words = format!("{origin}\n{tables}").into_bytes();
        let answer = child::ask(&self.program, &["words"], &[], words, self.time).await;
        match answer.ok().and_then(|answer| parse(&answer)) {
            Some((seen, _)) => outcome(seen),
            None => outcome(report),
        }
    }
}

impl DocumentReader for BuiltInReader {
    fn read<'a>(&'a self, document: &'a DocumentFile) -> jobs::BoxFuture<'a, ExtractionOutcome> {
        Box::pin(async move { extraction_outcome(self.read_bytes(document.bytes.clone()).await) })
    }
}

/// The result as a domain type.
pub fn extraction_outcome(reading: FileReading) -> ExtractionOutcome {
    match reading {
        FileReading::Read { paper, text, .. } => {
            ExtractionOutcome::Read { kind: kind(paper.kind), fields: fields(paper.fields), text }
        }
        FileReading::Unreadable(reason) => ExtractionOutcome::Unreadable(reason),
        FileReading::Later(reason) => ExtractionOutcome::Later(reason),
    }
}

/// The two lists of kinds have the same words.
fn kind(kind: PaperKind) -> DocumentKind {
    DocumentKind::parse(kind.as_str()).unwrap_or(DocumentKind::Other)
}

fn fields(fields: ExtractedFields) -> DocumentFields {
    DocumentFields {
        vendor: fields.vendor,
        amount: fields.amount,
        currency: fields.currency,
        date: fields.date,
        due_date: fields.due_date,
        reference: fields.reference,
    }
}

fn failure_reading(failure: ChildFailure) -> FileReading {
    let sentence = failure.sentence().to_owned();
    match failure {
        // A machine that is busy makes an honest file slow.
        ChildFailure::NotStarted | ChildFailure::TookTooLong => FileReading::Later(sentence),
        ChildFailure::Died => FileReading::Unreadable(sentence),
    }
}

fn outcome(report: ParserReport) -> FileReading {
    match (report.paper, report.error) {
        (Some(paper), None) => {
            FileReading::Read { paper, stated: report.stated, text: report.text }
        }
        (_, Some(error)) => FileReading::Unreadable(error),
        (None, None) => failure_reading(ChildFailure::Died),
    }
}

/// A report and the pictures behind it. The child is not trusted: sizes that do not fit are no
/// report.
fn parse(answer: &[u8]) -> Option<(ParserReport, Vec<Vec<u8>>)> {
    let end = answer.iter().position(|byte| *byte == b'\n')?;
    let report: ParserReport = serde_json::from_slice(&answer[..end]).ok()?;
    let mut rest = &answer[end + 1..];
    let mut pictures = Vec::new();
    for size in &report.pictures {
        let (picture, after) = rest.split_at_checked(*size)?;
        pictures.push(picture.to_vec());
        rest = after;
    }
    Some((report, pictures))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn papers_and_documents_have_the_same_kinds() {
        assert_eq!(PaperKind::NAMES, DocumentKind::NAMES);
    }
}
