//! `POST /conversations`: writes the first mail to somebody.

use base::app::Cx;
use base::error::{Error, Result};
use base::limits::{FILTER_CHARS, REPLY_CHARS, REPLY_SUMMARY_CHARS, SUBJECT_CHARS};
use base::time::Moment;
use db::Tx;
use model::guests::secure::SecureSendOptions;
use model::mailboxes;
use model::messages::recipients::{Party, RecipientList};
use outbound::drafts::{self, DraftContent};

use crate::fields::{BOOLEAN, filled_text, text};
use crate::input::input;
use crate::operations::messages::reply::{
    ADDRESSES, FOLLOW_UP_AT, SECURE, SECURE_LIFETIME, SEND_AT, message_times,
};
use crate::operations::{Access, Method, Operation, ScopeRule, Tool, answer, parse_input};
use crate::wire::StartedConversation;

pub const OPERATION: Operation = Operation {
    name: "start_conversation",
    method: Method::Post,
    path: "/conversations",
    tool: Some(Tool {
        name: "start_conversation",
        about: "Drafts a first mail to a customer. For mail that came in use reply.",
        help: "Writes the first mail to a customer. Use it only when there is no \
                conversation with them about this yet; otherwise reply. Drafts, send and \
                repeats are as in reply: without send nothing leaves until a person approves \
                it.",
        hints: &[("mailbox", "id or address"), ("sendAt", "with send")],
        example: r#"{
            "mailbox": "mbx_01kag0x2m4s6y2t9r5w1q3n7xd",
            "to": ["bruno@keller.example"],
            "subject": "Your order 20418",
            "body": "Hello Bruno, the lamp you ordered is here. When may we deliver it?",
            "summary": "Asks Bruno when order 20418 may be delivered",
            "idempotencyKey": "order-20418-delivery"
        }"#,
        list: None,
        destructive: false,
    }),
    scope: ScopeRule::DraftOrSend,
    access: Access::Write,
    idempotent: false,
    title: "Start a conversation",
    about: "Writes the first mail to somebody. It is a draft that waits for a person, unless send \
            is true (which needs the send scope): then it leaves after the undo window. Once it \
            has left, the conversation waits for them. Each call starts a new conversation, \
            unless it repeats an Idempotency-Key.",
    fields: StartConversationInput::FIELDS,
    body_optional: false,
    success: 201,
    output: |schemas| schemas.subschema_for::<StartedConversation>(),
    example_input: r#"{
        "mailbox": "mbx_01kag0x2m4s6y2t9r5w1q3n7xd",
        "to": ["bruno@keller.example"],
        "subject": "Your order 20418",
        "body": "Hello Bruno, the lamp you ordered is here. When may we deliver it?"
    }"#,
    example_output: r#"{
        "conversationId": "cnv_01kag0z8m4s6y2t9r5w1q3n7xe",
        "messageId": "msg_01kag11q2w3e4r5t6y7z8a9b0c",
        "status": "draft",
        "note": "Waits for a person to approve it."
    }"#,
    run: |tx, cx, input| answer(&start_conversation(tx, cx, parse_input(input)?)?),
};

input! {
    #[derive(Clone, Debug)]
    pub struct StartConversationInput {
        /// The inbox that it is sent from: its id (mbx_…) or its address.
        #[required(filled_text(FILTER_CHARS))]
        pub mailbox: String,
        /// Who it goes to; the first is the contact.
        #[required(ADDRESSES)]
        pub to: Vec<String>,
        /// Who gets a copy.
        #[optional(ADDRESSES)]
        pub cc: Option<Vec<String>>,
        /// Its subject.
        #[required(filled_text(SUBJECT_CHARS))]
        pub subject: String,
        /// Plain text.
        #[required(filled_text(REPLY_CHARS))]
        pub body: String,
        /// true sends after the undo window; needs send scope.
        #[optional(BOOLEAN)]
        pub send: bool = false,
        /// One line for the person who approves it.
        #[optional(text(REPLY_SUMMARY_CHARS))]
        pub summary: Option<String>,
        #[shared(SECURE)]
        pub secure: Option<bool>,
        #[shared(SECURE_LIFETIME)]
        pub secure_days: Option<i64>,
        #[shared(SEND_AT)]
        pub send_at: Option<Moment>,
        #[shared(FOLLOW_UP_AT)]
        pub follow_up_at: Option<Moment>,
    }
}

/// Starts a conversation with a message of ours: a draft, or one that leaves after the undo window.
pub fn start_conversation(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    input: StartConversationInput,
) -> Result<StartedConversation> {
    let mailbox = mailboxes::find(tx, cx.actor, &input.mailbox)?;
    let mailbox = mailbox.ok_or(Error::NotFound("mailbox"))?;
    let recipients = RecipientList {
        to: Party::from_addresses(&input.to),
        cc: Party::from_addresses(&input.cc.unwrap_or_default()),
        bcc: Vec::new(),
    };
    let conversation = drafts::begin_conversation(tx, cx, &mailbox, &input.subject, &recipients)?;
    let draft = DraftContent {
        recipients,
        text: &input.body,
        summary: input.summary.as_deref(),
        secure: SecureSendOptions { secure: input.secure, days: input.secure_days },
        times: message_times(input.send_at, input.follow_up_at),
        ..DraftContent::default()
    };
    let result = if input.send {
        drafts::send(tx, cx, &conversation, &draft)?
    } else {
        drafts::keep_as_draft(tx, cx, &conversation, &draft)?
    };
    Ok(StartedConversation { conversation_id: conversation.id, reply: result.into() })
}
