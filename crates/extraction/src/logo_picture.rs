//! Pictures that become the logo of a workspace, as PNG.

use std::io::Cursor;

use image::codecs::png::{CompressionType, FilterType as PngFilter, PngEncoder};
use image::imageops::FilterType;
use image::{DynamicImage, ImageFormat};

use crate::preview::decode;

/// Bytes of the PNG.
pub const LOGO_PNG_BYTES: usize = 100 * 1024;
/// The longer sides that are tried, the largest first. A logo is shown 200 pixels wide at most.
const SIDES: [u32; 4] = [800, 400, 300, 200];

/// The picture of a JPEG, upright, as a PNG that is small enough to go along with every mail.
pub fn logo_picture(bytes: &[u8]) -> Option<Vec<u8>> {
    if image::guess_format(bytes).ok()? != ImageFormat::Jpeg {
        return None;
    }
    let (mut picture, orientation) = decode(bytes)?;
    picture.apply_orientation(orientation);
    SIDES.iter().find_map(|side| {
        let is_within = picture.width().max(picture.height()) <= *side;
        let small = if is_within {
            picture.to_rgb8()
        } else {
            picture.resize(*side, *side, FilterType::Triangle).to_rgb8()
        };
        let mut png = Cursor::new(Vec::new());
        let encoder =
            PngEncoder::new_with_quality(&mut png, CompressionType::Best, PngFilter::Adaptive);
        DynamicImage::ImageRgb8(small).write_with_encoder(encoder).ok()?;
        Some(png.into_inner()).filter(|png| png.len() <= LOGO_PNG_BYTES)
    })
}

#[cfg(test)]
mod tests {
    use image::{Rgb, RgbImage};

    use super::*;

    fn jpeg(width: u32, height: u32) -> Vec<u8> {
        let shade = |x: u32, y: u32| {
            let grain = x.wrapping_mul(2_654_435_761).wrapping_add(y.wrapping_mul(40_503)) >> 9;
            Rgb([grain as u8, (x / 4) as u8, (y / 4) as u8])
        };
        let mut file = Cursor::new(Vec::new());
        let picture = DynamicImage::ImageRgb8(RgbImage::from_fn(width, height, shade));
        picture.write_to(&mut file, ImageFormat::Jpeg).unwrap();
        file.into_inner()
    }

    #[test]
    fn a_jpeg_becomes_a_small_png_of_the_same_shape() {
        let made = logo_picture(&jpeg(800, 400)).unwrap();
        assert!(made.starts_with(b"\x89PNG") && made.len() <= LOGO_PNG_BYTES, "{}", made.len());
        let picture = image::load_from_memory(&made).unwrap();
        assert_eq!(picture.width(), picture.height() * 2);
        let small = image::load_from_memory(&logo_picture(&jpeg(64, 40)).unwrap()).unwrap();
        assert_eq!((small.width(), small.height()), (64, 40));
    }

    #[test]
    fn what_is_no_whole_jpeg_becomes_nothing() {
        let whole = jpeg(64, 40);
        for file in [&b"<svg/>"[..], b"\x89PNG\r\n\x1a\n", b"", &whole[..20]] {
            assert_eq!(logo_picture(file), None);
        }
    }
}
