//! `POST /conversations/{id}/merge`: merges a conversation into another one.

use base::app::Cx;
use base::error::{Error, Result};
use base::security::scopes::Scope;
use db::Tx;
use model::conversations::agent_acts::{self, AgentActKind};
use model::conversations::{self, merges};

use crate::fields::filled_text;
use crate::input::input;
use crate::operations::{
    Access, CONVERSATION_ID_CHARS, Method, Operation, ScopeRule, Tool, answer, parse_input,
};
use crate::wire::MergedConversation;

pub const OPERATION: Operation = Operation {
    name: "merge_conversations",
    method: Method::Post,
    path: "/conversations/{id}/merge",
    tool: Some(Tool {
        name: "merge_conversations",
        about: "Merges a conversation into another of one customer and inbox.",
        help: "Merges a conversation into another one of the same inbox, with its messages, notes, \
                documents and tags. Use it when a customer wrote twice about one matter. The \
                customer notices nothing; the merged id leads to the other from now on, and a \
                person can undo it.",
        hints: &[],
        example: r#"{
            "id": "cnv_01kag0z8m4s6y2t9r5w1q3n7xe",
            "into": "cnv_01kag0y1c9d4f6h8k2m5p7r9tv"
        }"#,
        list: None,
        destructive: false,
    }),
    scope: ScopeRule::Always(Scope::Write),
    access: Access::Write,
    idempotent: true,
    title: "Merge two conversations",
    about: "Merges a conversation into another one of the same inbox. Messages, notes, documents, \
            document requests, bookings and tags go over; the id leads to the other conversation \
            from now on. Held conversations, spam and trash cannot be merged. Merging it there \
            again changes nothing.",
    fields: MergeConversationsInput::FIELDS,
    body_optional: false,
    success: 200,
    output: |schemas| schemas.subschema_for::<MergedConversation>(),
    example_input: r#"{ "into": "cnv_01kag0y1c9d4f6h8k2m5p7r9tv" }"#,
    example_output: r#"{ "ok": true, "conversationId": "cnv_01kag0y1c9d4f6h8k2m5p7r9tv" }"#,
    run: |tx, cx, input| answer(&merge_conversations(tx, cx, parse_input(input)?)?),
};

input! {
    #[derive(Clone, Debug)]
    pub struct MergeConversationsInput {
        /// The conversation that gets the messages.
        #[required(filled_text(CONVERSATION_ID_CHARS))]
        pub into: String,
    } beside {
        pub id: String,
    }
}

pub fn merge_conversations(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    input: MergeConversationsInput,
) -> Result<MergedConversation> {
    let itself = conversations::load_itself(tx, cx.actor, &input.id)?;
    let mut source = conversations::load(tx, cx.actor, &input.id)?;
    let mut target = match conversations::load(tx, cx.actor, &input.into) {
        Err(Error::NotFound(_)) => {
            return Err(Error::invalid("into", "is not a conversation that you can see"));
        }
        found => found?,
    };
    let is_done = itself.merged_into.is_some() && source.id == target.id;
    if !is_done {
        merges::merge(tx, cx, &mut source, &mut target)?;
        let (kind, into) = (AgentActKind::Merged, target.id.as_str());
        agent_acts::note_made(tx, cx, kind, &source.id, into)?;
    }
    Ok(MergedConversation { ok: true, conversation_id: target.id })
}
