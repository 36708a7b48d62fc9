//! The first conversations of a list that have a mail for each term of a query.

use std::collections::{HashSet, VecDeque};

use base::error::Result;
use db::{FromRow, Row, StoreError, Tx};

use super::readable_summary::ReadableSummary;
use super::sql::Sql;
use super::{
    CountEffort, FoundConversations, LISTS_AT_ONCE, List, ListCount, ListOrder, ListPosition,
    ListWalk, ListedConversation, UNREADABLE, in_list, select,
};
use crate as search;
use crate::{PROBED_AT_ONCE, Query, SearchTerm, Term};

/// A term with at most this many mails is looked up in the index before conversations are scanned.
const FEW_MAILS: i64 = 50;
/// A term with at most this many mails is looked up in the index rather than tested on each
/// conversation.
const RARE_MAILS: i64 = 300;
const ALL_MAILS: i64 = i64::MAX - 1;
/// Conversations scanned before a possibly frequent term is looked up.
const TRIED_FIRST: usize = 50;
/// Conversations scanned for frequent terms before all matches are read from the index.
const TRIED: usize = 1_000;
/// How many times the first scan may be repeated to find enough matches.
const PROMISE: usize = 4;
/// Index entries that are read in the time of one tested conversation.
const MAILS_PER_TRY: usize = 5;
/// With more candidates than this the list is scanned first, because its index gives the order.
const LOOKED_UP: usize = 100;
/// Conversations scanned in the time of one candidate's lookup.
const WALKED_PER_CANDIDATE: usize = 8;
/// Conversations tested at a time, and fetched from each list at first.
const AT_ONCE: usize = 25;
/// The most that are tested at a time on PostgreSQL, where each test is a round trip. Each time they are
/// twice as many as before.
const TESTED_AT_ONCE: usize = 100;
/// Conversations tested for one page when a query says only what they must not have.
const TRIED_WITHOUT: usize = 1_000;
/// A term with at most this many mails is looked up in the index where matches are counted.
const COUNTED_MAILS: i64 = 10_000;
/// The same where the count must be quick.
const QUICKLY_COUNTED_MAILS: i64 = 500;
/// Conversations tested where matches of frequent words are counted.
const TRIED_COUNTING: usize = 2_000;
/// A term with at most this many mails is looked up in the index for a glance.
const GLANCED_MAILS: i64 = 500;
/// Conversations tested for frequent words for a glance.
const TRIED_AT_A_GLANCE: usize = 500;
/// The largest fetch; each fetch is twice as large as the one before.
const FETCHED_AT_ONCE: usize = 400;

pub(super) fn first_matching(
    tx: &mut Tx<'_>,
    walk: &ListWalk,
    terms: &QueryTerms,
    limit: usize,
) -> Result<FoundConversations> {
    let Matches { listed, stopped_at, .. } = with_others(limit, |most| {
        if terms.all.is_empty() {
            first_without(tx, walk, terms, most)
        } else {
            first_with_all(tx, walk, terms, most)
        }
    })?;
    Ok(FoundConversations { listed, stopped_at })
}

/// The matches of one page, as the list shows them.
struct Matches {
    listed: Vec<ListedConversation>,
    /// Some were left out, because their rows cannot be read.
    has_unreadable: bool,
    /// Where the search stopped before it found enough.
    stopped_at: Option<ListPosition>,
}

/// Reads more where some cannot be read: others take their places, because a short page is the last one.
fn with_others(limit: usize, mut read: impl FnMut(usize) -> Result<Matches>) -> Result<Matches> {
    let matches = read(limit)?;
    if matches.has_unreadable { read(limit + UNREADABLE) } else { Ok(matches) }
}

/// A query that says only what conversations must not have is tested on one after the other, for a
/// while: the next page goes on from there.
fn first_without(
    tx: &mut Tx<'_>,
    walk: &ListWalk,
    terms: &QueryTerms,
    limit: usize,
) -> Result<Matches> {
    let mut scan = ListScan::new(walk, limit);
    let fits = |tx: &mut Tx<'_>, nums: &[i64]| terms.those_matching(tx, walk.ws, nums);
    let is_complete = scan.go_on(tx, TRIED_WITHOUT, fits)?;
    let stopped_at = scan.tested.take().filter(|_| !is_complete);
    Ok(Matches { stopped_at, ..scan.list(tx)? })
}

/// Rare terms give the candidates directly from the index. Without a rare term the first
/// conversations are tested one by one: frequent words soon match enough of them, and their many
/// index entries need not be read. If that finds too few, the terms rarely occur together, and all
/// matches are read from the index.
fn first_with_all(
    tx: &mut Tx<'_>,
    walk: &ListWalk,
    terms: &QueryTerms,
    limit: usize,
) -> Result<Matches> {
    let has_all = |tx: &mut Tx<'_>, nums: &[i64]| terms.those_matching(tx, walk.ws, nums);
    let mut scan = ListScan::new(walk, limit);
    let mut candidates = Candidates::by_few_mails(tx, terms, FEW_MAILS)?;
    if candidates.nums.is_none() {
        if scan.go_on(tx, TRIED_FIRST, has_all)? {
            return scan.list(tx);
        }
        if !scan.promises_enough() {
            candidates.by_more_mails(tx, scan.worth_in_mails())?;
        }
    }
    if candidates.nums.is_none() {
        if scan.go_on(tx, TRIED, has_all)? {
            return scan.list(tx);
        }
        candidates.by_more_mails(tx, ALL_MAILS)?;
    }
    scan.end(tx, &candidates)
}

/// The first matches that are found at a cost with a bound: the entries of frequent terms are never all read,
/// so what seldom has all of them is found among the first conversations of the list only.
pub(super) fn first_at_a_glance(
    tx: &mut Tx<'_>,
    walk: &ListWalk,
    terms: &QueryTerms,
    limit: usize,
) -> Result<Vec<ListedConversation>> {
    let matches = with_others(limit, |most| {
        let has_all = |tx: &mut Tx<'_>, nums: &[i64]| terms.those_matching(tx, walk.ws, nums);
        let mut scan = ListScan::new(walk, most);
        let mut candidates = Candidates::by_few_mails(tx, terms, FEW_MAILS)?;
        if candidates.nums.is_none() {
            if scan.go_on(tx, TRIED_FIRST, has_all)? {
                return scan.list(tx);
            }
            candidates.by_more_mails(tx, GLANCED_MAILS)?;
        }
        if candidates.nums.is_none() {
            scan.go_on(tx, TRIED_AT_A_GLANCE, has_all)?;
            return scan.list(tx);
        }
        scan.end(tx, &candidates)
    })?;
    Ok(matches.listed)
}

/// Counts all that match, where one of the terms is rare enough to be looked up; else, unless the count
/// must be quick, those among the first conversations of the list.
pub(super) fn count_matching(
    tx: &mut Tx<'_>,
    walk: &ListWalk,
    terms: &QueryTerms,
    effort: CountEffort,
) -> Result<ListCount> {
    let few = match effort {
        CountEffort::Thorough => FEW_MAILS,
        CountEffort::Quick => QUICKLY_COUNTED_MAILS,
    };
    let mut candidates = Candidates::by_few_mails(tx, terms, few)?;
    if candidates.nums.is_none() {
        if effort == CountEffort::Quick {
            return Ok(ListCount::UNKNOWN);
        }
        candidates.by_more_mails(tx, COUNTED_MAILS)?;
    }
    let Some(nums) = &candidates.nums else {
        let mut scan = ListScan::new(walk, usize::MAX);
        let has_all = |tx: &mut Tx<'_>, nums: &[i64]| terms.those_matching(tx, walk.ws, nums);
        let is_exact = scan.go_on(tx, TRIED_COUNTING, has_all)?;
        return Ok(ListCount { n: scan.fitting.len(), is_exact });
    };
    let fit = candidates.those_with_all(tx, walk.ws, nums.iter().copied().collect())?;
    let fit: Vec<i64> = fit.into_iter().collect();
    Ok(ListCount::up_to(keys_among(tx, walk, &fit)?.len(), effort.most()))
}

/// The terms of a query in the language of the index.
pub(super) struct QueryTerms {
    all: Vec<SearchTerm>,
    without: Vec<SearchTerm>,
}

impl QueryTerms {
    pub(super) fn new(tx: &Tx<'_>, ws: i64, query: &Query) -> QueryTerms {
        let terms = |terms: &[Term]| -> Vec<SearchTerm> {
            terms.iter().map(|term| search::search_term(tx, ws, term)).collect()
        };
        QueryTerms { all: terms(&query.terms), without: terms(&query.without) }
    }

    /// Those of the conversations that match.
    pub(super) fn those_matching(
        &self,
        tx: &mut Tx<'_>,
        ws: i64,
        nums: &[i64],
    ) -> Result<HashSet<i64>> {
        let all: Vec<&SearchTerm> = self.all.iter().collect();
        let found = search::those_with_all(tx, ws, &all, nums)?;
        search::those_without(tx, ws, &self.without, found)
    }
}

/// The conversations that the index lookups leave as possible matches.
struct Candidates<'n> {
    /// The conversations that match every rare term; `None` without a rare term.
    nums: Option<HashSet<i64>>,
    /// Terms that the candidates were not checked for: frequent ones, and prefixes that are no word
    /// themselves, which are expensive to look up.
    unchecked: Vec<&'n SearchTerm>,
    without: &'n [SearchTerm],
}

impl<'n> Candidates<'n> {
    /// Looks up the terms that at most a few mails have.
    fn by_few_mails(tx: &mut Tx<'_>, terms: &'n QueryTerms, few: i64) -> Result<Candidates<'n>> {
        let mut candidates =
            Candidates { nums: None, unchecked: Vec::new(), without: &terms.without };
        for term in &terms.all {
            match search::conversations_with(tx, &term.whole, few)? {
                Some(nums) if term.is_whole() => candidates.keep(nums),
                Some(nums) if !nums.is_empty() => {
                    candidates.by_expression(tx, term, few.max(RARE_MAILS))?;
                }
                _ => candidates.unchecked.push(term),
            }
        }
        Ok(candidates)
    }

    fn by_more_mails(&mut self, tx: &mut Tx<'_>, most: i64) -> Result<()> {
        for term in std::mem::take(&mut self.unchecked) {
            self.by_expression(tx, term, most)?;
        }
        Ok(())
    }

    fn by_expression(&mut self, tx: &mut Tx<'_>, term: &'n SearchTerm, most: i64) -> Result<()> {
        match search::conversations_with(tx, &term.expression, most)? {
            Some(nums) => self.keep(nums),
            None => self.unchecked.push(term),
        }
        Ok(())
    }

    fn keep(&mut self, nums: HashSet<i64>) {
        match &mut self.nums {
            Some(known) => known.retain(|num| nums.contains(num)),
            none => *none = Some(nums),
        }
    }

    /// Those of the conversations that have every term.
    fn those_with_all(&self, tx: &mut Tx<'_>, ws: i64, nums: Vec<i64>) -> Result<HashSet<i64>> {
        let found = search::those_with_all(tx, ws, &self.unchecked, &nums)?;
        search::those_without(tx, ws, self.without, found)
    }
}

/// The first candidates that are in the list, after the cursor.
pub(super) fn first_among(
    tx: &mut Tx<'_>,
    walk: &ListWalk,
    candidates: &[i64],
    limit: usize,
) -> Result<Vec<ListedConversation>> {
    let matches = with_others(limit, |most| matches_among(tx, walk, candidates, most))?;
    Ok(matches.listed)
}

fn matches_among(
    tx: &mut Tx<'_>,
    walk: &ListWalk,
    candidates: &[i64],
    limit: usize,
) -> Result<Matches> {
    let mut keys = keys_among(tx, walk, candidates)?;
    keys.sort_unstable_by(|a, b| walk.order.compare(a.place(), b.place()));
    let first: Vec<i64> = keys.iter().take(limit).map(|key| key.num).collect();
    list_by_num(tx, walk.order, &first)
}

/// The candidates that are in the list, after the cursor.
fn keys_among(tx: &mut Tx<'_>, walk: &ListWalk, candidates: &[i64]) -> Result<Vec<Key>> {
    let mut keys: Vec<Key> = Vec::new();
    for nums in candidates.chunks(PROBED_AT_ONCE) {
        let mut sql = Sql::default();
        let nums = sql.ints(nums, search::probe_width(nums));
        let place = walk.in_any_list(&mut sql);
        let after = walk.order.after(&mut sql, &walk.from);
        let text = format!(
            "SELECT {}, c.id, c.num FROM conversations c
             WHERE c.num IN ({nums}) AND {place} AND {after}",
            walk.order.column()
        );
        keys.extend(sql.all::<Key>(tx, &text)?);
    }
    Ok(keys)
}

fn list_by_num(tx: &mut Tx<'_>, order: ListOrder, nums: &[i64]) -> Result<Matches> {
    let mut found: Vec<ReadableSummary> = Vec::new();
    for nums in nums.chunks(AT_ONCE) {
        let mut sql = Sql::default();
        let nums = sql.ints(nums, AT_ONCE);
        // The LIMIT keeps PostgreSQL's planner from starting the join at the inboxes.
        let among =
            format!("(SELECT * FROM conversations WHERE num IN ({nums}) LIMIT {AT_ONCE}) AS c");
        let text = select(&among);
        found.extend(sql.all::<ReadableSummary>(tx, &text)?);
    }
    let has_unreadable = found.iter().any(|row| row.0.is_none());
    let readable = found.into_iter().filter_map(|row| row.0);
    let listed = readable.map(|summary| ListedConversation::new(summary, order)).collect();
    Ok(Matches { listed, has_unreadable, stopped_at: None })
}

/// A scan of the lists in their order, until enough conversations match.
struct ListScan<'w> {
    walk: &'w ListWalk,
    cursors: Vec<ListCursor<'w>>,
    limit: usize,
    met: usize,
    /// How many are tested next.
    at_once: usize,
    /// The place of the last one that was met.
    tested: Option<ListPosition>,
    fitting: Vec<i64>,
}

/// A cursor on one list, with the rows that were fetched but not tested yet.
struct ListCursor<'w> {
    list: &'w List,
    fetched: VecDeque<Key>,
    fetches: usize,
    from: ListPosition,
    ended: bool,
}

/// The sort key of a conversation; its columns need only the index.
struct Key {
    at: i64,
    id: String,
    num: i64,
}

impl FromRow for Key {
    fn from_row(row: &mut Row<'_>) -> Result<Key, StoreError> {
        Ok(Key { at: row.take()?, id: row.take()?, num: row.take()? })
    }
}

/// A sort key, and the place of its list among those that were asked.
struct PlacedKey {
    place: i64,
    key: Key,
}

impl FromRow for PlacedKey {
    fn from_row(row: &mut Row<'_>) -> Result<PlacedKey, StoreError> {
        Ok(PlacedKey { place: row.take()?, key: Key::from_row(row)? })
    }
}

impl Key {
    fn place(&self) -> (i64, &str) {
        (self.at, &self.id)
    }
}

impl<'w> ListScan<'w> {
    fn new(walk: &'w ListWalk, limit: usize) -> ListScan<'w> {
        let cursors = walk.lists.iter().map(|list| {
            let from = walk.from.clone();
            ListCursor { list, fetched: VecDeque::new(), fetches: AT_ONCE, from, ended: false }
        });
        let cursors = cursors.collect();
        ListScan {
            walk,
            cursors,
            limit,
            met: 0,
            at_once: AT_ONCE,
            tested: None,
            fitting: Vec::new(),
        }
    }

    /// Tests conversations until enough match, the list ends, or `most` were tested in all. True
    /// when the scan is complete.
    fn go_on(
        &mut self,
        tx: &mut Tx<'_>,
        most: usize,
        fits: impl Fn(&mut Tx<'_>, &[i64]) -> Result<HashSet<i64>>,
    ) -> Result<bool> {
        while self.met < most {
            let count = self.at_once.min(most - self.met);
            self.at_once = tx.pick(AT_ONCE, (2 * self.at_once).min(TESTED_AT_ONCE));
            let nums = self.next(tx, count)?;
            self.met += nums.len();
            let fit = fits(tx, &nums)?;
            self.fitting.extend(nums.iter().filter(|num| fit.contains(num)));
            if self.fitting.len() >= self.limit || nums.len() < count {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// True when at the present hit rate a few times as many tests will find enough.
    fn promises_enough(&self) -> bool {
        self.fitting.len() * PROMISE >= self.limit
    }

    /// The number of index entries that can be read in the time of the tests still needed.
    fn worth_in_mails(&self) -> i64 {
        let missing = self.limit.saturating_sub(self.fitting.len());
        let attempts = missing * self.met / self.fitting.len().max(1);
        (attempts.min(TRIED) * MAILS_PER_TRY).max(RARE_MAILS as usize) as i64
    }

    /// The first matches, all of which are among the candidates.
    fn end(mut self, tx: &mut Tx<'_>, candidates: &Candidates<'_>) -> Result<Matches> {
        let ws = self.walk.ws;
        let Some(nums) = &candidates.nums else { return self.list(tx) };
        if nums.len() > LOOKED_UP {
            let most = self.met.saturating_add(nums.len() * WALKED_PER_CANDIDATE);
            let fits = |tx: &mut Tx<'_>, met: &[i64]| {
                let met = met.iter().filter(|num| nums.contains(num)).copied();
                candidates.those_with_all(tx, ws, met.collect())
            };
            if self.go_on(tx, most, fits)? {
                return self.list(tx);
            }
        }
        let fit = candidates.those_with_all(tx, ws, nums.iter().copied().collect())?;
        let fit: Vec<i64> = fit.into_iter().collect();
        matches_among(tx, self.walk, &fit, self.limit)
    }

    /// The next conversations of all lists.
    fn next(&mut self, tx: &mut Tx<'_>, count: usize) -> Result<Vec<i64>> {
        let mut nums = Vec::with_capacity(count);
        while nums.len() < count {
            self.refill(tx)?;
            let order = self.walk.order;
            let filled = self.cursors.iter_mut().filter(|cursor| !cursor.fetched.is_empty());
            let first = filled.min_by(|a, b| order.compare(a.head(), b.head()));
            let Some(key) = first.and_then(|cursor| cursor.fetched.pop_front()) else { break };
            nums.push(key.num);
            self.tested = Some(ListPosition { at: key.at, id: key.id });
        }
        Ok(nums)
    }

    /// Fetches the next rows of each list of which none is left, many lists in one statement.
    fn refill(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        let walk = self.walk;
        let empty = |cursor: &&mut ListCursor<'_>| !cursor.ended && cursor.fetched.is_empty();
        let mut cursors: Vec<_> = self.cursors.iter_mut().filter(empty).collect();
        for cursors in cursors.chunks_mut(LISTS_AT_ONCE) {
            let mut sql = Sql::default();
            let conditions = walk.conditions(&mut sql);
            let parts = cursors.iter().enumerate().map(|(place, cursor)| {
                let at = in_list(&mut sql, cursor.list, &conditions);
                let rows = walk.keys(&mut sql, &at, &cursor.from, cursor.fetches);
                format!("SELECT CAST({place} AS BIGINT), at, id, num FROM ({rows}) AS list{place}")
            });
            let text = parts.collect::<Vec<_>>().join(" UNION ALL ");
            for PlacedKey { place, key } in sql.all::<PlacedKey>(tx, &text)? {
                if let Some(cursor) = cursors.get_mut(place as usize) {
                    cursor.fetched.push_back(key);
                }
            }
            cursors.iter_mut().for_each(|cursor| cursor.continue_after(walk.order));
        }
        Ok(())
    }

    /// The matches, as the list shows them.
    fn list(mut self, tx: &mut Tx<'_>) -> Result<Matches> {
        self.fitting.truncate(self.limit);
        list_by_num(tx, self.walk.order, &self.fitting)
    }
}

impl ListCursor<'_> {
    fn head(&self) -> (i64, &str) {
        self.fetched.front().map_or((0, ""), Key::place)
    }

    /// Sets it to continue behind the rows that were fetched.
    fn continue_after(&mut self, order: ListOrder) {
        self.fetched.make_contiguous().sort_unstable_by(|a, b| order.compare(a.place(), b.place()));
        self.ended = self.fetched.len() < self.fetches;
        self.fetches = (2 * self.fetches).min(FETCHED_AT_ONCE);
        if let Some(last) = self.fetched.back() {
            self.from = ListPosition { at: last.at, id: last.id.clone() };
        }
    }
}
