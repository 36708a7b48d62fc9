//! mbox files: one mail after the other, each behind a line that begins with `From ` (RFC 4155).
//! Lines of a mail that would look like that have `>` in front, which is taken off again.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// How a mail begins.
const SEPARATOR: &[u8] = b"From ";

/// A mail in an mbox: where it begins behind its separator, its bytes, and the start of its header.
pub struct MboxPart {
    pub offset: u64,
    pub bytes: u64,
    pub header: Vec<u8>,
}

/// True when a file is an mbox.
pub fn is_mbox(path: &Path) -> io::Result<bool> {
    let mut start = [0; 5];
    let mut file = File::open(path)?;
    Ok(file.read_exact(&mut start).is_ok() && start == SEPARATOR)
}

/// The mails of an mbox, found in one pass. Of each header, up to `header_bytes` are read.
pub fn parts(path: &Path, header_bytes: usize) -> io::Result<Vec<MboxPart>> {
    let mut input = BufReader::with_capacity(1024 * 1024, File::open(path)?);
    let (mut parts, mut line) = (Vec::<MboxPart>::new(), Vec::new());
    let (mut offset, mut after_blank, mut in_header) = (0, true, false);
    loop {
        line.clear();
        let read = input.read_until(b'\n', &mut line)? as u64;
        if read == 0 {
            return Ok(parts);
        }
        offset += read;
        let is_blank = matches!(line.as_slice(), b"\n" | b"\r\n");
        if after_blank && line.starts_with(SEPARATOR) {
            parts.push(MboxPart { offset, bytes: 0, header: Vec::new() });
            in_header = true;
        } else if let Some(part) = parts.last_mut() {
            part.bytes = offset - part.offset;
            in_header &= !is_blank;
            if in_header && part.header.len() + line.len() <= header_bytes {
                part.header.extend_from_slice(&line);
            }
        }
        after_blank = is_blank;
    }
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
                    From no separator, for want of a blank line\n\n\
                    From b@x Mon Jan  1 00:00:00 2024\r\nSubject: Two\r\n\r\nBye\r\n";
        std::fs::write(&path, text).unwrap();
        assert!(is_mbox(&path).unwrap());
        let parts = parts(&path, 1_000).unwrap();
        let headers: Vec<&[u8]> = parts.iter().map(|part| part.header.as_slice()).collect();
        assert_eq!(headers, [&b"Subject: One\n"[..], b"Subject: Two\r\n"]);
        let mails: Vec<String> = parts
            .iter()
            .map(|part| read_part(&path, part.offset, part.bytes).unwrap())
            .map(|raw| String::from_utf8(raw).unwrap())
            .collect();
        assert_eq!(
            mails[0],
            "Subject: One\n\nHello\nFrom here\n>From there\n\
             From no separator, for want of a blank line\n\n"
        );
        assert_eq!(mails[1], "Subject: Two\r\n\r\nBye\r\n");
    }
}
