//! Which tools a key sees, by its scopes.

/// Those that every key sees.
pub const READING: [&str; 21] = [
    "help",
    "hand_over",
    "list_conversations",
    "list_fields",
    "get_conversation",
    "get_contact",
    "get_customer_panel",
    "get_reports",
    "find_slots",
    "list_booking_types",
    "list_bookings",
    "list_mailboxes",
    "list_messages",
    "list_rules",
    "list_tags",
    "list_team",
    "list_topics",
    "read_document",
    "search_answers",
    "search_documents",
    "whoami",
];

/// The tools that each scope adds (API section 4.16).
pub const BY_SCOPE: [(&str, &[&str]); 5] = [
    ("read", &[]),
    (
        "write",
        &[
            "add_note",
            "set_status",
            "set_sorting",
            "set_fields",
            "link_item",
            "tag_conversation",
            "assign_conversation",
            "update_conversations",
            "undo",
            "merge_conversations",
            "split_conversation",
        ],
    ),
    (
        "draft",
        &["reply", "start_conversation", "request_documents", "update_draft", "discard_draft"],
    ),
    (
        "send",
        &[
            "reply",
            "start_conversation",
            "request_documents",
            "create_booking",
            "cancel_booking",
            "move_booking",
        ],
    ),
    ("record", &["record_sent"]),
];
