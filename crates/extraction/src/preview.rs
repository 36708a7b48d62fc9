//! Small previews of pictures, as JPEG.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageReader, Limits, Rgb, RgbImage};

use crate::limits::{DECODING_BYTES, PICTURE_PIXELS, PREVIEW_SIDE};

/// Bytes of a preview.
pub const PREVIEW_BYTES: usize = 30 * 1024;

/// The qualities that are tried, the best first.
const QUALITIES: [u8; 4] = [70, 55, 40, 25];

/// The preview of a picture that can be decoded.
pub fn preview(bytes: &[u8]) -> Option<Vec<u8>> {
    let (picture, orientation) = decode(bytes)?;
    let mut small = picture.thumbnail(PREVIEW_SIDE, PREVIEW_SIDE);
    small.apply_orientation(orientation);
    let small = opaque(&small);
    QUALITIES.iter().find_map(|quality| {
        let mut jpeg = Vec::new();
        JpegEncoder::new_with_quality(&mut jpeg, *quality).encode_image(&small).ok()?;
        (jpeg.len() <= PREVIEW_BYTES).then_some(jpeg)
    })
}

/// The picture, and how it is meant to be turned: cameras write how they were held. It is turned once it is
/// small, which needs less memory.
pub(crate) fn decode(bytes: &[u8]) -> Option<(DynamicImage, Orientation)> {
    let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().ok()?;
    let mut limits = Limits::default();
    limits.max_alloc = Some(DECODING_BYTES);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().ok()?;
    let (width, height) = decoder.dimensions();
    if u64::from(width) * u64::from(height) > PICTURE_PIXELS {
        return None;
    }
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    Some((DynamicImage::from_decoder(decoder).ok()?, orientation))
}

/// On white paper, because JPEG has no transparency.
pub(crate) fn opaque(picture: &DynamicImage) -> RgbImage {
    let picture = picture.to_rgba8();
    let mut paper = RgbImage::new(picture.width(), picture.height());
    for (from, to) in picture.pixels().zip(paper.pixels_mut()) {
        let [red, green, blue, alpha] = from.0.map(u32::from);
        let mixed = |colour: u32| ((colour * alpha + 255 * (255 - alpha)) / 255) as u8;
        *to = Rgb([mixed(red), mixed(green), mixed(blue)]);
    }
    paper
}

#[cfg(test)]
mod tests {
    use image::{ImageFormat, Rgba, RgbaImage};

    use super::*;

    fn png(picture: &RgbaImage) -> Vec<u8> {
        let mut file = Cursor::new(Vec::new());
        picture.write_to(&mut file, ImageFormat::Png).unwrap();
        file.into_inner()
    }

    #[test]
    fn a_preview_is_small_however_busy_the_picture_is() {
        let noise = RgbaImage::from_fn(900, 600, |x, y| {
            let value = x.wrapping_mul(2_654_435_761).wrapping_add(y.wrapping_mul(40_503)) >> 7;
            Rgba([value as u8, (value >> 8) as u8, (value >> 16) as u8, 255])
        });
        let made = preview(&png(&noise)).unwrap();
        assert!(made.len() <= PREVIEW_BYTES && made.starts_with(b"\xff\xd8\xff"), "{}", made.len());
        let small = image::load_from_memory(&made).unwrap();
        assert_eq!((small.width(), small.height()), (PREVIEW_SIDE, PREVIEW_SIDE * 2 / 3));
    }

    #[test]
    fn what_is_transparent_is_white() {
        let clear = RgbaImage::from_pixel(40, 40, Rgba([0, 0, 0, 0]));
        let made = image::load_from_memory(&preview(&png(&clear)).unwrap()).unwrap().to_rgb8();
        assert!(made.pixels().all(|pixel| pixel.0.iter().all(|value| *value > 250)));
    }

    #[test]
    fn what_is_no_picture_or_far_too_large_has_no_preview() {
        assert_eq!(preview(b""), None);
        assert_eq!(preview(b"%PDF-1.7"), None);
        assert_eq!(preview(b"\x89PNG\r\n\x1a\nbroken"), None);
        let mut bomb = png(&RgbaImage::new(1, 1));
        bomb[16..24].copy_from_slice(&[0, 1, 0, 0, 0, 1, 0, 0]);
        assert_eq!(preview(&bomb), None);
    }
}
