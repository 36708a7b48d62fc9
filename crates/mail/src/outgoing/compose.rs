//! Composes an outgoing mail (RFC 5322).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mail_builder::MessageBuilder;
use mail_builder::headers::address::Address as HeaderAddress;
use mail_builder::headers::content_type::ContentType;
use mail_builder::headers::message_id::MessageId;
use mail_builder::headers::raw::Raw;
use mail_builder::mime::MimePart;

use crate::headers::token::LOOP_FIELD;
use crate::markdown::plain_html;
use crate::outgoing::mail_look::MailLook;
use crate::{Address, Attachment};

/// Characters of a boundary, which may have 70.
const BOUNDARY_CHARS: usize = 40;

/// The content of an outgoing mail.
#[derive(Clone, Debug)]
pub struct ComposedMail {
    /// Fixed before the first try, without angle brackets.
    pub message_id: String,
    /// The Message-IDs for References, the oldest first.
    pub answers: Vec<String>,
    pub from: Address,
    /// The Reply-To address, if it is not the sender.
    pub reply_to: Option<String>,
    pub to: Vec<Address>,
    pub cc: Vec<Address>,
    pub subject: String,
    pub text: String,
    /// The HTML twin; made from the text where there is none.
    pub html: Option<String>,
    /// The files that the HTML names by `cid:`.
    pub inline: Vec<InlineFile>,
    pub attachments: Vec<Attachment>,
    /// The entry for the recipients' calendars.
    pub calendar: Option<CalendarEntry>,
    /// Milliseconds since 1970.
    pub at: i64,
    pub submission: AutoSubmission,
    /// The loop mark, which identifies copies of our own mail: see [`crate::loop_mark`].
    pub loop_mark: Option<String>,
    /// The one-click unsubscribe URL.
    pub unsubscribe: Option<String>,
}

/// Whether a program wrote a mail by itself (RFC 3834 section 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutoSubmission {
    /// A person or an agent wrote it.
    No,
    /// The service wrote it because of a time or of something done on a page.
    Generated,
    /// The service answered a mail with it.
    Replied,
}

impl AutoSubmission {
    /// The value of `Auto-Submitted`; mail of people has no such field.
    fn keyword(self) -> Option<&'static str> {
        match self {
            AutoSubmission::No => None,
            AutoSubmission::Generated => Some("auto-generated"),
            AutoSubmission::Replied => Some("auto-replied"),
        }
    }
}

/// An iCalendar entry (RFC 6047), as another form of the text and as a file, because some programs
/// look for the one and some for the other.
#[derive(Clone, Debug)]
pub struct CalendarEntry {
    /// The method, the same as in the entry itself: `REQUEST` or `CANCEL`.
    pub method: String,
    pub text: String,
}

/// A file that is shown inside the HTML of a mail.
#[derive(Clone, Debug)]
pub struct InlineFile {
    /// Its Content-ID, without angle brackets.
    pub content_id: String,
    pub file: Attachment,
}

/// The content as MIME: text and its HTML twin. The same content gives the same headers on
/// every try.
pub fn compose(content: &ComposedMail) -> Vec<u8> {
    let mut mail = MessageBuilder::new()
        .message_id(content.message_id.as_str())
        .date(content.at / 1_000)
        .from(address(&content.from))
        .to(addresses(&content.to))
        .subject(one_line(&content.subject))
        .body(body(content));
    if !content.cc.is_empty() {
        mail = mail.cc(addresses(&content.cc));
    }
    if let Some(reply_to) = &content.reply_to {
        mail = mail.reply_to(HeaderAddress::new_address(None::<String>, one_line(reply_to)));
    }
    if let Some(last) = content.answers.last() {
        mail = mail
            .in_reply_to(last.as_str())
            .references(MessageId::new_list(content.answers.iter().map(String::as_str)));
    }
    if let Some(word) = content.submission.keyword() {
        mail = mail.header("Auto-Submitted", Raw::new(word));
    }
    if let Some(mark) = &content.loop_mark {
        mail = mail.header(LOOP_FIELD, Raw::new(one_line(mark)));
    }
    if let Some(address) = &content.unsubscribe {
        mail = mail
            .header("List-Unsubscribe", Raw::new(format!("<{}>", one_line(address))))
            .header("List-Unsubscribe-Post", Raw::new("List-Unsubscribe=One-Click"));
    }
    mail.write_to_vec().unwrap_or_default()
}

/// Text and HTML, followed by the attachments.
fn body(content: &ComposedMail) -> MimePart<'_> {
    let mut words = vec![MimePart::new("text/plain", content.text.as_str()), html_part(content)];
    words.extend(content.calendar.as_ref().map(calendar_part));
    let words = multipart("alternative", content, words);
    if content.attachments.is_empty() && content.calendar.is_none() {
        return words;
    }
    let mut parts = vec![words];
    parts.extend(
        content.calendar.as_ref().map(|entry| calendar_part(entry).attachment("invite.ics")),
    );
    let attached = content.attachments.iter();
    parts.extend(attached.map(|file| file_part(file).attachment(one_line(&file.filename))));
    multipart("mixed", content, parts)
}

/// The HTML, together with the files that it shows (RFC 2387).
fn html_part(content: &ComposedMail) -> MimePart<'_> {
    let html = match &content.html {
        Some(html) => html.clone(),
        None => MailLook::default().document(&plain_html(&content.text), ""),
    };
    let html = MimePart::new("text/html", html);
    if content.inline.is_empty() {
        return html;
    }
    let mut parts = vec![html];
    parts.extend(content.inline.iter().map(|inline| {
        let named =
            ContentType::new("inline").attribute("filename", one_line(&inline.file.filename));
        file_part(&inline.file)
            .header("Content-Disposition", named)
            .cid(one_line(&inline.content_id))
    }));
    multipart("related", content, parts)
}

fn calendar_part(entry: &CalendarEntry) -> MimePart<'_> {
    let kind = ContentType::new("text/calendar")
        .attribute("charset", "utf-8")
        .attribute("method", one_line(&entry.method));
    MimePart::new(kind, base64_lines(entry.text.as_bytes())).transfer_encoding("base64")
}

fn file_part(file: &Attachment) -> MimePart<'_> {
    MimePart::new(content_type(&file.content_type), base64_lines(&file.bytes))
        .transfer_encoding("base64")
}

fn multipart<'a>(kind: &str, content: &ComposedMail, parts: Vec<MimePart<'a>>) -> MimePart<'a> {
    let boundary = boundary(kind, content);
    let kind = ContentType::new(format!("multipart/{kind}")).attribute("boundary", boundary);
    MimePart::new(kind, parts)
}

/// Text files are base64 too, so that their line ends arrive unchanged.
fn base64_lines(bytes: &[u8]) -> Vec<u8> {
    let mut lines = Vec::with_capacity(bytes.len() / 57 * 78 + 80);
    for line in bytes.chunks(57) {
        lines.extend_from_slice(STANDARD.encode(line).as_bytes());
        lines.extend_from_slice(b"\r\n");
    }
    lines
}

/// The kind of a file as its sender gave it, if it has the form of one.
fn content_type(given: &str) -> ContentType<'static> {
    let token = |c: char| c.is_ascii_alphanumeric() || "!#$&-^_.+".contains(c);
    let is_kind = given.split_once('/').is_some_and(|(kind, subkind)| {
        !kind.is_empty() && !subkind.is_empty() && (kind.to_owned() + subkind).chars().all(token)
    });
    // A mail or a multipart inside would have to keep to the rules of one (RFC 2046, 5.2.1).
    let plain = !given.starts_with("message/") && !given.starts_with("multipart/");
    match is_kind && plain {
        true => ContentType::new(given.to_owned()),
        false => ContentType::new("application/octet-stream"),
    }
}

/// The MIME boundary: derived from the Message-ID, so that every attempt has the same bytes, and
/// not contained in the text. Attachments cannot contain it, because they are base64.
fn boundary(kind: &str, content: &ComposedMail) -> String {
    let name: String = content
        .message_id
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .take(BOUNDARY_CHARS)
        .collect();
    let initial = &kind[..1];
    let mut boundaries = (0..u64::MAX).map(|number| format!("=_{initial}{number}_{name}"));
    let html = content.html.as_deref().unwrap_or_default();
    let is_free = |made: &String| !content.text.contains(made) && !html.contains(made);
    boundaries.find(is_free).unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn content() -> ComposedMail {
        ComposedMail {
            message_id: "msg.1.abc@acme.example".into(),
            answers: vec!["first@x.example".into(), "last@x.example".into()],
            from: Address::new(Some("Ines Märti"), "support@acme.example"),
            reply_to: None,
            to: vec![Address::new(Some("Bruno"), "bruno@keller.example")],
            cc: Vec::new(),
            subject: "Re: Lampe für Zürich".into(),
            text: "Hello <Bruno>,\n\nsee https://acme.example/a?b=1&c=2\nnow.".into(),
            html: None,
            inline: Vec::new(),
            attachments: Vec::new(),
            calendar: None,
            at: 1_794_733_200_000,
            submission: AutoSubmission::No,
            loop_mark: Some("mark".into()),
            unsubscribe: None,
        }
    }

    #[test]
    fn files_go_with_a_letter_and_come_out_as_they_went_in() {
        let mut content = content();
        let file = |name: &str, kind: &str, bytes: &[u8]| Attachment {
            filename: name.into(),
            content_type: kind.into(),
            bytes: bytes.to_vec(),
        };
        content.attachments = vec![
            file("Rechnung für \"Zürich\".pdf", "application/pdf", b"%PDF\r\n\0\xff"),
            file("list.csv", "text/csv", "größe;1\n\n--=_0_msg1abcacmeexample\n".as_bytes()),
            file("a.eml", "message/rfc822", b"Subject: x\n\ny"),
            file("b.bin", "x/y\r\nEvil: 1", b""),
        ];
        let mail = compose(&content);
        assert_eq!(compose(&content), mail, "the same content is the same mail");
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
        for (place, file) in content.attachments.iter().enumerate() {
            let kind = kinds.get(place).unwrap_or(&"application/octet-stream");
            let expected = (file.filename.clone(), (*kind).to_owned(), file.bytes.clone());
            assert_eq!(found.get(place), Some(&expected));
        }
    }

    #[test]
    fn an_entry_for_calendars_is_a_form_of_the_text_and_a_file() {
        let mut content = content();
        let text = "BEGIN:VCALENDAR\r\nMETHOD:CANCEL\r\nEND:VCALENDAR\r\n".to_owned();
        content.calendar = Some(CalendarEntry { method: "CANCEL".into(), text: text.clone() });
        let mail = compose(&content);
        let read = mail_parser::MessageParser::new().parse(&mail).expect("a mail");
        let entries: Vec<_> = read
            .parts
            .iter()
            .filter(|part| {
                let kind = mail_parser::MimeHeaders::content_type(*part);
                kind.is_some_and(|kind| {
                    kind.ctype() == "text"
                        && kind.subtype() == Some("calendar")
                        && kind.attribute("method") == Some("CANCEL")
                        && kind.attribute("charset") == Some("utf-8")
                })
            })
            .map(|part| part.contents().to_vec())
            .collect();
        assert_eq!(entries, [text.as_bytes(), text.as_bytes()]);
    }

    #[test]
    fn automatic_mail_says_so_and_how_to_have_no_more_of_it() {
        let mut content = content();
        (content.submission, content.unsubscribe) =
            (AutoSubmission::Generated, Some("https://m.example/u/x/stop".into()));
        let mail = String::from_utf8(compose(&content)).expect("ASCII");
        assert!(mail.contains("Auto-Submitted: auto-generated"), "{mail}");
        assert!(mail.contains("List-Unsubscribe: <https://m.example/u/x/stop>"), "{mail}");
        assert!(mail.contains("List-Unsubscribe-Post: List-Unsubscribe=One-Click"), "{mail}");
        content.submission = AutoSubmission::Replied;
        let mail = String::from_utf8(compose(&content)).expect("ASCII");
        assert!(mail.contains("Auto-Submitted: auto-replied"), "{mail}");
    }

    #[test]
    fn a_letter_names_what_it_answers_and_carries_text_and_html() {
        let mail = String::from_utf8(compose(&content())).expect("ASCII");
        assert!(mail.contains("Message-ID: <msg.1.abc@acme.example>"), "{mail}");
        assert!(mail.contains("In-Reply-To: <last@x.example>"), "{mail}");
        assert!(mail.contains("<first@x.example>"), "{mail}");
        assert!(mail.contains("multipart/alternative"), "{mail}");
        assert!(mail.replace("=\r\n", "").contains("Hello &lt;Bruno&gt;,"), "{mail}");
        assert!(!mail.contains("Auto-Submitted"), "{mail}");
        assert!(mail.is_ascii());
        assert_eq!(compose(&content()), mail.as_bytes(), "the same content is the same mail");
    }

    #[test]
    fn a_text_that_holds_the_boundary_does_not_break_the_mail() {
        let mut content = content();
        content.text = "Hi\n--=_a0_msg1abcacmeexample--\n--=_a0_msg1abcacmeexample\nmore".into();
        let mail = String::from_utf8(compose(&content)).expect("ASCII");
        let lines = mail.lines().filter(|line| line.starts_with("--=_a1_msg1abcacmeexample"));
        assert_eq!(lines.count(), 3, "{mail}");
    }

    #[test]
    fn files_go_along_and_their_names_and_kinds_add_nothing() {
        let mut content = content();
        content.reply_to = Some("support+c_1_abc@acme.example".into());
        content.attachments = vec![
            Attachment {
                filename: "Rechnung\r\nX-Evil: 1 ü.pdf".into(),
                content_type: "application/pdf".into(),
                bytes: vec![0, 13, 10, 46, 13, 10, 255],
            },
            Attachment {
                filename: "a.txt".into(),
                content_type: "text/plain; x=\"\r\nX-Evil: 2".into(),
                bytes: b"\r\n.\r\nHello".to_vec(),
            },
        ];
        let mail = compose(&content);
        assert!(mail.is_ascii());
        let text = String::from_utf8_lossy(&mail);
        assert!(text.contains("Reply-To: <support+c_1_abc@acme.example>"), "{text}");
        assert!(text.contains(&format!("{LOOP_FIELD}: mark")), "{text}");
        assert!(!text.lines().any(|line| line.starts_with("X-Evil")), "{text}");
        let read = crate::parse(&mail, crate::Envelope::default());
        let files: Vec<_> =
            read.attachments.iter().map(|f| (f.content_type.as_str(), f.bytes.clone())).collect();
        assert_eq!(files[0], ("application/pdf", content.attachments[0].bytes.clone()));
        assert_eq!(files[1], ("application/octet-stream", content.attachments[1].bytes.clone()));
    }

    #[test]
    fn names_and_subjects_cannot_add_headers() {
        let mut content = content();
        content.subject = "Hi\r\nBcc: all@acme.example\r\n\r\nbody".into();
        content.from.name = Some("Ines\nX-Evil: 1".into());
        content.to[0].name = Some("Bruno\" <evil@x.example>, \"".into());
        let mail = String::from_utf8(compose(&content)).expect("ASCII");
        let head = mail.split("\r\n\r\n").next().expect("a head");
        for line in head.split("\r\n") {
            assert!(!line.starts_with("Bcc:") && !line.starts_with("X-Evil"), "{mail}");
        }
        assert!(content.to.len() == 1 && head.matches("To:").count() >= 1, "{mail}");
    }
}
