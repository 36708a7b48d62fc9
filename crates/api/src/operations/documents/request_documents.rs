//! `POST /conversations/{id}/document-requests`: asks the customer for documents.

use base::app::Cx;
use base::error::Result;
use base::limits::{REQUEST_ITEMS, REQUEST_MESSAGE_CHARS, reminder_days};
use db::Tx;
use model::conversations;
use model::guests::secure::SecureSendOptions;
use outbound::document_request::{self, NewDocumentRequest};
use outbound::drafts::{self, ReplyResult};

use crate::fields::{BOOLEAN, DATE, list, text};
use crate::input::input;
use crate::operations::messages::reply::{
    DocumentItemInput, ONLY_IF_NO_DRAFT, SECURE, SECURE_LIFETIME,
};
use crate::operations::{Access, Method, Operation, ScopeRule, Tool, answer, parse_input};
use crate::wire::ReplyResultJson;

pub const OPERATION: Operation = Operation {
    name: "request_documents",
    method: Method::Post,
    path: "/conversations/{id}/document-requests",
    tool: Some(Tool {
        name: "request_documents",
        about: "Drafts a request for files: a checklist with a private upload link.",
        help: concat!(
            "Asks the contact for documents: a mail with a checklist and a private upload link, which \
             are added for you. Use it when files are all you need; reply can ask along with an \
             answer. Drafts, send and repeats are as in reply: without send nothing reaches the \
             customer until a person approves it. Then they are reminded on days ",
            reminder_days!(),
            " until everything required is in.",
        ),
        hints: &[("message", "above the checklist")],
        example: r#"{
            "id": "cnv_01kag0z8m4s6y2t9r5w1q3n7xe",
            "documents": [{ "label": "Passport", "description": "The page with your photo" }],
            "dueDate": "2026-11-30",
            "idempotencyKey": "passport-keller"
        }"#,
        list: None,
        destructive: false,
    }),
    scope: ScopeRule::DraftOrSend,
    access: Access::Write,
    idempotent: false,
    title: "Ask the customer for documents",
    about: concat!(
        "Writes to the contact with a checklist and a private upload link; reminders follow on \
         days ",
        reminder_days!(),
        ", and ask.completed tells when everything is in. A draft gets its link when a person \
         approves it. Each call makes a new request, unless it repeats an Idempotency-Key.",
    ),
    fields: RequestDocumentsInput::FIELDS,
    body_optional: false,
    success: 201,
    output: |schemas| schemas.subschema_for::<ReplyResultJson>(),
    example_input: r#"{
        "documents": [{ "label": "Passport", "description": "The page with your photo" }],
        "message": "To open your account we need one more paper.",
        "dueDate": "2026-11-30"
    }"#,
    example_output: r#"{
        "messageId": "msg_01kag12d3f4g5h6j7k8m9n0p1q",
        "status": "draft",
        "requestId": "req_01kag12d3f4g5h6j7k8m9n0p1r",
        "note": "Waits for a person to approve it."
    }"#,
    run: |tx, cx, input| {
        answer(&ReplyResultJson::from(request_documents(tx, cx, parse_input(input)?)?))
    },
};

input! {
    #[derive(Clone, Debug)]
    pub struct RequestDocumentsInput {
        /// What is asked for.
        #[required(list(1, REQUEST_ITEMS, &DocumentItemInput::KIND))]
        pub documents: Vec<DocumentItemInput>,
        /// A short note above the checklist; do not write a link yourself.
        #[optional(text(REQUEST_MESSAGE_CHARS))]
        pub message: Option<String>,
        /// The day it is needed by, such as 2026-11-30.
        #[optional(DATE)]
        pub due_date: Option<String>,
        /// true sends after the undo window; needs send scope.
        #[optional(BOOLEAN)]
        pub send: bool = false,
        #[shared(ONLY_IF_NO_DRAFT)]
        pub only_if_no_draft: bool = false,
        #[shared(SECURE)]
        pub secure: Option<bool>,
        #[shared(SECURE_LIFETIME)]
        pub secure_days: Option<i64>,
    } beside {
        pub id: String,
    }
}

impl RequestDocumentsInput {
    pub fn into_request(self) -> NewDocumentRequest {
        NewDocumentRequest {
            documents: self.documents.into_iter().map(Into::into).collect(),
            message: self.message,
            due_date: self.due_date,
            send: self.send,
            secure: SecureSendOptions { secure: self.secure, days: self.secure_days },
        }
    }
}

/// Asks for documents in a message of its own.
pub fn request_documents(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    input: RequestDocumentsInput,
) -> Result<ReplyResult> {
    let conversation = conversations::load(tx, cx.actor, &input.id)?;
    if input.only_if_no_draft {
        drafts::must_be_only_draft(tx, cx, &conversation)?;
    }
    document_request::write(tx, cx, &conversation, &input.into_request())
}
