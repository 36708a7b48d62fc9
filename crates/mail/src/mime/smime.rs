//! What an S/MIME signature is put around (RFC 5652, section 5; RFC 8551, section 3.5.2). Signatures are
//! not checked.

const INTEGER: u8 = 0x02;
const OCTETS: u8 = 0x04;
const OBJECT_IDENTIFIER: u8 = 0x06;
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const CONSTRUCTED_OCTETS: u8 = 0x24;
const EXPLICIT: u8 = 0xa0;

/// 1.2.840.113549.1.7.2 and 1.2.840.113549.1.7.1
const SIGNED_DATA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02];
const DATA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01];

/// True for a signature, with what is signed in it or without.
pub(super) fn is_signed_data(bytes: &[u8]) -> bool {
    signed_data(bytes).is_some()
}

/// The signed bytes, as far as they stand in the signature itself.
pub(super) fn signed_content(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut signed = signed_data(bytes)?;
    signed.value(INTEGER)?;
    signed.value(SET)?;
    let mut content = signed.enter(SEQUENCE)?;
    if content.value(OBJECT_IDENTIFIER)? != DATA {
        return None;
    }
    content.enter(EXPLICIT)?.octets()
}

fn signed_data(bytes: &[u8]) -> Option<BerReader<'_>> {
    let mut outer = BerReader { rest: bytes }.enter(SEQUENCE)?;
    if outer.value(OBJECT_IDENTIFIER)? != SIGNED_DATA {
        return None;
    }
    outer.enter(EXPLICIT)?.enter(SEQUENCE)
}

/// Elements in the Basic Encoding Rules (X.690, section 8.1), one after another.
struct BerReader<'a> {
    rest: &'a [u8],
}

impl<'a> BerReader<'a> {
    /// What stands in the next element. One that does not say how long it is reaches to the end of
    /// what is read: nothing behind it is looked for.
    fn enter(&mut self, tag: u8) -> Option<BerReader<'a>> {
        let rest = match self.begin(tag)? {
            Some(length) => self.take(length)?,
            None => std::mem::take(&mut self.rest),
        };
        Some(BerReader { rest })
    }

    /// The bytes of the next element, which must say how long it is.
    fn value(&mut self, tag: u8) -> Option<&'a [u8]> {
        let length = self.begin(tag)??;
        self.take(length)
    }

    /// The bytes of the next octet string, which may be one or in pieces.
    fn octets(&mut self) -> Option<Vec<u8>> {
        if self.rest.first() == Some(&OCTETS) {
            return self.value(OCTETS).map(<[u8]>::to_vec);
        }
        let mut pieces = self.enter(CONSTRUCTED_OCTETS)?;
        let mut all = Vec::new();
        while !pieces.rest.is_empty() && !pieces.rest.starts_with(&[0, 0]) {
            all.extend_from_slice(pieces.value(OCTETS)?);
        }
        Some(all)
    }

    /// The length of the next element, which has this tag; `Some(None)` where its end is marked.
    fn begin(&mut self, tag: u8) -> Option<Option<usize>> {
        if self.take(1)? != [tag] {
            return None;
        }
        match self.take(1)?[0] {
            0x80 => Some(None),
            short @ 0..=0x7f => Some(Some(usize::from(short))),
            long @ 0x81..=0x84 => {
                let digits = self.take(usize::from(long & 0x7f))?;
                Some(Some(digits.iter().fold(0, |all, digit| (all << 8) | usize::from(*digit))))
            }
            _ => None,
        }
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(tag: u8, content: &[&[u8]]) -> Vec<u8> {
        let content = content.concat();
        let length = u16::try_from(content.len()).expect("short").to_be_bytes();
        [&[tag, 0x82, length[0], length[1]][..], content.as_slice()].concat()
    }

    /// A signature around what the element has that is its content.
    fn signature(content: &[u8]) -> Vec<u8> {
        let content = element(SEQUENCE, &[&element(OBJECT_IDENTIFIER, &[DATA]), content]);
        let parts: [&[u8]; 3] = [&[INTEGER, 1, 1], &[SET, 0], &content];
        let signed = element(EXPLICIT, &[&element(SEQUENCE, &parts)]);
        element(SEQUENCE, &[&element(OBJECT_IDENTIFIER, &[SIGNED_DATA]), &signed])
    }

    #[test]
    fn the_signed_bytes_are_found_in_one_piece_and_in_several() {
        let whole = signature(&element(EXPLICIT, &[&element(OCTETS, &[b"Hello"])]));
        assert_eq!(signed_content(&whole).as_deref(), Some(&b"Hello"[..]));
        let pieces: [&[u8]; 5] = [&[0xa0, 0x80, 0x24, 0x80, 4, 2], b"He", &[4, 3], b"llo", &[0; 4]];
        assert_eq!(signed_content(&signature(&pieces.concat())).as_deref(), Some(&b"Hello"[..]));
        let detached = signature(&[]);
        assert!(is_signed_data(&detached) && signed_content(&detached).is_none());
    }

    #[test]
    fn cut_or_changed_bytes_are_no_signature_and_harm_nothing() {
        let whole = signature(&element(EXPLICIT, &[&element(OCTETS, &[b"Hello"])]));
        for end in 0..whole.len() {
            assert_eq!(signed_content(&whole[..end]), None, "{end}");
            for value in [0, 0x7f, 0x80, 0x84, 0xff] {
                let mut changed = whole.clone();
                changed[end] = value;
                let _ = signed_content(&changed);
            }
        }
        assert_eq!(signed_content(&[SEQUENCE, 0x84, 0xff, 0xff, 0xff, 0xff, 0]), None);
    }
}
