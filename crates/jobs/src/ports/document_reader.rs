//! The port through which documents are read: kind and fields.

use base::concurrency::future::BoxFuture;
use model::documents::{DocumentFields, DocumentKind};

/// Extracts a document's kind and fields.
pub trait DocumentReader: Send + Sync {
    fn read<'a>(&'a self, document: &'a DocumentFile) -> BoxFuture<'a, ExtractionOutcome>;
}

/// A document's file.
#[derive(Clone, Debug)]
pub struct DocumentFile {
    pub filename: String,
    pub content_type: String,
    pub bytes: Vec<u8>,
}

/// The result of extraction. Reasons are for the log and quote nothing of the document.
#[derive(Clone, Debug)]
pub enum ExtractionOutcome {
    Read {
        kind: DocumentKind,
        fields: DocumentFields,
        /// Its text, as far as it has one.
        text: String,
    },
    /// It is unreadable; a retry would not help.
    Unreadable(String),
    /// Extraction failed for another reason.
    Later(String),
}

impl ExtractionOutcome {
    pub(crate) fn as_str(&self) -> &'static str {
        match self {
            ExtractionOutcome::Read { .. } => "read",
            ExtractionOutcome::Unreadable(_) => "unreadable",
            ExtractionOutcome::Later(_) => "later",
        }
    }
}
