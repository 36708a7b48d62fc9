//! What the search index has of rows.

pub mod index_rebuild;
pub mod search_filter;
pub mod search_index;
pub mod word_lists;
