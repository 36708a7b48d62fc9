//! What an operator does with a whole installation: dump and load its tables, rebuild the search
//! index, check that everything fits together, remove what nothing names, write out a workspace, write
//! out or remove one person.

pub mod check;
pub mod dump;
pub mod dump_scan;
pub mod figures;
pub mod forget_person;
pub mod load;
pub mod person_files;
pub mod purge;
mod redaction;
pub mod reindex;
pub mod sweep;
pub mod waiting;
pub mod workspace_files;
pub mod workspace_load;
mod workspace_seals;
mod workspace_tables;
pub mod workspace_usage;
pub mod workspace_verify;

/// Tables whose rows are made anew in every database: the search index, which differs between SQLite
/// and PostgreSQL, what ties a database to its machine, its backups, challenges of the moment, and the record of
/// migrations.
pub const NOT_DUMPED: &[&str] = &[
    "acme_challenges",
    "conversation_index",
    "document_index",
    "index_maintenance",
    "index_rebuilds",
    "installation",
    "message_index",
    "nodes",
    "scheduled_backups",
    "schema_versions",
];

/// Tables with a workspace's number whose rows do not go with the workspace: what signs people and programs in at
/// this moment, mail of the service and messages to browsers that are on their way, files of customers that are not
/// handed over, and how the workspace rests. See `workspace_load`.
pub const NOT_OF_WORKSPACE: &[&str] = &[
    "customer_sessions",
    "deleted_workspaces",
    "guest_sessions",
    "idempotency_keys",
    "notices",
    "oauth_codes",
    "oauth_tokens",
    "one_time_codes",
    "push_messages",
    "push_subscriptions",
    "resting_workspaces",
    "sessions",
    "sign_in_attempts",
    "sign_in_links",
    "sign_in_steps",
    "uploads",
];

/// Tables without a workspace's number, which belong to the installation.
pub const OF_INSTALLATION: &[&str] = &[
    "acme_accounts",
    "acme_certificates",
    "node_files",
    "oauth_clients",
    "report_backfill",
    "unused_blobs",
];

/// The table of values that tie a database to files; of these only the check of `secret.key` goes
/// with the data.
const NODE_FILES: &str = "node_files";
const KEY_CHECK: &str = "secret.key";

/// The table of blobs.
const BLOBS: &str = "blobs";

/// The column that only means something in the PostgreSQL server that wrote it.
const EVENTS: &str = "events";
const TRANSACTION: &str = "txn";
