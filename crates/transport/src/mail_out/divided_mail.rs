//! Takes a mail of our own apart where a server takes words and files one by one.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mail::Envelope;

use crate::graph::GraphFile;

/// A mail without its files, and its files.
pub struct DividedMail {
    pub words: Vec<u8>,
    pub files: Vec<GraphFile>,
}

impl DividedMail {
    /// `None` for a mail that has no files beside its words, or is not one that we compose.
    pub fn of(mail: &[u8]) -> Option<DividedMail> {
        let (header, body) = str::from_utf8(mail).ok()?.split_once("\r\n\r\n")?;
        let mark = format!("--{}", mixed_boundary(header)?);
        let (body, _) = body.split_once(format!("{mark}--").as_str())?;
        let (mut words, mut files) = (format!("{header}\r\n\r\n"), Vec::new());
        for part in body.split(mark.as_str()).skip(1) {
            match file_in(part) {
                Some(file) => files.push(file),
                None => {
                    words.push_str(&mark);
                    words.push_str(part);
                }
            }
        }
        words.push_str(&mark);
        words.push_str("--\r\n");
        (!files.is_empty()).then(|| DividedMail { words: words.into_bytes(), files })
    }
}

/// The boundary between the words of a mail and its files.
fn mixed_boundary(header: &str) -> Option<String> {
    let header = header.replace("\r\n ", " ").replace("\r\n\t", " ");
    let field = header.split("\r\n").find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("Content-Type").then(|| value.to_owned())
    })?;
    let (kind, rest) = field.split_once("boundary=")?;
    let is_mixed = kind.to_ascii_lowercase().contains("multipart/mixed");
    let boundary = rest.trim_start_matches('"').split(['"', ';']).next()?.trim().to_owned();
    (is_mixed && !boundary.is_empty()).then_some(boundary)
}

/// The file in a part; `None` where it is words.
fn file_in(part: &str) -> Option<GraphFile> {
    let (fields, body) = part.trim_start().split_once("\r\n\r\n")?;
    let lower = fields.to_ascii_lowercase();
    if !lower.contains("content-disposition: attachment") || !lower.contains("base64") {
        return None;
    }
    let bytes = STANDARD.decode(body.split_ascii_whitespace().collect::<String>()).ok()?;
    // Its name may be encoded; the bytes are not needed to read it.
    let named = format!(
        "Content-Type: multipart/mixed; boundary=\"b\"\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nx\r\n\
         --b\r\n{fields}\r\n\r\neHh4\r\n--b--\r\n"
    );
    let named = mail::parse(named.as_bytes(), Envelope { sender: None });
    let named = named.attachments.into_iter().next()?;
    Some(GraphFile { name: named.filename, content_type: named.content_type, bytes })
}

#[cfg(test)]
mod tests {
    use mail::{Address, Attachment, AutoSubmission, ComposedMail, compose};

    use super::*;

    fn mail_with(attachments: Vec<Attachment>) -> Vec<u8> {
        compose(&ComposedMail {
            message_id: "msg.1.abc@acme.example".into(),
            answers: vec!["first@x.example".into()],
            from: Address::new(None, "support@acme.example"),
            reply_to: None,
            to: vec![Address::new(None, "bruno@keller.example")],
            cc: Vec::new(),
            subject: "Lamp".into(),
            text: "Here it is.".into(),
            html: None,
            inline: Vec::new(),
            attachments,
            calendar: None,
            at: 1_794_733_200_000,
            submission: AutoSubmission::No,
            loop_mark: None,
            unsubscribe: None,
        })
    }

    fn file(filename: &str, content_type: &str, bytes: Vec<u8>) -> Attachment {
        Attachment { filename: filename.into(), content_type: content_type.into(), bytes }
    }

    #[test]
    fn a_mail_is_words_with_the_same_header_and_files_with_their_names() {
        let large: Vec<u8> = (0..100_000_u32).map(|n| n.to_le_bytes()[0]).collect();
        let mail = mail_with(vec![
            file("Übersicht März.pdf", "application/pdf", large.clone()),
            file("note.txt", "text/plain", b"a\nb".to_vec()),
        ]);
        let divided = DividedMail::of(&mail).unwrap();
        let files: Vec<_> = divided.files.iter().map(|file| (&*file.name, &file.bytes)).collect();
        assert_eq!(files, [("Übersicht März.pdf", &large), ("note.txt", &b"a\nb".to_vec())]);
        assert!(divided.words.len() < 10_000);
        let whole = mail::parse(&mail, Envelope { sender: None });
        let words = mail::parse(&divided.words, Envelope { sender: None });
        assert_eq!(words.text, whole.text);
        assert_eq!(words.message_id, whole.message_id);
        assert_eq!(words.in_reply_to, whole.in_reply_to);
        assert!(words.attachments.is_empty());
        assert!(DividedMail::of(&mail_with(Vec::new())).is_none(), "it has no files");
        assert!(DividedMail::of(b"Subject: x\r\n\r\ny").is_none());
    }
}
