//! Checks of uploaded files: the real format, whether it can be read, and whether it may be
//! harmful. Pure functions over bytes; nothing is unpacked and nothing is run.
//!
//! Taken are PDF, pictures (JPEG, PNG, GIF, WebP, HEIF and AVIF, TIFF), Office files of the formats
//! since 2007 and OpenDocument files without macros, plain text, CSV and XML.
//!
//! Customers read the texts of this folder.

mod pdf;
mod pictures;
mod text;
mod zip;

use std::io::{self, Read, Seek, SeekFrom};

use base::limits::{UPLOAD_BYTES, megabytes};

/// Bytes from the start that identify a file's format.
const HEAD_BYTES: usize = 4 * 1024;

/// A file's format, detected from its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
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

impl FileFormat {
    pub fn content_type(self) -> &'static str {
        match self {
            FileFormat::Pdf => "application/pdf",
            FileFormat::Jpeg => "image/jpeg",
            FileFormat::Png => "image/png",
            FileFormat::Gif => "image/gif",
            FileFormat::Webp => "image/webp",
            FileFormat::Heif => "image/heif",
            FileFormat::Avif => "image/avif",
            FileFormat::Tiff => "image/tiff",
            FileFormat::Docx => {
                "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
            }
            FileFormat::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            FileFormat::Pptx => {
                "application/vnd.openxmlformats-officedocument.presentationml.presentation"
            }
            FileFormat::Odt => "application/vnd.oasis.opendocument.text",
            FileFormat::Ods => "application/vnd.oasis.opendocument.spreadsheet",
            FileFormat::Odp => "application/vnd.oasis.opendocument.presentation",
            FileFormat::Text => "text/plain",
            FileFormat::Csv => "text/csv",
            FileFormat::Xml => "application/xml",
        }
    }

    /// How the name of such a file ends.
    pub fn ending(self) -> &'static str {
        match self {
            FileFormat::Pdf => "pdf",
            FileFormat::Jpeg => "jpg",
            FileFormat::Png => "png",
            FileFormat::Gif => "gif",
            FileFormat::Webp => "webp",
            FileFormat::Heif => "heic",
            FileFormat::Avif => "avif",
            FileFormat::Tiff => "tiff",
            FileFormat::Docx => "docx",
            FileFormat::Xlsx => "xlsx",
            FileFormat::Pptx => "pptx",
            FileFormat::Odt => "odt",
            FileFormat::Ods => "ods",
            FileFormat::Odp => "odp",
            FileFormat::Text => "txt",
            FileFormat::Csv => "csv",
            FileFormat::Xml => "xml",
        }
    }

    /// The format's name in messages to customers.
    fn words(self) -> &'static str {
        match self {
            FileFormat::Pdf => "a PDF",
            form if form.is_picture() => "a picture",
            FileFormat::Docx | FileFormat::Odt => "a text document",
            FileFormat::Xlsx | FileFormat::Ods | FileFormat::Csv => "a table",
            FileFormat::Pptx | FileFormat::Odp => "a presentation",
            _ => "a plain text",
        }
    }

    pub fn is_picture(self) -> bool {
        matches!(
            self,
            FileFormat::Jpeg
                | FileFormat::Png
                | FileFormat::Gif
                | FileFormat::Webp
                | FileFormat::Heif
                | FileFormat::Avif
                | FileFormat::Tiff
        )
    }
}

/// Why a file is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileRefusal {
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
    /// Its name's extension does not match its bytes.
    Misnamed(FileFormat),
    Infected,
}

impl FileRefusal {
    /// The message to the customer: what is wrong, and what to do.
    pub fn sentence(self) -> String {
        let fixed = match self {
            FileRefusal::Empty => {
                "This file is empty. Look at it on your device and choose it again."
            }
            FileRefusal::TooLarge => {
                return format!(
                    "This file is larger than {} MB. Save it smaller, or as several files, and add \
                     those.",
                    megabytes(UPLOAD_BYTES)
                );
            }
            FileRefusal::Unknown => {
                "We cannot open this kind of file. Save it as a PDF, or take a photo of it."
            }
            FileRefusal::Program => {
                "This is a program or a script, which we never take. Add the paper as a PDF or a photo."
            }
            FileRefusal::WebPage => {
                "This is a web page, which we cannot take. Print it to a PDF and add that."
            }
            FileRefusal::Archive => {
                "This is a packed folder. Unpack it and add the files in it one by one."
            }
            FileRefusal::OldOffice => {
                "This is an Office file of an old format. Save it as a PDF, or as .docx or .xlsx, and add that."
            }
            FileRefusal::Locked => {
                "This file is locked with a password. Save or print it as a PDF without one and add that."
            }
            FileRefusal::Macros => {
                "This file has macros in it, which we never take. Save it as a PDF and add that."
            }
            FileRefusal::Damaged => {
                "This file is damaged or not complete. Open it on your device, save it anew and add that."
            }
            FileRefusal::Misnamed(form) => {
                return format!(
                    "By its name this is something else, but it really is {}. Save it again with a \
                     name that ends in .{} and add that.",
                    form.words(),
                    form.ending()
                );
            }
            FileRefusal::Infected => {
                "Our virus scanner refused this file. Add the paper as a photo, or write to us."
            }
        };
        fixed.to_owned()
    }
}

/// A file's format, or why it is refused. An error is an I/O failure, not a fault of the file.
pub fn look(
    file: &mut (impl Read + Seek),
    size: u64,
    name: &str,
) -> io::Result<Result<FileFormat, FileRefusal>> {
    if size == 0 {
        return Ok(Err(FileRefusal::Empty));
    }
    let head = piece(file, 0, HEAD_BYTES)?;
    let ending = ending(name);
    if PROGRAM_ENDINGS.contains(&ending.as_str()) || is_program(&head) {
        return Ok(Err(FileRefusal::Program));
    }
    if MACRO_ENDINGS.contains(&ending.as_str()) {
        return Ok(Err(FileRefusal::Macros));
    }
    let found = real_form(file, size, &head, &ending)?;
    Ok(found.and_then(|form| match fits(form, &ending) {
        true => Ok(form),
        false => Err(FileRefusal::Misnamed(form)),
    }))
}

fn real_form(
    file: &mut (impl Read + Seek),
    size: u64,
    head: &[u8],
    ending: &str,
) -> io::Result<Result<FileFormat, FileRefusal>> {
    if pdf::is_pdf(head) {
        return Ok(pdf::check(file, size)?.map(|()| FileFormat::Pdf));
    }
    if let Some(form) = pictures::form(head) {
        return Ok(pictures::check(file, size, form)?.map(|()| form));
    }
    if head.starts_with(b"PK\x03\x04") {
        return zip::check(file, size);
    }
    if head.starts_with(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") {
        let locked = finds(file, &utf16("EncryptedPackage"))?;
        return Ok(Err(if locked { FileRefusal::Locked } else { FileRefusal::OldOffice }));
    }
    if ARCHIVES.iter().any(|start| head.starts_with(start)) {
        return Ok(Err(FileRefusal::Archive));
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

/// Magic numbers of executables: Windows, Linux, macOS, Java, Android, scripts, shortcuts.
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

/// The extension in lower case; empty when the name has none.
fn ending(name: &str) -> String {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let plain =
        (1..=5).contains(&ending.len()) && ending.bytes().all(|b| b.is_ascii_alphanumeric());
    if plain { ending.to_ascii_lowercase() } else { String::new() }
}

/// True when this extension is allowed for the format. Phones mix up picture formats, so any
/// picture extension fits any picture; an unknown extension fits all.
fn fits(form: FileFormat, ending: &str) -> bool {
    let meant = match ending {
        "pdf" => form == FileFormat::Pdf,
        "jpg" | "jpeg" | "jpe" | "jfif" | "png" | "gif" | "webp" | "heic" | "heif" | "avif"
        | "tif" | "tiff" | "bmp" => form.is_picture(),
        "docx" | "xlsx" | "pptx" | "odt" | "ods" | "odp" => ending == form.ending(),
        "txt" | "text" | "md" | "csv" | "tsv" | "xml" => {
            matches!(form, FileFormat::Text | FileFormat::Csv | FileFormat::Xml)
        }
        "doc" | "xls" | "ppt" | "zip" | "html" | "htm" | "svg" | "rtf" | "eml" | "mp4" | "mov" => {
            false
        }
        _ => true,
    };
    meant && (form != FileFormat::Text || !ending.is_empty())
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
