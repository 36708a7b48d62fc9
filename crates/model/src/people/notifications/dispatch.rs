//! Tells a person what is due: looks again at what they may see and still have to be told of, puts together
//! what belongs together, and sends it by mail and to their browsers.

use base::actor::{Actor, Circle, Circles, Principal, Role};
use base::app::Cx;
use base::error::Result;
use base::ids::{ConversationId, MailboxId, MemberId, UserId};
use base::limits::{MINUTE_MS, NOTICE_MAIL_AGAIN_MS, NOTICES_PER_MINUTE, NOTICES_TOGETHER_MS};
use base::states::Removal;
use db::{Arg, Tx};

use crate::mailboxes::inbox_access;
use crate::messages::mail_language;
use crate::people::notices::{Notice, notify, notify_about};
use crate::people::notifications::choices::{self, MailNotice, NoticeKind};
use crate::people::notifications::facts::NoticeChannel;
use crate::people::notifications::notified_conversation::{NoticeFact, NotifiedConversation};
use crate::people::notifications::push::{self, SubscribedBrowser};
use crate::people::notifications::settings::NoticeSettings;
use crate::people::notifications::wording::{self, NoticeMail};

/// Facts of one person that are read at once; what is due beyond them follows.
const FACTS_READ: i64 = 1_000;

/// Writes the mail about a draft for a person who approves by mail; none for others.
pub type DraftMailWriter = fn(
    &mut Tx<'_>,
    &Cx<'_>,
    &UserId,
    &NotifiedConversation,
    &NoticeSettings,
) -> Result<Option<NoticeMail>>;

/// Tells a person everything that is due. `is_open` says whether a conversation is open in front of them.
pub fn tell_due(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    person: &UserId,
    is_open: &dyn Fn(&ConversationId) -> bool,
    draft_mail: DraftMailWriter,
) -> Result<bool> {
    let ws = cx.actor.ws;
    let Some(reader) = actor_of(tx, cx, person)? else {
        tx.exec("DELETE FROM notice_facts WHERE ws = ?1 AND person = ?2", &[&ws, person])?;
        return Ok(true);
    };
    let settings = NoticeSettings::of(tx, ws, person)?;
    if let Some(until) = settings.quiet_until(cx.now) {
        let held = hold_back(tx, cx, person, until)?;
        return Ok(held > 0);
    }
    let due = due_facts(tx, cx, person)?;
    if due.is_empty() {
        return Ok(false);
    }
    let mut told: Vec<NotifiedConversation> = Vec::new();
    for fact in due {
        match still_counts(tx, cx, (&reader, person), &fact, is_open)? {
            Some(conversation) => add(&mut told, conversation, fact),
            None => forget(tx, ws, person, &fact)?,
        }
    }
    let browsers = push::browsers(tx, cx, person)?;
    let sending = Sending { person, settings, browsers, draft_mail };
    mail_language::of_person(tx, ws, person)?.run(|| sending.send(tx, cx, told))?;
    tx.exec(
        "DELETE FROM notice_facts
         WHERE ws = ?1 AND person = ?2 AND due_at IS NULL AND told_at <= ?3",
        &[&ws, person, &(cx.now - NOTICE_MAIL_AGAIN_MS)],
    )?;
    Ok(true)
}

/// The circle of a conversation, if a person may see it now.
pub fn seen_circle(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    person: &UserId,
    conversation: &ConversationId,
) -> Result<Option<Circle>> {
    let Some(reader) = actor_of(tx, cx, person)? else { return Ok(None) };
    let found = load(tx, cx.actor.ws, conversation)?;
    Ok(found.map(|found| found.circle).filter(|circle| reader.sees(circle)))
}

/// A person of the team as an actor, with everything that they see.
pub fn actor_of(tx: &mut Tx<'_>, cx: &Cx<'_>, person: &UserId) -> Result<Option<Actor>> {
    let ws = cx.actor.ws;
    let found: Option<(String, Role)> =
        tx.opt("SELECT name, role FROM users WHERE ws = ?1 AND id = ?2", &[&ws, person])?;
    let Some((name, role)) = found else { return Ok(None) };
    let circles = Circles::of_person(tx, ws, person)?;
    let who = Principal::Person { id: person.clone(), name, role };
    Ok(Some(Actor { ws, workspace: cx.actor.workspace.clone(), who, circles }))
}

/// In quiet hours everything waits for their end, and comes together then.
fn hold_back(tx: &mut Tx<'_>, cx: &Cx<'_>, person: &UserId, until: i64) -> Result<u64> {
    Ok(tx.exec(
        "UPDATE notice_facts SET due_at = ?4, batched = TRUE
         WHERE ws = ?1 AND person = ?2 AND due_at <= ?3",
        &[&cx.actor.ws, person, &cx.now, &until],
    )?)
}

/// What is due, with what else waits to be told of the same conversations by the same way.
fn due_facts(tx: &mut Tx<'_>, cx: &Cx<'_>, person: &UserId) -> Result<Vec<NoticeFact>> {
    let args: [&dyn Arg; 4] = [&cx.actor.ws, person, &cx.now, &FACTS_READ];
    let mut due: Vec<NoticeFact> = tx.all(
        &format!(
            "SELECT {} FROM notice_facts
             WHERE ws = ?1 AND person = ?2 AND due_at <= ?3
             ORDER BY conversation, channel, kind LIMIT ?4",
            NoticeFact::COLUMNS
        ),
        &args,
    )?;
    let alone: Vec<NoticeFact> = tx.all(
        &format!(
            "SELECT {} FROM notice_facts
             WHERE ws = ?1 AND person = ?2 AND due_at > ?3 AND NOT batched
             ORDER BY conversation, channel, kind LIMIT ?4",
            NoticeFact::COLUMNS
        ),
        &args,
    )?;
    let belongs = |later: &NoticeFact, one: &NoticeFact| {
        one.conversation == later.conversation && one.channel == later.channel && !one.batched
    };
    let with: Vec<NoticeFact> =
        alone.into_iter().filter(|later| due.iter().any(|one| belongs(later, one))).collect();
    due.extend(with);
    due.sort_by_key(|fact| fact.at);
    Ok(due)
}

db::row! {
    /// What is known of a conversation when a notice about it leaves.
    struct NoticeCase from "c" {
        id: ConversationId,
        circle: Circle,
        mailbox: MailboxId,
        mailbox_name: String = "m.name",
        subject: String,
        assignee: Option<MemberId> = "nullif(c.assignee, '')",
        held: bool,
        removed: Option<Removal>,
        has_draft: bool,
        merged_into: Option<ConversationId>,
    }
}

fn load(tx: &mut Tx<'_>, ws: i64, id: &ConversationId) -> Result<Option<NoticeCase>> {
    let sql = format!(
        "SELECT {} FROM conversations c JOIN mailboxes m ON m.ws = c.ws AND m.id = c.mailbox
         WHERE c.ws = ?1 AND c.id = ?2",
        NoticeCase::COLUMNS
    );
    let found: Option<NoticeCase> = tx.opt(&sql, &[&ws, id])?;
    match found.as_ref().and_then(|found| found.merged_into.as_ref()) {
        Some(into) => Ok(tx.opt(&sql, &[&ws, into])?),
        None => Ok(found),
    }
}

/// The conversation of a fact, unless nobody needs to be told of it any more, or the person must not be.
fn still_counts(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    (reader, person): (&Actor, &UserId),
    fact: &NoticeFact,
    is_open: &dyn Fn(&ConversationId) -> bool,
) -> Result<Option<NoticeCase>> {
    let ws = cx.actor.ws;
    let Some(case) = load(tx, ws, &fact.conversation)? else { return Ok(None) };
    // An alarm is about the agent, wherever the conversation is that it leads to.
    let is_over = case.held || case.removed.is_some() || is_open(&case.id);
    if !reader.sees(&case.circle) || (is_over && fact.kind != NoticeKind::AgentAlarm) {
        return Ok(None);
    }
    let has_it = matches!(&case.assignee, Some(MemberId::User(assignee)) if assignee == person);
    let counts = match fact.kind {
        NoticeKind::Assigned | NoticeKind::Reply => has_it,
        NoticeKind::DraftWaits => {
            case.has_draft && inbox_access::may_send(tx, reader, &case.mailbox)?
        }
        _ => true,
    };
    let choice = choices::of(tx, ws, person, fact.kind, Some(&case.mailbox))?;
    let wanted = match fact.channel {
        NoticeChannel::Browser => choice.browser,
        NoticeChannel::Mail => choice.mail != MailNotice::No,
    };
    if !counts || !wanted || has_read(tx, ws, person, &case.id, fact.at)? {
        return Ok(None);
    }
    Ok(Some(case))
}

/// True where the person has opened the conversation since.
fn has_read(
    tx: &mut Tx<'_>,
    ws: i64,
    person: &UserId,
    conversation: &ConversationId,
    since: i64,
) -> Result<bool> {
    let found: Option<(i64,)> = tx.opt(
        "SELECT read_at FROM read_marks WHERE ws = ?1 AND person = ?2 AND conversation = ?3",
        &[&ws, person, conversation],
    )?;
    Ok(found.is_some_and(|(read_at,)| read_at > since))
}

/// Adds a fact to what is told of its conversation by the same way.
fn add(told: &mut Vec<NotifiedConversation>, case: NoticeCase, fact: NoticeFact) {
    let same = told.iter_mut().find(|one| {
        one.id == case.id && one.channel == fact.channel && one.batched == fact.batched
    });
    match same {
        Some(one) => {
            one.facts.push(fact);
            one.facts.sort_by_key(|fact| fact.kind);
        }
        None => told.push(NotifiedConversation {
            id: case.id,
            subject: case.subject,
            mailbox_name: case.mailbox_name,
            writer: None,
            protected: false,
            circle: case.circle,
            channel: fact.channel,
            batched: fact.batched,
            facts: vec![fact],
        }),
    }
}

fn forget(tx: &mut Tx<'_>, ws: i64, person: &UserId, fact: &NoticeFact) -> Result<()> {
    tx.exec(
        "DELETE FROM notice_facts
         WHERE ws = ?1 AND person = ?2 AND conversation = ?3 AND channel = ?4 AND kind = ?5",
        &[&ws, person, &fact.conversation, &fact.channel, &fact.kind],
    )?;
    Ok(())
}

/// Sends what a person is told.
struct Sending<'a> {
    person: &'a UserId,
    settings: NoticeSettings,
    browsers: Vec<SubscribedBrowser>,
    draft_mail: DraftMailWriter,
}

impl Sending<'_> {
    fn send(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx<'_>,
        mut told: Vec<NotifiedConversation>,
    ) -> Result<()> {
        let mut left = room(tx, cx, self.person)?;
        let mut together: Vec<NotifiedConversation> = Vec::new();
        for one in &mut told {
            (one.writer, one.protected) = newest_writer(tx, cx.actor.ws, &one.id)?;
        }
        for one in told {
            match (one.batched, left) {
                (true, _) => together.push(one),
                (false, 0) => self.put_off(tx, cx, &one)?,
                (false, _) => {
                    left -= 1;
                    self.tell_alone(tx, cx, &one)?;
                    self.settle(tx, cx, &one)?;
                }
            }
        }
        for channel in NoticeChannel::ALL {
            let of_channel: Vec<&NotifiedConversation> =
                together.iter().filter(|one| one.channel == *channel).collect();
            match (of_channel.as_slice(), channel) {
                ([], _) => continue,
                ([one], _) => self.tell_alone(tx, cx, one)?,
                (some, NoticeChannel::Mail) => self.mail_digest(tx, cx, some)?,
                (some, NoticeChannel::Browser) => self.push_digest(tx, cx, some)?,
            }
            left = (left - 1).max(0);
        }
        for fact in together.iter().flat_map(|one| &one.facts) {
            forget(tx, cx.actor.ws, self.person, fact)?;
        }
        note_pace(tx, cx, self.person, NOTICES_PER_MINUTE - left)
    }

    fn tell_alone(&self, tx: &mut Tx<'_>, cx: &Cx<'_>, one: &NotifiedConversation) -> Result<()> {
        let names = self.settings.shows_names;
        match one.channel {
            NoticeChannel::Browser => {
                for browser in self.browsers.iter().filter(|browser| browser.may_show(&one.circle))
                {
                    push::send(tx, cx, browser, &one.browser_notice(names))?;
                }
                Ok(())
            }
            NoticeChannel::Mail => {
                let told = self.mail_draft(tx, cx, one)?;
                if told && one.facts.iter().all(|fact| fact.kind == NoticeKind::DraftWaits) {
                    return Ok(());
                }
                self.mail(tx, cx, &one.mail(names, cx.public_url), &[&one.id])
            }
        }
    }

    /// The mail by which a person approves a draft; false where they are told of it as of everything else.
    fn mail_draft(&self, tx: &mut Tx<'_>, cx: &Cx<'_>, one: &NotifiedConversation) -> Result<bool> {
        if one.facts.iter().all(|fact| fact.kind != NoticeKind::DraftWaits) {
            return Ok(false);
        }
        match (self.draft_mail)(tx, cx, self.person, one, &self.settings)? {
            Some(mail) => self.mail(tx, cx, &mail, &[&one.id]).map(|()| true),
            None => Ok(false),
        }
    }

    fn mail_digest(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx<'_>,
        told: &[&NotifiedConversation],
    ) -> Result<()> {
        let about: Vec<&ConversationId> = told.iter().map(|one| &one.id).collect();
        let mail = wording::digest(told, self.settings.shows_names, cx.public_url);
        self.mail(tx, cx, &mail, &about)
    }

    fn mail(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx<'_>,
        mail: &NoticeMail,
        about: &[&ConversationId],
    ) -> Result<()> {
        let notice = Notice { subject: &mail.subject, text: &mail.text };
        notify_about(tx, cx, self.person, &notice, about)
    }

    fn push_digest(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx<'_>,
        told: &[&NotifiedConversation],
    ) -> Result<()> {
        for browser in &self.browsers {
            let shown: Vec<_> = told.iter().filter(|one| browser.may_show(&one.circle)).collect();
            let notice = match shown.as_slice() {
                [] => continue,
                [one] => one.browser_notice(self.settings.shows_names),
                some => wording::browser_summary(some.len()),
            };
            push::send(tx, cx, browser, &notice)?;
        }
        Ok(())
    }

    /// Too many within a minute: the rest comes together a little later.
    fn put_off(&self, tx: &mut Tx<'_>, cx: &Cx<'_>, one: &NotifiedConversation) -> Result<()> {
        for fact in &one.facts {
            tx.exec(
                "UPDATE notice_facts SET due_at = ?6, batched = TRUE
                 WHERE ws = ?1 AND person = ?2 AND conversation = ?3 AND channel = ?4 AND kind = ?5",
                &[
                    &cx.actor.ws,
                    self.person,
                    &fact.conversation,
                    &fact.channel,
                    &fact.kind,
                    &(cx.now + NOTICES_TOGETHER_MS),
                ],
            )?;
        }
        Ok(())
    }

    /// A mail that was told alone is remembered, so that the next one waits; browsers replace what they show.
    fn settle(&self, tx: &mut Tx<'_>, cx: &Cx<'_>, one: &NotifiedConversation) -> Result<()> {
        for fact in &one.facts {
            match one.channel {
                NoticeChannel::Browser => forget(tx, cx.actor.ws, self.person, fact)?,
                NoticeChannel::Mail => {
                    tx.exec(
                        "UPDATE notice_facts SET due_at = NULL, told_at = ?6
                         WHERE ws = ?1 AND person = ?2 AND conversation = ?3 AND channel = ?4
                           AND kind = ?5",
                        &[
                            &cx.actor.ws,
                            self.person,
                            &fact.conversation,
                            &fact.channel,
                            &fact.kind,
                            &cx.now,
                        ],
                    )?;
                }
            }
        }
        Ok(())
    }
}

/// Who wrote the customer's newest message, and whether it is protected.
fn newest_writer(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &ConversationId,
) -> Result<(Option<String>, bool)> {
    let found: Option<(Option<String>, String, bool)> = tx.opt(
        "SELECT from_name, from_email, secure FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND direction = 'inbound'
         ORDER BY at DESC, id DESC LIMIT 1",
        &[&ws, conversation],
    )?;
    Ok(match found {
        Some((name, email, secure)) => {
            (Some(name.filter(|name| !name.trim().is_empty()).unwrap_or(email)), secure)
        }
        None => (None, false),
    })
}

/// How many notices a person may still get in this minute.
fn room(tx: &mut Tx<'_>, cx: &Cx<'_>, person: &UserId) -> Result<i64> {
    let found: Option<(i64,)> = tx.opt(
        "SELECT told FROM notice_pace WHERE ws = ?1 AND person = ?2 AND minute = ?3",
        &[&cx.actor.ws, person, &(cx.now / MINUTE_MS)],
    )?;
    Ok((NOTICES_PER_MINUTE - found.map_or(0, |(told,)| told)).max(0))
}

fn note_pace(tx: &mut Tx<'_>, cx: &Cx<'_>, person: &UserId, told: i64) -> Result<()> {
    tx.exec(
        "INSERT INTO notice_pace (ws, person, minute, told) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (ws, person) DO UPDATE SET minute = excluded.minute, told = excluded.told",
        &[&cx.actor.ws, person, &(cx.now / MINUTE_MS), &told],
    )?;
    Ok(())
}

/// Sends a test notice by mail and to every browser of a person, quiet hours or not. False where they got too
/// many within a minute.
pub fn tell_test(tx: &mut Tx<'_>, cx: &Cx<'_>, person: &UserId) -> Result<bool> {
    let left = room(tx, cx, person)?;
    if left == 0 {
        return Ok(false);
    }
    let reader = mail_language::of_person(tx, cx.actor.ws, person)?;
    let mail = reader.run(|| wording::test_mail(cx.public_url));
    notify(tx, cx, person, &Notice { subject: &mail.subject, text: &mail.text })?;
    for browser in push::browsers(tx, cx, person)? {
        push::send(tx, cx, &browser, &reader.run(wording::test_browser_notice))?;
    }
    note_pace(tx, cx, person, NOTICES_PER_MINUTE - left + 1)?;
    Ok(true)
}
