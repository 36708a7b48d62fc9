//! The total amount of a document, taxes included.

use super::numbers::{Number, numbers};
use super::sheet::{Label, Sheet};
use super::tokens::{WordToken, has, tokens};
use super::words::{GROSS, NOT_THE_WHOLE, TO_PAY, TOTAL, WITH_TAX};

/// Words of a cell beside its numbers from which it is a sentence, not a label.
const SENTENCE: usize = 8;
/// Amounts that are tried as parts of a sum, at most.
const PARTS: usize = 60;

/// How much a label says, and what takes away from it or adds to it.
const GROSS_SCORE: i32 = 100;
const TO_PAY_SCORE: i32 = 88;
const TOTAL_SCORE: i32 = 62;
const NOT_WHOLE: i32 = -65;
const IN_SENTENCE: i32 = -25;
const BELOW: i32 = -50;
const NOTHING: i32 = -60;
const ADDS_UP: i32 = 30;
const LARGEST: i32 = 8;
const LATE: f32 = 12.0;
const WITHOUT_CENTS: i32 = -20;

pub struct Amount {
    pub value: f64,
    pub row: usize,
}

pub fn amount(sheet: &Sheet) -> Option<Amount> {
    let all = all_amounts(sheet);
    let largest = all.iter().copied().fold(0.0, f64::max);
    let mut best: Option<(i32, Amount)> = None;
    for (phrases, score) in [(*GROSS, GROSS_SCORE), (*TO_PAY, TO_PAY_SCORE), (*TOTAL, TOTAL_SCORE)]
    {
        for label in sheet.labels(phrases) {
            let Some((found, row, lower)) = value_of(sheet, &label) else { continue };
            let mut score = score + lower + of_label(sheet, &label);
            score += (LATE * label.row as f32 / sheet.rows.len() as f32) as i32;
            score += if found.cents { 0 } else { WITHOUT_CENTS };
            score += if found.value == 0.0 { NOTHING } else { 0 };
            score += if same(found.value.abs(), largest) { LARGEST } else { 0 };
            score += if adds_up(found.value, &all) { ADDS_UP } else { 0 };
            if best.as_ref().is_none_or(|(known, _)| score > *known) {
                best = Some((score, Amount { value: found.value, row }));
            }
        }
    }
    best.filter(|(score, _)| *score > 0)
        .map(|(_, amount)| amount)
        .or_else(|| find_without_label(sheet))
}

/// Whether a sum stands behind a label that asks for one.
pub fn is_labelled(sheet: &Sheet) -> bool {
    let labels = sheet.labels(*GROSS).into_iter().chain(sheet.labels(*TO_PAY));
    labels.into_iter().any(|label| value_of(sheet, &label).is_some_and(|(found, ..)| found.cents))
}

/// What the words of the label's own cell say about it.
fn of_label(sheet: &Sheet, label: &Label) -> i32 {
    let words: Vec<WordToken> = letters(&sheet.cell(label).tokens);
    let part = has(&words, *NOT_THE_WHOLE) && !has(&words, *WITH_TAX);
    let sentence = words.len() >= SENTENCE;
    (if part { NOT_WHOLE } else { 0 }) + (if sentence { IN_SENTENCE } else { 0 })
}

/// The amount that belongs to a label, its row, and what to think less of it for.
fn value_of(sheet: &Sheet, label: &Label) -> Option<(Number, usize, i32)> {
    let cell = sheet.cell(label);
    let end = cell.tokens.get(label.to - 1)?.end;
    // In a row of net, tax and gross the last is the whole; another label ends the row.
    let mut last = numbers(&cell.text[end..]).into_iter().rfind(is_money);
    for right in &sheet.rows[label.row].cells[label.cell + 1..] {
        let found = numbers(&right.text).into_iter().rfind(is_money);
        let speaks = letters(&right.tokens).iter().filter(|token| token.word.len() > 3).count() > 0;
        if speaks && !has(&right.tokens, *WITH_TAX) {
            break;
        }
        last = found.or(last);
    }
    if let Some(number) = last {
        return Some((number, label.row, 0));
    }
    let header = sheet.rows[label.row].cells.len() >= 3;
    sheet.near(label).into_iter().filter(|near| near.row != label.row).find_map(|near| {
        let words = letters(&tokens(&near.text));
        let number = numbers(&near.text).into_iter().rfind(is_money)?;
        let lower = match (near.steps, header) {
            (2, _) => -5,
            (_, false) => BELOW / 2,
            (_, true) => BELOW,
        };
        (words.len() < 3).then_some((number, near.row, lower))
    })
}

fn is_money(number: &Number) -> bool {
    number.cents || number.value.abs() >= 1.0
}

/// The tokens that are words.
fn letters(tokens: &[WordToken]) -> Vec<WordToken> {
    let is_word = |token: &&WordToken| token.word.chars().any(char::is_alphabetic);
    tokens.iter().filter(is_word).cloned().collect()
}

/// The amounts with cents of the whole paper.
fn all_amounts(sheet: &Sheet) -> Vec<f64> {
    let cells = sheet.rows.iter().flat_map(|row| &row.cells);
    cells.flat_map(|cell| numbers(&cell.text)).filter(|n| n.cents).map(|n| n.value.abs()).collect()
}

/// Whether two other amounts of the paper, such as net and tax, make this one.
fn adds_up(value: f64, all: &[f64]) -> bool {
    let value = value.abs();
    let mut parts: Vec<i64> = all.iter().map(|part| cents(*part)).collect();
    parts.retain(|part| *part > 0 && *part < cents(value));
    parts.sort_unstable();
    parts.dedup();
    let parts = &parts[parts.len().saturating_sub(PARTS)..];
    parts.iter().any(|part| {
        let rest = cents(value) - part;
        rest < *part && parts.binary_search(&rest).is_ok()
    })
}

fn cents(amount: f64) -> i64 {
    (amount * 100.0).round() as i64
}

fn same(a: f64, b: f64) -> bool {
    cents(a) == cents(b)
}

/// Without any label: the largest amount that stands beside a currency.
fn find_without_label(sheet: &Sheet) -> Option<Amount> {
    let mut best: Option<Amount> = None;
    for (number, row) in sheet.rows.iter().enumerate() {
        for cell in &row.cells {
            if super::currency::find_all(&cell.text, &cell.tokens).is_empty() {
                continue;
            }
            for found in numbers(&cell.text).into_iter().filter(|found| found.cents) {
                if best.as_ref().is_none_or(|best| found.value > best.value) {
                    best = Some(Amount { value: found.value, row: number });
                }
            }
        }
    }
    best
}
