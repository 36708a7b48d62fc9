//! Currencies by how they are written: codes of ISO 4217, signs and words.

use std::collections::HashMap;
use std::sync::LazyLock;

/// What a sign of money is read as that stands for no currency of the list (ISO 4217: no currency).
const UNKNOWN: &str = "XXX";
/// The heading of currencies that ISO 4217 does not have.
const OTHER: &str = "[other]";

/// The side of a number on which a word stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberSide {
    Before,
    Behind,
}

/// When a word is one for a currency.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    Always,
    InCapitals,
    BehindNumber,
}

struct CurrencyList {
    /// Of ISO 4217.
    codes: Vec<&'static str>,
    /// In lower case, with the code.
    words: HashMap<String, (&'static str, Reading)>,
}

static CURRENCIES: LazyLock<CurrencyList> = LazyLock::new(|| {
    let mut list = CurrencyList { codes: Vec::new(), words: HashMap::new() };
    let mut is_iso = true;
    for line in include_str!("currencies.txt").lines().filter(|line| !line.starts_with('#')) {
        is_iso &= line != OTHER;
        let mut words = line.split_whitespace();
        let Some(first) = words.next().filter(|first| *first != OTHER) else { continue };
        let code = first.trim_start_matches('!');
        let reading = if first == code { Reading::Always } else { Reading::InCapitals };
        list.words.insert(code.to_lowercase(), (code, reading));
        if is_iso {
            list.codes.push(code);
        }
        for word in words {
            let bare = word.trim_start_matches('~');
            let reading = if bare == word { Reading::Always } else { Reading::BehindNumber };
            list.words.insert(bare.to_lowercase(), (code, reading));
        }
    }
    list
});

/// True for a code of ISO 4217, in capitals.
pub fn is_currency_code(code: &str) -> bool {
    CURRENCIES.codes.contains(&code)
}

/// The code of the currency that a word or a sign beside a number stands for.
pub(super) fn currency_of(word: &str, side: NumberSide) -> Option<&'static str> {
    let found = CURRENCIES.words.get(&word.to_lowercase()).filter(|(_, reading)| match reading {
        Reading::Always => true,
        Reading::InCapitals => !word.chars().any(char::is_lowercase),
        Reading::BehindNumber => side == NumberSide::Behind,
    });
    let is_unknown_sign = || {
        let mut signs = word.chars();
        signs.next().is_some_and(is_money_sign) && signs.next().is_none()
    };
    found.map(|(code, _)| *code).or_else(|| is_unknown_sign().then_some(UNKNOWN))
}

/// Signs of currencies (Unicode: Sc).
pub(super) fn is_money_sign(c: char) -> bool {
    matches!(c, '$' | '¢'..='¥' | '\u{58f}' | '\u{60b}' | '\u{7fe}' | '\u{7ff}' | '\u{9f2}' | '\u{9f3}'
        | '\u{9fb}' | '\u{af1}' | '\u{bf9}' | '\u{e3f}' | '\u{17db}' | '\u{20a0}'..='\u{20cf}'
        | '\u{a838}' | '\u{11fdd}'..='\u{11fe0}' | '\u{1e2ff}' | '\u{1ecb0}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_three_capitals_and_stands_once() {
        let codes = &CURRENCIES.codes;
        assert!(codes.len() > 170, "{}", codes.len());
        for code in codes {
            assert!(code.len() == 3 && code.bytes().all(|c| c.is_ascii_uppercase()), "{code}");
            assert_eq!(codes.iter().filter(|other| *other == code).count(), 1, "{code}");
            assert_eq!(currency_of(code, NumberSide::Before), Some(*code));
        }
        assert!(is_currency_code("EUR") && !is_currency_code("eur") && !is_currency_code("BTC"));
    }

    #[test]
    fn a_word_is_a_currency_where_it_is_meant_as_one() {
        for (word, side, code) in [
            ("€", NumberSide::Before, Some("EUR")),
            ("Euros", NumberSide::Behind, Some("EUR")),
            ("US$", NumberSide::Before, Some("USD")),
            ("ZŁ", NumberSide::Behind, Some("PLN")),
            ("Fr", NumberSide::Behind, Some("CHF")),
            ("Fr", NumberSide::Before, None),
            ("TRY", NumberSide::Before, Some("TRY")),
            ("try", NumberSide::Before, None),
            ("¤", NumberSide::Before, Some(UNKNOWN)),
            ("₠", NumberSide::Behind, Some(UNKNOWN)),
            ("lamps", NumberSide::Behind, None),
            ("", NumberSide::Behind, None),
        ] {
            assert_eq!(currency_of(word, side), code, "{word}");
        }
    }
}
