//! Whether a workspace has the page, and its address.

use base::actor::{Actor, Circle};
use base::app::Cx;
use base::error::{Error, Result};
use base::ids::WorkspaceId;
use base::string_enum::string_enum;
use base::workspaces::resting;
use db::Tx;
use model::branding::{self, Branding};
use model::installation::mail_secret;

string_enum! {
    /// Whether customers have a page of their own.
    CustomerPageMode {
        Off = "off",
        On = "on",
        // Every reply names it, too.
        Linked = "linked",
    }
}

/// A workspace as its customers see it.
#[derive(Clone, Debug)]
pub struct CustomerWorkspace {
    pub ws: i64,
    pub id: WorkspaceId,
    pub name: String,
    pub slug: String,
    pub branding: Branding,
}

impl CustomerWorkspace {
    /// Mailroom at work in a circle.
    pub fn actor(&self, circle: &Circle) -> Actor {
        Actor::system(self.ws, self.id.clone(), circle.clone())
    }

    /// Mailroom at work for the whole workspace.
    pub fn team(&self) -> Actor {
        self.actor(&Circle::team())
    }
}

/// The workspace of an address, if it has the page. Unknown ones and those without give the same error; the page of a
/// suspended one is closed.
pub fn workspace_at(tx: &mut Tx<'_>, slug: &str) -> Result<CustomerWorkspace> {
    let missing = || Error::NotFound("page");
    // No workspace has it, and PostgreSQL takes no text with it.
    if slug.contains('\0') {
        return Err(missing());
    }
    let found: Option<(i64, WorkspaceId, String)> = tx.opt(
        "SELECT ws, id, name FROM workspaces
         WHERE slug = ?1 AND customer_page <> 'off' AND deleted_at IS NULL",
        &[&slug],
    )?;
    let (ws, id, name) = found.ok_or_else(missing)?;
    resting::must_be_open(tx, ws)?;
    let branding = branding::load(tx, ws)?;
    Ok(CustomerWorkspace { ws, id, name, slug: slug.to_owned(), branding })
}

/// The slug of the only workspace with the page; `None` where there are several or none. Samples and quiet copies, from
/// which no code leaves, do not count.
pub fn only_workspace(tx: &mut Tx<'_>) -> Result<Option<String>> {
    let found: Vec<(String,)> = tx.all(
        "SELECT slug FROM workspaces
         WHERE customer_page <> 'off' AND deleted_at IS NULL AND sample_of IS NULL
           AND ws NOT IN (SELECT ws FROM resting_workspaces)
         LIMIT 2",
        &[],
    )?;
    Ok(if found.len() == 1 { found.into_iter().next().map(|(slug,)| slug) } else { None })
}

/// The address of a workspace's page.
pub fn page_url(public_url: &str, slug: &str) -> String {
    format!("{public_url}/me/{slug}")
}

/// Whether the workspace has the page, and its slug.
pub fn mode_of(tx: &mut Tx<'_>, ws: i64) -> Result<(CustomerPageMode, String)> {
    Ok(tx.one("SELECT customer_page, slug FROM workspaces WHERE ws = ?1", &[&ws])?)
}

/// Switches the page; false where it stood so already. Switched off, it signs everybody out.
pub fn set_mode(tx: &mut Tx<'_>, cx: &Cx<'_>, mode: CustomerPageMode) -> Result<bool> {
    let ws = cx.actor.ws;
    // Opening the page signs with it, and writes nothing.
    mail_secret::mail_secret(tx, cx)?;
    let changed = tx.exec(
        "UPDATE workspaces SET customer_page = ?2 WHERE ws = ?1 AND customer_page <> ?2",
        &[&ws, &mode],
    )?;
    if mode == CustomerPageMode::Off {
        tx.exec("DELETE FROM customer_sessions WHERE ws = ?1", &[&ws])?;
    }
    Ok(changed > 0)
}
