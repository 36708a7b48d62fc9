//! What the team knows as public help pages: who may read them, their words, addresses and history.
//!
//! `publishing` copies what is public from the answers into tables of its own, and whatever visitors read
//! comes from those tables alone, so that no search, list or address can lead to an answer that is not public.

pub mod help_pages;
pub mod help_search;
pub mod help_site;
pub mod page_text;
pub mod publishing;
pub mod slugs;
pub mod versions;
pub mod votes;
