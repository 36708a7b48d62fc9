//! Reads tesseract's table of recognised words.

use crate::layout::{TextPage, Word};
use crate::limits::WORDS_SEEN;

/// Columns of tesseract's table.
const LEVEL: usize = 0;
const LEFT: usize = 6;
const TOP: usize = 7;
const WIDTH: usize = 8;
const HEIGHT: usize = 9;
const TRUST: usize = 10;
const TEXT: usize = 11;
/// The level of a page, a line and a word.
const PAGE_LEVEL: &str = "1";
const LINE_LEVEL: &str = "4";
const WORD_LEVEL: &str = "5";
/// Words that tesseract trusts less than this, in percent, are dirt.
const TRUSTED: f32 = 25.0;
/// The share of a line's height that stands above the baseline, about.
const LETTER_SHARE: f32 = 0.8;

/// Parses tesseract's `tsv` output.
pub fn words_seen(table: &str) -> TextPage {
    let mut page = TextPage::default();
    let mut line = (0.0, 0.0);
    for row in table.lines().skip(1) {
        let columns: Vec<&str> = row.split('\t').collect();
        let number = |at: usize| columns.get(at).and_then(|n| n.parse::<f32>().ok()).unwrap_or(0.0);
        let (top, height) = (number(TOP), number(HEIGHT));
        match columns.get(LEVEL).copied() {
            Some(PAGE_LEVEL) => (page.width, page.height) = (number(WIDTH), height),
            // Words of a line differ in height with their letters; the line is what they share.
            Some(LINE_LEVEL) => line = (top + height, height * LETTER_SHARE),
            Some(WORD_LEVEL) if number(TRUST) >= TRUSTED && page.words.len() < WORDS_SEEN => {
                let text = columns.get(TEXT).copied().unwrap_or("").trim().to_owned();
                if !text.is_empty() {
                    let left = number(LEFT);
                    let right = left + number(WIDTH);
                    let (base, size) = if line.1 > 0.0 { line } else { (top + height, height) };
                    page.words.push(Word { text, left, right, base, size });
                }
            }
            _ => {}
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_table_get_their_places() {
        let table = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n\
            1\t1\t0\t0\t0\t0\t0\t0\t600\t800\t-1\t\n\
            4\t1\t1\t1\t1\t0\t10\t20\t200\t10\t-1\t\n\
            5\t1\t1\t1\t1\t1\t10\t20\t40\t10\t96.1\tTotal\n\
            5\t1\t1\t1\t1\t2\t60\t22\t30\t8\t90\t12.50\n\
            5\t1\t1\t1\t1\t3\t95\t22\t30\t8\t3\t~~\n\
            5\tbroken";
        let page = words_seen(table);
        assert_eq!((page.width, page.height), (600.0, 800.0));
        let words: Vec<(&str, f32)> =
            page.words.iter().map(|word| (word.text.as_str(), word.base)).collect();
        assert_eq!(words, [("Total", 30.0), ("12.50", 30.0)]);
    }
}
