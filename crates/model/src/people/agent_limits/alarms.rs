//! Tells people of an agent that was paused, or that changed very many conversations.

use base::actor::{Circle, Circles};
use base::app::Cx;
use base::error::Result;
use base::ids::{AgentId, ConversationId, MailboxId, UserId};
use db::Tx;

use super::recent_acts;
use crate::messages::mail_language;
use crate::people::notices::{Notice, notify};
use crate::people::notifications::choices::{self, MailNotice};
use crate::people::notifications::facts::{self, NoticeKind, NoticePlace};
use crate::people::notifications::push;
use crate::people::notifications::settings::NoticeSettings;
use crate::people::notifications::wording;

/// The agent that people are told of.
#[derive(Clone, Copy, Debug)]
pub(super) struct AlarmedAgent<'a> {
    pub id: &'a AgentId,
    pub name: &'a str,
}

/// Tells owners and admins, and whoever chose to be told, each in the way that they chose. The notice leads
/// to a conversation; whoever does not see that one gets a notice without.
pub(super) fn tell_people(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    agent: AlarmedAgent<'_>,
    place: NoticePlace<'_>,
) -> Result<()> {
    if place.circle.is_sandbox() {
        return Ok(());
    }
    for person in &people_to_tell(tx, cx, Some(place.mailbox))? {
        let circles = Circles::of_person(tx, cx.actor.ws, person)?;
        match circles.contains(place.circle) {
            true => facts::note_by(tx, cx, place, NoticeKind::AgentAlarm, person, agent.name)?,
            false => tell_person(tx, cx, agent, person)?,
        }
    }
    Ok(())
}

/// Leads to the conversation that the agent worked on last, wherever it is, if there is any.
pub(super) fn tell_people_of_last(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    agent: AlarmedAgent<'_>,
) -> Result<()> {
    let last = recent_acts::last_changed(tx, cx.actor.ws, agent.id)?;
    let found: Option<(ConversationId, MailboxId, Circle)> = match last {
        Some(id) => tx.opt(
            "SELECT id, mailbox, circle FROM conversations WHERE ws = ?1 AND id = ?2",
            &[&cx.actor.ws, &id],
        )?,
        None => None,
    };
    if let Some((conversation, mailbox, circle)) = found {
        let place = NoticePlace { conversation: &conversation, mailbox: &mailbox, circle: &circle };
        return tell_people(tx, cx, agent, place);
    }
    for person in &people_to_tell(tx, cx, None)? {
        tell_person(tx, cx, agent, person)?;
    }
    Ok(())
}

fn people_to_tell(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: Option<&MailboxId>,
) -> Result<Vec<UserId>> {
    let admins: Vec<(UserId,)> = tx.all(
        "SELECT id FROM users WHERE ws = ?1 AND role IN ('owner', 'admin') ORDER BY created_at, id",
        &[&cx.actor.ws],
    )?;
    let mut people: Vec<UserId> = admins.into_iter().map(|(id,)| id).collect();
    people.extend(choices::choosers(tx, cx.actor.ws, NoticeKind::AgentAlarm, mailbox)?);
    people.sort();
    people.dedup();
    Ok(people)
}

/// Tells a person at once, with a link to the agent. In quiet hours a mail comes in place of what their
/// browsers would show.
fn tell_person(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    agent: AlarmedAgent<'_>,
    person: &UserId,
) -> Result<()> {
    if facts::is_own(cx, person) {
        return Ok(());
    }
    let ws = cx.actor.ws;
    let choice = choices::of(tx, ws, person, NoticeKind::AgentAlarm, None)?;
    let settings = NoticeSettings::of(tx, ws, person)?;
    let reader = mail_language::of_person(tx, ws, person)?;
    let name = settings.shows_names.then_some(agent.name);
    let is_quiet = settings.quiet_until(cx.now).is_some();
    if choice.mail != MailNotice::No || (choice.browser && is_quiet) {
        let mail = reader.run(|| wording::alarm_mail(agent.id, name, cx.public_url));
        notify(tx, cx, person, &Notice { subject: &mail.subject, text: &mail.text })?;
    }
    if choice.browser && !is_quiet {
        let notice = reader.run(|| wording::alarm_browser_notice(agent.id, name));
        for browser in push::browsers(tx, cx, person)? {
            push::send(tx, cx, &browser, &notice)?;
        }
    }
    Ok(())
}
