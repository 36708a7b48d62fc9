//! The sender of a document.

use super::sheet::{Sheet, SheetCell, SheetRow};
use super::tokens::{find, fold, has, tokens};
use super::words::{BUYER, COMPANY, NOT_A_NAME, SELLER};
use crate::paper::tidy;

/// Rows under a heading that belong to it.
const BLOCK_ROWS: usize = 9;
/// Rows at the top in which a letterhead stands.
const HEAD_ROWS: usize = 3;
/// Words of a name, at most.
const NAME_WORDS: usize = 9;
/// What parts a name from the address behind it.
const PARTS: &[char] = &['●', '•', '|', '·', '∙', '◦', '*', '⋅', '■'];

pub fn vendor(sheet: &Sheet) -> Option<String> {
    let domains = domains(sheet);
    let buyers = buyer_cells(sheet);
    let mut found: Vec<(i32, String)> = Vec::new();
    for (place, row) in sheet.rows.iter().enumerate() {
        for (column, cell) in row.cells.iter().enumerate() {
            if let Some(name) = under_heading(sheet, place, column) {
                found.push((105 - 20 * row.page as i32, name));
            }
            let bought = buyers.contains(&(place, column));
            if let Some((score, name)) = by_itself(sheet, row, place, cell) {
                found.push((score - if bought { 70 } else { 0 }, name));
            }
        }
    }
    let names: Vec<String> = found.iter().map(|(_, name)| squeeze(name)).collect();
    let mut best: Option<(i32, String)> = None;
    for ((score, name), squeezed) in found.iter().zip(&names) {
        let again = names.iter().filter(|other| *other == squeezed).count().min(4) as i32 - 1;
        let ours = domains.iter().any(|domain| alike(domain, squeezed));
        let score = score + 6 * again + if ours { 30 } else { 0 };
        if best.as_ref().is_none_or(|(known, _)| score > *known) {
            best = Some((score, name.clone()));
        }
    }
    best.filter(|(score, _)| *score > 0).and_then(|(_, name)| tidy(&name))
}

/// The name under or behind a heading such as "Seller".
fn under_heading(sheet: &Sheet, place: usize, column: usize) -> Option<String> {
    let cell = &sheet.rows[place].cells[column];
    let (from, to) = find(&cell.tokens, *SELLER)?;
    if from > 0 || has(&cell.tokens, *BUYER) {
        return None;
    }
    let behind = cell.text[cell.tokens[to - 1].end..].trim_start_matches([' ', ':', '-', '/']);
    let marked = cell.text[cell.tokens[to - 1].end..].trim_start().starts_with(':');
    if marked && !behind.is_empty() {
        return name_of(behind).filter(|name| is_name(name));
    }
    if cell.tokens.len() > to {
        return None;
    }
    let beside = sheet.rows[place].cells.get(column + 1);
    if let Some(name) = beside.filter(|_| marked).and_then(|beside| name_of(&beside.text)) {
        return Some(name).filter(|name| is_name(name));
    }
    for (number, row) in sheet.rows.iter().enumerate().skip(place + 1).take(BLOCK_ROWS) {
        if row.page != sheet.rows[place].page {
            break;
        }
        let near = |under: &&SheetCell| {
            under.left < cell.right + cell.size && under.right > cell.left - cell.size
        };
        let Some(at) = row.cells.iter().position(|under| near(&under)) else { continue };
        let under = &row.cells[at];
        if has(&under.tokens, *BUYER) || has(&under.tokens, *SELLER) {
            break;
        }
        // A form has its labels on the left: "Name: Lumen".
        if under.tokens.first().is_some_and(|first| first.word == "name") {
            let behind = under.text[under.tokens[0].end..].trim_start_matches([' ', ':']);
            let beside = row.cells.get(at + 1).map(|cell| cell.text.as_str());
            let text = if behind.is_empty() { beside? } else { behind };
            return name_of(text).filter(|name| is_name(name));
        }
        if let Some(name) = name_of(&under.text).filter(|name| is_name(name) && !is_form(under)) {
            return Some(whole_name(sheet, number, under, name));
        }
    }
    None
}

/// A name that goes on in the next line, where its legal form is.
fn whole_name(sheet: &Sheet, row: usize, cell: &SheetCell, name: String) -> String {
    let is_company = |name: &str| find(&tokens(name), *COMPANY).is_some();
    let next = sheet.rows.get(row + 1).filter(|next| next.page == sheet.rows[row].page);
    let under = next.and_then(|next| {
        next.cells.iter().find(|under| (under.left - cell.left).abs() < cell.size)
    });
    let more = under.and_then(|under| name_of(&under.text)).filter(|more| {
        !is_company(&name) && is_company(more) && is_name(more) && !more.contains(':')
    });
    match more {
        Some(more) => format!("{name} {more}"),
        None => name,
    }
}

/// "Number : 12" is a line of a form, not a name.
fn is_form(cell: &SheetCell) -> bool {
    cell.text.contains(':')
}

/// A name for its own sake: a company's, or what stands at the head of the paper.
fn by_itself(
    sheet: &Sheet,
    row: &SheetRow,
    place: usize,
    cell: &SheetCell,
) -> Option<(i32, String)> {
    let line = name_of(&cell.text)?;
    if !is_name(&line) || line.contains(':') {
        return None;
    }
    let head = row.page == 0 && place < HEAD_ROWS;
    let name = match head {
        true => whole_name(sheet, place, cell, line.clone()),
        false => line.clone(),
    };
    let company = find(&tokens(&name), *COMPANY).is_some_and(|(from, _)| from > 0);
    if !company && !head {
        return None;
    }
    let mut score = if company { 50 } else { 22 };
    if row.page == 0 {
        score += if row.depth < 0.25 {
            15
        } else if row.depth > 0.85 {
            8
        } else {
            0
        };
    } else {
        score -= 5;
    }
    // A sender's line has the whole address in it.
    let rest =
        cell.text.len() > line.len() && cell.text.bytes().filter(u8::is_ascii_digit).count() >= 4;
    score += if rest { 15 } else { 0 };
    score += if cell.size > 1.3 * sheet.usual_size { 10 } else { 0 };
    let around = sheet.rows.iter().skip(place).take(6).filter(|near| near.page == row.page);
    let taxed = around.flat_map(|near| &near.cells).any(|near| {
        let same_column = near.left < cell.right && near.right > cell.left;
        same_column && has(&near.tokens, OWN_MARKS)
    });
    score += if taxed { 12 } else { 0 };
    Some((score, name))
}

/// What a sender says about itself and never about others.
const OWN_MARKS: &[&str] = &[
    "iban",
    "bic",
    "ust id",
    "ust idnr",
    "ustid",
    "vat",
    "siret",
    "siren",
    "tva",
    "kvk",
    "btw",
    "p iva",
    "partita iva",
    "cif",
    "nif",
    "steuernummer",
    "steuer nr",
    "hrb",
    "handelsregister",
    "gstin",
    "nip",
    "company number",
    "registered",
    "tel",
    "www",
];

/// The part of a text that may be a name: up to where an address begins.
fn name_of(text: &str) -> Option<String> {
    let mut part = text;
    for (at, c) in text.char_indices() {
        let before = &text[..at];
        let rest = &text[at + c.len_utf8()..];
        let spaced = before.ends_with(' ') && rest.starts_with(' ');
        let ends = PARTS.contains(&c)
            || matches!(c, '-' | '–' | '—') && spaced
            || c == ',' && rest.starts_with(' ') && !next_is_company(rest);
        if ends && !before.trim().is_empty() {
            part = before;
            break;
        }
    }
    let part = part.trim().trim_end_matches([',', ';', ':', '-', '–']).trim();
    let words: Vec<&str> = part.split_whitespace().take(NAME_WORDS + 1).collect();
    (!words.is_empty() && words.len() <= NAME_WORDS).then(|| words.join(" "))
}

fn next_is_company(rest: &str) -> bool {
    find(&tokens(rest), *COMPANY).is_some_and(|(from, _)| from == 0)
}

fn is_name(name: &str) -> bool {
    let words = tokens(name);
    let letters = name.chars().filter(|c| c.is_alphabetic()).count();
    let digits = name.chars().filter(char::is_ascii_digit).count();
    let first = &words[..words.len().min(2)];
    letters >= 2
        && digits <= letters / 3
        && !name.contains(['@', '€', '$', '£', '%', '='])
        && find(first, *NOT_A_NAME).is_none_or(|(from, _)| from > 0)
        && !has(&words, *BUYER)
}

/// The cells under a heading such as "Bill to".
fn buyer_cells(sheet: &Sheet) -> Vec<(usize, usize)> {
    let mut cells = Vec::new();
    for label in sheet.labels(*BUYER).into_iter().filter(|label| label.from == 0) {
        let head = sheet.cell(&label);
        cells.push((label.row, label.cell));
        cells.push((label.row, label.cell + 1));
        for (number, row) in sheet.rows.iter().enumerate().skip(label.row + 1).take(BLOCK_ROWS) {
            if row.page != sheet.rows[label.row].page || has(&row.tokens(), *SELLER) {
                break;
            }
            for (column, cell) in row.cells.iter().enumerate() {
                if cell.left < head.right + 6.0 * head.size && cell.right > head.left {
                    cells.push((number, column));
                }
            }
        }
    }
    cells
}

/// The names in the web and mail addresses of the paper, without their endings.
fn domains(sheet: &Sheet) -> Vec<String> {
    let mut domains = Vec::new();
    for text in sheet.texts() {
        for word in text.split_whitespace() {
            let word = word.to_lowercase();
            let bare = word.trim_start_matches("https://").trim_start_matches("http://");
            let host = match (bare.rsplit_once('@'), bare.strip_prefix("www.")) {
                (Some((_, host)), _) => host,
                (None, Some(host)) => host,
                (None, None) if bare.len() < word.len() => bare,
                _ => continue,
            };
            let host = host.split(['/', '?', ',', ';', ')']).next().unwrap_or("");
            let labels: Vec<&str> = host.trim_matches('.').split('.').collect();
            if labels.len() >= 2 {
                let second = labels[labels.len() - 2];
                let name = if second.len() <= 3 && labels.len() > 2 {
                    labels[labels.len() - 3]
                } else {
                    second
                };
                domains.push(squeeze(name));
            }
        }
    }
    const EVERYBODYS: &[&str] =
        &["gmail", "yahoo", "outlook", "hotmail", "gmx", "web", "example", "localhost"];
    domains.retain(|domain| domain.len() >= 3 && !EVERYBODYS.contains(&domain.as_str()));
    domains
}

fn squeeze(name: &str) -> String {
    fold(name).chars().filter(|c| *c != ' ').collect()
}

/// Whether a name and a domain are those of one company.
fn alike(domain: &str, name: &str) -> bool {
    let short = domain.len().min(name.len());
    short >= 3
        && (name.starts_with(domain)
            || domain.starts_with(name)
            || short >= 5 && name.contains(domain))
}
