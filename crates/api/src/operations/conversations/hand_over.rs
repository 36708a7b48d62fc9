//! `POST /conversations/{id}/handover`: hands a conversation over to people.

use base::app::Cx;
use base::error::Result;
use base::limits::{HANDOVER_REASON_CHARS, HANDOVER_TO_CHARS};
use base::security::scopes::Scope;
use db::Tx;
use model::conversations::{self, handover};

use crate::fields::filled_text;
use crate::input::input;
use crate::operations::{Access, Method, Operation, ScopeRule, Tool, answer, parse_input};
use crate::wire::HandedOverConversation;

pub const OPERATION: Operation = Operation {
    name: "hand_over",
    method: Method::Post,
    path: "/conversations/{id}/handover",
    tool: Some(Tool {
        name: "hand_over",
        about: "Hands a conversation to people with a reason: when unsure, or its mail looks \
                risky.",
        help: "Gives a conversation to a person or a team, or to whoever takes it. Use it when you are unsure, \
               when a risk is set or when somebody has to decide. Your reason becomes a note; the customer \
               notices nothing.",
        hints: &[("to", "a person or team")],
        example: r#"{
            "id": "cnv_01kag0z8m4s6y2t9r5w1q3n7xe",
            "reason": "The bank account in the mail is not the one on file.",
            "to": "Ines"
        }"#,
        list: None,
        destructive: false,
    }),
    scope: ScopeRule::Always(Scope::Read),
    access: Access::Write,
    idempotent: false,
    title: "Hand over to people",
    about: "Marks a conversation for people: it is open, no agent has it, and a note of this key says why. \
            `to` is a person (`user:usr_…` or a name), who gets it, or a team (its name or id), whose \
            people are told; without it a person who has it keeps it. A key with any scope may do this.",
    fields: HandOverInput::FIELDS,
    body_optional: false,
    success: 200,
    output: |schemas| schemas.subschema_for::<HandedOverConversation>(),
    example_input: r#"{ "reason": "The bank account in the mail is not the one on file." }"#,
    example_output: r#"{ "ok": true, "noteId": "not_01kag10a1b2c3d4e5f6g7h8j9k", "assignee": null }"#,
    run: |tx, cx, input| answer(&hand_over(tx, cx, parse_input(input)?)?),
};

input! {
    #[derive(Clone, Debug)]
    pub struct HandOverInput {
        /// Why, for the person who goes on.
        #[required(filled_text(HANDOVER_REASON_CHARS))]
        pub reason: String,
        /// A person or a team: user:usr_…, an id or a name.
        #[optional(filled_text(HANDOVER_TO_CHARS))]
        pub to: Option<String>,
    } beside {
        pub id: String,
    }
}

pub fn hand_over(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    input: HandOverInput,
) -> Result<HandedOverConversation> {
    let mut conversation = conversations::load(tx, cx.actor, &input.id)?;
    let done = handover::hand_over(tx, cx, &mut conversation, &input.reason, input.to.as_deref())?;
    Ok(HandedOverConversation { ok: true, note_id: done.note, assignee: done.assignee })
}
