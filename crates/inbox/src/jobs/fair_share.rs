//! Finds the owners of due rows, so that each gets its share of a queue. Usually the oldest due
//! rows include all owners. When one owner has so many that others may be hidden behind them, the
//! owners are enumerated by an index scan that continues where the last round ended.

use std::sync::{Arc, Mutex, PoisonError};

use db::{Arg, FromColumn, Tx};

use crate::base::error::Result;

/// Due rows looked at before an owner may be hidden behind another's.
const LOOKED_AT: i64 = 256;
/// Owners enumerated in one round.
pub const MET: usize = 200;

/// A queue whose rows belong to owners.
pub struct FairShare {
    /// The owners of due rows, by age: `?1` is now, `?2` how many rows.
    pub oldest: &'static str,
    /// The owner after `?1` that has any row planned. The ORDER BY matches only the index of
    /// planned rows, so that PostgreSQL's planner does not scan all rows of an owner.
    pub next: &'static str,
}

/// Where the last round ended.
#[derive(Clone, Default)]
pub struct FairShareCursor<T>(Arc<Mutex<T>>);

impl<T: Clone> FairShareCursor<T> {
    pub fn get(&self) -> T {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn set(&self, owner: T) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = owner;
    }
}

impl FairShare {
    /// The owners to look at, each once. `last` is where an earlier round ended.
    pub fn due<T>(&self, tx: &mut Tx<'_>, now: i64, last: &T) -> Result<Vec<T>>
    where
        T: Arg + FromColumn + Clone + Default + PartialEq,
    {
        let rows: Vec<(T,)> = tx.all(self.oldest, &[&now, &LOOKED_AT])?;
        if (rows.len() as i64) < LOOKED_AT {
            let mut fair_share: Vec<T> = Vec::new();
            for (owner,) in rows {
                if !fair_share.contains(&owner) {
                    fair_share.push(owner);
                }
            }
            return Ok(fair_share);
        }
        let mut fair_share: Vec<T> = Vec::new();
        let mut from = last.clone();
        let mut around = false;
        while fair_share.len() < MET {
            let (next,): (Option<T>,) = tx.one(self.next, &[&from])?;
            match next {
                Some(owner) if fair_share.first() == Some(&owner) => break,
                Some(owner) => {
                    from = owner.clone();
                    fair_share.push(owner);
                }
                None if around => break,
                None => {
                    around = true;
                    from = T::default();
                }
            }
        }
        Ok(fair_share)
    }
}
