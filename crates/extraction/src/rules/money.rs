//! The currency of a paper, and which way its amount counts.

use super::currency;
use super::sheet::Sheet;
use super::tokens::{has, tokens};

/// How much more a currency counts beside the amount, and behind a label that asks for one.
const BESIDE_AMOUNT: u32 = 8;
const LABELLED: u32 = 20;
const INVOICE_LABELLED: u32 = 40;

const LABELS: &[&str] = &[
    "currency",
    "wahrung",
    "devise",
    "monnaie",
    "moneda",
    "divisa",
    "valuta",
    "betrage in",
    "waluta",
    "all amounts in",
    "montants exprimes en",
    "importes en",
    "importi in",
    "bedragen in",
    "amounts in",
];
const INVOICE_LABELS: &[&str] =
    &["invoice currency", "rechnungswahrung", "document currency", "devise de facturation"];

/// Papers that take back what another asked for: their amounts are written with a minus or without.
const TAKES_BACK: &[&str] = &[
    "credit note",
    "credit memo",
    "gutschrift",
    "avoir",
    "nota de credito",
    "abono",
    "nota di credito",
    "creditnota",
    "creditfactuur",
];

pub fn currency(sheet: &Sheet, amount_row: Option<usize>) -> Option<&'static str> {
    let mut scores: Vec<(&'static str, u32)> = Vec::new();
    for (place, text) in sheet.texts().enumerate() {
        let words = tokens(&text);
        let weight = match () {
            () if has(&words, INVOICE_LABELS) => INVOICE_LABELLED,
            () if has(&words, LABELS) => LABELLED,
            () if amount_row == Some(place) => BESIDE_AMOUNT,
            () => 1,
        };
        for (code, sure) in currency::find_all(&text, &words) {
            match scores.iter_mut().find(|(known, _)| *known == code) {
                Some((_, score)) => *score += weight * sure,
                None => scores.push((code, weight * sure)),
            }
        }
    }
    let mut best: Option<(&'static str, u32)> = None;
    for (code, score) in scores {
        if score > 0 && best.is_none_or(|(_, known)| score > known) {
            best = Some((code, score));
        }
    }
    best.map(|(code, _)| code).or_else(|| by_country(sheet))
}

/// The money of the country that tax and bank numbers name.
fn by_country(sheet: &Sheet) -> Option<&'static str> {
    for text in sheet.texts() {
        let squeezed: String = text.chars().filter(|c| c.is_ascii_alphanumeric()).collect();
        for (country, code) in COUNTRIES {
            let names_it = squeezed.match_indices(country).any(|(at, _)| {
                let digits = squeezed[at + 2..].bytes().take_while(u8::is_ascii_digit).count();
                digits >= 8 && has(&tokens(&text), COUNTRY_LABELS)
            });
            if names_it {
                return Some(code);
            }
        }
    }
    None
}

const COUNTRY_LABELS: &[&str] = &[
    "iban", "vat", "ust id", "ust idnr", "ustid", "tva", "iva", "btw", "nif", "cif", "uid", "mwst",
];

const COUNTRIES: &[(&str, &str)] = &[
    ("DE", "EUR"),
    ("AT", "EUR"),
    ("FR", "EUR"),
    ("ES", "EUR"),
    ("IT", "EUR"),
    ("NL", "EUR"),
    ("BE", "EUR"),
    ("IE", "EUR"),
    ("PT", "EUR"),
    ("LU", "EUR"),
    ("FI", "EUR"),
    ("GB", "GBP"),
    ("CH", "CHF"),
    ("PL", "PLN"),
    ("SE", "SEK"),
    ("DK", "DKK"),
    ("NO", "NOK"),
    ("CZ", "CZK"),
];

/// What a paper is about without the sign that a credit note may give it.
pub fn amount_owed(sheet: &Sheet, amount: f64) -> f64 {
    let takes_back = sheet
        .rows
        .iter()
        .flat_map(|row| &row.cells)
        .any(|cell| cell.tokens.len() <= 8 && has(&cell.tokens, TAKES_BACK));
    if takes_back { amount.abs() } else { amount }
}
