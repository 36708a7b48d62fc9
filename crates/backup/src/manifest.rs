//! What stands beside the data of backups: which they are, and how they are sealed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The version of the layout.
pub(super) const LAYOUT: u32 = 1;
/// The file that says what a place is.
pub(super) const PLACE_FILE: &str = "mailroom-backups.json";
/// The endings of a backup's files.
const MANIFEST_ENDING: &str = ".manifest.json";
const TABLES_ENDING: &str = ".tables.zst";
const BLOBS_ENDING: &str = ".blobs";
const KEY_ENDING: &str = ".secret.key";

/// What a place for backups is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PlaceFile {
    pub mailroom_backups: u32,
    /// `None` where nothing is sealed.
    pub sealed: Option<SealParameters>,
}

/// How the key of a sealed place follows from its passphrase.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SealParameters {
    /// Base64.
    pub salt: String,
    /// Tells a wrong passphrase from the right one; base64.
    pub check: String,
}

/// One backup, and what it holds.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BackupManifest {
    /// When it was begun, in UTC, as the files are named.
    pub name: String,
    /// The version of Mailroom that wrote it.
    pub version: String,
    pub schema: i64,
    pub sealed: bool,
    /// The slug of the one workspace that it holds; `None` for a whole installation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// True when `secret.key` is in it.
    pub has_key: bool,
    /// The rows of each table.
    pub tables: BTreeMap<String, u64>,
    /// Blobs that are files; small ones are rows.
    pub blobs: u64,
    /// The SHA-256 of the file of tables as it is stored.
    pub tables_sha256: String,
    /// Blobs that were erased while it was written and are not in it, as the place names them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub erased_blobs: Vec<String>,
}

impl BackupManifest {
    pub(super) fn tables_file(&self) -> String {
        format!("{}{TABLES_ENDING}", self.name)
    }

    pub(super) fn blobs_file(&self) -> String {
        format!("{}{BLOBS_ENDING}", self.name)
    }

    pub(super) fn key_file(&self) -> String {
        format!("{}{KEY_ENDING}", self.name)
    }

    pub(super) fn manifest_file(&self) -> String {
        format!("{}{MANIFEST_ENDING}", self.name)
    }

    /// All rows together.
    pub fn rows(&self) -> u64 {
        self.tables.values().sum()
    }

    /// The rows of one table.
    pub fn rows_of(&self, table: &str) -> u64 {
        self.tables.get(table).copied().unwrap_or(0)
    }
}

/// The name of the backup whose manifest a file is.
pub(super) fn manifest_name(file: &str) -> Option<&str> {
    file.strip_suffix(MANIFEST_ENDING)
}

/// The name of the backup that a file is of.
pub(super) fn backup_name(file: &str) -> Option<&str> {
    let endings = [MANIFEST_ENDING, TABLES_ENDING, BLOBS_ENDING, KEY_ENDING];
    endings.iter().find_map(|ending| file.strip_suffix(ending))
}

/// The file of a backup's manifest.
pub(super) fn manifest_file(name: &str) -> String {
    format!("{name}{MANIFEST_ENDING}")
}
