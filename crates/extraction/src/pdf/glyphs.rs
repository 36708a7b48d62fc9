//! Collects the words of a PDF page with their places.

use hayro_interpret::font::{Glyph, GlyphRun};
use hayro_interpret::hayro_cmap::BfString;
use hayro_interpret::kurbo::{Affine, BezPath, Point};
use hayro_interpret::{
    BlendMode, ClipPath, Device, DrawMode, DrawProps, Image, ImageData, ImageDrawProps, SoftMask,
};

use crate::layout::{TextPage, Word};
use crate::limits::{GLYPHS, PICTURE_PIXELS, PICTURE_SIDE, SCAN_SIDE};
use crate::picture::Picture;

/// A gap this wide, in heights of the letters, ends a word where a page has no spaces of its own.
const WORD_GAP: f32 = 0.17;
/// The same where it has: narrower gaps are the letters' own.
const WORD_GAP_BESIDE_SPACES: f32 = 0.32;
/// One glyph in so many is a space on a page that has spaces of its own.
const SPACES_ONE_IN: usize = 25;
/// Letters whose baselines differ by more, in heights of the letters, are not in one word.
const WORD_STEP: f32 = 0.25;
/// Letters may reach back over the one before by so much, in heights of the letters.
const OVERLAP: f32 = 0.6;
/// The share of a page that a scan covers at the least.
const SCAN_SHARE: f64 = 0.3;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Want {
    Words,
    Pictures,
}

/// Takes down what is drawn on one page.
pub struct Collector {
    want: Want,
    width: f32,
    height: f32,
    glyphs: Vec<Word>,
    picture: Option<Picture>,
}

impl Collector {
    pub fn new(width: f32, height: f32, want: Want) -> Collector {
        Collector { want, width, height, glyphs: Vec::new(), picture: None }
    }

    /// The glyphs put together to words.
    pub fn into_page(self) -> TextPage {
        let spaces = self.glyphs.iter().filter(|glyph| glyph.text.trim().is_empty()).count();
        let gap = match spaces * SPACES_ONE_IN >= self.glyphs.len() {
            true => WORD_GAP_BESIDE_SPACES,
            false => WORD_GAP,
        };
        let mut words: Vec<Word> = Vec::new();
        let mut open = false;
        for glyph in self.glyphs {
            let text = glyph.text.trim().to_owned();
            match words.last_mut() {
                _ if text.is_empty() => open = false,
                Some(word) if open && follows(word, &glyph, gap) => {
                    word.text.push_str(&text);
                    word.right = word.right.max(glyph.right);
                }
                _ => {
                    open = true;
                    words.push(Word { text, ..glyph });
                }
            }
        }
        TextPage { width: self.width, height: self.height, words }
    }

    pub fn into_picture(self) -> Option<Picture> {
        self.picture
    }

    fn add(&mut self, text: &str, transform: Affine, advance: f32) {
        let [a, b, c, d, ..] = transform.as_coeffs().map(|value| value as f32);
        // Text that does not run from left to right is a remark in the margin.
        if b.abs() > 0.3 * a.abs() || a <= 0.0 {
            return;
        }
        let start = transform * Point::ZERO;
        let (left, base) = (start.x as f32, start.y as f32);
        let (right, size) = (left + advance * a.hypot(b), 1_000.0 * c.hypot(d));
        if left.is_finite() && right.is_finite() && base.is_finite() && size > 0.0 {
            let text = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            self.glyphs.push(Word { text, left, right, base, size });
        }
    }

    fn keep_picture(&mut self, gray: Option<Picture>) {
        let pixels = |picture: &Picture| picture.width * picture.height;
        let known = self.picture.as_ref().map_or(0, pixels);
        if let Some(gray) = gray.filter(|gray| pixels(gray) > known) {
            self.picture = Some(gray);
        }
    }

    fn is_scan(&self, image: &Image<'_, '_>, transform: Affine) -> bool {
        let (width, height) = (image.width(), image.height());
        let area = (transform.determinant() * f64::from(width) * f64::from(height)).abs();
        let page = f64::from(self.width) * f64::from(self.height);
        width.max(height) >= SCAN_SIDE
            && u64::from(width) * u64::from(height) <= PICTURE_PIXELS
            && area >= SCAN_SHARE * page
    }
}

/// Whether a glyph goes on with a word.
fn follows(word: &Word, glyph: &Word, gap: f32) -> bool {
    let size = word.size.min(glyph.size);
    let between = glyph.left - word.right;
    (glyph.base - word.base).abs() <= WORD_STEP * size
        && between <= gap * size
        && between >= -OVERLAP * size
}

impl<'a> Device<'a> for Collector {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, 'a>, props: DrawProps<'a>, _: &DrawMode) {
        if self.want != Want::Words {
            return;
        }
        for glyph in run.glyphs() {
            if self.glyphs.len() >= GLYPHS {
                return;
            }
            let advance = match &**glyph {
                Glyph::Outline(outline) => outline.advance_width(),
                Glyph::Type3(drawn) => drawn.advance_width(),
            };
            let text = match glyph.as_unicode() {
                Some(BfString::Char(c)) => c.to_string(),
                Some(BfString::String(text)) => text,
                None => continue,
            };
            self.add(&text, props.transform * glyph.transform(), advance.unwrap_or(500.0));
        }
    }

    fn draw_image(&mut self, image: Image<'a, '_>, props: ImageDrawProps<'a>) {
        if self.want != Want::Pictures || !self.is_scan(&image, props.transform) {
            return;
        }
        let wanted = Some((PICTURE_SIDE, PICTURE_SIDE));
        let mut gray = None;
        match &image {
            Image::Raster(raster) => raster.with_rgba(
                |data, _| {
                    gray = match data {
                        ImageData::Rgb(rgb) => Picture::of_rgb(rgb.width, rgb.height, &rgb.data),
                        ImageData::Luma(luma) => {
                            Picture::of_gray(luma.width, luma.height, luma.data)
                        }
                    }
                },
                wanted,
            ),
            // A stencil's marks are where its data says so, whatever they are painted with.
            Image::Stencil(stencil) => stencil.with_stencil(
                |luma, _| {
                    let ink = luma.data.iter().map(|level| 255 - level).collect();
                    gray = Picture::of_gray(luma.width, luma.height, ink);
                },
                wanted,
            ),
        }
        self.keep_picture(gray);
    }

    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'a>, _: &DrawMode) {}
    fn push_clip_path(&mut self, _: &ClipPath) {}
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'a>>, _: BlendMode) {}
    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
}
