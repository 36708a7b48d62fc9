//! `POST /bookings`: books a time for a customer.

use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::limits::{
    BOOKING_ANSWER_CHARS, BOOKING_GUEST_NAME_CHARS, BOOKING_QUESTION_CHARS, BOOKING_QUESTIONS,
    FILTER_CHARS,
};
use base::security::scopes::Scope;
use base::time::Moment;
use bookings::booking::{self, BookingGuest, NewBooking};
use bookings::{BookingAnswer, agent_acts, mail, types};
use db::Tx;
use model::conversations;
use model::conversations::agent_acts::{self as agent_record, AgentActKind};
use model::people::agent_limits::bookings::{
    BookingDeed, JudgedBooking, admit_booking, count_booking,
};

use crate::booking_json::BookingJson;
use crate::fields::{EMAIL, MOMENT, filled_text, list};
use crate::input::input;
use crate::operations::{Access, Method, Operation, ScopeRule, Tool, answer, parse_input};

pub const OPERATION: Operation = Operation {
    name: "create_booking",
    method: Method::Post,
    path: "/bookings",
    tool: Some(Tool {
        name: "create_booking",
        about: "Books a time that the customer agreed to; both get invitations. leavesAt delays \
                that. To offer times use reply.",
        help: "Books a time for a customer who has agreed to it: an invitation leaves to them and \
                to the host. Where the key's limits have undoMinutes, the time is held that long, \
                people can stop it, and the invitations leave at leavesAt; else they leave at once. \
                Use it only when your user or the customer named the time; to let the customer \
                choose, reply with booking instead. Take startsAt from find_slots. \
                When somebody was faster, the error names the next free times and nothing was \
                booked. Give an idempotencyKey, so that a repeat after a timeout books nothing \
                twice.",
        hints: &[("startsAt", "of find_slots")],
        example: r#"{
            "typeId": "bkt_01kag0v1b3n5m7k9j2h4g6f8ds",
            "startsAt": "2026-11-24T09:00:00Z",
            "name": "Bruno Keller",
            "email": "bruno@keller.test",
            "conversationId": "cnv_01kag0z8m4s6y2t9r5w1q3n7xe",
            "idempotencyKey": "order-20418-call"
        }"#,
        list: None,
        destructive: false,
    }),
    scope: ScopeRule::Always(Scope::Send),
    access: Access::Write,
    idempotent: false,
    title: "Book a time",
    about: "Books a free time for a customer. Customer and host get an invitation: at once, or where \
            the key's policy has undoMinutes at `leavesAt`, unless somebody stops it; until then it is \
            `held`. When the time is not free, the answer is 409 and names the next ones.",
    fields: CreateBookingInput::FIELDS,
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
    run: |tx, cx, input| answer(&create_booking(tx, cx, parse_input(input)?)?),
};

input! {
    #[derive(Clone, Debug)]
    pub struct CreateBookingInput {
        /// The booking type.
        #[required(filled_text(FILTER_CHARS))]
        pub type_id: String,
        /// The start, as find_slots gives it.
        #[required(MOMENT)]
        pub starts_at: Moment,
        /// Who comes.
        #[required(filled_text(BOOKING_GUEST_NAME_CHARS))]
        pub name: String,
        /// Where the invitation goes.
        #[required(EMAIL)]
        pub email: String,
        /// The conversation that it belongs to.
        #[optional(filled_text(FILTER_CHARS))]
        pub conversation_id: Option<String>,
        /// Answers to the type's questions.
        #[optional(list(0, BOOKING_QUESTIONS, &BookingAnswerInput::KIND))]
        pub answers: Vec<BookingAnswerInput>,
    }
}

input! {
    /// An answer to one of the type's questions.
    #[derive(Clone, Debug)]
    pub struct BookingAnswerInput {
        /// What was asked.
        #[required(filled_text(BOOKING_QUESTION_CHARS))]
        pub question: String,
        /// What the customer says.
        #[required(filled_text(BOOKING_ANSWER_CHARS))]
        pub answer: String,
    }
}

impl From<BookingAnswerInput> for BookingAnswer {
    fn from(input: BookingAnswerInput) -> BookingAnswer {
        BookingAnswer { question: input.question, answer: input.answer }
    }
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
    let answers: Vec<BookingAnswer> = input.answers.into_iter().map(Into::into).collect();
    let new = NewBooking {
        starts_at: input.starts_at.0,
        guest: BookingGuest { name: &input.name, email: &input.email, zone: None },
        answers: &answers,
        conversation: conversation.as_ref(),
    };
    let guest = EmailAddress::new(&input.email);
    let judged = JudgedBooking {
        guest: &guest,
        words: &new.words()?,
        circle: conversation.as_ref().map_or(&kind.circle, |one| &one.circle),
        mailbox: conversation.as_ref().map_or(&kind.mailbox, |one| &one.mailbox),
        conversation: conversation.as_ref(),
    };
    let due_at = admit_booking(tx, cx, &judged)?;
    let made = match due_at {
        Some(due_at) => agent_acts::plan_booking(tx, cx, &kind, &new, due_at)?,
        None => booking::book(tx, cx, &kind, &new)?,
    };
    count_booking(tx, cx, BookingDeed::Made, &made.id, &guest)?;
    if due_at.is_none() {
        let conversation = conversation.as_ref().map(|one| &one.id);
        agent_record::note_booking(tx, cx, AgentActKind::Booked, conversation, &made.id)?;
    }
    Ok(BookingJson::leaving_at(made, due_at))
}
