//! `POST /conversations/batch`: changes many conversations at once, all or a list of what failed.

use std::collections::BTreeSet;

use base::app::Cx;
use base::assignee::Assignee;
use base::concurrency::call_progress;
use base::error::{Error, Result};
use base::ids::{MemberId, UndoId};
use base::limits::{BATCH_CONVERSATIONS, TAG_CHARS, TAGS_PER_CALL, TOPIC_CHARS};
use base::security::scopes::Scope;
use base::states::Status;
use base::time::Moment;
use db::Tx;
use model::conversations::conversation_state::ConversationState;
use model::conversations::sorting::{self, SortingDecision};
use model::conversations::tags::{self, TagName};
use model::conversations::topics::{self, Topic};
use model::conversations::{self, Conversation, agent_acts};
use model::people::agent_limits::changes::ConversationAct;

use crate::fields::{InputKind, MOMENT, filled_text, list, one_of};
use crate::input::input;
use crate::operations::conversations::assign_conversation::{ASSIGNEE, find_assignee};
use crate::operations::conversations::set_sorting::present_or_null;
use crate::operations::{
    Access, CONVERSATION_ID_CHARS, Method, Operation, ScopeRule, Tool, answer, parse_input,
};
use crate::wire::{ChangedConversations, FailedConversation};

const IDS: InputKind = list(1, BATCH_CONVERSATIONS, &filled_text(CONVERSATION_ID_CHARS));
const NAMES: InputKind = list(0, TAGS_PER_CALL, &filled_text(TAG_CHARS));
const TOPIC: InputKind = InputKind::Nullable(&filled_text(TOPIC_CHARS));
const SNOOZE: InputKind = InputKind::Nullable(&MOMENT);

pub const OPERATION: Operation = Operation {
    name: "update_conversations",
    method: Method::Post,
    path: "/conversations/batch",
    tool: Some(Tool {
        name: "update_conversations",
        about: "Changes up to 100 conversations; undo takes it back. Best for triage.",
        help: "Changes up to 100 conversations at once and answers which changed, which failed and why. Use \
               it for triage instead of one call for each conversation; the customers notice nothing. \
               undoId takes all of it back with the tool undo, for a day.",
        hints: &[
            ("assignee", "user:usr_…, agent:agt_…, me or none"),
            ("snoozeUntil", "a time; null ends it"),
        ],
        example: r#"{
            "ids": ["cnv_01kag0z8m4s6y2t9r5w1q3n7xe", "cnv_01kag0y1c9d4f6h8k2m5p7r9tv"],
            "status": "closed",
            "addTags": ["newsletter"]
        }"#,
        list: None,
        destructive: false,
    }),
    scope: ScopeRule::Always(Scope::Write),
    access: Access::Write,
    idempotent: false,
    title: "Change many conversations",
    about: "Changes 1 to 100 conversations in one transaction: any of status, tags, assignee, topic and \
            snooze. `changed` are those that are as asked now, `failed` those that stay wholly as they \
            were, each with its reason. `undoId` undoes all of it for a day; it is null when nothing changed.",
    fields: UpdateConversationsInput::FIELDS,
    body_optional: false,
    success: 200,
    output: |schemas| schemas.subschema_for::<ChangedConversations>(),
    example_input: r#"{
        "ids": ["cnv_01kag0z8m4s6y2t9r5w1q3n7xe"],
        "status": "closed",
        "addTags": ["newsletter"]
    }"#,
    example_output: r#"{
        "changed": ["cnv_01kag0z8m4s6y2t9r5w1q3n7xe"],
        "failed": [],
        "undoId": "und_01kag14b6d8f0h2k4m6p8r0t2v"
    }"#,
    run: |tx, cx, input| answer(&update_conversations(tx, cx, parse_input(input)?)?),
};

input! {
    #[derive(Clone, Debug, Default)]
    pub struct UpdateConversationsInput {
        /// Ids of conversations, 1 to 100.
        #[required(IDS)]
        pub ids: Vec<String>,
        /// The status to set; a change ends a snooze.
        #[optional(one_of(Status::NAMES))]
        pub status: Option<Status>,
        /// Names of tags to add.
        #[optional(NAMES)]
        pub add_tags: Vec<String> = [],
        /// Names of tags to remove.
        #[optional(NAMES)]
        pub remove_tags: Vec<String> = [],
        /// user:usr_… or agent:agt_…, me, or none.
        #[optional(ASSIGNEE)]
        pub assignee: Option<String>,
        /// The name of a topic, or null for none of these.
        #[optional(TOPIC)]
        #[serde(deserialize_with = "present_or_null")]
        pub topic: Option<Option<String>>,
        /// Until when to put open conversations away, such as 2026-11-30T09:00:00Z; null ends a snooze.
        #[optional(SNOOZE)]
        #[serde(deserialize_with = "present_or_null")]
        pub snooze_until: Option<Option<Moment>>,
    }
}

/// What is done to each conversation.
struct Changes {
    status: Option<Status>,
    add: Vec<TagName>,
    remove: Vec<TagName>,
    assignee: Option<String>,
    topic: Option<Option<Topic>>,
    snooze: Option<Option<i64>>,
}

pub fn update_conversations(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    input: UpdateConversationsInput,
) -> Result<ChangedConversations> {
    // In one order, so that two callers never wait for each other in a circle.
    let ids: BTreeSet<String> = input.ids.iter().cloned().collect();
    let changes = Changes::read(tx, cx, input)?;
    let act = UndoId::new(cx.ids, cx.now);
    let (mut changed, mut failed, mut steps) = (Vec::new(), Vec::new(), 0);
    let total = ids.len();
    for (done, id) in ids.into_iter().enumerate() {
        call_progress::step(done, total)?;
        match apply(tx, cx, &changes, &id, (&act, steps)) {
            Ok(is_new) => {
                steps += i64::from(is_new);
                changed.push(id);
            }
            // Nothing of it was changed: what can be refused is looked at before.
            // A key that is paused on the way stays paused, so what came before it is kept.
            Err(
                error @ (Error::NotFound(_)
                | Error::Invalid(_)
                | Error::Conflict(_)
                | Error::PolicyRefused { .. }
                | Error::AgentPaused),
            ) => {
                failed.push(FailedConversation { id, error: error.to_string() });
            }
            Err(error) => return Err(error),
        }
    }
    Ok(ChangedConversations { changed, failed, undo_id: (steps > 0).then_some(act) })
}

impl Changes {
    /// What is wrong for every conversation is refused as a whole.
    fn read(tx: &mut Tx<'_>, cx: &Cx<'_>, input: UpdateConversationsInput) -> Result<Changes> {
        let says_nothing = input.status.is_none()
            && input.add_tags.is_empty()
            && input.remove_tags.is_empty()
            && input.assignee.is_none()
            && input.topic.is_none()
            && input.snooze_until.is_none();
        if says_nothing {
            let sentence = "is required unless another change is given";
            return Err(Error::invalid("status", sentence));
        }
        let snooze = input.snooze_until.map(|until| until.map(|until| until.0));
        if let Some(Some(until)) = snooze {
            if until <= cx.now {
                return Err(Error::invalid("snoozeUntil", "must be in the future"));
            }
            if input.status.is_some_and(|status| status != Status::Open) {
                let sentence = "only an open conversation can be snoozed";
                return Err(Error::invalid("snoozeUntil", sentence));
            }
        }
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
        Ok(Changes {
            status: input.status,
            add: tags::sort_names(&input.add_tags),
            remove: tags::sort_names(&input.remove_tags),
            assignee: input.assignee,
            topic,
            snooze,
        })
    }

    /// Whom it goes to, where that changes.
    fn next_assignee(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx<'_>,
        conversation: &Conversation,
    ) -> Result<Option<Option<Assignee>>> {
        let Some(to) = &self.assignee else { return Ok(None) };
        let to = find_assignee(tx, cx, conversation, ("assignee", to))?;
        let is_so = to.as_ref().map(|to| &to.id) == conversation.assignee.as_ref();
        Ok((!is_so).then_some(to))
    }

    /// What is left to do to a conversation, which may stand so already in parts.
    fn left_for(&self, conversation: &Conversation) -> Changes {
        let has = |tag: &TagName| {
            conversation.tags.iter().any(|name| TagName::new(name).folded == tag.folded)
        };
        let is_added = |tag: &TagName| self.add.iter().any(|added| added.folded == tag.folded);
        let is_other_topic = |topic: &Option<Topic>| {
            let id = topic.as_ref().map(|topic| &topic.id);
            let is_decided = sorting::is_by_member(conversation.topic_by.as_deref());
            !is_decided || conversation.topic_id.as_ref() != id
        };
        Changes {
            status: self.status.filter(|status| *status != conversation.status),
            add: self.add.iter().filter(|tag| !has(tag)).cloned().collect(),
            remove: self.remove.iter().filter(|tag| has(tag) && !is_added(tag)).cloned().collect(),
            assignee: self.assignee.clone(),
            topic: self.topic.clone().filter(is_other_topic),
            snooze: self.snooze.filter(|until| *until != conversation.snoozed_until),
        }
    }

    /// True where nothing but the assignee changes, if that does.
    fn is_of_assignee_alone(&self) -> bool {
        self.status.is_none()
            && self.add.is_empty()
            && self.remove.is_empty()
            && self.topic.is_none()
            && self.snooze.is_none()
    }

    /// What it is to the limits of an agent: giving a conversation to a person is handing it over.
    fn kind(&self, assignee: Option<&Option<Assignee>>) -> ConversationAct {
        let to_agent = |to: &Option<Assignee>| {
            to.as_ref().is_some_and(|to| matches!(to.id, MemberId::Agent(_)))
        };
        match self.is_of_assignee_alone() && !assignee.is_some_and(to_agent) {
            true => ConversationAct::HandOver,
            false => ConversationAct::Change,
        }
    }

    /// Why a conversation cannot be changed so.
    fn refusal(&self, conversation: &Conversation) -> Option<Error> {
        if conversation.held && self.status == Some(Status::Closed) {
            let sentence = "is held; held mail is closed one by one, with set_status";
            return Some(Error::invalid("status", sentence));
        }
        let becomes = self.status.unwrap_or(conversation.status);
        (matches!(self.snooze, Some(Some(_))) && becomes != Status::Open)
            .then(|| Error::invalid("status", "only an open conversation can be snoozed"))
    }
}

/// Changes one conversation, and keeps how it stood. False when it was so already; that counts as no change.
fn apply(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    changes: &Changes,
    id: &str,
    place: (&UndoId, i64),
) -> Result<bool> {
    let mut conversation = conversations::load(tx, cx.actor, id)?;
    if let Some(refusal) = changes.refusal(&conversation) {
        return Err(refusal);
    }
    let assignee = changes.next_assignee(tx, cx, &conversation)?;
    let changes = changes.left_for(&conversation);
    if assignee.is_none() && changes.is_of_assignee_alone() {
        return Ok(false);
    }
    conversations::admit_change(tx, cx, &conversation, changes.kind(assignee.as_ref()))?;
    let before = ConversationState::of(&conversation);
    tags::change(tx, cx, &mut conversation, &changes.add, &changes.remove)?;
    if changes.topic.is_some() {
        let decision = SortingDecision { topic: changes.topic.clone(), urgency: None };
        sorting::decide(tx, cx, &mut conversation, &decision)?;
    }
    if let Some(to) = assignee {
        conversations::assign(tx, cx, &conversation, to.as_ref())?;
        conversation.assignee = to.map(|to| to.id);
    }
    if let Some(status) = changes.status {
        conversations::set_status(tx, cx, &mut conversation, status)?;
    }
    match changes.snooze {
        Some(Some(until)) if conversation.snoozed_until != Some(until) => {
            conversations::snooze(tx, cx, &mut conversation, until)?;
        }
        Some(None) if conversation.snoozed_until.is_some() => {
            let status = conversation.status;
            conversations::put_back(tx, cx, &mut conversation, status, None)?;
        }
        _ => {}
    }
    let after = conversations::load_itself(tx, cx.actor, conversation.id.as_str())?;
    agent_acts::note_change(tx, cx, place, &before, &after)
}
