//! Handing a conversation over to people: an agent says why, and a person goes on.

use base::app::Cx;
use base::assignee::Assignee;
use base::error::{Error, Result};
use base::ids::{MemberId, NoteId, TeamId, UserId};
use base::states::Status;
use db::Tx;

use crate::conversations::conversation_state::ConversationState;
use crate::conversations::timeline::{self, TimelineEvent};
use crate::conversations::{self, Conversation, agent_acts, handed_over, notes};
use crate::people::notifications::facts::{self, NoticeKind};
use crate::people::{members, teams};

const NOBODY: &str = "is not a person or a team that can see this conversation";

/// Who is to go on.
enum NextHolder {
    Person(Assignee),
    Team(teams::TeamName, Vec<UserId>),
}

/// What became of it.
pub struct Handover {
    pub note: NoteId,
    pub assignee: Option<Assignee>,
}

/// Gives a conversation to a person, or leaves it to whoever takes it, says why in a note, and marks it for
/// people: it is open, and no agent has it.
pub fn hand_over(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    reason: &str,
    to: Option<&str>,
) -> Result<Handover> {
    let to = to.map(|to| next_holder(tx, cx, conversation, to)).transpose()?;
    let before = ConversationState::of(conversation);
    let was_closed = conversation.status == Status::Closed;
    if conversation.status != Status::Open || conversation.snoozed_until.is_some() {
        conversations::put_back(tx, cx, conversation, Status::Open, None)?;
    }
    if was_closed {
        conversations::note_reopened(tx, cx, conversation)?;
    }
    let of_agent = matches!(conversation.assignee, Some(MemberId::Agent(_)));
    let assignee = match &to {
        Some(NextHolder::Person(person)) => Some(person.clone()),
        Some(NextHolder::Team(..)) => None,
        None if of_agent => None,
        None => conversation.assignee_named(tx, cx.actor.ws)?,
    };
    let assigned = assignee.as_ref().map(|to| to.id.clone());
    if assigned != conversation.assignee {
        conversations::assign(tx, cx, conversation, assignee.as_ref())?;
        conversation.assignee = assigned;
    }
    agent_acts::note_single_change(tx, cx, &before, conversation)?;
    handed_over::mark(tx, cx, &conversation.id)?;
    let name = match &to {
        Some(NextHolder::Person(person)) => Some(person.name.clone()),
        Some(NextHolder::Team(team, _)) => Some(team.name.clone()),
        None => None,
    };
    timeline::record(tx, cx, &conversation.id, &TimelineEvent::HandedOver { to: name })?;
    let note = notes::add(tx, cx, conversation, reason)?.id;
    if let Some(NextHolder::Team(_, people)) = &to {
        for person in people {
            facts::note(tx, cx, conversation.notice_place(), NoticeKind::Assigned, person)?;
        }
    }
    Ok(Handover { note, assignee })
}

/// A person or team by id or by name, if they can see the conversation.
fn next_holder(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    to: &str,
) -> Result<NextHolder> {
    let nobody = || Error::invalid("to", NOBODY);
    let named = to.split_once(':').map_or(to, |(_, id)| id);
    if let Some(id) = UserId::parse(named) {
        let id = MemberId::User(id);
        let found = members::in_circle(tx, cx.actor.ws, &conversation.circle, &id)?;
        return found.map(NextHolder::Person).ok_or_else(nobody);
    }
    let wanted = search::fold_name(to.trim());
    let people = members::people_in(tx, cx.actor.ws, &conversation.circle)?;
    if TeamId::parse(named).is_none() {
        let named = people.iter().find(|person| search::fold_name(&person.name) == wanted);
        let first_name = |name: &str| search::fold_name(name.split(' ').next().unwrap_or(""));
        let mut by_first_name = people.iter().filter(|person| first_name(&person.name) == wanted);
        let only = by_first_name.next().filter(|_| by_first_name.next().is_none());
        if let Some(person) = named.or(only) {
            let id = MemberId::User(person.id.clone());
            return Ok(NextHolder::Person(Assignee::new(id, person.name.clone())));
        }
    }
    let team = teams::all(tx, cx.actor.ws)?
        .into_iter()
        .find(|team| team.id.as_str() == named || search::fold_name(&team.name) == wanted)
        .ok_or_else(nobody)?;
    let members = teams::people(tx, cx.actor.ws, &team.id)?;
    let sees = |id: &UserId| people.iter().any(|person| person.id == *id);
    let seeing: Vec<UserId> = members.into_iter().map(|(id, _)| id).filter(sees).collect();
    match seeing.is_empty() {
        true => Err(nobody()),
        false => Ok(NextHolder::Team(team, seeing)),
    }
}
