//! `POST /conversations/{id}/split`: splits a message off into a conversation of its own.

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::MessageId;
use base::security::scopes::Scope;
use db::Tx;
use model::conversations::agent_acts::{self, AgentActKind};
use model::conversations::{self, merges};

use crate::fields::filled_text;
use crate::input::input;
use crate::operations::{
    Access, CONVERSATION_ID_CHARS, Method, Operation, ScopeRule, Tool, answer, parse_input,
};
use crate::wire::SplitConversation;

pub const OPERATION: Operation = Operation {
    name: "split_conversation",
    method: Method::Post,
    path: "/conversations/{id}/split",
    tool: Some(Tool {
        name: "split_conversation",
        about: "Makes one message a conversation of its own.",
        help: "Splits one received or sent message off into a conversation of its own. Use it when a \
                customer asks about something else in the same thread. The customer notices \
                nothing; replies to that message join the new conversation.",
        hints: &[],
        example: r#"{
            "id": "cnv_01kag0z8m4s6y2t9r5w1q3n7xe",
            "messageId": "msg_01kag13z8m4s6y2t9r5w1q3n7x"
        }"#,
        list: None,
        destructive: false,
    }),
    scope: ScopeRule::Always(Scope::Write),
    access: Access::Write,
    idempotent: true,
    title: "Split a message off",
    about: "Moves one received or sent message, with its documents, to a new conversation of the same \
            inbox. Later mail that answers it joins the new one. The last message of a conversation \
            cannot be split off. Splitting it off again returns the same conversation.",
    fields: SplitConversationInput::FIELDS,
    body_optional: false,
    success: 200,
    output: |schemas| schemas.subschema_for::<SplitConversation>(),
    example_input: r#"{ "messageId": "msg_01kag13z8m4s6y2t9r5w1q3n7x" }"#,
    example_output: r#"{ "conversationId": "cnv_01kag14b6d8f0h2k4m6p8r0t2v" }"#,
    run: |tx, cx, input| answer(&split_conversation(tx, cx, parse_input(input)?)?),
};

input! {
    #[derive(Clone, Debug)]
    pub struct SplitConversationInput {
        /// The message that begins the new conversation.
        #[required(filled_text(CONVERSATION_ID_CHARS))]
        pub message_id: String,
    } beside {
        pub id: String,
    }
}

pub fn split_conversation(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    input: SplitConversationInput,
) -> Result<SplitConversation> {
    let conversation = conversations::load(tx, cx.actor, &input.id)?;
    let Some(message) = MessageId::parse(&input.message_id) else {
        return Err(Error::invalid("messageId", "is not a message of this conversation"));
    };
    if let Some(conversation_id) = merges::split_before(tx, cx, &conversation, &message)? {
        return Ok(SplitConversation { conversation_id });
    }
    let new = merges::split(tx, cx, &conversation, &message)?;
    agent_acts::note_made(tx, cx, AgentActKind::Split, &conversation.id, new.id.as_str())?;
    Ok(SplitConversation { conversation_id: new.id })
}
