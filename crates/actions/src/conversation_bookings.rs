//! The appointments of a conversation, and the times that its messages offer.

use base::app::Cx;
use base::error::Result;
use base::ids::{BookingId, ConversationId, MessageId};
use base::limits::DAY_MS;
use bookings::{Booking, BookingFilter};
use db::{Json, Tx};
use model::conversations;

/// Appointments of a conversation that are shown, and messages whose offers are.
const BOOKINGS: i64 = 50;
const OFFERS: i64 = 100;
/// Appointments in the sidebar.
const SIDEBAR: i64 = 4;

#[derive(Default)]
pub struct ConversationBookings {
    /// Soonest first, without those that were moved.
    pub bookings: Vec<Booking>,
    pub offers: Vec<MessageOffer>,
}

db::row! {
    /// The times that a message offers, as the team sees them.
    #[derive(Clone, Debug)]
    pub struct MessageOffer from "o" {
        pub message: MessageId,
        pub type_name: String = "t.name",
        pub minutes: i64 = "t.minutes",
        pub times: Json<Vec<i64>>,
        pub guest_email: String,
        /// `None` before the message is to leave.
        pub expires_at: Option<i64>,
    }
}

/// What was booked and offered in a conversation that the actor may see.
pub fn conversation_bookings(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &str,
) -> Result<ConversationBookings> {
    let conversation = conversations::load(tx, cx.actor, id)?;
    let filter = BookingFilter { conversation: Some(&conversation.id), ..BookingFilter::default() };
    let mut found = bookings::list(tx, cx.actor, &filter, BOOKINGS)?;
    found.retain(|one| one.rescheduled_to.is_none());
    Ok(ConversationBookings { bookings: found, offers: offers_of(tx, cx, &conversation.id)? })
}

fn offers_of(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &ConversationId) -> Result<Vec<MessageOffer>> {
    Ok(tx.all(
        &format!(
            "SELECT {} FROM booking_offers o
             JOIN booking_types t ON t.ws = o.ws AND t.id = o.type
             WHERE o.ws = ?1 AND o.conversation = ?2 ORDER BY o.message DESC LIMIT ?3",
            MessageOffer::COLUMNS
        ),
        &[&cx.actor.ws, id, &OFFERS],
    )?)
}

/// The times that a message offers, if it does.
pub(super) fn offer_of(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    message: &MessageId,
) -> Result<Option<MessageOffer>> {
    Ok(tx.opt(
        &format!(
            "SELECT {} FROM booking_offers o
             JOIN booking_types t ON t.ws = o.ws AND t.id = o.type
             WHERE o.ws = ?1 AND o.message = ?2",
            MessageOffer::COLUMNS
        ),
        &[&cx.actor.ws, message],
    )?)
}

db::row! {
    /// An appointment in the sidebar.
    #[derive(Clone, Debug)]
    pub struct SidebarBooking from "bookings" {
        pub id: BookingId,
        pub starts_at: i64,
        pub guest_name: String,
    }
}

/// The next appointments that the actor may see until a moment, those that go on included.
pub fn next_bookings(tx: &mut Tx<'_>, cx: &Cx<'_>, until: i64) -> Result<Vec<SidebarBooking>> {
    let (first, second) = cx.actor.circles.pair();
    Ok(tx.all(
        &format!(
            "SELECT {} FROM bookings
             WHERE ws = ?1 AND circle IN (?2, ?3) AND starts_at >= ?4 AND starts_at < ?5
               AND ends_at > ?6 AND status = 'booked'
             ORDER BY starts_at, id LIMIT ?7",
            SidebarBooking::COLUMNS
        ),
        // Appointments are shorter than a day.
        &[&cx.actor.ws, first, second, &(cx.now - DAY_MS), &until, &cx.now, &SIDEBAR],
    )?)
}
