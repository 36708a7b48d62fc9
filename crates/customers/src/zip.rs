//! Writes a ZIP file whose entries are stored as they are (APPNOTE 6.3.9, sections 4.3.7, 4.3.12 and 4.3.16).

use flate2::Crc;

/// 1 January 1980, the first day that the format knows: the download has no times of its own.
const FIRST_DAY: u16 = 0x21;
/// The version that reads stored entries.
const VERSION: u16 = 20;
/// Names are UTF-8 (bit 11).
const FLAGS: u16 = 0x0800;
const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;

/// Entries of a file: their number has sixteen bits.
const MOST_ENTRIES: usize = u16::MAX as usize;

struct Entry {
    name: String,
    crc: u32,
    size: u32,
    offset: u32,
}

/// A ZIP file that is being written.
pub(crate) struct ZipFile {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
}

impl ZipFile {
    pub fn new() -> ZipFile {
        ZipFile { bytes: Vec::new(), entries: Vec::new() }
    }

    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// True while there is room for an entry beside the last one, which says what is in the others.
    pub fn has_room(&self) -> bool {
        self.entries.len() + 1 < MOST_ENTRIES
    }

    /// Adds an entry. Callers stay far below the four gigabytes of the format.
    pub fn add(&mut self, name: &str, bytes: &[u8]) {
        let mut crc = Crc::new();
        crc.update(bytes);
        let entry = Entry {
            name: plain_name(name),
            crc: crc.sum(),
            size: bytes.len() as u32,
            offset: self.bytes.len() as u32,
        };
        self.long(LOCAL);
        self.about(&entry);
        self.bytes.extend_from_slice(entry.name.as_bytes());
        self.bytes.extend_from_slice(bytes);
        self.entries.push(entry);
    }

    pub fn finish(mut self) -> Vec<u8> {
        let begins = self.bytes.len() as u32;
        for entry in std::mem::take(&mut self.entries) {
            self.long(CENTRAL);
            self.short(VERSION);
            self.about(&entry);
            // Comment, disk and attributes.
            for _ in 0..3 {
                self.short(0);
            }
            self.long(0);
            self.long(entry.offset);
            self.bytes.extend_from_slice(entry.name.as_bytes());
            self.entries.push(entry);
        }
        let (count, size) = (self.entries.len() as u16, self.bytes.len() as u32 - begins);
        self.long(END);
        for short in [0, 0, count, count] {
            self.short(short);
        }
        self.long(size);
        self.long(begins);
        self.short(0);
        self.bytes
    }

    /// What both headers of an entry have.
    fn about(&mut self, entry: &Entry) {
        for short in [VERSION, FLAGS, 0, 0, FIRST_DAY] {
            self.short(short);
        }
        for long in [entry.crc, entry.size, entry.size] {
            self.long(long);
        }
        self.short(entry.name.len() as u16);
        self.short(0);
    }

    fn short(&mut self, value: u16) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    fn long(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }
}

/// A name that leads nowhere but into the folder where the file is unpacked.
fn plain_name(name: &str) -> String {
    let part = |part: &str| part.replace(['\\', ':'], "_").replace("..", "_");
    let parts = name.split('/').filter(|part| !part.is_empty()).map(part);
    let parts: Vec<String> = parts.collect();
    parts.join("/").chars().filter(|c| !c.is_control()).take(MOST_NAME).collect()
}

/// Characters of a name.
const MOST_NAME: usize = 300;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_its_entries_and_their_directory() {
        let mut zip = ZipFile::new();
        zip.add("a.txt", b"Hello");
        zip.add("../b\\c/d.txt", b"");
        let bytes = zip.finish();
        assert_eq!(&bytes[..4], b"PK\x03\x04");
        // The CRC-32 of "Hello".
        assert_eq!(&bytes[14..18], 0xf7d1_8982_u32.to_le_bytes());
        let end = bytes.len() - 22;
        assert_eq!(&bytes[end..end + 4], b"PK\x05\x06");
        assert_eq!(bytes[end + 10], 2);
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.contains("_/b_c/d.txt") && !text.contains(".."));
    }

    #[test]
    fn the_number_of_entries_fits_its_field() {
        let mut zip = ZipFile::new();
        while zip.has_room() {
            zip.add("a", b"");
        }
        zip.add("last", b"");
        assert_eq!(zip.entries.len(), MOST_ENTRIES);
        let bytes = zip.finish();
        assert_eq!(bytes[bytes.len() - 12..][..2], u16::MAX.to_le_bytes());
    }
}
