//! The elements of a DER encoding, as far as certificates need them (X.690).

pub const SEQUENCE: u8 = 0x30;

/// The content of an element of this kind, and what follows it.
pub fn element(der: &[u8], kind: u8) -> Option<(&[u8], &[u8])> {
    (der.first() == Some(&kind)).then(|| any(der)).flatten()
}

/// The content of the first element, whatever it is, and what follows it.
pub fn any(der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (_, rest) = der.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = match usize::from(*first) {
        short if short < 0x80 => (short, rest),
        long => {
            let (bytes, rest) = rest.split_at_checked(long - 0x80)?;
            if bytes.is_empty() || bytes.len() > 4 {
                return None;
            }
            (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
        }
    };
    rest.split_at_checked(length)
}
