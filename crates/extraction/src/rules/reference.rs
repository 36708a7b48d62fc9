//! A paper's own number.

use super::dates::{Order, days};
use super::sheet::{Label, Near, Sheet};
use super::tokens::{WordToken, find, has, tokens};
use super::words::{BUYER, NUMBER, NUMBER_MARK, TITLE};
use crate::paper::tidy;

/// Characters of a number, at most.
const CHARS: usize = 40;
/// Steps from a label to its number, at most.
const STEPS: u32 = 5;
/// Words between a paper's name and the mark of its number, at most.
const WORDS_BETWEEN: usize = 6;
/// Letters that may lead a number, apart from it: "RE 2026-7".
const LEAD_CHARS: usize = 4;

/// Words before a label that make it the number of another paper.
const ANOTHER: &[&str] = &[
    "your",
    "related",
    "original",
    "previous",
    "ihre",
    "ihr",
    "zur",
    "zu",
    "vorherige",
    "votre",
    "liee",
    "su",
    "vostra",
    "uw",
    "order",
    "po",
];

pub struct Reference {
    pub text: String,
    pub row: usize,
    /// It stands in the line of its label, not in a table below.
    pub in_line: bool,
}

pub fn reference(sheet: &Sheet) -> Option<Reference> {
    let labelled = sheet.labels(*NUMBER).into_iter().flat_map(|label| find_by_label(sheet, &label));
    let titled = sheet.labels(*TITLE).into_iter().filter_map(|label| find_by_title(sheet, &label));
    let mut best: Option<(i32, Reference)> = None;
    for (score, found) in labelled.chain(titled) {
        if best.as_ref().is_none_or(|(known, _)| score > *known) {
            best = Some((score, found));
        }
    }
    best.map(|(_, reference)| reference)
}

/// Whether a number stands behind a label that asks for one.
pub fn is_labelled(sheet: &Sheet) -> bool {
    sheet.labels(*NUMBER).iter().any(|label| !find_by_label(sheet, label).is_empty())
}

fn find_by_label(sheet: &Sheet, label: &Label) -> Vec<(i32, Reference)> {
    let before = &sheet.cell(label).tokens[..label.from];
    let mut score = 100 - 4 * before.len().min(5) as i32 - early(sheet, label.row);
    if has(before, ANOTHER) || has(before, *BUYER) {
        score -= 60;
    }
    let near = sheet.near(label).into_iter().filter(|near| near.steps <= STEPS);
    near.filter_map(|near| {
        let text = number_at_start(&near.text)?;
        let in_line = near.row == label.row;
        Some((score - 8 * near.steps as i32, Reference { text, row: near.row, in_line }))
    })
    .collect()
}

/// A number behind the paper's name: "Invoice FA-12", "Rechnung (380) Nr. 12", or below it in a
/// table.
fn find_by_title(sheet: &Sheet, label: &Label) -> Option<(i32, Reference)> {
    let cell = sheet.cell(label);
    let before = &cell.tokens[..label.from];
    if before.len() > 2 || has(before, ANOTHER) {
        return None;
    }
    let rest = &cell.tokens[label.to..];
    let end = cell.tokens.get(label.to - 1)?.end;
    let large = if cell.size > 1.15 * sheet.usual_size { 6 } else { 0 };
    let score = 84 + large - early(sheet, label.row) - 4 * before.len() as i32;
    let behind = without_brackets(&cell.text[end..]);
    if let Some(text) = number_at_start(behind) {
        return Some((score, Reference { text, row: label.row, in_line: true }));
    }
    if let Some(text) = find_by_mark(&cell.text, rest) {
        return Some((score - 4, Reference { text, row: label.row, in_line: true }));
    }
    let alone = rest.is_empty() && before.len() < 2;
    let mut near = sheet.near(label).into_iter().filter(|near| alone && near.steps <= 3);
    near.find_map(|near: Near| {
        let text = number_at_start(&near.text)?;
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        let score = score - 24 - 8 * near.steps as i32;
        let in_line = near.row == label.row;
        (digits >= 3).then_some((score, Reference { text, row: near.row, in_line }))
    })
}

/// A number behind "Nr." or "#" a few words on.
fn find_by_mark(text: &str, rest: &[WordToken]) -> Option<String> {
    let window = &rest[..rest.len().min(WORDS_BETWEEN)];
    if let Some((_, to)) = find(window, *NUMBER_MARK) {
        return number_at_start(&text[window[to - 1].end..]);
    }
    let from = window.first()?.start;
    let (_, behind) = text[from..].split_once('#')?;
    number_at_start(behind)
}

/// What follows remarks such as "(380)".
fn without_brackets(text: &str) -> &str {
    let mut rest = text.trim_start_matches([' ', ':', '#', '-', '–', '.']);
    while let Some((_, after)) = rest.strip_prefix('(').and_then(|open| open.split_once(')')) {
        rest = after.trim_start();
    }
    rest
}

/// Numbers of the paper stand at its beginning.
fn early(sheet: &Sheet, row: usize) -> i32 {
    let row = &sheet.rows[row];
    20 * row.page.min(2) as i32 + (12.0 * row.depth) as i32
}

/// The number that a text begins with, without "No." and "#" before it.
fn number_at_start(text: &str) -> Option<String> {
    let mut text = text;
    loop {
        let bare = text.trim_start_matches(|c: char| {
            c.is_whitespace() || matches!(c, '#' | ':' | '.' | '°' | 'º' | '=' | '–' | '-' | '*')
        });
        // "N°562044387" has its mark without a space.
        let glued = ["N°", "n°", "Nº", "nº"].iter().find_map(|mark| bare.strip_prefix(mark));
        let first = tokens(bare).into_iter().next();
        let spaced =
            first.filter(|first| NUMBER_MARK.contains(&first.word.as_str()) && first.start == 0);
        text = match (glued, spaced) {
            (Some(rest), _) => rest,
            (None, Some(mark)) => &bare[mark.end..],
            (None, None) => {
                text = bare;
                break;
            }
        };
    }
    let mut pieces = text.split_whitespace();
    let first = pieces.next()?;
    let whole = match pieces.next() {
        // "F 1234/12": letters that lead the digits.
        Some(second) if is_lead(first) && second.starts_with(|c: char| c.is_ascii_digit()) => {
            format!("{first} {second}")
        }
        _ => first.to_owned(),
    };
    let whole = whole.trim_end_matches(['.', ',', ';', ':', ')', '*', '|']);
    let allowed = |c: char| {
        c.is_alphanumeric() || matches!(c, '-' | '/' | '.' | '_' | '#' | ' ' | '+' | '\\' | '–')
    };
    let fits = whole.chars().count() <= CHARS
        && whole.chars().all(allowed)
        && whole.bytes().any(|b| b.is_ascii_digit());
    let is_day = days(whole, Order::DayFirst)
        .first()
        .is_some_and(|day| day.start == 0 && day.end == whole.len());
    // Three digits behind a point at the most are an amount, as in 12.50.
    (fits && !is_day && !is_amount(whole)).then(|| tidy(whole)).flatten()
}

fn is_lead(word: &str) -> bool {
    word.chars().count() <= LEAD_CHARS && word.chars().all(|c| c.is_ascii_uppercase())
}

fn is_amount(word: &str) -> bool {
    let Some((whole, cents)) = word.rsplit_once('.') else { return false };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    cents.len() == 2 && digits(cents) && digits(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_taken_from_the_beginning_of_a_text() {
        for (text, expected) in [
            ("471102 vom 05.03.2018", Some("471102")),
            ("# RE-20151008/504 von", Some("RE-20151008/504")),
            ("n°562044387 du 02", Some("562044387")),
            ("Nr. 00.123.456.7-2018-1 vom", Some("00.123.456.7-2018-1")),
            ("F 1234K20/1234/12", Some("F 1234K20/1234/12")),
            ("INV/2023/03/0008", Some("INV/2023/03/0008")),
            ("05.03.2018", None),
            ("12.50", None),
            ("12,50", None),
            ("date", None),
            ("", None),
        ] {
            assert_eq!(number_at_start(text).as_deref(), expected, "{text}");
        }
    }
}
