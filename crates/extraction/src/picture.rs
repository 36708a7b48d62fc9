//! Decodes pictures to grayscale for OCR.

use std::io::Cursor;

use image::imageops::FilterType;
use image::{DynamicImage, GrayImage, ImageReader, Limits, RgbImage};

use crate::limits::{DECODING_BYTES, PICTURE_PIXELS, PICTURE_SIDE, SMALL_SIDE};
use crate::{Contents, Unreadable};

/// Shades of gray, row by row from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    pub width: u32,
    pub height: u32,
    pub gray: Vec<u8>,
}

impl Picture {
    pub fn of_gray(width: u32, height: u32, gray: Vec<u8>) -> Option<Picture> {
        GrayImage::from_raw(width, height, gray).map(|image| Picture::of(image.into()))
    }

    pub fn of_rgb(width: u32, height: u32, rgb: &[u8]) -> Option<Picture> {
        RgbImage::from_raw(width, height, rgb.to_vec()).map(|image| Picture::of(image.into()))
    }

    /// Converts to grayscale and scales to a size that suits OCR.
    fn of(image: DynamicImage) -> Picture {
        let gray = DynamicImage::from(image.into_luma8());
        let side = gray.width().max(gray.height());
        let wanted = match side {
            side if side > PICTURE_SIDE => PICTURE_SIDE,
            side if side < SMALL_SIDE => 2 * side,
            side => side,
        };
        let gray = match wanted == side {
            true => gray,
            false => gray.resize(wanted, wanted, FilterType::Triangle),
        };
        Picture { width: gray.width(), height: gray.height(), gray: gray.into_luma8().into_raw() }
    }

    /// The picture in the plainest of formats (PGM).
    pub fn to_pgm(&self) -> Vec<u8> {
        let mut file = format!("P5\n{} {}\n255\n", self.width, self.height).into_bytes();
        file.extend(&self.gray);
        file
    }
}

pub fn open(bytes: &[u8]) -> Result<Contents, Unreadable> {
    let reader = || ImageReader::new(Cursor::new(bytes)).with_guessed_format();
    let (width, height) = reader()
        .map_err(|_| Unreadable::Damaged)?
        .into_dimensions()
        .map_err(|_| Unreadable::Damaged)?;
    if u64::from(width) * u64::from(height) > PICTURE_PIXELS {
        return Ok(Contents { is_picture: true, ..Contents::default() });
    }
    let mut reader = reader().map_err(|_| Unreadable::Damaged)?;
    let mut limits = Limits::default();
    limits.max_alloc = Some(DECODING_BYTES);
    reader.limits(limits);
    let image = reader.decode().map_err(|_| Unreadable::Damaged)?;
    let pictures = vec![Picture::of(image)];
    Ok(Contents { is_picture: true, pictures, ..Contents::default() })
}
