//! Logo and colour of a workspace, as owners and admins set them.

use base::actor::Circle;
use base::app::Cx;
use base::error::Result;
use db::Tx;
use model::branding::{self, Branding, LogoChange};
use model::installation::audit_log::{self, Action};

/// The branding as it is.
pub fn branding_settings(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Branding> {
    cx.actor.must_administer()?;
    branding::load(tx, cx.actor.ws)
}

/// Changes it.
pub fn set_branding(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    colour: &str,
    in_mail: bool,
    logo: &LogoChange,
) -> Result<Branding> {
    cx.actor.must_administer()?;
    let branding = branding::save(tx, cx, colour, in_mail, logo)?;
    let about = branding.logo_name.as_deref().unwrap_or_default();
    let circle = &Circle::team();
    audit_log::record(tx, cx, circle, Action::BrandingChanged, &branding.colour, about)?;
    Ok(branding)
}
