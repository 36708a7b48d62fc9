//! Lists of conversations and what is done from them.

pub mod conversation_list;
pub mod inbox_page;
pub mod list_filters;
pub mod list_query;
pub mod mentions;
pub mod palette;
pub mod search;
pub mod search_parts;
pub mod triage;
