//! Models in memory, each with the revision of the examples that it was learned from.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use classifier::TopicModel;

use crate::limits::EXAMPLES_IN_MEMORY;
use crate::string_enum::string_enum;

string_enum! {
    /// What examples are about: each kind has a model of its own.
    ExampleKind { Topic = "topic", Urgency = "urgency", Spam = "spam" }
}

/// Whose model it is, and for what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelKey {
    pub ws: i64,
    pub circle: String,
    pub kind: ExampleKind,
}

/// The models used last. A model is a function of its examples, so one of the same revision is never
/// stale, on whichever node it was learned.
#[derive(Default)]
pub struct SorterModels(Mutex<Vec<CachedModel>>);

struct CachedModel {
    key: ModelKey,
    revision: i64,
    examples: usize,
    model: Arc<TopicModel>,
}

impl SorterModels {
    /// The model of this revision, if it is here.
    pub fn get(&self, key: &ModelKey, revision: i64) -> Option<Arc<TopicModel>> {
        let mut cached = self.lock();
        let at = cached.iter().position(|one| one.key == *key && one.revision == revision)?;
        let found = cached.remove(at);
        let model = Arc::clone(&found.model);
        cached.push(found);
        Some(model)
    }

    /// Keeps a model; those unused for longest go when there are too many examples in all.
    pub fn put(&self, key: ModelKey, revision: i64, examples: usize, model: Arc<TopicModel>) {
        let mut cached = self.lock();
        cached.retain(|one| one.key != key);
        cached.push(CachedModel { key, revision, examples: examples.max(1), model });
        let mut left: usize = cached.iter().map(|one| one.examples).sum();
        while left > EXAMPLES_IN_MEMORY && cached.len() > 1 {
            left -= cached.remove(0).examples;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<CachedModel>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(ws: i64) -> ModelKey {
        ModelKey { ws, circle: "team".into(), kind: ExampleKind::Topic }
    }

    #[test]
    fn a_model_is_found_by_its_revision_alone() {
        let models = SorterModels::default();
        models.put(key(1), 7, 10, Arc::default());
        assert!(models.get(&key(1), 7).is_some());
        assert!(models.get(&key(1), 8).is_none() && models.get(&key(2), 7).is_none());
        models.put(key(1), 8, 10, Arc::default());
        assert!(models.get(&key(1), 7).is_none() && models.get(&key(1), 8).is_some());
    }

    #[test]
    fn the_model_that_was_unused_for_longest_goes_first() {
        let models = SorterModels::default();
        let half = EXAMPLES_IN_MEMORY / 2;
        models.put(key(1), 1, half, Arc::default());
        models.put(key(2), 1, half, Arc::default());
        assert!(models.get(&key(1), 1).is_some());
        models.put(key(3), 1, half, Arc::default());
        assert!(models.get(&key(2), 1).is_none());
        assert!(models.get(&key(1), 1).is_some() && models.get(&key(3), 1).is_some());
    }
}
