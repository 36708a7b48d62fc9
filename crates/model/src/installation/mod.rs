//! The installation as a whole: which database it is, where it was last reached, and whether it is
//! quiet, which means that no mail is sent or fetched and no webhook is called.
//!
//! A copy of the database has the identity of the original. A server that finds another identity
//! than the one it runs on marks the copy quiet, so that two installations never work on the same
//! mailboxes and customers; the mark stays until somebody ends it.

pub mod acme;
pub mod audit_log;
pub mod mail_secret;
pub mod node_files;
pub mod nodes;
pub mod scheduled_backups;
pub mod sealing;

use base::concurrency::queue::Queue;
use base::error::Result;
use base::string_enum::string_enum;
use base::time::Moment;
use db::Tx;
use serde::Serialize;

string_enum! {
    /// Why an installation is quiet.
    QuietReason {
        Asked = "asked",
        Copied = "copied",
        Restored = "restored",
    }
}

impl QuietReason {
    pub fn sentence(self) -> &'static str {
        match self {
            QuietReason::Asked => "An operator asked for it.",
            QuietReason::Copied => {
                "The database is a copy: it was made on another machine, disk or server."
            }
            QuietReason::Restored => "The database was restored from a backup.",
        }
    }
}

db::row! {
    /// The single row.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Installation from "installation" {
        pub identity: Option<String>,
        /// The base URL under which a server was last started without a public one.
        pub address: Option<String>,
        quiet_reason: Option<QuietReason>,
        quiet_since: Option<Moment>,
    }
}

impl Installation {
    pub fn quiet(&self) -> Option<QuietMark> {
        let marked = self.quiet_reason.zip(self.quiet_since);
        marked.map(|(reason, since)| QuietMark { reason, since })
    }
}

/// That an installation is quiet until somebody ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct QuietMark {
    pub reason: QuietReason,
    pub since: Moment,
}

pub fn installation(tx: &mut Tx<'_>) -> Result<Installation> {
    Ok(tx.one(&format!("SELECT {} FROM installation", Installation::COLUMNS), &[])?)
}

/// Compares the identity of the database in use with the one on record. A first identity is kept;
/// another one makes the installation quiet, unless there is no workspace that could send anything.
/// An identity that cannot be found out proves nothing.
pub fn recognise_copy(tx: &mut Tx<'_>, identity: Option<&str>, now: i64) -> Result<()> {
    let Some(identity) = identity else { return Ok(()) };
    let known = installation(tx)?.identity;
    let (workspaces,): (i64,) = tx.one("SELECT count(*) FROM workspaces", &[])?;
    match known {
        Some(known) if known == identity => Ok(()),
        Some(_) if workspaces > 0 => begin_quiet(tx, QuietReason::Copied, now),
        _ => keep_identity(tx, identity),
    }
}

/// Makes the installation quiet until [`end_quiet`]. One that is quiet keeps its first reason.
pub fn begin_quiet(tx: &mut Tx<'_>, reason: QuietReason, now: i64) -> Result<()> {
    tx.wake(Queue::Installation);
    tx.exec(
        "UPDATE installation SET quiet_reason = ?1, quiet_since = ?2 WHERE quiet_reason IS NULL",
        &[&reason, &now],
    )?;
    Ok(())
}

/// Ends the quiet. From now on this database is the original.
pub fn end_quiet(tx: &mut Tx<'_>, identity: Option<&str>) -> Result<()> {
    tx.wake(Queue::Installation);
    tx.exec("UPDATE installation SET quiet_reason = NULL, quiet_since = NULL", &[])?;
    match identity {
        Some(identity) => keep_identity(tx, identity),
        None => Ok(()),
    }
}

fn keep_identity(tx: &mut Tx<'_>, identity: &str) -> Result<()> {
    tx.exec("UPDATE installation SET identity = ?1", &[&identity])?;
    Ok(())
}

/// Keeps where a server is reached, for links that other processes make.
pub fn keep_address(tx: &mut Tx<'_>, address: &str) -> Result<()> {
    tx.exec("UPDATE installation SET address = ?1", &[&address])?;
    Ok(())
}
