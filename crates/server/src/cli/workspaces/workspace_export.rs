//! `export --workspace`: everything of a workspace in open formats. Conversations are read one by one, so
//! that memory stays small however many there are.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use base::actor::Actor;
use base::app::App;
use base::files::private_files::file_options;
use maintenance::person_files::{PersonExport, ProtectedWords};
use maintenance::workspace_files::{
    WORKSPACE_TABLES, export_conversation, export_table, next_conversations,
};
use serde_json::{Map, Value, json};

use crate::cli::command::{CommandResult, WorkspaceArgs, open, print, sentence};
use crate::cli::workspaces::export_folder::{partial_folder, write_file};
use crate::settings::Settings;

/// The file of conversations, and the folder of their mails and files.
const CONVERSATIONS: &str = "conversations.jsonl";
const FILES: &str = "conversations";
/// The last characters of an id name the folder that its files lie in, so that each stays small.
const FOLDER_CHARS: usize = 2;

pub(crate) async fn export_workspace(
    settings: &Settings,
    workspace: WorkspaceArgs,
    to: Option<PathBuf>,
    protected: ProtectedWords,
) -> CommandResult {
    let folder = to.unwrap_or_else(|| "mailroom-export".into());
    if folder.exists() {
        return Err(format!("{} is there already.", folder.display()).into());
    }
    let app = open(settings).await?;
    let operator = workspace.operator(&app).await?;
    let partial = partial_folder(&folder)?;
    let written = write_all(&app, &operator, &partial, protected).await;
    let (rows, export) = match written {
        Ok(written) => written,
        Err(sentence) => {
            let _ = std::fs::remove_dir_all(&partial);
            return Err(sentence.into());
        }
    };
    std::fs::rename(&partial, &folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let answer = json!({
        "folder": folder,
        "conversations": export.conversations,
        "messages": export.messages,
        "files": export.files,
        "rows": rows,
    });
    let words = match protected {
        ProtectedWords::LeftOut => ", the sandbox and what protected messages say",
        ProtectedWords::InTheClear => " and the sandbox",
    };
    let said = format!(
        "Wrote {} conversations, {} messages and {} files to {}. Passwords, keys{words} are not in \
         it; private inboxes are.",
        export.conversations,
        export.messages,
        export.files,
        folder.display()
    );
    print(workspace.output, &answer, &said);
    Ok(())
}

/// The rows of each file of lines, and what was written of conversations.
async fn write_all(
    app: &App,
    operator: &Actor,
    folder: &Path,
    protected: ProtectedWords,
) -> Result<(Map<String, Value>, PersonExport), String> {
    let mut rows = Map::new();
    for table in WORKSPACE_TABLES {
        let path = folder.join(table.file);
        let written = app.read(operator, move |tx, cx| {
            // The transaction may begin again, and the file with it.
            let mut lines = Lines::create(&path)?;
            let rows = export_table(tx, cx.actor.ws, table, |row| lines.add(row))?;
            lines.finish()?;
            Ok(rows)
        });
        rows.insert(table.file.to_owned(), written.await.map_err(sentence)?.into());
    }
    let mut lines =
        Lines::create(&folder.join(CONVERSATIONS)).map_err(|error| error.to_string())?;
    let (mut all, mut after) = (PersonExport::default(), 0);
    loop {
        let listed = app.read(operator, move |tx, cx| next_conversations(tx, cx.actor.ws, after));
        let listed = listed.await.map_err(sentence)?;
        let Some((last, _)) = listed.last() else { break };
        after = *last;
        for (_, id) in listed {
            let id_text = id.as_str();
            let place = &id_text[id_text.len() - FOLDER_CHARS..];
            let place = folder.join(FILES).join(place);
            let written = app.read(operator, move |tx, cx| {
                let mut write = |name: &str, bytes: &[u8]| write_file(&place.join(name), bytes);
                export_conversation(tx, cx, &id, protected, &mut write)
            });
            let Some((line, one)) = written.await.map_err(sentence)? else { continue };
            lines.add(&line).map_err(|error| error.to_string())?;
            all.conversations += 1;
            all.messages += one.messages;
            all.files += one.files;
        }
    }
    lines.finish().map_err(|error| error.to_string())?;
    Ok((rows, all))
}

/// A file of JSON lines.
struct Lines {
    out: BufWriter<File>,
}

impl Lines {
    fn create(path: &Path) -> std::io::Result<Lines> {
        let file = file_options().write(true).create(true).truncate(true).open(path)?;
        Ok(Lines { out: BufWriter::new(file) })
    }

    fn add(&mut self, value: &Value) -> std::io::Result<()> {
        serde_json::to_writer(&mut self.out, value)?;
        self.out.write_all(b"\n")
    }

    fn finish(mut self) -> std::io::Result<()> {
        self.out.flush()?;
        self.out.get_ref().sync_all()
    }
}
