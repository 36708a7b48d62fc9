//! Sums of money in a text: a number beside a currency, however it is grouped.

use super::MOST_FOUND;

/// A sum as it is written, and what it is worth.
#[derive(Clone, Debug, PartialEq)]
pub struct MoneyAmount {
    /// Three letters (ISO 4217).
    pub currency: &'static str,
    pub value: f64,
    pub written: String,
}

/// How currencies are written, in lower case.
const CURRENCIES: &[(&str, &str)] = &[
    ("€", "EUR"),
    ("eur", "EUR"),
    ("euro", "EUR"),
    ("euros", "EUR"),
    ("$", "USD"),
    ("us$", "USD"),
    ("usd", "USD"),
    ("dollar", "USD"),
    ("dollars", "USD"),
    ("£", "GBP"),
    ("gbp", "GBP"),
    ("pounds", "GBP"),
    ("chf", "CHF"),
    ("franken", "CHF"),
    ("¥", "JPY"),
    ("jpy", "JPY"),
    ("cny", "CNY"),
    ("sek", "SEK"),
    ("nok", "NOK"),
    ("dkk", "DKK"),
    ("pln", "PLN"),
    ("zł", "PLN"),
    ("czk", "CZK"),
    ("kč", "CZK"),
    ("huf", "HUF"),
    ("inr", "INR"),
    ("₹", "INR"),
    ("cad", "CAD"),
    ("aud", "AUD"),
    ("brl", "BRL"),
    ("r$", "BRL"),
    ("btc", "BTC"),
    ("₿", "BTC"),
];
/// Letters of the longest of them.
const CURRENCY_CHARS: usize = 8;
/// Digits of the largest number that is read.
const DIGITS: usize = 15;

/// The sums of money in a text.
pub fn money_amounts(text: &str) -> Vec<MoneyAmount> {
    let mut found = Vec::new();
    let mut rest = 0;
    while let Some(start) = text[rest..].find(|c: char| c.is_ascii_digit()).map(|at| rest + at) {
        let end = start + run_length(&text[start..]);
        rest = end;
        let Some(value) = value(&text[start..end]) else { continue };
        let after = currency_after(&text[end..]);
        let Some(currency) = after.or_else(|| currency_before(&text[..start])) else { continue };
        found.push(MoneyAmount { currency, value, written: text[start..end].trim().to_owned() });
        if found.len() == MOST_FOUND {
            break;
        }
    }
    found
}

/// The bytes of digits with single separators between them.
fn run_length(text: &str) -> usize {
    let mut end = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let digit_follows = chars.peek().is_some_and(|(_, next)| next.is_ascii_digit());
        let is_separator = matches!(c, '.' | ',' | '\'' | '’' | ' ' | '\u{a0}' | '\u{202f}');
        if c.is_ascii_digit() {
            end = at + 1;
        } else if !is_separator || !digit_follows {
            break;
        }
    }
    end
}

/// A number with or without hundredths: one or two digits behind the last point or comma.
fn value(number: &str) -> Option<f64> {
    let hundredths = number.rfind(['.', ',']).filter(|at| number.len() - at <= 3);
    let (whole, part) = number.split_at(hundredths.unwrap_or(number.len()));
    let digits: String = whole.chars().filter(char::is_ascii_digit).collect();
    let part: String = part.chars().filter(char::is_ascii_digit).collect();
    if digits.len() > DIGITS {
        return Some(f64::MAX);
    }
    format!("{digits}.{part}0").parse().ok()
}

fn currency_after(text: &str) -> Option<&'static str> {
    let word = text.trim_start_matches([' ', '\u{a0}', '\u{202f}', ',', '-', '–']);
    let end = word.find(|c: char| c.is_whitespace() || ",;:!?)(".contains(c)).unwrap_or(word.len());
    let word = word[..end].trim_end_matches('.');
    currency(word)
}

fn currency_before(text: &str) -> Option<&'static str> {
    let word = text.trim_end_matches([' ', '\u{a0}', '\u{202f}', ':']);
    let start = word.rfind(|c: char| c.is_whitespace() || "(,;:-".contains(c));
    let start = start.map_or(0, |at| at + word[at..].chars().next().map_or(1, char::len_utf8));
    currency(&word[start..])
}

fn currency(word: &str) -> Option<&'static str> {
    if word.is_empty() || word.chars().count() > CURRENCY_CHARS {
        return None;
    }
    let word = word.to_lowercase();
    CURRENCIES.iter().find(|(written, _)| *written == word).map(|(_, code)| *code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_read_however_it_is_written() {
        for (text, currency, value) in [
            ("We refund 1.240,50 EUR today", "EUR", 1240.5),
            ("We refund EUR 1,240.50 today", "EUR", 1240.5),
            ("€80", "EUR", 80.0),
            ("80€.", "EUR", 80.0),
            ("it is 80,- €", "EUR", 80.0),
            ("$1,000", "USD", 1000.0),
            ("CHF 1'000.00", "CHF", 1000.0),
            ("1 000 Euro", "EUR", 1000.0),
            ("49.9 pounds", "GBP", 49.9),
        ] {
            let found = money_amounts(text);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert_eq!((found[0].currency, found[0].value), (currency, value), "{text}");
        }
    }

    #[test]
    fn other_numbers_are_no_sums() {
        for text in ["order 20418 of 3.11.2026", "try 3 times at 12:30", "version 1.2.3"] {
            assert!(money_amounts(text).is_empty(), "{text}: {:?}", money_amounts(text));
        }
    }
}
