//! What every page shares: its layout, wording, assets, flash messages and HTTP responses.

pub(crate) mod asset_files;
pub(crate) mod assets;
pub(crate) mod file_kinds;
pub(crate) mod filters;
pub(crate) mod flash;
pub(crate) mod hrefs;
pub(crate) mod page_layout;
pub(crate) mod page_parts;
pub(crate) mod qr_code;
pub(crate) mod responses;
pub(crate) mod script_texts;
pub(crate) mod wording;
