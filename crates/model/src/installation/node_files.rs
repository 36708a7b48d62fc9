//! Values that tie a database to the key files of its nodes.

use base::error::Result;
use db::Tx;

/// The row that a node writes to see whether the database can be written.
const WRITTEN: &str = "written";

/// A secret that was sealed with the key of some node, and its purpose.
pub enum Sealed {
    /// The password of an inbox that is fetched by IMAP, by the inbox's address.
    Imap { address: String, sealed: String },
    /// The key for a service that sends mail, by the connection's id.
    Service { id: String, sealed: String },
}

/// The value stored under a name.
pub fn value(tx: &mut Tx<'_>, name: &str) -> Result<Option<String>> {
    let found: Option<(String,)> =
        tx.opt("SELECT value FROM node_files WHERE name = ?1", &[&name])?;
    Ok(found.map(|(value,)| value))
}

/// Stores a value unless there is one; returns the stored one.
pub fn settle(tx: &mut Tx<'_>, name: &str, new: &str) -> Result<String> {
    tx.exec(
        "INSERT INTO node_files (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO NOTHING",
        &[&name, &new],
    )?;
    Ok(value(tx, name)?.unwrap_or_else(|| new.to_owned()))
}

/// Writes when it was, which only a database that can be written allows.
pub fn write_time(tx: &mut Tx<'_>, now: i64) -> Result<()> {
    tx.exec(
        "INSERT INTO node_files (name, value) VALUES (?1, ?2)
         ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        &[&WRITTEN, &now.to_string()],
    )?;
    Ok(())
}

/// Secrets to verify a key with: the oldest of each kind.
pub fn sealed_samples(tx: &mut Tx<'_>) -> Result<Vec<Sealed>> {
    let imap: Option<(String, String)> = tx.opt(
        "SELECT m.address, a.password
         FROM imap_accounts a JOIN mailboxes m ON m.ws = a.ws AND m.id = a.mailbox
         WHERE a.auth = 'password' ORDER BY a.created_at LIMIT 1",
        &[],
    )?;
    let service: Option<(String, String)> =
        tx.opt("SELECT id, api_key FROM services ORDER BY created_at LIMIT 1", &[])?;
    let imap = imap.map(|(address, sealed)| Sealed::Imap { address, sealed });
    let service = service.map(|(id, sealed)| Sealed::Service { id, sealed });
    Ok(imap.into_iter().chain(service).collect())
}
