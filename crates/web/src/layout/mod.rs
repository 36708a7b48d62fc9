//! What every page shares: its layout, wording, assets, flash messages and HTTP responses.

pub mod asset_files;
pub mod assets;
pub mod brand_files;
pub mod day_forms;
pub mod file_kinds;
pub mod filters;
pub mod flash;
pub mod hrefs;
pub mod installed_app;
pub mod page_layout;
pub mod page_parts;
pub mod qr_code;
pub mod responses;
pub mod script_texts;
pub mod settings_menu;
pub mod wording;
