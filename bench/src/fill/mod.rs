//! Made-up histories and small workspaces, and the databases that are filled with them.

pub mod filled;
pub mod lane;
pub mod seed;
pub mod words;
pub mod workspace;
