//! The sidebar with its counts, and the lists that only the app has.

use std::collections::{HashMap, HashSet};

use base::actor::{Actor, Circle};
use base::app::Cx;
use base::error::{Error, Result};
use base::ids::{ConversationId, MailboxId, MessageId, TagId};
use db::{Arg, FromRow, Row, StoreError, Tx};
use model::conversations::tags;
use model::figures::counters::{self, CounterKind};
use search::list::{self, ConversationSummary};

/// Counts in the sidebar stop here, so that their cost is bounded.
pub const COUNTED: i64 = 100;
/// Tags that the navigation names.
const TAGS_SHOWN: i64 = 12;
/// Held conversations that are listed; a person looks at each.
const HELD_LISTED: i64 = 100;

/// The navigation of one person. Every number but `open` ends at [`COUNTED`].
#[derive(Clone, Debug, Default)]
pub struct Sidebar {
    pub mine: i64,
    pub unassigned: i64,
    pub open: i64,
    pub waiting: i64,
    pub snoozed: i64,
    pub held: i64,
    pub spam: i64,
    pub trash: i64,
    /// Notes that name them and that they have not read.
    pub mentions: i64,
    /// Conversations with a draft that waits for a person, one entry for each draft.
    pub drafts: Vec<ConversationId>,
    /// Scheduled messages, the next one first.
    pub leaving: Vec<(ConversationId, MessageId, Option<i64>)>,
    pub inboxes: Vec<SidebarInbox>,
    pub tags: Vec<SidebarTag>,
}

#[derive(Clone, Debug)]
pub struct SidebarInbox {
    pub id: MailboxId,
    pub name: String,
    pub private: bool,
    pub open: i64,
}

#[derive(Clone, Debug)]
pub struct SidebarTag {
    pub id: TagId,
    pub name: String,
}

pub fn sidebar(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Sidebar> {
    let actor = cx.actor;
    let SidebarPlaces { inboxes, open, tags } = places(tx, actor)?;
    let me = actor.member().map(|member| member.as_str().to_owned()).unwrap_or_default();
    let [mine, unassigned, waiting, answered, snoozed, held, spam, trash, mentions] = counts(
        tx,
        actor,
        &me,
        [
            "assignee = ?3 AND view = 'open'",
            "assignee = '' AND view = 'open'",
            "view = 'waiting'",
            "view = 'leaving'",
            "view = 'snoozed'",
            "held = TRUE AND removed IS NULL",
            "view = 'spam'",
            "view = 'trash'",
        ],
    )?;
    let (drafts, leaving) = unsent(tx, actor)?;
    Ok(Sidebar {
        mine,
        unassigned,
        open: open.values().sum(),
        waiting: (waiting + answered).min(COUNTED),
        snoozed,
        held,
        spam,
        trash,
        mentions,
        drafts,
        leaving,
        inboxes: inboxes
            .into_iter()
            .map(|inbox| SidebarInbox {
                open: open.get(inbox.id.as_str()).copied().unwrap_or(0),
                ..inbox
            })
            .collect(),
        tags,
    })
}

/// Inboxes and tags by name, and how many conversations are open in each inbox.
#[derive(Default)]
struct SidebarPlaces {
    inboxes: Vec<SidebarInbox>,
    open: HashMap<String, i64>,
    tags: Vec<SidebarTag>,
}

/// One row of them.
enum SidebarPlace {
    Inbox(SidebarInbox),
    /// The id of an inbox, and how many conversations are open in it.
    Open(String, i64),
    Tag(SidebarTag),
}

impl FromRow for SidebarPlace {
    fn from_row(row: &mut Row<'_>) -> std::result::Result<SidebarPlace, StoreError> {
        let kind: String = row.take()?;
        let n: i64 = row.take()?;
        Ok(match kind.as_str() {
            "inbox" => SidebarPlace::Inbox(SidebarInbox {
                id: row.take()?,
                name: row.take()?,
                private: row.take::<Circle>()?.person().is_some(),
                open: n,
            }),
            "tag" => SidebarPlace::Tag(SidebarTag { id: row.take()?, name: row.take()? }),
            _ => SidebarPlace::Open(row.take()?, n),
        })
    }
}

/// What the sidebar names and counts exactly, in one statement.
fn places(tx: &mut Tx<'_>, actor: &Actor) -> Result<SidebarPlaces> {
    let (first, second) = actor.circles.pair();
    let (start, end) = counters::keys_of(CounterKind::Open);
    let rows: Vec<SidebarPlace> = tx.all(
        "SELECT 'inbox' AS kind, CAST(0 AS BIGINT) AS n, id, name, circle, name AS sorted
         FROM mailboxes WHERE ws = ?1 AND circle IN (?2, ?3)
         UNION ALL
         SELECT 'open' AS kind, CAST(sum(n) AS BIGINT) AS n, what AS id, '', '', '' AS sorted
         FROM counters
         WHERE ws = ?1 AND circle IN (?2, ?3) AND what >= ?4 AND what < ?5
         GROUP BY what
         UNION ALL
         SELECT * FROM (
             SELECT 'tag' AS kind, CAST(0 AS BIGINT) AS n, id, name, circle, folded AS sorted
             FROM tags WHERE ws = ?1 AND circle IN ('team', ?2, ?3)
             ORDER BY folded LIMIT ?6
         ) AS first_tags
         ORDER BY kind, sorted, id",
        &[&actor.ws, first, second, &start, &end, &TAGS_SHOWN],
    )?;
    let mut places = SidebarPlaces::default();
    for row in rows {
        match row {
            SidebarPlace::Inbox(inbox) => places.inboxes.push(inbox),
            SidebarPlace::Open(what, n) => drop(places.open.insert(what[start.len()..].into(), n)),
            SidebarPlace::Tag(tag) => places.tags.push(tag),
        }
    }
    Ok(places)
}

/// The conversations that match each condition, in which `?3` is the person: those of all circles together,
/// up to the limit; and the unread notes that mention the person. The ORDER BY of each circle's list makes the planner use that list's index.
fn counts<const N: usize, const M: usize>(
    tx: &mut Tx<'_>,
    actor: &Actor,
    me: &str,
    conditions: [&str; N],
) -> Result<[i64; M]> {
    let mut args: Vec<&dyn Arg> = vec![&actor.ws, &COUNTED, &me];
    args.extend(actor.circles.distinct().map(|circle| circle as &dyn Arg));
    let of_circle = |condition: &str, place: usize| {
        format!(
            "(SELECT count(*) FROM (
                SELECT 1 FROM conversations WHERE ws = ?1 AND circle = ?{place} AND {condition}
                ORDER BY last_message_at DESC, id DESC LIMIT ?2
             ) AS counted)"
        )
    };
    let columns = conditions.map(|condition| {
        let counts = (4..=args.len()).map(|place| of_circle(condition, place));
        format!("CAST({} AS BIGINT)", counts.collect::<Vec<_>>().join(" + "))
    });
    let circles = (4..=args.len()).map(|place| format!("?{place}")).collect::<Vec<_>>().join(", ");
    let mentions = format!(
        "(SELECT CAST(count(*) AS BIGINT) FROM (
             SELECT 1 FROM mentions m
             JOIN conversations c ON c.ws = m.ws AND c.id = m.conversation
             WHERE m.ws = ?1 AND m.person = ?3 AND m.read_at IS NULL AND c.circle IN ({circles})
               AND c.removed IS NULL
             LIMIT ?2
         ) AS named)"
    );
    let mut found = [0; M];
    tx.each(&format!("SELECT {}, {mentions}", columns.join(", ")), &args, |row| {
        for count in &mut found {
            *count = row.take::<i64>()?.min(COUNTED);
        }
        Ok(())
    })?;
    Ok(found)
}

/// The conversations of drafts that wait, and scheduled messages with their conversation and time.
type UnsentMessages = (Vec<ConversationId>, Vec<(ConversationId, MessageId, Option<i64>)>);

/// Drafts that wait for a person, one entry for each, and the scheduled messages with their times, the next one
/// first; those that are held have none.
fn unsent(tx: &mut Tx<'_>, actor: &Actor) -> Result<UnsentMessages> {
    let (first, second) = actor.circles.pair();
    let rows: Vec<(bool, ConversationId, MessageId, Option<i64>)> = tx.all(
        "SELECT * FROM (
             SELECT FALSE AS leaves, m.conversation, m.id, CAST(NULL AS BIGINT) AS at
             FROM mailboxes b CROSS JOIN messages m
             JOIN conversations c ON c.ws = m.ws AND c.id = m.conversation
             WHERE b.ws = ?1 AND b.circle IN (?2, ?3) AND m.ws = b.ws AND m.mailbox = b.id
               AND c.removed IS NULL AND m.status = 'draft' AND m.discarded_at IS NULL
             LIMIT ?4
         ) AS drafts
         UNION ALL
         SELECT * FROM (
             SELECT TRUE AS leaves, m.conversation, m.id, m.sends_at AS at
             FROM mailboxes b CROSS JOIN messages m
             WHERE b.ws = ?1 AND b.circle IN (?2, ?3) AND m.ws = b.ws AND m.mailbox = b.id
               AND m.status = 'scheduled'
             ORDER BY m.sends_at LIMIT ?4
         ) AS scheduled",
        &[&actor.ws, first, second, &COUNTED],
    )?;
    let (mut drafts, mut leaving) = UnsentMessages::default();
    for (leaves, conversation, message, at) in rows {
        match leaves {
            true => leaving.push((conversation, message, at)),
            false => drafts.push(conversation),
        }
    }
    leaving.sort_by_key(|(_, _, at)| at.unwrap_or(i64::MAX));
    Ok((drafts, leaving))
}

/// Conversations whose mail was held as a likely scam, newest first.
pub fn list_held(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<ConversationSummary>> {
    let (first, second) = cx.actor.circles.pair();
    Ok(tx.all(
        &format!(
            "{} WHERE c.ws = ?1 AND c.circle IN (?2, ?3) AND c.held = TRUE
               AND c.removed IS NULL
             ORDER BY c.last_message_at DESC, c.id DESC LIMIT ?4",
            list::select("conversations c")
        ),
        &[&cx.actor.ws, first, second, &HELD_LISTED],
    )?)
}

/// Conversations that have a tag, whatever their status, the latest begun first: that is the order
/// in which the index holds them.
pub fn list_tagged(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    tag: &TagId,
    after: Option<&ConversationId>,
    limit: i64,
) -> Result<Vec<ConversationSummary>> {
    let (first, second) = cx.actor.circles.pair();
    let below = after.map_or("cnv_~", |id| id.as_str());
    Ok(tx.all(
        &format!(
            "{} WHERE t.ws = ?1 AND t.tag = ?2 AND t.conversation < ?3 AND c.circle IN (?4, ?5)
               AND c.removed IS NULL
             ORDER BY t.conversation DESC LIMIT ?6",
            list::select(
                "conversation_tags t
                 JOIN conversations c ON c.ws = t.ws AND c.id = t.conversation"
            )
        ),
        &[&cx.actor.ws, tag, &below, first, second, &limit],
    )?)
}

pub fn tag_name(tx: &mut Tx<'_>, cx: &Cx<'_>, tag: &TagId) -> Result<String> {
    Ok(tags::seen_by(tx, cx.actor, tag)?.ok_or(Error::NotFound("tag"))?.name)
}

/// Which of these conversations have mail that the actor has not read.
pub fn unread(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    listed: &[ConversationSummary],
) -> Result<HashSet<ConversationId>> {
    let Some(me) = cx.actor.member().filter(|_| !listed.is_empty()) else {
        return Ok(HashSet::new());
    };
    let places: Vec<String> = (3..listed.len() + 3).map(|place| format!("?{place}")).collect();
    let mut args: Vec<&dyn Arg> = vec![&cx.actor.ws, &me];
    args.extend(listed.iter().map(|summary| &summary.id as &dyn Arg));
    let rows: Vec<(ConversationId, i64)> = tx.all(
        &format!(
            "SELECT conversation, read_at FROM read_marks
             WHERE ws = ?1 AND person = ?2 AND conversation IN ({})",
            places.join(", ")
        ),
        &args,
    )?;
    let read: HashMap<ConversationId, i64> = rows.into_iter().collect();
    let is_new = |summary: &&ConversationSummary| {
        read.get(&summary.id).is_none_or(|read_at| summary.last_message_at > *read_at)
    };
    Ok(listed.iter().filter(is_new).map(|summary| summary.id.clone()).collect())
}
