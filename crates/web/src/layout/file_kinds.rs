//! The kind of a file, in the few letters that people know it by.

use crate::layout::wording::size;

/// Characters that a kind has at most; a longer ending of a name is a part of the name.
const KIND_CHARS: usize = 5;

/// Types whose name is not what people call such a file.
const NAMES: &[(&str, &str)] = &[
    ("text/plain", "TXT"),
    ("text/calendar", "ICS"),
    ("text/markdown", "MD"),
    ("image/jpeg", "JPG"),
    ("image/svg+xml", "SVG"),
    ("audio/mpeg", "MP3"),
    ("video/quicktime", "MOV"),
    ("application/msword", "DOC"),
    ("application/vnd.ms-excel", "XLS"),
    ("application/vnd.ms-powerpoint", "PPT"),
    ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "DOCX"),
    ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "XLSX"),
    ("application/vnd.openxmlformats-officedocument.presentationml.presentation", "PPTX"),
    ("application/vnd.oasis.opendocument.text", "ODT"),
    ("application/vnd.oasis.opendocument.spreadsheet", "ODS"),
    ("application/vnd.oasis.opendocument.presentation", "ODP"),
];

/// `PDF, 212 KB`; only the size of a file that says nothing of its kind.
pub fn kind_and_size(filename: &str, content_type: &str, bytes: i64) -> String {
    match kind(filename, content_type) {
        Some(kind) => format!("{kind}, {}", size(bytes)),
        None => size(bytes),
    }
}

/// The ending of the name, or else what the type is called.
fn kind(filename: &str, content_type: &str) -> Option<String> {
    let ending = filename.rsplit_once('.').filter(|(stem, _)| !stem.is_empty());
    let (_, of_type) = content_type.rsplit_once('/').unwrap_or_default();
    let of_type = of_type.strip_prefix("x-").unwrap_or(of_type);
    let named = NAMES.iter().find(|(known, _)| *known == content_type).map(|(_, name)| *name);
    let known = [ending.map(|(_, ending)| ending), named, Some(of_type)];
    let short = known.into_iter().flatten().find(|kind| is_kind(kind))?;
    Some(short.to_ascii_uppercase())
}

/// Short, of letters and digits, and no number.
fn is_kind(text: &str) -> bool {
    (1..=KIND_CHARS).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric())
        && text.bytes().any(|b| b.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_called_by_its_ending_or_its_type() {
        for (filename, content_type, expected) in [
            ("notes.txt", "text/plain", Some("TXT")),
            ("notes", "text/plain", Some("TXT")),
            ("photo.JPeg", "image/jpeg", Some("JPEG")),
            ("photo", "image/jpeg", Some("JPG")),
            ("return.2026", "application/pdf", Some("PDF")),
            ("the end. Really", "text/csv", Some("CSV")),
            (".profile", "application/octet-stream", None),
            ("setup.exe", "application/pdf", Some("EXE")),
            ("sheet", "application/vnd.ms-excel", Some("XLS")),
            ("a", "application/x-gzip", Some("GZIP")),
            ("a", "", None),
        ] {
            let found = kind(filename, content_type);
            assert_eq!(found.as_deref(), expected, "{filename} {content_type}");
        }
        assert_eq!(kind_and_size("notes.txt", "text/plain", 2_048), "TXT, 2 KB");
        assert_eq!(kind_and_size("notes", "", 12), "12 bytes");
    }
}
