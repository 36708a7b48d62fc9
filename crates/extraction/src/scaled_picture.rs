//! Scaled and compressed copies of pictures, as pages show them.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{PngDecoder, PngEncoder};
use image::codecs::webp::WebPDecoder;
use image::imageops::FilterType;
use image::{DynamicImage, ImageDecoder, ImageEncoder, ImageFormat, ImageReader};

use crate::limits::SCALED_SIDE;
use crate::preview::{decode, opaque};

/// Bytes of a scaled copy. Two of them with their previews are less than 300 KB, and one lies in the
/// database like other small files.
pub const SCALED_BYTES: usize = 96 * 1024;

/// The longer sides and the qualities that are tried, the best first.
const SIDES: [u32; 5] = [SCALED_SIDE, 1_024, 800, 640, 400];
const QUALITIES: [u8; 3] = [80, 70, 60];
/// Bytes of a colour profile that goes into the copy.
const PROFILE_BYTES: usize = 4 * 1024;

/// A smaller file of the same picture, upright, with its colour profile and without its other metadata. `None`
/// for a picture that is small enough as it is, that moves, or that cannot be decoded.
pub fn scaled_picture(bytes: &[u8]) -> Option<Vec<u8>> {
    if bytes.len() <= SCALED_BYTES || is_animated(bytes) {
        return None;
    }
    let (picture, orientation) = decode(bytes)?;
    let mut picture = shrink(picture, SCALED_SIDE);
    picture.apply_orientation(orientation);
    let profile = colour_profile(bytes);
    let is_transparent = is_transparent(&picture);
    for side in SIDES {
        picture = shrink(picture, side);
        let png = is_transparent.then(|| encode_png(&picture, profile.as_deref())).flatten();
        if let Some(png) = png.filter(|png| png.len() <= SCALED_BYTES) {
            return Some(png);
        }
        let paper = opaque(&picture);
        for quality in QUALITIES {
            let mut jpeg = Vec::new();
            let mut encoder = JpegEncoder::new_with_quality(&mut jpeg, quality);
            if let Some(profile) = &profile {
                encoder.set_icc_profile(profile.clone()).ok()?;
            }
            encoder.encode_image(&paper).ok()?;
            if jpeg.len() <= SCALED_BYTES {
                return Some(jpeg);
            }
        }
    }
    None
}

/// True for a picture that may move: a copy would show its first moment alone.
fn is_animated(bytes: &[u8]) -> bool {
    match image::guess_format(bytes) {
        Ok(ImageFormat::Gif) => true,
        Ok(ImageFormat::Png) => PngDecoder::new(Cursor::new(bytes))
            .and_then(|picture| picture.is_apng())
            .unwrap_or(false),
        Ok(ImageFormat::WebP) => {
            WebPDecoder::new(Cursor::new(bytes)).is_ok_and(|picture| picture.has_animation())
        }
        _ => false,
    }
}

/// Within a square of this side. Averages of whole pixels first, which is quick, then a filter, which keeps
/// letters smooth.
fn shrink(picture: DynamicImage, side: u32) -> DynamicImage {
    let is_within =
        |picture: &DynamicImage, side: u32| picture.width().max(picture.height()) <= side;
    let rough = 2 * side;
    let picture =
        if is_within(&picture, rough) { picture } else { picture.thumbnail(rough, rough) };
    if is_within(&picture, side) {
        picture
    } else {
        picture.resize(side, side, FilterType::Triangle)
    }
}

fn is_transparent(picture: &DynamicImage) -> bool {
    picture.color().has_alpha() && picture.to_rgba8().pixels().any(|pixel| pixel.0[3] < u8::MAX)
}

/// What the colours of the picture mean; cameras and screens differ.
fn colour_profile(bytes: &[u8]) -> Option<Vec<u8>> {
    let reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().ok()?;
    let profile = reader.into_decoder().ok()?.icc_profile().ok()??;
    // The copy has red, green and blue, whatever the picture had (ICC.1, section 7.2.6).
    let is_rgb = profile.get(16..20) == Some(b"RGB ".as_slice());
    (is_rgb && profile.len() <= PROFILE_BYTES).then_some(profile)
}

fn encode_png(picture: &DynamicImage, profile: Option<&[u8]>) -> Option<Vec<u8>> {
    let mut png = Vec::new();
    let mut encoder = PngEncoder::new(&mut png);
    if let Some(profile) = profile {
        encoder.set_icc_profile(profile.to_vec()).ok()?;
    }
    DynamicImage::ImageRgba8(picture.to_rgba8()).write_with_encoder(encoder).ok()?;
    Some(png)
}

#[cfg(test)]
mod tests {
    use image::codecs::png::{CompressionType, FilterType as PngFilter};
    use image::{Rgb, RgbImage, Rgba, RgbaImage};

    use super::*;

    /// Reproducible noise of two pixels a grain.
    fn noise(x: u32, y: u32) -> u8 {
        let value = (x / 2).wrapping_mul(2_654_435_761).wrapping_add((y / 2).wrapping_mul(40_503));
        (value ^ (value >> 13)).wrapping_mul(1_274_126_177).to_be_bytes()[0]
    }

    fn photo(width: u32, height: u32) -> DynamicImage {
        let shade = |x: u32, y: u32| Rgb([noise(x, y), (x / 8) as u8, (y / 8) as u8]);
        DynamicImage::ImageRgb8(RgbImage::from_fn(width, height, shade))
    }

    fn file(picture: &DynamicImage, format: ImageFormat) -> Vec<u8> {
        let mut file = Cursor::new(Vec::new());
        picture.write_to(&mut file, format).unwrap();
        file.into_inner()
    }

    #[test]
    fn a_copy_is_small_and_has_the_shape_of_the_picture() {
        for format in [ImageFormat::Jpeg, ImageFormat::Png] {
            let original = file(&photo(900, 600), format);
            assert!(original.len() > SCALED_BYTES, "{}", original.len());
            let copy = scaled_picture(&original).unwrap();
            assert!(copy.len() <= SCALED_BYTES && copy.starts_with(b"\xff\xd8\xff"));
            let copy = image::load_from_memory(&copy).unwrap();
            assert!(SIDES.contains(&copy.width()), "{}", copy.width());
            assert!(copy.height().abs_diff(copy.width() * 2 / 3) <= 2, "{}", copy.height());
        }
    }

    #[test]
    fn a_photo_of_a_turned_camera_is_upright_and_says_nothing_else_of_it() {
        let plain = file(&photo(900, 600), ImageFormat::Jpeg);
        // One field: the orientation, a quarter to the right (Exif 2.32, section 4.6.4).
        let field = b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
        let length = (field.len() as u16 + 2).to_be_bytes();
        let segment = [b"\xff\xe1".as_slice(), &length, field].concat();
        let original = [&plain[..2], segment.as_slice(), &plain[2..]].concat();
        let copy = scaled_picture(&original).unwrap();
        assert!(!copy.windows(4).any(|word| word == b"Exif"));
        let copy = image::load_from_memory(&copy).unwrap();
        assert!(copy.height() > copy.width(), "{} x {}", copy.width(), copy.height());
    }

    #[test]
    fn what_is_transparent_stays_so_where_that_is_small() {
        let shade = |x: u32, _: u32| Rgba([10, 20, 30, (x / 4) as u8]);
        let picture = DynamicImage::ImageRgba8(RgbaImage::from_fn(500, 500, shade));
        let mut original = Vec::new();
        let (packing, filter) = (CompressionType::Uncompressed, PngFilter::NoFilter);
        let encoder = PngEncoder::new_with_quality(&mut original, packing, filter);
        picture.write_with_encoder(encoder).unwrap();
        assert!(original.len() > SCALED_BYTES, "{}", original.len());
        let copy = scaled_picture(&original).unwrap();
        assert!(copy.len() <= SCALED_BYTES && copy.starts_with(b"\x89PNG"));
        assert_eq!(image::load_from_memory(&copy).unwrap().as_bytes(), picture.as_bytes());
    }

    #[test]
    fn what_is_small_may_move_or_is_no_picture_has_no_copy() {
        assert_eq!(scaled_picture(&file(&photo(40, 40), ImageFormat::Png)), None);
        let zeros = vec![0u8; SCALED_BYTES];
        for start in ["GIF89a", "%PDF-1.7", "\u{89}PNG"] {
            assert_eq!(scaled_picture(&[start.as_bytes(), &zeros].concat()), None, "{start}");
        }
        let mut cut = file(&photo(900, 600), ImageFormat::Png);
        cut.truncate(cut.len() / 2);
        assert!(cut.len() > SCALED_BYTES, "{}", cut.len());
        assert_eq!(scaled_picture(&cut), None);
        let mut bomb = file(&photo(900, 900), ImageFormat::Png);
        bomb[16..24].copy_from_slice(&[0, 1, 0, 0, 0, 1, 0, 0]);
        assert_eq!(scaled_picture(&bomb), None);
    }
}
