//! A conversation and what stands in it.

mod contacts;
mod conversation;
mod live;
mod mentions;
mod original;
mod reading;
