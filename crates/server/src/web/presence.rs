//! Who else is looking at a conversation, or writing in it, right now: as far as the pages that
//! this process serves can tell.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use inbox::ids::UserId;
use tokio::sync::broadcast;

/// Somebody counts as writing for so long after what they wrote was kept.
const WRITING_MS: i64 = 20_000;
/// Changes that a slow page may fall behind before it looks anyway.
const CHANGES_KEPT: usize = 256;

/// A conversation of a workspace.
pub type Spot = (i64, String);

pub struct Presence {
    visits: Mutex<HashMap<Spot, Vec<Visit>>>,
    changes: broadcast::Sender<Spot>,
}

struct Visit {
    person: UserId,
    name: String,
    /// Open pages of this person on this conversation.
    pages: usize,
    wrote_at: i64,
}

/// Somebody else who is there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Other {
    pub name: String,
    pub writes: bool,
}

/// One open page; it leaves when it is dropped.
pub struct Stay {
    presence: Arc<Presence>,
    spot: Spot,
    person: UserId,
}

impl Presence {
    pub fn new() -> Arc<Presence> {
        let (changes, _) = broadcast::channel(CHANGES_KEPT);
        Arc::new(Presence { visits: Mutex::default(), changes })
    }

    pub fn enter(self: &Arc<Self>, spot: Spot, person: &UserId, name: &str) -> Stay {
        {
            let mut visits = self.visits();
            let there = visits.entry(spot.clone()).or_default();
            match there.iter_mut().find(|visit| visit.person == *person) {
                Some(visit) => visit.pages += 1,
                None => there.push(Visit {
                    person: person.clone(),
                    name: name.to_owned(),
                    pages: 1,
                    wrote_at: 0,
                }),
            }
        }
        self.tell(&spot);
        Stay { presence: Arc::clone(self), spot, person: person.clone() }
    }

    /// Notes that somebody with an open page has just written something.
    pub fn writes(&self, spot: &Spot, person: &UserId, now: i64) {
        let mut visits = self.visits();
        let there = visits.get_mut(spot);
        let visit = there.and_then(|there| there.iter_mut().find(|visit| visit.person == *person));
        let Some(visit) = visit else { return };
        let is_news = now - visit.wrote_at >= WRITING_MS;
        visit.wrote_at = now;
        drop(visits);
        if is_news {
            self.tell(spot);
        }
    }

    /// Everybody there but one.
    pub fn others(&self, spot: &Spot, but: &UserId, now: i64) -> Vec<Other> {
        let visits = self.visits();
        let there = visits.get(spot).map_or(&[][..], Vec::as_slice);
        let others = there.iter().filter(|visit| visit.person != *but);
        let other = |visit: &Visit| Other {
            name: visit.name.clone(),
            writes: now - visit.wrote_at < WRITING_MS,
        };
        others.map(other).collect()
    }

    /// The conversations where somebody has come, gone or begun to write.
    pub fn changes(&self) -> broadcast::Receiver<Spot> {
        self.changes.subscribe()
    }

    fn tell(&self, spot: &Spot) {
        // Nobody listening is nobody to tell.
        let _ = self.changes.send(spot.clone());
    }

    fn visits(&self) -> MutexGuard<'_, HashMap<Spot, Vec<Visit>>> {
        self.visits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stay {
    pub fn spot(&self) -> &Spot {
        &self.spot
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        let mut visits = self.presence.visits();
        if let Some(there) = visits.get_mut(&self.spot) {
            for visit in there.iter_mut().filter(|visit| visit.person == self.person) {
                visit.pages -= 1;
            }
            there.retain(|visit| visit.pages > 0);
            if there.is_empty() {
                visits.remove(&self.spot);
            }
        }
        drop(visits);
        self.presence.tell(&self.spot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(letter: &str) -> UserId {
        UserId::parse(&format!("usr_{letter}")).unwrap()
    }

    #[test]
    fn one_is_there_as_long_as_a_page_is_open_and_writes_for_a_while() {
        let presence = Presence::new();
        let spot = (1, "cnv_1".to_owned());
        let (ann, bo) = (person("a"), person("b"));
        let first = presence.enter(spot.clone(), &ann, "Ann");
        let second = presence.enter(spot.clone(), &ann, "Ann");
        let _own = presence.enter(spot.clone(), &bo, "Bo");
        let seen = |now| presence.others(&spot, &bo, now);
        let ann_is = |writes| vec![Other { name: "Ann".into(), writes }];
        assert_eq!(seen(100_000), ann_is(false));
        presence.writes(&spot, &ann, 100_000);
        assert_eq!((seen(119_999), seen(120_000)), (ann_is(true), ann_is(false)));
        drop(first);
        assert_eq!(seen(200_000), ann_is(false));
        drop(second);
        assert_eq!(seen(200_000), []);
        assert_eq!(presence.others(&(2, "cnv_1".into()), &ann, 0), []);
    }
}
