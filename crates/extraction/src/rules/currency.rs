//! Currencies: ISO 4217 codes, and the signs and words that stand for them.

use super::tokens::WordToken;

/// The codes of money that is paid with today.
const CODES: &[&str] = &[
    "AED", "AFN", "ALL", "AMD", "ANG", "AOA", "ARS", "AUD", "AWG", "AZN", "BAM", "BBD", "BDT",
    "BGN", "BHD", "BIF", "BMD", "BND", "BOB", "BRL", "BSD", "BTN", "BWP", "BYN", "BZD", "CAD",
    "CDF", "CHF", "CLP", "CNY", "COP", "CRC", "CUP", "CVE", "CZK", "DJF", "DKK", "DOP", "DZD",
    "EGP", "ERN", "ETB", "EUR", "FJD", "FKP", "GBP", "GEL", "GHS", "GIP", "GMD", "GNF", "GTQ",
    "GYD", "HKD", "HNL", "HTG", "HUF", "IDR", "ILS", "INR", "IQD", "IRR", "ISK", "JMD", "JOD",
    "JPY", "KES", "KGS", "KHR", "KMF", "KPW", "KRW", "KWD", "KYD", "KZT", "LAK", "LBP", "LKR",
    "LRD", "LSL", "LYD", "MAD", "MDL", "MGA", "MKD", "MMK", "MNT", "MOP", "MRU", "MUR", "MVR",
    "MWK", "MXN", "MYR", "MZN", "NAD", "NGN", "NIO", "NOK", "NPR", "NZD", "OMR", "PAB", "PEN",
    "PGK", "PHP", "PKR", "PLN", "PYG", "QAR", "RON", "RSD", "RUB", "RWF", "SAR", "SBD", "SCR",
    "SDG", "SEK", "SGD", "SHP", "SLE", "SOS", "SRD", "SSP", "STN", "SVC", "SYP", "SZL", "THB",
    "TJS", "TMT", "TND", "TOP", "TRY", "TTD", "TWD", "TZS", "UAH", "UGX", "USD", "UYU", "UZS",
    "VES", "VND", "VUV", "WST", "XAF", "XCD", "XOF", "XPF", "YER", "ZAR", "ZMW", "ZWL",
];

/// Codes that are also words, or rare enough that three such letters are more likely something else.
const DOUBTFUL: &[&str] =
    &["ALL", "TOP", "TRY", "CUP", "MOP", "PEN", "LAK", "ERN", "BAM", "COP", "SOS"];

/// Codes that end a company's name in a country with another currency: `Sdn Bhd`. They count beside a
/// figure alone.
const COMPANY_FORMS: &[&str] = &["BHD", "BND"];
/// The word before such a form, also as it is misread.
const BEFORE_FORM: &[&str] = &["sdn", "son", "5dn", "sdm", "san"];

const SIGNS: &[(char, &str)] = &[
    ('€', "EUR"),
    ('£', "GBP"),
    ('₹', "INR"),
    ('¥', "JPY"),
    ('₺', "TRY"),
    ('₽', "RUB"),
    ('₪', "ILS"),
    ('₴', "UAH"),
    ('₩', "KRW"),
    ('₫', "VND"),
    ('฿', "THB"),
];

/// Folded words that stand for a currency.
const NAMES: &[(&str, &str)] = &[
    ("euro", "EUR"),
    ("euros", "EUR"),
    ("zl", "PLN"),
    ("kc", "CZK"),
    ("rs", "INR"),
    ("rupees", "INR"),
    ("dollars", "USD"),
    ("sfr", "CHF"),
    ("pounds", "GBP"),
];

/// What stands for Malaysian money on receipts.
const RINGGIT: &str = "RM";

/// Dollars other than those of the United States, by what stands before the sign.
const DOLLARS: &[(&str, &str)] = &[
    ("CA", "CAD"),
    ("C", "CAD"),
    ("A", "AUD"),
    ("AU", "AUD"),
    ("NZ", "NZD"),
    ("S", "SGD"),
    ("HK", "HKD"),
    ("R", "BRL"),
    ("US", "USD"),
    ("NT", "TWD"),
    ("MX", "MXN"),
];

/// A code, if these letters are one.
pub fn code(text: &str) -> Option<String> {
    let upper = text.to_ascii_uppercase();
    CODES.contains(&upper.as_str()).then_some(upper)
}

/// The currencies that a text names, with how surely: a code in capitals, a sign, a word.
pub fn find_all(text: &str, tokens: &[WordToken]) -> Vec<(&'static str, u32)> {
    let mut found = Vec::new();
    let figure = |at: Option<usize>| {
        let token = at.and_then(|at| tokens.get(at));
        token.is_some_and(|token| token.word.starts_with(|c: char| c.is_ascii_digit()))
    };
    for (at, token) in tokens.iter().enumerate() {
        let raw = &text[token.start..token.end];
        // "EUR12,50" is written without a space, too.
        let letters = raw.trim_matches(|c: char| c.is_ascii_digit());
        let alone = letters.len() == raw.len();
        let beside_figure = !alone || figure(Some(at + 1)) || figure(at.checked_sub(1));
        if letters == RINGGIT && beside_figure {
            found.push(("MYR", 3));
        }
        let named = at.checked_sub(1).is_some_and(|at| BEFORE_FORM.contains(&&*tokens[at].word));
        let form = COMPANY_FORMS.contains(&letters) && (named || !beside_figure);
        if let Some(known) = CODES.iter().find(|known| **known == letters && !form) {
            let sure = if DOUBTFUL.contains(known) { 0 } else { 4 };
            found.push((*known, sure));
        }
        if let Some((_, known)) = NAMES.iter().find(|(name, _)| *name == token.word) {
            found.push((*known, 2));
        }
    }
    for (at, c) in text.char_indices() {
        if let Some((_, known)) = SIGNS.iter().find(|(sign, _)| *sign == c) {
            found.push((*known, 4));
        }
        if c == '$' {
            let before = text[..at].rsplit(|c: char| !c.is_ascii_uppercase()).next().unwrap_or("");
            let other = DOLLARS.iter().find(|(letters, _)| *letters == before);
            found.push(other.map_or(("USD", 3), |(_, known)| (*known, 4)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    #[test]
    fn codes_signs_and_words_are_known() {
        let best = |text: &str| find_all(text, &tokens(text)).first().map(|(code, _)| *code);
        for (text, expected) in [
            ("Total EUR 12", Some("EUR")),
            ("12,50 €", Some("EUR")),
            ("EUR12,50", Some("EUR")),
            ("£12", Some("GBP")),
            ("CA$ 12", Some("CAD")),
            ("$12", Some("USD")),
            ("12 zł", Some("PLN")),
            ("Rs. 319.00", Some("INR")),
            ("twelve", None),
            ("ACME TRADING SDN BHD", None),
            ("ACME TRADING SDN. BHD. (1234-X)", None),
            ("Total BHD 12.500", Some("BHD")),
            ("TOTAL RM 60.30", Some("MYR")),
            ("RM60.30", Some("MYR")),
        ] {
            assert_eq!(best(text), expected, "{text}");
        }
        assert_eq!(code("eur").as_deref(), Some("EUR"));
        assert_eq!(code("EURO"), None);
    }
}
