//! `POST /bookings/{id}/cancel`: calls an appointment off.

use base::app::Cx;
use base::error::Result;
use base::limits::BOOKING_REASON_CHARS;
use base::security::scopes::Scope;
use bookings::{BookingStatus, agent_acts, booking, mail, types};
use db::Tx;
use model::conversations;
use model::conversations::agent_acts::{self as agent_record, AgentActKind};
use model::people::agent_limits::bookings::{
    BookingDeed, JudgedBooking, admit_booking, count_booking,
};

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
        about: "Cancels an appointment; both sides are told. leavesAt delays that.",
        help: "Calls an appointment off: customer and host get a cancellation, and the time is free \
                again. Where the key's limits have undoMinutes, it stays that long, people can stop \
                it, and it is off at leavesAt; else at once. Use it when the customer or your user \
                says so; for another time use move_booking. The reason is sent to both. Cancelling \
                it again changes nothing.",
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
    about: "Calls an appointment off and frees its time. Customer and host get a cancellation: at once, \
            or where the key's policy has undoMinutes at `leavesAt`, unless somebody stops it. \
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
        guest: &found.guest_email,
        words: &booking::clean_reason(&input.reason),
        circle: &found.circle,
        mailbox: conversation.as_ref().map_or(&kind.mailbox, |one| &one.mailbox),
        conversation: conversation.as_ref(),
    };
    let due_at = admit_booking(tx, cx, &judged)?;
    let cancelled = match due_at {
        Some(due_at) => agent_acts::plan_cancellation(tx, cx, &found, &input.reason, due_at)?,
        None => booking::cancel(tx, cx, &found, &input.reason)?,
    };
    count_booking(tx, cx, BookingDeed::Cancelled, &found.id, &found.guest_email)?;
    if due_at.is_none() {
        let conversation = conversation.as_ref().map(|one| &one.id);
        agent_record::note_booking(tx, cx, AgentActKind::Rebooked, conversation, &found.id)?;
    }
    Ok(CancelledBookingJson { ok: true, booking: BookingJson::leaving_at(cancelled, due_at) })
}
