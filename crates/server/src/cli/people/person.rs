//! One person's data at the command line: everything about them as files, and forgetting them.

use std::path::PathBuf;

use base::email_address::EmailAddress;
use clap::Args;
use maintenance::forget_person::{self, ForgottenPerson};
use maintenance::person_files::{self, ProtectedWords};
use serde_json::json;

use crate::cli::Json;
use crate::cli::command::{CommandResult, WorkspaceArgs, open, print, sentence};
use crate::cli::workspaces::export_folder::{partial_folder, write_file};
use crate::cli::workspaces::purging::{about_later, purge_all};
use crate::cli::workspaces::workspace_export::export_workspace;
use crate::settings::Settings;

#[derive(Args)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(true).args(["contact", "workspace"]))]
pub struct Export {
    /// The person's address
    #[arg(long, value_name = "EMAIL")]
    contact: Option<String>,
    /// Without --contact: everything of the workspace. Its slug is needed only when there are several
    #[arg(long, value_name = "SLUG", num_args = 0..=1, default_missing_value = "")]
    workspace: Option<String>,
    /// Also the words and files of protected messages, in the clear. What is written of one person has
    /// them in any case
    #[arg(long, requires = "workspace")]
    protected: bool,
    /// The folder to write to; it must not be there yet [default: a new one here]
    #[arg(long, value_name = "FOLDER")]
    to: Option<PathBuf>,
    #[command(flatten)]
    output: Json,
}

impl Export {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        let slug = self.workspace.filter(|slug| !slug.is_empty());
        let workspace = WorkspaceArgs::of(slug, self.output);
        match self.contact {
            Some(contact) => export_person(settings, workspace, &contact, self.to).await,
            None => {
                let protected = if self.protected {
                    ProtectedWords::InTheClear
                } else {
                    ProtectedWords::LeftOut
                };
                export_workspace(settings, workspace, self.to, protected).await
            }
        }
    }
}

async fn export_person(
    settings: &Settings,
    workspace: WorkspaceArgs,
    contact: &str,
    to: Option<PathBuf>,
) -> CommandResult {
    let email = address(contact)?;
    let folder = to.unwrap_or_else(|| format!("mailroom-export-{}", email.as_str()).into());
    if folder.exists() {
        return Err(format!("{} is there already.", folder.display()).into());
    }
    let app = open(settings).await?;
    let operator = workspace.operator(&app).await?;
    // Written beside it first: a folder of this name is complete.
    let partial = partial_folder(&folder)?;
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
    std::fs::rename(&partial, &folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let answer = json!({
        "folder": folder,
        "conversations": export.conversations,
        "messages": export.messages,
        "files": export.files,
        "unreadable": export.unreadable,
    });
    let mut said = format!(
        "Wrote {} conversations, {} messages and {} files to {}.",
        export.conversations,
        export.messages,
        export.files,
        folder.display()
    );
    if export.unreadable > 0 {
        said.push_str(&format!(
            " {} files are lost or damaged, and a sentence is in the place of each; `mailroom check` names them.",
            export.unreadable
        ));
    }
    print(workspace.output, &answer, &said);
    Ok(())
}

#[derive(Args)]
pub struct Forget {
    /// The person's address
    #[arg(long, value_name = "EMAIL")]
    contact: String,
    /// Do not write an SQLite database anew, for which a busy server would have to wait: until they
    /// are used again, free parts of its file may hold bytes that were deleted before
    #[arg(long)]
    without_compacting: bool,
    #[command(flatten)]
    workspace: WorkspaceArgs,
}

/// What a removal does not reach, and why.
const KEPT: &[&str] = &[
    "The audit log says that a contact was forgotten or blocked, when and by whom, without the address: \
     it proves that it was done.",
    "What the team wrote itself stays: notes, replies and answers in conversations with others, tags, \
     saved replies, and rules that name the address.",
    "What other people wrote about the person in their own conversations stays.",
    "Backups that were made before hold the person until they are removed (`mailroom backup --keep`).",
    "PostgreSQL reuses the space of removed rows; until then, and in archives of its write-ahead log, \
     old bytes may be found by whoever reads its files.",
    "Mail in mailboxes that Mailroom only fetches from stays there; delete it there, or it is \
     fetched again after the mailbox is connected anew.",
];

impl Forget {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        let email = address(&self.contact)?;
        let app = open(settings).await?;
        let operator = self.workspace.operator(&app).await?;
        let forgotten =
            app.act(&operator, move |tx, cx| forget_person::forget_person(tx, cx, &email)).await;
        let (done, unknown) = match forgotten {
            Ok(done) => (done, None),
            // An earlier attempt may have broken off behind the tables.
            Err(error @ base::error::Error::NotFound(_)) => {
                (ForgottenPerson::default(), Some(error))
            }
            Err(error) => return Err(sentence(error).into()),
        };
        let purged = purge_all(&app, settings, !self.without_compacting).await?;
        if let Some(error) = unknown {
            return Err(sentence(error).into());
        }
        let answer = json!({
            "addresses": done.addresses,
            "conversations": done.conversations,
            "messages": done.messages,
            "documents": done.documents,
            "bookings": done.bookings,
            "redactedConversations": done.redacted,
            "blobs": done.blobs,
            "filesRemovedLater": purged.later,
            "kept": KEPT,
        });
        let addresses: Vec<&str> = done.addresses.iter().map(EmailAddress::as_str).collect();
        let kept: Vec<String> = KEPT.iter().map(|line| format!("  {line}")).collect();
        let said = format!(
            "Removed {}: {} conversations, {} messages, {} documents, {} bookings and {} blobs; {} \
             conversations with others are without what the person wrote.{}\nNot removed:\n{}",
            addresses.join(", "),
            done.conversations,
            done.messages,
            done.documents,
            done.bookings,
            done.blobs,
            done.redacted,
            about_later(purged.later),
            kept.join("\n")
        );
        print(self.workspace.output, &answer, &said);
        Ok(())
    }
}

fn address(text: &str) -> Result<EmailAddress, String> {
    let email = EmailAddress::new(text.trim());
    match email.domain() {
        Some(_) => Ok(email),
        None => Err("contact: must be an e-mail address".into()),
    }
}
