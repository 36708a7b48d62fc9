//! Checks of plain text, tables and XML.

use std::io::{self, Read, Seek};

use crate::documents::file_checks::{FileFormat, FileRefusal, search};

/// Plain text, a table or XML; never a page that a browser would run.
pub fn check(
    file: &mut (impl Read + Seek),
    head: &[u8],
    ending: &str,
) -> io::Result<Result<FileFormat, FileRefusal>> {
    let odd = |b: &u8| *b < 0x20 && !b"\t\n\r\x0c\x1b".contains(b);
    if search(file, 0, |window| window.iter().any(odd).then_some(()))?.is_some() {
        return Ok(Err(FileRefusal::Unknown));
    }
    let text = String::from_utf8_lossy(head).to_lowercase();
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with("{\\rtf") {
        return Ok(Err(FileRefusal::Unknown));
    }
    if text.starts_with('<') {
        return Ok(markup(text));
    }
    Ok(match ending {
        "csv" | "tsv" => Ok(FileFormat::Csv),
        "txt" | "text" | "md" => Ok(FileFormat::Text),
        "html" | "htm" | "svg" | "xhtml" => Err(FileRefusal::WebPage),
        _ => Err(FileRefusal::Unknown),
    })
}

/// XML whose first element is data, with no sheet that a browser would run over it.
fn markup(text: &str) -> Result<FileFormat, FileRefusal> {
    let root = root(text).ok_or(FileRefusal::WebPage)?;
    let local = root.rsplit(':').next().unwrap_or(root);
    let shown = ["html", "svg", "script", "body", "head", "math", "xsl", "stylesheet", "transform"];
    let is_page = shown.contains(&local)
        || text.contains("<?xml-stylesheet")
        || text.contains("<!entity")
        || !text.starts_with("<?xml");
    if is_page { Err(FileRefusal::WebPage) } else { Ok(FileFormat::Xml) }
}

/// The name of the first element, behind declarations and comments.
fn root(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        rest = rest.trim_start().strip_prefix('<')?;
        if rest.starts_with("!doctype html") {
            return Some("html");
        }
        let end = match rest {
            rest if rest.starts_with("!--") => rest.find("-->")? + 2,
            rest if rest.starts_with(['?', '!']) => rest.find('>')?,
            _ => return rest.split([' ', '>', '/', '\t', '\r', '\n']).next(),
        };
        rest = &rest[end + 1..];
    }
}
