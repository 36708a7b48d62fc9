//! One running server: its health, metrics, secrets, files, and whether it is quiet.

pub mod blob_health;
pub mod certificate_orders;
pub mod data_lock;
pub mod health;
pub mod log_fields;
pub mod log_filter;
pub mod metrics;
pub mod node_files;
pub mod permissions;
mod process_figures;
pub mod quiet;
pub mod roster;
pub mod storage_check;
pub mod supervisor;
pub mod vault;
pub mod watch;
