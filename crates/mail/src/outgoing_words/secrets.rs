//! Secrets in a text: API keys by their known shapes, card numbers by their check digit (ISO/IEC 7812) and
//! bank accounts by theirs (ISO 13616).

use super::MOST_FOUND;

/// A secret that a text has in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretKind {
    ApiKey,
    CardNumber,
    BankAccount,
}

/// Starts of keys, and how many letters, digits, `_` and `-` follow at least.
const KEY_SHAPES: &[(&str, usize)] = &[
    ("rk_live_", 20),
    ("rk_test_", 20),
    ("sk_live_", 16),
    ("sk_test_", 16),
    ("pk_live_", 16),
    ("sk-", 20),
    ("whsec_", 20),
    ("ghp_", 30),
    ("gho_", 30),
    ("ghs_", 30),
    ("ghu_", 30),
    ("github_pat_", 30),
    ("glpat-", 20),
    ("xoxb-", 20),
    ("xoxp-", 20),
    ("xoxa-", 20),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("ya29.", 20),
    ("npm_", 30),
    ("pypi-", 30),
    ("SG.", 30),
    ("dop_v1_", 30),
    ("shpat_", 30),
    ("key-", 32),
    ("eyJ", 40),
];
/// What stands before a private key in PEM.
const PRIVATE_KEY: &str = "PRIVATE KEY-----";
/// Digits of a card number.
const CARD_DIGITS: std::ops::RangeInclusive<usize> = 13..=19;
/// Letters and digits of an IBAN.
const IBAN_CHARS: std::ops::RangeInclusive<usize> = 15..=34;

/// The kinds of secrets in a text, each once.
pub fn written_secrets(text: &str) -> Vec<SecretKind> {
    let text = crate::clean_text(text);
    let mut kinds = Vec::new();
    if has_api_key(&text) {
        kinds.push(SecretKind::ApiKey);
    }
    if has_card_number(&text) {
        kinds.push(SecretKind::CardNumber);
    }
    if has_iban(&text) {
        kinds.push(SecretKind::BankAccount);
    }
    kinds
}

fn has_api_key(text: &str) -> bool {
    let is_key = |(start, rest): &(&str, usize)| {
        let found = text.match_indices(start).take(MOST_FOUND);
        found.into_iter().any(|(at, _)| {
            let is_apart = !text[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
            let after = &text.as_bytes()[at + start.len()..];
            let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
            let following = after.iter().take(*rest).take_while(is_part);
            // A word of letters alone is a word.
            is_apart
                && following.clone().count() == *rest
                && after.iter().take_while(is_part).any(u8::is_ascii_digit)
        })
    };
    text.contains(PRIVATE_KEY) || KEY_SHAPES.iter().any(is_key)
}

fn has_card_number(text: &str) -> bool {
    let is_run = |c: char| c.is_ascii_digit() || is_spacing(c);
    text.split(|c| !is_run(c)).any(|run| {
        let groups: Vec<&str> = run.split(is_spacing).filter(|group| !group.is_empty()).collect();
        // A number may stand beside others: every start of a group is tried.
        (0..groups.len().min(MOST_FOUND)).any(|from| {
            let mut digits = String::new();
            groups[from..].iter().any(|group| {
                digits.push_str(group);
                CARD_DIGITS.contains(&digits.len()) && is_card(&digits)
            })
        })
    })
}

fn is_spacing(c: char) -> bool {
    matches!(c, ' ' | '-' | '\u{a0}' | '\u{2009}' | '\u{202f}' | '.')
}

/// The check digit of Luhn, and a first digit that cards have.
fn is_card(digits: &str) -> bool {
    let bytes = digits.as_bytes();
    if !matches!(bytes.first(), Some(b'2'..=b'6')) || bytes.iter().all(|digit| *digit == bytes[0]) {
        return false;
    }
    let sum: u32 = bytes
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| {
            let digit = u32::from(digit - b'0');
            match place % 2 {
                0 => digit,
                _ if digit > 4 => 2 * digit - 9,
                _ => 2 * digit,
            }
        })
        .sum();
    sum.is_multiple_of(10)
}

fn has_iban(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut tried = 0;
    for at in 0..bytes.len() {
        let is_start = bytes[at..].len() > 4
            && bytes[at].is_ascii_alphabetic()
            && bytes[at + 1].is_ascii_alphabetic()
            && bytes[at + 2].is_ascii_digit()
            && bytes[at + 3].is_ascii_digit()
            && !at.checked_sub(1).is_some_and(|before| bytes[before].is_ascii_alphanumeric());
        if is_start {
            tried += 1;
            if begins_with_iban(&text[at..]) || tried == 10 * MOST_FOUND {
                return begins_with_iban(&text[at..]);
            }
        }
    }
    false
}

fn begins_with_iban(text: &str) -> bool {
    let mut compact = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            c if c.is_ascii_alphanumeric() => compact.push(c.to_ascii_uppercase()),
            c if is_spacing(c) => continue,
            _ => return false,
        }
        let ends = chars.peek().is_none_or(|next| !next.is_ascii_alphanumeric());
        if ends && IBAN_CHARS.contains(&compact.len()) && is_iban(&compact) {
            return true;
        }
        if compact.len() >= *IBAN_CHARS.end() {
            return false;
        }
    }
    false
}

/// The remainder by 97 of the number that it is, its first four signs last, is 1.
fn is_iban(compact: &str) -> bool {
    let (start, rest) = compact.split_at(4);
    let digits = rest.chars().chain(start.chars());
    let remainder = digits.fold(0u32, |remainder, c| match c.to_digit(36) {
        Some(value @ 0..=9) => (remainder * 10 + value) % 97,
        Some(value) => (remainder * 100 + value) % 97,
        None => remainder,
    });
    remainder == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_found_by_shape_and_check_digit() {
        for (text, kind) in [
            ("Use rk_live_4fT8sQ2mX9vB7nK3pL6wR1yD5zH0jC8gF2aE4uM9 for it.", SecretKind::ApiKey),
            ("key: sk-proj4ABCdef123456789012345", SecretKind::ApiKey),
            ("AKIAIOSFODNN7EXAMPLE", SecretKind::ApiKey),
            ("-----BEGIN RSA PRIVATE KEY-----\nMIIE", SecretKind::ApiKey),
            ("4111 1111 1111 1111", SecretKind::CardNumber),
            ("Card 5555-5555-5555-4444, 12/27", SecretKind::CardNumber),
            ("order 17 and 378282246310005.", SecretKind::CardNumber),
            ("IBAN DE89 3704 0044 0532 0130 00, thanks", SecretKind::BankAccount),
            ("gb29nwbk60161331926819", SecretKind::BankAccount),
            ("to (NO9386011117947)", SecretKind::BankAccount),
        ] {
            assert_eq!(written_secrets(text), [kind], "{text}");
        }
    }

    #[test]
    fn numbers_and_words_are_no_secrets() {
        for text in [
            "Order 20418 of 2026-11-18, invoice 4111 1111 1111 1112",
            "Call +49 30 1234567 or 0800 330 1000.",
            "IBAN DE89 3704 0044 0532 0130 01",
            "sk-learn and eyJustice are words; key-features too",
            "DE12 is a road, and 1234567890123 is a bar code",
            "0000 0000 0000 0000",
        ] {
            assert!(written_secrets(text).is_empty(), "{text}: {:?}", written_secrets(text));
        }
    }
}
