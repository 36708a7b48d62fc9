//! A finished mail out of what somebody wrote.

use mail_builder::MessageBuilder;
use mail_builder::headers::address::Address as HeaderAddress;
use mail_builder::headers::content_type::ContentType;
use mail_builder::headers::message_id::MessageId;
use mail_builder::headers::raw::Raw;
use mail_builder::mime::MimePart;

use crate::{Address, Attachment};

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
    pub attachments: Vec<Attachment>,
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
        .body(whole(letter));
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
    mail.write_to_vec().unwrap_or_default()
}

/// The text, and the files that go with it.
fn whole(letter: &Letter) -> MimePart<'_> {
    if letter.attachments.is_empty() {
        return body(letter);
    }
    let mut parts = vec![body(letter)];
    for file in &letter.attachments {
        let part = MimePart::new(content_type(&file.content_type), file.bytes.as_slice());
        parts.push(part.attachment(one_line(&file.filename)));
    }
    // The files are written as base64, which has no such line.
    let boundary = format!("{}_files", boundary(letter));
    MimePart::new(ContentType::new("multipart/mixed").attribute("boundary", boundary), parts)
}

/// The kind of a file, if it is one that can stand in a header; mails and parts of mails are not
/// looked into on the way.
fn content_type(given: &str) -> ContentType<'static> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&b);
    let is_kind = given.split_once('/').is_some_and(|(kind, rest)| {
        let known = !matches!(kind, "multipart" | "message");
        known && !kind.is_empty() && !rest.is_empty() && kind.bytes().chain(rest.bytes()).all(plain)
    });
    ContentType::new(if is_kind { given.to_owned() } else { "application/octet-stream".into() })
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
            attachments: Vec::new(),
        }
    }

    #[test]
    fn files_go_with_a_letter_and_come_out_as_they_went_in() {
        let mut letter = letter();
        let file = |name: &str, kind: &str, bytes: &[u8]| Attachment {
            filename: name.into(),
            content_type: kind.into(),
            bytes: bytes.to_vec(),
        };
        letter.attachments = vec![
            file("Rechnung für \"Zürich\".pdf", "application/pdf", b"%PDF\r\n\0\xff"),
            file("list.csv", "text/csv", "größe;1\n\n--=_0_msg1abcacmeexample\n".as_bytes()),
            file("a.eml", "message/rfc822", b"Subject: x\n\ny"),
            file("b.bin", "x/y\r\nEvil: 1", b""),
        ];
        let mail = compose(&letter);
        assert_eq!(compose(&letter), mail, "the same letter is the same mail");
        assert!(!String::from_utf8_lossy(&mail).contains("\r\nEvil"));
        let read = mail_parser::MessageParser::new().parse(&mail).expect("a mail");
        assert!(read.body_text(0).is_some_and(|text| text.contains("Hello <Bruno>")));
        let found: Vec<(String, String, Vec<u8>)> = read
            .attachments()
            .map(|part| {
                let name = mail_parser::MimeHeaders::attachment_name(part).unwrap_or_default();
                let kind = mail_parser::MimeHeaders::content_type(part).expect("a type");
                let kind = format!("{}/{}", kind.ctype(), kind.subtype().unwrap_or_default());
                (name.to_owned(), kind, part.contents().to_vec())
            })
            .collect();
        let kinds = ["application/pdf", "text/csv", "application/octet-stream"];
        for (place, file) in letter.attachments.iter().enumerate() {
            let kind = kinds.get(place).unwrap_or(&"application/octet-stream");
            let expected = (file.filename.clone(), (*kind).to_owned(), file.bytes.clone());
            assert_eq!(found.get(place), Some(&expected));
        }
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
