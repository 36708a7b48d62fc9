//! Whether customers have a page of their own, as people and operators see and set it.

use base::actor::Circle;
use base::app::Cx;
use base::error::Result;
use customers::CustomerPageMode;
use db::Tx;
use model::installation::audit_log::{self, Action};

/// Whether the workspace has the page, and its address.
pub fn customer_page(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<(CustomerPageMode, String)> {
    let (mode, slug) = customers::mode_of(tx, cx.actor.ws)?;
    Ok((mode, customers::page_url(cx.public_url, &slug)))
}

/// Switches the page.
pub fn set_customer_page(tx: &mut Tx<'_>, cx: &Cx<'_>, mode: CustomerPageMode) -> Result<()> {
    cx.actor.must_administer()?;
    if !customers::set_mode(tx, cx, mode)? {
        return Ok(());
    }
    let (circle, action) = (Circle::team(), Action::CustomerPageChanged);
    audit_log::record(tx, cx, &circle, action, mode.as_str(), "")
}
