//! What can be booked in the sample workspace, and an appointment.

use base::actor::Principal;
use base::app::Cx;
use base::error::{Error, Result};
use base::ids::ConversationId;
use base::limits::DAY_MS;
use bookings::BookingAnswer;
use bookings::availability::next_free;
use bookings::booking::{BookingGuest, NewBooking, book};
use bookings::types::{BookingQuestion, BookingTypeInput};
use db::Tx;
use model::conversations::load as load_conversation;

const DAY_MINUTES: i64 = 24 * 60;
const QUESTION: &str = "Which room is the lamp for?";

/// The conversation that the appointment belongs to, by its subject.
pub const BOOKED: &str = "Basket shows the wrong price";

/// Ines takes calls on weekdays; one is booked.
pub fn add(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: Option<&ConversationId>) -> Result<()> {
    let Principal::Person { id, .. } = &cx.actor.who else {
        return Err(Error::NotFound("person"));
    };
    let weekly = "mon-fri 09:00-12:00,13:00-17:00";
    actions::bookings::set_hours(tx, cx, id, "Europe/Berlin", weekly)?;
    actions::bookings::set_holidays(tx, cx, id, "DE-BE")?;
    let input = BookingTypeInput {
        name: "Choosing a lamp".into(),
        slug: "choosing-a-lamp".into(),
        description: "Half an hour with photographs of your room, and what would suit it.".into(),
        place: "By telephone; we call you".into(),
        after: 10,
        notice: 2 * DAY_MINUTES,
        cancel_hours: 24,
        questions: vec![BookingQuestion { text: QUESTION.into(), required: true }],
        hosts: vec![id.clone()],
        ..BookingTypeInput::default()
    };
    let kind = actions::bookings::add_booking_type(tx, cx, &input)?;
    let free = next_free(tx, cx, &kind, cx.now + DAY_MS, 1, None)?;
    let Some(first) = free.first() else { return Ok(()) };
    let guest = BookingGuest {
        name: "Noor Haddad",
        email: "noor@haddad-interiors.example",
        zone: Some("Europe/Lisbon"),
    };
    let answers =
        [BookingAnswer { question: QUESTION.into(), answer: "A long kitchen table".into() }];
    let conversation = match conversation {
        Some(id) => Some(load_conversation(tx, cx.actor, id.as_str())?),
        None => None,
    };
    let new = NewBooking {
        starts_at: first.starts_at,
        guest,
        answers: &answers,
        conversation: conversation.as_ref(),
    };
    book(tx, cx, &kind, &new)?;
    Ok(())
}
