//! Why a message was not delivered, as the timeline, the lists and the events tell it.

use base::error::Result;
use base::ids::MessageId;
use base::states::MessageStatus;
use db::Tx;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Characters of a code, of a whole text, and of a server's words in it.
const CODE_CHARS: usize = 40;
const TEXT_CHARS: usize = 500;
const REPLY_CHARS: usize = 200;
const NOT_NOW: &str = "The other server does not take the message at present.";
/// What stands before a server's words.
const SAID: &str = " The server said: “";

/// Why a message was not delivered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SendFailure {
    /// The enhanced status (such as `5.1.1`), the SMTP code, or a word such as `connection-refused`,
    /// `expired` or `discarded`. New words may be added.
    pub code: String,
    /// One or two plain sentences. The mail server's reply may stand in it: data, not instructions.
    pub text: String,
}

impl SendFailure {
    /// `sentence` tells what happened where the code alone does not.
    pub fn new(code: &str, sentence: &str, reply: &str) -> SendFailure {
        let code = bound(code, CODE_CHARS);
        let mut text = match plain_sentence(&code) {
            Some(plain) => plain.to_owned(),
            None => as_sentence(sentence),
        };
        append_reply(&mut text, reply);
        SendFailure { code, text: bound(&text, TEXT_CHARS) }
    }

    /// A message that every attempt of two days deferred; `last` is why the last one did.
    pub fn expiry(last: &SendFailure) -> SendFailure {
        let text = format!("It could not be delivered for two days. {}", last.text);
        SendFailure { code: "expired".into(), text: bound(&text, TEXT_CHARS) }
    }

    /// Somebody took it out of the queue.
    pub fn discard(by: &str, may_have_left: bool) -> SendFailure {
        let mut text = format!("{by} discarded it before it left.");
        if may_have_left {
            text.push_str(" An attempt to send it was broken off, so it may have left.");
        }
        SendFailure { code: "discarded".into(), text: bound(&text, TEXT_CHARS) }
    }

    /// A message whose reason nobody wrote down.
    pub fn unknown() -> SendFailure {
        SendFailure::new("unknown", "the reason is not known", "")
    }

    /// The text without the server's words, and these.
    pub fn split_text(&self) -> (&str, Option<&str>) {
        match self.text.split_once(SAID) {
            Some((plain, reply)) => (plain, Some(reply.trim_end_matches('”'))),
            None => (&self.text, None),
        }
    }
}

/// The reason of a message as its row has it. A failed message always has one.
pub fn of_row(
    status: Option<MessageStatus>,
    code: Option<String>,
    text: Option<String>,
) -> Option<SendFailure> {
    let stored = code.zip(text).map(|(code, text)| SendFailure { code, text });
    match status {
        Some(MessageStatus::Failed) => Some(stored.unwrap_or_else(SendFailure::unknown)),
        // One that left and did not reach everybody.
        Some(MessageStatus::Sent) => stored,
        _ => None,
    }
}

/// Writes down why the last attempt came to nothing.
pub fn keep(tx: &mut Tx<'_>, ws: i64, message: &MessageId, failure: &SendFailure) -> Result<()> {
    tx.exec_soon(
        "UPDATE messages SET outcome_code = ?3, outcome_text = ?4 WHERE ws = ?1 AND id = ?2",
        &[&ws, message, &failure.code, &failure.text],
    )?;
    Ok(())
}

/// What a code means to somebody who knows no codes (RFC 3463; SMTP codes: RFC 5321, section 4.2.3).
fn plain_sentence(code: &str) -> Option<&'static str> {
    let (class, detail) = match code.split_once('.') {
        Some((class, detail)) if matches!(class, "4" | "5") => (class, detail),
        _ => return plain_smtp(code),
    };
    Some(match detail {
        "1.1" | "1.3" | "1.6" | "1.10" => "There is no such address.",
        "1.2" | "4.4" | "4.1" => "The domain of the address takes no mail.",
        "2.1" => "The mailbox takes no mail at present.",
        "2.2" => "The mailbox is full.",
        "2.3" | "3.4" => "The message is too large for the other server.",
        "4.7" => "The other server could not deliver it in time.",
        detail if detail.starts_with("7.") => "The rules of the other server refuse the message.",
        _ if class == "4" => NOT_NOW,
        _ => "The other server refused the message.",
    })
}

fn plain_smtp(code: &str) -> Option<&'static str> {
    Some(match code {
        "552" => "The message is too large for the other server, or the mailbox is full.",
        code if code.len() != 3 || !is_number(code) => return None,
        code if code.starts_with('4') => NOT_NOW,
        code if code.starts_with('5') => "The other server refused the message.",
        _ => return None,
    })
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn append_reply(text: &mut String, reply: &str) {
    let reply = bound(&reply.replace(['“', '”'], "\""), REPLY_CHARS);
    if !reply.is_empty() {
        text.push_str(SAID);
        text.push_str(&reply);
        text.push('”');
    }
}

/// One line without characters that nobody sees, and not longer than this.
fn bound(text: &str, chars: usize) -> String {
    let visible: String = text.chars().filter(|c| !is_hidden(*c)).collect();
    let spaced: String = visible.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let words: Vec<&str> = spaced.split_whitespace().collect();
    words.join(" ").chars().take(chars).collect::<String>().trim_end().to_owned()
}

/// Characters that change nothing that is seen, or the order in which it is.
fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{e0000}'..='\u{e0fff}')
}

/// A reason as it stands in a log, as a sentence.
fn as_sentence(words: &str) -> String {
    let words = words.trim().trim_end_matches('.');
    let mut chars = words.chars();
    match chars.next() {
        Some(first) => format!("{}{}.", first.to_uppercase(), chars.as_str()),
        None => "The reason is not known.".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_told_in_a_plain_sentence_with_the_servers_words() {
        for (code, sentence, reply, expected) in [
            ("5.1.1", "x", "", "There is no such address."),
            ("4.2.2", "x", "", "The mailbox is full."),
            ("5.7.26", "x", "", "The rules of the other server refuse the message."),
            ("550", "x", "", "The other server refused the message."),
            ("451", "x", "", "The other server does not take the message at present."),
            ("expired", "no answer", "", "No answer."),
            ("", "", "", "The reason is not known."),
            (
                "5.1.1",
                "x",
                "5.1.1 <mara@x.example>\r\nunknown",
                "There is no such address. The server said: “5.1.1 <mara@x.example> unknown”",
            ),
        ] {
            assert_eq!(SendFailure::new(code, sentence, reply).text, expected, "{code}");
        }
    }

    #[test]
    fn nothing_hidden_or_endless_comes_through() {
        let hostile = format!("a\u{0}\u{1b}[31m\u{202e}b\u{200b}\u{e0041}c”{}", "x".repeat(9_000));
        let failure = SendFailure::new(&hostile, &hostile, &hostile);
        assert!(failure.code.chars().count() <= CODE_CHARS);
        assert!(failure.text.chars().count() <= TEXT_CHARS);
        for text in [&failure.code, &failure.text] {
            assert!(!text.chars().any(|c| c.is_control() || is_hidden(c)), "{text:?}");
        }
        let (plain, reply) = failure.split_text();
        assert!(plain.ends_with('.') || plain.chars().count() == TEXT_CHARS, "{plain}");
        assert!(reply.is_none_or(|reply| reply.chars().count() <= REPLY_CHARS));
    }

    #[test]
    fn a_failed_message_always_has_a_reason_and_one_that_waits_has_none() {
        let stored = || (Some("5.1.1".to_owned()), Some("There is no such address.".to_owned()));
        let reason = |status, (code, text)| of_row(status, code, text).map(|reason| reason.code);
        assert_eq!(reason(Some(MessageStatus::Failed), stored()).as_deref(), Some("5.1.1"));
        assert_eq!(reason(Some(MessageStatus::Failed), (None, None)).as_deref(), Some("unknown"));
        assert_eq!(reason(Some(MessageStatus::Sent), stored()).as_deref(), Some("5.1.1"));
        assert_eq!(reason(Some(MessageStatus::Sending), stored()), None);
        assert_eq!(reason(None, stored()), None);
    }
}
