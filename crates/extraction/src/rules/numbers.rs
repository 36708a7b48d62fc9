//! Amounts in a text: 1.234,56, 1,234.56, 1 234,56, 1'234.56, 12,50-, (12.50).

use crate::paper::sound;

/// Digits of a number that may be an amount.
const DIGITS: usize = 14;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number {
    pub value: f64,
    /// Written with two places after the point, as money is.
    pub cents: bool,
    pub start: usize,
    pub end: usize,
}

/// The numbers of a text that may be amounts: none that is part of a word, a date or a percentage.
pub fn numbers(text: &str) -> Vec<Number> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let end = end_of_number(text, at);
        if let Some(number) = number(text, at, end) {
            found.push(number);
        }
        at = end;
    }
    found
}

/// Where the run of digits and marks between them ends.
fn end_of_number(text: &str, start: usize) -> usize {
    let digits_at = |at: usize, count: usize| {
        text.as_bytes().get(at..at + count).is_some_and(|some| some.iter().all(u8::is_ascii_digit))
    };
    let mut end = start;
    while end < text.len() {
        let Some(c) = text[end..].chars().next() else { break };
        let after = end + c.len_utf8();
        let goes_on = match c {
            '0'..='9' => true,
            '.' | ',' | '\'' | '’' => digits_at(after, 1),
            // A space parts thousands alone: three digits follow, one to three came before.
            ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}' => {
                let group = text[start..end].rsplit(|c: char| !c.is_ascii_digit()).next();
                let before = group.map_or(0, str::len);
                let first = !text[start..end].contains(|c: char| !c.is_ascii_digit());
                digits_at(after, 3)
                    && !digits_at(after, 4)
                    && (before == 3 || first && before < 4)
                    && !text[start..end].contains([',', '.'])
            }
            _ => false,
        };
        if !goes_on {
            break;
        }
        end = after;
    }
    end
}

fn number(text: &str, start: usize, end: usize) -> Option<Number> {
    let before = text[..start].chars().next_back();
    let mut rest = text[end..].chars();
    let after = rest.next();
    let glued = |c: char| c.is_alphabetic() || matches!(c, '/' | '_' | '#' | '\\' | ':');
    // A currency may stand right before the digits or after them: EUR12, 12zł.
    let word_before = text[..start].rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or("");
    if before.is_some_and(glued) && super::currency::code(word_before).is_none() {
        return None;
    }
    if before == Some('-') && text[..start - 1].ends_with(|c: char| c.is_alphanumeric()) {
        return None;
    }
    if after.is_some_and(|c| matches!(c, '%' | '/' | '_' | ':')) || text[end..].starts_with(" %") {
        return None;
    }
    let word_after = text[end..].split(|c: char| !c.is_alphabetic()).next().unwrap_or("");
    let known = |word: &str| {
        super::currency::code(word).is_some() || matches!(word, "zł" | "kr" | "Kč" | "Ft")
    };
    if !word_after.is_empty() && !known(word_after) {
        return None;
    }
    if after == Some('-') && rest.next().is_some_and(|c| c.is_alphanumeric()) {
        return None;
    }
    let (mut value, cents) = parse(&text[start..end])?;
    let in_brackets = before == Some('(') && after == Some(')');
    if in_brackets || has_minus(&text[..start]) || text[end..].starts_with('-') && cents {
        value = -value;
    }
    Some(Number { value: sound(value)?, cents, start, end })
}

/// A minus before the number, with or without the currency's sign between them.
fn has_minus(before: &str) -> bool {
    let lead = before.trim_end_matches([' ', '€', '$', '£']);
    let Some(lead) = lead.strip_suffix(['-', '−', '–']) else { return false };
    lead.is_empty() || lead.ends_with(char::is_whitespace)
}

/// The value of digits and marks, and whether it has cents.
fn parse(text: &str) -> Option<(f64, bool)> {
    let plain: String =
        text.chars().filter(|c| c.is_ascii_digit() || matches!(c, '.' | ',')).collect();
    let spaced = plain.len() < text.len();
    let digits: String = plain.chars().filter(char::is_ascii_digit).collect();
    if digits.len() > DIGITS {
        return None;
    }
    let value: f64 = digits.parse().ok()?;
    let Some(last) = plain.rfind(['.', ',']) else { return Some((value, false)) };
    let (whole, mark, places) = (&plain[..last], &plain[last..=last], plain.len() - last - 1);
    let again = whole.contains(mark);
    let other = whole.contains(if mark == "." { "," } else { "." });
    let is_point = match (other, again) {
        (true, false) => true,
        // One mark before exactly three digits parts thousands.
        (false, false) => places != 3 || spaced,
        (false, true) => false,
        (true, true) => return None,
    };
    match is_point {
        true if is_grouped(whole) => {
            Some((value / 10f64.powi(places.try_into().ok()?), places == 2))
        }
        false if is_grouped(&plain) => Some((value, false)),
        // A date, a version, a phone number.
        _ => None,
    }
}

/// Thousands in groups of three, or of two before the last as in India.
fn is_grouped(whole: &str) -> bool {
    let groups: Vec<usize> = whole.split(['.', ',']).map(str::len).collect();
    match groups.as_slice() {
        [_] => true,
        [first, middle @ .., last] => {
            (1..=3).contains(first) && *last == 3 && middle.iter().all(|m| matches!(m, 2 | 3))
        }
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_as_each_country_writes_them() {
        for (text, expected) in [
            ("1.234,56", vec![(1234.56, true)]),
            ("1,234.56", vec![(1234.56, true)]),
            ("1 234,56 €", vec![(1234.56, true)]),
            ("1\u{202f}234,56", vec![(1234.56, true)]),
            ("1'234.50", vec![(1234.5, true)]),
            ("1,23,456.00", vec![(123_456.0, true)]),
            ("12.345.678", vec![(12_345_678.0, false)]),
            ("1.234", vec![(1234.0, false)]),
            ("0,5", vec![(0.5, false)]),
            ("235,62 EUR", vec![(235.62, true)]),
            ("EUR235,62", vec![(235.62, true)]),
            ("$ 12.50", vec![(12.5, true)]),
            ("-12,50", vec![(-12.5, true)]),
            ("12,50-", vec![(-12.5, true)]),
            ("(12.50)", vec![(-12.5, true)]),
            ("198,00 37,62", vec![(198.0, true), (37.62, true)]),
            ("2 198,00", vec![(2198.0, true)]),
            ("1234 567,00", vec![(1234.0, false), (567.0, true)]),
            ("19 % of 100.00", vec![(100.0, true)]),
            ("19% 05.03.2013 05/03/2013 A12 12x 10-12 #5", vec![]),
        ] {
            let found: Vec<(f64, bool)> =
                numbers(text).iter().map(|number| (number.value, number.cents)).collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
