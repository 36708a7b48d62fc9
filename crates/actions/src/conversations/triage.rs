//! Acts on one or many conversations, and undoing them. A lot is worked on in batches, each a
//! transaction of its own, so that nobody waits for it.

use base::app::Cx;
use base::assignee::Assignee;
use base::error::{Error, Result};
use base::ids::{ConversationId, MemberId, MessageId, UndoId};
use base::states::{Removal, Status};
use base::string_enum::string_enum;
use db::{Arg, Json, Tx};
use model::contacts::blocked_senders;
use model::conversations::conversation_state::StatusState;
use model::conversations::tags;
use model::conversations::{self, Conversation};
use model::conversations::{followers, merges, sorting};
use model::people::members;
use outbound::removals;
use serde::{Deserialize, Serialize};

use crate::conversations::pins::{pin, unpin};
use crate::sign_in::sessions::own_id;

/// Conversations that one transaction changes.
pub const TRIAGED_AT_ONCE: usize = 50;

/// What is done with conversations.
#[derive(Clone, Debug)]
pub enum TriageAct {
    /// To `me`, `none`, or a member as the operation `assign` takes it.
    Assign(String),
    AddTags(Vec<String>),
    Close,
    Reopen,
    /// Until a time in milliseconds.
    Snooze(i64),
    MarkUnread,
    Spam,
    /// The same, and further mail of the sender goes to the spam at once.
    SpamAndBlock,
    Delete,
    /// Out of the spam or the trash.
    Restore,
    /// Into another conversation.
    Merge(String),
    /// A message of it becomes a conversation of its own.
    Split(String),
    /// On top of one's own lists.
    Pin,
    Unpin,
    /// To be told when the customer answers.
    Follow,
    Unfollow,
}

string_enum! {
    /// The kind of an act, as it is kept for undoing it.
    ActKind {
        Assigned = "assigned",
        Tagged = "tagged",
        Closed = "closed",
        Reopened = "reopened",
        Snoozed = "snoozed",
        MarkedUnread = "unread",
        Spam = "spam",
        Blocked = "blocked",
        Deleted = "deleted",
        Restored = "restored",
        Merged = "merged",
        MergedTogether = "merged-together",
        Split = "split",
        Pinned = "pinned",
        Unpinned = "unpinned",
        Followed = "followed",
        Unfollowed = "unfollowed",
    }
}

impl TriageAct {
    pub fn kind(&self) -> ActKind {
        match self {
            TriageAct::Assign(_) => ActKind::Assigned,
            TriageAct::AddTags(_) => ActKind::Tagged,
            TriageAct::Close => ActKind::Closed,
            TriageAct::Reopen => ActKind::Reopened,
            TriageAct::Snooze(_) => ActKind::Snoozed,
            TriageAct::MarkUnread => ActKind::MarkedUnread,
            TriageAct::Spam => ActKind::Spam,
            TriageAct::SpamAndBlock => ActKind::Blocked,
            TriageAct::Delete => ActKind::Deleted,
            TriageAct::Restore => ActKind::Restored,
            TriageAct::Merge(_) => ActKind::Merged,
            TriageAct::Split(_) => ActKind::Split,
            TriageAct::Pin => ActKind::Pinned,
            TriageAct::Unpin => ActKind::Unpinned,
            TriageAct::Follow => ActKind::Followed,
            TriageAct::Unfollow => ActKind::Unfollowed,
        }
    }
}

impl ActKind {
    /// True when conversations went into another one.
    pub(crate) fn is_merge(self) -> bool {
        matches!(self, ActKind::Merged | ActKind::MergedTogether)
    }
}

/// How a conversation stood before an act, as far as the act changed it.
#[derive(Serialize, Deserialize)]
pub(crate) struct StateBefore {
    pub status: Status,
    pub snoozed_until: Option<i64>,
    /// Since when the customer waited.
    #[serde(default)]
    pub waiting_since: Option<i64>,
    #[serde(default)]
    pub held: bool,
    pub assignee: Option<MemberId>,
    pub removed: Option<Removal>,
    /// Tags that the act added.
    #[serde(default)]
    pub tagged: Vec<String>,
    pub read_at: Option<i64>,
    /// True when the act blocked the sender.
    #[serde(default)]
    pub blocked: bool,
    /// The conversation that the act split off.
    #[serde(default)]
    pub split_off: Option<ConversationId>,
}

impl StateBefore {
    pub fn standing(&self) -> StatusState {
        StatusState {
            status: self.status,
            snoozed_until: self.snoozed_until,
            waiting_since: self.waiting_since,
            held: self.held,
        }
    }
}

/// How a conversation stood after an act. Where it stands otherwise now, somebody changed it since.
#[derive(Serialize, Deserialize)]
pub(crate) struct StateAfter {
    pub assignee: Option<MemberId>,
    pub snoozed_until: Option<i64>,
    pub last_message_at: i64,
}

impl StateAfter {
    fn of(conversation: &Conversation) -> StateAfter {
        StateAfter {
            assignee: conversation.assignee.clone(),
            snoozed_until: conversation.snoozed_until,
            last_message_at: conversation.last_message_at,
        }
    }
}

/// Begins an act that can be undone; the one before it cannot be undone any more.
pub fn begin_triage(tx: &mut Tx<'_>, cx: &Cx<'_>, act: &TriageAct) -> Result<UndoId> {
    begin_act(tx, cx, act.kind())
}

pub(crate) fn begin_act(tx: &mut Tx<'_>, cx: &Cx<'_>, kind: ActKind) -> Result<UndoId> {
    let (ws, me) = (cx.actor.ws, person(cx)?);
    tx.exec_soon(
        "DELETE FROM undo_steps WHERE ws = ?1 AND undo IN (
             SELECT id FROM undos WHERE ws = ?1 AND person = ?2
         )",
        &[&ws, &me],
    )?;
    tx.exec_soon("DELETE FROM undos WHERE ws = ?1 AND person = ?2", &[&ws, &me])?;
    let id = UndoId::new(cx.ids, cx.now);
    tx.exec_soon(
        "INSERT INTO undos (ws, person, id, act, changed, created_at)
         VALUES (?1, ?2, ?3, ?4, 0, ?5)",
        &[&ws, &me, &id, &kind, &cx.now],
    )?;
    Ok(id)
}

/// Acts on one batch of conversations; returns how many were changed. What is not there any more, and
/// what the act does not fit, stays as it is.
pub fn triage(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    undo: &UndoId,
    act: &TriageAct,
    ids: &[String],
) -> Result<usize> {
    let mut changed = 0;
    check_selection(tx, cx, act, ids)?;
    for id in ids.iter().take(TRIAGED_AT_ONCE) {
        match triage_one(tx, cx, undo, act, id) {
            Ok(done) => changed += usize::from(done),
            Err(Error::NotFound(_) | Error::Invalid(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(changed)
}

const HELD_AMONG: &str = "Held mail is closed one by one. Open it, and close or release it there; \
                          then close the others.";

/// Whether mail that is held is among conversations. Closing it drops what was withheld and teaches the
/// sorting helper, which no undo puts back.
fn some_held(tx: &mut Tx<'_>, cx: &Cx<'_>, ids: &[String]) -> Result<bool> {
    let (first, second) = cx.actor.circles.pair();
    for ids in ids.chunks(TRIAGED_AT_ONCE) {
        let places: Vec<String> = (4..ids.len() + 4).map(|place| format!("?{place}")).collect();
        let mut args: Vec<&dyn Arg> = vec![&cx.actor.ws, first, second];
        args.extend(ids.iter().map(|id| id as &dyn Arg));
        let held: Option<(String,)> = tx.opt(
            &format!(
                "SELECT id FROM conversations
                 WHERE ws = ?1 AND circle IN (?2, ?3) AND id IN ({}) AND held = TRUE LIMIT 1",
                places.join(", ")
            ),
            &args,
        )?;
        if held.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Refuses an act on a selection that does not fit it, before any of it is changed.
pub fn check_selection(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    act: &TriageAct,
    ids: &[String],
) -> Result<()> {
    match act {
        TriageAct::Close if some_held(tx, cx, ids)? => Err(Error::invalid("c", HELD_AMONG)),
        _ => Ok(()),
    }
}

/// Acts on one conversation; false when nothing changed.
pub fn triage_one(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    undo: &UndoId,
    act: &TriageAct,
    id: &str,
) -> Result<bool> {
    let mut conversation = conversations::load(tx, cx.actor, id)?;
    let was_held = conversation.held;
    let Some(before) = apply(tx, cx, act, &mut conversation)? else { return Ok(false) };
    if was_held && matches!(act, TriageAct::Close) {
        return Ok(true);
    }
    let (ws, me) = (cx.actor.ws, person(cx)?);
    let after = match act {
        // These change what they were given.
        TriageAct::Close | TriageAct::Reopen | TriageAct::Snooze(_) => {
            StateAfter::of(&conversation)
        }
        _ => StateAfter::of(&conversations::load(tx, cx.actor, id)?),
    };
    tx.exec_soon(
        "INSERT INTO undo_steps (ws, undo, conversation, before, after)
         VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (ws, undo, conversation) DO NOTHING",
        &[&ws, undo, &conversation.id, &Json(&before), &Json(&after)],
    )?;
    tx.exec_soon(
        "UPDATE undos SET changed = changed + 1 WHERE ws = ?1 AND person = ?2 AND id = ?3",
        &[&ws, &me, undo],
    )?;
    Ok(true)
}

/// `None` when the conversation is so already.
fn apply(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    act: &TriageAct,
    conversation: &mut Conversation,
) -> Result<Option<StateBefore>> {
    let mut before = StateBefore {
        status: conversation.status,
        snoozed_until: conversation.snoozed_until,
        waiting_since: conversation.waiting_since,
        held: conversation.held,
        assignee: conversation.assignee.clone(),
        removed: conversation.removed,
        tagged: Vec::new(),
        read_at: None,
        blocked: false,
        split_off: None,
    };
    let changed = match act {
        TriageAct::Assign(to) => assign(tx, cx, conversation, to)?,
        TriageAct::AddTags(names) => {
            before.tagged = add_tags(tx, cx, conversation, names)?;
            !before.tagged.is_empty()
        }
        TriageAct::Close => set_status(tx, cx, conversation, Status::Closed)?,
        TriageAct::Reopen => set_status(tx, cx, conversation, Status::Open)?,
        TriageAct::Snooze(until) => {
            conversations::snooze(tx, cx, conversation, *until)?;
            true
        }
        TriageAct::MarkUnread => {
            before.read_at = unread(tx, cx, &conversation.id)?;
            true
        }
        TriageAct::Spam | TriageAct::SpamAndBlock => {
            before.blocked = matches!(act, TriageAct::SpamAndBlock)
                && blocked_senders::block(
                    tx,
                    cx,
                    &conversation.circle,
                    &conversation.contact_email,
                )?;
            sorting::teach_spam(tx, cx, conversation, true)?;
            remove(tx, cx, conversation, Some(Removal::Spam))? || before.blocked
        }
        TriageAct::Delete => remove(tx, cx, conversation, Some(Removal::Trash))?,
        TriageAct::Restore => restore(tx, cx, conversation)?,
        TriageAct::Merge(into) => {
            let mut target = conversations::load(tx, cx.actor, into)?;
            merges::merge(tx, cx, conversation, &mut target)?;
            true
        }
        TriageAct::Split(message) => {
            let Some(message) = MessageId::parse(message) else {
                return Err(Error::NotFound("message"));
            };
            before.split_off = Some(merges::split(tx, cx, conversation, &message)?.id);
            true
        }
        TriageAct::Pin => pin(tx, cx, &conversation.id)?,
        TriageAct::Unpin => unpin(tx, cx, &conversation.id)?,
        TriageAct::Follow => followers::follow(tx, cx, &conversation.id, own_id(cx)?)?,
        TriageAct::Unfollow => followers::unfollow(tx, cx.actor.ws, &conversation.id, own_id(cx)?)?,
    };
    Ok(changed.then_some(before))
}

fn assign(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: &Conversation, to: &str) -> Result<bool> {
    let id = match to {
        "none" => None,
        "me" => cx.actor.member(),
        named => Some(named.split_once(':').and_then(|(_, id)| MemberId::parse(id))).flatten(),
    };
    let to = match (to, id) {
        ("none", _) => None,
        (_, Some(id)) => Some(seen_by_assignee(tx, cx, conversation, &id)?),
        (_, None) => return Err(Error::invalid("to", NOT_ON_TEAM)),
    };
    if to.as_ref().map(|to| &to.id) == conversation.assignee.as_ref() {
        return Ok(false);
    }
    conversations::assign(tx, cx, conversation, to.as_ref())?;
    Ok(true)
}

const NOT_ON_TEAM: &str = "is not on the team, or cannot see this conversation's inbox";

fn seen_by_assignee(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    id: &MemberId,
) -> Result<Assignee> {
    let found = members::in_circle(tx, cx.actor.ws, &conversation.circle, id)?;
    found.ok_or_else(|| Error::invalid("to", NOT_ON_TEAM))
}

fn add_tags(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    names: &[String],
) -> Result<Vec<String>> {
    tags::change(tx, cx, conversation, &tags::sort_names(names), &[])
}

fn set_status(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    to: Status,
) -> Result<bool> {
    let is_so = conversation.status == to && conversation.snoozed_until.is_none();
    if is_so {
        return Ok(false);
    }
    // Who closes held mail agrees that it is spam.
    if conversation.held && to == Status::Closed {
        sorting::teach_spam(tx, cx, conversation, true)?;
    }
    match conversation.status == to {
        true => conversations::put_back(tx, cx, conversation, to, None)?,
        false => conversations::set_status(tx, cx, conversation, to)?,
    }
    Ok(true)
}

/// Takes the reader's mark off; returns when they had read it.
fn unread(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &ConversationId) -> Result<Option<i64>> {
    let (ws, me) = (cx.actor.ws, person(cx)?);
    let read: Option<(i64,)> = tx.opt(
        "SELECT read_at FROM read_marks WHERE ws = ?1 AND person = ?2 AND conversation = ?3",
        &[&ws, &me, id],
    )?;
    tx.exec_soon(
        "DELETE FROM read_marks WHERE ws = ?1 AND person = ?2 AND conversation = ?3",
        &[&ws, &me, id],
    )?;
    Ok(read.map(|(at,)| at))
}

fn remove(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    to: Option<Removal>,
) -> Result<bool> {
    let changes = conversation.removed != to;
    removals::set_removed(tx, cx, conversation, to)?;
    Ok(changes)
}

/// Out of the spam it is no spam, and its sender may write again.
fn restore(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: &mut Conversation) -> Result<bool> {
    if conversation.removed == Some(Removal::Spam) {
        sorting::teach_spam(tx, cx, conversation, false)?;
        let (circle, email) = (&conversation.circle, &conversation.contact_email);
        blocked_senders::unblock(tx, cx, circle, email)?;
    }
    remove(tx, cx, conversation, None)
}

/// Only people undo what they did.
pub(crate) fn person(cx: &Cx<'_>) -> Result<MemberId> {
    cx.actor.member().ok_or(Error::NotFound("person"))
}
