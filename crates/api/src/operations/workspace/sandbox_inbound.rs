//! `POST /sandbox/inbound`: a simulated customer writes.

use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::limits::{
    ADDRESS_CHARS, FILTER_CHARS, HEADER_CHARS, PERSON_NAME_CHARS, REFERENCE_CHARS,
    SANDBOX_TEXT_CHARS,
};
use base::security::scopes::Scope;
use db::Tx;
use inbound::incoming_mail::IncomingMail;
use inbound::receive::receive;
use mail::{Address, Authentication, ComposedMail, Dmarc, Envelope, Mail};
use model::conversations;
use model::mailboxes;

use crate::fields::{filled_text, text, text_in_format};
use crate::input::input;
use crate::operations::{Access, Method, Operation, ScopeRule, answer, parse_input};
use crate::string_format::StringFormat;
use crate::wire::SimulatedMail;

const MESSAGE_ID_CHARS: usize = 24;

pub const OPERATION: Operation = Operation {
    name: "sandbox_inbound",
    method: Method::Post,
    path: "/sandbox/inbound",
    tool: None,
    scope: ScopeRule::InSandbox(Scope::Write),
    access: Access::Write,
    idempotent: false,
    title: "Simulate an incoming mail",
    about: "Lets a made-up customer on a .test domain write to the sandbox inbox, through the same \
            way as real mail: threading, scam check, storage, test webhooks. For test keys; at \
            most 120 a minute across all test keys of the workspace.",
    fields: SandboxInboundInput::FIELDS,
    body_optional: false,
    success: 201,
    output: |schemas| schemas.subschema_for::<SimulatedMail>(),
    example_input: r#"{
        "from": "mara@customer.test",
        "name": "Mara Lind",
        "subject": "Where is my order?",
        "text": "Hello, I ordered a lamp last week and it has not come yet."
    }"#,
    example_output: r#"{
        "conversationId": "cnv_01kag0z8m4s6y2t9r5w1q3n7xe",
        "messageId": "msg_01kag13z8m4s6y2t9r5w1q3n7x"
    }"#,
    run: |tx, cx, input| answer(&sandbox_inbound(tx, cx, parse_input(input)?)?),
};

input! {
    #[derive(Clone, Debug)]
    pub struct SandboxInboundInput {
        /// Who writes: an address on a .test domain.
        #[required(text_in_format(3, ADDRESS_CHARS, StringFormat::TestAddress))]
        pub from: String,
        /// The writer's name.
        #[optional(text(PERSON_NAME_CHARS))]
        pub name: Option<String>,
        /// The subject of the mail.
        #[optional(text(HEADER_CHARS))]
        pub subject: Option<String>,
        /// What the mail says, in plain text.
        #[required(filled_text(SANDBOX_TEXT_CHARS))]
        pub text: String,
        /// Makes the mail a reply on this conversation.
        #[optional(text(FILTER_CHARS))]
        pub conversation_id: Option<String>,
        /// Makes the mail an answer to the mail with this Message-ID, such as one that was recorded
        /// with POST /app-mail.
        #[optional(text(HEADER_CHARS))]
        pub in_reply_to: Option<String>,
        /// Writes to the sandbox's address with this reference as its plus tag.
        #[optional(text_in_format(1, REFERENCE_CHARS, StringFormat::Reference))]
        pub reference: Option<String>,
    }
}

pub fn sandbox_inbound(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    input: SandboxInboundInput,
) -> Result<SimulatedMail> {
    let joins = match &input.conversation_id {
        Some(id) => Some(conversations::load(tx, cx.actor, id)?),
        None => None,
    };
    let mailbox = mailboxes::all_seen_by(tx, cx.actor)?.into_iter().next();
    let mailbox = mailbox.ok_or(Error::NotFound("sandbox"))?;
    let subject = match (input.subject, &joins) {
        (Some(subject), _) => subject,
        (None, Some(conversation)) => format!("Re: {}", conversation.subject),
        (None, None) => String::new(),
    };
    let written_to = match &input.reference {
        Some(reference) => mailbox.address.with_tag(reference),
        None => mailbox.address.clone(),
    };
    let from = EmailAddress::new(&input.from);
    let composed = ComposedMail {
        message_id: format!("{}@{}", cx.ids.token(MESSAGE_ID_CHARS), from.message_id_domain()),
        answers: match &joins {
            Some(conversation) => latest_sent(tx, cx, conversation)?,
            None => Vec::new(),
        },
        from: Address::new(input.name.as_deref(), &input.from),
        reply_to: None,
        to: vec![Address::new(None, &written_to)],
        cc: Vec::new(),
        subject,
        text: input.text,
        html: None,
        inline: Vec::new(),
        attachments: Vec::new(),
        calendar: None,
        at: cx.now,
        submission: mail::AutoSubmission::No,
        loop_mark: None,
        unsubscribe: None,
    };
    let mail = mail::parse(&mail::compose(&composed), Envelope::default());
    // Simulated mail counts as authenticated.
    let authentication = Authentication { dmarc: Dmarc::Pass, ..Authentication::default() };
    let mail = inbound::assess(tx, cx, &mailbox, mail, &authentication, &written_to)?;
    // An app may have recorded a Message-ID that no header could carry.
    let answers = match &input.in_reply_to {
        Some(id) => vec![mail::bare_message_id(id).to_owned()],
        None => mail.answers.clone(),
    };
    let from = Address::new(mail.from.name.as_deref(), &composed.from.email);
    let mail = Mail { from, answers, ..mail };
    let joins = joins.map(|conversation| conversation.id);
    let incoming = IncomingMail {
        mail,
        raw: None,
        authentication: None,
        attachments: Vec::new(),
        joins,
        content_hash: None,
    };
    let received = receive(tx, cx, &mailbox, &incoming)?;
    Ok(SimulatedMail { conversation_id: received.conversation, message_id: received.message })
}

/// The outgoing message that the simulated customer replies to.
fn latest_sent(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &conversations::Conversation,
) -> Result<Vec<String>> {
    let latest: Vec<(String,)> = tx.all(
        "SELECT header_id FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND direction = 'outbound' AND status = 'sent'
         ORDER BY at DESC, id DESC LIMIT 1",
        &[&cx.actor.ws, &conversation.id],
    )?;
    Ok(latest.into_iter().map(|(header_id,)| header_id).collect())
}
