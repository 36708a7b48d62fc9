//! The value of a field: checked by the kind of the field, and what it is found by.

use base::limits::FIELD_VALUE_CHARS;
use base::time::{NamedTime, is_date};
use search::fold_name;
use serde_json::{Value, json};

use crate::fields::{CustomField, FieldKind};

/// Numbers are kept as so many parts of one, so that they compare exactly on both databases.
const PARTS: i64 = 10_000;
const DECIMALS: usize = 4;
/// The largest number, either way.
const MOST: i64 = 100_000_000_000;
/// Characters of a value by which it is found.
const FOLDED_CHARS: usize = 200;
const REFERENCE_CHARS: usize = 100;

/// A value that fits its field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldValue {
    /// As it is written.
    pub text: String,
    /// By which it is compared, where its kind has an order.
    pub number: Option<i64>,
}

impl FieldValue {
    /// Reads a value as JSON has it; the error says what would be right.
    pub fn of_json(field: &CustomField, value: &Value) -> Result<FieldValue, String> {
        let typed = match (field.kind, value) {
            (FieldKind::Number, Value::Number(number)) => number.to_string(),
            (FieldKind::Boolean, Value::Bool(truth)) => truth.to_string(),
            (FieldKind::Money, Value::Object(sum)) => match (sum.get("value"), sum.get("currency"))
            {
                (Some(Value::Number(amount)), Some(Value::String(currency))) => {
                    format!("{amount} {currency}")
                }
                _ => return Err(expectation(field)),
            },
            (FieldKind::Number | FieldKind::Boolean, _) => return Err(expectation(field)),
            (_, Value::String(text)) => text.clone(),
            _ => return Err(expectation(field)),
        };
        FieldValue::of_text(field, &typed)
    }

    /// Reads a value as people type it.
    pub fn of_text(field: &CustomField, typed: &str) -> Result<FieldValue, String> {
        let typed = typed.trim();
        let plain = |text: &str| FieldValue { text: text.to_owned(), number: None };
        let value = match field.kind {
            FieldKind::Text => is_text(typed).then(|| plain(typed)),
            FieldKind::Number => {
                let number = parse_number(typed);
                number.map(|n| FieldValue { text: number_text(n), number: Some(n) })
            }
            FieldKind::Money => parse_money(typed),
            FieldKind::Date => {
                let day = parse_day(typed);
                day.map(|begins| FieldValue { text: typed.to_owned(), number: Some(begins) })
            }
            FieldKind::Choice => {
                let is_it = |choice: &&String| fold(choice) == fold(typed);
                field.choices.iter().find(is_it).map(|choice| plain(choice))
            }
            FieldKind::Link => is_link(typed).then(|| plain(typed)),
            FieldKind::Boolean => ["true", "false"].contains(&typed).then(|| plain(typed)),
            FieldKind::Reference => is_reference(typed).then(|| plain(typed)),
        };
        value.ok_or_else(|| expectation(field))
    }

    /// What somebody typed as JSON has it. What does not fit stays text, which is refused as such.
    pub fn json_of_text(field: &CustomField, typed: &str) -> Value {
        match FieldValue::of_text(field, typed) {
            _ if typed.trim().is_empty() => Value::Null,
            Ok(value) => value.json(field.kind),
            Err(_) => Value::from(typed),
        }
    }

    /// The value as JSON has it.
    pub fn json(&self, kind: FieldKind) -> Value {
        let number = number_json(self.number.unwrap_or_default());
        match kind {
            FieldKind::Number => number,
            FieldKind::Money => {
                let currency = self.text.rsplit(' ').next().unwrap_or_default();
                json!({ "currency": currency, "value": number })
            }
            FieldKind::Boolean => Value::Bool(self.text == "true"),
            _ => Value::from(self.text.as_str()),
        }
    }

    /// What it is found by.
    pub fn fold_text(&self) -> String {
        fold(&self.text)
    }
}

/// A value without case, accents and width, to compare with another.
pub fn fold(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    fold_name(&words).chars().take(FOLDED_CHARS).collect()
}

/// A number in ten thousandths. A comma stands before one or two decimals, so that no thousands are
/// taken for decimals.
pub fn parse_number(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text),
    };
    let cents = |(_, fraction): &(&str, &str)| (1..=2).contains(&fraction.len());
    let by_comma = digits.split_once(',').filter(cents);
    let (whole, fraction) = digits.split_once('.').or(by_comma).unwrap_or((digits, "0"));
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let decimals = fraction.trim_end_matches('0');
    if !is_digits(whole) || !is_digits(fraction) || decimals.len() > DECIMALS {
        return None;
    }
    let whole: i64 = whole.parse().ok().filter(|whole| *whole <= MOST)?;
    let parts: i64 = format!("{decimals:0<DECIMALS$}").parse().ok()?;
    let number = whole * PARTS + parts;
    (number <= MOST * PARTS).then_some(sign * number)
}

/// The first millisecond of a day.
pub fn parse_day(text: &str) -> Option<i64> {
    let is_day = is_date(text);
    NamedTime::parse(text).filter(|_| is_day).map(|day| day.begins)
}

/// `129.90 EUR` or `EUR 129.90`.
fn parse_money(text: &str) -> Option<FieldValue> {
    let (first, second) = text.split_once(char::is_whitespace)?;
    let second = second.trim_start();
    let (amount, currency) = match parse_number(first) {
        Some(amount) => (amount, second),
        None => (parse_number(second)?, first),
    };
    let is_currency = currency.len() == 3 && currency.bytes().all(|b| b.is_ascii_alphabetic());
    is_currency.then(|| FieldValue {
        text: format!("{} {}", sum_text(amount), currency.to_ascii_uppercase()),
        number: Some(amount),
    })
}

fn number_text(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "" };
    let (whole, parts) = (number.abs() / PARTS, number.abs() % PARTS);
    let decimals = format!("{parts:0DECIMALS$}");
    match decimals.trim_end_matches('0') {
        "" => format!("{sign}{whole}"),
        decimals => format!("{sign}{whole}.{decimals}"),
    }
}

/// A sum has no or at least two decimals.
fn sum_text(amount: i64) -> String {
    let text = number_text(amount);
    match text.split_once('.') {
        Some((_, decimals)) if decimals.len() == 1 => format!("{text}0"),
        _ => text,
    }
}

fn number_json(number: i64) -> Value {
    if number % PARTS == 0 {
        return json!(number / PARTS);
    }
    json!(number as f64 / PARTS as f64)
}

fn is_text(text: &str) -> bool {
    let chars = text.chars().count();
    (1..=FIELD_VALUE_CHARS).contains(&chars) && !text.contains('\0')
}

fn is_link(text: &str) -> bool {
    let address = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let host = address.and_then(|address| address.split(['/', '?', '#']).next());
    let is_plain = !text.chars().any(|c| c.is_whitespace() || c.is_control() || "\"<>".contains(c));
    is_text(text) && is_plain && host.is_some_and(|host| !host.is_empty())
}

fn is_reference(text: &str) -> bool {
    let chars = text.chars().count();
    let is_plain = !text.chars().any(|c| c.is_whitespace() || c.is_control());
    (1..=REFERENCE_CHARS).contains(&chars) && is_plain
}

/// What a value of a field must be.
/// Customers read it.
fn expectation(field: &CustomField) -> String {
    match field.kind {
        FieldKind::Text => format!("must be 1 to {FIELD_VALUE_CHARS} characters"),
        FieldKind::Number => {
            format!("must be a number of at most 100,000,000,000 with at most {DECIMALS} decimals")
        }
        FieldKind::Money => "must be an amount and its currency, such as 129.90 EUR".into(),
        FieldKind::Date => "must be a day such as 2026-11-15".into(),
        FieldKind::Choice => format!("must be one of {}", field.choices.join(", ")),
        FieldKind::Link => "must be an address that begins with https:// or http://".into(),
        FieldKind::Boolean => "must be true or false".into(),
        FieldKind::Reference => {
            format!("must be 1 to {REFERENCE_CHARS} characters without a space")
        }
    }
}

#[cfg(test)]
mod tests {
    use db::Json;

    use super::*;
    use crate::fields::FieldOwner;

    fn field(kind: FieldKind) -> CustomField {
        let choices = match kind {
            FieldKind::Choice => vec!["Free".to_owned(), "Größer".to_owned()],
            _ => Vec::new(),
        };
        let (key, owner) = ("field".to_owned(), FieldOwner::Contact);
        CustomField { key, owner, kind, choices: Json(choices) }
    }

    #[test]
    fn a_value_is_read_by_its_kind_and_comes_back_as_json() {
        for (kind, given, text, comes_back) in [
            (FieldKind::Text, json!("  Two words "), "Two words", json!("Two words")),
            (FieldKind::Number, json!(12.5), "12.5", json!(12.5)),
            (FieldKind::Number, json!(-3), "-3", json!(-3)),
            (FieldKind::Number, json!(4.0), "4", json!(4)),
            (
                FieldKind::Money,
                json!({ "currency": "eur", "value": 129.9 }),
                "129.90 EUR",
                json!({ "currency": "EUR", "value": 129.9 }),
            ),
            (
                FieldKind::Money,
                json!("CHF 1250,50"),
                "1250.50 CHF",
                json!({ "currency": "CHF", "value": 1250.5 }),
            ),
            (FieldKind::Date, json!("2026-11-15"), "2026-11-15", json!("2026-11-15")),
            (FieldKind::Choice, json!("grosser"), "Größer", json!("Größer")),
            (
                FieldKind::Link,
                json!("http://x.example"),
                "http://x.example",
                json!("http://x.example"),
            ),
            (FieldKind::Boolean, json!(true), "true", json!(true)),
            (FieldKind::Reference, json!("A-17"), "A-17", json!("A-17")),
        ] {
            let read = FieldValue::of_json(&field(kind), &given).unwrap();
            assert_eq!((read.text.as_str(), read.json(kind)), (text, comes_back), "{given}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_with_what_would() {
        for (kind, given) in [
            (FieldKind::Text, json!("")),
            (FieldKind::Text, json!(5)),
            (FieldKind::Text, json!("x".repeat(501))),
            (FieldKind::Number, json!("5")),
            (FieldKind::Number, json!(0.00001)),
            (FieldKind::Number, json!(1e15)),
            (FieldKind::Money, json!(5)),
            (FieldKind::Money, json!("5")),
            (FieldKind::Money, json!("five EUR")),
            (FieldKind::Money, json!({ "value": 5 })),
            (FieldKind::Date, json!("15.11.2026")),
            (FieldKind::Date, json!("2026-11-15T10:00:00Z")),
            (FieldKind::Choice, json!("Pro")),
            (FieldKind::Link, json!("javascript:alert(1)")),
            (FieldKind::Link, json!("https:///x")),
            (FieldKind::Boolean, json!("true")),
            (FieldKind::Reference, json!("two words")),
        ] {
            let refused = FieldValue::of_json(&field(kind), &given).unwrap_err();
            assert!(refused.starts_with("must be "), "{given}: {refused}");
        }
    }

    #[test]
    fn numbers_are_exact_and_a_comma_is_no_thousand() {
        for (text, number) in [
            ("0", Some(0)),
            ("-0.5", Some(-5_000)),
            ("1.2345", Some(12_345)),
            ("1.23450000", Some(12_345)),
            ("129,9", Some(1_299_000)),
            ("1,000", None),
            ("1.23456", None),
            ("1.", None),
            (".5", None),
            ("--1", None),
            ("1e3", None),
            ("100000000000", Some(1_000_000_000_000_000)),
            ("100000000000.1", None),
        ] {
            assert_eq!(parse_number(text), number, "{text}");
        }
    }

    #[test]
    fn values_are_found_whatever_their_case_and_accents() {
        assert_eq!(fold("  Grün   TEE "), "grun tee");
        assert_eq!(fold(&"x".repeat(500)).len(), FOLDED_CHARS);
    }
}
