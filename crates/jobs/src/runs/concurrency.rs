//! Limits running jobs, in total and per owner, so that one slow receiver cannot take all slots.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

#[derive(Clone)]
pub struct JobSlots(Arc<Inner>);

struct Inner {
    each: usize,
    all: usize,
    in_flight: Mutex<HashMap<String, usize>>,
    freed: Notify,
}

/// A place taken until this is dropped.
pub struct JobSlot {
    slots: JobSlots,
    owner: String,
}

/// The free slots at one moment. Only the calling loop takes slots, so they stay free.
#[derive(Clone)]
pub struct FreeSlots {
    each: usize,
    pub all: usize,
    in_flight: HashMap<String, usize>,
}

impl JobSlots {
    pub fn new(each: usize, all: usize) -> JobSlots {
        let (in_flight, freed) = (Mutex::default(), Notify::new());
        JobSlots(Arc::new(Inner { each, all, in_flight, freed }))
    }

    pub fn free(&self) -> FreeSlots {
        let in_flight = self.in_flight().clone();
        let taken: usize = in_flight.values().sum();
        FreeSlots { each: self.0.each, all: self.0.all.saturating_sub(taken), in_flight }
    }

    pub fn enter(&self, owner: &str) -> JobSlot {
        *self.in_flight().entry(owner.to_owned()).or_insert(0) += 1;
        JobSlot { slots: self.clone(), owner: owner.to_owned() }
    }

    /// Ready when a slot has become free.
    pub async fn wait_for_slot(&self) {
        self.0.freed.notified().await;
    }

    fn in_flight(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.0.in_flight.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FreeSlots {
    /// The places that this owner may still take.
    pub fn of(&self, owner: &str) -> usize {
        self.for_one(owner, self.each)
    }

    /// The same for an owner whose jobs are failing, who gets one slot at a time.
    pub fn of_failing(&self, owner: &str) -> usize {
        self.for_one(owner, 1)
    }

    /// The places taken by the owners that this holds for.
    pub fn taken_by(&self, is_meant: impl Fn(&str) -> bool) -> usize {
        let taken = self.in_flight.iter().filter(|(owner, _)| is_meant(owner));
        taken.map(|(_, count)| count).sum()
    }

    fn for_one(&self, owner: &str, each: usize) -> usize {
        each.saturating_sub(self.in_flight.get(owner).copied().unwrap_or(0))
    }
}

impl Drop for JobSlot {
    fn drop(&mut self) {
        let mut in_flight = self.slots.in_flight();
        if let Some(count) = in_flight.get_mut(&self.owner) {
            *count -= 1;
            if *count == 0 {
                in_flight.remove(&self.owner);
            }
        }
        drop(in_flight);
        self.slots.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_takes_no_more_than_its_places_and_gives_them_back() {
        let slots = JobSlots::new(2, 3);
        let first = slots.enter("a");
        let _second = slots.enter("a");
        assert_eq!(slots.free().of("a"), 0);
        assert_eq!(slots.free().of("b"), 2);
        assert_eq!(slots.free().of_failing("b"), 1);
        assert_eq!(slots.free().all, 1);
        assert_eq!(slots.free().taken_by(|owner| owner == "a"), 2);
        drop(first);
        assert_eq!(slots.free().of("a"), 1);
        assert_eq!(slots.free().of_failing("a"), 0);
        assert_eq!(slots.free().all, 2);
    }
}
