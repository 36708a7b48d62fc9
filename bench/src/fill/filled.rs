//! Databases that are filled for a run, or were kept from an earlier one.

use std::fs;
use std::path::{Path, PathBuf};

use crate::database::{self, DatabaseKind, Databases, Passing};
use crate::fill::seed::{Seeded, schema, seed};

/// How databases are filled, and where they are kept.
pub struct FillPlan<'a> {
    pub databases: &'a Databases,
    /// Where they are kept; `None` for those that go with the run.
    pub data: Option<&'a Path>,
    pub scratch: &'a Path,
    /// What the workspaces are made up from.
    pub seed: u64,
}

/// A filled database.
pub struct FilledDatabase {
    pub kind: DatabaseKind,
    pub folder: PathBuf,
    pub url: String,
    pub seeded: Seeded,
    /// The PostgreSQL database that goes with this.
    pub passing: Option<Passing>,
}

impl FillPlan<'_> {
    /// A filled database: one that was kept, or a new one.
    pub fn prepare(&self, kind: DatabaseKind, messages: usize) -> Result<FilledDatabase, String> {
        let name = format!("{}-{messages}-{}", kind.name(), self.seed);
        let folder = self.data.unwrap_or(self.scratch).join(name);
        let known = folder.join("seeded.json");
        let kept: Option<Seeded> =
            fs::read(&known).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let kept = kept.filter(|kept| kept.schema == schema());
        if kept.is_none() && folder.exists() {
            fs::remove_dir_all(&folder).map_err(|error| error.to_string())?;
        }
        fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let (url, passing) = self.place(kind, messages, &folder, kept.is_some())?;
        let seeded = match kept {
            Some(seeded) => seeded,
            None => {
                eprintln!("filling {} with {messages} messages", kind.name());
                let seeded = seed(&url, messages, self.seed)?;
                let json = serde_json::to_vec(&seeded).map_err(|error| error.to_string())?;
                fs::write(&known, json).map_err(|error| error.to_string())?;
                seeded
            }
        };
        Ok(FilledDatabase { kind, folder, url, seeded, passing })
    }

    /// Where a database is, and what has to be dropped in the end.
    fn place(
        &self,
        kind: DatabaseKind,
        messages: usize,
        folder: &Path,
        is_filled: bool,
    ) -> Result<(String, Option<Passing>), String> {
        if kind == DatabaseKind::Sqlite {
            return Ok((format!("sqlite:{}", folder.join("mailroom.db").display()), None));
        }
        let admin = self.databases.postgres().ok_or("--postgres is needed")?;
        let name = match self.data {
            Some(_) => format!("mailroom_bench_{messages}_{}", self.seed),
            None => format!("mailroom_bench_{messages}_{}", std::process::id()),
        };
        let url = match is_filled {
            true => database::beside(admin, &name),
            false => database::create_postgres(admin, &name)?,
        };
        let passing = self.data.is_none().then(|| Passing::new(admin, &name));
        Ok((url, passing))
    }
}
