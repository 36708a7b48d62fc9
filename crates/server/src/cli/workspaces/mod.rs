//! Commands about whole workspaces.

pub(crate) mod copy;
pub(crate) mod deletion;
pub(crate) mod export_folder;
pub(crate) mod purging;
pub(crate) mod workspace_export;
pub(crate) mod workspace_usage;
