//! The web app, page by page: what is shown, what forms do, and to whom.

mod booking;
pub mod browser;
mod contact_form_codes;
mod contact_forms;
mod conversations;
mod customer_languages;
mod developers;
mod headers;
mod help_pages;
mod installed_app;
mod languages;
mod lists;
mod own_page;
mod public_demo;
mod right_to_left;
mod satisfaction;
mod secure;
mod settings;
mod signing_in;
mod suspension;
mod templates;
mod upload;
mod visibility;
mod writing;
