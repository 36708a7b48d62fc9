//! Shared by the administrative commands: the workspace, the actor, and the output.

use std::io::{self, ErrorKind, Write};

use actions::inboxes::setup::{self, WorkspaceListing};
use base::actor::{self, Actor, Circle};
use base::app::App;
use base::limits::{SIGN_IN_LINK_MS, duration};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use model::installation::installation;
use serde_json::Value;

use super::Json;
use crate::serve::{open_app, reached_at};
use crate::settings::Settings;

pub type CommandResult = Result<(), CommandFailure>;

/// Why a command ends with another status than 0.
pub enum CommandFailure {
    /// The sentence has not been printed.
    Untold(String),
    /// The printed output already shows it.
    Told,
    /// The printed output names what is damaged.
    Damaged,
}

impl From<String> for CommandFailure {
    fn from(sentence: String) -> CommandFailure {
        CommandFailure::Untold(sentence)
    }
}

impl From<&str> for CommandFailure {
    fn from(sentence: &str) -> CommandFailure {
        CommandFailure::Untold(sentence.to_owned())
    }
}

/// How long a sign-in link works.
pub fn link_works() -> String {
    format!("The link works once, for {}.", duration(SIGN_IN_LINK_MS))
}

/// Which workspace a command is about, and how it answers.
#[derive(Args)]
pub struct WorkspaceArgs {
    /// The workspace's slug; needed only when there are several
    #[arg(long, value_name = "SLUG")]
    workspace: Option<String>,
    #[command(flatten)]
    pub output: Json,
}

impl WorkspaceArgs {
    /// The same for a command whose own arguments name the workspace.
    pub fn of(workspace: Option<String>, output: Json) -> WorkspaceArgs {
        WorkspaceArgs { workspace, output }
    }

    /// The operator at the command line, who may administer the workspace.
    pub async fn operator(&self, app: &App) -> Result<Actor, String> {
        let list = workspaces(app).await?;
        let slugs = || list.iter().map(|w| w.slug.as_str()).collect::<Vec<_>>().join(", ");
        let found = match (&self.workspace, list.as_slice()) {
            (None, []) => Err("There is no workspace yet. Make one with `mailroom setup`.".into()),
            (None, [only]) => Ok(only),
            (None, _) => Err(format!("Which workspace? Say --workspace with one of {}.", slugs())),
            (Some(slug), _) => list
                .iter()
                .find(|w| w.slug == *slug)
                .ok_or_else(|| format!("There is no workspace {slug}; there are {}.", slugs())),
        }?;
        Ok(Actor::system(found.ws, found.id.clone(), Circle::team()))
    }
}

pub async fn workspaces(app: &App) -> Result<Vec<WorkspaceListing>, String> {
    app.store.read(setup::list_workspaces).await.map_err(sentence)
}

pub async fn person(app: &App, operator: &Actor, email: String) -> Result<Actor, String> {
    let ws = operator.ws;
    app.store
        .read(move |tx| actor::person(tx, ws, &email))
        .await
        .map_err(|_| "There is nobody with this address on the team.".to_owned())
}

/// Opens everything for one command. Links it makes lead to the public URL, or to where a server
/// was last started, or to where the settings would start one.
pub async fn open(settings: &Settings) -> Result<App, String> {
    let usual = reached_at(settings.listen);
    let app = open_app(settings, settings.public_url.as_deref().unwrap_or(&usual))?;
    if settings.public_url.is_some() || !settings.listens_as_usual() {
        return Ok(app);
    }
    let known = app.store.read(installation).await.map_err(sentence)?.address;
    Ok(match known {
        Some(address) => App { public_url: address.into(), ..app },
        None => app,
    })
}

pub fn sentence(error: base::error::Error) -> String {
    match error {
        base::error::Error::Store(cause) => cause.to_string(),
        base::error::Error::Files(cause) => cause.to_string(),
        error => error.to_string(),
    }
}

/// Reads an argument that is one of the words of an enum: help, completion and the error name them all.
macro_rules! word_of {
    ($kind:ty) => {
        $crate::cli::command::word_parser(<$kind>::NAMES, <$kind>::parse)
    };
}

pub fn word_parser<T: Clone + Send + Sync + 'static>(
    names: &'static [&'static str],
    parse: fn(&str) -> Option<T>,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(names).try_map(move |word| parse(&word).ok_or("is not known"))
}

/// A number with its noun: `1 mail`, `2 mails`.
pub fn count_noun(n: impl TryInto<i64>, one: &str, many: &str) -> String {
    match n.try_into() {
        Ok(1) => format!("1 {one}"),
        Ok(n) => format!("{n} {many}"),
        Err(_) => many.to_owned(),
    }
}

pub fn print(output: Json, answer: &Value, said: &str) {
    let said = if output.json { format!("{answer}\n") } else { format!("{said}\n") };
    write_out(&said);
}

/// Writes to standard output. A reader such as `head` may close the pipe early, which is no fault: what
/// the command does goes on.
pub fn write_out(said: &str) {
    let mut out = io::stdout().lock();
    let written = out.write_all(said.as_bytes()).and_then(|()| out.flush());
    if let Err(error) = written
        && error.kind() != ErrorKind::BrokenPipe
    {
        eprintln!("mailroom: what was done could not be printed: {error}");
    }
}

/// `print!`, which a closed pipe does not end.
macro_rules! say {
    ($($words:tt)*) => { $crate::cli::command::write_out(&format!($($words)*)) };
}

/// `println!`, which a closed pipe does not end.
macro_rules! say_line {
    ($($words:tt)*) => { $crate::cli::command::write_out(&format!("{}\n", format_args!($($words)*))) };
}

pub(crate) use {say, say_line, word_of};
