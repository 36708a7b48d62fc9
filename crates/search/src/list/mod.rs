//! Walking the list of conversations in one of its orders, at a cost that does not grow with history.

mod count;
mod field_test;
mod filter;
mod list_count;
mod matching;
mod order;
mod readable_summary;
mod row_test;
mod sql;
mod tagged_with;

use base::actor::{Actor, Circle};
use base::assignee::Assignee;
use base::email_address::EmailAddress;
use base::error::Result;
use base::ids::{ConversationId, MemberId};
use base::states::{ConversationRisk, Direction, Status, Urgency};
use db::{Json, Tx};

use crate::Query;
use filter::{Conditions, List, ListConditions, has_values, in_list, tests_rows};
use matching::QueryTerms;
use readable_summary::ReadableSummary;
use sql::Sql;

pub use field_test::{FieldHolder, FieldMatch, FieldTest};
pub use filter::Filter;
pub use list_count::{CountEffort, ListCount};
pub use order::ListOrder;
pub use row_test::{RowCondition, RowTest};
pub use tagged_with::TaggedWith;

/// Rows that are read beyond a page in place of those that cannot be read.
const UNREADABLE: usize = 100;

/// Lists of a walk that SQLite reads each by itself; more are read by their sort keys. On PostgreSQL
/// each statement is a round trip.
const SEPARATE_LISTS: usize = 2;

/// Lists that are read in one statement.
const LISTS_AT_ONCE: usize = 50;

/// Conversations that moved since a walk began and whose former place is looked up.
const MOVED_LOOKED_AT: usize = 1_000;

/// A position in the list: the next conversations come after it in the list's order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListPosition {
    pub at: i64,
    pub id: String,
}

impl ListPosition {
    fn key(&self) -> (i64, &str) {
        (self.at, &self.id)
    }
}

db::row! {
    /// A conversation as a list shows it.
    #[derive(Clone, Debug, Hash)]
    pub struct ConversationSummary from "c" {
        pub num: i64,
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
        /// A topic that was removed is none.
        pub topic: Option<String> = "(SELECT t.name FROM topics t
             WHERE t.ws = c.ws AND t.id = c.topic)",
        pub urgency: Option<Urgency>,
        pub risk: Option<ConversationRisk>,
        pub last_direction: Option<Direction>,
        pub waiting_since: Option<i64>,
        pub answer_due_at: Option<i64>,
        pub resolve_due_at: Option<i64>,
        pub has_draft: bool,
        pub language: Option<String>,
        /// Some message of it is secure.
        pub has_secure: bool,
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

impl ListedConversation {
    fn new(summary: ConversationSummary, order: ListOrder) -> ListedConversation {
        let at = match order {
            ListOrder::Newest | ListOrder::Oldest => summary.last_message_at,
            ListOrder::LongestWaiting => summary.waiting_since.unwrap_or(summary.last_message_at),
        };
        let place = ListPosition { at, id: summary.id.to_string() };
        ListedConversation { summary, place }
    }
}

/// What a query found for one page.
pub struct FoundConversations {
    pub listed: Vec<ListedConversation>,
    /// Where the search stopped before it found enough; it goes on after this.
    pub stopped_at: Option<ListPosition>,
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
    order: ListOrder,
    conditions: Conditions,
    from: ListPosition,
    /// Those that moved since the walk began and stood after `from` then.
    moved: Vec<ListedConversation>,
}

impl ListWalk {
    pub fn begin(actor: &Actor, filter: &Filter) -> ListWalk {
        let circles: Vec<&Circle> = actor.circles.distinct().collect();
        let Filter { tag, since, until, tests, order, .. } = filter;
        let tested = circles.iter().filter(|_| filter.tests_circles());
        ListWalk {
            ws: actor.ws,
            lists: filter.lists(&circles),
            order: *order,
            conditions: Conditions {
                circles: tested.copied().cloned().collect(),
                tag: tag.clone(),
                since: *since,
                until: *until,
                tests: tests.clone(),
            },
            from: order.start(*since, *until),
            moved: Vec::new(),
        }
    }

    /// Continues a walk that began at `as_of` from the position `from`. An answered conversation
    /// leaves the order of those who wait, and none moves within it.
    pub fn resume(
        tx: &mut Tx<'_>,
        actor: &Actor,
        filter: &Filter,
        as_of: i64,
        from: ListPosition,
    ) -> Result<ListWalk> {
        let mut walk = ListWalk { from, ..ListWalk::begin(actor, filter) };
        if walk.order == ListOrder::LongestWaiting {
            return Ok(walk);
        }
        for list in &walk.lists {
            let mut sql = Sql::default();
            let conditions = walk.conditions(&mut sql);
            let at = in_list(&mut sql, list, &conditions);
            let since = format!("{at} AND c.last_message_at > {}", sql.int(as_of));
            let moved = in_order(tx, sql, &since, ListOrder::Newest, MOVED_LOOKED_AT)?;
            walk.moved.extend(moved);
        }
        for listed in &mut walk.moved {
            listed.place.at = former_place(tx, walk.ws, &listed.summary.id, as_of)?;
        }
        let (order, from) = (walk.order, walk.from.clone());
        let is_ahead = |place: &ListPosition| order.compare(from.key(), place.key()).is_lt();
        walk.moved.retain(|listed| listed.place.at > 0 && is_ahead(&listed.place));
        if walk.order == ListOrder::Oldest {
            // They stand at the end now, and are listed where they were.
            let until = walk.conditions.until.unwrap_or(as_of);
            walk.conditions.until = Some(until.min(as_of));
        }
        Ok(walk)
    }

    /// The next conversations.
    pub fn next(self, tx: &mut Tx<'_>, limit: usize) -> Result<Vec<ListedConversation>> {
        let found = self.after(tx, &self.from, limit)?;
        Ok(self.with_moved(found, limit))
    }

    /// Those of some conversations that are in the list.
    pub fn among(
        self,
        tx: &mut Tx<'_>,
        nums: &[i64],
        limit: usize,
    ) -> Result<Vec<ListedConversation>> {
        let found = matching::first_among(tx, &self, nums, limit)?;
        Ok(self.with_moved(found, limit))
    }

    /// The next conversations that have a mail for each term of a query. Its operators are part of
    /// the filter.
    pub fn next_matching(
        mut self,
        tx: &mut Tx<'_>,
        query: &Query,
        limit: usize,
    ) -> Result<FoundConversations> {
        let all = |listed| FoundConversations { listed, stopped_at: None };
        if query.is_empty() {
            return Ok(all(Vec::new()));
        }
        if query.terms.is_empty() && query.without.is_empty() {
            return self.next(tx, limit).map(all);
        }
        let terms = QueryTerms::new(tx, self.ws, query);
        let moved: Vec<i64> = self.moved.iter().map(|listed| listed.summary.num).collect();
        let moved = terms.those_matching(tx, self.ws, &moved)?;
        self.moved.retain(|listed| moved.contains(&listed.summary.num));
        let FoundConversations { listed, stopped_at } =
            matching::first_matching(tx, &self, &terms, limit)?;
        if let Some(stop) = &stopped_at {
            // Those after it are listed with what the next page finds there.
            let order = self.order;
            self.moved.retain(|one| order.compare(one.place.key(), stop.key()).is_le());
        }
        Ok(FoundConversations { listed: self.with_moved(listed, limit), stopped_at })
    }

    /// The first conversations that have some words, for whoever is still typing: at a cost with a bound,
    /// for which some may be missing.
    pub fn glance(
        self,
        tx: &mut Tx<'_>,
        query: &Query,
        limit: usize,
    ) -> Result<Vec<ListedConversation>> {
        if query.terms.is_empty() {
            return Ok(Vec::new());
        }
        let terms = QueryTerms::new(tx, self.ws, query);
        let listed = matching::first_at_a_glance(tx, &self, &terms, limit)?;
        Ok(self.with_moved(listed, limit))
    }

    fn with_moved(
        self,
        mut found: Vec<ListedConversation>,
        limit: usize,
    ) -> Vec<ListedConversation> {
        found.extend(self.moved);
        let order = self.order;
        found.sort_unstable_by(|a, b| order.compare(a.place.key(), b.place.key()));
        found.truncate(limit);
        found
    }

    /// The first conversations of the lists after a position: at least `limit`, if there are so many.
    fn after(
        &self,
        tx: &mut Tx<'_>,
        from: &ListPosition,
        limit: usize,
    ) -> Result<Vec<ListedConversation>> {
        if self.lists.len() > tx.pick(SEPARATE_LISTS, 1) {
            return self.first_of_all(tx, from, limit);
        }
        let mut found = Vec::new();
        for list in &self.lists {
            let mut sql = Sql::default();
            let conditions = self.conditions(&mut sql);
            let at = in_list(&mut sql, list, &conditions);
            let after = format!("{at} AND {}", self.order.after(&mut sql, from));
            found.extend(in_order(tx, sql, &after, self.order, limit)?);
        }
        Ok(found)
    }

    /// Reads the sort keys of many lists in one statement, and only the rows of those that come first.
    fn first_of_all(
        &self,
        tx: &mut Tx<'_>,
        from: &ListPosition,
        limit: usize,
    ) -> Result<Vec<ListedConversation>> {
        let mut found = Vec::new();
        for lists in self.lists.chunks(LISTS_AT_ONCE) {
            found.extend(readable(self.order, limit, |most| {
                let mut sql = Sql::default();
                let conditions = self.conditions(&mut sql);
                let keys = lists.iter().enumerate().map(|(place, list)| {
                    let at = in_list(&mut sql, list, &conditions);
                    let keys = self.keys(&mut sql, &at, from, most);
                    format!("SELECT at, id, num FROM ({keys}) AS list{place}")
                });
                let keys = keys.collect::<Vec<_>>().join(" UNION ALL ");
                let way = self.order.way();
                let first = format!(
                    "(SELECT num FROM ({keys}) AS keys ORDER BY at {way}, id {way} LIMIT {most})
                     AS first JOIN conversations c ON c.num = first.num"
                );
                sql.all::<ReadableSummary>(tx, &select(&first))
            })?);
        }
        Ok(found)
    }

    /// The SQL of the first sort keys of one list after a position; it needs only the index.
    fn keys(&self, sql: &mut Sql, at: &str, from: &ListPosition, most: usize) -> String {
        let after = self.order.after(sql, from);
        format!(
            "SELECT {} AS at, c.id, c.num FROM conversations c
             WHERE {at} AND {after} ORDER BY {} LIMIT {most}",
            self.order.column(),
            self.order.by()
        )
    }

    /// The conditions of every list, which are bound once for all lists of a statement.
    fn conditions(&self, sql: &mut Sql) -> ListConditions {
        ListConditions { ws: sql.int(self.ws), others: self.conditions.sql(sql, self.ws) }
    }

    /// For a lookup by conversation numbers: `ws + 0` keeps the planner from using the lists'
    /// indexes instead.
    fn in_any_list(&self, sql: &mut Sql) -> String {
        let ws = sql.int(self.ws);
        let lists: Vec<String> = self.lists.iter().map(|list| has_values(sql, list)).collect();
        let conditions = self.conditions.sql(sql, self.ws);
        format!("c.ws + 0 = {ws} AND ({}){conditions}", lists.join(" OR "))
    }
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
fn in_order(
    tx: &mut Tx<'_>,
    sql: Sql,
    condition: &str,
    order: ListOrder,
    limit: usize,
) -> Result<Vec<ListedConversation>> {
    readable(order, limit, |most| {
        let text = format!(
            "{} WHERE {condition} ORDER BY {} LIMIT {most}",
            select("conversations c"),
            order.by()
        );
        sql.all::<ReadableSummary>(tx, &text)
    })
}

/// Reads more where some cannot be read: others take their places, because a short page is the last
/// one.
fn readable(
    order: ListOrder,
    limit: usize,
    mut read: impl FnMut(usize) -> Result<Vec<ReadableSummary>>,
) -> Result<Vec<ListedConversation>> {
    let mut rows = read(limit)?;
    if rows.len() == limit && rows.iter().any(|row| row.0.is_none()) {
        rows = read(limit + UNREADABLE)?;
    }
    let found = rows.into_iter().filter_map(|row| row.0);
    Ok(found.map(|summary| ListedConversation::new(summary, order)).collect())
}
