//! Detects a file's format by its magic number.

/// A PDF's mark may stand behind so many other bytes.
const PDF_MARK_WITHIN: usize = 1_024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Empty,
    Pdf,
    /// A picture that can be decoded.
    Picture,
    /// A picture that is known by its mark alone.
    UnknownPicture,
    Xml,
    Text,
    Unknown,
}

pub fn format(bytes: &[u8]) -> Format {
    if bytes.is_empty() {
        return Format::Empty;
    }
    let start = &bytes[..bytes.len().min(PDF_MARK_WITHIN)];
    if start.windows(5).any(|five| five == b"%PDF-") {
        return Format::Pdf;
    }
    if is_picture(bytes) {
        return Format::Picture;
    }
    if is_unknown_picture(bytes) {
        return Format::UnknownPicture;
    }
    if start.contains(&0) && !is_utf16(bytes) {
        return Format::Unknown;
    }
    let text = String::from_utf8_lossy(start);
    match text.trim_start_matches('\u{feff}').trim_start() {
        text if text.starts_with("<?xml") || text.starts_with("<rsm:") => Format::Xml,
        text if text.starts_with('<') && text.contains("xmlns") => Format::Xml,
        _ => Format::Text,
    }
}

fn is_picture(bytes: &[u8]) -> bool {
    let marks: [&[u8]; 7] =
        [b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF87a", b"GIF89a", b"II*\0", b"MM\0*", b"BM"];
    let is_webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
    is_webp || marks.iter().any(|mark| bytes.starts_with(mark))
}

/// HEIC and AVIF, which phones make.
fn is_unknown_picture(bytes: &[u8]) -> bool {
    let brands: [&[u8]; 6] = [b"heic", b"heix", b"mif1", b"msf1", b"avif", b"heif"];
    bytes.get(4..8) == Some(b"ftyp") && bytes.get(8..12).is_some_and(|b| brands.contains(&b))
}

fn is_utf16(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_what_its_first_bytes_say() {
        for (bytes, expected) in [
            (&b""[..], Format::Empty),
            (b"%PDF-1.7\n", Format::Pdf),
            (b"\n\njunk %PDF-1.4", Format::Pdf),
            (b"\xff\xd8\xff\xe0", Format::Picture),
            (b"RIFF\0\0\0\0WEBPVP8 ", Format::Picture),
            (b"\0\0\0\x18ftypheic", Format::UnknownPicture),
            (b"\xef\xbb\xbf<?xml version='1.0'?>", Format::Xml),
            (b"  <Invoice xmlns='x'>", Format::Xml),
            (b"Invoice 12", Format::Text),
            (b"PK\x03\x04\0\0", Format::Unknown),
        ] {
            assert_eq!(format(bytes), expected, "{:?}", String::from_utf8_lossy(bytes));
        }
    }
}
