//! Every byte that an installation keeps, to look for words that must not be among them.

use std::path::Path;
use std::process::Command;

use crate::TestApp;

/// Files and rows, in lower case.
pub struct StoredBytes(Vec<Vec<u8>>);

impl TestApp {
    /// The files of the data folder, which are SQLite's too, with its write-ahead log; the blobs as they
    /// were before they were packed; and what `pg_dump` writes.
    pub async fn stored_bytes(&self) -> StoredBytes {
        let mut all = Vec::new();
        add_files(self.folder(), &mut all);
        let blobs = self.app.blobs.clone();
        let unpacked = self.app.store.read(move |tx| {
            let names: Vec<(i64, String)> = tx.all("SELECT ws, hash FROM blobs", &[])?;
            let mut unpacked = Vec::with_capacity(names.len());
            for (ws, hash) in names {
                unpacked.extend(blobs.get(tx, ws, &hash)?);
            }
            Ok::<_, base::error::Error>(unpacked)
        });
        all.extend(unpacked.await.unwrap());
        if self.database_url().starts_with("postgres") {
            all.push(postgres_dump(self.database_url()));
        }
        StoredBytes(all.into_iter().map(|bytes| bytes.to_ascii_lowercase()).collect())
    }
}

fn add_files(folder: &Path, all: &mut Vec<Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => add_files(&path, all),
            false => all.push(std::fs::read(path).unwrap()),
        }
    }
}

/// The whole database as SQL; bytes are in it in hexadecimal.
fn postgres_dump(url: &str) -> Vec<u8> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let installed = versions.map(|version| version.path().join("bin/pg_dump"));
    let program = installed.filter(|path| path.exists()).max().unwrap_or_else(|| "pg_dump".into());
    let dump = Command::new(program).arg("--dbname").arg(url).output().expect("pg_dump is there");
    assert!(dump.status.success(), "{}", String::from_utf8_lossy(&dump.stderr));
    dump.stdout
}

impl StoredBytes {
    /// True if a word stands anywhere, as it is or in hexadecimal.
    pub fn hold(&self, word: &str) -> bool {
        let word = word.to_ascii_lowercase().into_bytes();
        let hex: String = word.iter().map(|byte| format!("{byte:02x}")).collect();
        let is_in = |part: &[u8]| self.0.iter().any(|bytes| has(bytes, part));
        is_in(&word) || is_in(hex.as_bytes())
    }
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    let begins = bytes.iter().enumerate().filter(|(_, byte)| **byte == part[0]);
    begins.into_iter().any(|(place, _)| bytes[place..].starts_with(part))
}
