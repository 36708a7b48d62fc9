//! The lines of a timeline that tell what was done.

use actions::conversations::open_conversation::OpenConversation;
use actions::conversations::timeline::EventEntry;
use model::conversations::timeline::{StoredTimelineEvent, TimelineEvent};

use crate::layout::wording::{Avatar, DisplayTime, TimeFormat};
use crate::pages::conversation::event_words::{EventWords, actor, words};

pub struct EventView {
    pub avatar: Avatar,
    pub actor: String,
    pub words: EventWords,
    pub time: DisplayTime,
    /// The other conversation that it leads to.
    pub leads_to: Option<String>,
    /// The form that undoes it: its address, and the conversation that is named in it.
    pub undo: Option<(String, String)>,
}

impl EventView {
    pub fn of(
        event: &EventEntry,
        open: &OpenConversation,
        agents: &[&str],
        times: &TimeFormat,
    ) -> EventView {
        let name = &event.actor_name;
        let avatar = match name.as_str() {
            "Mailroom" => Avatar::mailroom(),
            name if agents.contains(&name) => Avatar::agent(name),
            name => Avatar::person(name),
        };
        EventView {
            avatar,
            actor: actor(name),
            words: words(&event.event(), times),
            time: times.long(event.at),
            leads_to: leads_to(&event.event()),
            undo: undo(&event.event(), open),
        }
    }
}

/// The conversation that a line tells of, where it is another one.
fn leads_to(event: &StoredTimelineEvent) -> Option<String> {
    match event {
        StoredTimelineEvent::Known(
            TimelineEvent::MergeUndone { conversation_id }
            | TimelineEvent::Split { conversation_id, .. }
            | TimelineEvent::SplitFrom { conversation_id },
        ) => Some(format!("/conversations/{conversation_id}")),
        _ => None,
    }
}

/// The form that undoes what a line tells, and whom it concerns.
fn undo(event: &StoredTimelineEvent, open: &OpenConversation) -> Option<(String, String)> {
    match event {
        StoredTimelineEvent::Known(TimelineEvent::Merged { conversation_id, .. })
            if open.merged.contains(conversation_id) =>
        {
            Some(("unmerge".into(), conversation_id.to_string()))
        }
        _ => None,
    }
}
