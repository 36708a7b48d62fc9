//! The logo of a workspace, as a PNG: it is taken apart and written anew, so that nothing is kept of a file but
//! what draws its picture (PNG specification, third edition).

use std::io::{Read, Write};

use base::limits::{LOGO_BYTES, LOGO_LEAST_PX, LOGO_MOST_PX};
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
/// Bytes of a chunk beside its data: length, type and checksum.
const CHUNK_FRAME: usize = 12;
/// Where each pass of an interlaced picture begins, and how far apart its pixels are.
const PASSES: [(u32, u32, u32, u32); 7] = [
    (0, 0, 8, 8),
    (4, 0, 8, 8),
    (0, 4, 4, 8),
    (2, 0, 4, 4),
    (0, 2, 2, 4),
    (1, 0, 2, 2),
    (0, 1, 1, 2),
];
/// The last of the filters of a line.
const FILTERS: u8 = 4;

const NO_PNG: &str = "The logo must be a PNG or JPEG file.";
const NO_SVG: &str =
    "An SVG cannot be the logo. Save it as a PNG, at least 400 pixels wide, and choose that.";
/// Bytes of a file in which an SVG says that it is one.
const SVG_HEAD: usize = 1024;
const BROKEN: &str = "This PNG file is damaged. Save it again and choose it once more.";

/// A logo that was written anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleanLogo {
    pub png: Vec<u8>,
    pub width: u32,
    pub height: u32,
}

/// What the header says that matters for the pixels.
struct PngHeader {
    width: u32,
    height: u32,
    pixel_bits: usize,
    needs_palette: bool,
    is_interlaced: bool,
}

/// The logo in a file, or a sentence that says what is wrong with it.
pub fn clean_logo(file: &[u8]) -> Result<CleanLogo, String> {
    if file.len() > LOGO_BYTES {
        return Err(format!("The logo must be at most {} KB.", LOGO_BYTES / 1024));
    }
    let mut rest = file.strip_prefix(SIGNATURE).ok_or_else(|| kind_problem(file))?;
    let first = next_chunk(&mut rest).filter(|(kind, _)| kind == b"IHDR").ok_or(BROKEN)?;
    let header = header(first.1).ok_or(BROKEN)?;
    let is_fit = |pixels: u32| (LOGO_LEAST_PX..=LOGO_MOST_PX).contains(&pixels);
    if !is_fit(header.width) || !is_fit(header.height) {
        return Err(format!(
            "The logo must be {LOGO_LEAST_PX} to {LOGO_MOST_PX} pixels wide and high."
        ));
    }
    let (mut palette, mut transparency, mut data) = (None, None, Vec::new());
    while let Some((kind, bytes)) = next_chunk(&mut rest) {
        match &kind {
            b"PLTE" if bytes.len() % 3 == 0 && (3..=768).contains(&bytes.len()) => {
                palette = Some(bytes);
            }
            b"tRNS" if bytes.len() <= 256 => transparency = Some(bytes),
            b"IDAT" => data.extend_from_slice(bytes),
            b"IEND" => break,
            _ => {}
        }
    }
    if header.needs_palette && palette.is_none() {
        return Err(BROKEN.to_owned());
    }
    let lines = lines_of(&header, &data).ok_or(BROKEN)?;
    let mut png = SIGNATURE.to_vec();
    write_chunk(&mut png, b"IHDR", first.1);
    for (kind, bytes) in [(b"PLTE", palette), (b"tRNS", transparency)] {
        if let Some(bytes) = bytes {
            write_chunk(&mut png, kind, bytes);
        }
    }
    write_chunk(&mut png, b"IDAT", &deflate(&lines).ok_or(BROKEN)?);
    write_chunk(&mut png, b"IEND", &[]);
    if png.len() > LOGO_BYTES {
        return Err(format!("The logo must be at most {} KB.", LOGO_BYTES / 1024));
    }
    Ok(CleanLogo { png, width: header.width, height: header.height })
}

/// True for a file that has to become a PNG first.
pub fn is_jpeg(file: &[u8]) -> bool {
    file.starts_with(b"\xff\xd8\xff")
}

fn kind_problem(file: &[u8]) -> &'static str {
    let head = &file[..file.len().min(SVG_HEAD)];
    let is_svg = head.windows(4).any(|word| word.eq_ignore_ascii_case(b"<svg"));
    if is_svg { NO_SVG } else { NO_PNG }
}

/// The type and the data of the next chunk; `None` at the end, or where the file is cut off.
fn next_chunk<'a>(rest: &mut &'a [u8]) -> Option<([u8; 4], &'a [u8])> {
    let length = u32::from_be_bytes(rest.get(..4)?.try_into().ok()?) as usize;
    let kind: [u8; 4] = rest.get(4..8)?.try_into().ok()?;
    let bytes = rest.get(8..length.checked_add(8)?)?;
    *rest = rest.get(length.checked_add(CHUNK_FRAME)?..)?;
    Some((kind, bytes))
}

fn header(bytes: &[u8]) -> Option<PngHeader> {
    let [a, b, c, d, e, f, g, h, depth, colour, 0, 0, interlaced] = *bytes else { return None };
    // Bits of one part of a pixel, by what a pixel is made of (table 12).
    let (parts, depths): (usize, &[u8]) = match colour {
        0 => (1, &[1, 2, 4, 8, 16]),
        2 => (3, &[8, 16]),
        3 => (1, &[1, 2, 4, 8]),
        4 => (2, &[8, 16]),
        6 => (4, &[8, 16]),
        _ => return None,
    };
    (depths.contains(&depth) && interlaced <= 1).then_some(PngHeader {
        width: u32::from_be_bytes([a, b, c, d]),
        height: u32::from_be_bytes([e, f, g, h]),
        pixel_bits: parts * usize::from(depth),
        needs_palette: colour == 3,
        is_interlaced: interlaced == 1,
    })
}

/// The lines of pixels, each behind the number of its filter; `None` unless they are exactly those that the header
/// announces.
fn lines_of(header: &PngHeader, data: &[u8]) -> Option<Vec<u8>> {
    let passes: Vec<(u32, u32)> = match header.is_interlaced {
        false => vec![(header.width, header.height)],
        true => {
            let part = |size: u32, start: u32, step: u32| size.saturating_sub(start).div_ceil(step);
            let sizes = PASSES.iter().map(|(x, y, across, down)| {
                (part(header.width, *x, *across), part(header.height, *y, *down))
            });
            sizes.filter(|(width, height)| *width > 0 && *height > 0).collect()
        }
    };
    let line = |width: u32| 1 + (width as usize * header.pixel_bits).div_ceil(8);
    let expected: usize =
        passes.iter().map(|(width, height)| line(*width) * *height as usize).sum();
    let mut lines = Vec::with_capacity(expected);
    let mut decoder = ZlibDecoder::new(data).take(expected as u64 + 1);
    decoder.read_to_end(&mut lines).ok()?;
    if lines.len() != expected {
        return None;
    }
    let mut at = 0;
    for (width, height) in passes {
        for _ in 0..height {
            if lines[at] > FILTERS {
                return None;
            }
            at += line(width);
        }
    }
    Some(lines)
}

fn deflate(lines: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(lines).ok()?;
    encoder.finish().ok()
}

fn write_chunk(png: &mut Vec<u8>, kind: &[u8; 4], bytes: &[u8]) {
    png.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
    png.extend_from_slice(kind);
    png.extend_from_slice(bytes);
    let mut checksum = Crc::new();
    checksum.update(kind);
    checksum.update(bytes);
    png.extend_from_slice(&checksum.sum().to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A PNG of one colour with these chunks before its pixels.
    fn png(width: u32, height: u32, more: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
        let mut header = Vec::new();
        header.extend_from_slice(&width.to_be_bytes());
        header.extend_from_slice(&height.to_be_bytes());
        header.extend_from_slice(&[8, 2, 0, 0, 0]);
        let mut line = vec![0];
        line.resize(1 + width as usize * 3, 0x7a);
        let mut png = SIGNATURE.to_vec();
        write_chunk(&mut png, b"IHDR", &header);
        for (kind, bytes) in more {
            write_chunk(&mut png, kind, bytes);
        }
        write_chunk(&mut png, b"IDAT", &deflate(&line.repeat(height as usize)).expect("deflated"));
        write_chunk(&mut png, b"IEND", &[]);
        png
    }

    #[test]
    fn a_logo_keeps_its_pixels_and_nothing_else() {
        let mut file = png(
            64,
            40,
            &[(b"tEXt", b"Comment\0secretword".as_slice()), (b"eXIf", b"where".as_slice())],
        );
        file.extend_from_slice(b"<script>alert(1)</script>");
        let logo = clean_logo(&file).expect("a logo");
        assert_eq!((logo.width, logo.height), (64, 40));
        let text = String::from_utf8_lossy(&logo.png);
        for gone in ["secretword", "where", "script", "tEXt", "eXIf"] {
            assert!(!text.contains(gone), "{gone}");
        }
        assert_eq!(clean_logo(&logo.png).as_ref(), Ok(&logo), "a clean one stays as it is");
    }

    #[test]
    fn what_is_no_png_or_not_whole_is_refused() {
        let whole = png(64, 40, &[]);
        let cut = &whole[..whole.len() - 30];
        let mut lying = png(64, 40, &[]);
        lying[SIGNATURE.len() + 8 + 7] = 200;
        for (file, sentence) in [
            (b"<?xml version=\"1.0\"?><SVG onload=\"x()\"/>".as_slice(), NO_SVG),
            (b"\xff\xd8\xff\xe0".as_slice(), NO_PNG),
            (b"GIF89a".as_slice(), NO_PNG),
            (SIGNATURE, BROKEN),
            (cut, BROKEN),
            (lying.as_slice(), BROKEN),
        ] {
            assert_eq!(clean_logo(file), Err(sentence.to_owned()));
        }
    }

    #[test]
    fn a_logo_is_bounded_in_pixels_and_bytes() {
        for (width, height) in [(LOGO_LEAST_PX - 1, 40), (64, LOGO_MOST_PX + 1), (u32::MAX, 40)] {
            let mut header = png(64, 40, &[]);
            let at = SIGNATURE.len() + 8;
            header[at..at + 4].copy_from_slice(&width.to_be_bytes());
            header[at + 4..at + 8].copy_from_slice(&height.to_be_bytes());
            let sentence = clean_logo(&header).expect_err("too small or too large");
            assert!(sentence.contains("pixels wide and high"), "{sentence}");
        }
        let sentence = clean_logo(&vec![0; LOGO_BYTES + 1]).expect_err("too many bytes");
        assert!(sentence.starts_with("The logo must be at most"), "{sentence}");
    }

    #[test]
    fn the_lines_of_an_interlaced_logo_are_counted_pass_by_pass() {
        let header = PngHeader {
            width: 9,
            height: 9,
            pixel_bits: 8,
            needs_palette: false,
            is_interlaced: true,
        };
        // Width and height of the passes of 9 by 9 pixels: (2,2), (1,2), (3,1), (2,3), (5,2), (4,5), (9,4).
        let bytes = 2 * 3 + 2 * 2 + 4 + 3 * 3 + 2 * 6 + 5 * 5 + 4 * 10;
        let lines = deflate(&vec![0; bytes]).expect("deflated");
        assert_eq!(lines_of(&header, &lines).map(|lines| lines.len()), Some(bytes));
        let more = deflate(&vec![0; bytes + 1]).expect("deflated");
        assert_eq!(lines_of(&header, &more), None);
    }
}
