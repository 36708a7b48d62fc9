//! Caches that the transactions of one store share in this process.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::Tx;
use crate::tx::Conn;

/// One cache of each type.
#[derive(Clone, Default)]
pub(crate) struct Caches(Arc<Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>>);

impl Caches {
    fn get<T: Default + Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let mut caches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let cache = caches.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default()));
        cache.clone().downcast().ok()
    }

    /// Forgets all that is cached, because another server may answer from now on.
    pub(crate) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl Tx<'_> {
    /// The cache of this type that all transactions of the store share. A transaction that is undone leaves
    /// what it has put there. `None` on SQLite, whose pages are in this process anyway.
    pub fn cache<T: Default + Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        match &self.conn {
            Conn::Sqlite(_) => None,
            Conn::Postgres(session) => session.caches.get(),
        }
    }
}
