//! `POST /messages/{id}/discard`: an agent takes back a draft of its own.

use base::app::Cx;
use base::error::Result;
use base::limits::REPLY_SUMMARY_CHARS;
use base::security::scopes::Scope;
use db::Tx;
use outbound::{own_drafts, taking_back};

use crate::fields::text;
use crate::input::input;
use crate::operations::{Access, Method, Operation, ScopeRule, Tool, answer, parse_input};
use crate::wire::Done;

pub const OPERATION: Operation = Operation {
    name: "discard_draft",
    method: Method::Post,
    path: "/messages/{id}/discard",
    tool: Some(Tool {
        name: "discard_draft",
        about: "Takes back a draft of yours.",
        help: "Takes back a draft that you wrote. Use it when nobody should approve it any \
                more. The customer never gets it; the timeline keeps your reason. One that a \
                person has changed is left as it is, and you are told.",
        hints: &[],
        example: r#"{
            "id": "msg_01kag13z8m4s6y2t9r5w1q3n7x",
            "reason": "Bruno wrote that the parcel came."
        }"#,
        list: None,
        destructive: true,
    }),
    scope: ScopeRule::Always(Scope::Draft),
    access: Access::Write,
    idempotent: true,
    title: "Discard an own draft",
    about: "Takes a draft that this key wrote out of the queue and the timeline. Drafts of \
            others, and what is a draft no more, answer 404; one that a person changed answers \
            409.",
    fields: Input::FIELDS,
    body_optional: true,
    success: 200,
    output: |schemas| schemas.subschema_for::<Done>(),
    example_input: r#"{ "reason": "Bruno wrote that the parcel came." }"#,
    example_output: r#"{ "ok": true }"#,
    run: |tx, cx, input| answer(&discard_draft(tx, cx, parse_input(input)?)?),
};

input! {
    struct Input {
        /// One line for the team on why it is discarded.
        #[optional(text(REPLY_SUMMARY_CHARS))]
        reason: String,
    } beside {
        id: String,
    }
}

fn discard_draft(tx: &mut Tx<'_>, cx: &Cx<'_>, input: Input) -> Result<Done> {
    let (draft, conversation) = own_drafts::own_draft(tx, cx, &input.id)?;
    taking_back::discard(tx, cx, &conversation, &draft, &input.reason)?;
    Ok(Done::OK)
}
