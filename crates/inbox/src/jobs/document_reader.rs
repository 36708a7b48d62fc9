//! The port through which documents are read: kind and fields.

use crate::base::future::BoxFuture;
use crate::model::documents::{DocumentFields, DocumentKind};

/// Makes out what a document is and what it says.
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

/// What a reader found. Reasons are for the log and hold nothing of the document.
#[derive(Clone, Debug)]
pub enum ExtractionOutcome {
    Read {
        kind: DocumentKind,
        fields: DocumentFields,
    },
    /// Nothing can be read in it, however often one tries.
    Unreadable(String),
    /// Something else stood in the way.
    Later(String),
}

impl ExtractionOutcome {
    pub(super) fn as_str(&self) -> &'static str {
        match self {
            ExtractionOutcome::Read { .. } => "read",
            ExtractionOutcome::Unreadable(_) => "unreadable",
            ExtractionOutcome::Later(_) => "later",
        }
    }
}
