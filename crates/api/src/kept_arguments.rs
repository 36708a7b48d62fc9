//! The arguments of a call as they are kept for those who look after keys: bounded, and without secrets.

use base::limits::{CALL_ARGUMENTS_CHARS, CALL_TEXT_CHARS};
use serde_json::{Map, Value, json};

/// Items of a list that are kept.
const ITEMS: usize = 10;
/// Levels of values within values that are kept.
const DEPTH: usize = 4;
/// What stands in place of a secret, and of words that only a protected page shows.
const SECRET: &str = "[secret]";
const PROTECTED: &str = "[protected]";
/// How secrets of Mailroom begin.
const SECRETS: [&str; 4] = ["rk_live_", "rk_test_", "ro_", "whsec_"];
/// Fields whose words a protected page alone shows.
const WORDS: [&str; 5] = ["body", "text", "message", "summary", "documents"];

/// The arguments as JSON, with the id of the path.
pub fn kept_arguments(input: &Value, id: Option<&str>) -> String {
    let mut kept = match input {
        Value::Object(object) => short_object(object, 0),
        _ => Map::new(),
    };
    if input.get("secure") == Some(&Value::Bool(true)) {
        for name in WORDS {
            if let Some(value) = kept.get_mut(name) {
                *value = PROTECTED.into();
            }
        }
    }
    if let Some(id) = id {
        kept.insert("id".into(), short(&Value::from(id), 1));
    }
    let text = Value::Object(kept).to_string();
    match text.chars().count() <= CALL_ARGUMENTS_CHARS {
        true => text,
        false => json!({ "cut": text.chars().take(CALL_ARGUMENTS_CHARS).collect::<String>() })
            .to_string(),
    }
}

/// The sentence of a refusal, bounded.
pub fn kept_sentence(sentence: &str) -> String {
    without_secret(sentence)
}

fn short_object(object: &Map<String, Value>, depth: usize) -> Map<String, Value> {
    object
        .iter()
        .take(2 * ITEMS)
        .map(|(name, value)| {
            let value = match (name.as_str(), value) {
                // An address may hold a secret behind its question mark.
                ("url", Value::String(url)) => {
                    Value::from(without_secret(url.split('?').next().unwrap_or_default()))
                }
                _ => short(value, depth + 1),
            };
            (without_secret(name), value)
        })
        .collect()
}

fn short(value: &Value, depth: usize) -> Value {
    match value {
        Value::String(text) => without_secret(text).into(),
        Value::Array(_) | Value::Object(_) if depth > DEPTH => "…".into(),
        Value::Array(items) => {
            let mut kept: Vec<Value> =
                items.iter().take(ITEMS).map(|item| short(item, depth + 1)).collect();
            if items.len() > ITEMS {
                kept.push(format!("and {} more", items.len() - ITEMS).into());
            }
            kept.into()
        }
        Value::Object(object) => short_object(object, depth).into(),
        other => other.clone(),
    }
}

fn without_secret(text: &str) -> String {
    if SECRETS.iter().any(|begin| text.contains(begin)) {
        return SECRET.into();
    }
    let mut kept: String = text.chars().take(CALL_TEXT_CHARS).collect();
    if kept.len() < text.len() {
        kept.push('…');
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_and_protected_words_are_not_kept() {
        let input = json!({
            "body": "The code is 4711.",
            "secure": true,
            "to": ["ann@x.example"],
            "note": "my key is rk_live_abc",
            "url": "https://x.example/hook?token=1"
        });
        assert_eq!(
            kept_arguments(&input, Some("cnv_1")),
            r#"{"body":"[protected]","secure":true,"to":["ann@x.example"],"note":"[secret]","url":"https://x.example/hook","id":"cnv_1"}"#
        );
    }

    #[test]
    fn what_is_kept_is_bounded_however_much_was_asked() {
        let long = "é".repeat(5_000);
        let many: Vec<Value> = (0..100).map(|n| json!(format!("cnv_{n}"))).collect();
        let kept =
            kept_arguments(&json!({ "body": long, "ids": many, "x": { "y": [[[[[1]]]]] } }), None);
        assert!(kept.chars().count() < CALL_ARGUMENTS_CHARS, "{kept}");
        assert!(kept.contains("and 90 more"), "{kept}");
        let wide: Map<String, Value> =
            (0..1_000).map(|n| (format!("name{n}"), json!("x".repeat(500)))).collect();
        let kept = kept_arguments(&Value::Object(wide), None);
        assert!(kept.chars().count() < 2 * CALL_ARGUMENTS_CHARS, "{}", kept.len());
        assert!(serde_json::from_str::<Value>(&kept).is_ok());
    }
}
