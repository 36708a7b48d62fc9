//! `workspace copy`: a quiet trial beside the original.

use std::fs::File;
use std::io::{BufReader, BufWriter, Seek, SeekFrom};
use std::path::Path;

use backup::open_workspace;
use base::actor::Actor;
use base::app::App;
use base::files::private_files::file_options;
use clap::Args;
use maintenance::dump::{self, DumpScope};
use maintenance::workspace_load::{self, WorkspacePlace};

use crate::cli::Json;
use crate::cli::command::{CommandFailure, CommandResult, print, sentence};
use crate::cli::workspaces::workspace_backup::{
    about_faults, about_loaded, answer_of, find_workspace,
};
use crate::settings::Settings;

#[derive(Args)]
pub struct CopyWorkspace {
    /// The workspace's slug
    #[arg(value_name = "NAME")]
    name: String,
    /// The slug of the copy
    #[arg(long = "as", value_name = "NEW")]
    slug: String,
    #[command(flatten)]
    output: Json,
}

impl CopyWorkspace {
    pub async fn run(self, settings: &Settings, app: &App) -> CommandResult {
        let source = find_workspace(app, &self.name).await?;
        let mut file = unnamed_file(&settings.data)?;
        let (scope, rows) = (DumpScope::Workspace(source.clone()), file.try_clone());
        let rows = rows.map_err(copy_failure)?;
        let written = app.store.read(move |tx| {
            let mut out = &rows;
            out.seek(SeekFrom::Start(0))?;
            out.set_len(0)?;
            dump::dump(tx, &scope, &mut BufWriter::new(out), &mut |_, _| {})
        });
        written.await.map_err(sentence)?;
        let (own, operator) = (app.clone(), Actor::operator(&app.ids));
        let into = WorkspacePlace::Beside { slug: self.slug.clone() };
        let loaded = app.store.write(move |tx| {
            file.seek(SeekFrom::Start(0))?;
            let cx = own.cx(&operator);
            workspace_load::load_workspace(tx, &cx, &mut BufReader::new(&file), &source, &into)
        });
        let loaded = loaded.await.map_err(sentence)?;
        let faults = open_workspace(app, &loaded).await?;
        let said = [
            format!("{} is a copy of {}.", loaded.slug, self.name),
            about_loaded(&loaded),
            about_faults(&faults),
        ];
        print(self.output, &answer_of(&loaded, &faults), &said.join("\n"));
        if faults.is_empty() { Ok(()) } else { Err(CommandFailure::Told) }
    }
}

/// A file in the data folder that has no name any more: it goes with the process.
fn unnamed_file(folder: &Path) -> Result<File, String> {
    let path = folder.join(format!("workspace-copy.{}", std::process::id()));
    let file =
        file_options().read(true).write(true).create_new(true).open(&path).map_err(copy_failure)?;
    std::fs::remove_file(&path).map_err(copy_failure)?;
    Ok(file)
}

fn copy_failure(error: std::io::Error) -> String {
    format!("The copy could not be written: {error}")
}
