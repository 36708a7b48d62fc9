//! What nobody else may learn: from the files on the machine, from the database alone, from the log.

mod debug;
mod files;
mod log;
pub(super) mod program;
