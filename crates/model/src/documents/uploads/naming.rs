//! Safe names for uploaded files.

use base::limits::UPLOAD_NAME_CHARS;

/// A customer's file name without folders, control characters and marks that turn text around;
/// never empty, never hidden.
pub fn safe_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let plain = last.chars().filter(|c| !c.is_control() && !turns_text(*c));
    let plain: String = plain.map(|c| if "<>:\"|?*".contains(c) { '_' } else { c }).collect();
    let plain = plain.trim().trim_start_matches('.').trim();
    let (stem, ending) = match plain.rsplit_once('.') {
        Some((stem, ending)) if ending.chars().count() <= 10 => (stem, format!(".{ending}")),
        _ => (plain, String::new()),
    };
    let room = UPLOAD_NAME_CHARS - ending.chars().count();
    let stem: String = stem.chars().take(room).collect();
    let name = format!("{}{ending}", stem.trim_end());
    if name.is_empty() { "file".into() } else { name }
}

/// Characters that are not seen and can make `fdp.exe` look like `exe.pdf`.
fn turns_text(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_only_a_name() {
        for (given, kept) in [
            ("invoice.pdf", "invoice.pdf"),
            ("../../etc/passwd", "passwd"),
            ("C:\\Users\\ann\\scan 1.jpg", "scan 1.jpg"),
            ("..", "file"),
            (".htaccess", "htaccess"),
            ("", "file"),
            ("a\0b\r\nc.pdf", "abc.pdf"),
            ("bill\u{202e}fdp.exe", "billfdp.exe"),
            ("Rechnung Nr. 7: \"Juli\".pdf", "Rechnung Nr. 7_ _Juli_.pdf"),
            ("/", "file"),
            ("请求书.pdf", "请求书.pdf"),
        ] {
            assert_eq!(safe_name(given), kept, "{given:?}");
        }
        let long = safe_name(&format!("{}.pdf", "é".repeat(400)));
        assert_eq!(long.chars().count(), UPLOAD_NAME_CHARS);
        assert!(long.ends_with("é.pdf"));
    }
}
