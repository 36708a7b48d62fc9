//! A resolver that uses the operating system's, with a limit on threads.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::concurrency::future::BoxFuture;
use tokio::net::lookup_host;
use tokio::sync::{Semaphore, watch};

use crate::net::resolver::{NotFound, ResolvedAddresses, Resolver};

/// Names looked up at once. Each holds a thread, for as long as the system takes to give up.
const NAMES_AT_ONCE: usize = 128;

/// The system's resolver, with its hosts file and its own cache if it has one.
///
/// A lookup cannot be cancelled, and one whose DNS servers hang holds its thread long after the
/// caller's timeout. So concurrent lookups of one name share a thread, however many events wait for
/// it.
pub struct SystemResolver(Arc<LookupThreads>);

struct LookupThreads {
    places: Semaphore,
    under_way: Mutex<LookupsUnderWay>,
}

/// By name: where the answer will be.
type LookupsUnderWay = HashMap<String, watch::Receiver<Option<ResolvedAddresses>>>;

impl Default for SystemResolver {
    fn default() -> SystemResolver {
        let places = Semaphore::new(NAMES_AT_ONCE);
        SystemResolver(Arc::new(LookupThreads { places, under_way: Mutex::default() }))
    }
}

impl Resolver for SystemResolver {
    fn look_up<'a>(&'a self, name: &'a str) -> BoxFuture<'a, ResolvedAddresses> {
        Box::pin(async move {
            let mut answer = self.join_or_begin(name, ask);
            let found = answer.wait_for(Option::is_some).await.map_err(|_| NotFound)?;
            found.clone().unwrap_or(Err(NotFound))
        })
    }
}

impl SystemResolver {
    fn join_or_begin<F>(
        &self,
        name: &str,
        ask: fn(Arc<LookupThreads>, String) -> F,
    ) -> watch::Receiver<Option<ResolvedAddresses>>
    where
        F: Future<Output = ResolvedAddresses> + Send + 'static,
    {
        let mut under_way = self.0.under_way();
        match under_way.entry(name.to_owned()) {
            Entry::Occupied(entry) => entry.get().clone(),
            Entry::Vacant(entry) => {
                let (tell, answer) = watch::channel(None);
                let lookup = Lookup { threads: Arc::clone(&self.0), name: name.to_owned() };
                tokio::spawn(async move {
                    let found = ask(Arc::clone(&lookup.threads), lookup.name.clone()).await;
                    drop(lookup);
                    tell.send_replace(Some(found));
                });
                entry.insert(answer).clone()
            }
        }
    }
}

/// A name that is being looked up, until this is dropped: also by a panic, after which the name is asked for anew.
struct Lookup {
    threads: Arc<LookupThreads>,
    name: String,
}

impl Drop for Lookup {
    fn drop(&mut self) {
        self.threads.under_way().remove(&self.name);
    }
}

impl LookupThreads {
    fn under_way(&self) -> MutexGuard<'_, LookupsUnderWay> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn ask(threads: Arc<LookupThreads>, name: String) -> ResolvedAddresses {
    let _place = threads.places.acquire().await.map_err(|_| NotFound)?;
    let found = lookup_host((name.as_str(), 0)).await.map_err(|cause| {
        tracing::debug!(%cause, "the system found no address of a name");
        NotFound
    })?;
    Ok(found.map(|address| address.ip()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_system_knows_this_machine_and_forgets_the_lookup() {
        let resolver = SystemResolver::default();
        let (one, two) = tokio::join!(resolver.look_up("localhost"), resolver.look_up("localhost"));
        assert!(one.unwrap().iter().all(|ip| ip.is_loopback()));
        assert!(two.unwrap().iter().all(|ip| ip.is_loopback()));
        assert!(resolver.0.under_way.lock().unwrap().is_empty());
    }

    #[tokio::test]
    async fn callers_of_one_name_share_a_lookup() {
        let resolver = SystemResolver::default();
        let one = resolver.join_or_begin("localhost", ask);
        let two = resolver.join_or_begin("localhost", ask);
        let other = resolver.join_or_begin("other.invalid.", ask);
        assert!(one.same_channel(&two));
        assert!(!one.same_channel(&other));
    }

    #[tokio::test]
    async fn a_lookup_that_panics_leaves_its_name_to_be_asked_again() {
        let resolver = SystemResolver::default();
        let mut broken =
            resolver.join_or_begin("localhost", |_, _| async { panic!("as a bug would") });
        assert!(broken.wait_for(Option::is_some).await.is_err());
        let found = resolver.look_up("localhost").await.unwrap();
        assert!(found.iter().all(|ip| ip.is_loopback()));
    }

    #[tokio::test]
    async fn a_name_that_nobody_has_is_not_found() {
        let resolver = SystemResolver::default();
        assert_eq!(resolver.look_up("nobody.invalid.").await, Err(NotFound));
    }
}
