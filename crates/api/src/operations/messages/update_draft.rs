//! `POST /messages/{id}/update`: an agent changes a draft of its own.

use base::app::Cx;
use base::error::Result;
use base::limits::{REPLY_CHARS, REPLY_SUMMARY_CHARS};
use base::security::scopes::Scope;
use db::Tx;
use outbound::drafts::ReplyResult;
use outbound::own_drafts;

use crate::fields::{filled_text, text};
use crate::input::input;
use crate::operations::{Access, Method, Operation, ScopeRule, Tool, answer, parse_input};
use crate::wire::ReplyResultJson;

pub const OPERATION: Operation = Operation {
    name: "update_draft",
    method: Method::Post,
    path: "/messages/{id}/update",
    tool: Some(Tool {
        name: "update_draft",
        about: "Rewrites a draft of yours.",
        help: "Changes a draft that you wrote, while it waits. Use it instead of writing a \
                second one when it is wrong or the customer wrote again. One that a person \
                has changed is left as it is, and you are told.",
        hints: &[],
        example: r#"{
            "id": "msg_01kag13z8m4s6y2t9r5w1q3n7x",
            "body": "Hello Bruno, your parcel left today and should be with you on Friday."
        }"#,
        list: None,
        destructive: false,
    }),
    scope: ScopeRule::Always(Scope::Draft),
    access: Access::Write,
    idempotent: true,
    title: "Change an own draft",
    about: "Changes a draft that this key wrote and that still waits for a person. Drafts of \
            others, and what is a draft no more, answer 404; one that a person changed answers \
            409.",
    fields: Input::FIELDS,
    body_optional: false,
    success: 200,
    output: |schemas| schemas.subschema_for::<ReplyResultJson>(),
    example_input: r#"{
        "body": "Hello Bruno, your parcel left today and should be with you on Friday."
    }"#,
    example_output: r#"{
        "messageId": "msg_01kag11q2w3e4r5t6y7z8a9b0c",
        "status": "draft",
        "note": "Changed. Waits for a person to approve it."
    }"#,
    run: |tx, cx, input| answer(&ReplyResultJson::from(update_draft(tx, cx, parse_input(input)?)?)),
};

input! {
    struct Input {
        /// Plain text, instead of the old one.
        #[required(filled_text(REPLY_CHARS))]
        body: String,
        /// One line for the person who approves it; the old one stays without it.
        #[optional(text(REPLY_SUMMARY_CHARS))]
        summary: Option<String>,
    } beside {
        id: String,
    }
}

fn update_draft(tx: &mut Tx<'_>, cx: &Cx<'_>, input: Input) -> Result<ReplyResult> {
    let (draft, conversation) = own_drafts::own_draft(tx, cx, &input.id)?;
    own_drafts::rewrite(tx, cx, &conversation, draft, &input.body, input.summary.as_deref())
}
