//! Attached mails and calendar invitations.

use mail_parser::{Message, MessagePart, MimeHeaders};

use crate::files::{content, content_type, file_parts};
use crate::limits::{ATTACHED_MAIL_DEPTH, INVITATION_BYTES};
use crate::text::charset;
use crate::{mime, source};

/// A calendar's part of a mail (RFC 5546, RFC 6047).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalendarPart {
    /// The iTIP method, in upper case: `REQUEST`, `REPLY`, `CANCEL`.
    pub method: Option<String>,
    /// iCalendar, in UTF-8.
    pub bytes: Vec<u8>,
}

/// The bytes of a mail that is attached to a mail: all other functions read it as they read any
/// mail. `path` has the number of the file among the attachments, and for a mail within that mail
/// the number among its own, and so on.
pub fn attached_mail(raw: &[u8], path: &[usize]) -> Option<Vec<u8>> {
    let (first, further) = path.split_first()?;
    if path.len() > ATTACHED_MAIL_DEPTH {
        return None;
    }
    let inner = with_message(raw, |message| {
        let part = file_parts(message).nth(*first).filter(|part| is_mail(part))?;
        Some(content(message, part))
    })?;
    if further.is_empty() { Some(inner) } else { attached_mail(&inner, further) }
}

/// The invitation, answer or cancellation in a mail: the calendar's part that names its method, else
/// the first.
pub fn calendar_part(raw: &[u8]) -> Option<CalendarPart> {
    with_message(raw, |message| {
        let parts = || message.parts.iter().filter(|part| is_calendar(part));
        let part = parts().find(|part| named_method(part).is_some()).or_else(|| parts().next())?;
        let bytes = content(message, part);
        if bytes.len() > INVITATION_BYTES {
            return None;
        }
        let label = part.content_type().and_then(|kind| kind.attribute("charset"));
        let text = charset::decode(&bytes, label);
        let method = named_method(part).or_else(|| written_method(&text));
        Some(CalendarPart { method, bytes: text.into_bytes() })
    })
}

fn with_message<T>(raw: &[u8], read: impl FnOnce(&Message<'_>) -> Option<T>) -> Option<T> {
    let source = source::prepare(raw);
    let message = source.readable.then(|| mime::read_parts(source.bytes.as_ref()))??;
    read(&message)
}

fn is_mail(part: &MessagePart<'_>) -> bool {
    matches!(content_type(part).as_str(), "message/rfc822" | "message/global")
        || has_ending(part, ".eml")
}

fn is_calendar(part: &MessagePart<'_>) -> bool {
    matches!(content_type(part).as_str(), "text/calendar" | "application/ics")
        || has_ending(part, ".ics")
}

fn has_ending(part: &MessagePart<'_>, ending: &str) -> bool {
    part.attachment_name().is_some_and(|name| name.to_ascii_lowercase().ends_with(ending))
}

/// The method that the part's type names.
fn named_method(part: &MessagePart<'_>) -> Option<String> {
    method(part.content_type()?.attribute("method")?)
}

/// The method that stands in the calendar itself.
fn written_method(text: &str) -> Option<String> {
    let mut fields = text.lines().filter_map(|line| line.split_once(':'));
    method(fields.find(|(name, _)| name.eq_ignore_ascii_case("method"))?.1)
}

fn method(value: &str) -> Option<String> {
    let value = value.trim();
    let plain =
        !value.is_empty() && value.len() <= 40 && value.bytes().all(|b| b.is_ascii_alphabetic());
    plain.then(|| value.to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers::participants::participants;
    use crate::{Envelope, PageAddresses, RemotePictures, mail_page};

    fn with_mail(inner: &str) -> String {
        format!(
            "From: a@x.example\nContent-Type: multipart/mixed; boundary=\"b{0}\"\n\n--b{0}\n\
             Content-Type: text/plain\n\nSee below\n--b{0}\nContent-Type: message/rfc822\n\n\
             {inner}\n--b{0}--\n",
            inner.len()
        )
    }

    #[test]
    fn a_mail_within_a_mail_is_read_as_any_mail() {
        let inner =
            "From: Ann <ann@y.example>\nSubject: In\nContent-Type: text/html\n\n<p>Hello</p>";
        let twice = with_mail(&with_mail(inner));
        let found = attached_mail(twice.as_bytes(), &[0, 0]).expect("a mail");
        assert_eq!(participants(&found).from[0].email, "ann@y.example");
        let addresses = PageAddresses { pictures: "/p", remote: RemotePictures::Blocked };
        assert!(mail_page(&found, &addresses).expect("a page").html.contains("<p>Hello</p>"));
        assert_eq!(crate::parse(&found, Envelope::default()).subject, "In");
        for none in [&[][..], &[1], &[0, 1], &[0, 0, 0], &[0; 99]] {
            assert_eq!(attached_mail(twice.as_bytes(), none), None, "{none:?}");
        }
    }

    #[test]
    fn an_invitation_is_found_with_its_method() {
        let raw = "From: a@x.example\nContent-Type: multipart/alternative; boundary=b\n\n\
            --b\nContent-Type: text/plain\n\nCome\n\
            --b\nContent-Type: text/calendar; charset=iso-8859-1; method=request\n\
            Content-Transfer-Encoding: quoted-printable\n\nBEGIN:VCALENDAR\nSUMMARY:Caf=E9\n--b--\n";
        let found = calendar_part(raw.as_bytes()).expect("an invitation");
        assert_eq!(found.method.as_deref(), Some("REQUEST"));
        assert!(String::from_utf8(found.bytes).unwrap().contains("SUMMARY:Café"));
        let attached = "Content-Type: application/octet-stream; name=a.ICS\n\nBEGIN:VCALENDAR\nMETHOD:cancel\n";
        let found = calendar_part(attached.as_bytes()).expect("a calendar");
        assert_eq!(found.method.as_deref(), Some("CANCEL"));
        assert_eq!(calendar_part(b"From: a@x.example\n\nHello"), None);
    }
}
