//! Signing out here, and at the provider where somebody signed in.

use std::sync::Arc;

use actions::sign_in::sessions::{self, TokenHash};
use askama::Template;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Response, StatusCode};
use base::error::Error;
use db::Tx;

use crate::Web;
use crate::forms::form::{FormFields, PostedForm};
use crate::layout::filters;
use crate::layout::flash::Flash;
use crate::layout::responses::{self, PageError, PageResult};
use crate::pages::signing_in::provider::account_purpose;

/// Who signed out here may still be signed in at the provider.
#[derive(Template)]
#[template(path = "signed_out.html", whitespace = "minimize")]
struct SignedOutPage {
    provider: String,
    /// Where they sign out there, if the provider says.
    url: Option<String>,
}

pub async fn sign_out(
    State(web): State<Arc<Web>>,
    headers: HeaderMap,
    posted: PostedForm,
) -> PageResult {
    let ended =
        web.act(&posted.visitor, |tx, cx, me| sessions::end_session(tx, cx, &me.session)).await;
    let is_ended = ended.is_ok();
    if let Some(home) = posted.visitor.home.filter(|_| is_ended) {
        end_home(&web, home).await?;
    }
    match ended {
        Ok(()) | Err(PageError::SignIn { .. }) => {
            let mut response = match offer(&web, &headers, is_ended).await {
                Some(page) => page,
                None => web.redirect("/sign-in", Flash::SignedOut)?,
            };
            web.clear_session(&mut response);
            web.clear_home(&mut response);
            web.clear_provider_account(&mut response);
            Ok(response)
        }
        Err(refusal) => Err(refusal),
    }
}

/// Whoever signs out in a sample signs out of their own workspace, too.
async fn end_home(web: &Web, home: TokenHash) -> base::error::Result<()> {
    let app = web.app.clone();
    let end = move |tx: &mut Tx<'_>| match sessions::signed_in(tx, &home, app.clock.now()) {
        Ok(me) => sessions::end_session(tx, &app.cx(&me.actor), &me.session),
        Err(Error::Unauthorized) => Ok(()),
        Err(error) => Err(error),
    };
    web.app.store.write(end).await
}

/// The page for a browser that has signed in at the provider. Its person decides whether they sign out
/// there too, because other sites may use that session. A link leads there: browsers apply what pages
/// allow forms to every redirect of the provider.
///
/// The provider is told whose session to end only by the browser whose session ended here: others may
/// have signed in at it before.
async fn offer(web: &Web, headers: &HeaderMap, is_ended: bool) -> Option<Response<Body>> {
    let client = web.oidc.as_ref()?;
    let sealed = web.provider_account(headers)?;
    let token = web.app.sealer.unseal(&account_purpose(client), &sealed)?;
    let token = Some(token.as_str()).filter(|token| is_ended && !token.is_empty());
    let url = client.sign_out_url(token, &web.app.public_url, web.app.clock.now()).await;
    let url = url.unwrap_or_else(|fault| {
        tracing::warn!(
            reason = fault.reason(),
            "the end_session_endpoint of the provider could not be determined"
        );
        None
    });
    let page = SignedOutPage { provider: client.rules().name.clone(), url };
    Some(responses::html(StatusCode::OK, &page))
}

/// True where the browser comes back from signing out at the provider, which says nothing.
pub fn is_back_from_signing_out(asked: &FormFields) -> bool {
    !["code", "error", "state"].iter().any(|name| asked.has(name))
}
