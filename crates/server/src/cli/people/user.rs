//! The people of a workspace at the command line.

use actions::inboxes::setup;
use actions::people::removal;
use actions::sign_in::{sessions, sign_in_reset};
use base::actor::{Actor, Principal, Role};
use base::app::{App, Cx};
use base::ids::UserId;
use clap::Subcommand;
use db::Tx;
use serde_json::json;

use crate::cli::command::{
    CommandResult, WorkspaceArgs, link_works, open, person, print, sentence, word_of,
};
use crate::settings::Settings;

/// What `user remove` does, in the words of the app's page.
const REMOVED: &str = "Their sessions are over, their keys are revoked, what they had to answer is \
                       unassigned, their private inboxes are closed and not fetched any more.";

#[derive(Subcommand)]
pub enum User {
    /// Add somebody to the team
    Add {
        email: String,
        #[arg(long)]
        name: String,
        #[arg(long, default_value = "member", value_parser = word_of!(Role))]
        role: Role,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// List the team
    List {
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// Make a link that signs somebody in who cannot sign in any more; their private inboxes stay
    /// shut until they give their password or follow a link that is mailed to them
    Link {
        email: String,
        /// Open their private inboxes, too: for somebody who has lost their password where no mail
        /// reaches people. Hand it to nobody else
        #[arg(long)]
        opens_private: bool,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// For somebody whose device is lost: remove their passkeys, authenticator app and recovery codes,
    /// unlink their account at the sign-in provider and end their sessions; they sign in with their
    /// password or a link
    ResetSignIn {
        email: String,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// Remove somebody at once and for good: their sessions end, their keys are revoked, what they
    /// had to answer is unassigned, and their private inboxes are closed
    Remove {
        email: String,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
}

impl User {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        let app = open(settings).await?;
        match self {
            User::Add { email, name, role, workspace } => {
                add(&app, email, name, role, &workspace).await
            }
            User::List { workspace } => list(&app, &workspace).await,
            User::Link { email, opens_private, workspace } => {
                let make = if opens_private {
                    sessions::make_recovery_link
                } else {
                    sessions::make_sign_in_link
                };
                link(&app, email, make, &workspace).await
            }
            User::ResetSignIn { email, workspace } => reset_sign_in(&app, email, &workspace).await,
            User::Remove { email, workspace } => remove(&app, email, &workspace).await,
        }
    }
}

async fn add(
    app: &App,
    email: String,
    name: String,
    role: Role,
    workspace: &WorkspaceArgs,
) -> CommandResult {
    let operator = workspace.operator(app).await?;
    let said = format!("{name} is on the team. They sign in at");
    let (id, url) = app
        .act(&operator, move |tx, cx| {
            let id = setup::add_person(tx, cx, &email, &name, role)?;
            let url = sessions::make_sign_in_link(tx, cx, &id)?;
            Ok((id, url))
        })
        .await
        .map_err(sentence)?;
    let said = format!("{said}\n{url}\n{}", link_works());
    print(workspace.output, &json!({ "id": id, "signInUrl": url }), &said);
    Ok(())
}

async fn list(app: &App, workspace: &WorkspaceArgs) -> CommandResult {
    let operator = workspace.operator(app).await?;
    let people = app.read(&operator, setup::list_people).await.map_err(sentence)?;
    let lines =
        people.iter().map(|p| format!("{}  {:8} {} <{}>", p.id, p.role.as_str(), p.name, p.email));
    let said = lines.collect::<Vec<_>>().join("\n");
    print(workspace.output, &json!({ "people": people }), &said);
    Ok(())
}

/// Makes a link for one person; answers its address.
type MakeLink = fn(&mut Tx<'_>, &Cx<'_>, &UserId) -> base::error::Result<String>;

async fn link(
    app: &App,
    email: String,
    make: MakeLink,
    workspace: &WorkspaceArgs,
) -> CommandResult {
    let operator = workspace.operator(app).await?;
    let (id, name) = find_by_email(app, &operator, email).await?;
    let made = id.clone();
    let url = app.act(&operator, move |tx, cx| make(tx, cx, &made)).await.map_err(sentence)?;
    let said = format!("{name} signs in at\n{url}\n{}", link_works());
    print(workspace.output, &json!({ "id": id, "signInUrl": url }), &said);
    Ok(())
}

async fn reset_sign_in(app: &App, email: String, workspace: &WorkspaceArgs) -> CommandResult {
    let operator = workspace.operator(app).await?;
    let (id, name) = find_by_email(app, &operator, email).await?;
    let reset = id.clone();
    app.act(&operator, move |tx, cx| sign_in_reset::reset_sign_in(tx, cx, &reset))
        .await
        .map_err(sentence)?;
    let said = format!(
        "The sign-in of {name} is reset. They sign in with their password, by a link that they ask for, or \
         by one of mailroom user link."
    );
    print(workspace.output, &json!({ "ok": true, "id": id }), &said);
    Ok(())
}

async fn remove(app: &App, email: String, workspace: &WorkspaceArgs) -> CommandResult {
    let operator = workspace.operator(app).await?;
    let (id, name) = find_by_email(app, &operator, email).await?;
    let removed = id.clone();
    app.act(&operator, move |tx, cx| removal::remove_person(tx, cx, &removed))
        .await
        .map_err(sentence)?;
    print(
        workspace.output,
        &json!({ "ok": true, "id": id }),
        &format!("{name} is removed. {REMOVED}"),
    );
    Ok(())
}

/// The id and name of whoever has this address.
async fn find_by_email(
    app: &App,
    operator: &Actor,
    email: String,
) -> Result<(UserId, String), String> {
    match person(app, operator, email).await?.who {
        Principal::Person { id, name, .. } => Ok((id, name)),
        Principal::Agent { .. } | Principal::System | Principal::Rule { .. } => {
            Err("There is nobody with this address.".to_owned())
        }
    }
}
