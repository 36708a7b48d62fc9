//! Secrets in a text: API keys by their known shapes, card numbers by their check digit (ISO/IEC 7812) and
//! bank accounts by theirs (ISO 13616).

use super::unmask::unmask_numbers;

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
    ("rk_", 48),
    ("ro_", 48),
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
    ("hf_", 30),
    ("xapp-", 20),
    ("GOCSPX-", 20),
    ("glsa_", 30),
    ("lin_api_", 30),
    ("dckr_pat_", 20),
    ("shpss_", 30),
];
/// What stands before a private key in PEM.
const PRIVATE_KEY: &str = "PRIVATE KEY-----";
/// Digits of a card number.
const CARD_DIGITS: std::ops::RangeInclusive<usize> = 13..=19;
/// Letters, digits and signs behind the least of a key among which one digit is looked for.
const KEY_REST: usize = 200;
/// Digits of the groups that card numbers are written in.
const CARD_GROUPS: [&[usize]; 3] = [&[4, 4, 4, 4], &[4, 6, 5], &[4, 6, 4]];
/// Letters and digits of an IBAN.
const IBAN_CHARS: std::ops::RangeInclusive<usize> = 15..=34;
/// The letters and digits of the IBANs of each country (ISO 13616, the registry).
const IBAN_LENGTHS: &str = "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 \
    CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 \
    HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 \
    MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 \
    SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30";

/// The kinds of secrets in a text, each once.
pub fn written_secrets(text: &str) -> Vec<SecretKind> {
    let text = unmask_numbers(text);
    let mut kinds = Vec::new();
    if has_api_key(&text) {
        kinds.push(SecretKind::ApiKey);
    }
    if has_card_number(&text) {
        kinds.push(SecretKind::CardNumber);
    }
    if has_iban(&text) || has_spelled_iban(&text) {
        kinds.push(SecretKind::BankAccount);
    }
    kinds
}

fn has_api_key(text: &str) -> bool {
    let is_key = |(start, rest): &(&str, usize)| {
        text.match_indices(start).any(|(at, _)| {
            let is_apart = !text[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
            let after = &text.as_bytes()[at + start.len()..];
            let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
            let following = after.iter().take(*rest + KEY_REST).take_while(is_part);
            // A word of letters alone is a word.
            is_apart
                && following.clone().nth(*rest - 1).is_some()
                && following.clone().any(u8::is_ascii_digit)
        })
    };
    text.contains(PRIVATE_KEY) || KEY_SHAPES.iter().any(is_key)
}

fn has_card_number(text: &str) -> bool {
    let text = without_accounts(text);
    let is_run = |c: char| c.is_ascii_digit() || is_spacing(c);
    let has_one = |run: &str| {
        let groups: Vec<&str> = run.split(is_spacing).filter(|group| !group.is_empty()).collect();
        // A number may stand beside others: every start of a group is tried.
        (0..groups.len()).any(|from| starts_with_card(&groups[from..]))
    };
    text.split(|c| !is_run(c)).any(has_one) || has_grouped_card(&text)
}

fn starts_with_card(groups: &[&str]) -> bool {
    let mut digits = String::new();
    for group in groups {
        digits.push_str(group);
        if digits.len() > *CARD_DIGITS.end() {
            return false;
        }
        if CARD_DIGITS.contains(&digits.len()) && is_card(&digits) {
            return true;
        }
    }
    false
}

/// True for the usual groups of a card number, whatever signs or lines part them.
fn has_grouped_card(text: &str) -> bool {
    text.split(char::is_alphabetic).any(|run| {
        let groups: Vec<&str> =
            run.split(|c: char| !c.is_ascii_digit()).filter(|group| !group.is_empty()).collect();
        CARD_GROUPS.iter().any(|lengths| {
            groups.windows(lengths.len()).any(|window| {
                let fits = window.iter().map(|group| group.len()).eq(lengths.iter().copied());
                fits && is_card(&window.concat())
            })
        })
    })
}

/// A text without what has the shape of an IBAN: its digits are no card number, also where one of them is
/// wrong.
fn without_accounts(text: &str) -> String {
    let mut rest = String::with_capacity(text.len());
    let mut from = 0;
    for at in account_starts(text) {
        if at >= from
            && let Some(length) = shaped_iban_length(&text[at..])
        {
            rest.push_str(&text[from..at]);
            rest.push_str("IBAN");
            from = at + length;
        }
    }
    rest.push_str(&text[from..]);
    rest
}

/// The bytes of an IBAN by its country and length, whatever its check digits say.
fn shaped_iban_length(text: &str) -> Option<usize> {
    let wanted = iban_length(&text[..2])?;
    let mut read = 0;
    for (at, c) in text.char_indices() {
        match c {
            c if c.is_ascii_alphanumeric() => read += 1,
            c if is_spacing(c) => continue,
            _ => return None,
        }
        if read == wanted {
            let after = &text[at + 1..];
            let goes_on = after.starts_with(|c: char| c.is_ascii_alphanumeric());
            return (!goes_on).then_some(at + 1);
        }
    }
    None
}

/// The letters and digits of an IBAN of a country.
fn iban_length(country: &str) -> Option<usize> {
    let mut known = IBAN_LENGTHS.split_whitespace();
    known.find(|known| known[..2].eq_ignore_ascii_case(country))?[2..].parse().ok()
}

/// Signs that part the groups of one number.
fn is_spacing(c: char) -> bool {
    matches!(c, ' ' | '\t' | '-' | '.' | '_' | '/' | '|' | '*' | '·' | '‐' | '–' | '—' | '−')
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
    account_starts(text).any(|at| begins_with_iban(&text[at..]))
}

/// Where two letters and two digits begin a word.
fn account_starts(text: &str) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    let is_start = |four: &[u8]| {
        four[..2].iter().all(u8::is_ascii_alphabetic) && four[2..].iter().all(u8::is_ascii_digit)
    };
    bytes.windows(4).enumerate().filter(move |(_, four)| is_start(four)).map(|(at, _)| at).filter(
        move |at| !at.checked_sub(1).is_some_and(|before| bytes[before].is_ascii_alphanumeric()),
    )
}

fn begins_with_iban(text: &str) -> bool {
    let mut compact = String::new();
    let mut is_one_line = true;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            c if c.is_ascii_alphanumeric() => compact.push(c.to_ascii_uppercase()),
            c if is_spacing(c) => continue,
            c if c.is_whitespace() => {
                is_one_line = false;
                continue;
            }
            _ => return false,
        }
        let ends = chars.peek().is_none_or(|next| !next.is_ascii_alphanumeric());
        // What stands on the next line may be something else.
        let is_whole = || is_one_line || iban_length(&compact[..2]) == Some(compact.len());
        if ends && IBAN_CHARS.contains(&compact.len()) && is_iban(&compact) && is_whole() {
            return true;
        }
        if compact.len() >= *IBAN_CHARS.end() {
            return false;
        }
    }
    false
}

/// True for an IBAN whose letters and digits stand one by one.
fn has_spelled_iban(text: &str) -> bool {
    let is_gap = |c: char| c.is_whitespace() || is_spacing(c);
    let mut spelled = String::new();
    for word in text.split(is_gap).filter(|word| !word.is_empty()).chain([""]) {
        if word.len() == 1 && word.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            spelled.push_str(&word.to_ascii_uppercase());
            continue;
        }
        if has_iban_within(&spelled) {
            return true;
        }
        spelled.clear();
    }
    false
}

fn has_iban_within(letters: &str) -> bool {
    possible_accounts(letters).any(is_iban)
}

/// What may be an IBAN, by its country and length, wherever it begins.
fn possible_accounts(letters: &str) -> impl Iterator<Item = &str> {
    let has_digits = |at: usize| {
        letters.get(at + 2..at + 4).is_some_and(|two| two.bytes().all(|b| b.is_ascii_digit()))
    };
    (0..letters.len()).filter(move |at| has_digits(*at)).filter_map(|at| {
        let length = iban_length(&letters[at..at + 2])?;
        letters.get(at..at + length)
    })
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
            ("4111\u{200b}1111\u{ad}11111111", SecretKind::CardNumber),
            ("４１１１ １１１１ １１１１ １１１１", SecretKind::CardNumber),
            ("4111_1111_1111_1111 or 4111/1111/1111/1111", SecretKind::CardNumber),
            ("4111,\n1111,\n1111,\n1111", SecretKind::CardNumber),
            ("4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", SecretKind::CardNumber),
            ("DE12 4111 1111 1111 1111", SecretKind::CardNumber),
            ("D\u{2060}E89 3704 0044 0532 0130 00", SecretKind::BankAccount),
            ("s\u{200d}k-proj4ABCdef123456789012345", SecretKind::ApiKey),
            ("rk_4fT8sQ2mX9vB7nK3pL6wR1yD5zH0jC8gF2aE4uM94fT8sQ2m", SecretKind::ApiKey),
            ("hf_4fT8sQ2mX9vB7nK3pL6wR1yD5zH0jC8g", SecretKind::ApiKey),
            ("to DE89 3704 0044\n0532 0130 00", SecretKind::BankAccount),
            ("de89 3704\t0044 0532 0130 00", SecretKind::BankAccount),
            ("it is a D E 8 9 3 7 0 4 0 0 4 4 0 5 3 2 0 1 3 0 0 0", SecretKind::BankAccount),
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
            "DE89370400440532013001 and CH93 0076 2011 6238 5295 8",
            "sk-learn and eyJustice are words; key-features too",
            "DE12 is a road, and 1234567890123 is a bar code",
            "0000 0000 0000 0000",
            "D E 8 9 3 7 0 4 0 0 4 4 0 5 3 2 0 1 3 0 0 2",
            "rk_live is how a key begins, ro_ a token",
        ] {
            assert!(written_secrets(text).is_empty(), "{text}: {:?}", written_secrets(text));
        }
    }

    #[test]
    fn a_secret_is_found_behind_any_number_of_others() {
        let numbers = "20418 20419, DE12 sk-learn ".repeat(5_000);
        let secret = format!("{numbers} 4111 1111 1111 1111");
        assert_eq!(written_secrets(&secret), [SecretKind::CardNumber]);
        let secret = format!("{numbers} DE89 3704 0044 0532 0130 00");
        assert_eq!(written_secrets(&secret), [SecretKind::BankAccount]);
        for piece in ["sk-", "1 ", "DE12 ", "D1", "4111 ", "a1", "D E "] {
            written_secrets(&piece.repeat(200_000 / piece.len()));
        }
    }
}
