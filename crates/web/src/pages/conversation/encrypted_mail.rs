//! Tells mail that is encrypted, and leaves what is encrypted out of its text.

use std::borrow::Cow;

use actions::conversations::timeline::{MessageEntry, TimelineFile};

/// The lines around what OpenPGP encrypted within a text (RFC 9580, section 6.2).
const BEGIN: &str = "-----BEGIN PGP MESSAGE-----";
const END: &str = "-----END PGP MESSAGE-----";

/// The types of files that a mail consists of which PGP or S/MIME encrypted (RFC 3156, RFC 8551).
const ENCRYPTED_TYPES: [&str; 3] =
    ["application/pgp-encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime"];

/// True for a mail with encrypted words, and for one without words whose files are encrypted. What S/MIME
/// only signed has its words when it comes in, although its file is of the same type.
pub fn is_encrypted(message: &MessageEntry) -> bool {
    let is_kind = |file: &TimelineFile| ENCRYPTED_TYPES.contains(&file.content_type.as_str());
    let has_words = !message.text.trim().is_empty() || message.has_html;
    message.text.contains(BEGIN) || (!has_words && message.files.iter().any(is_kind))
}

/// The text before, between and after what is encrypted in it. What was cut is encrypted to its end.
pub fn without_ciphertext(text: &str) -> Cow<'_, str> {
    if !text.contains(BEGIN) {
        return text.into();
    }
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(BEGIN) {
        shown.push_str(before);
        rest = after.split_once(END).map_or("", |(_, after)| after);
    }
    shown.push_str(rest);
    shown.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encrypted_within_a_text_is_left_out() {
        for (text, shown) in [
            ("Hello\n", "Hello\n"),
            (format!("{BEGIN}\n\nhQEMA\n{END}").as_str(), ""),
            (format!("Hi\n{BEGIN}\nhQ\n{END}\nAnn\n{BEGIN}\nhQ").as_str(), "Hi\n\nAnn\n"),
            (END, END),
        ] {
            assert_eq!(without_ciphertext(text), shown, "{text}");
        }
    }
}
