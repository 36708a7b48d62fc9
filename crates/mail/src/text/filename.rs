//! Safe names for attached files.

use crate::limits::FILENAME_CHARS;
use crate::text::clean::clean_line;

/// Types of files with the ending of their names, the usual ones first.
const ENDINGS: &[(&str, &str)] = &[
    ("text/plain", "txt"),
    ("text/html", "html"),
    ("text/html", "htm"),
    ("text/calendar", "ics"),
    ("text/csv", "csv"),
    ("text/vcard", "vcf"),
    ("text/x-vcard", "vcf"),
    ("image/jpeg", "jpg"),
    ("image/jpeg", "jpeg"),
    ("image/jpg", "jpg"),
    ("image/png", "png"),
    ("image/gif", "gif"),
    ("image/webp", "webp"),
    ("image/heic", "heic"),
    ("image/svg+xml", "svg"),
    ("image/tiff", "tif"),
    ("image/tiff", "tiff"),
    ("application/pdf", "pdf"),
    ("application/zip", "zip"),
    ("application/json", "json"),
    ("application/xml", "xml"),
    ("text/xml", "xml"),
    ("audio/mpeg", "mp3"),
    ("audio/wav", "wav"),
    ("audio/x-wav", "wav"),
    ("video/mp4", "mp4"),
    ("message/rfc822", "eml"),
    ("message/global", "eml"),
    ("application/msword", "doc"),
    ("application/vnd.ms-excel", "xls"),
    ("application/vnd.ms-powerpoint", "ppt"),
    ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"),
    ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"),
    ("application/vnd.openxmlformats-officedocument.presentationml.presentation", "pptx"),
    ("application/vnd.oasis.opendocument.text", "odt"),
    ("application/vnd.oasis.opendocument.spreadsheet", "ods"),
    ("application/vnd.oasis.opendocument.presentation", "odp"),
];

/// Characters of an ending that is kept when a name is cut.
const ENDING_CHARS: usize = 12;

/// A file name that leads nowhere: no folders, no controls, no tricks of writing direction, no
/// name that a system reserves. A file without one is named by its type and number.
pub fn safe_filename(given: Option<&str>, content_type: &str, number: usize) -> String {
    let given = clean_line(given.unwrap_or_default());
    let last = given.rsplit(['/', '\\']).find(|part| !part.trim().is_empty()).unwrap_or_default();
    let plain: String = last
        .chars()
        .map(|c| if matches!(c, '<' | '>' | ':' | '"' | '|' | '?' | '*') { '_' } else { c })
        .collect();
    let bare = plain.trim_matches(|c: char| c == '.' || c.is_whitespace());
    if bare.is_empty() {
        return default_name(content_type, number);
    }
    let name = cut(bare);
    if is_reserved(&name) { format!("_{name}") } else { name }
}

fn default_name(content_type: &str, number: usize) -> String {
    let known = ENDINGS.iter().find(|(known, _)| *known == content_type);
    let ending = known.map_or("bin", |(_, ending)| *ending);
    let kind = match content_type.split('/').next() {
        Some("image") => "image",
        Some("message") => "message",
        _ => "attachment",
    };
    format!("{kind}-{number}.{ending}")
}

/// The type of a file that only has a name; `None` for an ending that says nothing.
pub(crate) fn type_of_name(name: &str) -> Option<&'static str> {
    let (_, ending) = name.rsplit_once('.')?;
    let known = ENDINGS.iter().find(|(_, known)| known.eq_ignore_ascii_case(ending));
    known.map(|(content_type, _)| *content_type)
}

/// A long name loses its middle, not its ending.
fn cut(name: &str) -> String {
    let chars = name.chars().count();
    if chars <= FILENAME_CHARS {
        return name.to_owned();
    }
    let ending = name.rsplit_once('.').map(|(_, ending)| format!(".{ending}"));
    let ending = ending.filter(|ending| ending.chars().count() <= ENDING_CHARS).unwrap_or_default();
    let kept: String = name.chars().take(FILENAME_CHARS - ending.chars().count()).collect();
    format!("{}{ending}", kept.trim_end())
}

/// Names that mean a device on some systems, whatever their ending.
fn is_reserved(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    matches!(stem.as_str(), "con" | "prn" | "aux" | "nul")
        || (stem.len() == 4
            && (stem.starts_with("com") || stem.starts_with("lpt"))
            && stem.ends_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn safe(name: &str) -> String {
        safe_filename(Some(name), "application/pdf", 1)
    }

    #[test]
    fn a_name_leads_nowhere() {
        assert_eq!(safe("../../etc/passwd"), "passwd");
        assert_eq!(safe("C:\\Temp\\bill.pdf"), "bill.pdf");
        assert_eq!(safe("/bill.pdf/"), "bill.pdf");
        assert_eq!(safe(" .hidden. "), "hidden");
        assert_eq!(safe("a\r\nContent-Type: x\0.pdf"), "a Content-Type_ x .pdf");
        assert_eq!(safe("bill\u{202e}fdp.exe"), "billfdp.exe");
        assert_eq!(safe("con.pdf"), "_con.pdf");
        assert_eq!(safe("LPT1"), "_LPT1");
        assert_eq!(safe("a<b>:c?.pdf"), "a_b__c_.pdf");
    }

    #[test]
    fn a_file_without_a_name_gets_one_by_its_type() {
        assert_eq!(safe(".."), "attachment-1.pdf");
        assert_eq!(safe_filename(None, "image/png", 3), "image-3.png");
        assert_eq!(safe_filename(None, "x/y", 2), "attachment-2.bin");
        assert_eq!(safe_filename(None, "image/jpg", 4), "image-4.jpg");
        assert_eq!(safe_filename(None, "message/global", 5), "message-5.eml");
    }

    #[test]
    fn the_ending_of_a_name_tells_its_type() {
        assert_eq!(type_of_name("Bill.May.PDF"), Some("application/pdf"));
        assert_eq!(type_of_name("photo.jpeg"), Some("image/jpeg"));
        assert_eq!(type_of_name("data.xml"), Some("application/xml"));
        assert_eq!(type_of_name("PART.2"), None);
        assert_eq!(type_of_name("pdf"), None);
    }

    #[test]
    fn a_long_name_keeps_its_ending() {
        let name = safe(&format!("{}.pdf", "ä".repeat(300)));
        assert_eq!(name.chars().count(), FILENAME_CHARS);
        assert!(name.ends_with(".pdf"));
        assert_eq!(safe(&format!("a.{}", "b".repeat(300))).chars().count(), FILENAME_CHARS);
    }
}
