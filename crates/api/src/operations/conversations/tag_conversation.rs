//! `POST /conversations/{id}/tags`: adds and removes tags.

use base::app::Cx;
use base::error::Result;
use base::limits::{TAG_CHARS, TAGS_PER_CALL};
use base::security::scopes::Scope;
use db::Tx;
use model::conversations::conversation_state::ConversationState;
use model::conversations::{self, agent_acts, tags};

use crate::fields::{InputKind, filled_text, list};
use crate::input::input;
use crate::operations::{Access, Method, Operation, ScopeRule, Tool, answer, parse_input};
use crate::wire::ChangedTags;

const NAMES: InputKind = list(0, TAGS_PER_CALL, &filled_text(TAG_CHARS));

pub const OPERATION: Operation = Operation {
    name: "tag_conversation",
    method: Method::Post,
    path: "/conversations/{id}/tags",
    tool: Some(Tool {
        name: "tag_conversation",
        about: "Adds and removes tags; an unknown name is a new tag.",
        help: "Adds and removes tags. Use it to sort; prefer a tag of list_tags, for an \
                unknown name becomes a new tag of the whole team. The customer notices \
                nothing.",
        hints: &[],
        example: r#"{
            "id": "cnv_01kag0z8m4s6y2t9r5w1q3n7xe",
            "add": ["shipping"],
            "remove": ["new"]
        }"#,
        list: None,
        destructive: false,
    }),
    scope: ScopeRule::Always(Scope::Write),
    access: Access::Write,
    idempotent: true,
    title: "Add and remove tags",
    about: "Adds and removes tags. Unknown names are created; a tag that is there is not added \
            twice; upper and lower case are the same tag.",
    fields: TagConversationInput::FIELDS,
    body_optional: true,
    success: 200,
    output: |schemas| schemas.subschema_for::<ChangedTags>(),
    example_input: r#"{ "add": ["shipping"], "remove": ["new"] }"#,
    example_output: r#"{ "ok": true, "tags": ["shipping"] }"#,
    run: |tx, cx, input| answer(&tag_conversation(tx, cx, parse_input(input)?)?),
};

input! {
    #[derive(Clone, Debug)]
    pub struct TagConversationInput {
        /// Names of tags to add.
        #[optional(NAMES)]
        pub add: Vec<String> = [],
        /// Names of tags to remove.
        #[optional(NAMES)]
        pub remove: Vec<String> = [],
    } beside {
        pub id: String,
    }
}

pub fn tag_conversation(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    input: TagConversationInput,
) -> Result<ChangedTags> {
    let mut conversation = conversations::load(tx, cx.actor, &input.id)?;
    let before = ConversationState::of(&conversation);
    let (add, remove) = (tags::sort_names(&input.add), tags::sort_names(&input.remove));
    tags::change(tx, cx, &mut conversation, &add, &remove)?;
    agent_acts::note_single_change(tx, cx, &before, &conversation)?;
    Ok(ChangedTags { ok: true, tags: conversation.tags.0 })
}
