//! `POST /conversations/{id}/tags`: adds and removes tags.

use base::app::Cx;
use base::error::Result;
use base::limits::{TAG_CHARS, TAGS_PER_CALL};
use base::security::scopes::Scope;
use db::Tx;
use model::conversations;
use model::conversations::tags::{self, TagName};
use model::conversations::timeline::{self, TimelineEvent};

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
        about: "Adds and removes tags. Use it to sort; prefer a tag of list_tags, for an \
                unknown name becomes a new tag of the whole team. The customer notices \
                nothing.",
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

/// Removes first, so that a name in both lists ends up on the conversation. Tags are taken in the
/// order of their names, so that two callers never wait for each other in a circle.
pub fn tag_conversation(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    input: TagConversationInput,
) -> Result<ChangedTags> {
    let mut conversation = conversations::load(tx, cx.actor, &input.id)?;
    let mut removed = Vec::new();
    for tag in sort_names(&input.remove) {
        removed.extend(tags::take_off(tx, cx, &mut conversation, &tag)?);
    }
    let mut added = Vec::new();
    for tag in sort_names(&input.add) {
        added.extend(tags::put_on(tx, cx, &mut conversation, &tag)?);
    }
    if !added.is_empty() || !removed.is_empty() {
        tags::save_names(tx, cx, &conversation)?;
        timeline::record(tx, cx, &conversation.id, &TimelineEvent::Tagged { added, removed })?;
    }
    Ok(ChangedTags { ok: true, tags: conversation.tags.0 })
}

fn sort_names(names: &[String]) -> Vec<TagName> {
    let mut tags: Vec<TagName> = names.iter().map(|name| TagName::new(name)).collect();
    tags.sort_by(|a, b| a.folded.cmp(&b.folded));
    tags.dedup_by(|a, b| a.folded == b.folded);
    tags
}
