//! Contact forms at the command line.

use std::path::{Path, PathBuf};

use actions::inboxes::contact_forms::{
    add_contact_form, find_contact_form, list_contact_forms, remove_contact_form,
};
use actions::inboxes::setup;
use base::actor::Actor;
use base::app::App;
use clap::{Args, Subcommand};
use contact_forms::form_texts::{FormTexts, parse_texts};
use contact_forms::{
    ContactForm, ContactFormInput, FormAnswerUse, FormCondition, FormField, FormFieldKind,
    FormProof,
};
use serde_json::{Value, json};

use crate::cli::command::{CommandResult, WorkspaceArgs, open, person, print, sentence, word_of};
use crate::settings::Settings;

#[derive(Subcommand)]
pub enum ContactFormCommand {
    /// Add a page on which anybody writes to an inbox
    Add(Box<NewContactForm>),
    /// List the forms with their addresses
    List {
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// Show a form: what it asks for, its address, and the line for another site
    Show {
        /// The form's slug or id
        form: String,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// Remove a form; what came by it stays
    Remove {
        /// The form's slug or id
        form: String,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
}

#[derive(Args)]
pub struct NewContactForm {
    /// The last part of its address: lower-case letters, digits and -
    #[arg(long)]
    slug: String,
    /// The address of the inbox that gets what is written
    #[arg(long, value_name = "ADDRESS", alias = "inbox")]
    mailbox: String,
    /// What stands above it; also the subject of what comes by it
    #[arg(long, alias = "name")]
    title: String,
    /// The text above the fields
    #[arg(long, default_value = "")]
    intro: String,
    /// The text after it was sent
    #[arg(long, default_value = "")]
    thanks: String,
    /// What it asks for beside name, address and message: "KEY|LABEL|TYPE", then "|required" or
    /// "|optional" and, for a choice, "|ONE,OTHER", then what the answer becomes ("|topic", "|tag" or
    /// "|field.KEY") and the answer above that it waits for ("|KEY=CHOICE"); up to ten times. TYPE is text,
    /// long-text, choice, reference, date, files or consent
    #[arg(long = "field", value_name = "FIELD", value_parser = parse_field)]
    fields: Vec<FormField>,
    /// A site that may show it in a frame, such as shop.example; up to twenty times
    #[arg(long = "site", value_name = "HOST")]
    sites: Vec<String>,
    /// The tag of what comes by it
    #[arg(long, default_value = "")]
    tag: String,
    /// When a mailed code proves the address: doubt (when many strangers write), always or never
    #[arg(long, value_name = "WHEN", default_value = "doubt", value_parser = word_of!(FormProof))]
    proof: FormProof,
    /// Its texts in other languages: a file with lines KEY = TEXT below each language's code in brackets
    #[arg(long, value_name = "FILE")]
    texts: Option<PathBuf>,
    /// The owner or admin who adds it
    #[arg(long, value_name = "EMAIL")]
    by: Option<String>,
    #[command(flatten)]
    workspace: WorkspaceArgs,
}

impl ContactFormCommand {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        let app = open(settings).await?;
        match self {
            ContactFormCommand::Add(new) => return new.add(&app).await,
            ContactFormCommand::List { workspace } => {
                let operator = workspace.operator(&app).await?;
                let forms = app.read(&operator, list_contact_forms).await.map_err(sentence)?;
                let lines = forms.iter().map(|form| summary(&app, form));
                let said = lines.collect::<Vec<_>>().join("\n");
                let forms: Vec<Value> = forms.iter().map(|form| form_json(&app, form)).collect();
                print(workspace.output, &json!({ "forms": forms }), &said);
            }
            ContactFormCommand::Show { form, workspace } => {
                let operator = workspace.operator(&app).await?;
                let found = app.read(&operator, move |tx, cx| find_contact_form(tx, cx, &form));
                let found = found.await.map_err(sentence)?;
                let mut lines = vec![summary(&app, &found), found.embed_line(&app.public_url)];
                lines.extend(found.fields.iter().map(field_line));
                print(workspace.output, &form_json(&app, &found), &lines.join("\n"));
            }
            ContactFormCommand::Remove { form, workspace } => {
                let operator = workspace.operator(&app).await?;
                let removed = app.act(&operator, move |tx, cx| remove_contact_form(tx, cx, &form));
                let removed = removed.await.map_err(sentence)?;
                let said = format!("{} is removed. What came by it stays.", removed.title);
                print(workspace.output, &json!({ "ok": true }), &said);
            }
        }
        Ok(())
    }
}

impl NewContactForm {
    async fn add(self, app: &App) -> CommandResult {
        let NewContactForm { slug, mailbox, title, intro, thanks, fields, by, workspace, .. } =
            self;
        let (sites, tag, proof) = (self.sites, self.tag, self.proof);
        let texts = read_texts(self.texts.as_deref())?;
        let operator: Actor = workspace.operator(app).await?;
        let maker = match by {
            Some(email) => person(app, &operator, email).await?,
            None => operator,
        };
        let added = app.act(&maker, move |tx, cx| {
            let input = ContactFormInput {
                mailbox: setup::mailbox_at(tx, cx, &mailbox)?,
                slug: slug.clone(),
                title: title.clone(),
                intro: intro.clone(),
                thanks: thanks.clone(),
                fields: fields.clone(),
                sites: sites.clone(),
                tag: tag.clone(),
                proof,
                texts: texts.clone(),
            };
            add_contact_form(tx, cx, &input)
        });
        let form = added.await.map_err(sentence)?;
        print(workspace.output, &form_json(app, &form), &summary(app, &form));
        Ok(())
    }
}

fn form_json(app: &App, form: &ContactForm) -> Value {
    json!({
        "id": form.id,
        "slug": form.slug,
        "url": form.url(&app.public_url),
        "embed": form.embed_line(&app.public_url),
        "mailbox": form.address,
        "title": form.title,
        "intro": form.intro,
        "thanks": form.thanks,
        "fields": form.fields.0,
        "sites": form.sites.0,
        "tag": form.tag,
        "proof": form.proof,
        "texts": form.texts.0,
    })
}

fn summary(app: &App, form: &ContactForm) -> String {
    format!("{}  {}  to {}", form.title, form.url(&app.public_url), form.address)
}

/// A field as [`parse_field`] reads it.
fn field_line(field: &FormField) -> String {
    let required = if field.required { "required" } else { "optional" };
    let FormField { key, label, kind, choices, .. } = field;
    let line = format!("{key}|{label}|{}|{required}", kind.as_str());
    let becomes = field.becomes.clone().map(String::from).unwrap_or_default();
    let when = field.when.as_ref().map(FormCondition::line).unwrap_or_default();
    let line = format!("{line}|{}|{becomes}|{when}", choices.join(","));
    line.trim_end_matches('|').to_owned()
}

/// The texts of a file; none without one.
fn read_texts(file: Option<&Path>) -> Result<FormTexts, String> {
    let Some(file) = file else { return Ok(FormTexts::new()) };
    let text = std::fs::read_to_string(file)
        .map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
    parse_texts(&text).map_err(|line| format!("the line \"{line}\" is not KEY = TEXT below [de]"))
}

fn parse_field(text: &str) -> Result<FormField, String> {
    let mut parts = text.split('|').map(str::trim);
    let (Some(key), Some(label), Some(kind)) = (parts.next(), parts.next(), parts.next()) else {
        return Err("say KEY|LABEL|TYPE".to_owned());
    };
    let kind = FormFieldKind::parse(&kind.replace([' ', '_'], "-"))
        .ok_or_else(|| format!("the type is one of {}", FormFieldKind::NAMES.join(", ")))?;
    let required = match parts.next() {
        None | Some("optional" | "") => false,
        Some("required") => true,
        Some(_) => return Err("say required or optional after the type".to_owned()),
    };
    let choices = parts.next().unwrap_or_default().split(',').map(str::trim);
    let choices = choices.filter(|choice| !choice.is_empty()).map(str::to_owned).collect();
    let becomes = match parts.next().unwrap_or_default() {
        "" => None,
        word => Some(
            FormAnswerUse::parse(word)
                .ok_or("an answer becomes topic, tag or field.KEY".to_owned())?,
        ),
    };
    let when = match parts.next().unwrap_or_default() {
        "" => None,
        line => Some(FormCondition::parse(line).ok_or("say KEY=CHOICE at the end".to_owned())?),
    };
    let (key, label) = (key.to_owned(), label.to_owned());
    Ok(FormField { key, label, kind, required, choices, becomes, when })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_written_as_it_is_read() {
        for line in [
            "order|Order number|reference|required",
            "about|What is it about?|choice|optional|A return,Something else",
            "terms|I agree|consent|required",
            "order|Order|reference|optional||field.order|about=A return",
            "about|About|choice|required|One,Other|topic",
        ] {
            assert_eq!(field_line(&parse_field(line).unwrap()), line);
        }
        assert_eq!(parse_field("a|A|long text").unwrap().kind, FormFieldKind::LongText);
        for wrong in ["", "a|A", "a|A|number", "a|A|text|perhaps"] {
            assert!(parse_field(wrong).is_err(), "{wrong}");
        }
    }
}
