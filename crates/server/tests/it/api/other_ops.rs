//! Operations on pairs of conversations, and on the fields of one or of a contact.

use super::{Op, post};

/// The operations that name a second conversation or a message of it.
pub const ON_PAIRS: &[Op] = &[
    post(
        "merge_conversations",
        "/conversations/{id}/merge",
        "write",
        200,
        r#"{ "into": "cnv_00000000000000000000000000" }"#,
    ),
    post(
        "split_conversation",
        "/conversations/{id}/split",
        "write",
        200,
        r#"{ "messageId": "msg_00000000000000000000000000" }"#,
    ),
];

/// The operations on fields, of which a workspace has none at first: any value is refused.
pub const ON_FIELDS: &[Op] = &[
    post(
        "set_fields",
        "/conversations/{id}/fields",
        "write",
        200,
        r#"{ "fields": { "order": "20418" } }"#,
    ),
    post(
        "set_contact_fields",
        "/contacts/{id}/fields",
        "write",
        200,
        r#"{ "fields": { "prices": "Trade" } }"#,
    ),
];
