//! The properties of a message or of a file (MS-OXTNEF, section 2.1.3.4; MS-OXCDATA, section 2.11.1).

use super::reader::ByteReader;

/// From this number on a property has a name beside it.
const FIRST_NAMED: u16 = 0x8000;
/// The bit of a type that stands for several values.
const MANY: u16 = 0x1000;
/// The kind of a name that is a number and not a text.
const NUMBERED: u32 = 0;
const GUID_BYTES: usize = 16;

/// Types of values that are looked at.
pub(super) const OBJECT: u16 = 0x000d;
pub(super) const UNICODE: u16 = 0x001f;

/// A property with its first value.
pub(super) struct TnefProperty<'a> {
    pub id: u16,
    pub kind: u16,
    pub value: &'a [u8],
}

impl TnefProperty<'_> {
    pub fn as_number(&self) -> Option<u32> {
        ByteReader::new(self.value).u32()
    }
}

/// How many bytes a value takes.
enum ValueSize {
    Fixed(usize),
    /// Its length stands before it.
    Stated,
}

/// Shows each property. False where they end early or one is of an unknown type.
pub(super) fn read_properties<'a>(bytes: &'a [u8], mut read: impl FnMut(TnefProperty<'a>)) -> bool {
    let mut reader = ByteReader::new(bytes);
    let Some(count) = reader.u32() else { return false };
    // Each takes bytes, so a count without them ends soon.
    (0..count).all(|_| next_property(&mut reader).map(&mut read).is_some())
}

fn next_property<'a>(reader: &mut ByteReader<'a>) -> Option<TnefProperty<'a>> {
    let (kind, id) = (reader.u16()?, reader.u16()?);
    if id >= FIRST_NAMED {
        skip_name(reader)?;
    }
    Some(TnefProperty { id, kind, value: first_value(reader, kind)? })
}

fn skip_name(reader: &mut ByteReader<'_>) -> Option<()> {
    reader.take(GUID_BYTES)?;
    if reader.u32()? == NUMBERED {
        reader.u32()?;
    } else {
        let length = reader.length()?;
        reader.take_padded(length)?;
    }
    Some(())
}

fn first_value<'a>(reader: &mut ByteReader<'a>, kind: u16) -> Option<&'a [u8]> {
    match value_size(kind & !MANY)? {
        ValueSize::Fixed(size) => {
            let count = if kind & MANY == 0 { 1 } else { reader.length()? };
            let values = reader.take(count.checked_mul(size)?)?;
            Some(values.get(..size).unwrap_or_default())
        }
        ValueSize::Stated => {
            let count = reader.u32()?;
            let mut first = None;
            for _ in 0..count {
                let length = reader.length()?;
                let value = reader.take_padded(length)?;
                first = first.or(Some(value));
            }
            Some(first.unwrap_or_default())
        }
    }
}

/// Short numbers are filled up to four bytes.
fn value_size(kind: u16) -> Option<ValueSize> {
    match kind {
        0x0000 | 0x0001 => Some(ValueSize::Fixed(0)),
        0x0002..=0x0004 | 0x000a | 0x000b => Some(ValueSize::Fixed(4)),
        0x0005..=0x0007 | 0x0014 | 0x0040 => Some(ValueSize::Fixed(8)),
        0x0048 => Some(ValueSize::Fixed(GUID_BYTES)),
        OBJECT | UNICODE | 0x001e | 0x0102 => Some(ValueSize::Stated),
        _ => None,
    }
}
