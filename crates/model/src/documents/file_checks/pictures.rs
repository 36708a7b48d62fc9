//! Checks of pictures.

use std::io::{self, Read, Seek};

use crate::documents::file_checks::{FileFormat, FileRefusal, piece, tail};

/// Segments before a JPEG's picture that are looked at.
const SEGMENTS: usize = 1_000;
/// Boxes of a HEIF file on its outermost floor.
const BOXES: usize = 1_000;
/// A whole PNG ends within this many bytes of its file's end.
const PNG_END_WITHIN: usize = 1024;

pub fn form(head: &[u8]) -> Option<FileFormat> {
    let form = match head {
        [0xff, 0xd8, 0xff, ..] => FileFormat::Jpeg,
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => FileFormat::Png,
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => FileFormat::Gif,
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => FileFormat::Webp,
        [b'I', b'I', b'*', 0, ..] | [b'M', b'M', 0, b'*', ..] => FileFormat::Tiff,
        [_, _, _, _, b'f', b't', b'y', b'p', a, b, c, d, ..] => match &[*a, *b, *c, *d] {
            b"avif" | b"avis" => FileFormat::Avif,
            b"heic" | b"heix" | b"heim" | b"heis" | b"hevc" | b"hevx" | b"mif1" | b"msf1" => {
                FileFormat::Heif
            }
            _ => return None,
        },
        _ => return None,
    };
    Some(form)
}

/// Whole, and with a size.
pub fn check(
    file: &mut (impl Read + Seek),
    size: u64,
    form: FileFormat,
) -> io::Result<Result<(), FileRefusal>> {
    let whole = match form {
        FileFormat::Jpeg => jpeg(file, size)?,
        FileFormat::Png => png(file, size)?,
        FileFormat::Gif => gif(file)?,
        FileFormat::Webp => webp(file, size)?,
        FileFormat::Tiff => tiff(file, size)?,
        _ => boxes(file, size)?,
    };
    Ok(if whole { Ok(()) } else { Err(FileRefusal::Damaged) })
}

/// Walks the segments: a frame with a size, then the picture's data to the end.
fn jpeg(file: &mut (impl Read + Seek), size: u64) -> io::Result<bool> {
    let (mut at, mut framed) = (2u64, false);
    for _ in 0..SEGMENTS {
        let bytes = piece(file, at, 9)?;
        let [0xff, marker, rest @ ..] = bytes.as_slice() else { return Ok(false) };
        match (marker, rest) {
            (0xff, _) => at += 1,
            (0x01 | 0xd0..=0xd8, _) => at += 2,
            (0xda, [high, low, ..]) => {
                let data = at + 2 + u64::from(u16::from_be_bytes([*high, *low]));
                return Ok(framed && data < size && has_jpeg_end(file, size)?);
            }
            (marker, [high, low, more @ ..]) => {
                let is_frame =
                    matches!(marker, 0xc0..=0xcf if ![0xc4, 0xc8, 0xcc].contains(marker));
                if is_frame && let [_, y1, y2, x1, x2] = more {
                    framed = [y1, y2] != [&0, &0] && [x1, x2] != [&0, &0];
                }
                at += 2 + u64::from(u16::from_be_bytes([*high, *low]));
            }
            _ => return Ok(false),
        }
    }
    Ok(false)
}

/// Phones put films and depths behind the picture, so its end may stand anywhere after it.
fn has_jpeg_end(file: &mut (impl Read + Seek), size: u64) -> io::Result<bool> {
    if tail(file, size, 2)? == [0xff, 0xd9] {
        return Ok(true);
    }
    super::finds(file, &[0xff, 0xd9])
}

fn png(file: &mut (impl Read + Seek), size: u64) -> io::Result<bool> {
    let head = piece(file, 8, 16)?;
    let sized = head.get(4..8) == Some(b"IHDR".as_slice())
        && head.get(8..12).is_some_and(|width| width != [0; 4])
        && head.get(12..16).is_some_and(|height| height != [0; 4]);
    let end = tail(file, size, PNG_END_WITHIN)?;
    Ok(sized && memchr::memmem::find(&end, b"IEND").is_some())
}

fn gif(file: &mut (impl Read + Seek)) -> io::Result<bool> {
    let screen = piece(file, 6, 7)?;
    Ok(screen.len() == 7 && screen[..2] != [0, 0] && screen[2..4] != [0, 0])
}

fn webp(file: &mut (impl Read + Seek), size: u64) -> io::Result<bool> {
    let head = piece(file, 4, 4)?;
    let told = <[u8; 4]>::try_from(head.as_slice()).map_or(u32::MAX, u32::from_le_bytes);
    Ok(u64::from(told) + 8 <= size && told > 12)
}

/// The first list of tags stands within the file.
fn tiff(file: &mut (impl Read + Seek), size: u64) -> io::Result<bool> {
    let head = piece(file, 0, 8)?;
    let Some(Ok(place)) = head.get(4..8).map(<[u8; 4]>::try_from) else { return Ok(false) };
    let place = match head[0] {
        b'I' => u32::from_le_bytes(place),
        _ => u32::from_be_bytes(place),
    };
    Ok(place >= 8 && u64::from(place) + 2 < size)
}

/// The boxes of the outermost floor fill the file and none reaches past its end.
fn boxes(file: &mut (impl Read + Seek), size: u64) -> io::Result<bool> {
    let mut at = 0u64;
    for _ in 0..BOXES {
        if at == size {
            return Ok(at > 0);
        }
        let head = piece(file, at, 16)?;
        let Some(Ok(short)) = head.get(..4).map(<[u8; 4]>::try_from) else { return Ok(false) };
        let length = match (u32::from_be_bytes(short), head.get(8..16).map(<[u8; 8]>::try_from)) {
            (0, _) => size - at,
            (1, Some(Ok(long))) => u64::from_be_bytes(long),
            (short, _) => u64::from(short),
        };
        match at.checked_add(length) {
            Some(next) if length >= 8 && next <= size => at = next,
            _ => return Ok(false),
        }
    }
    Ok(false)
}
