//! How much of a file is looked at.

/// Pages of a PDF that are read: what an invoice says is on its first and last ones.
pub const PAGES: usize = 12;
/// Glyphs of a page; beyond that it is a drawing.
pub const GLYPHS: usize = 60_000;
/// Characters of a document's text that are handed on.
pub const TEXT_CHARS: usize = 60_000;
/// Bytes of a plain text that are read.
pub const PLAIN_BYTES: usize = 512 * 1024;
/// Bytes of an XML invoice, and what it may be taken apart into.
pub const XML_BYTES: usize = 16 * 1024 * 1024;
pub const XML_NODES: u32 = 500_000;
/// Files inside a PDF that are looked at.
pub const EMBEDDED_FILES: usize = 50;
/// Nodes of the tree of their names.
pub const NAME_TREE_NODES: usize = 1_000;
/// Names and files in all of them that are looked at.
pub const NAME_TREE_ENTRIES: usize = 10_000;
/// Scanned pages that are handed out to be looked at.
pub const PICTURES: usize = 3;
/// The longer side of a picture that is handed out, in pixels.
pub const PICTURE_SIDE: u32 = 2_500;
/// A picture whose longer side has fewer pixels is doubled: small letters are hard to tell apart.
pub const SMALL_SIDE: u32 = 1_200;
/// Pixels of a picture that is decoded at all.
pub const PICTURE_PIXELS: u64 = 60_000_000;
/// Bytes that decoding one picture may take.
pub const DECODING_BYTES: u64 = 300 * 1024 * 1024;
/// The longer side of a preview, in pixels.
pub const PREVIEW_SIDE: u32 = 240;
/// The longer side of a scaled copy, in pixels.
pub const SCALED_SIDE: u32 = 1_280;
/// A picture whose longer side has fewer pixels is a logo or an icon, not a page.
pub const SCAN_SIDE: u32 = 500;
/// OCR words of a picture.
pub const WORDS_SEEN: usize = 5_000;
/// Characters of a vendor or a reference.
pub const FIELD_CHARS: usize = 120;
/// The largest absolute amount that is accepted.
pub const AMOUNT: f64 = 999_999_999_999.99;
