//! PDF files: the words of their text layer, the pictures of scanned pages, and files inside.

mod embedded;
mod glyphs;

use hayro_interpret::hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use hayro_interpret::kurbo::{Affine, Rect};
use hayro_interpret::{Context, InterpreterCache, InterpreterSettings, interpret_page};

use crate::limits::{PAGES, PICTURES};
use crate::{Contents, Unreadable, einvoice, layout};
use glyphs::{Collector, Want};

pub fn open(bytes: &[u8]) -> Result<Contents, Unreadable> {
    let pdf = Pdf::new(bytes.to_vec()).map_err(|error| match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => Unreadable::Locked,
        _ => Unreadable::Damaged,
    })?;
    let stated = embedded::files(&pdf).iter().find_map(|file| einvoice::read(file));
    let mut contents = Contents { stated, ..Contents::default() };
    for collector in pages(&pdf, Want::Words) {
        contents.pages.push(collector.into_page());
    }
    if !layout::has_text(&contents.pages) {
        for collector in pages(&pdf, Want::Pictures).into_iter().take(PICTURES) {
            contents.pictures.extend(collector.into_picture());
        }
    }
    match contents.pages.is_empty() && contents.stated.is_none() {
        true => Err(Unreadable::Damaged),
        false => Ok(contents),
    }
}

pub fn files_inside(bytes: &[u8]) -> Vec<Vec<u8>> {
    Pdf::new(bytes.to_vec()).map(|pdf| embedded::files(&pdf)).unwrap_or_default()
}

fn pages(pdf: &Pdf, want: Want) -> Vec<Collector> {
    let cache = InterpreterCache::new();
    let all = pdf.pages();
    // What counts is at the beginning and, for sums, at the end.
    let skipped = all.len().saturating_sub(PAGES);
    let chosen = all
        .iter()
        .enumerate()
        .filter(|(number, _)| *number < PAGES / 2 || *number >= PAGES / 2 + skipped);
    let mut collectors = Vec::new();
    for (_, page) in chosen {
        let (width, height) = page.render_dimensions();
        let transform = Affine::new(page.initial_transform(true).as_coeffs());
        let bbox = Rect::new(0.0, 0.0, f64::from(width), f64::from(height));
        let settings = InterpreterSettings::default();
        let mut context = Context::new(transform, bbox, &cache, pdf.xref(), settings);
        let mut collector = Collector::new(width, height, want);
        interpret_page(page, &mut context, &mut collector);
        collectors.push(collector);
        if want == Want::Pictures && collectors.len() == PICTURES {
            break;
        }
    }
    collectors
}
