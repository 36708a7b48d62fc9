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
pub mod workspace_usage;

/// Tables whose rows are made anew in every database: the search index, which differs between SQLite
/// and PostgreSQL, what ties a database to its machine, its backups, and the record of migrations.
const NOT_DUMPED: &[&str] = &[
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

/// The table of values that tie a database to files; of these only the check of `secret.key` goes
/// with the data.
const NODE_FILES: &str = "node_files";
const KEY_CHECK: &str = "secret.key";

/// The table of blobs.
const BLOBS: &str = "blobs";

/// The column that only means something in the PostgreSQL server that wrote it.
const EVENTS: &str = "events";
const TRANSACTION: &str = "txn";
