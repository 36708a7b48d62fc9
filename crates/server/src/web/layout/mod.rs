//! What every page shares: its frame, words, assets and HTTP responses.

pub(crate) mod answers;
pub(crate) mod assets;
pub(crate) mod frame;
pub(crate) mod wording;
