//! Unpacks compressed RTF (MS-OXRTFCP).

use super::reader::ByteReader;
use crate::limits::RTF_BYTES;

const COMPRESSED: u32 = 0x7546_5a4c;
const UNCOMPRESSED: u32 = 0x414c_454d;

/// What the dictionary holds at first (MS-OXRTFCP, section 2.1.3.1.1).
const FIRST_WORDS: &[u8] = b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \
    \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier\
    {\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx";
const DICTIONARY_BYTES: usize = 4_096;
/// The least length that a reference stands for.
const SHORTEST_RUN: usize = 2;

/// The RTF, as far as it can be unpacked and the limit goes; `None` for what is none.
pub(super) fn unpack_rtf(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut reader = ByteReader::new(bytes);
    let (_packed, _size, kind, _checksum) =
        (reader.u32()?, reader.u32()?, reader.u32()?, reader.u32()?);
    let content = &bytes[16..];
    match kind {
        COMPRESSED => Some(unpack(content)),
        UNCOMPRESSED => Some(content[..content.len().min(RTF_BYTES)].to_vec()),
        _ => None,
    }
}

fn unpack(content: &[u8]) -> Vec<u8> {
    let mut unpacker = Unpacker::new();
    let mut bytes = content.iter().copied();
    while unpacker.rtf.len() < RTF_BYTES
        && let Some(control) = bytes.next()
    {
        for bit in 0..8 {
            let Some(first) = bytes.next() else { return unpacker.rtf };
            if control & (1 << bit) == 0 {
                unpacker.push(first);
                continue;
            }
            let Some(second) = bytes.next() else { return unpacker.rtf };
            let reference = usize::from(u16::from_be_bytes([first, second]));
            let (from, length) = (reference >> 4, (reference & 0xf) + SHORTEST_RUN);
            // A reference to the place of writing is the end.
            if from == unpacker.at {
                return unpacker.rtf;
            }
            unpacker.repeat(from, length);
        }
    }
    unpacker.rtf
}

struct Unpacker {
    dictionary: [u8; DICTIONARY_BYTES],
    /// Where the next byte is written to.
    at: usize,
    rtf: Vec<u8>,
}

impl Unpacker {
    fn new() -> Unpacker {
        let mut dictionary = [b' '; DICTIONARY_BYTES];
        dictionary[..FIRST_WORDS.len()].copy_from_slice(FIRST_WORDS);
        Unpacker { dictionary, at: FIRST_WORDS.len(), rtf: Vec::new() }
    }

    fn push(&mut self, byte: u8) {
        self.dictionary[self.at] = byte;
        self.at = (self.at + 1) % DICTIONARY_BYTES;
        self.rtf.push(byte);
    }

    /// A run may reach what it writes itself.
    fn repeat(&mut self, from: usize, length: usize) {
        for place in from..from + length {
            self.push(self.dictionary[place % DICTIONARY_BYTES]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of MS-OXRTFCP, section 3.1.1.
    const HELLO: [u8; 49] = [
        0x2d, 0, 0, 0, 0x2b, 0, 0, 0, 0x4c, 0x5a, 0x46, 0x75, 0xf1, 0xc5, 0xc7, 0xa7, 0x03, 0x00,
        0x0a, 0x00, 0x72, 0x63, 0x70, 0x67, 0x31, 0x32, 0x35, 0x42, 0x32, 0x0a, 0xf3, 0x20, 0x68,
        0x65, 0x6c, 0x09, 0x00, 0x20, 0x62, 0x77, 0x05, 0xb0, 0x6c, 0x64, 0x7d, 0x0a, 0x80, 0x0f,
        0xa0,
    ];

    #[test]
    fn compressed_rtf_is_unpacked_up_to_its_end() {
        let rtf = unpack_rtf(&HELLO).expect("RTF");
        assert_eq!(rtf, b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n");
        assert_eq!(FIRST_WORDS.len(), 207);
    }

    #[test]
    fn no_more_is_unpacked_than_the_limit() {
        let mut bomb = HELLO[..16].to_vec();
        // Runs of 16 bytes, none of which names the place of writing: that one is odd.
        let runs = [0xff].into_iter().chain([0x00, 0x0e].repeat(8));
        bomb.extend(runs.cycle().take(RTF_BYTES));
        let length = unpack_rtf(&bomb).expect("RTF").len();
        assert!((RTF_BYTES..=RTF_BYTES + 8 * 16).contains(&length), "{length}");
        assert_eq!(unpack_rtf(&[0; 15]), None);
        assert_eq!(unpack_rtf(&[0; 40]), None);
    }
}
