//! What every page shares: its layout, wording, assets and HTTP responses.

pub(crate) mod assets;
pub(crate) mod page_layout;
pub(crate) mod responses;
pub(crate) mod wording;
