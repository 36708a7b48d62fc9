//! Caches that the transactions of one store share in this process.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// One cache of each type.
#[derive(Clone, Default)]
pub(crate) struct Caches(Arc<Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>>);

impl Caches {
    pub(crate) fn get<T: Default + Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let mut caches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let cache = caches.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default()));
        cache.clone().downcast().ok()
    }

    /// Forgets all that is cached, because another server may answer from now on.
    pub(crate) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
