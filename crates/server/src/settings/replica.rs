//! The setting of the database's standby.

use clap::Args;

use super::Settings;
use super::setting_sources::SettingSources;

pub(super) const NAMES: &[&str] = &["database_replica_url"];

/// The flags, as they were typed.
#[derive(Args, Clone, Default)]
pub struct ReplicaFlags {
    /// A read-only standby of the PostgreSQL database, postgres://…, which answers reports and the
    /// audit log [default: none]
    #[arg(
        long,
        env = "MAILROOM_DATABASE_REPLICA_URL",
        global = true,
        value_name = "URL",
        hide_env_values = true
    )]
    pub database_replica_url: Option<String>,
}

base::debug_without_secrets!(ReplicaFlags {});

impl SettingSources {
    pub(super) fn database_replica_url(&mut self, flags: &ReplicaFlags) -> Option<String> {
        self.text("database_replica_url", &flags.database_replica_url)
            .filter(|url| !url.trim().is_empty())
    }
}

/// What is wrong with the standby's URL.
pub(super) fn mistake(settings: &Settings) -> Option<String> {
    let url = settings.database_replica_url.as_deref()?;
    let name = "database_replica_url";
    if !is_postgres(url) {
        return Some(format!("{name}: must be the URL of a PostgreSQL server, postgres://…"));
    }
    if !is_postgres(&settings.database_url) {
        return Some(format!(
            "{name}: needs a database on PostgreSQL: SQLite has no standby (see database_url)"
        ));
    }
    None
}

fn is_postgres(url: &str) -> bool {
    matches!(db::DatabaseUrl::parse(url), Ok(db::DatabaseUrl::Postgres(_)))
}

#[cfg(test)]
mod tests {
    use crate::settings::{Flags, Settings};

    fn load(database: &str, replica: &str) -> Result<Settings, Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        let mut flags = Flags { data: Some(folder.path().into()), ..Flags::default() };
        flags.database_url = Some(database.into());
        flags.replica.database_replica_url = Some(replica.into());
        Settings::load(&flags)
    }

    #[test]
    fn only_a_database_on_postgresql_has_a_standby() {
        let (here, there) = ("postgres://u@a/d", "postgres://u@b/d");
        assert_eq!(load(here, there).unwrap().database_replica_url.as_deref(), Some(there));
        assert_eq!(load("sqlite:a.db", "").unwrap().database_replica_url, None);
        for (database, replica, mistake) in [
            ("sqlite:a.db", there, "needs a database on PostgreSQL: SQLite has no standby"),
            (here, "sqlite:a.db", "must be the URL of a PostgreSQL server"),
        ] {
            let mistakes = load(database, replica).unwrap_err();
            assert_eq!(mistakes.len(), 1, "{mistakes:?}");
            assert!(mistakes[0].starts_with("database_replica_url: "), "{mistakes:?}");
            assert!(mistakes[0].contains(mistake), "{mistakes:?}");
        }
    }
}
