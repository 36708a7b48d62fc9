//! The header field names that mail programs of many languages put above a quoted mail.

use phrases::word_lists;

/// The kinds of field in the block over an earlier mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QuoteField {
    From,
    Sent,
    To,
    Subject,
    /// Copies, answers to, importance: belongs to a block and proves nothing.
    Other,
}

word_lists! {
    "field_names.txt":
    FROM = "from";
    SENT = "sent";
    TO = "to";
    SUBJECT = "subject";
    OTHER = "other";
}

/// Field names of mail programs, without colon.
pub(super) fn fields() -> [(QuoteField, &'static [&'static str]); 5] {
    [
        (QuoteField::From, *FROM),
        (QuoteField::Sent, *SENT),
        (QuoteField::To, *TO),
        (QuoteField::Subject, *SUBJECT),
        (QuoteField::Other, *OTHER),
    ]
}
