use std::future::Future;
use std::pin::Pin;

use crate::wire::{DocumentFields, DocumentKind};

/// Makes out what a document is and what it says.
pub trait Reader: Send + Sync {
    fn read<'a>(&'a self, document: &'a Unread) -> Reading<'a>;
}

pub type Reading<'a> = Pin<Box<dyn Future<Output = Found> + Send + 'a>>;

/// A document's file.
#[derive(Clone, Debug)]
pub struct Unread {
    pub filename: String,
    pub content_type: String,
    pub bytes: Vec<u8>,
}

/// What a reader found. Reasons are for the log and hold nothing of the document.
#[derive(Clone, Debug)]
pub enum Found {
    Read {
        kind: DocumentKind,
        fields: DocumentFields,
    },
    /// Nothing can be read in it, however often one tries.
    Unreadable(String),
    /// Something else stood in the way.
    Later(String),
}

impl Found {
    pub(super) fn word(&self) -> &'static str {
        match self {
            Found::Read { .. } => "read",
            Found::Unreadable(_) => "unreadable",
            Found::Later(_) => "later",
        }
    }
}
