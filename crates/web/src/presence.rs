//! Who else is reading a conversation, or writing in it, right now.
//!
//! Each process knows the pages that it serves. On PostgreSQL it announces them to the others, and
//! repeats that while they are open; what is not repeated expires. Presence is not persisted.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use base::app::App;
use base::ids::{ConversationId, UserId};
use jobs::OpenPages;
use node::supervisor::Supervisor;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

/// How long a person counts as writing after their text was saved.
const WRITING_MS: i64 = 20_000;
/// A visit on another process expires so long after it was announced.
const ANNOUNCED_MS: i64 = 50_000;
/// How often a continuing typing status is re-announced.
const ANNOUNCED_AGAIN_MS: i64 = 10_000;
/// Changes that a slow page may fall behind before it checks anyway.
const CHANGES_KEPT: usize = 256;
/// Conversations of other processes that are remembered, and people on each.
const CONVERSATIONS_ELSEWHERE: usize = 20_000;
const PEOPLE_ELSEWHERE: usize = 20;
/// The first field of an announcement.
const MARK: &str = "presence";
const NODE_CHARS: usize = 12;

/// A conversation of a workspace.
pub type PresenceKey = (i64, String);

pub struct Presence {
    node: String,
    /// Announces to other processes; `None` if there are none.
    others: Option<db::Store>,
    visits: Mutex<Visits>,
    changes: broadcast::Sender<PresenceKey>,
}

#[derive(Default)]
struct Visits {
    here: HashMap<PresenceKey, Vec<Visit>>,
    elsewhere: HashMap<PresenceKey, Vec<RemoteVisit>>,
}

struct Visit {
    person: UserId,
    name: String,
    /// Open pages of this person on this conversation.
    pages: usize,
    wrote_at: i64,
    announced_at: i64,
}

/// A person with a page open on another process.
struct RemoteVisit {
    node: String,
    person: String,
    name: String,
    wrote_at: i64,
    until: i64,
}

/// Another person with the conversation open.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Other {
    pub name: String,
    pub writes: bool,
}

/// Presence on one open page; dropping it ends the presence.
pub struct PresenceGuard {
    presence: Arc<Presence>,
    key: PresenceKey,
    person: UserId,
}

impl Presence {
    /// Who has a page open, here and on other processes of the database. Without `tasks` nobody watches over what
    /// hears of others, as for a router alone.
    pub fn new(app: &App, tasks: Option<&Supervisor>) -> Arc<Presence> {
        let others = app.store.is_shared().then(|| app.store.clone());
        let presence = Presence::with(app.ids.token(NODE_CHARS), others);
        if app.store.is_shared() {
            let (weak, app) = (Arc::downgrade(&presence), app.clone());
            match tasks {
                Some(tasks) => drop(tasks.start("presence", move |stop| {
                    apply_announcements(weak.clone(), app.clone(), stop)
                })),
                None => {
                    drop(tokio::spawn(apply_announcements(weak, app, CancellationToken::new())));
                }
            }
        }
        presence
    }

    fn with(node: String, others: Option<db::Store>) -> Arc<Presence> {
        let (changes, _) = broadcast::channel(CHANGES_KEPT);
        Arc::new(Presence { node, others, visits: Mutex::default(), changes })
    }

    pub fn enter(self: &Arc<Self>, key: PresenceKey, person: &UserId, name: &str) -> PresenceGuard {
        {
            let mut visits = self.visits();
            let there = visits.here.entry(key.clone()).or_default();
            match there.iter_mut().find(|visit| visit.person == *person) {
                Some(visit) => visit.pages += 1,
                None => there.push(Visit {
                    person: person.clone(),
                    name: name.to_owned(),
                    pages: 1,
                    wrote_at: 0,
                    announced_at: 0,
                }),
            }
        }
        self.notify(&key);
        self.announce(&key, person.as_str(), "reads", name);
        PresenceGuard { presence: Arc::clone(self), key, person: person.clone() }
    }

    /// Records that somebody with an open page has just written something.
    pub fn writes(&self, key: &PresenceKey, person: &UserId, now: i64) {
        let mut visits = self.visits();
        let there = visits.here.get_mut(key);
        let visit = there.and_then(|there| there.iter_mut().find(|visit| visit.person == *person));
        let Some(visit) = visit else {
            drop(visits);
            return self.writes_elsewhere(key, person, now);
        };
        let is_news = now - visit.wrote_at >= WRITING_MS;
        visit.wrote_at = now;
        let tells = now - visit.announced_at >= ANNOUNCED_AGAIN_MS;
        if tells {
            visit.announced_at = now;
        }
        let name = visit.name.clone();
        drop(visits);
        if is_news {
            self.notify(key);
        }
        if tells {
            self.announce(key, person.as_str(), "writes", &name);
        }
    }

    /// The same for somebody whose open page another process serves, while this one took what they
    /// wrote.
    fn writes_elsewhere(&self, key: &PresenceKey, person: &UserId, now: i64) {
        let mut visits = self.visits();
        let there = visits.elsewhere.get_mut(key);
        let visit = there.and_then(|there| {
            there.iter_mut().find(|visit| visit.person == person.as_str() && visit.until > now)
        });
        let Some(visit) = visit else { return };
        if now - visit.wrote_at < ANNOUNCED_AGAIN_MS {
            return;
        }
        visit.wrote_at = now;
        let (node, name) = (visit.node.clone(), visit.name.clone());
        drop(visits);
        self.notify(key);
        self.announce_of(&node, key, person.as_str(), "writes", &name);
    }

    /// What another process took of somebody whose page is open here.
    fn wrote_elsewhere(&self, key: &PresenceKey, person: &str, now: i64) {
        let mut visits = self.visits();
        let there = visits.here.get_mut(key);
        let visit =
            there.and_then(|there| there.iter_mut().find(|visit| visit.person.as_str() == person));
        let Some(visit) = visit else { return };
        let is_news = now - visit.wrote_at >= WRITING_MS;
        visit.wrote_at = now;
        drop(visits);
        if is_news {
            self.notify(key);
        }
    }

    /// Everybody in a conversation except one person.
    pub fn others(&self, key: &PresenceKey, but: &UserId, now: i64) -> Vec<Other> {
        let visits = self.visits();
        let here = visits.here.get(key).map_or(&[][..], Vec::as_slice);
        let elsewhere = visits.elsewhere.get(key).map_or(&[][..], Vec::as_slice);
        let mut met: Vec<&str> = vec![but.as_str()];
        let mut others = Vec::new();
        let here = here.iter().map(|one| (one.person.as_str(), &one.name, one.wrote_at));
        let elsewhere = elsewhere
            .iter()
            .filter(|one| one.until > now)
            .map(|one| (one.person.as_str(), &one.name, one.wrote_at));
        for (person, name, wrote_at) in here.chain(elsewhere) {
            if !met.contains(&person) {
                met.push(person);
                others.push(Other { name: name.clone(), writes: now - wrote_at < WRITING_MS });
            }
        }
        others
    }

    /// True where a person has a page of a conversation open, here or on another process.
    fn has_page(&self, key: &PresenceKey, person: &UserId, now: i64) -> bool {
        let visits = self.visits();
        let here = visits
            .here
            .get(key)
            .is_some_and(|there| there.iter().any(|visit| visit.person == *person));
        here || visits.elsewhere.get(key).is_some_and(|there| {
            there.iter().any(|visit| visit.person == person.as_str() && visit.until > now)
        })
    }

    /// The conversations that somebody has opened, left or begun to write in.
    pub fn changes(&self) -> broadcast::Receiver<PresenceKey> {
        self.changes.subscribe()
    }

    fn notify(&self, key: &PresenceKey) {
        // Fails if no page listens, which is fine.
        let _ = self.changes.send(key.clone());
    }

    fn announce(&self, key: &PresenceKey, person: &str, does: &str, name: &str) {
        self.announce_of(&self.node, key, person, does, name);
    }

    /// Announces what somebody does whose page is open on a process.
    fn announce_of(
        &self,
        node: &str,
        (ws, conversation): &PresenceKey,
        person: &str,
        does: &str,
        name: &str,
    ) {
        let Some(store) = &self.others else { return };
        let name = name.replace('\t', " ");
        store.notify_others(format!(
            "{MARK}\t{node}\t{ws}\t{conversation}\t{person}\t{does}\t{name}"
        ));
    }

    /// Applies an announcement of another process.
    fn apply(&self, announcement: &str, now: i64) {
        let parts: Vec<&str> = announcement.split('\t').collect();
        let [MARK, node, ws, conversation, person, does, name] = parts[..] else { return };
        let Ok(ws) = ws.parse::<i64>() else { return };
        let key = (ws, conversation.to_owned());
        if node == self.node {
            if does == "writes" {
                self.wrote_elsewhere(&key, person, now);
            }
            return;
        }
        let mut visits = self.visits();
        let elsewhere = &mut visits.elsewhere;
        if elsewhere.len() >= CONVERSATIONS_ELSEWHERE && !elsewhere.contains_key(&key) {
            elsewhere.retain(|_, there| there.iter().any(|one| one.until > now));
            if elsewhere.len() >= CONVERSATIONS_ELSEWHERE {
                return;
            }
        }
        let there = elsewhere.entry(key.clone()).or_default();
        let before = there.iter().find(|one| one.node == node && one.person == person);
        let wrote_at = match does {
            "writes" => now,
            _ => before.map_or(0, |one| one.wrote_at),
        };
        there.retain(|one| one.until > now && (one.node != node || one.person != person));
        if does != "left" && there.len() < PEOPLE_ELSEWHERE {
            there.push(RemoteVisit {
                node: node.to_owned(),
                person: person.to_owned(),
                name: name.to_owned(),
                wrote_at,
                until: now + ANNOUNCED_MS,
            });
        }
        if there.is_empty() {
            elsewhere.remove(&key);
        }
        drop(visits);
        self.notify(&key);
    }

    fn visits(&self) -> MutexGuard<'_, Visits> {
        self.visits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenPages for Presence {
    fn has_open(&self, ws: i64, conversation: &ConversationId, person: &UserId, now: i64) -> bool {
        self.has_page(&(ws, conversation.to_string()), person, now)
    }
}

/// Applies the announcements of other processes until `stop`.
async fn apply_announcements(presence: Weak<Presence>, app: App, stop: CancellationToken) {
    let (mut wakes, clock) = (app.store.wakes(), app.clock.clone());
    // The app would keep its database open.
    drop(app);
    loop {
        let heard = tokio::select! {
            heard = wakes.recv() => heard,
            () = stop.cancelled() => return,
        };
        match heard {
            Ok(told) if !told.starts_with(MARK) => {}
            Ok(told) => match presence.upgrade() {
                Some(presence) => presence.apply(&told, clock.now()),
                None => return,
            },
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return,
        }
    }
}

impl PresenceGuard {
    pub fn key(&self) -> &PresenceKey {
        &self.key
    }

    /// Announces to other processes that the page is still open.
    pub fn announce_again(&self) {
        let visits = self.presence.visits();
        let there = visits.here.get(&self.key).map_or(&[][..], Vec::as_slice);
        let name = there.iter().find(|visit| visit.person == self.person);
        let Some(name) = name.map(|visit| visit.name.clone()) else { return };
        drop(visits);
        self.presence.announce(&self.key, self.person.as_str(), "reads", &name);
    }
}

impl Drop for PresenceGuard {
    fn drop(&mut self) {
        let mut visits = self.presence.visits();
        let mut left = false;
        if let Some(there) = visits.here.get_mut(&self.key) {
            for visit in there.iter_mut().filter(|visit| visit.person == self.person) {
                visit.pages -= 1;
                left = visit.pages == 0;
            }
            there.retain(|visit| visit.pages > 0);
            if there.is_empty() {
                visits.here.remove(&self.key);
            }
        }
        drop(visits);
        self.presence.notify(&self.key);
        if left {
            self.presence.announce(&self.key, self.person.as_str(), "left", "");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(id: &str) -> UserId {
        UserId::parse(&format!("usr_{id}")).unwrap()
    }

    #[test]
    fn one_is_there_as_long_as_a_page_is_open_and_writes_for_a_while() {
        let presence = Presence::with("one".into(), None);
        let key = (1, "cnv_1".to_owned());
        let (ann, bo) = (person("a"), person("b"));
        let first = presence.enter(key.clone(), &ann, "Ann");
        let second = presence.enter(key.clone(), &ann, "Ann");
        let _own = presence.enter(key.clone(), &bo, "Bo");
        let seen = |now| presence.others(&key, &bo, now);
        let ann_is = |writes| vec![Other { name: "Ann".into(), writes }];
        assert_eq!(seen(100_000), ann_is(false));
        assert!(presence.has_page(&key, &ann, 0) && !presence.has_page(&key, &person("c"), 0));
        presence.writes(&key, &ann, 100_000);
        assert_eq!((seen(119_999), seen(120_000)), (ann_is(true), ann_is(false)));
        drop(first);
        assert_eq!(seen(200_000), ann_is(false));
        drop(second);
        assert_eq!(seen(200_000), []);
        assert_eq!(presence.others(&(2, "cnv_1".into()), &ann, 0), []);
    }

    #[test]
    fn whoever_is_elsewhere_is_there_until_they_leave_or_are_not_told_of_again() {
        let presence = Presence::with("one".into(), None);
        let key = (1, "cnv_1".to_owned());
        let seen = |now| presence.others(&key, &person("b"), now);
        let told = |node: &str, who: &str, does: &str| {
            format!("presence\t{node}\t1\tcnv_1\tusr_{who}\t{does}\tAnn Ames")
        };
        let ann_is = |writes| vec![Other { name: "Ann Ames".into(), writes }];
        presence.apply(&told("two", "a", "reads"), 100_000);
        assert_eq!((seen(149_999), seen(150_000)), (ann_is(false), vec![]));
        let has_page = |now| presence.has_page(&key, &person("a"), now);
        assert!(has_page(149_999) && !has_page(150_000));
        presence.apply(&told("two", "a", "writes"), 110_000);
        presence.apply(&told("two", "a", "reads"), 115_000);
        presence.apply(&told("three", "a", "reads"), 115_000);
        assert_eq!(seen(116_000), ann_is(true));
        presence.apply(&told("two", "a", "left"), 117_000);
        assert_eq!(seen(118_000), ann_is(false));
        presence.apply(&told("three", "a", "left"), 117_000);
        for other in [told("one", "a", "reads"), told("two", "b", "reads"), "presence\tx".into()] {
            presence.apply(&other, 117_000);
        }
        assert_eq!(seen(118_000), []);
    }

    #[test]
    fn what_one_writes_through_another_node_counts_where_their_page_is_open() {
        let (one, two) = (Presence::with("one".into(), None), Presence::with("two".into(), None));
        let (key, ann) = ((1, "cnv_1".to_owned()), person("a"));
        let _page = one.enter(key.clone(), &ann, "Ann");
        two.apply("presence\tone\t1\tcnv_1\tusr_a\treads\tAnn", 100_000);
        // Two takes what she saves, and tells the others as if the node of her page had.
        two.writes(&key, &ann, 101_000);
        one.apply("presence\tone\t1\tcnv_1\tusr_a\twrites\tAnn", 101_000);
        let ann_writes = vec![Other { name: "Ann".into(), writes: true }];
        for node in [&one, &two] {
            assert_eq!(node.others(&key, &person("b"), 102_000), ann_writes);
        }
    }

    #[test]
    fn what_is_remembered_of_others_has_an_end() {
        let presence = Presence::with("one".into(), None);
        for n in 0..30 {
            presence.apply(&format!("presence\ttwo\t1\tcnv_1\tusr_{n}\treads\tAnn"), 1);
        }
        assert_eq!(presence.others(&(1, "cnv_1".into()), &person("x"), 2).len(), PEOPLE_ELSEWHERE);
        for n in 0..=CONVERSATIONS_ELSEWHERE {
            presence.apply(&format!("presence\ttwo\t1\tcnv_{n}\tusr_a\treads\tAnn"), 1);
        }
        assert_eq!(presence.visits().elsewhere.len(), CONVERSATIONS_ELSEWHERE);
    }
}
