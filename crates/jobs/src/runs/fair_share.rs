//! Finds the owners of due rows, so that each gets its share of a queue. Usually the oldest due
//! rows include all owners. When one owner has so many that others may be hidden behind them, the
//! owners are enumerated by an index scan that continues where the last round ended: whoever has a
//! due row is found after as many rounds as there are [`MET`] owners with planned rows.

use std::mem::replace;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::error::Result;
use db::{Arg, FromColumn, Tx};

/// Due rows looked at before an owner may be hidden behind another's.
const LOOKED_AT: i64 = 256;
/// Owners enumerated in one round.
const MET: usize = 200;

/// A queue whose rows belong to owners.
pub struct FairShare {
    /// The owners of due rows, by age: `?1` is now, `?2` how many rows.
    pub oldest: &'static str,
    /// The owner after `?1` that has any row planned, and when the first of its rows is due. The
    /// ORDER BY matches only the index of planned rows, so that PostgreSQL's planner does not scan
    /// all rows of an owner.
    pub next: &'static str,
}

/// [`FairShare`] of a table by its owner's column and its due time. Rows of suspended workspaces rest; `outward` rows
/// rest for quiet ones too.
macro_rules! fair_share {
    (outward $table:literal, $owner:literal, $due:literal) => {
        $crate::runs::fair_share::fair_share!(@of base::unless_resting!(), $table, $owner, $due)
    };
    ($table:literal, $owner:literal, $due:literal) => {
        $crate::runs::fair_share::fair_share!(@of base::unless_suspended!(), $table, $owner, $due)
    };
    (@of $works:expr, $table:literal, $owner:literal, $due:literal) => {
        $crate::runs::fair_share::FairShare {
            oldest: concat!(
                "SELECT ", $owner, " FROM ", $table, " WHERE ", $due, " <= ?1 AND ", $works,
                " ORDER BY ", $due, " LIMIT ?2"
            ),
            next: concat!(
                "SELECT ", $owner, ", ", $due, " FROM ", $table, " WHERE ", $due,
                " IS NOT NULL AND ", $owner, " > ?1 AND ", $works, " ORDER BY ", $owner, ", ",
                $due, " LIMIT 1"
            ),
        }
    };
}

pub(crate) use fair_share;

/// The owners that a round claims rows of.
pub struct DueOwners<T> {
    /// Each once, and each with a due row.
    pub owners: Vec<T>,
    /// Where the enumeration ended: the next round goes on from here.
    pub end: T,
    /// True when others may have due rows too: the next round finds them.
    pub partial: bool,
}

/// Where the last round ended, and since when rounds claim nothing.
#[derive(Clone, Default)]
pub struct FairShareCursor<T>(Arc<Mutex<CursorPlace<T>>>);

#[derive(Default)]
struct CursorPlace<T> {
    end: T,
    /// Where the first round began that claimed nothing, if none has claimed anything since.
    empty_since: Option<T>,
}

impl<T: Clone + PartialOrd> FairShareCursor<T> {
    pub fn get(&self) -> T {
        self.place().end.clone()
    }

    /// Notes where a round ended. True when the next one may find what this one did not look at:
    /// false once rounds that claimed nothing have looked at every owner, so that a backlog that
    /// waits for its own slots is not looked at again and again.
    pub fn advance(&self, end: T, claimed: usize, partial: bool) -> bool {
        let mut place = self.place();
        let last = replace(&mut place.end, end.clone());
        if claimed > 0 || !partial {
            place.empty_since = None;
            return partial;
        }
        let Some(begun) = place.empty_since.clone() else {
            place.empty_since = Some(last);
            return true;
        };
        let is_around =
            if last < end { last < begun && begun <= end } else { last < begun || begun <= end };
        if is_around {
            place.empty_since = None;
        }
        !is_around
    }

    fn place(&self) -> MutexGuard<'_, CursorPlace<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FairShare {
    /// The owners to look at. `last` is where an earlier round ended.
    pub fn due<T>(&self, tx: &mut Tx<'_>, now: i64, last: &T) -> Result<DueOwners<T>>
    where
        T: Arg + FromColumn + Clone + Default + PartialEq,
    {
        let rows: Vec<(T,)> = tx.all(self.oldest, &[&now, &LOOKED_AT])?;
        let mut owners: Vec<T> = Vec::new();
        if (rows.len() as i64) < LOOKED_AT {
            for (owner,) in rows {
                if !owners.contains(&owner) {
                    owners.push(owner);
                }
            }
            return Ok(DueOwners { owners, end: last.clone(), partial: false });
        }
        let (mut first, mut end, mut around) = (None, last.clone(), false);
        for _ in 0..MET {
            let next: Option<(T, i64)> = tx.opt(self.next, &[&end])?;
            match next {
                Some((owner, _)) if first.as_ref() == Some(&owner) => {
                    return Ok(DueOwners { owners, end, partial: false });
                }
                Some((owner, due_at)) => {
                    if due_at <= now {
                        owners.push(owner.clone());
                    }
                    first.get_or_insert_with(|| owner.clone());
                    end = owner;
                }
                None if around => return Ok(DueOwners { owners, end, partial: false }),
                None => {
                    around = true;
                    end = T::default();
                }
            }
        }
        Ok(DueOwners { owners, end, partial: true })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_that_claim_nothing_end_when_every_owner_was_looked_at() {
        let cursor = FairShareCursor::<i64>::default();
        assert!(cursor.advance(200, 3, true));
        assert!(cursor.advance(400, 0, true));
        assert!(cursor.advance(600, 0, true));
        // It went on with the first owners after the last one, but not as far as 200.
        assert!(cursor.advance(150, 0, true));
        assert!(!cursor.advance(350, 0, true), "200 was passed");
        assert_eq!(cursor.get(), 350);
        // The next circle begins there.
        assert!(cursor.advance(550, 0, true));
        assert!(cursor.advance(100, 0, true));
        assert!(!cursor.advance(350, 0, true));
        // A round that passes the end and the beginning at once.
        assert!(cursor.advance(600, 0, true));
        assert!(!cursor.advance(400, 0, true));
    }

    #[test]
    fn a_round_that_claims_something_begins_the_circle_anew() {
        let cursor = FairShareCursor::<i64>::default();
        assert!(cursor.advance(200, 0, true));
        assert!(cursor.advance(400, 0, true));
        assert!(cursor.advance(100, 1, true));
        assert!(cursor.advance(300, 0, true));
        assert!(cursor.advance(50, 0, true));
        assert!(!cursor.advance(250, 0, true));
    }

    #[test]
    fn a_round_that_looked_at_all_owners_has_no_other_after_it() {
        let cursor = FairShareCursor::<String>::default();
        assert!(!cursor.advance("b".into(), 0, false));
        assert!(!cursor.advance("c".into(), 1, false));
        assert!(cursor.advance("d".into(), 0, true));
        assert!(!cursor.advance("d".into(), 0, true), "a round that ends where it began");
    }
}
