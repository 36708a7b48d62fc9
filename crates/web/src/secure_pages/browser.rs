//! The browser of a reader of protected pages. It has a cookie for each workspace of an installation: what is proven
//! or ended on a page of one changes nothing in another.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use model::guests::secure;

use crate::Web;
use crate::guest::GuestBrowser;
use crate::layout::responses::PageError;

/// A browser by the cookie that it has for the workspace of the address's link.
pub(super) struct ReaderBrowser(pub GuestBrowser);

impl FromRequestParts<Arc<Web>> for ReaderBrowser {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, web: &Arc<Web>) -> Result<Self, PageError> {
        let token = parts.uri.path().split('/').nth(2).unwrap_or_default().to_owned();
        let found = web.app.store.read(move |tx| secure::workspace_of_link(tx, &token)).await?;
        if let Some(workspace) = found {
            let browser = GuestBrowser::of_workspace(web, &parts.headers, workspace.as_str());
            return Ok(ReaderBrowser(browser));
        }
        // A link that leads nowhere has no workspace.
        let Ok(browser) = GuestBrowser::from_request_parts(parts, web).await;
        Ok(ReaderBrowser(browser))
    }
}
