//! What an operator does with one workspace.

mod copies;
mod deletions;
mod export;
mod fields;
mod hosting;
