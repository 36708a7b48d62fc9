//! Limits how many mails are delivered to one domain at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Concurrent deliveries to one domain. The limit is below that of a workspace, so that a hanging
/// domain does not block the mail to all others.
pub const EACH: usize = 4;
/// How long a mail waits for a place before it is put off.
pub const WAIT: Duration = Duration::from_secs(10);

/// The running deliveries of each domain.
#[derive(Clone)]
pub struct DomainSlots {
    domains: Arc<Mutex<HashMap<String, Arc<Semaphore>>>>,
    wait: Duration,
}

/// A place taken until this is dropped.
pub struct DomainSlot {
    places: DomainSlots,
    domain: String,
    permit: Option<OwnedSemaphorePermit>,
}

impl DomainSlots {
    pub fn new(wait: Duration) -> DomainSlots {
        DomainSlots { domains: Arc::default(), wait }
    }

    /// `None` when no place became free in time.
    pub async fn enter(&self, domain: &str) -> Option<DomainSlot> {
        let semaphore = {
            let mut domains = self.domains.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(
                domains.entry(domain.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(EACH))),
            )
        };
        // The place is made first: it clears up after itself even if the wait is broken off.
        let mut place =
            DomainSlot { places: self.clone(), domain: domain.to_owned(), permit: None };
        place.permit = Some(timeout(self.wait, semaphore.acquire_owned()).await.ok()?.ok()?);
        Some(place)
    }
}

impl Drop for DomainSlot {
    fn drop(&mut self) {
        drop(self.permit.take());
        let mut domains = self.places.domains.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = |semaphore: &Arc<Semaphore>| {
            semaphore.available_permits() == EACH && Arc::strong_count(semaphore) == 1
        };
        if domains.get(&self.domain).is_some_and(idle) {
            domains.remove(&self.domain);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_domain_has_so_many_places_and_is_forgotten_when_it_has_none_taken() {
        let places = DomainSlots::new(Duration::from_millis(20));
        let mut taken = Vec::new();
        for _ in 0..EACH {
            taken.push(places.enter("x.example").await.expect("a place"));
        }
        assert!(places.enter("x.example").await.is_none(), "it waits in vain");
        assert!(places.enter("y.example").await.is_some(), "another domain is not held up");
        taken.pop();
        assert!(places.enter("x.example").await.is_some());
        taken.clear();
        assert!(places.domains.lock().expect("places").is_empty());
    }
}
