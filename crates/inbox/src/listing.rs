//! Walking the list of conversations, newest first, at a cost that does not grow with history.

use std::collections::HashSet;

use db::{Arg, FromRow, Row, Tx, Value};

use crate::actor::{Actor, Circle};
use crate::conversations::names;
use crate::error::Result;
use crate::ids::{ConversationId, MailboxId, MemberId};
use crate::search::{self, Needle, Query};
use crate::time::Moment;
use crate::wire::{Assignee, Contact, ConversationSummary, View};

/// Conversations that moved since a walk began and whose former place is looked up.
const MOVED_LOOKED_AT: i64 = 1_000;
/// A term with more mails than this is common: the newest conversations are tried instead.
const RARE_MAILS: i64 = 100;
const ALL_MAILS: i64 = i64::MAX - 1;
/// Conversations tried for common terms before all matches are gathered after all.
const TRIED: usize = 400;
/// Conversations tried first for what may be the start of a word in wide use.
const TRIED_FIRST: usize = 50;
/// Up to this many candidates are looked up one by one; more are met by walking the list.
const LOOKED_UP: usize = 2_000;
/// Conversations fetched at a time while walking.
const WALKED_AT_ONCE: usize = 50;

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
    /// The lists which together are what the filter asks for, as one who sees `circles`.
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
        let (circle, view) = (circle.to_string(), view.word().to_owned());
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

/// A place in the list: just after it come the conversations before this moment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub at: i64,
    pub id: String,
}

impl Place {
    pub fn start() -> Place {
        Place { at: i64::MAX, id: String::new() }
    }
}

/// A conversation and the place it had when the walk began.
pub struct Listed {
    pub summary: ConversationSummary,
    pub place: Place,
    num: i64,
}

pub const SELECT: &str = "SELECT c.num, c.id, c.subject, c.snippet, c.status, c.contact_name,
        c.contact_email, b.name, c.last_message_at, c.message_count, c.assignee,
        coalesce(u.name, a.name), c.tags, c.topic, c.urgency, c.risk, c.reference
    FROM conversations c
    JOIN mailboxes b ON b.ws = c.ws AND b.id = c.mailbox
    LEFT JOIN users u ON u.ws = c.ws AND u.id = c.assignee
    LEFT JOIN agents a ON a.ws = c.ws AND a.id = c.assignee";

impl FromRow for Listed {
    fn from_row(row: &mut Row<'_>) -> Result<Self, db::Error> {
        let num = row.take()?;
        let id: ConversationId = row.take()?;
        let subject = row.take()?;
        let snippet = row.take()?;
        let status = row.take()?;
        let contact = Contact { name: row.take()?, email: row.take()? };
        let mailbox = row.take()?;
        let at: i64 = row.take()?;
        let message_count = row.take()?;
        let member = MemberId::parse(&row.take::<String>()?);
        let name: Option<String> = row.take()?;
        let assignee = member.map(|id| Assignee::new(id, name.unwrap_or_default()));
        let place = Place { at, id: id.as_str().to_owned() };
        let summary = ConversationSummary {
            id,
            subject,
            snippet,
            status,
            contact,
            mailbox,
            last_message_at: Moment(at),
            message_count,
            assignee,
            tags: names(&row.take::<String>()?),
            topic: row.take()?,
            urgency: row.take()?,
            risk: row.take()?,
            reference: row.take()?,
        };
        Ok(Listed { summary, place, num })
    }
}

/// A walk down the list in the order it had at one moment. Conversations that moved since then
/// are given where they stood, so that nothing is given twice and nothing is passed over.
pub struct Walk {
    ws: i64,
    lists: Vec<List>,
    from: Place,
    /// Those that moved since the walk began and stood after `from` then.
    moved: Vec<Listed>,
}

impl Walk {
    pub fn begin(actor: &Actor, filter: &Filter) -> Walk {
        let mut circles = actor.circles.to_vec();
        circles.dedup();
        let lists = filter.lists(&circles);
        Walk { ws: actor.ws, lists, from: Place::start(), moved: Vec::new() }
    }

    /// Goes on with a walk that began at `as_of` and has come to `from`.
    pub fn resume(
        tx: &mut Tx<'_>,
        actor: &Actor,
        filter: &Filter,
        as_of: i64,
        from: Place,
    ) -> Result<Walk> {
        let mut walk = Walk { from, ..Walk::begin(actor, filter) };
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
    pub fn next(self, tx: &mut Tx<'_>, limit: usize) -> Result<Vec<Listed>> {
        let found = self.below(tx, &self.from, limit)?;
        Ok(self.with_moved(found, limit))
    }

    /// The next conversations that have a mail for each term of a query.
    pub fn next_matching(
        mut self,
        tx: &mut Tx<'_>,
        query: &Query,
        limit: usize,
    ) -> Result<Vec<Listed>> {
        if query.terms.is_empty() {
            return Ok(Vec::new());
        }
        let needles: Vec<Needle> =
            query.terms.iter().map(|term| search::needle(tx, self.ws, term)).collect();
        let all: Vec<&Needle> = needles.iter().collect();
        for listed in std::mem::take(&mut self.moved) {
            if self.has_all(tx, &all, &listed)? {
                self.moved.push(listed);
            }
        }
        let found = match tx.pick(true, false) {
            true => self.matching_in_sqlite(tx, &all, limit)?,
            false => self.matching_in_postgres(tx, &all, limit)?,
        };
        Ok(self.with_moved(found, limit))
    }

    fn with_moved(self, mut found: Vec<Listed>, limit: usize) -> Vec<Listed> {
        found.extend(self.moved);
        newest(found, limit)
    }

    /// A whole word with few mails gives the candidates at once. Otherwise the newest
    /// conversations are tried, which soon finds enough for words in wide use and spares gathering
    /// their mails; then whatever the index has few mails for; and when that does not help either,
    /// the terms hardly ever meet, and the matches of all are gathered.
    fn matching_in_sqlite(
        &self,
        tx: &mut Tx<'_>,
        needles: &[&Needle],
        limit: usize,
    ) -> Result<Vec<Listed>> {
        let fits = |tx: &mut Tx<'_>, key: &Key| {
            search::conversation_has_all(tx, self.ws, needles, key.num, &key.id)
        };
        let first = match rarest(tx, needles)? {
            Rarest::Few => 0,
            Rarest::None => TRIED_FIRST,
            Rarest::Many => TRIED,
        };
        if let Some(found) = self.by_walking(tx, limit, first, fits)? {
            return Ok(found);
        }
        if let (Some(candidates), common) = narrowed(tx, needles, RARE_MAILS)? {
            return self.among(tx, &candidates, &common);
        }
        if let Some(found) = self.by_walking(tx, limit, TRIED, fits)? {
            return Ok(found);
        }
        let candidates = narrowed(tx, needles, ALL_MAILS)?.0.unwrap_or_default();
        if candidates.len() <= LOOKED_UP {
            return self.among(tx, &candidates, &[]);
        }
        let known = |_: &mut Tx<'_>, key: &Key| Ok(candidates.contains(&key.num));
        Ok(self.by_walking(tx, limit, usize::MAX, known)?.unwrap_or_default())
    }

    /// The candidates that are in the list and have the rest of the terms too.
    fn among(
        &self,
        tx: &mut Tx<'_>,
        candidates: &HashSet<i64>,
        rest: &[&Needle],
    ) -> Result<Vec<Listed>> {
        let mut found = Vec::new();
        for num in candidates {
            let Some(listed) = self.numbered(tx, *num)? else { continue };
            if self.has_all(tx, rest, &listed)? {
                found.push(listed);
            }
        }
        Ok(found)
    }

    /// The newest conversations that fit; `None` when `most` were met before there were enough.
    fn by_walking(
        &self,
        tx: &mut Tx<'_>,
        limit: usize,
        most: usize,
        fits: impl Fn(&mut Tx<'_>, &Key) -> Result<bool>,
    ) -> Result<Option<Vec<Listed>>> {
        let mut found = Vec::new();
        let mut from = self.from.clone();
        let mut met = 0;
        while met < most {
            let batch = self.keys_below(tx, &from, WALKED_AT_ONCE)?;
            let ended = batch.len() < WALKED_AT_ONCE;
            met += batch.len();
            for key in batch {
                if fits(tx, &key)? {
                    found.push(tx.one(&format!("{SELECT} WHERE c.num = ?1"), &[&key.num])?);
                }
                if found.len() == limit {
                    return Ok(Some(found));
                }
                from = Place { at: key.at, id: key.id.to_string() };
            }
            if ended {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The next conversations' keys, which the index alone can tell.
    fn keys_below(&self, tx: &mut Tx<'_>, from: &Place, limit: usize) -> Result<Vec<Key>> {
        let mut keys: Vec<Key> = Vec::new();
        for list in &self.lists {
            let mut sql = Sql::default();
            let at = self.in_list(&mut sql, list);
            let below = sql.below(from);
            let limit = sql.int(limit as i64);
            let text = format!(
                "SELECT c.last_message_at, c.id, c.num FROM conversations c
                 WHERE {at} AND {below} ORDER BY c.last_message_at DESC, c.id DESC LIMIT {limit}"
            );
            keys.extend(sql.all::<Key>(tx, &text)?);
        }
        keys.sort_unstable_by(|a, b| (b.at, &b.id).cmp(&(a.at, &a.id)));
        keys.truncate(limit);
        Ok(keys)
    }

    /// The matches are gathered before anything is joined to them: left to itself the planner
    /// may walk all conversations instead.
    fn matching_in_postgres(
        &self,
        tx: &mut Tx<'_>,
        needles: &[&Needle],
        limit: usize,
    ) -> Result<Vec<Listed>> {
        let mut sql = Sql::default();
        let hits: Vec<String> = needles
            .iter()
            .map(|needle| {
                format!(
                    "SELECT DISTINCT conversation FROM mail_words
                     WHERE ws = {} AND words @@ CAST(CAST({} AS TEXT) AS TSQUERY)",
                    sql.int(self.ws),
                    sql.text(&needle.expression)
                )
            })
            .collect();
        let place = self.in_any_list(&mut sql);
        let below = sql.below(&self.from);
        let limit = sql.int(limit as i64);
        let text = format!(
            "WITH hits AS MATERIALIZED ({})
             {SELECT} JOIN hits ON hits.conversation = c.id
             WHERE {place} AND {below}
             ORDER BY c.last_message_at DESC, c.id DESC LIMIT {limit}",
            hits.join(" INTERSECT ")
        );
        sql.all(tx, &text)
    }

    fn has_all(&self, tx: &mut Tx<'_>, needles: &[&Needle], listed: &Listed) -> Result<bool> {
        search::conversation_has_all(tx, self.ws, needles, listed.num, &listed.summary.id)
    }

    /// Up to `limit` conversations after a place, from each list.
    fn below(&self, tx: &mut Tx<'_>, from: &Place, limit: usize) -> Result<Vec<Listed>> {
        let mut found = Vec::new();
        for list in &self.lists {
            let mut sql = Sql::default();
            let at = self.in_list(&mut sql, list);
            let below = format!("{at} AND {}", sql.below(from));
            found.extend(newest_first(tx, sql, &below, limit as i64)?);
        }
        Ok(found)
    }

    /// The conversation with this number, if it is in the list and after `from`.
    fn numbered(&self, tx: &mut Tx<'_>, num: i64) -> Result<Option<Listed>> {
        let mut sql = Sql::default();
        let num = sql.int(num);
        let place = self.in_any_list(&mut sql);
        let below = sql.below(&self.from);
        let text = format!("{SELECT} WHERE c.num = {num} AND {place} AND {below}");
        Ok(sql.all(tx, &text)?.into_iter().next())
    }

    fn in_list(&self, sql: &mut Sql, list: &List) -> String {
        let ws = sql.int(self.ws);
        let columns = list.iter().map(|(column, value)| format!("{column} = {}", sql.text(value)));
        let columns: Vec<String> = columns.collect();
        format!("c.ws = {ws} AND {}", columns.join(" AND "))
    }

    fn in_any_list(&self, sql: &mut Sql) -> String {
        let lists: Vec<String> = self.lists.iter().map(|list| self.in_list(sql, list)).collect();
        format!("({})", lists.join(" OR "))
    }
}

/// A conversation while it is only tried.
struct Key {
    at: i64,
    id: ConversationId,
    num: i64,
}

impl FromRow for Key {
    fn from_row(row: &mut Row<'_>) -> Result<Self, db::Error> {
        Ok(Key { at: row.take()?, id: row.take()?, num: row.take()? })
    }
}

/// How many mails have the rarest of the terms, each taken as a whole word.
enum Rarest {
    None,
    Few,
    Many,
}

fn rarest(tx: &mut Tx<'_>, needles: &[&Needle]) -> Result<Rarest> {
    let mut rarest = Rarest::Many;
    for needle in needles {
        match search::conversations_with(tx, &needle.whole, RARE_MAILS)? {
            Some(nums) if !nums.is_empty() => return Ok(Rarest::Few),
            Some(_) => rarest = Rarest::None,
            None => {}
        }
    }
    Ok(rarest)
}

/// The conversations that have every needle of at most `most` mails, and the other needles;
/// `None` when all have more.
fn narrowed<'n>(
    tx: &mut Tx<'_>,
    needles: &[&'n Needle],
    most: i64,
) -> Result<(Option<HashSet<i64>>, Vec<&'n Needle>)> {
    let mut candidates: Option<HashSet<i64>> = None;
    let mut common = Vec::new();
    for needle in needles {
        let nums = search::conversations_with(tx, &needle.expression, most)?;
        match (nums, &mut candidates) {
            (Some(nums), Some(candidates)) => candidates.retain(|num| nums.contains(num)),
            (Some(nums), none) => *none = Some(nums),
            (None, _) => common.push(*needle),
        }
    }
    Ok((candidates, common))
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

fn newest_first(tx: &mut Tx<'_>, mut sql: Sql, condition: &str, limit: i64) -> Result<Vec<Listed>> {
    let limit = sql.int(limit);
    let text = format!(
        "{SELECT} WHERE {condition} ORDER BY c.last_message_at DESC, c.id DESC LIMIT {limit}"
    );
    sql.all(tx, &text)
}

fn newest(mut found: Vec<Listed>, limit: usize) -> Vec<Listed> {
    found.sort_unstable_by(|a, b| b.place.cmp(&a.place));
    found.truncate(limit);
    found
}

/// The arguments of a statement whose conditions depend on what was asked.
#[derive(Default)]
struct Sql(Vec<Bound>);

enum Bound {
    Int(i64),
    Text(String),
}

impl Arg for Bound {
    fn value(&self) -> Value<'_> {
        match self {
            Bound::Int(number) => Value::Int(*number),
            Bound::Text(text) => Value::Text(text),
        }
    }
}

impl Sql {
    fn int(&mut self, number: i64) -> String {
        self.bind(Bound::Int(number))
    }

    fn text(&mut self, text: &str) -> String {
        self.bind(Bound::Text(text.to_owned()))
    }

    fn bind(&mut self, bound: Bound) -> String {
        self.0.push(bound);
        format!("?{}", self.0.len())
    }

    fn below(&mut self, place: &Place) -> String {
        let (at, id) = (self.int(place.at), self.text(&place.id));
        format!("(c.last_message_at, c.id) < ({at}, {id})")
    }

    fn all<T: FromRow>(&self, tx: &mut Tx<'_>, text: &str) -> Result<Vec<T>> {
        let args: Vec<&dyn Arg> = self.0.iter().map(|bound| bound as &dyn Arg).collect();
        Ok(tx.all(text, &args)?)
    }
}
