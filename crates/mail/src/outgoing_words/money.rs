//! Sums of money in a text: a number beside a currency, however it is grouped.

use super::MOST_FOUND;
use super::currencies::{NumberSide, currency_of, is_money_sign};
use super::number_words::{WordNumber, word_numbers};
use super::unmask::unmask_numbers;

/// A sum as it is written, and what it is worth.
#[derive(Clone, Debug, PartialEq)]
pub struct MoneyAmount {
    /// Three letters (ISO 4217), or what money without a code is called.
    pub currency: &'static str,
    pub value: f64,
    pub written: String,
}

/// Digits of the largest number that is read.
const DIGITS: usize = 15;
/// Signs and spaces between a number and its currency.
const GAP_CHARS: usize = 8;
/// Words behind a number in which its currency is looked for, such as `million US dollars`.
const WORDS_READ: usize = 5;
/// Words among them that are neither a factor nor a currency.
const WORDS_PASSED: usize = 2;
/// Letters that a number is written with in front of the code of its currency, as in `TEUR`.
const CODE_FACTORS: [char; 6] = ['k', 'K', 't', 'T', 'm', 'M'];
/// Letters of a currency's code.
const CODE_LETTERS: usize = 3;

/// The sums of money in a text. Of very many, the largest of each currency are among them.
pub fn money_amounts(text: &str) -> Vec<MoneyAmount> {
    let text = unmask_numbers(text);
    let mut found = Vec::new();
    let mut rest = 0;
    while let Some(start) = text[rest..].find(|c: char| c.is_ascii_digit()).map(|at| rest + at) {
        let number_end = start + run_length(&text[start..]);
        let end = number_end + exponent_length(&text[number_end..]);
        rest = end;
        let behind = read_behind(&text[end..]);
        let before = || read_before(&text[..start]);
        let Some((factor, currency)) = behind.currency.or_else(before) else { continue };
        let number = match end == number_end {
            true => value(&text[start..end]),
            false => f64::MAX,
        };
        let written = text[start..end + behind.length].trim().to_owned();
        let value = (number * behind.factor * factor).min(f64::MAX);
        keep(&mut found, MoneyAmount { currency, value, written });
    }
    add_sums_in_words(&mut found, &text);
    found
}

/// Adds sums whose number is written as words, such as `five hundred euros`.
fn add_sums_in_words(found: &mut Vec<MoneyAmount>, text: &str) {
    for WordNumber { start, end, value } in word_numbers(text) {
        let behind = read_behind(&text[end..]);
        let before = || read_before(&text[..start]);
        let Some((factor, currency)) = behind.currency.or_else(before) else { continue };
        let written = text[start..end + behind.length].trim().to_owned();
        let value = (value * behind.factor * factor).min(f64::MAX);
        keep(found, MoneyAmount { currency, value, written });
    }
}

/// Keeps a sum. Of more than a list holds, only a larger one of its currency matters.
fn keep(found: &mut Vec<MoneyAmount>, sum: MoneyAmount) {
    if found.len() < MOST_FOUND {
        return found.push(sum);
    }
    let same = found.iter_mut().filter(|known| known.currency == sum.currency);
    match same.max_by(|a, b| a.value.total_cmp(&b.value)) {
        Some(largest) if largest.value >= sum.value => {}
        Some(largest) => *largest = sum,
        None => found.push(sum),
    }
}

/// The bytes of digits with separators between them: one sign, or spaces.
fn run_length(text: &str) -> usize {
    let mut end = 0;
    loop {
        end += text[end..].bytes().take_while(u8::is_ascii_digit).count();
        let gap = separator_length(&text[end..]);
        if gap == 0 || !starts_with_digit(&text[end + gap..]) {
            return end;
        }
        end += gap;
    }
}

fn separator_length(text: &str) -> usize {
    let spaces = text.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let sign = text.chars().next().filter(|c| ".,'’‘`_·".contains(*c));
    spaces.max(sign.map_or(0, char::len_utf8))
}

/// The bytes of a power of ten, as in `1e6`.
fn exponent_length(text: &str) -> usize {
    let Some(power) = text.strip_prefix(['e', 'E', '^']) else { return 0 };
    let digits = power.trim_start_matches('+');
    match digits.bytes().take_while(u8::is_ascii_digit).count() {
        0 => 0,
        count => text.len() - digits.len() + count,
    }
}

fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}

/// A number with or without hundredths: one or two digits behind the last point or comma.
fn value(number: &str) -> f64 {
    let hundredths = number.rfind(['.', ',']).filter(|at| number.len() - at <= 3);
    let (whole, part) = number.split_at(hundredths.unwrap_or(number.len()));
    let digits: String = whole.chars().filter(char::is_ascii_digit).collect();
    let part: String = part.chars().filter(char::is_ascii_digit).collect();
    if digits.trim_start_matches('0').len() > DIGITS {
        return f64::MAX;
    }
    format!("{digits}.{part}0").parse().unwrap_or(f64::MAX)
}

/// What stands behind a number.
struct WordsBehind {
    /// By what words such as `million` multiply it.
    factor: f64,
    /// The bytes of those words, with what is before them.
    length: usize,
    /// With a factor of its own.
    currency: Option<(f64, &'static str)>,
}

fn read_behind(text: &str) -> WordsBehind {
    let behind = read_words_behind(text);
    match behind.currency {
        Some(_) => behind,
        // Of `500-600 EUR`, both are sums.
        None => {
            let currency = behind_range(text).and_then(|rest| read_words_behind(rest).currency);
            WordsBehind { currency, ..behind }
        }
    }
}

fn read_words_behind(text: &str) -> WordsBehind {
    let mut behind = WordsBehind { factor: 1.0, length: 0, currency: None };
    let mut passed = 0;
    let mut at = 0;
    for _ in 0..WORDS_READ {
        let Some(start) = gap_length(&text[at..]).map(|gap| at + gap) else { break };
        let word = first_word(&text[start..]);
        let (gap, next) = (&text[at..start], start + word.len());
        if let Some((factor, code)) = currency_word(word, NumberSide::Behind) {
            if !belongs_beyond(gap, word, &text[next..], passed) {
                behind.currency = Some((factor, code));
            }
            break;
        }
        match factor_of(word) {
            Some(factor) if passed == 0 => {
                behind.factor *= factor;
                behind.length = next;
            }
            _ if word.is_empty() || passed == WORDS_PASSED => break,
            _ if gap.chars().all(|c| " -.".contains(c)) => passed += 1,
            _ => break,
        }
        at = next;
    }
    behind
}

/// True for a currency that is the next number's. A code or a sign may stand before its number; a word such
/// as `dollars` behind other words does not.
fn belongs_beyond(gap: &str, word: &str, after: &str, passed: usize) -> bool {
    let leads_to_number = |signs: &[char]| starts_with_digit(after.trim_start_matches(signs));
    let is_code = word.chars().count() <= CODE_LETTERS;
    let is_next = starts_with_digit(after)
        || (passed > 0 && is_code && leads_to_number(&[' ', ':']))
        || (passed == 0 && parts_sums(gap) && leads_to_number(&[' ', ':', '.']));
    !gap.is_empty() && is_next
}

/// The text behind the second number of a range whose first number stands before the text.
fn behind_range(text: &str) -> Option<&str> {
    let number = text.trim_start().strip_prefix(['-', '–', '—', '~'])?.trim_start();
    starts_with_digit(number).then(|| &number[run_length(number)..])
}

/// The currency in front of a number, with a factor of its own.
fn read_before(text: &str) -> Option<(f64, &'static str)> {
    let start = text.rfind(is_of_word).map_or(0, |at| at + char_length(&text[at..]));
    let (head, gap) = text.split_at(start);
    if !is_near(gap) {
        return None;
    }
    let word = last_word(head);
    let before = &head[..head.len() - word.len()];
    let ends_with_digit = |text: &str| text.ends_with(|c: char| c.is_ascii_digit());
    let is_of_number_before = !gap.is_empty()
        && ends_with_digit(before.trim_end_matches(' '))
        && (ends_with_digit(before) || parts_sums(gap));
    if is_of_number_before { None } else { currency_word(word, NumberSide::Before) }
}

/// Signs after which another sum begins.
fn parts_sums(gap: &str) -> bool {
    gap.contains(['\n', ';', ':', '|', ')']) || gap.ends_with(", ") || gap.ends_with(". ")
}

/// The bytes before the next word or number; `None` where it is too far away.
fn gap_length(text: &str) -> Option<usize> {
    let end = text.find(is_of_word).unwrap_or(text.len());
    is_near(&text[..end]).then_some(end)
}

fn is_near(gap: &str) -> bool {
    let is_short = gap.chars().nth(GAP_CHARS).is_none();
    is_short && !gap.contains('%') && gap.matches('\n').count() <= 1
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || is_money_sign(c)
}

fn char_length(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

/// The letters that a text begins with, or its sign of money; both, where they are a currency together.
fn first_word(text: &str) -> &str {
    let letters = text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len());
    let sign = text[letters..].chars().next().filter(|c| is_money_sign(*c));
    let both = &text[..letters + sign.map_or(0, char::len_utf8)];
    match letters == 0 || currency_of(both, NumberSide::Behind).is_some() {
        true => both,
        false => &text[..letters],
    }
}

/// The same at a text's end.
fn last_word(text: &str) -> &str {
    let bare = text.strip_suffix(is_money_sign).unwrap_or(text);
    let letters = bare.trim_end_matches(char::is_alphabetic).len();
    let both = &text[letters..];
    match bare.len() == text.len() || currency_of(both, NumberSide::Before).is_some() {
        true => both,
        false => &text[bare.len()..],
    }
}

/// The currency of a word with the factor that it is written with: `EUR`, `kEUR`, `万円`.
fn currency_word(word: &str, side: NumberSide) -> Option<(f64, &'static str)> {
    if let Some(code) = currency_of(word, side) {
        return Some((1.0, code));
    }
    let first = &word[..char_length(word)];
    let rest = &word[first.len()..];
    let is_code = rest.len() == CODE_LETTERS && rest.bytes().all(|c| c.is_ascii_uppercase());
    if first.is_ascii() && !(is_code && first.starts_with(CODE_FACTORS)) {
        return None;
    }
    let with_factor = factor_of(first).zip(currency_of(rest, side));
    // Languages without spaces write on behind the sign.
    with_factor.or_else(|| currency_of(first, side).map(|code| (1.0, code)))
}

/// By what a word behind a number multiplies it.
fn factor_of(word: &str) -> Option<f64> {
    Some(match word.to_lowercase().as_str() {
        "dozen" | "dutzend" => 12.0,
        "hundred" | "hundert" | "百" => 1e2,
        "k" | "t" | "tsd" | "td" | "thousand" | "thousands" | "grand" | "tausend" | "mille"
        | "mil" | "mila" | "tys" | "тыс" | "тысяч" | "千" | "천" => 1e3,
        "万" | "萬" | "만" => 1e4,
        "lakh" | "lakhs" | "lac" => 1e5,
        "m" | "mm" | "mn" | "mio" | "mln" | "mill" | "million" | "millions" | "millionen"
        | "millón" | "millones" | "milione" | "milioni" | "miljoen" | "млн" => 1e6,
        "crore" | "crores" | "cr" => 1e7,
        "億" | "亿" | "억" => 1e8,
        "b" | "bn" | "mrd" | "md" | "milliard" | "milliards" | "milliarde" | "milliarden"
        | "млрд" => 1e9,
        "billion" | "billions" | "billionen" | "trillion" | "trillions" => 1e12,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_read_however_it_is_written() {
        for (text, currency, value) in [
            ("We refund 1.240,50 EUR today", "EUR", 1240.5),
            ("We refund EUR 1,240.50 today", "EUR", 1240.5),
            ("We refund 1 240,50 EUR today", "EUR", 1240.5),
            ("1\u{a0}240,50\u{202f}€", "EUR", 1240.5),
            ("€80", "EUR", 80.0),
            ("80€.", "EUR", 80.0),
            ("it is 80,- €", "EUR", 80.0),
            ("$1,000", "USD", 1000.0),
            ("CHF 1'000.00", "CHF", 1000.0),
            ("1’000.— Fr.", "CHF", 1000.0),
            ("1 000 Euro", "EUR", 1000.0),
            ("49.9 pounds", "GBP", 49.9),
            ("500 EUR/month", "EUR", 500.0),
            ("500€/month", "EUR", 500.0),
            ("500 EUR-Gutschein", "EUR", 500.0),
            ("EUR500", "EUR", 500.0),
            ("500eur", "EUR", 500.0),
            ("EUR: **500**", "EUR", 500.0),
            ("**500** (EUR)", "EUR", 500.0),
            ("500\nEUR", "EUR", 500.0),
            ("US$ 5", "USD", 5.0),
            ("500 US-Dollar", "USD", 500.0),
            ("500 U.S. dollars", "USD", 500.0),
            ("A$5", "AUD", 5.0),
            ("Rs. 500", "INR", 500.0),
            ("₹1,00,000", "INR", 100_000.0),
            ("¥500", "JPY", 500.0),
            ("500 kr", "SEK", 500.0),
            ("12 KWD", "KWD", 12.0),
            ("5 ₠", "XXX", 5.0),
            ("0.1 BTC", "BTC", 0.1),
        ] {
            let found = money_amounts(text);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert_eq!((found[0].currency, found[0].value), (currency, value), "{text}");
        }
    }

    #[test]
    fn words_for_large_numbers_count() {
        for (text, currency, value) in [
            ("5k EUR", "EUR", 5e3),
            ("€5k", "EUR", 5e3),
            ("5K€", "EUR", 5e3),
            ("5 T€", "EUR", 5e3),
            ("5 TEUR", "EUR", 5e3),
            ("kEUR 5", "EUR", 5e3),
            ("5 thousand euros", "EUR", 5e3),
            ("5 hundred thousand dollars", "USD", 5e5),
            ("5 Tsd. EUR", "EUR", 5e3),
            ("1,5 Mio. EUR", "EUR", 1.5e6),
            ("EUR 1.5m", "EUR", 1.5e6),
            ("$2 million", "USD", 2e6),
            ("2 million US dollars", "USD", 2e6),
            ("3 Mrd €", "EUR", 3e9),
            ("5万円", "JPY", 5e4),
            ("500円です", "JPY", 500.0),
        ] {
            let found = money_amounts(text);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert_eq!((found[0].currency, found[0].value), (currency, value), "{text}");
        }
        assert_eq!(money_amounts("5 million euros")[0].written, "5 million");
        assert!(money_amounts("1e6 EUR")[0].value > 1e6);
    }

    #[test]
    fn sums_in_words_count() {
        for (text, currency, value) in [
            ("We refund five hundred euros today", "EUR", 500.0),
            ("Wir erstatten fünfhundert Euro", "EUR", 500.0),
            ("Fünfhundert EUR", "EUR", 500.0),
            ("EUR fünfhundert", "EUR", 500.0),
            ("€ five hundred", "EUR", 500.0),
            ("two thousand five hundred US dollars", "USD", 2_500.0),
            ("tausend Schweizer Franken", "CHF", 1_000.0),
            ("cinq cents euros", "EUR", 500.0),
            ("FIVE HUNDRED EUROS", "EUR", 500.0),
        ] {
            let found = money_amounts(text);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert_eq!((found[0].currency, found[0].value), (currency, value), "{text}");
        }
        for text in ["two lamps", "ein Euro-Konto", "hundred reasons", "zwei Wochen"] {
            assert!(money_amounts(text).is_empty(), "{text}: {:?}", money_amounts(text));
        }
    }

    #[test]
    fn masked_digits_and_signs_are_read() {
        for text in [
            "５００ ＥＵＲ",
            "5\u{200b}0\u{ad}0\u{2060} E\u{200d}U\u{fe0f}R",
            "\u{665}\u{660}\u{660} €",
            "𝟓𝟎𝟎 €",
            "5  00 EUR",
        ] {
            let found = money_amounts(text);
            assert_eq!(found.len(), 1, "{text:?}: {found:?}");
            assert_eq!((found[0].currency, found[0].value), ("EUR", 500.0), "{text:?}");
        }
    }

    #[test]
    fn sums_beside_one_another_keep_their_currencies() {
        let sums = |text: &str| -> Vec<(f64, &'static str)> {
            money_amounts(text).iter().map(|sum| (sum.value, sum.currency)).collect()
        };
        assert_eq!(sums("Invoice 20418\nEUR 49.90"), [(49.9, "EUR")]);
        assert_eq!(sums("Order 20418, $20 back"), [(20.0, "USD")]);
        assert_eq!(sums("Order 20418 for EUR 49.90"), [(49.9, "EUR")]);
        // The word may be the second number's, too.
        assert_eq!(sums("500 US dollars 5 times")[0], (500.0, "USD"));
        assert_eq!(sums("500 US dollars. 5 lamps")[0], (500.0, "USD"));
        assert_eq!(sums("20 EUR, 500 lamps"), [(20.0, "EUR")]);
        assert_eq!(sums("20 EUR or 25 USD"), [(20.0, "EUR"), (25.0, "USD")]);
        assert_eq!(sums("5000-10 EUR"), [(5000.0, "EUR"), (10.0, "EUR")]);
    }

    #[test]
    fn other_numbers_are_no_sums() {
        for text in [
            "order 20418 of 3.11.2026",
            "try 3 times at 12:30",
            "version 1.2.3",
            "le 5 mars, a trial of 30 days, 14 trial days",
            "Fr 18.11., Fr. 9 Uhr",
            "18.11. Mrs. Keller has 5 kg",
            "100% Euro",
        ] {
            assert!(money_amounts(text).is_empty(), "{text}: {:?}", money_amounts(text));
        }
    }

    #[test]
    fn the_largest_of_very_many_sums_is_among_them() {
        let many = format!("{} 900 EUR, 2 CHF, 3 EUR", "1 EUR, ".repeat(2 * MOST_FOUND));
        let found = money_amounts(&many);
        assert!(found.len() <= MOST_FOUND + 2, "{}", found.len());
        assert!(found.iter().any(|sum| sum.value == 900.0 && sum.currency == "EUR"));
        assert!(found.iter().any(|sum| sum.currency == "CHF"));
    }

    #[test]
    fn long_texts_take_little_time() {
        for piece in ["1", "1 ", "1€", "1-1", "1 a ", "1.\n", "€ "] {
            money_amounts(&piece.repeat(200_000 / piece.len()));
        }
    }
}
