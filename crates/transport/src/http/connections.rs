//! The open HTTP connections. At the limit, the connection that has been idle the longest is
//! closed: first one that never sent a request, then any idle one.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use metrics::{counter, gauge};
use tokio_util::sync::CancellationToken;

use super::activity::Activity;
use super::client::ClientNetwork;
use super::limits::HttpLimits;

pub struct HttpConnections {
    listener: &'static str,
    all: usize,
    each: usize,
    waiting: usize,
    open: Mutex<OpenConnections>,
}

#[derive(Default)]
struct OpenConnections {
    next: u64,
    /// In the order in which they came.
    all: BTreeMap<u64, OpenConnection>,
    /// Those that have not yet sent a whole head.
    waiting: BTreeSet<u64>,
    each: HashMap<ClientNetwork, usize>,
}

struct OpenConnection {
    network: Option<ClientNetwork>,
    activity: Arc<Activity>,
    evicted: CancellationToken,
}

/// A permit under the connection limits, released on drop.
pub struct Admission {
    connections: Arc<HttpConnections>,
    id: u64,
    pub activity: Arc<Activity>,
    /// Ready when the connection is evicted.
    pub evicted: CancellationToken,
}

impl HttpConnections {
    /// Those of one listener, which has this name among the figures.
    pub fn new(listener: &'static str, limits: &HttpLimits) -> Arc<HttpConnections> {
        Arc::new(HttpConnections {
            listener,
            all: limits.connections,
            each: limits.connections_each,
            waiting: limits.waiting,
            open: Mutex::default(),
        })
    }

    /// Admits a connection. `None` when its network is at its limit, or when no connection is idle.
    /// The network is `None` for a proxy, which has no limit of its own.
    pub fn admit(self: &Arc<Self>, network: Option<ClientNetwork>) -> Option<Admission> {
        let mut open = self.open();
        let share = network.map_or(0, |network| open.each.get(&network).copied().unwrap_or(0));
        if network.is_some() && share >= self.each {
            return log_refusal("address");
        }
        if open.waiting.len() >= self.waiting {
            open.evict_waiting();
        }
        if open.all.len() >= self.all && !open.evict_waiting() && !open.evict_idle() {
            return log_refusal("all");
        }
        let (activity, evicted) = (Activity::begin(), CancellationToken::new());
        let id = open.next;
        open.next += 1;
        open.waiting.insert(id);
        if let Some(network) = network {
            open.each.insert(network, share + 1);
        }
        let (seen, cut) = (Arc::clone(&activity), evicted.clone());
        open.all.insert(id, OpenConnection { network, activity: seen, evicted: cut });
        self.count(&open);
        drop(open);
        Some(Admission { connections: Arc::clone(self), id, activity, evicted })
    }

    /// Makes room where the system has no descriptors left.
    pub fn make_room(&self) {
        let mut open = self.open();
        let _ = open.evict_waiting() || open.evict_idle();
    }

    fn count(&self, open: &OpenConnections) {
        let count = open.all.len() as f64;
        gauge!("mailroom_http_connections", "listener" => self.listener).set(count);
    }

    fn open(&self) -> MutexGuard<'_, OpenConnections> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn log_refusal(limit: &'static str) -> Option<Admission> {
    counter!("mailroom_http_connections_refused_total", "limit" => limit).increment(1);
    None
}

impl OpenConnections {
    /// The one that has waited the longest to send a request goes.
    fn evict_waiting(&mut self) -> bool {
        let oldest = self.waiting.first().copied();
        oldest.is_some_and(|id| self.evict(id, "waiting"))
    }

    /// The one that has been idle the longest goes.
    fn evict_idle(&mut self) -> bool {
        let idle = self.all.iter().filter(|(_, one)| one.activity.is_idle());
        let longest = idle.min_by_key(|(_, one)| one.activity.last_progress());
        longest.map(|(id, _)| *id).is_some_and(|id| self.evict(id, "idle"))
    }

    fn evict(&mut self, id: u64, state: &'static str) -> bool {
        let found = self.all.get(&id).map(|one| one.evicted.clone());
        if let Some(evicted) = &found {
            evicted.cancel();
            counter!("mailroom_http_connections_evicted_total", "state" => state).increment(1);
        }
        self.remove(id);
        found.is_some()
    }

    fn remove(&mut self, id: u64) {
        self.waiting.remove(&id);
        let Some(gone) = self.all.remove(&id) else { return };
        let Some(network) = gone.network else { return };
        match self.each.get_mut(&network) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(self.each.remove(&network)),
        }
    }
}

impl Admission {
    /// The first request is there.
    pub fn note_request(&self) {
        self.connections.open().waiting.remove(&self.id);
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        let mut open = self.connections.open();
        open.remove(self.id);
        self.connections.count(&open);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connections(all: usize, each: usize, waiting: usize) -> Arc<HttpConnections> {
        let limits = HttpLimits {
            connections: all,
            connections_each: each,
            waiting,
            ..HttpLimits::default()
        };
        HttpConnections::new("test", &limits)
    }

    fn network(text: &str) -> Option<ClientNetwork> {
        Some(ClientNetwork::of(text.parse().expect("an address")))
    }

    /// Sends a request that is still being answered while the turn is held.
    fn asks(admission: &Admission) -> super::super::activity::InFlightGuard {
        admission.note_request();
        admission.activity.request().0
    }

    #[test]
    fn one_network_has_a_share_and_a_proxy_has_all() {
        let connections = connections(10, 2, 10);
        let one = network("2001:db8:1:2::1");
        let (first, _second) = (connections.admit(one), connections.admit(one));
        assert!(connections.admit(network("2001:db8:1:2::ffff")).is_none());
        assert!(connections.admit(network("2001:db8:1:3::1")).is_some());
        drop(first);
        assert!(connections.admit(one).is_some());
        let proxied: Vec<_> = (0..5).filter_map(|_| connections.admit(None)).collect();
        assert_eq!(proxied.len(), 5);
    }

    #[test]
    fn who_never_asked_makes_room_before_who_is_idle_and_who_is_served_stays() {
        let connections = connections(3, 3, 2);
        let [silent, idle, served] =
            [0, 1, 2].map(|place| connections.admit(None).unwrap_or_else(|| panic!("{place}")));
        // Two may wait at the most, so the third has sent the first away.
        assert!(silent.evicted.is_cancelled() && !idle.evicted.is_cancelled());
        drop(asks(&idle));
        let turn = asks(&served);
        let third = connections.admit(None).expect("there is room");
        let fourth = connections.admit(None).expect("the third never asked");
        assert!(third.evicted.is_cancelled() && !idle.evicted.is_cancelled());
        let turns = (turn, asks(&fourth));
        let fifth = connections.admit(None).expect("one is idle");
        assert!(idle.evicted.is_cancelled() && !served.evicted.is_cancelled());
        let more = asks(&fifth);
        assert!(connections.admit(None).is_none(), "all are being served");
        drop((turns, more));
        assert!(connections.admit(None).is_some());
    }
}
