//! Amounts in a text, in one form however they are written: `1,240.50`, `1.240,50` and `1240.50`.

use std::ops::Range;

/// Stands between whole and hundredths of an amount in the index; no word of a text contains it.
const POINT: char = '\u{e010}';
/// Digits of the longest amount.
const DIGITS: usize = 15;

/// An amount, and where it stands in the text.
#[derive(Debug, PartialEq, Eq)]
pub struct WrittenAmount {
    pub place: Range<usize>,
    /// The word that it is indexed under: `1240`, or with hundredths a word that no text has.
    pub word: String,
}

/// The amounts of a text that are written with a separator. A number without one is a word already.
pub fn amounts(text: &str) -> Vec<WrittenAmount> {
    let mut found = Vec::new();
    let mut rest = 0;
    while let Some(start) = text[rest..].find(|c: char| c.is_ascii_digit()).map(|at| rest + at) {
        let end = start + run_length(&text[start..]);
        // A space separates groups of one amount, or an amount from something else.
        let number = &text[start..end];
        match word(number) {
            Some(word) => found.push(WrittenAmount { place: start..end, word }),
            None => found.extend(number.split(' ').filter_map(|part| {
                let from = start + (part.as_ptr() as usize - number.as_ptr() as usize);
                Some(WrittenAmount { place: from..from + part.len(), word: word(part)? })
            })),
        }
        rest = end;
    }
    found
}

/// The bytes of digits with single separators between them.
fn run_length(text: &str) -> usize {
    let mut end = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let digit_follows = chars.peek().is_some_and(|(_, next)| next.is_ascii_digit());
        if c.is_ascii_digit() {
            end = at + 1;
        } else if !is_separator(c) || !digit_follows {
            break;
        }
    }
    end
}

fn is_separator(c: char) -> bool {
    matches!(c, '.' | ',' | '\'' | '’' | ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}')
}

/// The word of one number; `None` when it is no amount, such as a date or a version.
fn word(number: &str) -> Option<String> {
    let separators: Vec<char> = number.chars().filter(|c| !c.is_ascii_digit()).collect();
    let groups: Vec<&str> = number.split(|c: char| !c.is_ascii_digit()).collect();
    let (last, tail) = (*separators.last()?, *groups.last()?);
    let has_hundredths = matches!(last, '.' | ',') && (1..=2).contains(&tail.len());
    let whole = if has_hundredths { &groups[..groups.len() - 1] } else { &groups[..] };
    let grouping = &separators[..whole.len() - 1];
    let same = grouping.windows(2).all(|pair| pair[0] == pair[1]);
    let apart = !has_hundredths || grouping.first().is_none_or(|grouping| *grouping != last);
    let spaced = !has_hundredths && grouping.contains(&' ');
    if !same || !apart || spaced || !is_grouped(whole) {
        return None;
    }
    let digits: String = whole.concat();
    let digits = match digits.trim_start_matches('0') {
        "" => "0",
        digits => digits,
    };
    let hundredths = if has_hundredths { format!("{tail:0<2}") } else { String::new() };
    match (digits.len() <= DIGITS, hundredths.as_str()) {
        (false, _) => None,
        (true, "" | "00") => Some(digits.to_owned()),
        (true, hundredths) => Some(format!("{digits}{POINT}{hundredths}")),
    }
}

/// Thousands stand in groups of three.
fn is_grouped(groups: &[&str]) -> bool {
    match groups {
        [_] => true,
        [first, rest @ ..] => {
            (1..=3).contains(&first.len())
                && !first.starts_with('0')
                && rest.iter().all(|group| group.len() == 3)
        }
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        amounts(text).into_iter().map(|amount| amount.word.replace(POINT, "_")).collect()
    }

    #[test]
    fn an_amount_has_one_form_however_it_is_written() {
        for text in [
            "1,240.50",
            "1.240,50",
            "1240.50",
            "1240,5",
            "1'240.50",
            "1’240,50",
            "1 240,50",
            "1\u{202f}240,50",
            "EUR1,240.50",
            "(€ 1.240,50)",
            "1240.50.",
        ] {
            assert_eq!(words(text), ["1240_50"], "{text}");
        }
        for text in ["1,240", "1.240", "1'240", "1,240.00", "1240,00"] {
            assert_eq!(words(text), ["1240"], "{text}");
        }
        assert_eq!(
            words("12.500.000,07 and 0.99, then 3 of 4.20"),
            ["12500000_07", "0_99", "4_20"]
        );
    }

    #[test]
    fn dates_versions_and_plain_numbers_are_no_amounts() {
        for text in
            ["16.11.2026", "10.0.0.1", "1240", "2 100 300", "1,24,5", "0.500", "", "...", "1.2.3"]
        {
            assert_eq!(words(text), Vec::<String>::new(), "{text}");
        }
    }
}
