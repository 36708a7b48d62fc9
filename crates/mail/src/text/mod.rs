//! Letters, lines and words as they can be stored and shown.

pub(crate) mod charset;
pub(crate) mod clean;
pub(crate) mod filename;
pub(crate) mod flowed;
pub(crate) mod invisible;
pub(crate) mod markup;
pub(crate) mod text_links;
