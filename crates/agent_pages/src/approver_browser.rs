//! The browser of somebody who approves from a mail. It has a cookie for each workspace of an installation: what is
//! proven for a draft of one changes nothing in another, nor on pages of customers.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use outbound::approval_links;
use web::Web;
use web::guest::GuestBrowser;
use web::layout::responses::PageError;

/// A browser by the cookie that it has for the workspace of the address's link.
pub(crate) struct ApproverBrowser(pub GuestBrowser);

impl FromRequestParts<Arc<Web>> for ApproverBrowser {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, web: &Arc<Web>) -> Result<Self, PageError> {
        let token = parts.uri.path().split('/').nth(2).unwrap_or_default().to_owned();
        let found =
            web.app.store.read(move |tx| approval_links::workspace_of_link(tx, &token)).await?;
        if let Some(workspace) = found {
            let pages = format!("{workspace}-approve");
            let browser = GuestBrowser::of_workspace(web, &parts.headers, &pages);
            return Ok(ApproverBrowser(browser));
        }
        // A link that leads nowhere has no workspace.
        let Ok(browser) = GuestBrowser::from_request_parts(parts, web).await;
        Ok(ApproverBrowser(browser))
    }
}
