//! What text of an input must look like beyond its length.

use base::reference::is_reference;
use base::time::{NamedTime, is_date};
use model::messages::answers::is_language;

/// Each format has a pattern that says exactly the same as its check, so that a client can know
/// beforehand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum StringFormat {
    Any,
    /// Anything but NUL, which PostgreSQL cannot hold and no one can read.
    Plain,
    /// Plain, and something other than white space.
    Filled,
    Date,
    Email,
    /// An address on a `.test` domain.
    TestAddress,
    Reference,
    Assignee,
    Cursor,
    /// A language as ISO 639-1 has it.
    Language,
    /// Parts of a conversation that a reader can do without.
    Omit,
    /// A day, or a moment with its offset.
    Time,
    /// A moment with its offset.
    Moment,
}

/// Characters of a day, such as `2026-11-30`.
pub const DATE_CHARS: usize = 10;

impl StringFormat {
    pub fn objection(self, text: &str) -> Option<&'static str> {
        let (fits, sentence) = match self {
            StringFormat::Any => (true, ""),
            StringFormat::Plain => (!text.contains('\0'), "must not contain a NUL character"),
            StringFormat::Filled => {
                let filled = text.chars().any(|c| !c.is_whitespace());
                let plain = !text.contains('\0');
                (filled && plain, "must not be blank or contain a NUL character")
            }
            StringFormat::Date => (is_date(text), "must be a date such as 2026-11-30"),
            StringFormat::Email => (mail::is_address(text), "must be an e-mail address"),
            StringFormat::TestAddress => {
                (is_test_address(text), "must be an e-mail address on a .test domain")
            }
            StringFormat::Reference => {
                (is_reference(text), "must be letters, digits, _ and -, with at least one digit")
            }
            StringFormat::Assignee => (
                is_assignee(text),
                "must be user:usr_…, agent:agt_…, me or none (the ids are in the conversation's team)",
            ),
            StringFormat::Cursor => (
                crate::cursor::PageCursor::parse(text).is_some(),
                "must be a cursor of an earlier answer (from its Link header, or a tool's nextCursor)",
            ),
            StringFormat::Time => (
                NamedTime::parse(text).is_some(),
                "must be a date such as 2026-11-30, or a time such as 2026-11-30T09:00:00Z",
            ),
            StringFormat::Moment => (
                text.len() > DATE_CHARS && NamedTime::parse(text).is_some(),
                "must be a time such as 2026-11-30T09:00:00Z",
            ),
            StringFormat::Language => (is_language(text), "must be two letters such as en"),
            StringFormat::Omit => (
                text.split(',').all(|part| matches!(part, "team" | "events")),
                "must be team, events, or both with a comma between them",
            ),
        };
        (!fits).then_some(sentence)
    }

    /// The same for a client, in the pattern language all schema tools share.
    pub fn pattern(self) -> Option<&'static str> {
        match self {
            StringFormat::Any => None,
            StringFormat::Plain => Some(r"^[^\u0000]*$"),
            StringFormat::Filled => Some(r"^[^\u0000]*[^\s\u0000][^\u0000]*$"),
            StringFormat::Date => Some(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"),
            StringFormat::Email => Some(
                r#"^[^\s@<>,;:"\u0000-\u001f\u007f-\u009f]+@[^\s@<>,;:"\u0000-\u001f\u007f-\u009f]+$"#,
            ),
            StringFormat::TestAddress => Some(
                r#"^[^\s@<>,;:"\u0000-\u001f\u007f-\u009f]+@([A-Za-z0-9-]+\.)+[Tt][Ee][Ss][Tt]$"#,
            ),
            StringFormat::Reference => Some(r"^[A-Za-z0-9_-]*[0-9][A-Za-z0-9_-]*$"),
            StringFormat::Assignee => Some(r"^(user:usr_[0-9a-z]+|agent:agt_[0-9a-z]+|me|none)$"),
            StringFormat::Cursor => Some(crate::cursor::PATTERN),
            StringFormat::Time => Some(
                r"^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?(Z|[+-][0-9]{2}:[0-9]{2}))?$",
            ),
            StringFormat::Moment => Some(
                r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?(Z|[+-][0-9]{2}:[0-9]{2})$",
            ),
            StringFormat::Language => Some("^[a-z]{2}$"),
            StringFormat::Omit => Some(r"^(team|events)(,(team|events))*$"),
        }
    }
}

fn is_test_address(text: &str) -> bool {
    let plain = |label: &str| {
        !label.is_empty() && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    mail::is_address(text)
        && text.rsplit_once('@').and_then(|(_, domain)| domain.rsplit_once('.')).is_some_and(
            |(before, last)| last.eq_ignore_ascii_case("test") && before.split('.').all(plain),
        )
}

fn is_assignee(text: &str) -> bool {
    use base::ids::{AgentId, UserId};
    matches!(text, "me" | "none")
        || text.strip_prefix("user:").is_some_and(|id| UserId::parse(id).is_some())
        || text.strip_prefix("agent:").is_some_and(|id| AgentId::parse(id).is_some())
}
