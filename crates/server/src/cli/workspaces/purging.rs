//! What follows a removal from the tables, in every command that removes something: old bytes leave the
//! search index, the folder of files and the database's own files.

use base::app::App;
use maintenance::purge::{self, PurgedFiles};

use crate::cli::command::sentence;
use crate::settings::Settings;

/// Removes what the tables no longer refer to from all files. With `rewrite`, an SQLite database is written
/// anew.
pub async fn purge_all(
    app: &App,
    settings: &Settings,
    rewrite: bool,
) -> Result<PurgedFiles, String> {
    let told = |error: String| {
        format!(
            "It is removed from the tables, but files may still hold old bytes: {error}. Repeat it \
             with `mailroom check --sweep`; if the database is busy, while the server rests."
        )
    };
    let purged = purge::purge(app).await.map_err(|error| told(sentence(error)))?;
    let url = settings.database_url.clone();
    tokio::task::spawn_blocking(move || db::Store::compact(&url, rewrite))
        .await
        .map_err(|error| error.to_string())?
        .map_err(|error| told(error.to_string()))?;
    Ok(purged)
}

/// What is said of files that are left to a running server.
pub fn about_later(files: u64) -> String {
    match files {
        0 => String::new(),
        files => format!(
            " {files} files were in use within the last hour; a running server removes them, or \
             `mailroom check --sweep` later."
        ),
    }
}
