//! `POST /conversations/{id}/assign`: assigns to a person or an agent, or to nobody.

use base::app::Cx;
use base::assignee::Assignee;
use base::error::{Error, Result};
use base::ids::MemberId;
use base::limits::ASSIGN_TO_CHARS;
use base::security::scopes::Scope;
use db::Tx;
use model::conversations::conversation_state::ConversationState;
use model::conversations::{self, Conversation, agent_acts};
use model::people::members;

use crate::fields::{InputKind, text_in_format};
use crate::input::input;
use crate::operations::{Access, Method, Operation, ScopeRule, Tool, answer, parse_input};
use crate::string_format::StringFormat;
use crate::wire::ChangedAssignee;

pub const OPERATION: Operation = Operation {
    name: "assign_conversation",
    method: Method::Post,
    path: "/conversations/{id}/assign",
    tool: Some(Tool {
        name: "assign_conversation",
        about: "Gives a conversation to a person or agent of list_team.",
        help: "Gives a conversation to a person or agent, to yourself (me) or to nobody \
                (none). Use it to take work, or to hand it to a person who should decide. \
                The customer notices nothing.",
        hints: &[("to", "user:usr_…, agent:agt_…, me or none")],
        example: r#"{
            "id": "cnv_01kag0z8m4s6y2t9r5w1q3n7xe",
            "to": "user:usr_01kag0x2p4r6t8v1w3y5z7a9bc"
        }"#,
        list: None,
        destructive: false,
    }),
    scope: ScopeRule::Always(Scope::Write),
    access: Access::Write,
    idempotent: true,
    title: "Assign",
    about: "Gives a conversation to a person or agent who can see its inbox, or to nobody.",
    fields: AssignConversationInput::FIELDS,
    body_optional: false,
    success: 200,
    output: |schemas| schemas.subschema_for::<ChangedAssignee>(),
    example_input: r#"{ "to": "me" }"#,
    example_output: r#"{
        "ok": true,
        "assignee": { "id": "agt_01kag0y5c0e2r8t4vq3w6n9m1z", "name": "Robo", "type": "agent" }
    }"#,
    run: |tx, cx, input| answer(&assign_conversation(tx, cx, parse_input(input)?)?),
};

/// Whom a conversation goes to.
pub(crate) const ASSIGNEE: InputKind = text_in_format(1, ASSIGN_TO_CHARS, StringFormat::Assignee);

input! {
    #[derive(Clone, Debug)]
    pub struct AssignConversationInput {
        /// user:usr_… or agent:agt_… (ids of list_team or of the conversation's team), me, or none.
        #[required(ASSIGNEE)]
        pub to: String,
    } beside {
        pub id: String,
    }
}

pub fn assign_conversation(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    input: AssignConversationInput,
) -> Result<ChangedAssignee> {
    let mut conversation = conversations::load(tx, cx.actor, &input.id)?;
    let to = find_assignee(tx, cx, &conversation, ("to", &input.to))?;
    if to.as_ref().map(|to| &to.id) != conversation.assignee.as_ref() {
        let before = ConversationState::of(&conversation);
        conversations::assign(tx, cx, &conversation, to.as_ref())?;
        conversation.assignee = to.as_ref().map(|to| to.id.clone());
        agent_acts::note_single_change(tx, cx, &before, &conversation)?;
    }
    Ok(ChangedAssignee { ok: true, assignee: to })
}

/// Who is meant by the value of a field, if they can see the conversation; `None` for nobody.
pub(crate) fn find_assignee(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    (field, to): (&str, &str),
) -> Result<Option<Assignee>> {
    let id = match to {
        "none" => return Ok(None),
        "me" => cx.actor.member(),
        named => named.split_once(':').and_then(|(_, id)| MemberId::parse(id)),
    };
    let found = match id {
        Some(id) => members::in_circle(tx, cx.actor.ws, &conversation.circle, &id)?,
        None => None,
    };
    let found = found.ok_or_else(|| {
        Error::invalid(field, "is not on the team, or cannot see this conversation's inbox")
    })?;
    Ok(Some(found))
}
