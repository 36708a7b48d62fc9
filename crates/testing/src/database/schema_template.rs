//! The name of a prepared database with today's schema.

use std::hash::{DefaultHasher, Hash, Hasher};

use db::Migration;

/// A name for today's schema.
pub(crate) fn template_name(own: impl Fn(&Migration) -> &'static str) -> String {
    let mut schema = DefaultHasher::new();
    for step in model::schema::MIGRATIONS {
        (step.both, own(step)).hash(&mut schema);
    }
    format!("template_{:x}", schema.finish())
}
