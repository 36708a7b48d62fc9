//! Plain text, set on a page of its own so that the same rules read it.

use crate::layout::{TextPage, Word};
use crate::limits::PLAIN_BYTES;
use crate::{Contents, Unreadable};

const LETTER_WIDTH: f32 = 5.0;
const LETTER_SIZE: f32 = 8.0;
const LINE_HEIGHT: f32 = 12.0;
const TAB_STOP: usize = 8;

pub fn open(bytes: &[u8]) -> Result<Contents, Unreadable> {
    let bytes = &bytes[..bytes.len().min(PLAIN_BYTES)];
    let text = decode(bytes);
    let strange = text.chars().filter(|c| *c == '\u{fffd}' || is_strange(*c)).count();
    if strange * 10 > text.chars().count() {
        return Err(Unreadable::Unknown);
    }
    Ok(Contents { pages: vec![page(&text)], ..Contents::default() })
}

fn is_strange(c: char) -> bool {
    c.is_control() && !c.is_whitespace()
}

/// UTF-8, UTF-16 with its mark, or else the letters of western Europe.
pub fn decode(bytes: &[u8]) -> String {
    let wide = |order: fn([u8; 2]) -> u16| {
        let units = bytes[2..].chunks_exact(2).map(|pair| order([pair[0], pair[1]]));
        char::decode_utf16(units).map(|c| c.unwrap_or('\u{fffd}')).collect()
    };
    match bytes {
        [0xff, 0xfe, ..] => wide(u16::from_le_bytes),
        [0xfe, 0xff, ..] => wide(u16::from_be_bytes),
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(error) if error.valid_up_to() + 4 > bytes.len() => {
                String::from_utf8_lossy(bytes).into_owned()
            }
            Err(_) => bytes.iter().map(|byte| char::from(*byte)).collect(),
        },
    }
}

fn page(text: &str) -> TextPage {
    let mut words = Vec::new();
    let mut base = 0.0;
    let mut width: f32 = 0.0;
    for line in text.lines() {
        base += LINE_HEIGHT;
        let mut column = 0;
        let mut word = String::new();
        for c in line.chars().chain([' ']) {
            if !c.is_whitespace() {
                word.push(c);
            } else if !word.is_empty() {
                let chars = word.chars().count();
                let left = (column - chars) as f32 * LETTER_WIDTH;
                let right = column as f32 * LETTER_WIDTH;
                width = width.max(right);
                let text = std::mem::take(&mut word);
                words.push(Word { text, left, right, base, size: LETTER_SIZE });
            }
            column = if c == '\t' { (column / TAB_STOP + 1) * TAB_STOP } else { column + 1 };
        }
    }
    TextPage { width, height: base + LINE_HEIGHT, words }
}
