//! A conversation and what stands in it.

mod contacts;
mod conversation;
mod live;
mod mentions;
mod original;
pub(super) mod pictures;
mod reading;
mod side_column;
