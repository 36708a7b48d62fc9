//! MTA-STS (RFC 8461): policies by which domains require TLS for incoming mail. They are discovered
//! by DNS, fetched by HTTPS, and cached for their `max_age`, so that later DNS spoofing cannot
//! remove them.

mod policy;
mod web;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::concurrency::future::BoxFuture;
use tokio::time::Instant;

use crate::net::dns_lookup::Lookup;

pub use policy::{StsMode, StsPolicy};
pub use web::WebPolicies;

/// Domains in the policy cache.
const KEPT: usize = 1_000;
/// The pause after a failed fetch (section 3.3).
const PAUSE: Duration = Duration::from_secs(300);
/// A cached policy is refreshed after this long, or half of its `max_age`, so that it does not
/// expire during an outage.
const REFRESHED: Duration = Duration::from_secs(24 * 3_600);

/// Fetches the text of a domain's policy.
pub trait PolicySource: Send + Sync {
    /// The error is a sentence for the log.
    fn fetch<'a>(&'a self, domain: &'a str) -> BoxFuture<'a, Result<String, String>>;
}

/// The policy cache.
pub struct StsPolicies {
    source: Arc<dyn PolicySource>,
    kept: Mutex<HashMap<String, CachedPolicy>>,
}

/// The cache entry of a domain.
#[derive(Clone)]
struct CachedPolicy {
    /// The policy id of the last fetch.
    id: String,
    /// When it is refetched although the id is the same.
    again: Instant,
    policy: Option<FetchedPolicy>,
}

/// A policy and its expiry.
#[derive(Clone)]
struct FetchedPolicy {
    policy: Arc<StsPolicy>,
    until: Instant,
}

impl CachedPolicy {
    fn current(&self, now: Instant) -> Option<Arc<StsPolicy>> {
        let held = self.policy.as_ref().filter(|held| now < held.until);
        held.map(|held| Arc::clone(&held.policy))
    }

    /// When nothing of it matters any more.
    fn until(&self) -> Instant {
        self.policy.as_ref().map_or(self.again, |held| held.until.max(self.again))
    }
}

impl StsPolicies {
    pub fn new(source: Arc<dyn PolicySource>) -> StsPolicies {
        StsPolicies { source, kept: Mutex::default() }
    }

    /// The current policy of a domain. A cached one stays valid when DNS or HTTPS fail (section
    /// 3.3).
    pub async fn of(&self, lookup: &Lookup, domain: &str) -> Option<Arc<StsPolicy>> {
        let texts = lookup.texts(&format!("_mta-sts.{domain}")).await.unwrap_or_default();
        self.under(domain, policy::id_of(texts.iter().map(String::as_str))).await
    }

    /// The same, given the policy id in DNS, if there is one.
    async fn under(&self, domain: &str, id: Option<&str>) -> Option<Arc<StsPolicy>> {
        let (known, now) = (self.lock().get(domain).cloned(), Instant::now());
        let current = known.as_ref().and_then(|known| known.current(now));
        let Some(id) = id else { return current };
        if known.as_ref().is_some_and(|known| known.id == id && now < known.again) {
            return current;
        }
        let fetched = self.source.fetch(domain).await;
        let fetched =
            fetched.and_then(|text| StsPolicy::parse(&text).ok_or("it is no policy".into()));
        let (now, id) = (Instant::now(), id.to_owned());
        match fetched {
            Ok(policy) => {
                let lasts = policy.lasts;
                let policy = Arc::new(policy);
                let held = FetchedPolicy { policy: Arc::clone(&policy), until: now + lasts };
                let again = now + REFRESHED.min(lasts / 2);
                self.keep(domain, CachedPolicy { id, again, policy: Some(held) }, now);
                Some(policy)
            }
            Err(reason) => {
                tracing::info!(domain, reason, "MTA-STS policy fetch failed");
                let policy = known.and_then(|known| known.policy);
                self.keep(domain, CachedPolicy { id, again: now + PAUSE, policy }, now);
                current
            }
        }
    }

    /// Evicts expired entries, or the one that expires first, when the cache is full.
    fn keep(&self, domain: &str, new: CachedPolicy, now: Instant) {
        let mut kept = self.lock();
        if kept.len() >= KEPT && !kept.contains_key(domain) {
            kept.retain(|_, known| now < known.until());
            let first = kept.iter().min_by_key(|(_, known)| known.until());
            let first = first.map(|(domain, _)| domain.clone());
            if let Some(first) = first.filter(|_| kept.len() >= KEPT) {
                kept.remove(&first);
            }
        }
        kept.insert(domain.to_owned(), new);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, CachedPolicy>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives these answers in their order, and then none.
    struct Script(Mutex<Vec<Result<String, String>>>);

    impl Script {
        fn policies(answers: &[Result<&str, &str>]) -> StsPolicies {
            let owned = |answer: &Result<&str, &str>| match answer {
                Ok(text) => Ok(format!("version: STSv1\nmode: {text}\nmx: mx.example")),
                Err(reason) => Err((*reason).to_owned()),
            };
            StsPolicies::new(Arc::new(Script(Mutex::new(
                answers.iter().rev().map(owned).collect(),
            ))))
        }
    }

    impl PolicySource for Script {
        fn fetch<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<String, String>> {
            let answer = self.0.lock().unwrap().pop();
            Box::pin(async { answer.unwrap_or(Err("it is asked too often".into())) })
        }
    }

    async fn mode(policies: &StsPolicies, id: Option<&str>) -> Option<StsMode> {
        policies.under("one.example", id).await.map(|policy| policy.mode)
    }

    #[tokio::test]
    async fn a_policy_is_fetched_once_for_an_id_and_outlives_the_record() {
        let policies =
            Script::policies(&[Ok("enforce\nmax_age: 9999"), Ok("testing\nmax_age: 9999")]);
        assert_eq!(mode(&policies, None).await, None);
        for id in [Some("1"), Some("1"), None] {
            assert_eq!(mode(&policies, id).await, Some(StsMode::Enforce), "{id:?}");
        }
        assert_eq!(mode(&policies, Some("2")).await, Some(StsMode::Testing));
    }

    #[tokio::test]
    async fn a_policy_goes_on_holding_while_the_next_cannot_be_fetched() {
        let policies = Script::policies(&[
            Ok("enforce\nmax_age: 9999"),
            Err("broken"),
            Ok("none\nmax_age: 9"),
        ]);
        for id in ["1", "2", "2"] {
            assert_eq!(mode(&policies, Some(id)).await, Some(StsMode::Enforce), "{id}");
        }
        assert_eq!(mode(&policies, Some("3")).await, Some(StsMode::None), "2 was asked for once");
    }

    #[tokio::test]
    async fn a_policy_is_gone_when_its_time_is_over() {
        let policies = Script::policies(&[Ok("enforce\nmax_age: 0"), Err("broken")]);
        assert_eq!(mode(&policies, Some("1")).await, Some(StsMode::Enforce));
        assert_eq!(mode(&policies, None).await, None);
        assert_eq!(mode(&policies, Some("1")).await, None);
    }

    #[test]
    fn so_many_are_kept_and_those_that_end_first_go_first() {
        let policies = Script::policies(&[]);
        let now = Instant::now();
        let kept = |seconds| {
            let again = now + Duration::from_secs(seconds);
            CachedPolicy { id: "1".into(), again, policy: None }
        };
        for number in 0..KEPT as u64 {
            policies.keep(&format!("d{number}.example"), kept(1_000 + number), now);
        }
        policies.keep("new.example", kept(5_000), now);
        assert_eq!(policies.lock().len(), KEPT);
        assert!(!policies.lock().contains_key("d0.example"));
        let later = now + Duration::from_secs(1_500);
        policies.keep("newer.example", kept(5_000), later);
        assert!(policies.lock().len() < KEPT, "what is over goes");
        assert!(policies.lock().contains_key("new.example"));
    }
}
