//! The public help pages of a workspace, as owners and admins set them up.

use base::app::Cx;
use base::error::Result;
use contact_forms::ContactForm;
use db::Tx;
use knowledge::help_site::{self, HelpSite, HelpSiteInput};

use model::installation::audit_log::{self, Action};

/// The help pages, if somebody opened them before, with the forms that they can lead to.
pub fn help_settings(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<(Option<HelpSite>, Vec<ContactForm>)> {
    cx.actor.must_administer()?;
    let mut found = contact_forms::all(tx, cx.actor)?;
    found.retain(|form| form.circle.is_team());
    Ok((help_site::load(tx, cx.actor.ws)?, found))
}

/// Opens, closes or changes them.
pub fn set_help_site(tx: &mut Tx<'_>, cx: &Cx<'_>, input: &HelpSiteInput) -> Result<HelpSite> {
    cx.actor.must_administer()?;
    let site = help_site::save(tx, cx, input)?;
    let state = if site.is_open { "on" } else { "off" };
    let circle = &base::actor::Circle::team();
    audit_log::record(tx, cx, circle, Action::HelpPagesChanged, state, &site.root())?;
    Ok(site)
}
