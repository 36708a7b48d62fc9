//! The states of conversations and messages, the same in the database and on the wire.

use crate::string_enum::string_enum;

string_enum! {
    /// The status of a conversation (API section 3.1).
    Status { Open = "open", Waiting = "waiting", Closed = "closed" }
}

string_enum! {
    /// The list a conversation is found in. In `leaving` an answer is on its way that can be stopped.
    View {
        Open = "open",
        Waiting = "waiting",
        Leaving = "leaving",
        Snoozed = "snoozed",
        Closed = "closed",
        Spam = "spam",
        Trash = "trash",
        Merged = "merged",
    }
}

impl View {
    /// The lists that somebody can look at.
    pub const SHOWN: &[View] = &[
        View::Open,
        View::Waiting,
        View::Leaving,
        View::Snoozed,
        View::Closed,
        View::Spam,
        View::Trash,
    ];
    /// The lists that are searched and shown together: all but spam and trash.
    pub const KEPT: &[View] =
        &[View::Open, View::Waiting, View::Leaving, View::Snoozed, View::Closed];
}

string_enum! {
    /// Why a conversation is out of the way.
    Removal { Spam = "spam", Trash = "trash" }
}

string_enum! {
    Urgency { Low = "low", Normal = "normal", High = "high" }
}

string_enum! {
    /// The scam check's verdict about a conversation's mail.
    ConversationRisk {
        Suspicious = "suspicious",
        Phishing = "phishing",
        Scam = "scam",
        Impersonation = "impersonation",
        Injection = "injection",
    }
}

impl From<mail::Risk> for ConversationRisk {
    fn from(risk: mail::Risk) -> ConversationRisk {
        match risk {
            mail::Risk::Suspicious => ConversationRisk::Suspicious,
            mail::Risk::Phishing => ConversationRisk::Phishing,
            mail::Risk::Scam => ConversationRisk::Scam,
            mail::Risk::Impersonation => ConversationRisk::Impersonation,
            mail::Risk::Injection => ConversationRisk::Injection,
        }
    }
}

string_enum! {
    Direction { Inbound = "inbound", Outbound = "outbound" }
}

string_enum! {
    /// The delivery state of an outgoing message (API section 3.3).
    MessageStatus {
        Draft = "draft",
        Scheduled = "scheduled",
        Sending = "sending",
        Sent = "sent",
        Failed = "failed",
    }
}
