//! `POST /bookings/{id}/cancel`: calls an appointment off.

use base::app::Cx;
use base::error::Result;
use base::limits::BOOKING_REASON_CHARS;
use base::security::scopes::Scope;
use bookings::{BookingStatus, agent_acts, booking, mail, types};
use db::Tx;
use model::conversations;
use model::people::agent_limits::bookings::{JudgedBooking, admit_booking};

use crate::booking_json::{BookingJson, CancelledBookingJson};
use crate::fields::text;
use crate::input::input;
use crate::operations::{Access, Method, Operation, ScopeRule, Tool, answer, parse_input};

pub const OPERATION: Operation = Operation {
    name: "cancel_booking",
    method: Method::Post,
    path: "/bookings/{id}/cancel",
    tool: Some(Tool {
        name: "cancel_booking",
        about: "Cancels an appointment; both sides are told, with the reason.",
        help: "Calls an appointment off: customer and host get a cancellation at once, and the time \
                is free again. Use it when the customer or your user says so; for another time use \
                move_booking. The reason is sent to both. Cancelling it again changes nothing.",
        hints: &[],
        example: r#"{
            "id": "bkg_01kag2b3c4d5e6f7g8h9j0kmnp",
            "reason": "The order has arrived."
        }"#,
        list: None,
        destructive: true,
    }),
    scope: ScopeRule::Always(Scope::Send),
    access: Access::Write,
    idempotent: true,
    title: "Cancel a booking",
    about: "Calls an appointment off and frees its time. Customer and host get a cancellation. \
            Cancelling it again changes nothing; one that has begun cannot be cancelled.",
    fields: CancelBookingInput::FIELDS,
    body_optional: true,
    success: 200,
    output: |schemas| schemas.subschema_for::<CancelledBookingJson>(),
    example_input: r#"{ "reason": "The order has arrived." }"#,
    example_output: r#"{
        "ok": true,
        "id": "bkg_01kag2b3c4d5e6f7g8h9j0kmnp",
        "typeId": "bkt_01kag0v1b3n5m7k9j2h4g6f8ds",
        "type": "First talk",
        "host": { "id": "usr_01kag0t8m4s6y2t9r5w1q3n7xe", "name": "Ines" },
        "guest": { "name": "Bruno Keller", "email": "bruno@keller.example" },
        "startsAt": "2026-11-24T09:00:00.000Z",
        "endsAt": "2026-11-24T09:30:00.000Z",
        "status": "cancelled",
        "conversationId": "cnv_01kag0z8m4s6y2t9r5w1q3n7xe",
        "answers": [{ "question": "What is it about?", "answer": "My order 20418" }],
        "place": "By telephone",
        "rescheduledFrom": null,
        "rescheduledTo": null,
        "createdAt": "2026-11-15T09:20:03.120Z"
    }"#,
    run: |tx, cx, input| answer(&cancel_booking(tx, cx, parse_input(input)?)?),
};

input! {
    #[derive(Clone, Debug, Default)]
    pub struct CancelBookingInput {
        /// What customer and host are told.
        #[optional(text(BOOKING_REASON_CHARS))]
        pub reason: String,
    } beside {
        pub id: String,
    }
}

pub fn cancel_booking(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    input: CancelBookingInput,
) -> Result<CancelledBookingJson> {
    let found = bookings::load(tx, cx.actor, &input.id)?;
    let kind = types::of_booking(tx, cx.actor.ws, &found.type_id)?;
    mail::must_write(tx, cx.actor, &kind, found.conversation.as_ref())?;
    // Cancelling it again changes nothing, and is told to nobody.
    if found.status == BookingStatus::Cancelled {
        return Ok(CancelledBookingJson { ok: true, booking: found.into() });
    }
    let conversation = match &found.conversation {
        Some(id) => Some(conversations::load(tx, cx.actor, id.as_str())?),
        None => None,
    };
    let judged = JudgedBooking {
        id: &input.id,
        guest: &found.guest_email,
        words: &[input.reason.as_str()],
        conversation: conversation.as_ref(),
    };
    let booking = match admit_booking(tx, cx, &judged)? {
        Some(due_at) => {
            let planned = agent_acts::plan_cancellation(tx, cx, &found, &input.reason, due_at)?;
            BookingJson::to_come(planned, due_at)
        }
        None => booking::cancel(tx, cx, &found, &input.reason)?.into(),
    };
    Ok(CancelledBookingJson { ok: true, booking })
}
