//! Narrows a list of conversations by the operators of a search query.

use base::actor::Actor;
use base::email_address::EmailAddress;
use base::error::Result;
use base::ids::MailboxId;
use base::states::View;
use db::Tx;
use search::list::{Filter, RowCondition, RowTest, TaggedWith};
use search::{Condition, Query, fold_name};

use crate::contacts::contact_addresses;
use crate::conversations::{tags, topics};
use crate::fields::field_search;
use crate::mailboxes;
use crate::people::members;

/// Adds the operators of a query to a filter. `false` when nothing can match: an unknown name and one
/// that the actor cannot see are the same.
pub fn narrow(tx: &mut Tx<'_>, actor: &Actor, query: &Query, filter: &mut Filter) -> Result<bool> {
    for operator in &query.operators {
        let negated = operator.negated;
        match (&operator.condition, negated) {
            (Condition::View(view), true) => filter.views.retain(|listed| !is_in(*listed, *view)),
            // Whoever searches everything may ask for what is out of the way.
            (Condition::View(view), false)
                if !View::KEPT.contains(view) && filter.views.len() > 1 =>
            {
                filter.views = vec![*view];
            }
            (Condition::View(view), false) => filter.views.retain(|listed| is_in(*listed, *view)),
            (Condition::Before(at), false) | (Condition::After(at), true) => before(filter, *at),
            (Condition::Before(at), true) | (Condition::After(at), false) => after(filter, *at),
            (condition, _) => match row_condition(tx, actor, condition)? {
                Some(condition) => add(filter, RowTest { condition, negated }),
                None if negated => {}
                None => return Ok(false),
            },
        }
    }
    Ok(!filter.views.is_empty())
}

/// Whether what stands in one list is meant by the name of another: whoever is about to be answered
/// is waited for.
fn is_in(listed: View, meant: View) -> bool {
    listed == meant || (listed, meant) == (View::Leaving, View::Waiting)
}

/// Lets a query for the mail of an address find the mail of the person's other addresses, too.
pub fn widen(tx: &mut Tx<'_>, actor: &Actor, query: &mut Query) -> Result<()> {
    for sender in std::mem::take(&mut query.senders) {
        let address = EmailAddress::new(&sender);
        for other in contact_addresses::of(tx, actor, &address)? {
            if other != address {
                query.match_sender_too(&sender, &other);
            }
        }
    }
    Ok(())
}

/// True when a query names the views itself.
pub fn asks_for_views(query: &Query) -> bool {
    let is_view = |condition: &Condition| matches!(condition, Condition::View(_));
    query.operators.iter().any(|operator| !operator.negated && is_view(&operator.condition))
}

fn before(filter: &mut Filter, at: i64) {
    filter.until = Some(filter.until.map_or(at - 1, |until| until.min(at - 1)));
}

fn after(filter: &mut Filter, at: i64) {
    filter.since = Some(filter.since.map_or(at, |since| since.max(at)));
}

/// A condition of which the list has an index becomes part of the list, the others are tested.
fn add(filter: &mut Filter, test: RowTest) {
    if test.negated {
        filter.tests.push(test);
        return;
    }
    match test.condition {
        RowCondition::Mailboxes(ids) if filter.mailbox.is_none() && ids.len() == 1 => {
            filter.mailbox = ids.into_iter().next();
        }
        RowCondition::Assignees(ids) if filter.assignee.is_none() && ids.len() == 1 => {
            filter.assignee = ids.into_iter().next();
        }
        RowCondition::Tagged(tag) if filter.tag.is_none() => filter.tag = Some(tag),
        RowCondition::Topic(id) if filter.topic.is_none() => filter.topic = Some(id),
        RowCondition::Urgency(urgency) if filter.urgency.is_none() => {
            filter.urgency = Some(urgency);
        }
        condition => filter.tests.push(RowTest { condition, negated: false }),
    }
}

/// `None` when there is nothing of this name.
fn row_condition(
    tx: &mut Tx<'_>,
    actor: &Actor,
    condition: &Condition,
) -> Result<Option<RowCondition>> {
    Ok(match condition {
        Condition::Mailbox(name) => {
            let ids = mailboxes_named(tx, actor, name)?;
            (!ids.is_empty()).then_some(RowCondition::Mailboxes(ids))
        }
        Condition::Tag(name) => match tags::visible(tx, actor, name)? {
            ids if ids.is_empty() => None,
            ids => Some(RowCondition::Tagged(TaggedWith::any_of(tx, actor.ws, ids)?)),
        },
        Condition::Assignee(name) => {
            let ids = members_named(tx, actor, name)?;
            (!ids.is_empty()).then_some(RowCondition::Assignees(ids))
        }
        Condition::Topic(name) => {
            topics::find_by_name(tx, actor.ws, name)?.map(|topic| RowCondition::Topic(topic.id))
        }
        Condition::Urgency(urgency) => Some(RowCondition::Urgency(*urgency)),
        Condition::Field(query) => {
            field_search::test_of(tx, actor, query)?.map(RowCondition::Field)
        }
        Condition::Unread => actor.member().map(RowCondition::UnreadBy),
        Condition::Unassigned => Some(RowCondition::Assignees(vec![String::new()])),
        Condition::Held => Some(RowCondition::Held),
        Condition::Secure => Some(RowCondition::Secure),
        Condition::Draft => Some(RowCondition::HasDraft),
        Condition::Pinned => actor.member().map(RowCondition::PinnedBy),
        Condition::Followed => actor.member().map(RowCondition::FollowedBy),
        Condition::View(_) | Condition::Before(_) | Condition::After(_) => None,
    })
}

/// Visible inboxes whose name or address begins so.
fn mailboxes_named(tx: &mut Tx<'_>, actor: &Actor, name: &str) -> Result<Vec<MailboxId>> {
    let wanted = fold_name(name);
    let all = mailboxes::all_seen_by(tx, actor)?;
    let exact = all.iter().filter(|one| fold_name(&one.name) == wanted || one.id.as_str() == name);
    let exact: Vec<MailboxId> = exact.map(|one| one.id.clone()).collect();
    if !exact.is_empty() {
        return Ok(exact);
    }
    let begins = all.into_iter().filter(|one| {
        fold_name(&one.name).starts_with(&wanted) || one.address.as_str().starts_with(&wanted)
    });
    Ok(begins.map(|one| one.id).collect())
}

/// The ids of people and agents of whose name a part begins so; empty for nobody.
fn members_named(tx: &mut Tx<'_>, actor: &Actor, name: &str) -> Result<Vec<String>> {
    let wanted = fold_name(name);
    match wanted.as_str() {
        "me" => return Ok(actor.member().iter().map(|me| me.as_str().to_owned()).collect()),
        "nobody" | "none" | "unassigned" => return Ok(vec![String::new()]),
        _ => {}
    }
    let mut ids = Vec::new();
    for circle in actor.circles.distinct() {
        let team = members::team(tx, actor.ws, circle)?;
        for member in team.people.into_iter().chain(team.agents) {
            let folded = fold_name(&member.name);
            let is_named = folded.starts_with(&wanted)
                || folded.split_whitespace().any(|part| part.starts_with(&wanted));
            let id = member.id.split_once(':').map_or(member.id.as_str(), |(_, id)| id).to_owned();
            if is_named && !ids.contains(&id) {
                ids.push(id);
            }
        }
    }
    Ok(ids)
}
