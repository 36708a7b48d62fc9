//! SMTP replies and what they mean for a recipient.

use jobs::{RelayOutcome, RelayReason};

/// Lines of one reply, and bytes of one line, that are read at the most.
pub const LINES: usize = 100;
pub const LINE_BYTES: usize = 2_000;
/// Characters of a server's words that are shown.
const WORDS_CHARS: usize = 200;

/// Codes that require another login or TLS. They mean a misconfigured relay, not a bad mail, so the
/// mail is deferred until the configuration is fixed.
const SET_UP: &[u16] = &[530, 534, 535, 538];

/// A server's reply to one command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmtpReply {
    pub code: u16,
    /// The text of each line.
    pub lines: Vec<String>,
}

impl SmtpReply {
    pub fn is_positive(&self) -> bool {
        (200..300).contains(&self.code)
    }

    /// The server closes the connection after this reply (RFC 5321, section 3.8).
    pub fn is_goodbye(&self) -> bool {
        self.code == 421
    }

    /// The code and the enhanced status, without the server's words: these may repeat the mail.
    pub fn summary(&self) -> String {
        match self.status() {
            Some(status) => format!("{} {status}", self.code),
            None => self.code.to_string(),
        }
    }

    /// The enhanced status (RFC 2034).
    fn status(&self) -> Option<&str> {
        let first = self.lines.first().map_or("", String::as_str);
        first.split_whitespace().next().filter(|word| is_status(word))
    }

    /// Why something was refused, by the most exact code, with the server's words for the team.
    pub fn reason(&self, sentence: String) -> RelayReason {
        let code = self.status().map_or_else(|| self.code.to_string(), str::to_owned);
        RelayReason::new(code, sentence).with_reply(self.few_words())
    }

    /// The beginning of the server's words, for the person who is at it.
    pub fn few_words(&self) -> String {
        let text = self.lines.join(" ");
        let plain = |c: char| if c.is_control() { ' ' } else { c };
        let words: String = text.chars().map(plain).take(WORDS_CHARS).collect();
        words.trim().to_owned()
    }

    /// The delivery outcome of a refusal; `what` was refused.
    pub fn refusal(&self, what: &str) -> RelayOutcome {
        let reason = self.reason(format!("the server answered {} to {what}", self.summary()));
        match self.code {
            code if SET_UP.contains(&code) => RelayOutcome::Later(reason),
            500..600 => RelayOutcome::Never(reason),
            _ => RelayOutcome::Later(reason),
        }
    }

    /// The same for a recipient. 552 means here that there are too many of them (RFC 5321,
    /// section 4.5.3.1.10), which the next try with fewer will not have.
    pub fn refusal_of_recipient(&self) -> RelayOutcome {
        match self.code {
            552 => {
                let sentence = format!("the server answered {} to RCPT", self.summary());
                RelayOutcome::Later(self.reason(sentence))
            }
            _ => self.refusal("RCPT"),
        }
    }
}

/// An enhanced status such as `5.1.1` (RFC 3463).
fn is_status(word: &str) -> bool {
    let mut parts = word.split('.');
    let number = |part: Option<&str>, digits: usize| {
        part.is_some_and(|part| {
            (1..=digits).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit())
        })
    };
    number(parts.next(), 1)
        && number(parts.next(), 3)
        && number(parts.next(), 3)
        && parts.next().is_none()
}

/// One line of a reply: its code, whether more lines follow, and its text.
pub fn read_line(line: &[u8]) -> Option<(u16, bool, String)> {
    let (code, rest) = line.split_at_checked(3)?;
    let code: u16 = str::from_utf8(code).ok().filter(|code| is_code(code))?.parse().ok()?;
    let (more, text) = match rest.split_first() {
        None => (false, rest),
        Some((b' ', text)) => (false, text),
        Some((b'-', text)) => (true, text),
        Some(_) => return None,
    };
    Some((code, more, String::from_utf8_lossy(text).into_owned()))
}

fn is_code(code: &str) -> bool {
    matches!(code.as_bytes(), [b'2'..=b'5', b'0'..=b'9', b'0'..=b'9'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(line: &str) -> SmtpReply {
        let (code, _, text) = read_line(line.as_bytes()).expect("a reply");
        SmtpReply { code, lines: vec![text] }
    }

    #[test]
    fn a_line_is_a_code_and_a_text_or_nothing() {
        assert_eq!(read_line(b"250 OK"), Some((250, false, "OK".into())));
        assert_eq!(read_line(b"250-SIZE 10"), Some((250, true, "SIZE 10".into())));
        assert_eq!(read_line(b"250"), Some((250, false, String::new())));
        for bad in ["", "25", "2500", "abc", "150 x", "650 x", "+50 x", "250_x", "HTTP/1.1 400"] {
            assert_eq!(read_line(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn a_refusal_tells_the_most_exact_code_and_the_servers_words_to_the_team_alone() {
        for (line, code, word) in [
            ("550 5.1.1 <a@x.example> unknown", "5.1.1", "unknown"),
            ("554 Hello Mara, spam", "554", "Mara"),
        ] {
            let refusal = reply(line).refusal("RCPT");
            let sentence = refusal.reason().expect("a reason").to_string();
            let expected = RelayReason::new(code, sentence).with_reply(&line[4..]);
            assert_eq!(refusal, RelayOutcome::Never(expected));
            assert!(!format!("{refusal:?}").contains(word), "{refusal:?}");
        }
    }

    #[test]
    fn a_refusal_lasts_as_its_code_says_and_repeats_no_words() {
        for (line, expected) in [
            ("450 4.2.0 mara@x.example greylisted", "later: 450 4.2.0"),
            ("421 closing", "later: 421"),
            ("452 4.2.2 full", "later: 452 4.2.2"),
            ("550 5.1.1 <mara@x.example> unknown", "never: 550 5.1.1"),
            ("554 Hello Mara, spam", "never: 554"),
            ("550 5.7.1. no", "never: 550"),
            ("530 5.7.0 log in first", "later: 530 5.7.0"),
            ("354 go on", "later: 354"),
        ] {
            let told = match reply(line).refusal("MAIL") {
                RelayOutcome::Later(reason) | RelayOutcome::Unavailable(reason) => {
                    format!("later: {reason}")
                }
                RelayOutcome::Never(reason) => format!("never: {reason}"),
                RelayOutcome::Delivered => "delivered".into(),
            };
            let plain = told.replace("the server answered ", "").replace(" to MAIL", "");
            assert_eq!(plain, expected, "{line}");
        }
        assert!(matches!(reply("552 too many").refusal_of_recipient(), RelayOutcome::Later(_)));
        assert!(matches!(reply("552 too large").refusal("DATA"), RelayOutcome::Never(_)));
    }
}
