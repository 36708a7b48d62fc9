//! What is told of a booking: its conversation's timeline, and webhooks.

use base::app::Cx;
use base::error::Result;
use base::time::Moment;
use db::Tx;
use model::conversations::timeline::{self, TimelineEvent};
use model::webhooks::events::{self, BookingCancelled, BookingCreated, BookingEventFields};

use super::Booking;

pub(super) fn tell_created(tx: &mut Tx<'_>, cx: &Cx<'_>, booking: &Booking) -> Result<()> {
    let booked = TimelineEvent::Booked { booking_id: booking.id.clone() };
    record_in_timeline(tx, cx, booking, &booked)?;
    events::record(tx, cx, &booking.circle, &BookingCreated(event_fields(booking)))
}

pub(super) fn tell_cancelled(tx: &mut Tx<'_>, cx: &Cx<'_>, booking: &Booking) -> Result<()> {
    let cancelled = TimelineEvent::BookingCancelled { booking_id: booking.id.clone() };
    record_in_timeline(tx, cx, booking, &cancelled)?;
    events::record(tx, cx, &booking.circle, &BookingCancelled(event_fields(booking)))
}

fn event_fields(booking: &Booking) -> BookingEventFields<'_> {
    BookingEventFields {
        booking_id: &booking.id,
        booking_type_id: &booking.type_id,
        host_user_id: &booking.host,
        conversation_id: booking.conversation.as_ref(),
        starts_at: Moment(booking.starts_at),
        ends_at: Moment(booking.ends_at),
        rescheduled_from: booking.rescheduled_from.as_ref(),
        rescheduled_to: booking.rescheduled_to.as_ref(),
    }
}

pub(super) fn record_in_timeline(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    booking: &Booking,
    event: &TimelineEvent,
) -> Result<()> {
    match &booking.conversation {
        Some(conversation) => timeline::record(tx, cx, conversation, event),
        None => Ok(()),
    }
}
