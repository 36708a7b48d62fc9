//! `POST /bookings`: books a time for a customer.

use base::app::Cx;
use base::error::{Error, Result};
use base::limits::{
    BOOKING_ANSWER_CHARS, BOOKING_GUEST_NAME_CHARS, BOOKING_QUESTION_CHARS, BOOKING_QUESTIONS,
    FILTER_CHARS,
};
use base::scopes::Scope;
use base::time::Moment;
use bookings::booking::{self, BookingGuest, NewBooking};
use bookings::{BookingAnswer, mail, types};
use db::Tx;
use model::conversations;
use serde::Deserialize;

use super::{Access, Method, Operation, ScopeRule, Tool, answer, typed};
use crate::booking_json::BookingJson;
use crate::fields::{EMAIL, InputField, InputKind, MOMENT, filled};

/// An answer to one of the type's questions.
const ANSWER: InputKind = InputKind::Object(&[
    InputField::required("question", filled(BOOKING_QUESTION_CHARS), "What was asked."),
    InputField::required("answer", filled(BOOKING_ANSWER_CHARS), "What the customer says."),
]);

pub const OPERATION: Operation = Operation {
    name: "create_booking",
    method: Method::Post,
    path: "/bookings",
    tool: Some(Tool {
        name: "create_booking",
        about: "Books a time for a customer who has agreed to it: an invitation leaves at once, to \
                them and to the host. Use it only when your user or the customer named the time; to \
                let the customer choose, reply with booking instead. Take startsAt from find_slots. \
                When somebody was faster, the error names the next free times and nothing was \
                booked. Give an idempotencyKey, so that a repeat after a timeout books nothing \
                twice.",
        example: r#"{
            "typeId": "bkt_01kag0v1b3n5m7k9j2h4g6f8ds",
            "startsAt": "2026-11-24T09:00:00Z",
            "name": "Bruno Keller",
            "email": "bruno@keller.test",
            "conversationId": "cnv_01kag0z8m4s6y2t9r5w1q3n7xe",
            "idempotencyKey": "order-20418-call"
        }"#,
        list: None,
        loses: false,
    }),
    scope: ScopeRule::Always(Scope::Send),
    access: Access::Write,
    repeatable: false,
    title: "Book a time",
    about: "Books a free time for a customer. Customer and host get an invitation at once. When the \
            time is not free, the answer is 409 and names the next ones.",
    fields: &[
        InputField::required("typeId", filled(FILTER_CHARS), "The booking type."),
        InputField::required("startsAt", MOMENT, "The start, as find_slots gives it."),
        InputField::required("name", filled(BOOKING_GUEST_NAME_CHARS), "Who comes."),
        InputField::required("email", EMAIL, "Where the invitation goes."),
        InputField::optional(
            "conversationId",
            filled(FILTER_CHARS),
            "The conversation that it belongs to.",
        ),
        InputField::optional(
            "answers",
            InputKind::List { min: 0, max: BOOKING_QUESTIONS, of: &ANSWER },
            "Answers to the type's questions.",
        ),
    ],
    body_optional: false,
    success: 201,
    output: |schemas| schemas.subschema_for::<BookingJson>(),
    example_input: r#"{
        "typeId": "bkt_01kag0v1b3n5m7k9j2h4g6f8ds",
        "startsAt": "2026-11-24T09:00:00Z",
        "name": "Bruno Keller",
        "email": "bruno@keller.test"
    }"#,
    example_output: r#"{
        "id": "bkg_01kag2b3c4d5e6f7g8h9j0kmnp",
        "typeId": "bkt_01kag0v1b3n5m7k9j2h4g6f8ds",
        "type": "First talk",
        "host": { "id": "usr_01kag0t8m4s6y2t9r5w1q3n7xe", "name": "Ines" },
        "guest": { "name": "Bruno Keller", "email": "bruno@keller.test" },
        "startsAt": "2026-11-24T09:00:00.000Z",
        "endsAt": "2026-11-24T09:30:00.000Z",
        "status": "booked",
        "conversationId": "cnv_01kag0z8m4s6y2t9r5w1q3n7xe",
        "answers": [{ "question": "What is it about?", "answer": "My order 20418" }],
        "place": "By telephone",
        "rescheduledFrom": null,
        "rescheduledTo": null,
        "createdAt": "2026-11-15T09:20:03.120Z"
    }"#,
    run: |tx, cx, input| answer(&create_booking(tx, cx, typed(input)?)?),
};

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateBookingInput {
    pub type_id: String,
    pub starts_at: Moment,
    pub name: String,
    pub email: String,
    pub conversation_id: Option<String>,
    #[serde(default)]
    pub answers: Vec<BookingAnswer>,
}

pub fn create_booking(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    input: CreateBookingInput,
) -> Result<BookingJson> {
    let kind = types::load_active(tx, cx.actor, &input.type_id)?;
    let conversation = match &input.conversation_id {
        Some(id) => Some(conversations::load(tx, cx.actor, id)?),
        None => None,
    };
    mail::must_write(tx, cx.actor, &kind, conversation.as_ref().map(|one| &one.id))?;
    if !cx.actor.livemode() && !input.email.to_ascii_lowercase().ends_with(".test") {
        return Err(Error::invalid("email", "must be an e-mail address on a .test domain"));
    }
    let new = NewBooking {
        starts_at: input.starts_at.0,
        guest: BookingGuest { name: &input.name, email: &input.email, zone: None },
        answers: &input.answers,
        conversation: conversation.as_ref(),
    };
    Ok(booking::book(tx, cx, &kind, &new)?.into())
}
