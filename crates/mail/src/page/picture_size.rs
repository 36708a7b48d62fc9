//! Width and height of a picture, read from its head, so that a page leaves its place free until it is there.

/// Where the turn of a camera is in an Exif head (Exif 2.32, section 4.6.4).
const ORIENTATION: u16 = 0x0112;
/// Fields of an Exif head that are looked at.
const EXIF_FIELDS: usize = 64;

/// As it is shown: a photo of a turned camera is turned.
pub(super) fn picture_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let size = match bytes {
        [0x89, b'P', b'N', b'G', ..] => png(bytes),
        [b'G', b'I', b'F', b'8', ..] => gif(bytes),
        [0xff, 0xd8, 0xff, ..] => jpeg(bytes),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => webp(bytes),
        _ => None,
    };
    size.filter(|(width, height)| *width > 0 && *height > 0)
}

fn png(bytes: &[u8]) -> Option<(u32, u32)> {
    let number = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    (bytes.get(12..16)? == b"IHDR").then_some((number(16)?, number(20)?))
}

fn gif(bytes: &[u8]) -> Option<(u32, u32)> {
    let number = |at: usize| Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
    Some((number(6)?.into(), number(8)?.into()))
}

/// ISO/IEC 10918-1, annex B: segments, of which one frame header has the size.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let (mut at, mut is_turned) = (2, false);
    loop {
        let [0xff, marker, high, low] = *bytes.get(at..at + 4)? else { return None };
        if marker == 0xff {
            at += 1;
            continue;
        }
        let length = usize::from(u16::from_be_bytes([high, low]));
        let segment = bytes.get(at + 4..at + 2 + length)?;
        match marker {
            0xe1 => is_turned |= exif_orientation(segment).is_some_and(|turn| turn >= 5),
            // Frame headers; C4, C8 and CC are tables and extensions.
            0xc0..=0xcf if !matches!(marker, 0xc4 | 0xc8 | 0xcc) => {
                let number = |place: usize| {
                    let pair = segment.get(place..place + 2)?;
                    Some(u32::from(u16::from_be_bytes(pair.try_into().ok()?)))
                };
                let (height, width) = (number(1)?, number(3)?);
                return Some(if is_turned { (height, width) } else { (width, height) });
            }
            0xd9 | 0xda => return None,
            _ => {}
        }
        at += 2 + length;
    }
}

fn exif_orientation(segment: &[u8]) -> Option<u16> {
    let tiff = segment.strip_prefix(b"Exif\0\0")?;
    let is_big = tiff.starts_with(b"MM");
    let pair = |at: usize| {
        let pair: [u8; 2] = tiff.get(at..at + 2)?.try_into().ok()?;
        Some(if is_big { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) })
    };
    let start: [u8; 4] = tiff.get(4..8)?.try_into().ok()?;
    let start = if is_big { u32::from_be_bytes(start) } else { u32::from_le_bytes(start) } as usize;
    let fields = usize::from(pair(start)?).min(EXIF_FIELDS);
    let field =
        (0..fields).map(|n| start + 2 + 12 * n).find(|at| pair(*at) == Some(ORIENTATION))?;
    pair(field + 8)
}

/// RFC 9649, section 2: the size is in the first chunk.
fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    let at = |place: usize| bytes.get(place).copied().map(u32::from);
    let two = |place: usize| Some(at(place)? | at(place + 1)? << 8);
    match bytes.get(12..16)? {
        b"VP8X" => {
            let three = |place: usize| Some(two(place)? | at(place + 2)? << 16);
            Some((three(24)? + 1, three(27)? + 1))
        }
        b"VP8 " => Some((two(26)? & 0x3fff, two(28)? & 0x3fff)),
        b"VP8L" => {
            let bits = two(21)? | two(23)? << 16;
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_is_in_the_head_of_each_kind() {
        let jpeg = b"\xff\xd8\xff\xe0\0\x04JF\xff\xc0\0\x0b\x08\x01\x2c\x02\x58\x01\x01\x11\0";
        type Case<'a> = (&'a [u8], Option<(u32, u32)>);
        let cases: [Case<'_>; 9] = [
            (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x58\0\0\x01\x2c", Some((600, 300))),
            (b"GIF89a\x58\x02\x2c\x01", Some((600, 300))),
            (jpeg, Some((600, 300))),
            (b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0\x57\x02\0\x2b\x01\0", Some((600, 300))),
            (b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x58\x02\x2c\x01", Some((600, 300))),
            (&jpeg[..12], None),
            (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\0\0\0\x01\x2c", None),
            (b"%PDF", None),
            (b"", None),
        ];
        for (bytes, size) in cases {
            assert_eq!(picture_size(bytes), size, "{bytes:?}");
        }
    }

    #[test]
    fn a_photo_of_a_turned_camera_is_turned() {
        let exif = b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
        let length = (exif.len() as u16 + 2).to_be_bytes();
        let frame = b"\xff\xc0\0\x0b\x08\x01\x2c\x02\x58\x01\x01\x11\0";
        let photo = [b"\xff\xd8\xff\xe1".as_slice(), &length, exif, frame].concat();
        assert_eq!(picture_size(&photo), Some((300, 600)));
    }
}
