//! Contact forms as people set them up.

use base::app::Cx;
use base::error::Result;
use contact_forms::{ContactForm, ContactFormInput};
use db::Tx;
use model::installation::audit_log::{self, Action};

/// The forms of the inboxes that the actor sees, for owners and admins.
pub fn list_contact_forms(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<ContactForm>> {
    cx.actor.must_administer()?;
    contact_forms::all(tx, cx.actor)
}

/// A form by id or slug.
pub fn find_contact_form(tx: &mut Tx<'_>, cx: &Cx<'_>, name: &str) -> Result<ContactForm> {
    cx.actor.must_administer()?;
    contact_forms::find(tx, cx.actor, name)
}

pub fn add_contact_form(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    input: &ContactFormInput,
) -> Result<ContactForm> {
    cx.actor.must_administer()?;
    let form = contact_forms::add(tx, cx, input)?;
    let (circle, title) = (&form.circle, &form.title);
    audit_log::record(tx, cx, circle, Action::ContactFormAdded, title, &form.slug)?;
    Ok(form)
}

/// Changes a form; what came by it stays as it is.
pub fn change_contact_form(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    name: &str,
    input: &ContactFormInput,
) -> Result<ContactForm> {
    let before = find_contact_form(tx, cx, name)?;
    let form = contact_forms::change(tx, cx, &before.id, input)?;
    let (circle, title) = (&form.circle, &form.title);
    audit_log::record(tx, cx, circle, Action::ContactFormChanged, title, &form.slug)?;
    Ok(form)
}

/// Removes a form; what came by it stays.
pub fn remove_contact_form(tx: &mut Tx<'_>, cx: &Cx<'_>, name: &str) -> Result<ContactForm> {
    let form = find_contact_form(tx, cx, name)?;
    contact_forms::remove(tx, cx, &form.id)?;
    let (circle, title) = (&form.circle, &form.title);
    audit_log::record(tx, cx, circle, Action::ContactFormRemoved, title, &form.slug)?;
    Ok(form)
}
