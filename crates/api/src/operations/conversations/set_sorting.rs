//! `POST /conversations/{id}/sorting`: corrects topic and urgency.

use base::app::Cx;
use base::error::{Error, Result};
use base::limits::TOPIC_CHARS;
use base::security::scopes::Scope;
use base::states::Urgency;
use db::Tx;
use model::conversations::conversation_state::ConversationState;
use model::conversations::sorting::SortingDecision;
use model::conversations::{self, agent_acts, sorting, topics};
use serde::{Deserialize, Deserializer};

use crate::fields::{InputKind, filled_text, one_of};
use crate::input::input;
use crate::operations::{Access, Method, Operation, ScopeRule, Tool, answer, parse_input};
use crate::wire::Done;

/// The name of a topic, or null.
const TOPIC: InputKind = InputKind::Nullable(&filled_text(TOPIC_CHARS));

pub const OPERATION: Operation = Operation {
    name: "set_sorting",
    method: Method::Post,
    path: "/conversations/{id}/sorting",
    tool: Some(Tool {
        name: "set_sorting",
        about: "Corrects topic (of list_topics) or urgency.",
        help: "Says what a conversation is about and how urgent it is. Use it when that is \
                missing or wrong; topic is a name of list_topics, or null when none fits. It \
                stays, and the sorting helper learns from it. The customer notices nothing.",
        hints: &[],
        example: r#"{
            "id": "cnv_01kag0z8m4s6y2t9r5w1q3n7xe",
            "urgency": "high"
        }"#,
        list: None,
        destructive: false,
    }),
    scope: ScopeRule::Always(Scope::Write),
    access: Access::Write,
    idempotent: true,
    title: "Set topic and urgency",
    about: "Corrects topic, urgency or both; the sorting helper never overwrites them afterwards, \
            and learns from them. Saying the same again changes nothing.",
    fields: SetSortingInput::FIELDS,
    body_optional: false,
    success: 200,
    output: |schemas| schemas.subschema_for::<Done>(),
    example_input: r#"{ "urgency": "high" }"#,
    example_output: r#"{ "ok": true }"#,
    run: |tx, cx, input| answer(&set_sorting(tx, cx, parse_input(input)?)?),
};

input! {
    #[derive(Clone, Debug, Default)]
    pub struct SetSortingInput {
        /// The name of a topic, or null for none of these.
        #[optional(TOPIC)]
        #[serde(deserialize_with = "present_or_null")]
        pub topic: Option<Option<String>>,
        /// How soon somebody should look at it.
        #[optional(one_of(Urgency::NAMES))]
        pub urgency: Option<Urgency>,
    } beside {
        pub id: String,
    }
}

/// A field that is there, though it may be null: `Some(None)` is "none of these".
pub(crate) fn present_or_null<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    value: D,
) -> std::result::Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(value).map(Some)
}

pub fn set_sorting(tx: &mut Tx<'_>, cx: &Cx<'_>, input: SetSortingInput) -> Result<Done> {
    if input.topic.is_none() && input.urgency.is_none() {
        return Err(Error::invalid("topic", "is required unless urgency is given"));
    }
    let mut conversation = conversations::load(tx, cx.actor, &input.id)?;
    let topic = match input.topic {
        None => None,
        Some(None) => Some(None),
        Some(Some(name)) => {
            let found = topics::find_by_name(tx, cx.actor.ws, &name)?;
            let unknown =
                || Error::invalid("topic", "is not the name of a topic (see GET /topics)");
            Some(Some(found.ok_or_else(unknown)?))
        }
    };
    let decision = SortingDecision { topic, urgency: input.urgency };
    let before = ConversationState::of(&conversation);
    sorting::decide(tx, cx, &mut conversation, &decision)?;
    agent_acts::note_single_change(tx, cx, &before, &conversation)?;
    Ok(Done::OK)
}
