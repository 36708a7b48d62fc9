//! The states of conversations and messages, the same in the database and on the wire.

use crate::base::string_enum::words;

words! {
    /// Where a conversation stands (API section 3.1).
    Status { Open = "open", Waiting = "waiting", Closed = "closed" }
}

words! {
    /// The list a conversation is found in.
    View { Open = "open", Waiting = "waiting", Snoozed = "snoozed", Closed = "closed" }
}

words! {
    Urgency { Low = "low", Normal = "normal", High = "high" }
}

words! {
    Direction { Inbound = "inbound", Outbound = "outbound" }
}

words! {
    /// How far a message of ours has come (API section 3.3).
    MessageStatus {
        Draft = "draft",
        Scheduled = "scheduled",
        Sending = "sending",
        Sent = "sent",
        Failed = "failed",
    }
}
