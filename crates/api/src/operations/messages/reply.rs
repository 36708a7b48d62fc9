//! `POST /conversations/{id}/replies`: writes a draft, or a reply that leaves after the undo window or
//! at a later time.

use base::app::Cx;
use base::error::{Error, Result};
use base::limits::{
    FILTER_CHARS, ITEM_DESCRIPTION_CHARS, ITEM_LABEL_CHARS, OFFERED_TIMES, RECIPIENTS, REPLY_CHARS,
    REPLY_SUMMARY_CHARS, REQUEST_ITEMS, SECURE_DAYS_MAX, undo_minutes, undo_sandbox_seconds,
};
use base::time::Moment;
use bookings::offers::{self, OfferInput};
use db::Tx;
use model::conversations::{self, Conversation};
use model::documents::document_requests::RequestedDocument;
use model::guests::secure::SecureSendOptions;
use model::messages::recipients::{self, Party, RecipientList};
use outbound::drafts::{self, DraftContent, ReplyResult};
use outbound::scheduling::MessageTimes;

use crate::fields::{
    BOOLEAN, EMAIL, InputField, InputKind, MOMENT, filled_text, integer, list, text,
};
use crate::input::input;
use crate::operations::{Access, Method, Operation, ScopeRule, Tool, answer, parse_input};
use crate::wire::ReplyResultJson;

/// Keeps two agents from drafting the same answer.
pub const ONLY_IF_NO_DRAFT: InputField = InputField::shared(
    BOOLEAN,
    "true writes nothing while another draft waits in the conversation: 409, which names it.",
);

/// Keeps the words on a page of their own.
pub const SECURE: InputField = InputField::shared(
    BOOLEAN,
    "true keeps the words on a page behind a mailed code; the mail says only who wrote, and the \
     subject stays visible. After a secure answer it is true unless you say false.",
);

pub const SECURE_LIFETIME: InputField = InputField::shared(
    integer(1, SECURE_DAYS_MAX),
    "For how many days the page is open; 30 unless the workspace says otherwise.",
);

/// When a message that is sent leaves.
pub const SEND_AT: InputField = InputField::shared(
    MOMENT,
    "With send: when it leaves, a time such as 2026-11-30T09:00:00Z within a year, instead of after \
     the undo window.",
);

/// When a conversation comes back.
pub const FOLLOW_UP_AT: InputField = InputField::shared(
    MOMENT,
    "Until when to wait, a time such as 2026-12-07T09:00:00Z: once it left, the conversation comes \
     back then if nobody answers.",
);

/// Addresses of one line of a message.
pub const ADDRESSES: InputKind = list(1, RECIPIENTS, &EMAIL);

pub const OPERATION: Operation = Operation {
    name: "reply",
    method: Method::Post,
    path: "/conversations/{id}/replies",
    tool: Some(Tool {
        name: "reply",
        about: "Answers the customer: a draft for a person to approve; send true sends after \
                an undo window.",
        help: concat!(
            "Writes a reply to the contact, or with replyAll to everybody of the newest message. Use \
             it when a conversation needs an answer. Without send it is a draft: nothing reaches the \
             customer until a person approves it; tell your user that it waits. With send true \
             (needs the send scope) it leaves after an undo window of ",
            undo_minutes!(),
            " minutes (",
            undo_sandbox_seconds!(),
            " seconds in the sandbox) unless somebody stops it. Ask for files with documents; never \
             write a link for uploads yourself. Offer times with booking: a type of \
             list_booking_types and up to five times of find_slots. Without an idempotencyKey a \
             repeat makes a second reply. Never copy protected text into an ordinary reply, a note \
             or another tool.",
        ),
        hints: &[
            ("send", "needs the scope send"),
            ("summary", "for who approves"),
            ("booking", "offers times"),
            ("secure", "words stay on a protected page"),
            ("sendAt", "with send"),
            ("followUpAt", "comes back if unanswered"),
        ],
        example: r#"{
            "id": "cnv_01kag0z8m4s6y2t9r5w1q3n7xe",
            "body": "Hello Bruno, your parcel left on Tuesday and should be with you tomorrow.",
            "summary": "Tells Bruno when order 20418 arrives",
            "idempotencyKey": "order-20418-answer"
        }"#,
        list: None,
        destructive: false,
    }),
    scope: ScopeRule::DraftOrSend,
    access: Access::Write,
    idempotent: false,
    title: "Reply to the customer",
    about: "Writes a reply to the conversation's contact, to everybody of the newest message \
            (replyAll), or to those named. It is a draft that waits for a person, \
            unless send is true (which needs the send scope): then it leaves after an undo window \
            in which anyone on the team can stop it, or at sendAt. Each call makes a new reply, \
            unless it repeats an Idempotency-Key.",
    fields: ReplyInput::FIELDS,
    body_optional: false,
    success: 201,
    output: |schemas| schemas.subschema_for::<ReplyResultJson>(),
    example_input: r#"{
        "body": "Hello Bruno, your parcel left on Tuesday and should be with you tomorrow.",
        "summary": "Tells Bruno when order 20418 arrives"
    }"#,
    example_output: r#"{
        "messageId": "msg_01kag11q2w3e4r5t6y7z8a9b0c",
        "status": "draft",
        "note": "Waits for a person to approve it."
    }"#,
    run: |tx, cx, input| answer(&ReplyResultJson::from(reply(tx, cx, parse_input(input)?)?)),
};

input! {
    #[derive(Clone, Debug, Default)]
    pub struct ReplyInput {
        /// Plain text.
        #[required(filled_text(REPLY_CHARS))]
        pub body: String,
        /// true sends after the undo window; needs send scope.
        #[optional(BOOLEAN)]
        pub send: bool = false,
        /// One line for the person who approves it.
        #[optional(text(REPLY_SUMMARY_CHARS))]
        pub summary: Option<String>,
        /// Documents to ask for. A checklist and a private upload link are added under the text; do
        /// not write a link yourself.
        #[optional(list(0, REQUEST_ITEMS, &DocumentItemInput::KIND))]
        pub documents: Vec<DocumentItemInput>,
        /// Who it goes to, instead of the conversation's contact.
        #[optional(ADDRESSES)]
        pub to: Option<Vec<String>>,
        /// Who gets a copy.
        #[optional(ADDRESSES)]
        pub cc: Option<Vec<String>>,
        /// true answers everybody of the newest message; to and cc replace their line of it.
        #[optional(BOOLEAN)]
        pub reply_all: bool = false,
        #[shared(ONLY_IF_NO_DRAFT)]
        pub only_if_no_draft: bool = false,
        /// Lets the customer pick a time: a link, and the times as links, are added under the text;
        /// do not write a link yourself. What they pick belongs to this conversation.
        #[optional(BookingOfferInput::KIND)]
        pub booking: Option<BookingOfferInput>,
        #[shared(SECURE)]
        pub secure: Option<bool>,
        #[shared(SECURE_LIFETIME)]
        pub secure_days: Option<i64>,
        #[shared(SEND_AT)]
        pub send_at: Option<Moment>,
        #[shared(FOLLOW_UP_AT)]
        pub follow_up_at: Option<Moment>,
    } beside {
        pub id: String,
    }
}

input! {
    /// One asked document (API section 2.9).
    #[derive(Clone, Debug)]
    pub struct DocumentItemInput {
        /// What is asked for, such as Passport.
        #[required(filled_text(ITEM_LABEL_CHARS))]
        pub label: String,
        /// What the customer should know about it.
        #[optional(text(ITEM_DESCRIPTION_CHARS))]
        pub description: Option<String>,
        /// false marks it nice to have.
        #[optional(BOOLEAN)]
        pub required: Option<bool> = true,
    }
}

impl From<DocumentItemInput> for RequestedDocument {
    fn from(input: DocumentItemInput) -> RequestedDocument {
        let DocumentItemInput { label, description, required } = input;
        RequestedDocument { label, description, required: required.unwrap_or(true) }
    }
}

input! {
    /// Times that a customer can pick from.
    #[derive(Clone, Debug)]
    pub struct BookingOfferInput {
        /// What they can book.
        #[required(filled_text(FILTER_CHARS))]
        pub type_id: String,
        /// Starts to offer, as find_slots gives them; without any the link leads to all free times.
        #[optional(list(0, OFFERED_TIMES, &MOMENT))]
        pub times: Vec<Moment>,
    }
}

/// Writes a reply: a draft, or a message that leaves after the undo window.
pub fn reply(tx: &mut Tx<'_>, cx: &Cx<'_>, input: ReplyInput) -> Result<ReplyResult> {
    let conversation = conversations::load(tx, cx.actor, &input.id)?;
    if input.only_if_no_draft {
        drafts::must_be_only_draft(tx, cx, &conversation)?;
    }
    let offer = match input.booking.clone() {
        Some(BookingOfferInput { type_id, times }) => {
            Some(offers::check(tx, cx, &OfferInput { type_id, times })?)
        }
        None => None,
    };
    let documents: Vec<RequestedDocument> =
        input.documents.iter().cloned().map(Into::into).collect();
    let draft = DraftContent {
        offer,
        recipients: recipients(tx, cx, &conversation, &input)?,
        text: &input.body,
        summary: input.summary.as_deref(),
        documents: &documents,
        secure: SecureSendOptions { secure: input.secure, days: input.secure_days },
        times: message_times(input.send_at, input.follow_up_at),
        ..DraftContent::default()
    };
    if input.send {
        drafts::send(tx, cx, &conversation, &draft)
    } else {
        drafts::keep_as_draft(tx, cx, &conversation, &draft)
    }
}

/// The times as the caller named them.
pub fn message_times(send_at: Option<Moment>, follow_up_at: Option<Moment>) -> MessageTimes {
    MessageTimes { leaves_at: send_at.map(|at| at.0), follow_up_at: follow_up_at.map(|at| at.0) }
}

/// The contact, or everybody of the newest message, with the lines that the caller names instead.
fn recipients(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    input: &ReplyInput,
) -> Result<RecipientList> {
    let mut list = if input.reply_all {
        recipients::reply_all(tx, cx, conversation)?
    } else {
        RecipientList::contact(conversation)
    };
    if let Some(to) = &input.to {
        list.to = Party::from_addresses(to);
    }
    if let Some(cc) = &input.cc {
        list.cc = Party::from_addresses(cc);
    }
    match list.problem() {
        None => Ok(list),
        Some(sentence) => Err(Error::invalid("to", sentence)),
    }
}
