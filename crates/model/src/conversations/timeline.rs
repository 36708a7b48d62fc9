//! Timeline events: changes of a conversation, shown beside its messages and notes.

use base::actor::{Actor, Principal};
use base::app::Cx;
use base::assignee::Assignee;
use base::error::Result;
use base::ids::{BookingId, ConversationId, DocumentId, EventId, MessageId, NoteId, RequestId};
use base::states::{ConversationRisk, Status, Urgency};
use base::string_enum::string_enum;
use base::time::Moment;
use db::{Json, Tx};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

string_enum! {
    /// What ended a snooze, as `by` of the timeline event `woke`.
    WokenBy {
        Clock = "clock",
        Customer = "customer",
        NoAnswer = "no-answer",
        LinkedItem = "linked-item",
    }
}

string_enum! {
    /// Who wrote what made the helper's draft outdated, as `by` of `draft-retired`.
    RetiredBy { Customer = "customer", Team = "team" }
}

string_enum! {
    /// What a response target is about, as `target` of `target-missed`.
    TargetKind { Answer = "answer", Close = "close" }
}

string_enum! {
    /// Who set topic and urgency, as `by` of the timeline event `sorted`.
    SortedBy { Helper = "helper", Person = "person", Agent = "agent", Rule = "rule" }
}

impl SortedBy {
    pub fn of(actor: &Actor) -> SortedBy {
        match actor.who {
            Principal::Agent { .. } => SortedBy::Agent,
            Principal::Person { .. } => SortedBy::Person,
            Principal::System => SortedBy::Helper,
            Principal::Rule { .. } => SortedBy::Rule,
        }
    }
}

/// One change of a conversation. The name of the variant and its fields are stored as `event` and
/// `data`, and the API shows both: neither may change once it was released.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "event", content = "data")]
#[serde(rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum TimelineEvent {
    #[serde(rename = "status")]
    StatusChanged {
        from: Status,
        to: Status,
    },
    Assigned {
        from: Option<Assignee>,
        to: Option<Assignee>,
    },
    Tagged {
        added: Vec<String>,
        removed: Vec<String>,
    },
    Snoozed {
        until: Moment,
    },
    /// It comes back then unless the customer answers before.
    FollowUp {
        until: Moment,
    },
    #[serde(rename = "woke")]
    Woken {
        by: WokenBy,
    },
    Held {
        risk: Option<ConversationRisk>,
    },
    Released {},
    /// A person checked it and took the warning off.
    WarningRemoved {},
    /// It was put with the spam.
    Spam {},
    NotSpam {},
    /// It was put into the trash.
    Deleted {},
    Restored {},
    /// A draft was approved.
    Approved {
        message_id: MessageId,
        /// Its text or its recipients are not as they were drafted.
        edited: bool,
    },
    /// A message was stopped in its undo window.
    Undone {
        message_id: MessageId,
    },
    /// Somebody let a message leave before its undo window or its time was over.
    SentNow {
        message_id: MessageId,
    },
    /// A draft was discarded.
    Discarded {
        message_id: MessageId,
        reason: String,
    },
    /// A draft of the helper was taken back, because somebody wrote.
    DraftRetired {
        message_id: MessageId,
        by: RetiredBy,
    },
    /// Documents were asked for.
    Requested {
        request_id: RequestId,
    },
    Uploaded {
        request_id: RequestId,
        document_id: DocumentId,
    },
    Reminded {
        request_id: RequestId,
        message_id: MessageId,
    },
    RemindersStopped {
        request_id: RequestId,
    },
    RequestClosed {
        request_id: RequestId,
    },
    RequestReopened {
        request_id: RequestId,
    },
    RequestRevoked {
        request_id: RequestId,
    },
    /// Every requested document is in.
    Completed {
        request_id: RequestId,
    },
    Bounced {
        message_id: MessageId,
        /// The failed recipients; `None` when all failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        recipients: Option<Vec<String>>,
    },
    /// A message that had not left was taken out of the queue.
    SendDiscarded {
        message_id: MessageId,
    },
    /// A message does not leave until somebody releases it.
    SendHeld {
        message_id: MessageId,
    },
    SendReleased {
        message_id: MessageId,
    },
    /// Somebody had a message tried again that waited or had failed.
    SendRetried {
        message_id: MessageId,
    },
    SendDelayed {
        /// As its row has it, whether it can be read or not.
        message_id: String,
        reason: String,
    },
    SendFailed {
        /// As its row has it, whether it can be read or not.
        message_id: String,
        reason: String,
    },
    SpamComplaint {
        email: Option<String>,
    },
    /// Topic and urgency as they are now.
    Sorted {
        topic: Option<String>,
        urgency: Option<Urgency>,
        by: SortedBy,
    },
    /// Values of fields, as they are now; null where one was removed.
    FieldsChanged {
        fields: Map<String, Value>,
    },
    /// Somebody pressed a button of the customer panel.
    PanelPressed {
        button: String,
    },
    /// It was linked to an item of an issue tracker.
    Linked {
        name: String,
        url: String,
    },
    Unlinked {
        name: String,
        url: String,
    },
    /// The tracker told that a linked item was closed.
    LinkedItemClosed {
        name: String,
    },
    /// A recipient read the page of a secure message.
    Opened {
        message_id: MessageId,
        email: String,
    },
    /// A secure message was taken back.
    SecureRevoked {
        message_id: MessageId,
    },
    /// The reader of a closed page would like a new link.
    LinkAsked {
        message_id: MessageId,
        email: String,
    },
    /// A response target was missed.
    TargetMissed {
        target: TargetKind,
        due: Moment,
    },
    /// Too many wrong codes were entered on a page.
    LinkLocked {
        message_id: MessageId,
        email: String,
    },
    /// A time was booked.
    Booked {
        booking_id: BookingId,
    },
    BookingCancelled {
        booking_id: BookingId,
    },
    /// An agent makes, moves or cancels a booking unless somebody stops it.
    BookingPlanned {
        booking_id: BookingId,
        act: String,
        leaves_at: Moment,
    },
    BookingStopped {
        booking_id: BookingId,
    },
    /// Another conversation was merged into this one.
    Merged {
        conversation_id: ConversationId,
        subject: String,
    },
    /// That was undone, as both conversations tell.
    MergeUndone {
        conversation_id: ConversationId,
    },
    /// A message was split off into a conversation of its own.
    Split {
        conversation_id: ConversationId,
        message_id: MessageId,
    },
    /// It began with a message that was split off from another conversation.
    SplitFrom {
        conversation_id: ConversationId,
    },
    /// An agent handed it over to people; `to` names a person or team, where it named one.
    HandedOver {
        to: Option<String>,
    },
    /// The customer said how it was, from 1 to 5, or changed what they said.
    Rated {
        score: i64,
        comment: Option<String>,
    },
    /// A note of an agent was hidden, because what it did was undone.
    NoteHidden {
        note_id: NoteId,
    },
}

/// A row of the timeline, read back.
#[derive(Clone, Debug)]
pub enum StoredTimelineEvent {
    Known(TimelineEvent),
    /// The name of an event that a newer version wrote.
    Unknown(String),
}

/// Records a change of a conversation in its timeline, with the actor.
pub fn record(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &ConversationId,
    event: &TimelineEvent,
) -> Result<()> {
    let stored = StoredColumns::of(event);
    tx.exec_soon(
        "INSERT INTO timeline_events (ws, conversation, id, at, actor_name, event, data, actor)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        &[
            &cx.actor.ws,
            conversation,
            &EventId::new(cx.ids, cx.now),
            &cx.now,
            &cx.actor.name(),
            &stored.event,
            &Json(stored.data),
            &cx.actor.member().as_ref().map_or("", |member| member.as_str()),
        ],
    )?;
    Ok(())
}

/// The columns `event` and `data`, of any version.
#[derive(Deserialize)]
struct StoredColumns {
    event: String,
    data: Map<String, Value>,
}

impl StoredColumns {
    fn of(event: &TimelineEvent) -> StoredColumns {
        let stored = serde_json::to_value(event).and_then(serde_json::from_value);
        stored.expect("an event is a name and an object")
    }
}

impl StoredTimelineEvent {
    /// The event in the columns `event` and `data` of a row.
    pub fn read(event: &str, data: &Map<String, Value>) -> StoredTimelineEvent {
        match serde_json::from_value(json!({ "event": event, "data": data })) {
            Ok(known) => StoredTimelineEvent::Known(known),
            Err(_) => StoredTimelineEvent::Unknown(event.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> MessageId {
        MessageId::parse("msg_1").unwrap()
    }

    fn request() -> RequestId {
        RequestId::parse("req_1").unwrap()
    }

    fn object(data: &str) -> Map<String, Value> {
        serde_json::from_str(data).unwrap()
    }

    #[test]
    fn each_event_is_stored_under_its_name_with_its_data_and_read_back() {
        use TimelineEvent::*;
        let document_id = DocumentId::parse("doc_1").unwrap();
        let (message_id, request_id) = (message(), request());
        let member = base::ids::MemberId::parse("agt_1").unwrap();
        let to = Some(Assignee::new(member, "Billing bot".into()));
        let booking_id = BookingId::parse("bkg_1").unwrap();
        let conversation_id = ConversationId::parse("cnv_1").unwrap();
        for (event, name, data) in [
            (
                Merged { conversation_id: conversation_id.clone(), subject: "Lamp".into() },
                "merged",
                r#"{"conversationId":"cnv_1","subject":"Lamp"}"#,
            ),
            (
                Split { conversation_id: conversation_id.clone(), message_id: message() },
                "split",
                r#"{"conversationId":"cnv_1","messageId":"msg_1"}"#,
            ),
            (HandedOver { to: Some("Ines".into()) }, "handed-over", r#"{"to":"Ines"}"#),
            (
                Rated { score: 5, comment: Some("Quick".into()) },
                "rated",
                r#"{"score":5,"comment":"Quick"}"#,
            ),
            (SplitFrom { conversation_id }, "split-from", r#"{"conversationId":"cnv_1"}"#),
            (BookingCancelled { booking_id }, "booking-cancelled", r#"{"bookingId":"bkg_1"}"#),
            (
                StatusChanged { from: Status::Open, to: Status::Closed },
                "status",
                r#"{"from":"open","to":"closed"}"#,
            ),
            (
                Assigned { from: None, to },
                "assigned",
                r#"{"from":null,"to":{"id":"agt_1","name":"Billing bot","type":"agent"}}"#,
            ),
            (
                Tagged { added: vec!["vip".into()], removed: Vec::new() },
                "tagged",
                r#"{"added":["vip"],"removed":[]}"#,
            ),
            (Snoozed { until: Moment(0) }, "snoozed", r#"{"until":"1970-01-01T00:00:00.000Z"}"#),
            (Woken { by: WokenBy::Customer }, "woke", r#"{"by":"customer"}"#),
            (Woken { by: WokenBy::NoAnswer }, "woke", r#"{"by":"no-answer"}"#),
            (FollowUp { until: Moment(0) }, "follow-up", r#"{"until":"1970-01-01T00:00:00.000Z"}"#),
            (Held { risk: Some(ConversationRisk::Phishing) }, "held", r#"{"risk":"phishing"}"#),
            (Held { risk: None }, "held", r#"{"risk":null}"#),
            (Released {}, "released", "{}"),
            (
                Approved { message_id: message_id.clone(), edited: true },
                "approved",
                r#"{"messageId":"msg_1","edited":true}"#,
            ),
            (
                Discarded { message_id: message_id.clone(), reason: "no".into() },
                "discarded",
                r#"{"messageId":"msg_1","reason":"no"}"#,
            ),
            (
                DraftRetired { message_id: message_id.clone(), by: RetiredBy::Customer },
                "draft-retired",
                r#"{"messageId":"msg_1","by":"customer"}"#,
            ),
            (
                Uploaded { request_id: request_id.clone(), document_id },
                "uploaded",
                r#"{"requestId":"req_1","documentId":"doc_1"}"#,
            ),
            (
                Reminded { request_id: request_id.clone(), message_id: message_id.clone() },
                "reminded",
                r#"{"requestId":"req_1","messageId":"msg_1"}"#,
            ),
            (
                RemindersStopped { request_id: request_id.clone() },
                "reminders-stopped",
                r#"{"requestId":"req_1"}"#,
            ),
            (RequestReopened { request_id }, "request-reopened", r#"{"requestId":"req_1"}"#),
            (
                Bounced { message_id: message_id.clone(), recipients: None },
                "bounced",
                r#"{"messageId":"msg_1"}"#,
            ),
            (SendHeld { message_id: message() }, "send-held", r#"{"messageId":"msg_1"}"#),
            (
                Bounced { message_id, recipients: Some(vec!["a@b.example".into()]) },
                "bounced",
                r#"{"messageId":"msg_1","recipients":["a@b.example"]}"#,
            ),
            (
                SendDelayed { message_id: "msg_1".into(), reason: "busy".into() },
                "send-delayed",
                r#"{"messageId":"msg_1","reason":"busy"}"#,
            ),
            (SpamComplaint { email: None }, "spam-complaint", r#"{"email":null}"#),
            (
                Sorted { topic: None, urgency: Some(Urgency::High), by: SortedBy::Helper },
                "sorted",
                r#"{"topic":null,"urgency":"high","by":"helper"}"#,
            ),
            (
                FieldsChanged { fields: object(r#"{"order":"A-17","paid":null}"#) },
                "fields-changed",
                r#"{"fields":{"order":"A-17","paid":null}}"#,
            ),
            (
                LinkedItemClosed { name: "acme/shop#12".into() },
                "linked-item-closed",
                r#"{"name":"acme/shop#12"}"#,
            ),
            (PanelPressed { button: "Refund".into() }, "panel-pressed", r#"{"button":"Refund"}"#),
        ] {
            let stored = StoredColumns::of(&event);
            let text = Value::Object(stored.data).to_string();
            assert_eq!((stored.event.as_str(), text.as_str()), (name, data));
            let read = StoredTimelineEvent::read(name, &object(data));
            let StoredTimelineEvent::Known(read) = read else { panic!("{name} is not known") };
            assert_eq!(format!("{read:?}"), format!("{event:?}"));
        }
    }

    #[test]
    fn an_event_of_a_newer_version_keeps_its_name() {
        for (name, data) in [("painted", r#"{"colour":"red"}"#), ("woke", r#"{"by":"magic"}"#)] {
            let read = StoredTimelineEvent::read(name, &object(data));
            assert!(matches!(read, StoredTimelineEvent::Unknown(kept) if kept == name));
        }
    }
}
