//! What an operator does with a whole installation, and what is left behind what was deleted.

mod copied_workspaces;
mod deletion;
mod limits;
mod reindex;
mod retention;
mod scan;
mod suspension;
mod sweep;
mod upgrades;
mod usage;
