//! Commands about backups.

pub(crate) mod backup;
pub(crate) mod backup_verify;
pub(crate) mod backup_words;
