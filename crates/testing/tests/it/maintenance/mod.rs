//! What an operator does with a whole installation, and what is left behind what was deleted.

mod deletion;
mod reindex;
mod retention;
mod scan;
mod sweep;
mod upgrades;
mod usage;
