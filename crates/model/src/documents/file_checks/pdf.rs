//! Checks of PDF files.

use std::io::{self, Read, Seek};

use memchr::memmem;

use crate::documents::file_checks::{FileRefusal, search, tail};

/// A few bytes may precede the header.
const HEADER_WITHIN: usize = 1024;
/// How far from its end a whole file names its table of contents.
const END_WITHIN: usize = 8 * 1024;
/// The longest that a mention of a lock can be.
const MENTION_BYTES: usize = 64;

pub fn is_pdf(head: &[u8]) -> bool {
    memmem::find(&head[..head.len().min(HEADER_WITHIN)], b"%PDF-").is_some()
}

/// Whole, and not locked.
pub fn check(file: &mut (impl Read + Seek), size: u64) -> io::Result<Result<(), FileRefusal>> {
    let end = tail(file, size, END_WITHIN)?;
    if memmem::find(&end, b"startxref").is_none() && memmem::find(&end, b"%%EOF").is_none() {
        return Ok(Err(FileRefusal::Damaged));
    }
    let name = memmem::Finder::new(b"/Encrypt");
    let locked = search(file, MENTION_BYTES, |window| {
        name.find_iter(window).any(|at| names_a_lock(&window[at + 8..])).then_some(())
    })?;
    Ok(if locked.is_some() { Err(FileRefusal::Locked) } else { Ok(()) })
}

/// After `/Encrypt`: a dictionary, or `12 0 R`. Other names begin with the same characters, and
/// page text may contain it.
fn names_a_lock(rest: &[u8]) -> bool {
    let rest = &rest[..rest.len().min(MENTION_BYTES)];
    let text = String::from_utf8_lossy(rest);
    let after = text.trim_start();
    if after.starts_with("<<") {
        return true;
    }
    let spaced = after.len() < text.len();
    let mut words = after.split_ascii_whitespace();
    let mut number = || words.next().is_some_and(|word| word.parse::<u32>().is_ok());
    let reference = number() && number();
    spaced && reference && words.next().is_some_and(|word| word.starts_with('R'))
}
