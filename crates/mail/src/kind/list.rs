//! Recognises mailing lists and bulk mail.

use crate::headers::header::Header;

/// Mail to many, or from a program that answers nobody.
pub(super) fn is_for_many(header: &Header) -> bool {
    let submitted = header.lower("auto-submitted");
    is_listed(header) || (!submitted.is_empty() && !submitted.starts_with("no"))
}

/// Mail that was sent to many.
pub(super) fn is_listed(header: &Header) -> bool {
    const FIELDS: [&str; 4] = ["list-unsubscribe", "list-help", "x-mailing-list", "feedback-id"];
    let precedence = header.lower("precedence");
    passed_on(header)
        || FIELDS.iter().any(|field| header.has(field))
        || matches!(precedence.trim(), "bulk" | "list" | "junk")
}

/// Mail that a mailing list passed on.
pub(super) fn passed_on(header: &Header) -> bool {
    ["list-id", "list-post", "mailing-list"].iter().any(|field| header.has(field))
}
