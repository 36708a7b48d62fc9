//! The forms of a workspace: kept, changed, and found at their public address.

use base::actor::{Actor, Circle};
use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::ids::{ContactFormId, MailboxId, WorkspaceId};
use base::limits::CONTACT_FORMS;
use base::string_enum::string_enum;
use db::{Json, Tx};
use model::branding::{self, Branding};
use model::fields::{self as custom_fields, CustomField};
use model::installation::mail_secret;

use crate::checks::{check, is_slug};
use crate::fields::{FormAnswerUse, FormField, FormFieldKind};
use crate::form_texts::FormTexts;

/// Forms with their inboxes.
const FORMS: &str =
    "FROM contact_forms f JOIN mailboxes m ON m.ws = f.ws AND m.id = f.mailbox WHERE f.ws = ?1";

string_enum! {
    /// Whether a mailed code proves the address before a post counts.
    FormProof {
        // Only where many strangers write.
        Doubt = "doubt",
        Always = "always",
        Never = "never",
    }
}

db::row! {
    #[derive(Clone, Debug)]
    pub struct ContactForm from "f" {
        pub id: ContactFormId,
        pub mailbox: MailboxId,
        /// Its address in the installation.
        pub slug: String,
        pub title: String,
        pub intro: String,
        pub thanks: String,
        pub fields: Json<Vec<FormField>>,
        /// The sites that may show it in a frame.
        pub sites: Json<Vec<String>>,
        /// The tag of what comes by it; empty for none.
        pub tag: String,
        pub proof: FormProof,
        /// Its texts in other languages.
        pub texts: Json<FormTexts>,
        /// The inbox's.
        pub address: EmailAddress = "m.address",
        /// Who sees the inbox.
        pub circle: Circle = "m.circle",
    }
}

impl ContactForm {
    /// The page of the form.
    pub fn url(&self, public_url: &str) -> String {
        format!("{public_url}/f/{}", self.slug)
    }

    /// The line of HTML by which another site shows it. The page that it stands on is told to it.
    pub fn embed_line(&self, public_url: &str) -> String {
        let title = self.title.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
        format!(
            "<iframe src=\"{}/embed\" title=\"{title}\" width=\"100%\" height=\"760\" \
             loading=\"lazy\" referrerpolicy=\"no-referrer-when-downgrade\"></iframe>",
            self.url(public_url)
        )
    }

    /// The second line, with which the frame is as high as the form. It works without.
    pub fn height_line(public_url: &str) -> String {
        format!("<script src=\"{public_url}/assets/form_frame.js\" async></script>")
    }

    pub fn takes_files(&self) -> bool {
        self.fields.iter().any(|field| field.kind == FormFieldKind::Files)
    }
}

/// What somebody writes about a form.
#[derive(Clone, Debug)]
pub struct ContactFormInput {
    pub mailbox: MailboxId,
    pub slug: String,
    pub title: String,
    pub intro: String,
    pub thanks: String,
    pub fields: Vec<FormField>,
    pub sites: Vec<String>,
    pub tag: String,
    pub proof: FormProof,
    pub texts: FormTexts,
}

/// A form that somebody opened, with Mailroom at work for those who see its inbox.
#[derive(Clone, Debug)]
pub struct PublicForm {
    pub form: ContactForm,
    /// The name of the workspace.
    pub firm: String,
    pub branding: Branding,
    pub actor: Actor,
    /// The field of the workspace that each field of the form fills, if any.
    pub filled: Vec<Option<CustomField>>,
}

/// The forms of the inboxes that the actor may see, by title.
pub fn all(tx: &mut Tx<'_>, actor: &Actor) -> Result<Vec<ContactForm>> {
    let (first, second) = actor.circles.pair();
    Ok(tx.all(
        &format!(
            "SELECT {} {FORMS} AND m.circle IN (?2, ?3) ORDER BY f.title, f.id LIMIT ?4",
            ContactForm::COLUMNS
        ),
        &[&actor.ws, first, second, &CONTACT_FORMS],
    )?)
}

/// A form by id or slug, if the actor may see its inbox.
pub fn find(tx: &mut Tx<'_>, actor: &Actor, name: &str) -> Result<ContactForm> {
    // No slug has the underscore of an id.
    let column = if ContactFormId::parse(name).is_some() { "id" } else { "slug" };
    let (first, second) = actor.circles.pair();
    let found: Option<ContactForm> = tx.opt(
        &format!(
            "SELECT {} {FORMS} AND f.{column} = ?2 AND m.circle IN (?3, ?4)",
            ContactForm::COLUMNS
        ),
        &[&actor.ws, &name, first, second],
    )?;
    found.ok_or(Error::NotFound("form"))
}

/// The form at a public address.
pub fn public_at(tx: &mut Tx<'_>, slug: &str) -> Result<PublicForm> {
    let missing = || Error::NotFound("page");
    // No form has any other address, and PostgreSQL takes no text with a NUL.
    if !is_slug(slug) {
        return Err(missing());
    }
    let found: Option<(i64,)> = tx.opt("SELECT ws FROM contact_forms WHERE slug = ?1", &[&slug])?;
    let (ws,) = found.ok_or_else(missing)?;
    let found: Option<ContactForm> =
        tx.opt(&format!("SELECT {} {FORMS} AND f.slug = ?2", ContactForm::COLUMNS), &[&ws, &slug])?;
    let form = found.filter(|form| !form.circle.is_deleted()).ok_or_else(missing)?;
    let (workspace, firm): (WorkspaceId, String) =
        tx.one("SELECT id, name FROM workspaces WHERE ws = ?1", &[&ws])?;
    let mut filled = Vec::with_capacity(form.fields.len());
    for field in form.fields.iter() {
        filled.push(match &field.becomes {
            Some(FormAnswerUse::Field(key)) => custom_fields::find(tx, ws, key)?,
            _ => None,
        });
    }
    let actor = Actor::for_guest(tx, ws, workspace, form.circle.clone())?;
    Ok(PublicForm { form, firm, branding: branding::load(tx, ws)?, actor, filled })
}

/// Adds a form to an inbox that the actor may see.
pub fn add(tx: &mut Tx<'_>, cx: &Cx<'_>, input: &ContactFormInput) -> Result<ContactForm> {
    let ws = cx.actor.ws;
    let input = check(tx, cx, input, None)?;
    let (count,): (i64,) =
        tx.one("SELECT CAST(count(*) AS BIGINT) FROM contact_forms WHERE ws = ?1", &[&ws])?;
    if count >= CONTACT_FORMS {
        let sentence = format!("A workspace has at most {CONTACT_FORMS} forms. Remove one first.");
        return Err(Error::invalid("title", sentence));
    }
    // Opening the page signs with it, and writes nothing.
    mail_secret::mail_secret(tx, cx)?;
    let id = ContactFormId::new(cx.ids, cx.now);
    tx.exec(
        "INSERT INTO contact_forms (
            ws, id, mailbox, slug, title, intro, thanks, fields, sites, tag, proof, texts, created_at
         ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        &[
            &ws,
            &id,
            &input.mailbox,
            &input.slug,
            &input.title,
            &input.intro,
            &input.thanks,
            &Json(&input.fields),
            &Json(&input.sites),
            &input.tag,
            &input.proof,
            &Json(&input.texts),
            &cx.now,
        ],
    )?;
    find(tx, cx.actor, id.as_str())
}

/// Changes a form; what came by it stays as it is.
pub fn change(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &ContactFormId,
    input: &ContactFormInput,
) -> Result<ContactForm> {
    let input = check(tx, cx, input, Some(id))?;
    tx.exec(
        "UPDATE contact_forms
         SET mailbox = ?3, slug = ?4, title = ?5, intro = ?6, thanks = ?7, fields = ?8, sites = ?9,
             tag = ?10, proof = ?11, texts = ?12
         WHERE ws = ?1 AND id = ?2",
        &[
            &cx.actor.ws,
            id,
            &input.mailbox,
            &input.slug,
            &input.title,
            &input.intro,
            &input.thanks,
            &Json(&input.fields),
            &Json(&input.sites),
            &input.tag,
            &input.proof,
            &Json(&input.texts),
        ],
    )?;
    find(tx, cx.actor, id.as_str())
}

/// Removes a form; what came by it stays.
pub fn remove(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &ContactFormId) -> Result<()> {
    tx.exec("DELETE FROM contact_forms WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, id])?;
    Ok(())
}
