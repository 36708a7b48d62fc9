//! Classifies a document by typical words.

use phrases::word_lists;

use super::sheet::Sheet;
use super::tokens::find;
use crate::paper::PaperKind;

/// Rows at the beginning in which a paper says what it is.
const HEAD_ROWS: usize = 25;
/// Words of a cell that is a heading.
const SHORT: usize = 5;
/// A word in large letters, near the beginning, or anywhere.
const LARGE: u32 = 5;
const HEAD: u32 = 3;
const ANYWHERE: u32 = 1;
/// Places where a word counts anywhere.
const COUNTED: u32 = 4;
/// The minimum score of a kind.
const ENOUGH: u32 = 3;
/// Letters and digits from which a picture is one of a paper.
const PAPER_FROM: usize = 60;

word_lists! {
    "kind_words.txt":
    INVOICE = "invoice";
    RECEIPT = "receipt";
    STATEMENT = "statement";
    CONTRACT = "contract";
    ID = "id";
    TAX = "tax";
}

/// Of kinds with the same score the first counts.
fn kind_words() -> [(PaperKind, &'static [&'static str]); 6] {
    [
        (PaperKind::Invoice, *INVOICE),
        (PaperKind::Receipt, *RECEIPT),
        (PaperKind::Statement, *STATEMENT),
        (PaperKind::Contract, *CONTRACT),
        (PaperKind::Id, *ID),
        (PaperKind::Tax, *TAX),
    ]
}

pub fn kind(sheet: &Sheet, is_picture: bool) -> PaperKind {
    if has_machine_readable_lines(sheet) {
        return PaperKind::Id;
    }
    let mut best = (ENOUGH - 1, PaperKind::Other);
    for (kind, phrases) in kind_words() {
        let score = score(sheet, phrases);
        if score > best.0 {
            best = (score, kind);
        }
    }
    match best.1 {
        PaperKind::Other if is_picture && letters(sheet) < PAPER_FROM => PaperKind::Photo,
        kind => kind,
    }
}

fn score(sheet: &Sheet, phrases: &[&str]) -> u32 {
    let (mut score, mut anywhere) = (0, 0);
    for (place, row) in sheet.rows.iter().enumerate() {
        for cell in &row.cells {
            let Some((from, _)) = find(&cell.tokens, phrases) else { continue };
            // What a paper is stands alone, or at the beginning of its line.
            let names_it = from == 0 || cell.tokens.len() <= SHORT;
            let large = cell.size >= 1.25 * sheet.usual_size && cell.tokens.len() <= SHORT;
            match (row.page == 0 && place < HEAD_ROWS, large) {
                (_, true) => score += LARGE,
                (true, _) if names_it => score += HEAD,
                _ if anywhere < COUNTED => {
                    anywhere += 1;
                    score += ANYWHERE;
                }
                _ => {}
            }
        }
    }
    score
}

/// The lines of a passport or card that machines read: `P<UTOERIKSSON<<ANNA<MARIA<<<<`.
fn has_machine_readable_lines(sheet: &Sheet) -> bool {
    let is_one = |text: &String| {
        let squeezed: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let plain = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'<';
        squeezed.len() >= 28 && squeezed.contains("<<") && squeezed.bytes().all(plain)
    };
    sheet.texts().any(|text| is_one(&text))
}

fn letters(sheet: &Sheet) -> usize {
    let cells = sheet.rows.iter().flat_map(|row| &row.cells);
    cells.map(|cell| cell.text.chars().filter(|c| c.is_alphanumeric()).count()).sum()
}
