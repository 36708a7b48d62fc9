//! Inboxes and whole workspaces that are deleted: what ends at once, and what is removed when a job has
//! erased their conversations.

use base::actor::{Actor, Circle};
use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::Result;
use base::ids::{ConversationId, MailboxId, WorkspaceId};
use db::{TableShape, Tx};

use crate::erasure;
use crate::installation::audit_log::{self, Action};
use crate::mailboxes::{CLOSED_ENDING, Mailbox};

/// Counting ends here: what is more is said to be more.
pub const COUNTED: i64 = 100_000;
/// Rows removed in one transaction.
const ROWS_AT_ONCE: i64 = 500;
/// What an inbox for some is called where those read of it who did not see it.
const FOR_SOME: &str = "an inbox for some of the team";

/// Tables with a `mailbox` column whose rows go with their conversation.
const WITH_CONVERSATION: &[&str] = &["conversations", "documents", "helper_drafts", "messages"];
/// Tables that outlast an inbox. An unsent first mail is its writer's, who chooses another inbox for it.
const KEPT_OF_INBOX: &[&str] = &["audit_log", "autosaves", "deletions"];
/// Tables that go last, or stay, when a workspace is deleted.
const KEPT_OF_WORKSPACE: &[&str] = &["deleted_workspaces", "deletions", "workspaces"];

/// Tables by which people, software and jobs of a workspace act. They are emptied at once.
const ENDED_AT_ONCE: &[&str] = &[
    "sessions",
    "customer_sessions",
    "sign_in_links",
    "sign_in_steps",
    "passwords",
    "passkeys",
    "totp_secrets",
    "recovery_codes",
    "users",
    "oauth_codes",
    "oauth_tokens",
    "agent_counts",
    "agents",
    "webhooks",
    "customer_panels",
    "tracker_webhooks",
    "brandings",
    "services",
    "signing_keys",
    "busy_calendars",
    "booking_hosts",
    "booking_types",
    "contact_forms",
    "help_sites",
    "help_pages",
    "help_words",
    "hosts",
    "rules",
    "rule_jobs",
    "report_schedules",
    "report_recipients",
    "drafting_jobs",
    "sandbox_replies",
    "notices",
];

/// What goes with an inbox or a workspace; each count ends at [`COUNTED`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeletionCounts {
    pub conversations: i64,
    pub messages: i64,
    /// Appointments that are still to come.
    pub appointments: i64,
}

impl DeletionCounts {
    pub fn of_inbox(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &MailboxId) -> Result<DeletionCounts> {
        let ws = cx.actor.ws;
        let counted = |tx: &mut Tx<'_>, table: &str| -> Result<i64> {
            let (count,): (i64,) = tx.one(
                &format!(
                    "SELECT CAST(count(*) AS BIGINT) FROM (
                         SELECT id FROM {table} WHERE ws = ?1 AND mailbox = ?2 LIMIT ?3
                     ) AS counted"
                ),
                &[&ws, id, &COUNTED],
            )?;
            Ok(count)
        };
        let (appointments,): (i64,) = tx.one(
            "SELECT CAST(count(*) AS BIGINT) FROM bookings b
             JOIN conversations c ON c.ws = b.ws AND c.id = b.conversation
             WHERE b.ws = ?1 AND b.ends_at > ?3 AND b.cancelled_at IS NULL AND c.mailbox = ?2",
            &[&ws, id, &cx.now],
        )?;
        Ok(DeletionCounts {
            conversations: counted(tx, "conversations")?,
            messages: counted(tx, "messages")?,
            appointments,
        })
    }

    pub fn of_workspace(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<DeletionCounts> {
        let ws = cx.actor.ws;
        let counted = |tx: &mut Tx<'_>, table: &str| -> Result<i64> {
            let (count,): (i64,) = tx.one(
                &format!(
                    "SELECT CAST(count(*) AS BIGINT) FROM (
                         SELECT id FROM {table} WHERE ws = ?1 LIMIT ?2
                     ) AS counted"
                ),
                &[&ws, &COUNTED],
            )?;
            Ok(count)
        };
        let (appointments,): (i64,) = tx.one(
            "SELECT CAST(count(*) AS BIGINT) FROM bookings
             WHERE ws = ?1 AND circle <> 'sandbox' AND ends_at > ?2 AND cancelled_at IS NULL",
            &[&ws, &cx.now],
        )?;
        Ok(DeletionCounts {
            conversations: counted(tx, "conversations")?,
            messages: counted(tx, "messages")?,
            appointments,
        })
    }

    /// `12 conversations and 40 messages`.
    pub fn words(&self) -> String {
        let many = |count: i64, one: &str| match count {
            1 => format!("1 {one}"),
            count if count >= COUNTED => format!("more than {COUNTED} {one}s"),
            count => format!("{count} {one}s"),
        };
        let (conversations, messages) =
            (many(self.conversations, "conversation"), many(self.messages, "message"));
        format!("{conversations} and {messages}")
    }
}

/// Ends an inbox: its address is free and takes no mail, nothing leaves from it, nobody sees it any more,
/// and a job erases its conversations.
pub fn begin_inbox(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    counts: &DeletionCounts,
) -> Result<()> {
    let (ws, id) = (cx.actor.ws, &mailbox.id);
    close_inbox(tx, ws, id)?;
    end_visibility(tx, ws, id)?;
    tx.exec("DELETE FROM mailbox_access WHERE ws = ?1 AND mailbox = ?2", &[&ws, id])?;
    let (name, audience) = match mailbox.circle.inbox() {
        Some(_) => (FOR_SOME, Circle::team()),
        None => (mailbox.name.as_str(), mailbox.circle.clone()),
    };
    queue(tx, cx, id.as_str(), name, &audience)?;
    audit_log::record(tx, cx, &audience, Action::InboxDeleted, name, &counts.words())
}

/// Ends a workspace: everybody is signed out, keys and apps are refused, no mail comes in or leaves, and
/// a job erases everything. Its sample goes with it.
pub fn begin_workspace(tx: &mut Tx<'_>, cx: &Cx<'_>, counts: &DeletionCounts) -> Result<()> {
    let ws = cx.actor.ws;
    let inboxes: Vec<(MailboxId,)> = tx.all("SELECT id FROM mailboxes WHERE ws = ?1", &[&ws])?;
    for (id,) in &inboxes {
        close_inbox(tx, ws, id)?;
        end_visibility(tx, ws, id)?;
    }
    for sql in [
        "DELETE FROM deliveries WHERE ws = ?1 AND next_attempt_at IS NOT NULL",
        "UPDATE bookings SET remind_at = NULL, holds_until = NULL, act_at = NULL WHERE ws = ?1
           AND (remind_at IS NOT NULL OR holds_until IS NOT NULL OR act_at IS NOT NULL)",
        "DELETE FROM deletions WHERE ws = ?1",
        // What its people typed when they were signed out is in workspace 0.
        "DELETE FROM sign_in_steps WHERE ws = 0
           AND person IN (SELECT id FROM users WHERE ws = ?1)",
    ] {
        tx.exec(sql, &[&ws])?;
    }
    for table in ENDED_AT_ONCE {
        tx.exec(&format!("DELETE FROM {table} WHERE ws = ?1"), &[&ws])?;
    }
    tx.exec(
        "UPDATE workspaces SET deleted_at = ?2, slug = ?3, name = '' WHERE ws = ?1",
        &[&ws, &cx.now, &format!("deleted-{ws}")],
    )?;
    tx.exec(
        "INSERT INTO deleted_workspaces (ws, id, deleted_at, deleted_by, conversations, messages)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        &[
            &ws,
            &cx.actor.workspace,
            &cx.now,
            &cx.actor.member().as_ref().map_or("", |member| member.as_str()),
            &counts.conversations,
            &counts.messages,
        ],
    )?;
    queue(tx, cx, "", "", &Circle::team())?;
    begin_samples(tx, cx)
}

/// Nobody could go into the sample of a workspace that is gone, or delete it.
fn begin_samples(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<()> {
    let samples: Vec<(i64, WorkspaceId)> = tx.all(
        "SELECT ws, id FROM workspaces WHERE sample_of = ?1 AND deleted_at IS NULL ORDER BY ws",
        &[&cx.actor.ws],
    )?;
    for (ws, id) in samples {
        let actor = Actor::system(ws, id, Circle::team());
        let cx = &Cx { actor: &actor, ..*cx };
        let counts = DeletionCounts::of_workspace(tx, cx)?;
        begin_workspace(tx, cx, &counts)?;
    }
    Ok(())
}

fn queue(tx: &mut Tx<'_>, cx: &Cx<'_>, mailbox: &str, name: &str, audience: &Circle) -> Result<()> {
    tx.exec(
        "INSERT INTO deletions (ws, mailbox, name, audience, begun_at, due_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?5)",
        &[&cx.actor.ws, &mailbox, &name, audience, &cx.now],
    )?;
    tx.wake(Queue::Deletions);
    Ok(())
}

/// Closes an inbox: scheduled messages become drafts, those that wait for another attempt fail, the
/// accounts that it fetches from and sends through are deleted, and its address is free.
pub fn close_inbox(tx: &mut Tx<'_>, ws: i64, id: &MailboxId) -> Result<()> {
    tx.exec(
        "UPDATE conversations SET has_draft = TRUE
         WHERE ws = ?1 AND id IN (
             SELECT conversation FROM messages
             WHERE ws = ?1 AND mailbox = ?2 AND status = 'scheduled'
         )",
        &[&ws, id],
    )?;
    tx.exec(
        "UPDATE messages SET status = 'draft', sends_at = NULL, held_at = NULL
         WHERE ws = ?1 AND mailbox = ?2 AND status = 'scheduled'",
        &[&ws, id],
    )?;
    // Nobody sees the inbox any more who could be told. The outcome of an attempt that is under way finds
    // no message in `sending` and is dropped.
    tx.exec(
        "UPDATE messages SET status = 'failed', sends_at = NULL, lease_until = NULL
         WHERE ws = ?1 AND mailbox = ?2 AND status = 'sending' AND sends_at IS NOT NULL",
        &[&ws, id],
    )?;
    tx.exec(
        "UPDATE messages SET status = 'failed', held_at = NULL
         WHERE ws = ?1 AND mailbox = ?2 AND status = 'sending' AND held_at IS NOT NULL",
        &[&ws, id],
    )?;
    for sql in [
        "DELETE FROM notices WHERE ws = ?1 AND mailbox = ?2",
        "DELETE FROM imap_accounts WHERE ws = ?1 AND mailbox = ?2",
        "DELETE FROM graph_folders WHERE ws = ?1 AND mailbox = ?2",
        "DELETE FROM outgoing_servers WHERE ws = ?1 AND mailbox = ?2",
        "DELETE FROM mailbox_grants WHERE ws = ?1 AND mailbox = ?2",
        "DELETE FROM sent_copies WHERE ws = ?1 AND mailbox = ?2",
        // Nobody would read what comes by them.
        "DELETE FROM contact_forms WHERE ws = ?1 AND mailbox = ?2",
    ] {
        tx.exec(sql, &[&ws, id])?;
    }
    tx.exec(
        "UPDATE mailboxes SET address = ?3 WHERE ws = ?1 AND id = ?2",
        &[&ws, id, &format!("{id}{CLOSED_ENDING}")],
    )?;
    Ok(())
}

/// Takes an inbox out of every list, and out of the jobs that work for inboxes.
fn end_visibility(tx: &mut Tx<'_>, ws: i64, id: &MailboxId) -> Result<()> {
    tx.exec(
        "UPDATE mailboxes SET circle = ?3, all_send = FALSE, drafting = 'off', kept_days = NULL,
             retention_at = NULL
         WHERE ws = ?1 AND id = ?2",
        &[&ws, id, &Circle::of_deleted_inboxes()],
    )?;
    Ok(())
}

/// Removes some of what is left of an inbox whose conversations are erased; true when nothing is left
/// and the inbox itself is gone.
pub fn finish_inbox(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &MailboxId) -> Result<bool> {
    let ws = cx.actor.ws;
    let left: Option<(ConversationId,)> =
        tx.opt("SELECT id FROM conversations WHERE ws = ?1 AND mailbox = ?2 LIMIT 1", &[&ws, id])?;
    if left.is_some() {
        return Ok(false);
    }
    // Before the answers themselves, by which they are found.
    for table in ["answer_versions", "help_slugs", "help_tallies"] {
        tx.exec(
            &format!(
                "DELETE FROM {table} WHERE ws = ?1 AND answer IN (
                     SELECT id FROM answers WHERE ws = ?1 AND circle = ?2
                 )"
            ),
            &[&ws, id],
        )?;
    }
    for table in tx.tables()?.iter().filter(|table| table.has("ws")) {
        if KEPT_OF_INBOX.contains(&table.name.as_str()) {
            continue;
        }
        for column in ["mailbox", "circle"] {
            let goes_before = column == "mailbox" && is_in(table, WITH_CONVERSATION);
            if !table.has(column) || goes_before {
                continue;
            }
            let condition = format!("ws = ?1 AND {column} = ?2");
            if tx.remove_some(table, &condition, &[&ws, id], ROWS_AT_ONCE)? > 0 {
                return Ok(false);
            }
        }
    }
    tx.exec("UPDATE autosaves SET mailbox = '' WHERE ws = ?1 AND mailbox = ?2", &[&ws, id])?;
    let counter = format!("open:{id}");
    tx.exec("DELETE FROM counters WHERE ws = ?1 AND what = ?2", &[&ws, &counter])?;
    tx.exec("DELETE FROM mailboxes WHERE ws = ?1 AND id = ?2", &[&ws, id])?;
    let (name, audience): (String, Circle) =
        tx.one("SELECT name, audience FROM deletions WHERE ws = ?1 AND mailbox = ?2", &[&ws, id])?;
    tx.exec("DELETE FROM deletions WHERE ws = ?1 AND mailbox = ?2", &[&ws, id])?;
    merge_index(tx, cx.now)?;
    audit_log::record(tx, cx, &audience, Action::InboxErased, &name, "")?;
    Ok(true)
}

fn is_in(table: &TableShape, names: &[&str]) -> bool {
    names.contains(&table.name.as_str())
}

/// Removes some of what is left of a workspace whose conversations are erased; true when nothing is left
/// but that it was there.
pub fn finish_workspace(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<bool> {
    let ws = cx.actor.ws;
    let left: Option<(ConversationId,)> =
        tx.opt("SELECT id FROM conversations WHERE ws = ?1 LIMIT 1", &[&ws])?;
    if left.is_some() || remove_documents(tx, ws)? || remove_blobs(tx, ws, cx.now)? {
        return Ok(false);
    }
    for table in tx.tables()?.iter().filter(|table| table.has("ws")) {
        let is_kept = is_in(table, KEPT_OF_WORKSPACE);
        if !is_kept && tx.remove_some(table, "ws = ?1", &[&ws], ROWS_AT_ONCE)? > 0 {
            return Ok(false);
        }
    }
    tx.exec("DELETE FROM workspaces WHERE ws = ?1", &[&ws])?;
    tx.exec("DELETE FROM deletions WHERE ws = ?1", &[&ws])?;
    tx.exec("UPDATE deleted_workspaces SET erased_at = ?2 WHERE ws = ?1", &[&ws, &cx.now])?;
    merge_index(tx, cx.now)?;
    Ok(true)
}

fn remove_documents(tx: &mut Tx<'_>, ws: i64) -> Result<bool> {
    let some: Vec<(i64,)> =
        tx.all("SELECT num FROM documents WHERE ws = ?1 LIMIT ?2", &[&ws, &ROWS_AT_ONCE])?;
    for (num,) in &some {
        search::forget_document(tx, *num)?;
        tx.exec("DELETE FROM documents WHERE num = ?1", &[num])?;
    }
    Ok(!some.is_empty())
}

/// Files of the folder or bucket are queued; what another workspace names stays.
fn remove_blobs(tx: &mut Tx<'_>, ws: i64, now: i64) -> Result<bool> {
    let some: Vec<(String,)> =
        tx.all("SELECT hash FROM blobs WHERE ws = ?1 LIMIT ?2", &[&ws, &ROWS_AT_ONCE])?;
    for (hash,) in &some {
        erasure::drop_blob(tx, ws, hash, now)?;
    }
    tx.wake(Queue::Trash);
    Ok(!some.is_empty())
}

/// Has the search index written anew, a little at a time, so that no words of what was erased stay in it
/// (SQLite).
fn merge_index(tx: &mut Tx<'_>, now: i64) -> Result<()> {
    if tx.pick(true, false) {
        search::begin_merging(tx)?;
        tx.exec("UPDATE index_maintenance SET due_at = ?1", &[&now])?;
        tx.wake(Queue::IndexMaintenance);
    }
    Ok(())
}
