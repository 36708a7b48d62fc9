//! The newest conversations of a list that have a mail for each term of a query.

use std::collections::{HashSet, VecDeque};

use db::Tx;

use super::sql::Sql;
use super::{ConversationSummary, List, ListPosition, ListWalk, ListedConversation, select};
use crate::base::error::Result;
use crate::search::{self, PROBED_AT_ONCE, SearchTerm};

/// A term with this many mails at the most is looked up before any conversation is tried.
const FEW_MAILS: i64 = 50;
/// A term with this many mails at the most is looked up rather than tried on.
const RARE_MAILS: i64 = 300;
const ALL_MAILS: i64 = i64::MAX - 1;
/// Conversations tried before anything that may be in wide use is looked up.
const TRIED_FIRST: usize = 50;
/// Conversations tried for common terms before all matches are gathered after all.
const TRIED: usize = 1_000;
/// How many times the first tries may be repeated to find enough.
const PROMISE: usize = 4;
/// Mails of a term that are looked up in the time of one try.
const MAILS_PER_TRY: usize = 5;
/// More candidates than this are first met by walking the list, which tells its order by itself.
const LOOKED_UP: usize = 100;
/// Conversations walked past in the time in which a candidate is looked up.
const WALKED_PER_CANDIDATE: usize = 8;
/// Conversations tried at a time, and fetched from each list when a walk begins.
const AT_ONCE: usize = 25;
/// Conversations fetched at a time at the most; each time it is twice as many as before.
const FETCHED_AT_ONCE: usize = 400;

/// Terms with few mails give the candidates at once. Otherwise the newest conversations are tried,
/// which soon finds enough for words in wide use and spares gathering their mails; and when that
/// does not help, the terms hardly ever meet, and the matches of all are gathered.
pub(super) fn newest_matching(
    tx: &mut Tx<'_>,
    walk: &ListWalk,
    terms: &[SearchTerm],
    limit: usize,
) -> Result<Vec<ListedConversation>> {
    let all: Vec<&SearchTerm> = terms.iter().collect();
    let has_all = |tx: &mut Tx<'_>, nums: &[i64]| search::those_with_all(tx, walk.ws, &all, nums);
    let mut scan = ListScan::new(walk, limit);
    let mut narrowed = Narrowed::by_few_mails(tx, terms)?;
    if narrowed.candidates.is_none() {
        if scan.go_on(tx, TRIED_FIRST, has_all)? {
            return scan.listed(tx);
        }
        if !scan.promises_enough() {
            narrowed.by_more_mails(tx, scan.worth_in_mails())?;
        }
    }
    if narrowed.candidates.is_none() {
        if scan.go_on(tx, TRIED, has_all)? {
            return scan.listed(tx);
        }
        narrowed.by_more_mails(tx, ALL_MAILS)?;
    }
    scan.end(tx, &narrowed)
}

/// What the index told cheaply.
struct Narrowed<'n> {
    /// The conversations that have every term of few mails; `None` when no term has few.
    candidates: Option<HashSet<i64>>,
    /// Terms that the candidates may not have: in wide use, or dear to ask about, as starts of
    /// words are that are no word themselves.
    rest: Vec<&'n SearchTerm>,
}

impl<'n> Narrowed<'n> {
    fn by_few_mails(tx: &mut Tx<'_>, terms: &'n [SearchTerm]) -> Result<Narrowed<'n>> {
        let mut narrowed = Narrowed { candidates: None, rest: Vec::new() };
        for term in terms {
            match search::conversations_with(tx, &term.whole, FEW_MAILS)? {
                Some(nums) if term.is_whole() => narrowed.keep(nums),
                Some(nums) if !nums.is_empty() => narrowed.by_expression(tx, term, RARE_MAILS)?,
                _ => narrowed.rest.push(term),
            }
        }
        Ok(narrowed)
    }

    fn by_more_mails(&mut self, tx: &mut Tx<'_>, most: i64) -> Result<()> {
        for term in std::mem::take(&mut self.rest) {
            self.by_expression(tx, term, most)?;
        }
        Ok(())
    }

    fn by_expression(&mut self, tx: &mut Tx<'_>, term: &'n SearchTerm, most: i64) -> Result<()> {
        match search::conversations_with(tx, &term.expression, most)? {
            Some(nums) => self.keep(nums),
            None => self.rest.push(term),
        }
        Ok(())
    }

    fn keep(&mut self, nums: HashSet<i64>) {
        match &mut self.candidates {
            Some(candidates) => candidates.retain(|num| nums.contains(num)),
            none => *none = Some(nums),
        }
    }

    /// Those of the conversations that have every term.
    fn those_with_all(&self, tx: &mut Tx<'_>, ws: i64, nums: Vec<i64>) -> Result<HashSet<i64>> {
        match self.rest.is_empty() {
            true => Ok(nums.into_iter().collect()),
            false => search::those_with_all(tx, ws, &self.rest, &nums),
        }
    }
}

/// The newest of the candidates that are in the list and after its place.
fn newest_among(
    tx: &mut Tx<'_>,
    walk: &ListWalk,
    candidates: &[i64],
    limit: usize,
) -> Result<Vec<ListedConversation>> {
    let mut keys: Vec<Key> = Vec::new();
    for nums in candidates.chunks(PROBED_AT_ONCE) {
        let mut sql = Sql::default();
        let nums = sql.ints(nums, PROBED_AT_ONCE);
        let place = walk.in_any_list(&mut sql);
        let below = sql.below(&walk.from);
        let text = format!(
            "SELECT {} FROM conversations c WHERE c.num IN ({nums}) AND {place} AND {below}",
            Key::COLUMNS
        );
        keys.extend(sql.all::<Key>(tx, &text)?);
    }
    keys.sort_unstable_by(|a, b| b.place().cmp(&a.place()));
    let newest: Vec<i64> = keys.iter().take(limit).map(|key| key.num).collect();
    listed(tx, &newest)
}

fn listed(tx: &mut Tx<'_>, nums: &[i64]) -> Result<Vec<ListedConversation>> {
    let mut found: Vec<ConversationSummary> = Vec::new();
    for nums in nums.chunks(AT_ONCE) {
        let mut sql = Sql::default();
        let nums = sql.ints(nums, AT_ONCE);
        // The limit keeps PostgreSQL from beginning with the inboxes.
        let among =
            format!("(SELECT * FROM conversations WHERE num IN ({nums}) LIMIT {AT_ONCE}) AS c");
        let text = select(&among);
        found.extend(sql.all::<ConversationSummary>(tx, &text)?);
    }
    Ok(found.into_iter().map(ListedConversation::from).collect())
}

/// A walk that tries conversations, the newest first, until enough fit.
struct ListScan<'w> {
    walk: &'w ListWalk,
    cursors: Vec<ListCursor<'w>>,
    limit: usize,
    met: usize,
    fitting: Vec<i64>,
}

/// One of the lists, and what was fetched of it and not met yet.
struct ListCursor<'w> {
    list: &'w List,
    fetched: VecDeque<Key>,
    fetches: usize,
    from: ListPosition,
    ended: bool,
}

db::row! {
    /// A conversation while it is only tried; the index alone can tell it.
    struct Key from "c" {
        last_message_at: i64,
        id: String,
        num: i64,
    }
}

impl Key {
    /// What lists are ordered by, as [`ListPosition`] is.
    fn place(&self) -> (i64, &str) {
        (self.last_message_at, &self.id)
    }
}

impl<'w> ListScan<'w> {
    fn new(walk: &'w ListWalk, limit: usize) -> ListScan<'w> {
        let cursors = walk.lists.iter().map(|list| {
            let from = walk.from.clone();
            ListCursor { list, fetched: VecDeque::new(), fetches: AT_ONCE, from, ended: false }
        });
        ListScan { walk, cursors: cursors.collect(), limit, met: 0, fitting: Vec::new() }
    }

    /// Tries conversations until enough fit, the list ends, or `most` were met in all. True when
    /// nothing more needs to be tried.
    fn go_on(
        &mut self,
        tx: &mut Tx<'_>,
        most: usize,
        fits: impl Fn(&mut Tx<'_>, &[i64]) -> Result<HashSet<i64>>,
    ) -> Result<bool> {
        while self.met < most {
            let nums = self.next(tx, AT_ONCE)?;
            self.met += nums.len();
            let fit = fits(tx, &nums)?;
            self.fitting.extend(nums.iter().filter(|num| fit.contains(num)));
            if self.fitting.len() >= self.limit || nums.len() < AT_ONCE {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// True when at the present rate a few times as many tries will do.
    fn promises_enough(&self) -> bool {
        self.fitting.len() * PROMISE >= self.limit
    }

    /// The mails that can be looked up in the time that the missing tries would take.
    fn worth_in_mails(&self) -> i64 {
        let missing = self.limit.saturating_sub(self.fitting.len());
        let attempts = missing * self.met / self.fitting.len().max(1);
        (attempts.min(TRIED) * MAILS_PER_TRY).max(RARE_MAILS as usize) as i64
    }

    /// The newest that fit, all being among the candidates.
    fn end(mut self, tx: &mut Tx<'_>, narrowed: &Narrowed<'_>) -> Result<Vec<ListedConversation>> {
        let ws = self.walk.ws;
        let Some(candidates) = &narrowed.candidates else { return self.listed(tx) };
        if candidates.len() > LOOKED_UP {
            let most = self.met.saturating_add(candidates.len() * WALKED_PER_CANDIDATE);
            let fits = |tx: &mut Tx<'_>, nums: &[i64]| {
                let nums = nums.iter().filter(|num| candidates.contains(num)).copied();
                narrowed.those_with_all(tx, ws, nums.collect())
            };
            if self.go_on(tx, most, fits)? {
                return self.listed(tx);
            }
        }
        let fit = narrowed.those_with_all(tx, ws, candidates.iter().copied().collect())?;
        let fit: Vec<i64> = fit.into_iter().collect();
        newest_among(tx, self.walk, &fit, self.limit)
    }

    /// The next conversations of all lists.
    fn next(&mut self, tx: &mut Tx<'_>, count: usize) -> Result<Vec<i64>> {
        let mut nums = Vec::with_capacity(count);
        while nums.len() < count {
            for cursor in &mut self.cursors {
                cursor.refill(tx, self.walk)?;
            }
            let newest = self.cursors.iter_mut().max_by(|a, b| a.head().cmp(&b.head()));
            let Some(key) = newest.and_then(|cursor| cursor.fetched.pop_front()) else { break };
            nums.push(key.num);
        }
        Ok(nums)
    }

    /// The conversations that fit, as the list shows them.
    fn listed(mut self, tx: &mut Tx<'_>) -> Result<Vec<ListedConversation>> {
        self.fitting.truncate(self.limit);
        listed(tx, &self.fitting)
    }
}

impl ListCursor<'_> {
    fn head(&self) -> Option<(i64, &str)> {
        self.fetched.front().map(Key::place)
    }

    fn refill(&mut self, tx: &mut Tx<'_>, walk: &ListWalk) -> Result<()> {
        if self.ended || !self.fetched.is_empty() {
            return Ok(());
        }
        let mut sql = Sql::default();
        let at = walk.in_list(&mut sql, self.list);
        let below = sql.below(&self.from);
        let limit = self.fetches;
        let text = format!(
            "SELECT {} FROM conversations c
             WHERE {at} AND {below} ORDER BY c.last_message_at DESC, c.id DESC LIMIT {limit}",
            Key::COLUMNS
        );
        self.fetched = sql.all::<Key>(tx, &text)?.into();
        self.ended = self.fetched.len() < limit;
        self.fetches = (2 * limit).min(FETCHED_AT_ONCE);
        if let Some(last) = self.fetched.back() {
            self.from = ListPosition { at: last.last_message_at, id: last.id.clone() };
        }
        Ok(())
    }
}
