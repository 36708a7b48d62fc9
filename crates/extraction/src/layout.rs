//! Words with their positions: the common form of PDF text, plain text and OCR.

use crate::limits::TEXT_CHARS;

/// Letters and digits from which a document counts as having text of its own.
const TEXT_FROM: usize = 40;
/// A gap this wide, in heights of the letters, begins another cell.
const CELL_GAP: f32 = 1.1;
/// Baselines this near, in heights of the letters, are one line.
const SAME_LINE: f32 = 0.45;

/// A word with its place in points, from the top left corner of its page.
#[derive(Clone, Debug, PartialEq)]
pub struct Word {
    pub text: String,
    pub left: f32,
    pub right: f32,
    /// Where the letters stand.
    pub base: f32,
    /// The height of the letters.
    pub size: f32,
}

/// A page of words, in no order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextPage {
    pub width: f32,
    pub height: f32,
    pub words: Vec<Word>,
}

/// Words that stand together in a line.
#[derive(Clone, Debug, PartialEq)]
pub struct TextCell {
    pub text: String,
    pub left: f32,
    pub right: f32,
    pub size: f32,
}

/// Cells of the same height on a page, from left to right.
#[derive(Clone, Debug, PartialEq)]
pub struct TextLine {
    pub page: usize,
    /// Where on the page it stands, from 0 at the top to 1.
    pub depth: f32,
    pub base: f32,
    pub cells: Vec<TextCell>,
}

impl TextLine {
    pub fn text(&self) -> String {
        let cells: Vec<&str> = self.cells.iter().map(|cell| cell.text.as_str()).collect();
        cells.join("  ")
    }
}

/// The lines of all pages, from top to bottom.
pub fn lines(pages: &[TextPage]) -> Vec<TextLine> {
    pages.iter().enumerate().flat_map(|(number, page)| lines_of(number, page)).collect()
}

fn lines_of(number: usize, page: &TextPage) -> Vec<TextLine> {
    let mut words: Vec<&Word> = page.words.iter().collect();
    words.sort_by(|a, b| a.base.total_cmp(&b.base).then(a.left.total_cmp(&b.left)));
    let mut rows: Vec<(f32, f32, Vec<&Word>)> = Vec::new();
    for word in words {
        match rows.last_mut() {
            Some((base, size, row)) if word.base - *base <= SAME_LINE * size.min(word.size) => {
                row.push(word);
            }
            _ => rows.push((word.base, word.size, vec![word])),
        }
    }
    let height = page.height.max(1.0);
    let line = |(base, _, row): (f32, f32, Vec<&Word>)| TextLine {
        page: number,
        depth: (base / height).clamp(0.0, 1.0),
        base,
        cells: cells_of(row),
    };
    rows.into_iter().map(line).filter(|line| !line.cells.is_empty()).collect()
}

fn cells_of(mut row: Vec<&Word>) -> Vec<TextCell> {
    row.sort_by(|a, b| a.left.total_cmp(&b.left));
    let mut cells: Vec<TextCell> = Vec::new();
    let mut last: Option<&Word> = None;
    for word in row {
        // Some programs make letters bold by setting them twice.
        let again = last.is_some_and(|last| {
            last.text == word.text && (word.left - last.left).abs() < 0.25 * word.size
        });
        if again {
            continue;
        }
        last = Some(word);
        match cells.last_mut() {
            Some(cell) if word.left - cell.right <= CELL_GAP * word.size.min(cell.size) => {
                cell.text.push(' ');
                cell.text.push_str(&word.text);
                cell.right = cell.right.max(word.right);
                cell.size = cell.size.max(word.size);
            }
            _ => cells.push(TextCell {
                text: word.text.clone(),
                left: word.left,
                right: word.right,
                size: word.size,
            }),
        }
    }
    cells
}

pub fn has_text(pages: &[TextPage]) -> bool {
    let letters = pages.iter().flat_map(|page| &page.words).flat_map(|word| word.text.chars());
    letters.filter(|c| c.is_alphanumeric()).take(TEXT_FROM).count() == TEXT_FROM
}

/// All lines as text, cut where it gets long.
pub fn text(pages: &[TextPage]) -> String {
    let lines: Vec<String> = lines(pages).iter().map(TextLine::text).collect();
    let text = lines.join("\n");
    match text.char_indices().nth(TEXT_CHARS) {
        Some((end, _)) => text[..end].to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str, left: f32, base: f32) -> Word {
        let right = left + 5.0 * text.chars().count() as f32;
        Word { text: text.into(), left, right, base, size: 10.0 }
    }

    #[test]
    fn words_become_cells_and_lines_in_reading_order() {
        let words = vec![
            word("12.50", 300.0, 101.0),
            word("Total", 50.0, 100.0),
            word("due", 80.0, 100.0),
            word("Invoice", 50.0, 40.0),
            word("Invoice", 50.4, 40.0),
        ];
        let page = TextPage { width: 600.0, height: 800.0, words };
        assert_eq!(text(std::slice::from_ref(&page)), "Invoice\nTotal due  12.50");
        let lines = lines(&[page]);
        assert_eq!(lines[1].cells.len(), 2);
        assert!(lines[0].depth < lines[1].depth);
    }
}
