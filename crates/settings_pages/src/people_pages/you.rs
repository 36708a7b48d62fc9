//! Your own settings: password and sessions.

use std::sync::Arc;

use actions::conversations::picture_senders::{self, PictureSender};
use actions::conversations::{after_triage, following};
use actions::people::profile;
use actions::sign_in::sessions::{self, SessionListing, SignedIn};
use askama::Template;
use axum::extract::{Path, State};
use base::app::Cx;
use base::error::Error;
use base::ids::SessionId;
use base::limits::{SIGN_IN_ATTEMPTS_PER_ADDRESS, SIGN_IN_WAIT_MINUTES};
use db::Tx;
use model::people::notices;
use translation::{Language, Reader, msg, t};
use web::forms::form::{PostedForm, form};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::responses::{self, FormOutcome, PageError, PageResult};
use web::layout::wording::DisplayTime;
use web::visitor::Visitor;
use web::{Web, reader};

use crate::people_pages::people::role_word;
use crate::{SettingsPage, location};

/// Why a password does not open private inboxes.
const SET_IN_SHUT_SESSION: &str = msg!(
    "There is no password of yours that opens them. A sign-in link that is mailed to you does, and \
     so does one that the operator of this server makes for it."
);

#[derive(Template)]
#[template(path = "settings_you.html", whitespace = "minimize")]
struct YouPage {
    frame: PageLayout,
    email: String,
    role: &'static str,
    has_password: bool,
    /// Their address is an inbox here, to which no link is mailed.
    is_inbox: bool,
    sessions: Vec<SessionView>,
    old_error: String,
    new_error: String,
    /// True when a mention lets them follow the conversation.
    follows_mentions: bool,
    /// True when the list is shown after an act, and not the next conversation.
    opens_list: bool,
    duty: String,
    /// The code of the language that they chose; empty for that of the browser.
    language: String,
    /// The languages of the app, by code and name.
    languages: Vec<(&'static str, &'static str)>,
    /// Senders whose remote pictures are always shown, and since when.
    picture_senders: Vec<(String, DisplayTime)>,
    /// True while private inboxes are shut in this session, and why they were not opened.
    private_shut: bool,
    open_error: String,
}

struct SessionView {
    id: String,
    device: String,
    begun: DisplayTime,
    seen: String,
    is_this: bool,
}

impl YouPage {
    fn password_title(&self) -> &'static str {
        if self.has_password { t!("Change your password") } else { t!("Set a password") }
    }
}

/// What the page shows of the person.
struct OwnSettings {
    me: SignedIn,
    has_password: bool,
    is_inbox: bool,
    follows_mentions: bool,
    opens_list: bool,
    duty: String,
    picture_senders: Vec<PictureSender>,
    sessions: Vec<SessionListing>,
}

impl OwnSettings {
    fn read(tx: &mut Tx<'_>, cx: &Cx<'_>, me: &SignedIn) -> base::error::Result<OwnSettings> {
        Ok(OwnSettings {
            me: me.clone(),
            has_password: sessions::has_password(tx, cx)?,
            is_inbox: notices::is_inbox(tx, &me.email)?,
            follows_mentions: following::follows_mentions(tx, cx)?,
            opens_list: after_triage::opens_list(tx, cx)?,
            duty: profile::own_duty(tx, cx)?,
            picture_senders: picture_senders::picture_senders(tx, cx)?,
            sessions: sessions::list_sessions(tx, cx)?,
        })
    }
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    web.show(&visitor, &build(&web, &visitor).await?)
}

async fn build(web: &Web, visitor: &Visitor) -> Result<YouPage, PageError> {
    let (frame, own) = web.page(visitor, location(SettingsPage::You), OwnSettings::read).await?;
    let me = own.me;
    let view = |session: SessionListing| SessionView {
        is_this: session.id == me.session,
        id: session.id.to_string(),
        device: device(&session.device),
        begun: frame.times.long(session.created_at),
        seen: frame.times.ago(session.seen_at),
    };
    let sender = |sender: PictureSender| (sender.email, frame.times.short(sender.created_at));
    Ok(YouPage {
        picture_senders: own.picture_senders.into_iter().map(sender).collect(),
        sessions: own.sessions.into_iter().map(view).collect(),
        email: me.email.to_string(),
        role: role_word(me.role),
        has_password: own.has_password,
        is_inbox: own.is_inbox,
        frame,
        old_error: String::new(),
        new_error: String::new(),
        follows_mentions: own.follows_mentions,
        opens_list: own.opens_list,
        duty: own.duty,
        language: me.language,
        languages: Language::of_app().map(|one| (one.code(), one.name())).collect(),
        private_shut: !me.opens_private,
        open_error: String::new(),
    })
}

form! {
    /// Whether a mention lets a person follow the conversation.
    pub struct FollowingForm {
        mentions: bool,
    }

    pub struct DutyForm {
        duty: String,
    }

    /// The code of a language of the app; empty for that of the browser.
    pub struct LanguageForm {
        language: String,
    }

    /// A sender whose remote pictures are shown no longer.
    pub struct PictureSenderForm {
        email: String,
    }

    pub struct PasswordForm {
        old: String,
        new: String,
    }

    pub struct OwnPasswordForm {
        password: String,
    }
}

pub async fn choose_following(
    State(web): State<Arc<Web>>,
    posted: PostedForm<FollowingForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let follows = form.mentions;
    web.act_quietly(&visitor, move |tx, cx, _| following::follow_mentions(tx, cx, follows)).await?;
    web.redirect("/settings/you", Flash::FollowingChoice)
}

pub async fn set_duty(State(web): State<Arc<Web>>, posted: PostedForm<DutyForm>) -> PageResult {
    let PostedForm { visitor, form } = posted;
    web.act_quietly(&visitor, move |tx, cx, _| profile::set_duty(tx, cx, &form.duty)).await?;
    web.redirect("/settings/you", Flash::Duty)
}

pub async fn choose_language(
    State(web): State<Arc<Web>>,
    posted: PostedForm<LanguageForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let code = form.language;
    if !code.is_empty() && !Language::of_app().any(|language| language.code() == code) {
        return Err(Error::invalid("language", "Choose a language of the list.").into());
    }
    let chosen = reader::choice(&code);
    web.act_quietly(&visitor, move |tx, cx, _| profile::choose_language(tx, cx, &code)).await?;
    Reader::current().know(chosen);
    web.redirect("/settings/you", Flash::Saved)
}

/// The browser and the system of a `User-Agent`.
pub(crate) fn device(agent: &str) -> String {
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
        (Some(browser), Some(system)) => t!("{browser} on {system}", browser, system),
        (Some(name), None) | (None, Some(name)) => name.into(),
        (None, None) => t!("A program").into(),
    }
}

/// A person with a password must enter it to change it, so that an unlocked computer is not enough.
pub async fn set_password(
    State(web): State<Arc<Web>>,
    posted: PostedForm<PasswordForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    match own_password(&web, &visitor, form.old).await? {
        PasswordCheck::NoPassword | PasswordCheck::Right { opens_private: false } => {}
        PasswordCheck::Right { opens_private: true } => {
            // The password proves who it is, however this session began.
            let open_private = |tx: &mut Tx<'_>, cx: &Cx<'_>, me: &SignedIn| {
                sessions::open_private(tx, cx, &me.session)
            };
            web.act_quietly(&visitor, open_private).await?;
        }
        PasswordCheck::Wrong(sentence) => return again(&web, &visitor, &sentence, "").await,
    }
    let hash = match web.hash_password(form.new).await.or_problems()? {
        Ok(hash) => hash,
        Err(problems) => {
            return again(&web, &visitor, "", &problems.first_sentence()).await;
        }
    };
    web.act_quietly(&visitor, move |tx, cx, me| sessions::set_password(tx, cx, &hash, &me.session))
        .await?;
    web.redirect("/settings/you", Flash::Password)
}

/// Opens private inboxes in a session that began with somebody else's link.
pub async fn open_private(
    State(web): State<Arc<Web>>,
    posted: PostedForm<OwnPasswordForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let open_error = match own_password(&web, &visitor, form.password).await? {
        PasswordCheck::Right { opens_private: true } => {
            web.act(&visitor, |tx, cx, me| sessions::open_private(tx, cx, &me.session)).await?;
            return web.redirect("/settings/you", Flash::PrivateOpened);
        }
        PasswordCheck::Wrong(sentence) => sentence,
        PasswordCheck::NoPassword | PasswordCheck::Right { .. } => {
            translation::text(SET_IN_SHUT_SESSION).to_owned()
        }
    };
    let page = build(&web, &visitor).await?;
    responses::again(&YouPage { open_error, ..page })
}

/// The outcome of checking the password that somebody entered as their own.
pub(crate) enum PasswordCheck {
    /// The person has none.
    NoPassword,
    Right {
        opens_private: bool,
    },
    Wrong(String),
}

pub(crate) async fn own_password(
    web: &Web,
    visitor: &Visitor,
    password: String,
) -> Result<PasswordCheck, PageError> {
    let (me, stored) = web
        .read(visitor, |tx, _, me| {
            let mut stored = sessions::stored_passwords(tx, &me.email)?;
            stored.retain(|stored| stored.ws == me.actor.ws && stored.person == me.id);
            Ok((me.clone(), stored))
        })
        .await?;
    let Some(stored) = stored.into_iter().next() else {
        return Ok(PasswordCheck::NoPassword);
    };
    // Counted for the person: somebody who can create links can begin many sessions.
    let (what, now) = (format!("person {}", me.id), web.app.clock.now());
    let may_try = web.app.store.write(move |tx| {
        sessions::count_sign_in_attempt(tx, &what, SIGN_IN_ATTEMPTS_PER_ADDRESS, now)
    });
    if !may_try.await? {
        let sentence =
            t!("Too many attempts. Wait {minutes} minutes.", minutes = SIGN_IN_WAIT_MINUTES);
        return Ok(PasswordCheck::Wrong(sentence));
    }
    match web.fitting(password, vec![stored.hash]).await {
        Some(_) => Ok(PasswordCheck::Right { opens_private: stored.opens_private }),
        None => Ok(PasswordCheck::Wrong(t!("That is not your password.").into())),
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
    posted: PostedForm,
) -> PageResult {
    let id = SessionId::parse(&id).ok_or(Error::NotFound("session"))?;
    web.act(&posted.visitor, move |tx, cx, _| sessions::end_session(tx, cx, &id)).await?;
    web.redirect("/settings/you", Flash::Ended)
}

pub async fn end_others(State(web): State<Arc<Web>>, posted: PostedForm) -> PageResult {
    web.act(&posted.visitor, |tx, cx, me| sessions::end_other_sessions(tx, cx, &me.session))
        .await?;
    web.redirect("/settings/you", Flash::Ended)
}

pub async fn remove_picture_sender(
    State(web): State<Arc<Web>>,
    posted: PostedForm<PictureSenderForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let remove = move |tx: &mut Tx<'_>, cx: &Cx<'_>, _: &SignedIn| {
        picture_senders::remove_picture_sender(tx, cx, &form.email)
    };
    web.act_quietly(&visitor, remove).await?;
    web.redirect("/settings/you", Flash::PicturesHidden)
}
