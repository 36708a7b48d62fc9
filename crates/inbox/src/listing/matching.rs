//! The newest conversations of a list that have a mail for each term of a query.

use std::collections::{HashSet, VecDeque};

use db::{FromRow, Row, Tx};

use super::sql::Sql;
use super::{List, Listed, Place, SELECT, Walk};
use crate::error::Result;
use crate::search::{self, Needle, PROBED_AT_ONCE};

/// A term with this many mails at the most is looked up before any conversation is tried.
const FEW_MAILS: i64 = 50;
/// A term with more mails than this is common: the newest conversations are tried instead.
const RARE_MAILS: i64 = 300;
const ALL_MAILS: i64 = i64::MAX - 1;
/// Conversations tried for common terms before all matches are gathered after all.
const TRIED: usize = 1_000;
/// Conversations tried first for what may be a word in wide use, or the start of one.
const TRIED_FIRST: usize = 50;
/// Up to this many candidates are looked up; more are met by walking the list.
const LOOKED_UP: usize = 2_000;
/// Conversations fetched at a time from each list while walking, and tried at a time.
const AT_ONCE: usize = 25;
/// How many times the first tries may be repeated to find enough.
const PROMISE: usize = 6;

/// Terms with few mails give the candidates at once. Otherwise the newest conversations are tried,
/// which soon finds enough for words in wide use and spares gathering their mails; and when that
/// does not help, the terms hardly ever meet, and the matches of all are gathered.
pub(super) fn newest_matching(
    tx: &mut Tx<'_>,
    walk: &Walk,
    needles: &[Needle],
    limit: usize,
) -> Result<Vec<Listed>> {
    let all: Vec<&Needle> = needles.iter().collect();
    let has_all = |tx: &mut Tx<'_>, nums: &[i64]| search::those_with_all(tx, walk.ws, &all, nums);
    let mut trial = Trial::new(walk, limit);
    let mut narrowed = Narrowed::by_few_mails(tx, needles)?;
    if narrowed.candidates.is_none() {
        if trial.go_on(tx, TRIED_FIRST, has_all)? {
            return trial.listed(tx);
        }
        if !trial.promises_enough() {
            narrowed.by_more_mails(tx)?;
        }
    }
    if let Some(candidates) = &narrowed.candidates {
        let mut candidates: Vec<i64> = candidates.iter().copied().collect();
        if !narrowed.rest.is_empty() {
            let fit = search::those_with_all(tx, walk.ws, &narrowed.rest, &candidates)?;
            candidates.retain(|num| fit.contains(num));
        }
        return newest_among(tx, walk, &candidates, limit);
    }
    if trial.go_on(tx, TRIED, has_all)? {
        return trial.listed(tx);
    }
    let gathered = gather(tx, needles)?;
    if gathered.len() <= LOOKED_UP {
        let gathered: Vec<i64> = gathered.into_iter().collect();
        return newest_among(tx, walk, &gathered, limit);
    }
    let known = |_: &mut Tx<'_>, nums: &[i64]| {
        Ok(nums.iter().filter(|num| gathered.contains(num)).copied().collect())
    };
    trial.go_on(tx, usize::MAX, known)?;
    trial.listed(tx)
}

/// What the index told cheaply.
struct Narrowed<'n> {
    /// The conversations that have every term of few mails; `None` when no term has few.
    candidates: Option<HashSet<i64>>,
    /// Terms that the candidates may not have: in wide use, or dear to ask about, as starts of
    /// words are that are no word themselves.
    rest: Vec<&'n Needle>,
}

impl<'n> Narrowed<'n> {
    fn by_few_mails(tx: &mut Tx<'_>, needles: &'n [Needle]) -> Result<Narrowed<'n>> {
        let mut narrowed = Narrowed { candidates: None, rest: Vec::new() };
        for needle in needles {
            match search::conversations_with(tx, &needle.whole, FEW_MAILS)? {
                Some(nums) if needle.is_whole() => narrowed.keep(nums),
                Some(nums) if !nums.is_empty() => narrowed.by_expression(tx, needle)?,
                _ => narrowed.rest.push(needle),
            }
        }
        Ok(narrowed)
    }

    fn by_more_mails(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        for needle in std::mem::take(&mut self.rest) {
            self.by_expression(tx, needle)?;
        }
        Ok(())
    }

    fn by_expression(&mut self, tx: &mut Tx<'_>, needle: &'n Needle) -> Result<()> {
        match search::conversations_with(tx, &needle.expression, RARE_MAILS)? {
            Some(nums) => self.keep(nums),
            None => self.rest.push(needle),
        }
        Ok(())
    }

    fn keep(&mut self, nums: HashSet<i64>) {
        match &mut self.candidates {
            Some(candidates) => candidates.retain(|num| nums.contains(num)),
            none => *none = Some(nums),
        }
    }
}

/// The conversations that have every term, however many mails each has.
fn gather(tx: &mut Tx<'_>, needles: &[Needle]) -> Result<HashSet<i64>> {
    let mut gathered: Option<HashSet<i64>> = None;
    for needle in needles {
        let nums = search::conversations_with(tx, &needle.expression, ALL_MAILS)?;
        let nums = nums.unwrap_or_default();
        match &mut gathered {
            Some(gathered) => gathered.retain(|num| nums.contains(num)),
            none => *none = Some(nums),
        }
    }
    Ok(gathered.unwrap_or_default())
}

/// The newest of the candidates that are in the list and after its place.
fn newest_among(
    tx: &mut Tx<'_>,
    walk: &Walk,
    candidates: &[i64],
    limit: usize,
) -> Result<Vec<Listed>> {
    let mut keys: Vec<Key> = Vec::new();
    for nums in candidates.chunks(PROBED_AT_ONCE) {
        let mut sql = Sql::default();
        let nums = sql.ints(nums, PROBED_AT_ONCE);
        let place = walk.in_any_list(&mut sql);
        let below = sql.below(&walk.from);
        let text = format!(
            "SELECT c.last_message_at, c.id, c.num FROM conversations c
             WHERE c.num IN ({nums}) AND {place} AND {below}"
        );
        keys.extend(sql.all::<Key>(tx, &text)?);
    }
    keys.sort_unstable_by(|a, b| b.place.cmp(&a.place));
    let newest: Vec<i64> = keys.iter().take(limit).map(|key| key.num).collect();
    listed(tx, &newest)
}

fn listed(tx: &mut Tx<'_>, nums: &[i64]) -> Result<Vec<Listed>> {
    let mut found = Vec::new();
    for nums in nums.chunks(AT_ONCE) {
        let mut sql = Sql::default();
        let nums = sql.ints(nums, AT_ONCE);
        found.extend(sql.all::<Listed>(tx, &format!("{SELECT} WHERE c.num IN ({nums})"))?);
    }
    Ok(found)
}

/// A walk that tries conversations, the newest first, until enough fit.
struct Trial<'w> {
    walk: &'w Walk,
    lanes: Vec<Lane<'w>>,
    limit: usize,
    met: usize,
    fitting: Vec<i64>,
}

/// One of the lists, and what was fetched of it and not met yet.
struct Lane<'w> {
    list: &'w List,
    fetched: VecDeque<Key>,
    from: Place,
    ended: bool,
}

/// A conversation while it is only tried; the index alone can tell it.
struct Key {
    place: Place,
    num: i64,
}

impl FromRow for Key {
    fn from_row(row: &mut Row<'_>) -> Result<Self, db::Error> {
        Ok(Key { place: Place { at: row.take()?, id: row.take()? }, num: row.take()? })
    }
}

impl<'w> Trial<'w> {
    fn new(walk: &'w Walk, limit: usize) -> Trial<'w> {
        let lanes = walk.lists.iter().map(|list| {
            let from = walk.from.clone();
            Lane { list, fetched: VecDeque::new(), from, ended: false }
        });
        Trial { walk, lanes: lanes.collect(), limit, met: 0, fitting: Vec::new() }
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

    /// The next conversations of all lists.
    fn next(&mut self, tx: &mut Tx<'_>, count: usize) -> Result<Vec<i64>> {
        let mut nums = Vec::with_capacity(count);
        while nums.len() < count {
            for lane in &mut self.lanes {
                lane.refill(tx, self.walk)?;
            }
            let newest = self.lanes.iter_mut().max_by(|a, b| a.head().cmp(&b.head()));
            let Some(key) = newest.and_then(|lane| lane.fetched.pop_front()) else { break };
            nums.push(key.num);
        }
        Ok(nums)
    }

    /// The conversations that fit, as the list shows them.
    fn listed(mut self, tx: &mut Tx<'_>) -> Result<Vec<Listed>> {
        self.fitting.truncate(self.limit);
        listed(tx, &self.fitting)
    }
}

impl Lane<'_> {
    fn head(&self) -> Option<&Place> {
        self.fetched.front().map(|key| &key.place)
    }

    fn refill(&mut self, tx: &mut Tx<'_>, walk: &Walk) -> Result<()> {
        if self.ended || !self.fetched.is_empty() {
            return Ok(());
        }
        let mut sql = Sql::default();
        let at = walk.in_list(&mut sql, self.list);
        let below = sql.below(&self.from);
        let limit = sql.int(AT_ONCE as i64);
        let text = format!(
            "SELECT c.last_message_at, c.id, c.num FROM conversations c
             WHERE {at} AND {below} ORDER BY c.last_message_at DESC, c.id DESC LIMIT {limit}"
        );
        self.fetched = sql.all::<Key>(tx, &text)?.into();
        self.ended = self.fetched.len() < AT_ONCE;
        if let Some(last) = self.fetched.back() {
            self.from = last.place.clone();
        }
        Ok(())
    }
}
