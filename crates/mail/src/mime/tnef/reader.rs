//! Numbers and stretches of bytes, taken one after another; nothing beyond the end.

/// What is left of some bytes.
#[derive(Clone, Copy)]
pub(super) struct ByteReader<'a> {
    rest: &'a [u8],
}

impl<'a> ByteReader<'a> {
    pub fn new(bytes: &'a [u8]) -> ByteReader<'a> {
        ByteReader { rest: bytes }
    }

    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next bytes; `None`, and nothing is taken, where there are not so many.
    pub fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(bytes)
    }

    /// The next bytes and what fills their last group of four.
    pub fn take_padded(&mut self, length: usize) -> Option<&'a [u8]> {
        let bytes = self.take(length)?;
        // The very last group may lack its filling.
        let filling = length.next_multiple_of(4) - length;
        self.rest = self.rest.get(filling..).unwrap_or_default();
        Some(bytes)
    }

    pub fn u8(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    /// Little-endian, like all numbers of the format.
    pub fn u16(&mut self) -> Option<u16> {
        let (bytes, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(u16::from_le_bytes(*bytes))
    }

    pub fn u32(&mut self) -> Option<u32> {
        let (bytes, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(u32::from_le_bytes(*bytes))
    }

    /// A length, which is a number of 32 bits.
    pub fn length(&mut self) -> Option<usize> {
        usize::try_from(self.u32()?).ok()
    }
}
