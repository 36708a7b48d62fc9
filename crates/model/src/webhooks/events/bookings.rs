//! Events of bookings. Outside of a conversation they are the workspace's.

use base::actor::Circle;
use base::app::Cx;
use base::error::Result;
use base::ids::{BookingId, BookingTypeId, ConversationId, UserId};
use base::time::Moment;
use db::Tx;
use serde_json::{Value, json};

use crate::webhooks::events::{EventContent, WebhookEventType, id_schema, nullable, plan, write};

pub(super) const BOOKING_CREATED: WebhookEventType = WebhookEventType {
    name: "booking.created",
    when: "Someone booked a time",
    by_choice: false,
    fields: booking,
};

pub(super) const BOOKING_CANCELLED: WebhookEventType = WebhookEventType {
    name: "booking.cancelled",
    when: "A booking was cancelled",
    by_choice: false,
    fields: booking,
};

fn booking() -> Value {
    let moment = json!({ "type": "string", "format": "date-time" });
    json!({
        "booking_id": id_schema("bkg"),
        "booking_type_id": id_schema("bkt"),
        "host_user_id": id_schema("usr"),
        "conversation_id": nullable(id_schema("cnv")),
        "starts_at": moment,
        "ends_at": moment.clone(),
        "rescheduled_from": nullable(id_schema("bkg")),
        "rescheduled_to": nullable(id_schema("bkg")),
    })
}

/// What became of a booking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BookingChange {
    Created,
    Cancelled,
}

/// A booking as its events tell of it.
pub struct BookingEvent<'a> {
    pub booking: &'a BookingId,
    pub kind: &'a BookingTypeId,
    pub host: &'a UserId,
    pub conversation: Option<&'a ConversationId>,
    pub starts_at: Moment,
    pub ends_at: Moment,
    /// The booking that it replaces, and the one that replaces it.
    pub rescheduled_from: Option<&'a BookingId>,
    pub rescheduled_to: Option<&'a BookingId>,
}

/// Writes the event of a booking, and a delivery for each webhook of its circle.
pub fn record_booking(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    circle: &Circle,
    event: &BookingEvent<'_>,
    change: BookingChange,
) -> Result<()> {
    let (event_type, summary) = match change {
        BookingChange::Created => (&BOOKING_CREATED, "A time was booked"),
        BookingChange::Cancelled => (&BOOKING_CANCELLED, "A booking was cancelled"),
    };
    let content = EventContent { event_type, summary: summary.into(), fields: event.fields() };
    let id = write(tx, cx, circle, event.conversation, content)?;
    plan(tx, cx, circle, None, &id, event_type)
}

impl BookingEvent<'_> {
    fn fields(&self) -> Value {
        json!({
            "booking_id": self.booking,
            "booking_type_id": self.kind,
            "host_user_id": self.host,
            "conversation_id": self.conversation,
            "starts_at": self.starts_at,
            "ends_at": self.ends_at,
            "rescheduled_from": self.rescheduled_from,
            "rescheduled_to": self.rescheduled_to,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_booking_event_has_the_fields_of_its_type() {
        let event = BookingEvent {
            booking: &BookingId::parse("bkg_1").expect("an id"),
            kind: &BookingTypeId::parse("bkt_1").expect("an id"),
            host: &UserId::parse("usr_1").expect("an id"),
            conversation: None,
            starts_at: Moment(0),
            ends_at: Moment(1),
            rescheduled_from: None,
            rescheduled_to: None,
        };
        let (own, fields) = (event.fields(), booking());
        let names = |value: &Value| -> Vec<String> {
            value.as_object().expect("fields").keys().cloned().collect()
        };
        assert_eq!(names(&own), names(&fields));
    }
}
