//! Your own settings: password and sessions.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, State};
use db::Tx;
use inbox::actions::{self, SessionListing, SignedIn};
use inbox::base::ids::SessionId;
use inbox::{Cx, Error};

use super::location;
use crate::web::Web;
use crate::web::form::Posted;
use crate::web::layout::page_layout::PageLayout;
use crate::web::layout::responses::{self, PageError, PageResult, see_other};
use crate::web::layout::wording::{When, filters};
use crate::web::visitor::Visitor;

/// Why a password does not open private inboxes.
const SET_IN_SHUT_SESSION: &str = "There is no password of yours that opens them. A sign-in link \
                                   that is mailed to you does, and so does one that the operator \
                                   of this server makes for it.";

#[derive(Template)]
#[template(path = "settings_you.html")]
struct YouPage {
    frame: PageLayout,
    email: String,
    role: &'static str,
    has_password: bool,
    sessions: Vec<SessionView>,
    old_error: String,
    new_error: String,
    mail_mentions: bool,
    /// True while private inboxes are shut in this session, and why they were not opened.
    private_shut: bool,
    open_error: String,
}

struct SessionView {
    id: String,
    device: String,
    begun: When,
    seen: String,
    is_this: bool,
}

type Read = (SignedIn, (bool, bool), Vec<SessionListing>);

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    web.show(&visitor, &build(&web, &visitor).await?)
}

async fn build(web: &Web, visitor: &Visitor) -> Result<YouPage, PageError> {
    let (frame, (me, (has_password, mail_mentions), sessions)): (PageLayout, Read) = web
        .page(visitor, location(super::SettingsPage::You), |tx, cx, me| {
            let chosen = (actions::has_password(tx, cx)?, actions::wants_mention_mail(tx, cx)?);
            Ok((me.clone(), chosen, actions::list_sessions(tx, cx)?))
        })
        .await?;
    let view = |session: SessionListing| SessionView {
        is_this: session.id == me.session,
        id: session.id.to_string(),
        device: device(&session.device),
        begun: frame.watch.long(session.created_at),
        seen: frame.watch.ago(session.seen_at),
    };
    Ok(YouPage {
        sessions: sessions.into_iter().map(view).collect(),
        email: me.email.to_string(),
        role: me.role.as_str(),
        has_password,
        frame,
        old_error: String::new(),
        new_error: String::new(),
        mail_mentions,
        private_shut: !me.opens_private,
        open_error: String::new(),
    })
}

/// What one is mailed about.
pub async fn choose_mail(State(web): State<Arc<Web>>, posted: Posted) -> PageResult {
    let Posted { visitor, fields } = posted;
    let wants = fields.has("mentions");
    web.act_quietly(&visitor, move |tx, cx, _| actions::want_mention_mail(tx, cx, wants)).await?;
    let mut response = see_other("/settings/you");
    web.set_flash(&mut response, crate::web::Flash::MailChoice);
    Ok(response)
}

/// A browser and a system, as far as the browser says.
fn device(agent: &str) -> String {
    let browsers = [
        ("Edg/", "Edge"),
        ("OPR/", "Opera"),
        ("Firefox/", "Firefox"),
        ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
    ];
    let systems = [
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Android", "Android"),
        ("Windows", "Windows"),
        ("Mac OS", "Mac"),
        ("Linux", "Linux"),
    ];
    let find = |known: &[(&str, &'static str)]| {
        known.iter().find(|(sign, _)| agent.contains(sign)).map(|(_, name)| *name)
    };
    match (find(&browsers), find(&systems)) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(name), None) | (None, Some(name)) => name.into(),
        (None, None) => "A program".into(),
    }
}

/// Whoever has a password must say it to change it, so that an unlocked desk is not enough.
pub async fn set_password(State(web): State<Arc<Web>>, posted: Posted) -> PageResult {
    let Posted { visitor, fields } = posted;
    match own_password(&web, &visitor, fields.get("old")).await? {
        Said::Nothing | Said::Right { opens_private: false } => {}
        Said::Right { opens_private: true } => {
            // Whoever said it is its person, however this session began.
            let open = |tx: &mut Tx<'_>, cx: &Cx<'_>, me: &SignedIn| {
                actions::open_private(tx, cx, &me.session)
            };
            web.act_quietly(&visitor, open).await?;
        }
        Said::Wrong(sentence) => return again(&web, &visitor, sentence, "").await,
    }
    let hash = match web.hashed(fields.get("new")).await {
        Ok(hash) => hash,
        Err(Error::Invalid(problems)) => {
            let sentence = problems.0.first().map(|p| p.sentence.clone()).unwrap_or_default();
            return again(&web, &visitor, "", &sentence).await;
        }
        Err(error) => return Err(error.into()),
    };
    web.act_quietly(&visitor, move |tx, cx, me| actions::set_password(tx, cx, &hash, &me.session))
        .await?;
    let mut response = see_other("/settings/you");
    web.set_flash(&mut response, crate::web::Flash::Password);
    Ok(response)
}

/// Opens private inboxes in a session that began with somebody else's link.
pub async fn open_private(State(web): State<Arc<Web>>, posted: Posted) -> PageResult {
    let Posted { visitor, fields } = posted;
    let open_error = match own_password(&web, &visitor, fields.get("password")).await? {
        Said::Right { opens_private: true } => {
            web.act(&visitor, |tx, cx, me| actions::open_private(tx, cx, &me.session)).await?;
            let mut response = see_other("/settings/you");
            web.set_flash(&mut response, crate::web::Flash::PrivateOpened);
            return Ok(response);
        }
        Said::Wrong(sentence) => sentence,
        Said::Nothing | Said::Right { .. } => SET_IN_SHUT_SESSION,
    };
    let page = build(&web, &visitor).await?;
    responses::again(&YouPage { open_error: open_error.to_owned(), ..page })
}

/// What came of a password that somebody said of their own.
enum Said {
    /// They have none.
    Nothing,
    Right {
        opens_private: bool,
    },
    Wrong(&'static str),
}

async fn own_password(web: &Web, visitor: &Visitor, password: String) -> Result<Said, PageError> {
    let (me, kept) = web
        .read(visitor, |tx, _, me| {
            let mut kept = actions::stored_passwords(tx, &me.email)?;
            kept.retain(|kept| kept.ws == me.actor.ws && kept.person == me.id);
            Ok((me.clone(), kept))
        })
        .await?;
    let Some(kept) = kept.into_iter().next() else { return Ok(Said::Nothing) };
    // Counted for the person: whoever can make links can begin many sessions.
    let (what, now) = (format!("person {}", me.id), web.app.clock.now());
    let may_try = web.app.store.write(move |tx| {
        actions::count_sign_in_attempt(
            tx,
            &what,
            inbox::base::limits::SIGN_IN_ATTEMPTS_PER_ADDRESS,
            now,
        )
    });
    if !may_try.await? {
        return Ok(Said::Wrong("Too many attempts. Wait 15 minutes."));
    }
    match web.fitting(password, vec![kept.hash]).await {
        Some(_) => Ok(Said::Right { opens_private: kept.opens_private }),
        None => Ok(Said::Wrong("That is not your password.")),
    }
}

async fn again(web: &Web, visitor: &Visitor, old_error: &str, new_error: &str) -> PageResult {
    let page = build(web, visitor).await?;
    let (old_error, new_error) = (old_error.to_owned(), new_error.to_owned());
    responses::again(&YouPage { old_error, new_error, ..page })
}

pub async fn end_session(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: Posted,
) -> PageResult {
    let id = SessionId::parse(&id).ok_or(Error::NotFound("session"))?;
    web.act(&posted.visitor, move |tx, cx, _| actions::end_session(tx, cx, &id)).await?;
    let mut response = see_other("/settings/you");
    web.set_flash(&mut response, crate::web::Flash::Ended);
    Ok(response)
}

pub async fn end_others(State(web): State<Arc<Web>>, posted: Posted) -> PageResult {
    web.act(&posted.visitor, |tx, cx, me| actions::end_other_sessions(tx, cx, &me.session)).await?;
    let mut response = see_other("/settings/you");
    web.set_flash(&mut response, crate::web::Flash::Ended);
    Ok(response)
}
