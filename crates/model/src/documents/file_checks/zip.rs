//! Office files are ZIP archives: the central directory shows the format, encryption and macros.
//! Nothing is unpacked.

use std::io::{self, Read, Seek};

use memchr::memmem;

use crate::documents::file_checks::{FileFormat, FileRefusal, piece, tail};

/// The end of the list stands within this many bytes of the file's end.
const END_WITHIN: usize = 66 * 1024;
/// The longest list that is read, in bytes.
const LIST_BYTES: usize = 4 * 1024 * 1024;
const ENTRY_BYTES: usize = 46;

struct Entry {
    name: String,
    locked: bool,
    packed: bool,
    at: u64,
}

pub fn check(
    file: &mut (impl Read + Seek),
    size: u64,
) -> io::Result<Result<FileFormat, FileRefusal>> {
    let Some(entries) = entries(file, size)? else { return Ok(Err(FileRefusal::Damaged)) };
    if entries.iter().any(|entry| entry.locked || entry.name == "encrypted-package") {
        return Ok(Err(FileRefusal::Locked));
    }
    let has = |name: &str| entries.iter().any(|entry| entry.name == name);
    let form = match () {
        () if has("[content_types].xml") && has("word/document.xml") => FileFormat::Docx,
        () if has("[content_types].xml") && has("xl/workbook.xml") => FileFormat::Xlsx,
        () if has("[content_types].xml") && has("ppt/presentation.xml") => FileFormat::Pptx,
        () if has("mimetype") && has("content.xml") => match open_document(file)? {
            Some(form) => form,
            None => return Ok(Err(FileRefusal::Unknown)),
        },
        () => return Ok(Err(FileRefusal::Archive)),
    };
    if entries.iter().any(|entry| is_macro(&entry.name)) {
        return Ok(Err(FileRefusal::Macros));
    }
    if let Some(content) = entries.iter().find(|entry| entry.name == "content.xml")
        && !content.packed
        && !starts_as_xml(file, content)?
    {
        return Ok(Err(FileRefusal::Locked));
    }
    Ok(Ok(form))
}

/// The list at the end of a packed folder; `None` when there is no whole one.
fn entries(file: &mut (impl Read + Seek), size: u64) -> io::Result<Option<Vec<Entry>>> {
    let end = tail(file, size, END_WITHIN)?;
    let Some(at) = memmem::rfind(&end, b"PK\x05\x06") else { return Ok(None) };
    let (Some(count), Some(bytes), Some(start)) =
        (u16_at(&end, at + 10), u32_at(&end, at + 12), u32_at(&end, at + 16))
    else {
        return Ok(None);
    };
    if bytes as usize > LIST_BYTES || u64::from(start) + u64::from(bytes) > size {
        return Ok(None);
    }
    let list = piece(file, u64::from(start), bytes as usize)?;
    let mut entries = Vec::with_capacity(usize::from(count));
    let mut at = 0;
    for _ in 0..count {
        let Some(entry) = entry(&list, at) else { return Ok(None) };
        entries.push(entry.0);
        at = entry.1;
    }
    Ok(Some(entries))
}

/// The entry at a place of the list, and the place of the next one.
fn entry(list: &[u8], at: usize) -> Option<(Entry, usize)> {
    if list.get(at..at + 4)? != b"PK\x01\x02" {
        return None;
    }
    let flags = u16_at(list, at + 8)?;
    let method = u16_at(list, at + 10)?;
    let long = |place| u16_at(list, at + place).map(usize::from);
    let (name, extra, comment) = (long(28)?, long(30)?, long(32)?);
    let place = u32_at(list, at + 42)?;
    let name_at = at + ENTRY_BYTES;
    let bytes = list.get(name_at..name_at + name)?;
    let entry = Entry {
        name: String::from_utf8_lossy(bytes).replace('\\', "/").to_lowercase(),
        locked: flags & 1 == 1,
        packed: method != 0,
        at: u64::from(place),
    };
    Some((entry, name_at + name + extra + comment))
}

/// The content of the first entry, `mimetype`, which is stored uncompressed.
fn open_document(file: &mut (impl Read + Seek)) -> io::Result<Option<FileFormat>> {
    let head = piece(file, 0, 256)?;
    let forms = [FileFormat::Odt, FileFormat::Ods, FileFormat::Odp];
    let says = |form: &&FileFormat| {
        let kind = form.content_type().as_bytes();
        head.get(38..38 + kind.len()) == Some(kind)
            && head.get(38 + kind.len()).is_none_or(|next| *next == b'P')
    };
    Ok(forms.iter().find(says).copied())
}

fn is_macro(name: &str) -> bool {
    name.ends_with("vbaproject.bin")
        || name.ends_with("vbadata.xml")
        || name.contains("/macrosheets/")
        || name.contains("/activex/")
        || name.starts_with("basic/")
        || name.starts_with("scripts/")
}

/// A locked OpenDocument file keeps its text unpacked and unreadable.
fn starts_as_xml(file: &mut (impl Read + Seek), entry: &Entry) -> io::Result<bool> {
    let head = piece(file, entry.at, 30)?;
    let (Some(name), Some(extra)) = (u16_at(&head, 26), u16_at(&head, 28)) else {
        return Ok(false);
    };
    let start = piece(file, entry.at + 30 + u64::from(name) + u64::from(extra), 4)?;
    Ok(start.starts_with(b"<") || start.starts_with(b"\xef\xbb\xbf<"))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let two = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_le_bytes([two[0], two[1]]))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
}
