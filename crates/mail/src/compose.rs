//! A finished mail out of what somebody wrote.

use mail_builder::MessageBuilder;
use mail_builder::headers::address::Address as HeaderAddress;
use mail_builder::headers::content_type::ContentType;
use mail_builder::headers::message_id::MessageId;
use mail_builder::headers::raw::Raw;
use mail_builder::mime::MimePart;

use crate::Address;

/// Characters of a boundary, which may have 70.
const BOUNDARY_CHARS: usize = 40;

/// What goes into a mail of ours.
#[derive(Clone, Debug)]
pub struct Letter {
    /// Fixed before the first try, without angle brackets.
    pub message_id: String,
    /// The Message-IDs it answers, the oldest first.
    pub answers: Vec<String>,
    pub from: Address,
    pub to: Vec<Address>,
    pub cc: Vec<Address>,
    pub subject: String,
    pub text: String,
    /// Milliseconds since 1970.
    pub at: i64,
    /// True for mail that no person or agent wrote.
    pub automatic: bool,
    /// Where the recipient says with one click that they want no more of it.
    pub unsubscribe: Option<String>,
}

/// The letter as MIME: text and a simple HTML twin. The same letter gives the same headers on
/// every try.
pub fn compose(letter: &Letter) -> Vec<u8> {
    let mut mail = MessageBuilder::new()
        .message_id(letter.message_id.as_str())
        .date(letter.at / 1_000)
        .from(address(&letter.from))
        .to(addresses(&letter.to))
        .subject(one_line(&letter.subject))
        .body(body(letter));
    if !letter.cc.is_empty() {
        mail = mail.cc(addresses(&letter.cc));
    }
    if let Some(last) = letter.answers.last() {
        mail = mail
            .in_reply_to(last.as_str())
            .references(MessageId::new_list(letter.answers.iter().map(String::as_str)));
    }
    if letter.automatic {
        mail = mail.header("Auto-Submitted", Raw::new("auto-generated"));
    }
    if let Some(address) = &letter.unsubscribe {
        mail = mail
            .header("List-Unsubscribe", Raw::new(format!("<{}>", one_line(address))))
            .header("List-Unsubscribe-Post", Raw::new("List-Unsubscribe=One-Click"));
    }
    mail.write_to_vec().unwrap_or_default()
}

fn body(letter: &Letter) -> MimePart<'_> {
    let kind = ContentType::new("multipart/alternative").attribute("boundary", boundary(letter));
    let text = MimePart::new("text/plain", letter.text.as_str());
    MimePart::new(kind, vec![text, MimePart::new("text/html", html(&letter.text))])
}

/// Made from the Message-ID, so that every try has the same bytes, and not found in the text.
fn boundary(letter: &Letter) -> String {
    let name: String = letter
        .message_id
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .take(BOUNDARY_CHARS)
        .collect();
    let mut boundaries = (0..u64::MAX).map(|number| format!("=_{number}_{name}"));
    boundaries.find(|made| !letter.text.contains(made)).unwrap_or_default()
}

fn address(address: &Address) -> HeaderAddress<'static> {
    let name = address.name.as_deref().map(one_line);
    HeaderAddress::new_address(name, one_line(&address.email))
}

fn addresses(list: &[Address]) -> HeaderAddress<'static> {
    HeaderAddress::new_list(list.iter().map(address).collect())
}

/// A header's text can hold no line break, so none can add a header.
fn one_line(text: &str) -> String {
    let plain = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    plain.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Paragraphs and line breaks, with links that can be followed.
fn html(text: &str) -> String {
    let mut html = String::from("<html><body>");
    for paragraph in text.replace("\r\n", "\n").split("\n\n") {
        let lines: Vec<String> = paragraph.trim_matches('\n').split('\n').map(linked).collect();
        html.push_str(&format!("<p>{}</p>", lines.join("<br>")));
    }
    html.push_str("</body></html>");
    html
}

fn linked(line: &str) -> String {
    let words = line.split(' ').map(|word| {
        let escaped = escaped(word);
        match word.starts_with("https://") || word.starts_with("http://") {
            true => format!("<a href=\"{escaped}\">{escaped}</a>"),
            false => escaped,
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letter() -> Letter {
        Letter {
            message_id: "msg.1.abc@acme.example".into(),
            answers: vec!["first@x.example".into(), "last@x.example".into()],
            from: Address::new(Some("Ines Märti"), "support@acme.example"),
            to: vec![Address::new(Some("Bruno"), "bruno@keller.example")],
            cc: Vec::new(),
            subject: "Re: Lampe für Zürich".into(),
            text: "Hello <Bruno>,\n\nsee https://acme.example/a?b=1&c=2\nnow.".into(),
            at: 1_794_733_200_000,
            automatic: false,
            unsubscribe: None,
        }
    }

    #[test]
    fn automatic_mail_says_so_and_how_to_have_no_more_of_it() {
        let mut letter = letter();
        (letter.automatic, letter.unsubscribe) = (true, Some("https://m.example/u/x/stop".into()));
        let mail = String::from_utf8(compose(&letter)).expect("ASCII");
        assert!(mail.contains("Auto-Submitted: auto-generated"), "{mail}");
        assert!(mail.contains("List-Unsubscribe: <https://m.example/u/x/stop>"), "{mail}");
        assert!(mail.contains("List-Unsubscribe-Post: List-Unsubscribe=One-Click"), "{mail}");
    }

    #[test]
    fn a_letter_names_what_it_answers_and_carries_text_and_html() {
        let mail = String::from_utf8(compose(&letter())).expect("ASCII");
        assert!(mail.contains("Message-ID: <msg.1.abc@acme.example>"), "{mail}");
        assert!(mail.contains("In-Reply-To: <last@x.example>"), "{mail}");
        assert!(mail.contains("<first@x.example>"), "{mail}");
        assert!(mail.contains("multipart/alternative"), "{mail}");
        assert!(mail.contains("Hello &lt;Bruno&gt;,"), "{mail}");
        assert!(!mail.contains("Auto-Submitted"), "{mail}");
        assert!(mail.is_ascii());
        assert_eq!(compose(&letter()), mail.as_bytes(), "the same letter is the same mail");
    }

    #[test]
    fn a_text_that_holds_the_boundary_does_not_break_the_mail() {
        let mut letter = letter();
        letter.text = "Hi\n--=_0_msg1abcacmeexample--\n--=_0_msg1abcacmeexample\nmore".into();
        let mail = String::from_utf8(compose(&letter)).expect("ASCII");
        let lines = mail.lines().filter(|line| line.starts_with("--=_1_msg1abcacmeexample"));
        assert_eq!(lines.count(), 3, "{mail}");
    }

    #[test]
    fn names_and_subjects_cannot_add_headers() {
        let mut letter = letter();
        letter.subject = "Hi\r\nBcc: all@acme.example\r\n\r\nbody".into();
        letter.from.name = Some("Ines\nX-Evil: 1".into());
        letter.to[0].name = Some("Bruno\" <evil@x.example>, \"".into());
        let mail = String::from_utf8(compose(&letter)).expect("ASCII");
        let head = mail.split("\r\n\r\n").next().expect("a head");
        for line in head.split("\r\n") {
            assert!(!line.starts_with("Bcc:") && !line.starts_with("X-Evil"), "{mail}");
        }
        assert!(letter.to.len() == 1 && head.matches("To:").count() >= 1, "{mail}");
    }
}
