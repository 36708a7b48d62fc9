//! The web app, page by page: what is shown, what forms do, and to whom.

mod booking;
pub mod browser;
mod conversations;
mod developers;
mod headers;
mod languages;
mod lists;
mod secure;
mod settings;
mod signing_in;
mod templates;
mod upload;
mod visibility;
mod writing;
