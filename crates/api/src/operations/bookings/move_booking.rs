//! `POST /bookings/{id}/move`: gives an appointment another time.

use base::app::Cx;
use base::error::Result;
use base::security::scopes::Scope;
use base::time::Moment;
use bookings::{agent_acts, booking, mail, types};
use db::Tx;
use model::conversations;
use model::conversations::agent_acts::{self as agent_record, AgentActKind};
use model::people::agent_limits::bookings::{
    BookingDeed, JudgedBooking, admit_booking, count_booking,
};

use crate::booking_json::BookingJson;
use crate::fields::MOMENT;
use crate::input::input;
use crate::operations::{Access, Method, Operation, ScopeRule, Tool, answer, parse_input};

pub const OPERATION: Operation = Operation {
    name: "move_booking",
    method: Method::Post,
    path: "/bookings/{id}/move",
    tool: Some(Tool {
        name: "move_booking",
        about: "Moves an appointment; both sides are told. It gets a new id. leavesAt delays that.",
        help: "Gives an appointment another time: customer and host get the change as one entry of \
                their calendars. Where the key's limits have undoMinutes, the new time is held that \
                long, people can stop it, and it moves at leavesAt; else at once. It becomes a new \
                booking with a new id, and the old one is cancelled. Use it when the customer or \
                your user named the time, taken from find_slots. When it is not free, the error \
                names the next free times and nothing was changed.",
        hints: &[],
        example: r#"{
            "id": "bkg_01kag2b3c4d5e6f7g8h9j0kmnp",
            "startsAt": "2026-11-25T13:00:00Z"
        }"#,
        list: None,
        destructive: false,
    }),
    scope: ScopeRule::Always(Scope::Send),
    access: Access::Write,
    idempotent: false,
    title: "Move a booking",
    about: "Gives an appointment another time: a new booking, and the old one cancelled, in one step; \
            where the key's policy has undoMinutes at `leavesAt`, unless somebody stops it. The host \
            stays the same if they are free. When the time is not free, the answer is 409 and names \
            the next ones.",
    fields: MoveBookingInput::FIELDS,
    body_optional: false,
    success: 200,
    output: |schemas| schemas.subschema_for::<BookingJson>(),
    example_input: r#"{ "startsAt": "2026-11-25T13:00:00Z" }"#,
    example_output: r#"{
        "id": "bkg_01kag2b3c4d5e6f7g8h9j0kmnp",
        "typeId": "bkt_01kag0v1b3n5m7k9j2h4g6f8ds",
        "type": "First talk",
        "host": { "id": "usr_01kag0t8m4s6y2t9r5w1q3n7xe", "name": "Ines" },
        "guest": { "name": "Bruno Keller", "email": "bruno@keller.example" },
        "startsAt": "2026-11-24T09:00:00.000Z",
        "endsAt": "2026-11-24T09:30:00.000Z",
        "status": "booked",
        "conversationId": "cnv_01kag0z8m4s6y2t9r5w1q3n7xe",
        "answers": [{ "question": "What is it about?", "answer": "My order 20418" }],
        "place": "By telephone",
        "rescheduledFrom": "bkg_01kag1z2y3x4w5v6t7s8r9q0pn",
        "rescheduledTo": null,
        "createdAt": "2026-11-15T09:20:03.120Z"
    }"#,
    run: |tx, cx, input| answer(&move_booking(tx, cx, parse_input(input)?)?),
};

input! {
    #[derive(Clone, Debug)]
    pub struct MoveBookingInput {
        /// The new start, as find_slots gives it.
        #[required(MOMENT)]
        pub starts_at: Moment,
    } beside {
        pub id: String,
    }
}

pub fn move_booking(tx: &mut Tx<'_>, cx: &Cx<'_>, input: MoveBookingInput) -> Result<BookingJson> {
    let found = bookings::load(tx, cx.actor, &input.id)?;
    let kind = types::of_booking(tx, cx.actor.ws, &found.type_id)?;
    mail::must_write(tx, cx.actor, &kind, found.conversation.as_ref())?;
    let conversation = match &found.conversation {
        Some(id) => Some(conversations::load(tx, cx.actor, id.as_str())?),
        None => None,
    };
    let judged = JudgedBooking {
        guest: &found.guest_email,
        words: "",
        circle: &found.circle,
        mailbox: conversation.as_ref().map_or(&kind.mailbox, |one| &one.mailbox),
        conversation: conversation.as_ref(),
    };
    let starts_at = input.starts_at.0;
    let due_at = admit_booking(tx, cx, &judged)?;
    let moved = match due_at {
        Some(due_at) => agent_acts::plan_move(tx, cx, &found, starts_at, due_at)?,
        None => booking::reschedule(tx, cx, &found, starts_at)?,
    };
    count_booking(tx, cx, BookingDeed::Moved, &moved.id, &found.guest_email)?;
    if due_at.is_none() {
        let conversation = conversation.as_ref().map(|one| &one.id);
        agent_record::note_booking(tx, cx, AgentActKind::Rebooked, conversation, &moved.id)?;
    }
    Ok(BookingJson::leaving_at(moved, due_at))
}
