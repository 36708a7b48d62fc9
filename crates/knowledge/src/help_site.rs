//! The help pages of a workspace: whether they are open, and where.

use base::actor::{Actor, Circle};
use base::app::Cx;
use base::error::{Error, Result};
use base::ids::{ContactFormId, WorkspaceId};
use base::workspaces::resting;
use db::Tx;
use model::branding::{self, Branding};
use model::messages::answers::is_language;

/// Where the help pages of an installation are.
pub const HELP_ROOT: &str = "/help";
/// What stands where a workspace's part of an address would; none of these can be one.
pub const RESERVED_PARTS: [&str; 2] = ["search", "sections"];

/// The help pages of a workspace.
#[derive(Clone, Debug)]
pub struct HelpSite {
    pub ws: i64,
    pub workspace: WorkspaceId,
    /// The name of the workspace.
    pub firm: String,
    pub branding: Branding,
    pub is_open: bool,
    /// The part of the address that tells it from others; empty for those at `/help`.
    pub part: String,
    /// The language of its first page, for readers who ask for none that there is.
    pub language: String,
    /// The contact form that it leads to.
    pub form: Option<HelpForm>,
}

/// The contact form that help pages lead to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelpForm {
    pub id: ContactFormId,
    pub slug: String,
    pub title: String,
}

/// How an owner or admin sets them up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HelpSiteInput {
    pub is_open: bool,
    /// Two letters.
    pub language: String,
    /// The id of a contact form of the team; empty for none.
    pub form: String,
}

impl HelpSite {
    /// Mailroom at work for readers: nothing but what the team shares.
    pub fn actor(&self) -> Actor {
        Actor::system(self.ws, self.workspace.clone(), Circle::team())
    }

    /// The address of the first page: `/help`, or `/help/acme`.
    pub fn root(&self) -> String {
        root_of(&self.part)
    }

    pub fn page_path(&self, language: &str, slug: &str) -> String {
        format!("{}/{language}/{slug}", self.root())
    }

    pub fn section_path(&self, language: &str, slug: &str) -> String {
        format!("{}/{language}/sections/{slug}", self.root())
    }
}

/// The address of the first page of the workspace with this part.
pub fn root_of(part: &str) -> String {
    if part.is_empty() { HELP_ROOT.to_owned() } else { format!("{HELP_ROOT}/{part}") }
}

/// The open help pages at `/help`, or with a part at `/help/PART`.
pub fn open_at(tx: &mut Tx<'_>, part: &str) -> Result<HelpSite> {
    let missing = || Error::NotFound("page");
    let found: Option<(i64,)> =
        tx.opt("SELECT ws FROM help_sites WHERE path = ?1 AND is_open", &[&part])?;
    let (ws,) = found.ok_or_else(missing)?;
    resting::must_be_open(tx, ws)?;
    let site = load(tx, ws)?.ok_or_else(missing)?;
    Ok(site)
}

/// The help pages of a workspace; `None` where nobody ever opened any.
pub fn load(tx: &mut Tx<'_>, ws: i64) -> Result<Option<HelpSite>> {
    let found: Option<(bool, String, String, String)> =
        tx.opt("SELECT is_open, path, language, form FROM help_sites WHERE ws = ?1", &[&ws])?;
    let Some((is_open, part, language, form)) = found else { return Ok(None) };
    let (workspace, firm): (WorkspaceId, String) =
        tx.one("SELECT id, name FROM workspaces WHERE ws = ?1", &[&ws])?;
    let form = team_form(tx, ws, &form)?;
    let branding = branding::load(tx, ws)?;
    Ok(Some(HelpSite { ws, workspace, firm, branding, is_open, part, language, form }))
}

/// The contact form with an id, if it is of an inbox of the team.
fn team_form(tx: &mut Tx<'_>, ws: i64, id: &str) -> Result<Option<HelpForm>> {
    let found: Option<(ContactFormId, String, String)> = tx.opt(
        "SELECT f.id, f.slug, f.title FROM contact_forms f
         JOIN mailboxes m ON m.ws = f.ws AND m.id = f.mailbox
         WHERE f.ws = ?1 AND f.id = ?2 AND m.circle = 'team'",
        &[&ws, &id],
    )?;
    Ok(found.map(|(id, slug, title)| HelpForm { id, slug, title }))
}

/// Opens, closes or changes the help pages of the actor's workspace.
pub fn save(tx: &mut Tx<'_>, cx: &Cx<'_>, input: &HelpSiteInput) -> Result<HelpSite> {
    let ws = cx.actor.ws;
    let language = input.language.trim();
    if !is_language(language) {
        return Err(Error::invalid("language", "Write the language with two letters such as en."));
    }
    if !input.form.is_empty() && team_form(tx, ws, &input.form)?.is_none() {
        return Err(Error::invalid("form", "Choose a contact form of an inbox of the team."));
    }
    let part = match load(tx, ws)? {
        Some(site) => site.part,
        None => free_part(tx, ws)?,
    };
    tx.exec(
        "INSERT INTO help_sites (ws, is_open, path, language, form, changed_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (ws) DO UPDATE
         SET is_open = excluded.is_open, language = excluded.language, form = excluded.form,
             changed_at = excluded.changed_at",
        &[&ws, &input.is_open, &part, &language, &input.form, &cx.now],
    )?;
    load(tx, ws)?.ok_or(Error::NotFound("page"))
}

/// Nothing for the only workspace of an installation, its slug where there are several. It stays for good,
/// because pages elsewhere lead to it.
fn free_part(tx: &mut Tx<'_>, ws: i64) -> Result<String> {
    let (others,): (i64,) = tx.one(
        "SELECT CAST(count(*) AS BIGINT) FROM (
             SELECT ws FROM workspaces
             WHERE ws <> ?1 AND sample_of IS NULL AND deleted_at IS NULL LIMIT 1
         ) AS counted",
        &[&ws],
    )?;
    let first: Option<(i64,)> = tx.opt("SELECT ws FROM help_sites WHERE path = ''", &[])?;
    if others == 0 && first.is_none() {
        return Ok(String::new());
    }
    let (slug,): (String,) = tx.one("SELECT slug FROM workspaces WHERE ws = ?1", &[&ws])?;
    // Two letters are a language.
    let is_other = is_language(&slug) || RESERVED_PARTS.contains(&slug.as_str());
    Ok(if is_other { format!("{slug}-help") } else { slug })
}
