//! Walking the list of conversations, newest first, at a cost that does not grow with history.

mod matching;
mod sql;

use db::{Json, Tx};

use crate::base::actor::{Actor, Circle};
use crate::base::assignee::Assignee;
use crate::base::email_address::EmailAddress;
use crate::base::error::Result;
use crate::base::ids::{ConversationId, MailboxId, MemberId};
use crate::base::states::{ConversationRisk, Status, Urgency, View};
use crate::search::{self, Query};
use sql::Sql;

/// Conversations that moved since a walk began and whose former place is looked up.
const MOVED_LOOKED_AT: usize = 1_000;

/// Which conversations are listed.
pub struct Filter {
    pub views: Vec<View>,
    /// An inbox that the actor may see.
    pub mailbox: Option<MailboxId>,
    /// A member's id, or empty for nobody.
    pub assignee: Option<String>,
    /// Lower-cased.
    pub reference: Option<String>,
}

/// One list that an index holds in order: columns and the values they must have.
type List = Vec<(&'static str, String)>;

impl Filter {
    /// The lists whose union is the filter's result for an actor who sees `circles`.
    fn lists(&self, circles: &[Circle]) -> Vec<List> {
        // An inbox has one circle, which was checked when the inbox was looked up.
        let circles = if self.mailbox.is_some() { &circles[..1] } else { circles };
        let mut lists = Vec::new();
        for circle in circles {
            for view in &self.views {
                lists.push(self.list(circle, *view));
            }
        }
        lists
    }

    /// The first column leads the index that is meant; concatenation keeps the planner from
    /// choosing one that the other columns lead.
    fn list(&self, circle: &Circle, view: View) -> List {
        let (circle, view) = (circle.to_string(), view.as_str().to_owned());
        let mut list: List = match (&self.reference, &self.mailbox) {
            (Some(reference), Some(mailbox)) => vec![
                ("c.reference", reference.clone()),
                ("c.mailbox || ''", mailbox.to_string()),
                ("c.view || ''", view),
            ],
            (Some(reference), None) => vec![
                ("c.reference", reference.clone()),
                ("c.circle || ''", circle),
                ("c.view || ''", view),
            ],
            (None, Some(mailbox)) => vec![("c.mailbox", mailbox.to_string()), ("c.view", view)],
            (None, None) => vec![("c.circle", circle), ("c.view", view)],
        };
        if let Some(assignee) = &self.assignee {
            let column = match &self.reference {
                Some(_) => "c.assignee || ''",
                None => "c.assignee",
            };
            list.push((column, assignee.clone()));
        }
        list
    }
}

/// A position in the list: the next conversations are older than it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListPosition {
    pub at: i64,
    pub id: String,
}

impl ListPosition {
    pub fn start() -> ListPosition {
        ListPosition { at: i64::MAX, id: String::new() }
    }
}

db::row! {
    /// A conversation as a list shows it.
    #[derive(Clone, Debug, Hash)]
    pub struct ConversationSummary from "c" {
        num: i64,
        pub id: ConversationId,
        pub subject: String,
        /// The start of the latest message.
        pub snippet: String,
        pub status: Status,
        pub contact_name: Option<String>,
        pub contact_email: EmailAddress,
        /// The inbox's name.
        pub mailbox: String = "b.name",
        pub last_message_at: i64,
        pub message_count: i64,
        assignee: Option<MemberId> = "nullif(c.assignee, '')",
        assignee_name: String = "coalesce(u.name, a.name, '')",
        pub tags: Json<Vec<String>>,
        pub topic: Option<String>,
        pub urgency: Option<Urgency>,
        pub risk: Option<ConversationRisk>,
        pub reference: Option<String>,
    }
}

impl ConversationSummary {
    pub fn assignee(&self) -> Option<Assignee> {
        let id = self.assignee.clone()?;
        Some(Assignee::new(id, self.assignee_name.clone()))
    }
}

/// A conversation and the place it had when the walk began.
pub struct ListedConversation {
    pub summary: ConversationSummary,
    pub place: ListPosition,
}

impl From<ConversationSummary> for ListedConversation {
    fn from(summary: ConversationSummary) -> ListedConversation {
        let place = ListPosition { at: summary.last_message_at, id: summary.id.to_string() };
        ListedConversation { summary, place }
    }
}

/// Reads a [`ConversationSummary`] from the conversations `c` of a FROM clause.
pub fn select(from: &str) -> String {
    format!(
        "SELECT {}
         FROM {from}
         JOIN mailboxes b ON b.ws = c.ws AND b.id = c.mailbox
         LEFT JOIN users u ON u.ws = c.ws AND u.id = c.assignee
         LEFT JOIN agents a ON a.ws = c.ws AND a.id = c.assignee",
        ConversationSummary::COLUMNS
    )
}

/// A walk down the list in the order it had at one moment. Conversations that moved since then keep
/// their old position, so that none is returned twice or skipped.
pub struct ListWalk {
    ws: i64,
    lists: Vec<List>,
    from: ListPosition,
    /// Those that moved since the walk began and stood after `from` then.
    moved: Vec<ListedConversation>,
}

impl ListWalk {
    pub fn begin(actor: &Actor, filter: &Filter) -> ListWalk {
        let mut circles = actor.circles.to_vec();
        circles.dedup();
        let lists = filter.lists(&circles);
        ListWalk { ws: actor.ws, lists, from: ListPosition::start(), moved: Vec::new() }
    }

    /// Continues a walk that began at `as_of` from the position `from`.
    pub fn resume(
        tx: &mut Tx<'_>,
        actor: &Actor,
        filter: &Filter,
        as_of: i64,
        from: ListPosition,
    ) -> Result<ListWalk> {
        let mut walk = ListWalk { from, ..ListWalk::begin(actor, filter) };
        for list in &walk.lists {
            let mut sql = Sql::default();
            let at = walk.in_list(&mut sql, list);
            let since = format!("{at} AND c.last_message_at > {}", sql.int(as_of));
            walk.moved.extend(newest_first(tx, sql, &since, MOVED_LOOKED_AT)?);
        }
        for listed in &mut walk.moved {
            listed.place.at = former_place(tx, walk.ws, &listed.summary.id, as_of)?;
        }
        walk.moved.retain(|listed| listed.place.at > 0 && listed.place < walk.from);
        Ok(walk)
    }

    /// The next conversations.
    pub fn next(self, tx: &mut Tx<'_>, limit: usize) -> Result<Vec<ListedConversation>> {
        let found = self.below(tx, &self.from, limit)?;
        Ok(self.with_moved(found, limit))
    }

    /// The next conversations that have a mail for each term of a query.
    pub fn next_matching(
        mut self,
        tx: &mut Tx<'_>,
        query: &Query,
        limit: usize,
    ) -> Result<Vec<ListedConversation>> {
        if query.terms.is_empty() {
            return Ok(Vec::new());
        }
        let terms: Vec<_> =
            query.terms.iter().map(|term| search::search_term(tx, self.ws, term)).collect();
        let all: Vec<_> = terms.iter().collect();
        let moved: Vec<i64> = self.moved.iter().map(|listed| listed.summary.num).collect();
        let moved = search::those_with_all(tx, self.ws, &all, &moved)?;
        self.moved.retain(|listed| moved.contains(&listed.summary.num));
        let found = matching::newest_matching(tx, &self, &terms, limit)?;
        Ok(self.with_moved(found, limit))
    }

    fn with_moved(
        self,
        mut found: Vec<ListedConversation>,
        limit: usize,
    ) -> Vec<ListedConversation> {
        found.extend(self.moved);
        newest(found, limit)
    }

    /// Up to `limit` conversations after a place, from each list.
    fn below(
        &self,
        tx: &mut Tx<'_>,
        from: &ListPosition,
        limit: usize,
    ) -> Result<Vec<ListedConversation>> {
        let mut found = Vec::new();
        for list in &self.lists {
            let mut sql = Sql::default();
            let at = self.in_list(&mut sql, list);
            let below = format!("{at} AND {}", sql.below(from));
            found.extend(newest_first(tx, sql, &below, limit)?);
        }
        Ok(found)
    }

    fn in_list(&self, sql: &mut Sql, list: &List) -> String {
        let ws = sql.int(self.ws);
        format!("c.ws = {ws} AND {}", has_values(sql, list))
    }

    /// For a lookup by conversation numbers: `ws + 0` keeps the planner from using the lists'
    /// indexes instead.
    fn in_any_list(&self, sql: &mut Sql) -> String {
        let ws = sql.int(self.ws);
        let lists: Vec<String> = self.lists.iter().map(|list| has_values(sql, list)).collect();
        format!("c.ws + 0 = {ws} AND ({})", lists.join(" OR "))
    }
}

fn has_values(sql: &mut Sql, list: &List) -> String {
    let columns = list.iter().map(|(column, value)| format!("{column} = {}", sql.text(value)));
    columns.collect::<Vec<_>>().join(" AND ")
}

/// When the conversation's latest mail was at a moment; 0 if it had none yet.
fn former_place(tx: &mut Tx<'_>, ws: i64, id: &ConversationId, as_of: i64) -> Result<i64> {
    let (at,): (i64,) = tx.one(
        "SELECT CAST(coalesce(max(counted_at), 0) AS BIGINT) FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND counted_at <= ?3",
        &[&ws, id, &as_of],
    )?;
    Ok(at)
}

/// The LIMIT is a literal, so that PostgreSQL plans for it.
fn newest_first(
    tx: &mut Tx<'_>,
    sql: Sql,
    condition: &str,
    limit: usize,
) -> Result<Vec<ListedConversation>> {
    let text = format!(
        "{} WHERE {condition} ORDER BY c.last_message_at DESC, c.id DESC LIMIT {limit}",
        select("conversations c")
    );
    let found = sql.all::<ConversationSummary>(tx, &text)?;
    Ok(found.into_iter().map(ListedConversation::from).collect())
}

fn newest(mut found: Vec<ListedConversation>, limit: usize) -> Vec<ListedConversation> {
    found.sort_unstable_by(|a, b| b.place.cmp(&a.place));
    found.truncate(limit);
    found
}
