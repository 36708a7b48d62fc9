//! Signing in and out.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, State};
use inbox::Error;
use inbox::actions::{self, TokenHash};
use inbox::base::actor::Actor;
use inbox::base::limits::{
    LINKS_PER_ADDRESS, LINKS_PER_NETWORK, SIGN_IN_ATTEMPTS_PER_ADDRESS,
    SIGN_IN_ATTEMPTS_PER_NETWORK,
};

use crate::web::Web;
use crate::web::form::{Asked, Posted};
use crate::web::layout::responses::{self, PageError, PageResult, see_other};
use crate::web::layout::wording::filters;
use crate::web::visitor::Visitor;

/// A path of ours to go to after signing in may have this many bytes.
const NEXT_BYTES: usize = 500;

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInPage {
    csrf: String,
    email: String,
    next: String,
    wrong: bool,
    too_many: bool,
    signed_out: bool,
    /// True when links can be mailed.
    mails: bool,
    /// Why no link was mailed, or that one may be on its way.
    link_error: &'static str,
    link_sent: bool,
}

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> PageResult {
    let next = own_path(&asked.get("next"));
    if web.read(&visitor, |_, _, _| Ok(())).await.is_ok() {
        return Ok(see_other(&next));
    }
    let signed_out = visitor.flash == Some(crate::web::Flash::SignedOut);
    let page = SignInPage {
        csrf: visitor.csrf,
        email: String::new(),
        next,
        wrong: false,
        too_many: false,
        signed_out,
        mails: web.mails,
        link_error: "",
        link_sent: false,
    };
    let mut response = responses::page(&page)?;
    web.clear_flash(&mut response);
    Ok(response)
}

pub async fn with_password(State(web): State<Arc<Web>>, posted: Posted) -> PageResult {
    let Posted { visitor, fields } = posted;
    let (email, next) = (fields.get("email").trim().to_owned(), own_path(&fields.get("next")));
    let again = |wrong, too_many| {
        responses::again(&SignInPage {
            csrf: visitor.csrf.clone(),
            email: email.clone(),
            next: next.clone(),
            wrong,
            too_many,
            signed_out: false,
            mails: web.mails,
            link_error: "",
            link_sent: false,
        })
    };
    if email.is_empty() || !mail::is_address(&email) {
        return again(true, false);
    }
    let (address, now) = (format!("address {}", mail::normal_address(&email)), web.app.clock.now());
    let (counted, place) = (address.clone(), format!("place {}", visitor.place));
    let may_try = web
        .app
        .store
        .write(move |tx| -> inbox::Result<bool> {
            let address =
                actions::count_sign_in_attempt(tx, &counted, SIGN_IN_ATTEMPTS_PER_ADDRESS, now)?;
            Ok(actions::count_sign_in_attempt(tx, &place, SIGN_IN_ATTEMPTS_PER_NETWORK, now)?
                && address)
        })
        .await?;
    if !may_try {
        return again(false, true);
    }
    let asked = email.clone();
    let found = web.app.store.read(move |tx| actions::stored_passwords(tx, &asked)).await?;
    let hashes = found.iter().map(|stored| stored.hash.clone()).collect();
    let Some(place) = web.fitting(fields.get("password"), hashes).await else {
        return again(true, false);
    };
    let actions::StoredPassword { ws, person, opens_private, .. } = found[place].clone();
    let (app, device) = (web.app.clone(), visitor.device.clone());
    let token = web
        .app
        .store
        .write(move |tx| {
            actions::forget_sign_in_attempts(tx, &address)?;
            actions::begin_session(tx, &app.ids, now, ws, &person, &device, opens_private)
        })
        .await?;
    let mut response = see_other(&next);
    web.set_session(&mut response, &token);
    Ok(response)
}

/// Mails a link to whoever has the address. The answer is the same whether anybody has it.
pub async fn mail_link(State(web): State<Arc<Web>>, posted: Posted) -> PageResult {
    if !web.mails {
        return Err(Error::NotFound("page").into());
    }
    let Posted { visitor, fields } = posted;
    let email = fields.get("email").trim().to_owned();
    let page = |link_error, link_sent| SignInPage {
        csrf: visitor.csrf.clone(),
        email: email.clone(),
        next: own_path(&fields.get("next")),
        wrong: false,
        too_many: false,
        signed_out: false,
        mails: true,
        link_error,
        link_sent,
    };
    if !mail::is_address(&email) {
        return responses::again(&page("That is not an e-mail address.", false));
    }
    let (app, asked) = (web.app.clone(), mail::normal_address(&email));
    let place = format!("links for {}", visitor.place);
    let may = web
        .app
        .store
        .write(move |tx| -> inbox::Result<bool> {
            let operator = Actor::operator(&app.ids);
            let cx = app.cx(&operator);
            let address = format!("links to {asked}");
            let address = actions::count_sign_in_attempt(tx, &address, LINKS_PER_ADDRESS, cx.now)?;
            let may =
                actions::count_sign_in_attempt(tx, &place, LINKS_PER_NETWORK, cx.now)? && address;
            if may {
                actions::mail_sign_in_link(tx, &cx, &asked)?;
            }
            Ok(may)
        })
        .await?;
    match may {
        true => responses::page(&page("", true)),
        false => responses::again(&page("Too many links were asked for. Wait 15 minutes.", false)),
    }
}

#[derive(Template)]
#[template(path = "sign_in_link.html")]
struct LinkPage {
    csrf: String,
    /// The person's and the workspace's name; `None` when the link does not work.
    whom: Option<(String, String)>,
    token: String,
}

/// Opening a link uses nothing up: programs that look at mail open links too.
pub async fn link_page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(token): Path<String>,
) -> PageResult {
    let now = web.app.clock.now();
    let whom = match TokenHash::of(&token) {
        None => None,
        Some(link) => {
            let look = web.app.store.read(move |tx| actions::look_at_link(tx, &link, now));
            match look.await {
                Ok(whom) => Some(whom),
                Err(Error::NotFound(_)) => None,
                Err(error) => return Err(error.into()),
            }
        }
    };
    let token = if whom.is_some() { token } else { String::new() };
    let status = match &whom {
        Some(_) => axum::http::StatusCode::OK,
        None => axum::http::StatusCode::NOT_FOUND,
    };
    Ok(responses::html(status, &LinkPage { csrf: visitor.csrf, whom, token }))
}

pub async fn with_link(
    State(web): State<Arc<Web>>,
    Path(token): Path<String>,
    posted: Posted,
) -> PageResult {
    let Visitor { device, csrf, .. } = posted.visitor;
    let app = web.app.clone();
    let used = match TokenHash::of(&token) {
        None => Err(Error::NotFound("link")),
        Some(link) => {
            let work = move |tx: &mut db::Tx<'_>| {
                let (ids, now) = (&app.ids, app.clock.now());
                actions::use_sign_in_link(tx, ids, now, &link, &device)
            };
            web.app.store.write(work).await
        }
    };
    match used {
        Ok(token) => {
            let mut response = see_other("/");
            web.set_session(&mut response, &token);
            Ok(response)
        }
        Err(Error::NotFound(_)) => {
            let page = LinkPage { csrf, whom: None, token: String::new() };
            Ok(responses::html(axum::http::StatusCode::NOT_FOUND, &page))
        }
        Err(error) => Err(error.into()),
    }
}

pub async fn sign_out(State(web): State<Arc<Web>>, posted: Posted) -> PageResult {
    let ended =
        web.act(&posted.visitor, |tx, cx, me| actions::end_session(tx, cx, &me.session)).await;
    match ended {
        Ok(()) | Err(PageError::SignIn { .. }) => {
            let mut response = see_other("/sign-in");
            web.clear_session(&mut response);
            web.set_flash(&mut response, crate::web::Flash::SignedOut);
            Ok(response)
        }
        Err(refusal) => Err(refusal),
    }
}

/// A path on this site, whatever was asked for.
fn own_path(next: &str) -> String {
    let is_path = next.starts_with('/') && !next.starts_with("//") && !next.starts_with("/\\");
    let plain = next.bytes().all(|b| (0x21..0x7f).contains(&b) && b != b'\\');
    let own = is_path && plain && next.len() <= NEXT_BYTES && !next.starts_with("/sign-in");
    if own { next.to_owned() } else { "/".into() }
}

#[cfg(test)]
mod tests {
    use super::own_path;

    #[test]
    fn after_signing_in_one_stays_on_this_site() {
        for good in ["/inbox?view=open", "/conversations/cnv_1#letter"] {
            assert_eq!(own_path(good), good);
        }
        for bad in [
            "",
            "//evil.example",
            "/\\evil.example",
            "https://evil.example",
            "/a\r\nb",
            "/sign-in/x",
        ] {
            assert_eq!(own_path(bad), "/", "{bad:?}");
        }
    }
}
