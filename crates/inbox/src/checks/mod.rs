//! Whether a customer's file may be taken: what it really is, whether it can be read, and whether
//! it could do harm. Pure functions over bytes; nothing is unpacked and nothing is run.
//!
//! Taken are PDF, pictures (JPEG, PNG, GIF, WebP, HEIF and AVIF, TIFF), Office files of the formats
//! since 2007 and OpenDocument files without macros, plain text, CSV and XML.

mod pdf;
mod pictures;
mod text;
mod zip;

use std::io::{self, Read, Seek, SeekFrom};

/// Bytes from the start that tell what a file is.
const HEAD_BYTES: usize = 4 * 1024;

/// What a file is, as its bytes say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Pdf,
    Jpeg,
    Png,
    Gif,
    Webp,
    Heif,
    Avif,
    Tiff,
    Docx,
    Xlsx,
    Pptx,
    Odt,
    Ods,
    Odp,
    Text,
    Csv,
    Xml,
}

impl Form {
    pub fn content_type(self) -> &'static str {
        match self {
            Form::Pdf => "application/pdf",
            Form::Jpeg => "image/jpeg",
            Form::Png => "image/png",
            Form::Gif => "image/gif",
            Form::Webp => "image/webp",
            Form::Heif => "image/heif",
            Form::Avif => "image/avif",
            Form::Tiff => "image/tiff",
            Form::Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            Form::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            Form::Pptx => {
                "application/vnd.openxmlformats-officedocument.presentationml.presentation"
            }
            Form::Odt => "application/vnd.oasis.opendocument.text",
            Form::Ods => "application/vnd.oasis.opendocument.spreadsheet",
            Form::Odp => "application/vnd.oasis.opendocument.presentation",
            Form::Text => "text/plain",
            Form::Csv => "text/csv",
            Form::Xml => "application/xml",
        }
    }

    /// How the name of such a file ends.
    pub fn ending(self) -> &'static str {
        match self {
            Form::Pdf => "pdf",
            Form::Jpeg => "jpg",
            Form::Png => "png",
            Form::Gif => "gif",
            Form::Webp => "webp",
            Form::Heif => "heic",
            Form::Avif => "avif",
            Form::Tiff => "tiff",
            Form::Docx => "docx",
            Form::Xlsx => "xlsx",
            Form::Pptx => "pptx",
            Form::Odt => "odt",
            Form::Ods => "ods",
            Form::Odp => "odp",
            Form::Text => "txt",
            Form::Csv => "csv",
            Form::Xml => "xml",
        }
    }

    /// What a customer calls it.
    fn words(self) -> &'static str {
        match self {
            Form::Pdf => "a PDF",
            form if form.is_picture() => "a picture",
            Form::Docx | Form::Odt => "a text document",
            Form::Xlsx | Form::Ods | Form::Csv => "a table",
            Form::Pptx | Form::Odp => "a presentation",
            _ => "a plain text",
        }
    }

    pub fn is_picture(self) -> bool {
        matches!(
            self,
            Form::Jpeg | Form::Png | Form::Gif | Form::Webp | Form::Heif | Form::Avif | Form::Tiff
        )
    }
}

/// Why a file is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    Empty,
    TooLarge,
    Unknown,
    Program,
    WebPage,
    Archive,
    OldOffice,
    Locked,
    Macros,
    /// It breaks off or is not whole.
    Damaged,
    /// Its name says something else than its bytes.
    Misnamed(Form),
    Infected,
}

impl Refusal {
    /// What the customer is told: what is wrong, and what to do.
    pub fn sentence(self) -> String {
        let fixed = match self {
            Refusal::Empty => "This file is empty. Look at it on your device and choose it again.",
            Refusal::TooLarge => {
                "This file is larger than 25 MB. Save it smaller, or as several files, and add those."
            }
            Refusal::Unknown => {
                "We cannot open this kind of file. Save it as a PDF, or take a photo of it."
            }
            Refusal::Program => {
                "This is a program or a script, which we never take. Add the paper as a PDF or a photo."
            }
            Refusal::WebPage => {
                "This is a web page, which we cannot take. Print it to a PDF and add that."
            }
            Refusal::Archive => {
                "This is a packed folder. Unpack it and add the files in it one by one."
            }
            Refusal::OldOffice => {
                "This is an Office file of an old format. Save it as a PDF, or as .docx or .xlsx, and add that."
            }
            Refusal::Locked => {
                "This file is locked with a password. Save or print it as a PDF without one and add that."
            }
            Refusal::Macros => {
                "This file has macros in it, which we never take. Save it as a PDF and add that."
            }
            Refusal::Damaged => {
                "This file is damaged or not complete. Open it on your device, save it anew and add that."
            }
            Refusal::Misnamed(form) => {
                return format!(
                    "By its name this is something else, but it really is {}. Save it again with a \
                     name that ends in .{} and add that.",
                    form.words(),
                    form.ending()
                );
            }
            Refusal::Infected => {
                "Our virus scanner refused this file. Add the paper as a photo, or write to us."
            }
        };
        fixed.to_owned()
    }
}

/// What a file is, or why it is not taken. An error is a failure to read it, not of the file.
pub fn look(
    file: &mut (impl Read + Seek),
    size: u64,
    name: &str,
) -> io::Result<Result<Form, Refusal>> {
    if size == 0 {
        return Ok(Err(Refusal::Empty));
    }
    let head = piece(file, 0, HEAD_BYTES)?;
    let ending = ending(name);
    if PROGRAM_ENDINGS.contains(&ending.as_str()) || is_program(&head) {
        return Ok(Err(Refusal::Program));
    }
    if MACRO_ENDINGS.contains(&ending.as_str()) {
        return Ok(Err(Refusal::Macros));
    }
    let found = real_form(file, size, &head, &ending)?;
    Ok(found.and_then(|form| match fits(form, &ending) {
        true => Ok(form),
        false => Err(Refusal::Misnamed(form)),
    }))
}

fn real_form(
    file: &mut (impl Read + Seek),
    size: u64,
    head: &[u8],
    ending: &str,
) -> io::Result<Result<Form, Refusal>> {
    if pdf::is_pdf(head) {
        return Ok(pdf::check(file, size)?.map(|()| Form::Pdf));
    }
    if let Some(form) = pictures::form(head) {
        return Ok(pictures::check(file, size, form)?.map(|()| form));
    }
    if head.starts_with(b"PK\x03\x04") {
        return zip::check(file, size);
    }
    if head.starts_with(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") {
        let locked = finds(file, &utf16("EncryptedPackage"))?;
        return Ok(Err(if locked { Refusal::Locked } else { Refusal::OldOffice }));
    }
    if ARCHIVES.iter().any(|start| head.starts_with(start)) {
        return Ok(Err(Refusal::Archive));
    }
    text::check(file, head, ending)
}

const ARCHIVES: &[&[u8]] = &[
    b"PK\x05\x06",
    b"Rar!\x1a\x07",
    b"7z\xbc\xaf\x27\x1c",
    b"\x1f\x8b",
    b"BZh",
    b"\xfd7zXZ\0",
    b"\x28\xb5\x2f\xfd",
];

/// Starts of what a machine runs: Windows, Linux, macOS, Java, Android, scripts, shortcuts.
const PROGRAMS: &[&[u8]] = &[
    b"MZ",
    b"\x7fELF",
    b"\xfe\xed\xfa\xce",
    b"\xfe\xed\xfa\xcf",
    b"\xce\xfa\xed\xfe",
    b"\xcf\xfa\xed\xfe",
    b"\xca\xfe\xba\xbe",
    b"dex\n",
    b"#!",
    b"\x4c\0\0\0\x01\x14\x02\0",
];

const PROGRAM_ENDINGS: &[&str] = &[
    "exe", "dll", "com", "scr", "pif", "msi", "msp", "bat", "cmd", "ps1", "psm1", "vbs", "vbe",
    "js", "jse", "mjs", "wsf", "wsh", "hta", "lnk", "url", "reg", "jar", "class", "apk", "app",
    "dmg", "deb", "rpm", "sh", "bash", "py", "pl", "rb", "php", "iso", "img", "chm", "cpl", "scf",
];

const MACRO_ENDINGS: &[&str] =
    &["docm", "dotm", "xlsm", "xltm", "xlsb", "xlam", "pptm", "potm", "ppsm", "ppam", "sldm"];

fn is_program(head: &[u8]) -> bool {
    PROGRAMS.iter().any(|start| head.starts_with(start))
}

/// What follows the last dot of a name, in small letters; nothing when that is no ending.
fn ending(name: &str) -> String {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let plain =
        (1..=5).contains(&ending.len()) && ending.bytes().all(|b| b.is_ascii_alphanumeric());
    if plain { ending.to_ascii_lowercase() } else { String::new() }
}

/// True when a name of this ending can stand over such a file. Phones mix up the kinds of
/// pictures, so any picture may bear any picture's name; an ending that says nothing fits all.
fn fits(form: Form, ending: &str) -> bool {
    let meant = match ending {
        "pdf" => form == Form::Pdf,
        "jpg" | "jpeg" | "jpe" | "jfif" | "png" | "gif" | "webp" | "heic" | "heif" | "avif"
        | "tif" | "tiff" | "bmp" => form.is_picture(),
        "docx" | "xlsx" | "pptx" | "odt" | "ods" | "odp" => ending == form.ending(),
        "txt" | "text" | "md" | "csv" | "tsv" | "xml" => {
            matches!(form, Form::Text | Form::Csv | Form::Xml)
        }
        "doc" | "xls" | "ppt" | "zip" | "html" | "htm" | "svg" | "rtf" | "eml" | "mp4" | "mov" => {
            false
        }
        _ => true,
    };
    meant && (form != Form::Text || !ending.is_empty())
}

/// Up to `most` bytes from a place.
fn piece(file: &mut (impl Read + Seek), at: u64, most: usize) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(at))?;
    let mut bytes = Vec::with_capacity(most);
    file.take(most as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The last bytes of a file.
fn tail(file: &mut (impl Read + Seek), size: u64, most: usize) -> io::Result<Vec<u8>> {
    piece(file, size.saturating_sub(most as u64), most)
}

/// Runs over a whole file in pieces that overlap, until one of them gives something.
fn search<T>(
    file: &mut (impl Read + Seek),
    overlap: usize,
    mut found: impl FnMut(&[u8]) -> Option<T>,
) -> io::Result<Option<T>> {
    const STEP: usize = 64 * 1024;
    file.seek(SeekFrom::Start(0))?;
    let mut window: Vec<u8> = Vec::with_capacity(STEP + overlap);
    loop {
        let read = file.by_ref().take(STEP as u64).read_to_end(&mut window)?;
        if read == 0 {
            return Ok(None);
        }
        if let Some(answer) = found(&window) {
            return Ok(Some(answer));
        }
        let keep = window.len().min(overlap);
        window.drain(..window.len() - keep);
    }
}

fn finds(file: &mut (impl Read + Seek), needle: &[u8]) -> io::Result<bool> {
    let finder = memchr::memmem::Finder::new(needle);
    let hit = search(file, needle.len() - 1, |window| finder.find(window))?;
    Ok(hit.is_some())
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

#[cfg(test)]
mod tests;
