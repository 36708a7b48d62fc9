//! The team's answers at the command line.

use std::fs;
use std::path::{Path, PathBuf};

use actions::workspace::help_site::{help_settings, set_help_site};
use actions::writing::answer_folder::{FolderAnswer, export_folder, import_folder, read_answer};
use actions::writing::answers::{self, AnswerListing, ImportResult, StaleAnswer};
use actions::writing::{answer_files, answer_pages};
use base::actor::Actor;
use base::app::App;
use base::ids::AnswerId;
use base::limits::ANSWERS;
use base::time::Moment;
use clap::{Args, Subcommand, ValueEnum};
use knowledge::help_site::{HelpSite, HelpSiteInput};
use model::messages::answers::{AnswerAudience, HelpState};
use serde_json::{Value, json};

use super::command::{CommandResult, WorkspaceArgs, open, person, print, sentence};
use super::import::help_desk::articles::{ArticleSource, read_articles};
use crate::settings::Settings;

#[derive(Subcommand)]
pub enum AnswerCommand {
    /// Add the answers of a file or a folder. Importing it again changes what is different, nothing twice
    Import(AnswerImport),
    /// Write all answers into a folder: a Markdown file for each, in a folder for each language
    Export {
        /// An empty folder, or one that does not exist
        folder: PathBuf,
        /// The person whose answers they are
        #[arg(long, value_name = "EMAIL")]
        by: String,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// List the answers of the team, or those that one person sees
    List(AnswerList),
    /// Say how far an answer's public page is, and that everybody may read it
    Public {
        /// Its id, as `mailroom answer list` names it
        answer: String,
        /// `draft` and `review` take it off the help pages
        #[arg(long, value_enum, default_value = "public")]
        state: AnswerPageState,
        #[arg(long, value_name = "EMAIL")]
        by: String,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// Put an answer into a section of the help pages
    Section {
        /// Its id, as `mailroom answer list` names it
        answer: String,
        /// The name of the section; nothing takes it out of the one it is in
        #[arg(default_value = "")]
        section: String,
        #[arg(long, value_name = "EMAIL")]
        by: String,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// Open or close the public help pages, or say where they are
    Site(AnswerSite),
}

#[derive(Args)]
pub struct AnswerImport {
    /// Markdown with a heading before each answer, CSV with the columns title, text, language and
    /// valid_until, or a folder of Markdown files; with --from the saved answers of a help desk
    path: PathBuf,
    /// The help desk that the articles of the folder were saved from
    #[arg(long, value_enum, value_name = "HELP DESK")]
    from: Option<ArticleSource>,
    /// The person whose answers they are
    #[arg(long, value_name = "EMAIL")]
    by: String,
    #[command(flatten)]
    workspace: WorkspaceArgs,
}

#[derive(Args)]
pub struct AnswerList {
    /// List what this person sees
    #[arg(long, value_name = "EMAIL")]
    by: Option<String>,
    /// Only those in this language, two letters such as en
    #[arg(long, value_name = "LANGUAGE")]
    language: Option<String>,
    /// Only those of this section
    #[arg(long, value_name = "SECTION")]
    section: Option<String>,
    /// Only those that everybody can read
    #[arg(long)]
    public: bool,
    /// Only those that should be looked at again
    #[arg(long)]
    stale: bool,
    #[command(flatten)]
    workspace: WorkspaceArgs,
}

#[derive(Args)]
pub struct AnswerSite {
    /// `on` opens the help pages, `off` closes them; without it, how they are
    #[arg(value_enum)]
    state: Option<SiteState>,
    /// The language for readers who ask for none that there is
    #[arg(long, value_name = "LANGUAGE")]
    language: Option<String>,
    /// The id of the contact form that they lead to; empty for none
    #[arg(long, value_name = "FORM")]
    form: Option<String>,
    /// The owner or admin who does it
    #[arg(long, value_name = "EMAIL")]
    by: Option<String>,
    #[command(flatten)]
    workspace: WorkspaceArgs,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum AnswerPageState {
    Draft,
    Review,
    Public,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SiteState {
    On,
    Off,
}

impl AnswerCommand {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        let app = open(settings).await?;
        match self {
            AnswerCommand::Import(import) => import.run(&app).await,
            AnswerCommand::Export { folder, by, workspace } => {
                let person = actor(&app, &workspace, Some(by)).await?;
                let files = app.read(&person, export_folder).await.map_err(sentence)?;
                let count = write_folder(&folder, files)?;
                let said = format!("{count} answers are in {}.", folder.display());
                print(workspace.output, &json!({ "answers": count }), &said);
                Ok(())
            }
            AnswerCommand::List(list) => list.run(&app).await,
            AnswerCommand::Public { answer, state, by, workspace } => {
                let person = actor(&app, &workspace, Some(by)).await?;
                let id = answer_id(&answer)?;
                let state = match state {
                    AnswerPageState::Draft => HelpState::Draft,
                    AnswerPageState::Review => HelpState::Review,
                    AnswerPageState::Public => HelpState::Public,
                };
                let wanted = (AnswerAudience::Everybody, state);
                let set = move |tx: &mut db::Tx<'_>, cx: &base::app::Cx<'_>| {
                    answer_pages::set_audience(tx, cx, &id, wanted)?;
                    answer_pages::answer_background(tx, cx, &id)
                };
                let background = app.act(&person, set).await.map_err(sentence)?;
                let said = match &background.url {
                    Some(url) => format!("Everybody can read it at {url}."),
                    None if state == HelpState::Public => {
                        "It is public once the help pages are open: mailroom answer site on."
                            .to_owned()
                    }
                    None => "It is not on the help pages.".to_owned(),
                };
                print(workspace.output, &json!({ "state": state, "url": background.url }), &said);
                Ok(())
            }
            AnswerCommand::Section { answer, section, by, workspace } => {
                let person = actor(&app, &workspace, Some(by)).await?;
                let (id, name) = (answer_id(&answer)?, section.clone());
                app.act(&person, move |tx, cx| answer_pages::set_section(tx, cx, &id, &name))
                    .await
                    .map_err(sentence)?;
                let said = if section.is_empty() {
                    "It is in no section.".to_owned()
                } else {
                    format!("It is in the section {section}.")
                };
                print(workspace.output, &json!({ "section": section }), &said);
                Ok(())
            }
            AnswerCommand::Site(site) => site.run(&app).await,
        }
    }
}

impl AnswerImport {
    async fn run(self, app: &App) -> CommandResult {
        let person = actor(app, &self.workspace, Some(self.by)).await?;
        let articles = match self.from {
            Some(source) => Some(read_articles(source, &self.path)?),
            None if self.path.is_dir() => Some(read_folder(&self.path)?),
            None => None,
        };
        let result = match articles {
            Some(articles) => {
                app.act(&person, move |tx, cx| import_folder(tx, cx, &articles)).await
            }
            None => {
                let path = &self.path;
                let bytes =
                    fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
                let answers = answer_files::read_answer_file(&bytes).map_err(sentence)?;
                app.act(&person, move |tx, cx| answers::import_answers(tx, cx, &answers)).await
            }
        };
        let ImportResult { added, changed, unchanged } = result.map_err(sentence)?;
        let said = format!("{added} added, {changed} changed, {unchanged} as they were.");
        let answer = json!({ "added": added, "changed": changed, "unchanged": unchanged });
        print(self.workspace.output, &answer, &said);
        Ok(())
    }
}

impl AnswerList {
    async fn run(self, app: &App) -> CommandResult {
        let viewer = actor(app, &self.workspace, self.by.clone()).await?;
        let mut listed = app.read(&viewer, answers::list_answers).await.map_err(sentence)?;
        listed.retain(|one| self.is_wanted(one));
        let shown: Vec<Value> = listed.iter().map(answer_json).collect();
        let lines = listed.iter().map(|one| {
            let answer = &one.answer;
            let public = if answer.is_public() { "  public" } else { "" };
            format!(
                "{}  {}  {}  used {}{public}",
                answer.id, answer.language, answer.title, one.uses
            )
        });
        let lines = lines.collect::<Vec<_>>().join("\n");
        print(self.workspace.output, &json!({ "answers": shown }), &lines);
        Ok(())
    }

    fn is_wanted(&self, listing: &AnswerListing) -> bool {
        let answer = &listing.answer;
        self.language.as_ref().is_none_or(|language| *language == answer.language)
            && self.section.as_ref().is_none_or(|section| *section == answer.section)
            && (!self.public || answer.is_public())
            && (!self.stale || listing.stale.is_some())
    }
}

impl AnswerSite {
    async fn run(self, app: &App) -> CommandResult {
        let person = actor(app, &self.workspace, self.by).await?;
        let (site, _) = app.read(&person, help_settings).await.map_err(sentence)?;
        let changes = self.state.is_some() || self.language.is_some() || self.form.is_some();
        let site = if changes {
            let before = site.map(|site| input_of(&site)).unwrap_or_else(|| HelpSiteInput {
                language: "en".to_owned(),
                ..HelpSiteInput::default()
            });
            let input = HelpSiteInput {
                is_open: self.state.map_or(before.is_open, |state| state == SiteState::On),
                language: self.language.unwrap_or(before.language),
                form: self.form.unwrap_or(before.form),
            };
            let set = app.act(&person, move |tx, cx| set_help_site(tx, cx, &input));
            Some(set.await.map_err(sentence)?)
        } else {
            site
        };
        let url = site.as_ref().map(|site| format!("{}{}", app.public_url, site.root()));
        let is_open = site.as_ref().is_some_and(|site| site.is_open);
        let said = match (&url, is_open) {
            (Some(url), true) => format!("The help pages are open at {url}."),
            _ => "The help pages are closed.".to_owned(),
        };
        let answer = json!({
            "open": is_open,
            "url": url,
            "language": site.as_ref().map(|site| &site.language),
            "form": site.as_ref().and_then(|site| site.form.as_ref()).map(|form| &form.id),
        });
        print(self.workspace.output, &answer, &said);
        Ok(())
    }
}

fn input_of(site: &HelpSite) -> HelpSiteInput {
    HelpSiteInput {
        is_open: site.is_open,
        language: site.language.clone(),
        form: site.form.as_ref().map(|form| form.id.to_string()).unwrap_or_default(),
    }
}

/// The person who does it, or the operator of the machine.
async fn actor(app: &App, workspace: &WorkspaceArgs, by: Option<String>) -> Result<Actor, String> {
    let operator = workspace.operator(app).await?;
    match by {
        Some(email) => person(app, &operator, email).await,
        None => Ok(operator),
    }
}

fn answer_id(text: &str) -> Result<AnswerId, String> {
    AnswerId::parse(text).ok_or_else(|| format!("{text} is no id of an answer."))
}

/// The Markdown files of a folder and of the folders in it, in the order of their names.
fn read_folder(folder: &Path) -> Result<Vec<FolderAnswer>, String> {
    let mut answers = Vec::new();
    for (path, bytes) in markdown_files(folder, "", 0)? {
        answers.push(read_answer(&path, &bytes).map_err(sentence)?);
    }
    if answers.is_empty() {
        return Err(format!("{}: has no files that end in .md", folder.display()));
    }
    Ok(answers)
}

/// Folders in one another that are read.
const DEPTH: usize = 4;

fn markdown_files(
    folder: &Path,
    prefix: &str,
    depth: usize,
) -> Result<Vec<(String, Vec<u8>)>, String> {
    let wrong = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    let entries = fs::read_dir(folder).map_err(|error| wrong(folder, error))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let inside = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
        if path.is_dir() && depth < DEPTH {
            files.extend(markdown_files(&path, &inside, depth + 1)?);
        } else if name.ends_with(".md") {
            files.push((inside, fs::read(&path).map_err(|error| wrong(&path, error))?));
        }
        if files.len() > ANSWERS as usize {
            return Err(format!("{}: has more than {ANSWERS} answers", folder.display()));
        }
    }
    Ok(files)
}

/// Writes files into a folder that has none yet.
fn write_folder(
    folder: &Path,
    files: std::collections::BTreeMap<String, String>,
) -> Result<usize, String> {
    let wrong = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(folder).map_err(|error| wrong(folder, error))?;
    if fs::read_dir(folder).map_err(|error| wrong(folder, error))?.next().is_some() {
        return Err(format!("{}: is not empty", folder.display()));
    }
    let count = files.len();
    for (path, text) in files {
        let path = folder.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|error| wrong(parent, error))?;
        }
        fs::write(&path, text).map_err(|error| wrong(&path, error))?;
    }
    Ok(count)
}

fn answer_json(listing: &AnswerListing) -> Value {
    let answer = &listing.answer;
    let stale = listing.stale.map(|stale| match stale {
        StaleAnswer::PastItsDate => "past-its-date",
        StaleAnswer::LookAgain => "look-again",
        StaleAnswer::Unused => "unused",
    });
    json!({
        "id": answer.id,
        "title": answer.title,
        "text": answer.body,
        "language": answer.language,
        "inboxes": answer.inboxes.0,
        "validUntil": answer.valid_until.map(Moment),
        "updatedAt": Moment(answer.changed_at),
        "retired": answer.retired_at.is_some(),
        "audience": answer.audience,
        "state": answer.help_state,
        "public": answer.is_public(),
        "section": answer.section,
        "slug": answer.slug,
        "uses": listing.uses,
        "stale": stale,
    })
}
