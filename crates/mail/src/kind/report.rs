//! Reads `multipart/report` (RFC 6522) and its groups of fields.

use mail_parser::{Message, MimeHeaders, PartType};

use crate::files::{content, content_type};
use crate::headers::header::Header;
use crate::headers::ids::message_ids;
use crate::text::charset;

/// Bytes of a report's part that are read.
const PART_BYTES: usize = 256 * 1024;
/// Bytes at the beginning of a text in which the fields of a complaint are looked for.
const FIELDS_BYTES: usize = 4 * 1024;
/// Parts of a report that are read.
const PARTS: usize = 20;

/// The parts of a mail that one machine wrote for another (RFC 6522).
#[derive(Debug, Default)]
pub(super) struct MultipartReport {
    /// `report-type` of the whole mail, lower case.
    pub kind: String,
    /// The groups of fields of every delivery status: the mail system's, then each recipient's.
    pub delivery: Vec<Header>,
    disposition: Option<Header>,
    feedback: bool,
    /// A whole mail is among its parts.
    pub returns_mail: bool,
}

impl MultipartReport {
    pub fn of(message: &Message<'_>, header: &Header) -> MultipartReport {
        let whole = message.parts.first().and_then(|part| part.content_type());
        let named = whole.and_then(|kind| kind.attribute("report-type"));
        let named = named.map(str::to_owned).unwrap_or_else(|| {
            let field = header.lower("content-type");
            let after = field.split_once("report-type=").map_or("", |(_, after)| after);
            after.trim_matches('"').split([';', '"', ' ']).next().unwrap_or_default().to_owned()
        });
        let mut report =
            MultipartReport { kind: named.to_lowercase(), ..MultipartReport::default() };
        for part in message.parts.iter().filter(|part| !part.is_multipart()).take(PARTS * 10) {
            let text = || {
                let bytes = match &part.body {
                    PartType::Text(text) => text.as_bytes().to_vec(),
                    _ => content(message, part),
                };
                charset::decode(&bytes[..bytes.len().min(PART_BYTES)], None)
            };
            report.returns_mail |= part.is_message();
            match content_type(part).as_str() {
                "message/delivery-status" | "message/global-delivery-status"
                    if report.delivery.len() < PARTS =>
                {
                    report.delivery.extend(groups(&text()));
                }
                "message/disposition-notification" | "message/global-disposition-notification" => {
                    report.disposition = Some(Header::parse(&text()));
                }
                kind if kind.ends_with("/feedback-report") => report.feedback = true,
                // Programs that know no such type write the fields as text.
                "text/plain" => report.feedback |= reads_as_complaint(&text()),
                _ => {}
            }
        }
        report
    }

    pub fn is_delivery_status(&self) -> bool {
        !self.delivery.is_empty() || self.kind == "delivery-status"
    }

    pub fn is_complaint(&self, header: &Header) -> bool {
        // An older form of complaint is told by its subject, and returns the mail as a part.
        let told = header.lower("subject").contains("complaint about message from");
        self.feedback || self.kind.contains("feedback-report") || (told && self.returns_mail)
    }

    pub fn is_receipt(&self) -> bool {
        self.disposition.is_some() || self.kind == "disposition-notification"
    }

    /// The Message-ID of the mail that was read.
    pub fn read_message(&self) -> Option<String> {
        let id = self.disposition.as_ref()?.get("original-message-id")?;
        message_ids(id).into_iter().next()
    }

    /// True when every recipient it names was reached.
    pub fn tells_success(&self) -> bool {
        let mut actions = self.delivery.iter().filter_map(|group| group.get("action")).peekable();
        actions.peek().is_some()
            && actions.all(|action| {
                let action = action.to_lowercase();
                ["delivered", "relayed", "expanded"].iter().any(|good| action.starts_with(good))
            })
    }
}

/// True for the fields of a complaint (RFC 5965), and for a complaint as Amazon SES notes it.
fn reads_as_complaint(text: &str) -> bool {
    let start = text[..text.floor_char_boundary(FIELDS_BYTES)].trim_start();
    let noted = start.starts_with('{')
        && start.contains("\"notificationType\":\"Complaint\"")
        && start.contains("\"complainedRecipients\"");
    let header = || Header::parse(start.split("\n\n").next().unwrap_or_default());
    noted
        || (start.to_ascii_lowercase().contains("feedback-type:") && {
            let header = header();
            header.has("feedback-type") && (header.has("version") || header.has("user-agent"))
        })
}

/// Groups of fields with blank lines between them.
pub(super) fn groups(text: &str) -> Vec<Header> {
    let text = text.replace('\r', "");
    let groups = text.split("\n\n").map(Header::parse);
    groups.filter(|group| group.names().next().is_some()).collect()
}

#[cfg(test)]
mod tests {
    use super::reads_as_complaint;

    #[test]
    fn complaints_are_told_by_their_fields_wherever_they_stand() {
        assert!(reads_as_complaint("Feedback-Type: abuse\nUser-Agent: x/1\nVersion: 1\n\nrest"));
        assert!(reads_as_complaint(
            "{\"notificationType\":\"Complaint\",\"complaint\":{\"complainedRecipients\":[]}}"
        ));
        assert!(!reads_as_complaint("Hello,\n\nFeedback-Type: abuse\nVersion: 1\n"));
        assert!(!reads_as_complaint("What does \"Feedback-Type:\" mean? Version: 1"));
    }
}
