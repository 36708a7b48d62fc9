//! The arguments of a call as they are kept for those who look after keys: bounded, and without secrets.

use base::limits::{CALL_ARGUMENTS_CHARS, CALL_TEXT_CHARS};
use mail::written_secrets;
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
/// Parts of the names of fields whose value is a secret, whatever it looks like.
const SECRET_FIELDS: [&str; 4] = ["password", "passwort", "secret", "token"];
/// How a password is called, and the verbs that lead to it.
const PASSWORD_WORDS: [&str; 8] = [
    "password",
    "passwort",
    "passwd",
    "passphrase",
    "passcode",
    "kennwort",
    "mot de passe",
    "contraseña",
];
const PASSWORD_VERBS: [&str; 6] = ["is", "ist", "lautet", "was", "est", "es"];
/// Characters that are looked at behind those that are kept: a secret may begin within them.
const CHARS_BEHIND: usize = 400;
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
    // The address of a webhook of a chat is itself a secret.
    let is_chat = input.get("format").is_some_and(|format| *format != "mailroom");
    if let Some(url) = kept.get_mut("url").filter(|_| is_chat) {
        *url = SECRET.into();
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
                (name, Value::String(_)) if is_secret_field(name) => SECRET.into(),
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
        Value::Number(number) if has_secret(&number.to_string()) => SECRET.into(),
        other => other.clone(),
    }
}

fn is_secret_field(name: &str) -> bool {
    let name = name.to_lowercase();
    SECRET_FIELDS.iter().any(|part| name.contains(part))
}

/// A text with a secret in it is not kept at all: what stands around it may be part of it.
fn without_secret(text: &str) -> String {
    if has_secret(text) {
        return SECRET.into();
    }
    let mut kept: String = text.chars().take(CALL_TEXT_CHARS).collect();
    if kept.len() < text.len() {
        kept.push('…');
    }
    kept
}

fn has_secret(text: &str) -> bool {
    if SECRETS.iter().any(|begin| text.contains(begin)) {
        return true;
    }
    let read: String = text.chars().take(CALL_TEXT_CHARS + CHARS_BEHIND).collect();
    !written_secrets(&read).is_empty() || has_password(&read)
}

/// True where something stands behind the word for a password, such as `password: hunter2`.
fn has_password(text: &str) -> bool {
    let text = text.to_lowercase();
    PASSWORD_WORDS.iter().any(|called| {
        text.match_indices(called).any(|(at, _)| {
            let behind = text[at + called.len()..].trim_start();
            let sign = behind.starts_with([':', '=']);
            let mut words = behind.trim_start_matches([':', '=']).split_whitespace();
            let next = words.next().unwrap_or_default();
            let is_told = PASSWORD_VERBS.contains(&next) && words.next().is_some();
            let looks_like_one = next.contains(|c: char| c.is_ascii_digit());
            (sign && !next.is_empty()) || is_told || looks_like_one
        })
    })
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
    fn the_address_of_a_chat_is_not_kept() {
        let kept = |format: &str| {
            let input = json!({ "url": "https://hooks.chat.example/T1/B2/abc", "format": format });
            kept_arguments(&input, None)
        };
        assert_eq!(kept("slack"), r#"{"url":"[secret]","format":"slack"}"#);
        assert_eq!(kept("Slack"), r#"{"url":"[secret]","format":"Slack"}"#);
        assert!(kept("mailroom").contains("hooks.chat.example/T1/B2/abc"));
    }

    #[test]
    fn secrets_in_the_words_of_a_text_are_not_kept() {
        let far = format!("{}4111 1111 1111 1111", "x ".repeat(95));
        for text in [
            "Pay with 4111 1111 1111 1111, please.",
            "My account is DE89 3704 0044 0532 0130 00.",
            "Use ghp_16C7e42F292c6912E7710c838347Ae178B4a for it.",
            "The password is hunter2.",
            "Passwort: geheim",
            "Your new password correcthorse1",
            far.as_str(),
        ] {
            for kept in [
                kept_arguments(&json!({ "body": text }), None),
                kept_arguments(&json!({ "changes": [{ "text": text }] }), None),
                kept_sentence(text),
            ] {
                assert!(kept.contains(SECRET) && !kept.contains("1111"), "{kept}");
                assert!(!kept.contains("hunter2") && !kept.contains("geheim"), "{kept}");
            }
        }
        let named = json!({ "accessToken": "abc", "card": 4111111111111111_u64, "limit": 20 });
        let kept = r#"{"accessToken":"[secret]","card":"[secret]","limit":20}"#;
        assert_eq!(kept_arguments(&named, None), kept);
    }

    #[test]
    fn words_about_passwords_and_numbers_are_kept() {
        for text in [
            "I forgot my password, please help.",
            "Order 20418 of 2026-11-18",
            "cnv_01kag0z8m4s6y2t9r5w1q3n7xe",
        ] {
            assert_eq!(kept_sentence(text), text);
        }
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
