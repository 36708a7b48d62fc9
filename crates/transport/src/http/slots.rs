//! Slots for work that holds memory or a connection: a limit in total and one per owner, so that
//! one owner cannot take all slots.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::ids::UserId;
use base::security::api_key::KeyHash;
use tokio::sync::Notify;

use crate::http::ClientNetwork;

/// The owner of slots.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum SlotOwner {
    Key(KeyHash),
    /// An upload link, by its token.
    Link(String),
    Person(UserId),
    Network(ClientNetwork),
}

/// An owner and its limit of slots.
pub type SlotShare = (SlotOwner, usize);

pub struct Slots {
    all: usize,
    taken: Mutex<TakenSlots>,
    freed: Notify,
}

#[derive(Default)]
struct TakenSlots {
    all: usize,
    each: HashMap<SlotOwner, usize>,
}

/// One slot, released on drop.
pub struct Slot {
    slots: Arc<Slots>,
    owners: Vec<SlotOwner>,
}

impl Slots {
    pub fn new(all: usize) -> Arc<Slots> {
        Arc::new(Slots { all, taken: Mutex::default(), freed: Notify::new() })
    }

    /// `None` when all slots, or one owner's share, are taken.
    pub fn take(self: &Arc<Self>, shares: &[SlotShare]) -> Option<Slot> {
        let mut taken = self.lock();
        let of = |owner| taken.each.get(owner).copied().unwrap_or(0);
        if taken.all >= self.all || shares.iter().any(|(owner, most)| of(owner) >= *most) {
            return None;
        }
        taken.all += 1;
        for (owner, _) in shares {
            *taken.each.entry(owner.clone()).or_default() += 1;
        }
        drop(taken);
        let owners = shares.iter().map(|(owner, _)| owner.clone()).collect();
        Some(Slot { slots: Arc::clone(self), owners })
    }

    /// Waits for a slot.
    pub async fn wait(self: &Arc<Self>, shares: &[SlotShare]) -> Slot {
        loop {
            let mut freed = std::pin::pin!(self.freed.notified());
            // Registered before the check, so that a release in between is not missed.
            freed.as_mut().enable();
            if let Some(slot) = self.take(shares) {
                return slot;
            }
            freed.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, TakenSlots> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut taken = self.slots.lock();
        taken.all -= 1;
        for owner in &self.owners {
            match taken.each.get_mut(owner) {
                Some(count) if *count > 1 => *count -= 1,
                _ => drop(taken.each.remove(owner)),
            }
        }
        drop(taken);
        self.slots.freed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(name: &str) -> SlotOwner {
        SlotOwner::Link(name.into())
    }

    #[test]
    fn one_owner_has_a_share_and_all_have_a_limit() {
        let slots = Slots::new(3);
        let (ann, bo) = ([(link("ann"), 2)], [(link("bo"), 2)]);
        let first = slots.take(&ann).expect("a place");
        let _second = slots.take(&ann).expect("a place");
        assert!(slots.take(&ann).is_none(), "the share is taken");
        let _third = slots.take(&bo).expect("a place for somebody else");
        assert!(slots.take(&bo).is_none(), "all are taken");
        drop(first);
        assert!(slots.take(&[(link("ann"), 2), (link("bo"), 1)]).is_none(), "one share is enough");
        assert!(slots.take(&ann).is_some());
    }

    #[tokio::test]
    async fn who_waits_gets_the_place_that_becomes_free() {
        let slots = Slots::new(1);
        let held = slots.take(&[(link("ann"), 1)]).expect("a place");
        let waiting = tokio::spawn({
            let slots = Arc::clone(&slots);
            async move { slots.wait(&[(link("bo"), 1)]).await }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop(held);
        drop(waiting.await.expect("a place"));
        let taken = slots.lock();
        assert!(taken.all == 0 && taken.each.is_empty());
    }
}
