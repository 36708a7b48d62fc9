//! `POST /app-mail`: records a mail that the caller's own app sent.

use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::ids::ConversationId;
use base::limits::{
    APP_MAIL_KEPT_MS, APP_MAIL_RECIPIENTS, APP_MAIL_TEXT_CHARS, HEADER_CHARS, REFERENCE_CHARS,
};
use base::security::scopes::Scope;
use db::{Json, Tx};
use outbound::app_mail;
use outbound::messages::header_key;

use crate::fields::{EMAIL, filled_text, list, text, text_in_format};
use crate::input::input;
use crate::operations::{Access, Method, Operation, ScopeRule, Tool, answer, parse_input};
use crate::string_format::StringFormat;
use crate::wire::Done;

pub const OPERATION: Operation = Operation {
    name: "record_sent",
    method: Method::Post,
    path: "/app-mail",
    tool: Some(Tool {
        name: "record_sent",
        about: "Records a mail that your app sent; replies show it.",
        help: "Records a mail that your own app has sent, so that the answer is filed with \
                your reference. Use it only for mail that really went out. It sends nothing: \
                the customer notices nothing. The same messageId again replaces what was \
                recorded, until someone replies.",
        hints: &[],
        example: r#"{
            "messageId": "<order-20418.c1f7a9d2e4@acme.example>",
            "reference": "order-20418",
            "to": ["bruno@keller.example"],
            "subject": "Your order 20418 is on its way"
        }"#,
        list: None,
        destructive: true,
    }),
    scope: ScopeRule::Always(Scope::Record),
    access: Access::Write,
    idempotent: true,
    title: "Record mail that an app sent",
    about: "Tells Mailroom of an e-mail that your app sent by itself, so that the answer is filed \
            under your reference. Recording the same messageId again is safe: it updates the \
            record until someone replies, and after that only fills in what was missing. \
            Message-IDs must be unguessable.",
    fields: RecordSentInput::FIELDS,
    body_optional: false,
    success: 201,
    output: |schemas| schemas.subschema_for::<Done>(),
    example_input: r#"{
        "messageId": "<order-20418.c1f7a9d2e4@acme.example>",
        "reference": "order-20418",
        "to": ["bruno@keller.example"],
        "subject": "Your order 20418 is on its way",
        "text": "Hello Bruno, your parcel left today."
    }"#,
    example_output: r#"{ "ok": true }"#,
    run: |tx, cx, input| answer(&record_sent(tx, cx, parse_input(input)?)?),
};

input! {
    #[derive(Clone, Debug)]
    pub struct RecordSentInput {
        /// The Message-ID header it went out with, with or without angle brackets.
        #[required(filled_text(HEADER_CHARS))]
        pub message_id: String,
        /// Your record's reference; it comes back lower-cased.
        #[required(text_in_format(1, REFERENCE_CHARS, StringFormat::Reference))]
        pub reference: String,
        /// The addresses it went to.
        #[required(list(1, APP_MAIL_RECIPIENTS, &EMAIL))]
        pub to: Vec<String>,
        /// Its subject.
        #[required(text(HEADER_CHARS))]
        pub subject: String,
        /// Its plain text.
        #[optional(text(APP_MAIL_TEXT_CHARS))]
        pub text: Option<String>,
        /// Its HTML.
        #[optional(text(APP_MAIL_TEXT_CHARS))]
        pub html: Option<String>,
    }
}

/// Records a mail. Until someone replies a repeat replaces what is known; afterwards it only
/// fills in words that were missing.
pub fn record_sent(tx: &mut Tx<'_>, cx: &Cx<'_>, input: RecordSentInput) -> Result<Done> {
    let header_id = mail::bare_message_id(&input.message_id);
    if header_id.is_empty() {
        return Err(Error::invalid("messageId", "must be a Message-ID such as <id@example.com>"));
    }
    let (ws, livemode) = (cx.actor.ws, cx.actor.livemode());
    let key = header_key(header_id);
    let mut known: Option<(Option<ConversationId>, i64)> = tx.opt(
        "SELECT conversation, recorded_at FROM app_mail
         WHERE ws = ?1 AND livemode = ?2 AND header_key = ?3",
        &[&ws, &livemode, &key],
    )?;
    if matches!(known, Some((None, at)) if at <= cx.now - APP_MAIL_KEPT_MS) {
        app_mail::forget(tx, ws, livemode, &key)?;
        known = None;
    }
    let to: Vec<EmailAddress> = input.to.iter().map(|email| EmailAddress::new(email)).collect();
    let (to, reference) = (Json(to), input.reference.to_lowercase());
    match known {
        None => {
            tx.exec(
                "INSERT INTO app_mail (
                    ws, livemode, header_key, header_id, reference, to_list, subject, text, html,
                    recorded_at
                 ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                &[
                    &ws,
                    &livemode,
                    &key,
                    &header_id,
                    &reference,
                    &to,
                    &input.subject,
                    &input.text,
                    &input.html,
                    &cx.now,
                ],
            )?;
            app_mail::count_unanswered(tx, ws, &key, 1)?;
            app_mail::forget_old(tx, ws, cx.now)?;
        }
        Some((None, _)) => {
            tx.exec(
                "UPDATE app_mail SET reference = ?4, to_list = ?5, subject = ?6,
                    text = coalesce(?7, text), html = coalesce(?8, html)
                 WHERE ws = ?1 AND livemode = ?2 AND header_key = ?3",
                &[&ws, &livemode, &key, &reference, &to, &input.subject, &input.text, &input.html],
            )?;
        }
        Some((Some(_), _)) => {
            tx.exec(
                "UPDATE app_mail SET text = coalesce(text, ?4), html = coalesce(html, ?5),
                    subject = CASE WHEN subject = '' THEN ?6 ELSE subject END
                 WHERE ws = ?1 AND livemode = ?2 AND header_key = ?3",
                &[&ws, &livemode, &key, &input.text, &input.html, &input.subject],
            )?;
        }
    }
    Ok(Done::OK)
}
