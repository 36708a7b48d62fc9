//! mbox files: one mail after the other, each behind a line that begins with `From ` (RFC 4155).
//! Lines of a mail that would look like that have `>` in front, which is taken off again.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// How a mail begins.
const SEPARATOR: &[u8] = b"From ";

/// Bytes of a line that are read at once.
const LINE_BYTES: u64 = 64 * 1024;

/// A mail in an mbox: where it begins behind its separator, and its bytes.
pub struct MboxPart {
    pub offset: u64,
    pub bytes: u64,
}

/// True when a file is an mbox.
pub fn is_mbox(path: &Path) -> io::Result<bool> {
    let mut start = [0; 5];
    let mut file = File::open(path)?;
    Ok(file.read_exact(&mut start).is_ok() && start == SEPARATOR)
}

/// Shows the mails of an mbox, found in one pass, each with up to `header_bytes` of its header.
pub fn each_part(
    path: &Path,
    header_bytes: usize,
    see: &mut dyn FnMut(&MboxPart, &[u8]),
) -> io::Result<()> {
    let mut input = BufReader::with_capacity(1024 * 1024, File::open(path)?);
    let (mut line, mut header, mut part) = (Vec::new(), Vec::new(), None::<MboxPart>);
    let (mut offset, mut begins, mut after_blank, mut in_header) = (0, true, true, false);
    loop {
        line.clear();
        let read = input.by_ref().take(LINE_BYTES).read_until(b'\n', &mut line)? as u64;
        if read == 0 {
            break;
        }
        let (is_first, is_start) = (offset == 0, begins);
        begins = line.ends_with(b"\n");
        offset += read;
        let is_blank = is_start && matches!(line.as_slice(), b"\n" | b"\r\n");
        if is_start && after_blank && is_separator(&line, is_first) {
            if let Some(part) = part.replace(MboxPart { offset, bytes: 0 }) {
                see(&part, &header);
            }
            header.clear();
            in_header = true;
        } else if let Some(part) = &mut part {
            part.bytes = offset - part.offset;
            in_header &= !is_blank;
            if in_header && header.len() + line.len() <= header_bytes {
                header.extend_from_slice(&line);
            }
        }
        after_blank = is_blank;
    }
    if let Some(part) = part {
        see(&part, &header);
    }
    Ok(())
}

/// True for a line in front of a mail. It ends in a date, which a sentence that begins so has not; the
/// first line of a file needs none.
fn is_separator(line: &[u8], is_first: bool) -> bool {
    if !line.starts_with(SEPARATOR) {
        return false;
    }
    let words = || line.split(|byte| byte.is_ascii_whitespace());
    let is_digits = |part: &[u8]| part.len() == 2 && part.iter().all(u8::is_ascii_digit);
    let is_time = |word: &[u8]| {
        let mut parts = word.split(|byte| *byte == b':');
        parts.by_ref().take(2).filter(|part| is_digits(part)).count() == 2 && parts.all(is_digits)
    };
    let is_year = |word: &[u8]| {
        let is_near = word.starts_with(b"19") || word.starts_with(b"20");
        word.len() == 4 && is_near && word.iter().all(u8::is_ascii_digit)
    };
    is_first || (words().any(is_time) && words().any(is_year))
}

/// One mail as it was before it was put into the mbox.
pub fn read_part(path: &Path, offset: u64, bytes: u64) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut stored = Vec::new();
    file.take(bytes).read_to_end(&mut stored)?;
    let mut raw = Vec::with_capacity(stored.len());
    for line in stored.split_inclusive(|byte| *byte == b'\n') {
        let quotes = line.iter().take_while(|byte| **byte == b'>').count();
        let is_quoted = quotes > 0 && line[quotes..].starts_with(SEPARATOR);
        raw.extend_from_slice(if is_quoted { &line[1..] } else { line });
    }
    Ok(raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mails_are_told_apart_and_their_lines_restored() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mbox");
        let text = "From a@x Mon Jan  1 00:00:00 2024\nSubject: One\n\nHello\n>From here\n>>From there\n\
                    From no separator, for want of a blank line\n\nFrom 2024 on it is 10 days\n\n\
                    From b@x Mon Jan  1 00:00:00 2024\r\nSubject: Two\r\n\r\nBye\r\n";
        std::fs::write(&path, text).unwrap();
        assert!(is_mbox(&path).unwrap());
        let (mut parts, mut headers) = (Vec::new(), Vec::new());
        each_part(&path, 1_000, &mut |part, header| {
            parts.push((part.offset, part.bytes));
            headers.push(String::from_utf8(header.to_vec()).unwrap());
        })
        .unwrap();
        assert_eq!(headers, ["Subject: One\n", "Subject: Two\r\n"]);
        let mails: Vec<String> = parts
            .iter()
            .map(|(offset, bytes)| read_part(&path, *offset, *bytes).unwrap())
            .map(|raw| String::from_utf8(raw).unwrap())
            .collect();
        assert_eq!(
            mails[0],
            "Subject: One\n\nHello\nFrom here\n>From there\n\
             From no separator, for want of a blank line\n\nFrom 2024 on it is 10 days\n\n"
        );
        assert_eq!(mails[1], "Subject: Two\r\n\r\nBye\r\n");
    }
}
