//! One person's data at the command line: everything about them as files, and forgetting them.

use std::path::{Path, PathBuf};

use clap::Args;
use inbox::App;
use inbox::base::email_address::EmailAddress;
use inbox::base::private_files::{file_options, make_folder};
use inbox::maintenance::{forget_person, person_files};
use serde_json::json;

use super::command::{CommandResult, WorkspaceArgs, open, print, sentence};
use crate::settings::Settings;

#[derive(Args)]
pub struct Export {
    /// The person's address
    #[arg(long, value_name = "EMAIL")]
    contact: String,
    /// The folder to write to; it must not be there yet [default: a new one here]
    #[arg(long, value_name = "FOLDER")]
    to: Option<PathBuf>,
    #[command(flatten)]
    workspace: WorkspaceArgs,
}

impl Export {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        let email = address(&self.contact)?;
        let folder =
            self.to.unwrap_or_else(|| format!("mailroom-export-{}", email.as_str()).into());
        if folder.exists() {
            return Err(format!("{} is there already.", folder.display()).into());
        }
        let app = open(settings).await?;
        let operator = self.workspace.operator(&app).await?;
        // Written beside it first: a folder of this name is complete.
        let partial = folder.with_extension("partial");
        let place = partial.clone();
        let written = app
            .read(&operator, move |tx, cx| {
                let mut write = |name: &str, bytes: &[u8]| write_file(&place.join(name), bytes);
                person_files::export_person(tx, cx, &email, &mut write)
            })
            .await;
        let export = match written {
            Ok(export) => export,
            Err(error) => {
                let _ = std::fs::remove_dir_all(&partial);
                return Err(sentence(error).into());
            }
        };
        std::fs::rename(&partial, &folder)
            .map_err(|error| format!("{}: {error}", folder.display()))?;
        let answer = json!({
            "folder": folder,
            "conversations": export.conversations,
            "messages": export.messages,
            "files": export.files,
        });
        let said = format!(
            "Wrote {} conversations, {} messages and {} files to {}.",
            export.conversations,
            export.messages,
            export.files,
            folder.display()
        );
        print(self.workspace.output, &answer, &said);
        Ok(())
    }
}

#[derive(Args)]
pub struct Forget {
    /// The person's address
    #[arg(long, value_name = "EMAIL")]
    contact: String,
    #[command(flatten)]
    workspace: WorkspaceArgs,
}

/// What a removal does not reach, and why.
const KEPT: &[&str] = &[
    "The audit log says that a contact was forgotten, when and by whom, without the address: it \
     proves that it was done.",
    "What the team wrote itself stays: notes, replies and answers in conversations with others.",
    "What other people wrote about the person in their own conversations stays.",
    "Backups that were made before hold the person until they are removed (`mailroom backup --keep`).",
    "Mail in mailboxes that Mailroom only fetches from stays there; delete it there, or it is \
     fetched again after the mailbox is connected anew.",
];

impl Forget {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        let email = address(&self.contact)?;
        let app = open(settings).await?;
        let operator = self.workspace.operator(&app).await?;
        let done = app
            .act(&operator, move |tx, cx| forget_person::forget_person(tx, cx, &email))
            .await
            .map_err(sentence)?;
        delete_files(&app, &done)?;
        app.store.write(forget_person::purge_index).await.map_err(sentence)?;
        let url = settings.database_url.clone();
        tokio::task::spawn_blocking(move || db::Store::compact(&url))
            .await
            .map_err(|error| error.to_string())?
            .map_err(|error| {
                format!(
                    "The person is removed, but the database could not be compacted, so its files \
                     may still hold old bytes: {error}. Repeat the command while the server rests."
                )
            })?;
        let answer = json!({
            "conversations": done.conversations,
            "messages": done.messages,
            "documents": done.documents,
            "redactedConversations": done.redacted,
            "blobs": done.blobs,
            "kept": KEPT,
        });
        let kept: Vec<String> = KEPT.iter().map(|line| format!("  {line}")).collect();
        let said = format!(
            "Removed {} conversations, {} messages, {} documents and {} blobs; {} conversations with \
             others are without what the person wrote.\nNot removed:\n{}",
            done.conversations,
            done.messages,
            done.documents,
            done.blobs,
            done.redacted,
            kept.join("\n")
        );
        print(self.workspace.output, &answer, &said);
        Ok(())
    }
}

fn delete_files(app: &App, done: &forget_person::ForgottenPerson) -> Result<(), String> {
    for hash in &done.files {
        let removed = app.blobs.remove_file(hash);
        removed.map_err(|error| format!("The file of the blob {hash} is still there: {error}"))?;
    }
    for upload in &done.uploads {
        app.blobs.partial_uploads().remove(upload).map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn address(text: &str) -> Result<EmailAddress, String> {
    let email = EmailAddress::new(text.trim());
    match email.domain() {
        Some(_) => Ok(email),
        None => Err("contact: must be an e-mail address".into()),
    }
}

fn write_file(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        make_folder(folder)?;
    }
    let mut file = file_options().write(true).create(true).truncate(true).open(path)?;
    std::io::Write::write_all(&mut file, bytes)
}
