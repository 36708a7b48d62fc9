//! Pictures within the text of a mail that lie with the help desk. They become parts of the mail, because
//! the help desk will not be there for ever.

use std::ops::Range;

use super::conversation::{DeskFile, DeskPicture};

/// Pictures of one mail.
const PICTURES: usize = 100;

/// The pictures of a page that `file` knows by their address, each once.
pub fn pictures(html: &str, file: impl Fn(&str) -> Option<DeskFile>) -> Vec<DeskPicture> {
    let mut found: Vec<DeskPicture> = Vec::new();
    for place in sources(html) {
        let written = &html[place];
        if found.len() == PICTURES || found.iter().any(|known| known.written == written) {
            continue;
        }
        if let Some(file) = file(&written.replace("&amp;", "&")) {
            found.push(DeskPicture { written: written.to_owned(), file });
        }
    }
    found
}

/// A page whose pictures have other addresses, where `address` gives one for what is written.
pub fn with_addresses(html: &str, address: impl Fn(&str) -> Option<String>) -> String {
    let (mut page, mut at) = (String::with_capacity(html.len()), 0);
    for place in sources(html) {
        if place.start < at {
            continue;
        }
        let Some(new) = address(&html[place.clone()]) else { continue };
        page.push_str(&html[at..place.start]);
        page.push_str(&new);
        at = place.end;
    }
    page.push_str(&html[at..]);
    page
}

/// What kind of picture these bytes are, of those that browsers show.
pub fn picture_type(bytes: &[u8]) -> &'static str {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => "image/png",
        [0xff, 0xd8, 0xff, ..] => "image/jpeg",
        [b'G', b'I', b'F', b'8', ..] => "image/gif",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "image/webp",
        _ => "application/octet-stream",
    }
}

/// Where the values of `src` of pictures stand in a page.
fn sources(html: &str) -> Vec<Range<usize>> {
    let page = html.to_ascii_lowercase();
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(start) = page[at..].find("<img").map(|place| at + place + "<img".len()) {
        let end = page[start..].find('>').map_or(page.len(), |place| start + place);
        let tag = &page[start..end];
        // Nothing is looked for inside a value without quotes, which may be the rest of the tag.
        let mut taken = start;
        let named = tag.match_indices("src").filter_map(|(place, name)| {
            if start + place < taken {
                return None;
            }
            let before = tag[..place].chars().next_back()?;
            let is_name = before.is_ascii_whitespace() || matches!(before, '"' | '\'' | '/');
            let value = tag[place + name.len()..].trim_start().strip_prefix('=')?.trim_start();
            let found = if is_name { inside(value, end) } else { None }?;
            if !value.starts_with(['"', '\'']) {
                taken = found.end;
            }
            Some(found)
        });
        found.extend(named);
        at = end;
    }
    found
}

/// Where the value lies that a tag goes on with, which ends at `end`.
fn inside(value: &str, end: usize) -> Option<Range<usize>> {
    let start = end - value.len();
    match value.chars().next()? {
        quote @ ('"' | '\'') => {
            let length = value[1..].find(quote)?;
            Some(start + 1..start + 1 + length)
        }
        _ => {
            let length = value.find(|c: char| c.is_ascii_whitespace()).unwrap_or(value.len());
            Some(start..start + length)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::conversation::FileEncoding;
    use super::*;

    fn own(address: &str) -> Option<DeskFile> {
        let id = address.strip_prefix("/file/")?;
        Some(DeskFile {
            name: id.to_owned(),
            content_type: "image/png".to_owned(),
            address: address.to_owned(),
            saved_as: format!("files/{id}"),
            encoding: FileEncoding::Plain,
        })
    }

    #[test]
    fn the_pictures_of_a_page_are_found_once_and_get_other_addresses() {
        let page = "<p>É <IMG alt='src of \"all\"' width=3\n SRC = \"/file/3?a=1&amp;b=2\">\
                    <img src='/file/31'><img data-src=\"/file/4\" src=/file/3 ><img src=\"/file/31\"/>\
                    <img src=\"https://x.example/1.png\"><script src=\"/file/5\"></script><img";
        let found = pictures(page, own);
        let found: Vec<(&str, &str)> =
            found.iter().map(|one| (one.written.as_str(), one.file.name.as_str())).collect();
        let expected = [("/file/3?a=1&amp;b=2", "3?a=1&b=2"), ("/file/31", "31"), ("/file/3", "3")];
        assert_eq!(found, expected);
        let changed =
            with_addresses(page, |written| (written == "/file/3").then(|| "cid:3".to_owned()));
        assert_eq!(changed, page.replace("src=/file/3 >", "src=cid:3 >"));
        assert_eq!(with_addresses("<img src=\"a", |_| Some("b".into())), "<img src=\"a");
    }

    #[test]
    fn pictures_are_told_by_their_first_bytes() {
        assert_eq!(picture_type(b"\x89PNG\r\n"), "image/png");
        assert_eq!(picture_type(b"GIF89a"), "image/gif");
        assert_eq!(picture_type(b"RIFF....WEBPVP8"), "image/webp");
        assert_eq!(picture_type(b"\xff\xd8\xff\xe0"), "image/jpeg");
        assert_eq!(picture_type(b"<svg>"), "application/octet-stream");
    }
}
