//! Document extraction as pure functions: a file's bytes in, its kind and fields out.
//!
//! An invoice that carries its own data (ZUGFeRD, Factur-X, XRechnung, FatturaPA) is taken as it
//! is; anything else is extracted from its words and their positions. Words come from a PDF's text
//! layer, from plain text, or from OCR of the pictures that [`open`] returns.
//!
//! Deliberately absent: sockets, the clock, files, processes. Files are untrusted, so the caller
//! runs this in a sandboxed process that may crash.

mod einvoice;
mod evidence;
mod layout;
mod limits;
mod logo_picture;
mod paper;
mod pdf;
mod picture;
mod plain;
mod preview;
mod rules;
mod scaled_picture;
mod sniff;
mod tesseract_tsv;

pub use evidence::Evidence;
pub use layout::{TextPage, Word};
pub use limits::TEXT_CHARS;
pub use logo_picture::{LOGO_PNG_BYTES, logo_picture};
pub use paper::{ExtractedDocument, ExtractedFields, PaperKind};
pub use picture::Picture;
pub use preview::{PREVIEW_BYTES, preview};
pub use scaled_picture::{SCALED_BYTES, scaled_picture};
pub use tesseract_tsv::words_seen;

use sniff::Format;

/// The contents of a file before extraction.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// Structured data in the file, such as an XML invoice.
    stated: Option<ExtractedFields>,
    pages: Vec<TextPage>,
    /// The pictures that need OCR: a photo, or scanned pages.
    pub pictures: Vec<Picture>,
    /// The file is a picture, not a paper that was put into a file.
    is_picture: bool,
}

/// Why nothing can be read in a file. The sentence is for people and holds nothing of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    Empty,
    Damaged,
    Locked,
    Unknown,
}

impl Unreadable {
    pub fn sentence(self) -> &'static str {
        match self {
            Unreadable::Empty => "The file is empty.",
            Unreadable::Damaged => "The file is damaged and cannot be opened.",
            Unreadable::Locked => "The file is protected by a password.",
            Unreadable::Unknown => "Files of this kind are not read.",
        }
    }
}

/// Opens a file by its magic number, ignoring its name.
pub fn open(bytes: &[u8]) -> Result<Contents, Unreadable> {
    match sniff::format(bytes) {
        Format::Empty => Err(Unreadable::Empty),
        Format::Pdf => pdf::open(bytes),
        Format::Picture => picture::open(bytes),
        Format::UnknownPicture => Ok(Contents { is_picture: true, ..Contents::default() }),
        Format::Xml => match einvoice::read(bytes) {
            Some(fields) => Ok(Contents { stated: Some(fields), ..Contents::default() }),
            None => plain::open(bytes),
        },
        Format::Text => plain::open(bytes),
        Format::Unknown => Err(Unreadable::Unknown),
    }
}

/// The files inside a PDF, for scoring against what they say.
pub fn files_inside(bytes: &[u8]) -> Vec<Vec<u8>> {
    pdf::files_inside(bytes)
}

impl Contents {
    /// Pages of OCR words.
    pub fn from_ocr(pages: Vec<TextPage>, is_picture: bool) -> Contents {
        Contents { pages, is_picture, ..Contents::default() }
    }

    /// Whether the file has structured data.
    pub fn is_stated(&self) -> bool {
        self.stated.is_some()
    }

    pub fn is_picture(&self) -> bool {
        self.is_picture
    }

    /// Whether the words alone say too little, so that the pictures should be looked at.
    pub fn needs_ocr(&self) -> bool {
        self.stated.is_none() && !self.pictures.is_empty() && !layout::has_text(&self.pages)
    }

    /// The text, a line a line, cut after [`TEXT_CHARS`].
    pub fn text(&self) -> String {
        layout::text(&self.pages)
    }

    /// Makes sense of it all.
    pub fn paper(&self) -> ExtractedDocument {
        if let Some(fields) = &self.stated {
            return ExtractedDocument { kind: PaperKind::Invoice, fields: fields.clone() };
        }
        rules::judge(&self.pages, self.is_picture)
    }

    /// The same without the structured data, for scoring the rules.
    pub fn extract_from_words(&self) -> ExtractedDocument {
        rules::judge(&self.pages, self.is_picture)
    }
}
