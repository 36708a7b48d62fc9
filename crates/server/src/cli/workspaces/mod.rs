//! Commands about whole workspaces.

pub(crate) mod copy;
pub(crate) mod deletion;
pub(crate) mod export_folder;
pub(crate) mod field;
pub(crate) mod purging;
pub(crate) mod suspension;
pub(crate) mod workspace_backup;
pub(crate) mod workspace_copy;
pub(crate) mod workspace_export;
pub(crate) mod workspace_limit;
pub(crate) mod workspace_usage;
