//! What you are told of and how, in every inbox or in one, and the browsers that tell you.

use std::sync::Arc;

use actions::people::notifications::{self, NoticeSettingsInput, QUIET_DAYS};
use askama::Template;
use axum::extract::{Path, State};
use base::error::Error;
use base::ids::{MailboxId, SubscriptionId};
use base::security::web_push::PushTarget;
use model::people::notifications::choices::{
    MailNotice, NoticeChoice, NoticeKind, OwnNoticeChoice,
};
use model::people::notifications::push::SubscribedBrowser;
use model::people::notifications::settings::NoticeSettings;
use serde_json::json;
use translation::{msg, t};
use web::Web;
use web::forms::field_errors::FieldErrors;
use web::forms::form::{Form, FormFields, PostedForm, form};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::responses::{self, FormOutcome, PageError, PageResult};
use web::layout::wording::DisplayTime;
use web::visitor::Visitor;

use crate::people_pages::you::device;
use crate::{SettingsPage, location};

const HERE: &str = "/settings/notifications";

/// The ways by mail, by value and label.
const MAIL_WAYS: [(&str, &str); 3] =
    [("no", msg!("Not by mail")), ("at-once", msg!("At once")), ("digest", msg!("In the digest"))];
const DAYS: [&str; 7] = [
    msg!("Monday"),
    msg!("Tuesday"),
    msg!("Wednesday"),
    msg!("Thursday"),
    msg!("Friday"),
    msg!("Saturday"),
    msg!("Sunday"),
];

#[derive(Template)]
#[template(path = "settings_notifications.html", whitespace = "minimize")]
struct NotificationsPage {
    frame: PageLayout,
    kinds: Vec<KindView>,
    mail_ways: [(&'static str, &'static str); 3],
    how: NoticeSettingsInput,
    /// Value, label and whether quiet hours begin on it.
    days: Vec<(&'static str, &'static str, bool)>,
    zones: Vec<String>,
    errors: FieldErrors,
    /// Address, name and whether something of its own holds there.
    inboxes: Vec<(String, String, bool)>,
    browsers: Vec<BrowserView>,
    browser_error: String,
    /// True where this session's browser gets notices.
    is_subscribed: bool,
}

struct KindView {
    name: &'static str,
    label: &'static str,
    browser: bool,
    mail: &'static str,
}

struct BrowserView {
    id: String,
    device: String,
    since: DisplayTime,
    used: String,
    is_this: bool,
}

#[derive(Template)]
#[template(path = "settings_notifications_inbox.html", whitespace = "minimize")]
struct InboxNoticesPage {
    frame: PageLayout,
    id: String,
    name: String,
    kinds: Vec<InboxKindView>,
    mail_ways: [(&'static str, &'static str); 3],
}

struct InboxKindView {
    name: &'static str,
    label: &'static str,
    /// `yes`, `no`, or empty where it is as everywhere.
    browser: &'static str,
    mail: &'static str,
    /// What holds everywhere, in words.
    usual_browser: &'static str,
    usual_mail: &'static str,
}

fn label(kind: NoticeKind) -> &'static str {
    match kind {
        NoticeKind::Mentioned => t!("Somebody mentions me in a note"),
        NoticeKind::Assigned => t!("A conversation is assigned to me"),
        NoticeKind::Reply => t!("A reply in a conversation that is assigned to me"),
        NoticeKind::Followed => t!("A reply in a conversation that I follow"),
        NoticeKind::MessageFailed => t!("A message of mine could not be delivered"),
        NoticeKind::Unanswered => t!("Nobody answered a message of mine by the time I chose"),
        NoticeKind::DraftWaits => t!("A draft waits for approval"),
        NoticeKind::TargetMissed => t!("A response target is missed"),
        NoticeKind::NewConversation => t!("A new conversation"),
        NoticeKind::AgentAlarm => t!("An agent was paused, or changed very many conversations"),
    }
}

/// The ways by mail in the reader's language.
fn mail_ways() -> [(&'static str, &'static str); 3] {
    MAIL_WAYS.map(|(value, label)| (value, translation::text(label)))
}

fn mail_label(mail: MailNotice) -> &'static str {
    let found = mail_ways().into_iter().find(|(value, _)| *value == mail.as_str());
    found.map_or("", |(_, label)| label)
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    web.show(&visitor, &build(&web, &visitor, None).await?)
}

async fn build(
    web: &Web,
    visitor: &Visitor,
    typed: Option<NoticeSettingsInput>,
) -> Result<NotificationsPage, PageError> {
    let (frame, (own, session)) = web
        .page(visitor, location(SettingsPage::Notifications), |tx, cx, me| {
            Ok((notifications::own_notifications(tx, cx)?, me.session.clone()))
        })
        .await?;
    let how = typed.unwrap_or_else(|| match &own.settings {
        Some(settings) => NoticeSettingsInput::of(settings),
        None => {
            let zone = frame.times.zone.iana_name().unwrap_or("UTC").to_owned();
            NoticeSettingsInput::of(&NoticeSettings { zone, ..NoticeSettings::default() })
        }
    });
    let kind = |(kind, choice): &(NoticeKind, NoticeChoice)| KindView {
        name: kind.as_str(),
        label: label(*kind),
        browser: choice.browser,
        mail: choice.mail.as_str(),
    };
    let day = |(value, label): (&&'static str, &'static str)| {
        let chosen = how.quiet_days.iter().any(|chosen| chosen == value);
        (*value, translation::text(label), chosen)
    };
    let browser = |browser: &SubscribedBrowser| BrowserView {
        id: browser.id.to_string(),
        device: device(&browser.device),
        since: frame.times.short(browser.created_at),
        used: browser.used_at.map_or(t!("not yet").into(), |at| frame.times.ago(at)),
        is_this: browser.session == session,
    };
    Ok(NotificationsPage {
        kinds: own.choices.iter().map(kind).collect(),
        mail_ways: mail_ways(),
        days: QUIET_DAYS.iter().zip(DAYS).map(day).collect(),
        zones: calendar::zone_names(),
        errors: FieldErrors::default(),
        inboxes: own
            .inboxes
            .into_iter()
            .map(|(inbox, is_own)| (inbox.id.to_string(), inbox.name, is_own))
            .collect(),
        is_subscribed: own.browsers.iter().any(|browser| browser.session == session),
        browsers: own.browsers.iter().map(browser).collect(),
        browser_error: String::new(),
        how,
        frame,
    })
}

/// What somebody wants to be told of in every inbox.
pub struct NoticeChoicesForm(Vec<(NoticeKind, NoticeChoice)>);

impl Form for NoticeChoicesForm {
    fn read(fields: &FormFields) -> base::error::Result<NoticeChoicesForm> {
        let choice = |kind: &NoticeKind| {
            let mail = MailNotice::parse(&fields.get(&format!("mail-{}", kind.as_str())));
            let browser = fields.has(&format!("browser-{}", kind.as_str()));
            (*kind, NoticeChoice { browser, mail: mail.unwrap_or(MailNotice::No) })
        };
        Ok(NoticeChoicesForm(NoticeKind::ALL.iter().map(choice).collect()))
    }
}

pub async fn choose(
    State(web): State<Arc<Web>>,
    posted: PostedForm<NoticeChoicesForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    web.act_quietly(&visitor, move |tx, cx, _| notifications::choose_notices(tx, cx, &form.0))
        .await?;
    web.redirect(HERE, Flash::NoticesSaved)
}

/// The same in one inbox; what is empty is as in every inbox.
pub struct InboxNoticesForm(Vec<OwnNoticeChoice>);

impl Form for InboxNoticesForm {
    fn read(fields: &FormFields) -> base::error::Result<InboxNoticesForm> {
        let choice = |kind: &NoticeKind| OwnNoticeChoice {
            kind: *kind,
            browser: fields.opt(&format!("browser-{}", kind.as_str())).map(|said| said == "yes"),
            mail: MailNotice::parse(&fields.get(&format!("mail-{}", kind.as_str()))),
        };
        Ok(InboxNoticesForm(NoticeKind::ALL.iter().map(choice).collect()))
    }
}

pub async fn inbox_page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> PageResult {
    let mailbox = MailboxId::parse(&id).ok_or(Error::NotFound("inbox"))?;
    let (frame, own) = web
        .page(&visitor, location(SettingsPage::Notifications), move |tx, cx, _| {
            notifications::inbox_notices(tx, cx, &mailbox)
        })
        .await?;
    let kind = |(kind, usual, own): (NoticeKind, NoticeChoice, OwnNoticeChoice)| InboxKindView {
        name: kind.as_str(),
        label: label(kind),
        browser: own.browser.map_or("", |told| if told { "yes" } else { "no" }),
        mail: own.mail.map_or("", MailNotice::as_str),
        usual_browser: if usual.browser { t!("yes") } else { t!("no") },
        usual_mail: mail_label(usual.mail),
    };
    let page = InboxNoticesPage {
        frame,
        id,
        name: own.mailbox.name,
        kinds: own.choices.into_iter().map(kind).collect(),
        mail_ways: mail_ways(),
    };
    web.show(&visitor, &page)
}

pub async fn choose_for_inbox(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<InboxNoticesForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let mailbox = MailboxId::parse(&id).ok_or(Error::NotFound("inbox"))?;
    web.act_quietly(&visitor, move |tx, cx, _| {
        notifications::choose_inbox_notices(tx, cx, &mailbox, &form.0)
    })
    .await?;
    web.redirect(HERE, Flash::NoticesSaved)
}

form! {
    /// What a browser says of its subscription.
    pub struct SubscribeForm {
        endpoint: String,
        p256dh: String,
        auth: String,
    }
}

pub async fn set_how(
    State(web): State<Arc<Web>>,
    posted: PostedForm<NoticeSettingsInput>,
) -> PageResult {
    let PostedForm { visitor, form: mut input } = posted;
    for time in [&mut input.digest_time, &mut input.quiet_from, &mut input.quiet_to] {
        *time = visitor.iso_clock(time);
    }
    let own = input.clone();
    let save = web
        .act_quietly(&visitor, move |tx, cx, _| notifications::set_notice_settings(tx, cx, &own))
        .await;
    match save.or_problems()? {
        Ok(()) => web.redirect(HERE, Flash::NoticesSaved),
        Err(problems) => {
            let mut page = build(&web, &visitor, Some(input)).await?;
            page.errors = FieldErrors::of(problems, &["zone", "digest"], "quiet");
            responses::again(&page)
        }
    }
}

pub async fn send_test(State(web): State<Arc<Web>>, posted: PostedForm) -> PageResult {
    let sent = web
        .act_quietly(&posted.visitor, |tx, cx, _| notifications::send_test_notice(tx, cx))
        .await?;
    web.redirect(HERE, if sent { Flash::TestNotice } else { Flash::TooManyNotices })
}

/// The key that a browser subscribes with.
pub async fn public_key(State(web): State<Arc<Web>>, posted: PostedForm) -> PageResult {
    let key = web
        .act_quietly(&posted.visitor, |tx, cx, _| notifications::push_public_key(tx, cx))
        .await?;
    Ok(responses::json(&json!({ "key": key })))
}

pub async fn subscribe(
    State(web): State<Arc<Web>>,
    posted: PostedForm<SubscribeForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    // Nobody who is not signed in makes the server look a name up.
    web.read(&visitor, |_, _, _| Ok(())).await?;
    let target = PushTarget { endpoint: form.endpoint, p256dh: form.p256dh, auth: form.auth };
    let device = visitor.device.clone();
    let vetted = web.ssrf_guard.vet(&target.endpoint).await;
    let subscribed = match vetted {
        Ok(_) => {
            web.act_quietly(&visitor, move |tx, cx, me| {
                notifications::subscribe_browser(tx, cx, &me.session, &device, &target)
            })
            .await
        }
        Err(error) => Err(error.into()),
    };
    match subscribed.or_problems()? {
        Ok(_) => web.redirect(HERE, Flash::BrowserSubscribed),
        Err(_) => {
            let page = build(&web, &visitor, None).await?;
            let browser_error = t!(
                "This browser's push service cannot be used: its address is not a public one, or \
                 its keys are of another kind."
            )
            .to_owned();
            responses::again(&NotificationsPage { browser_error, ..page })
        }
    }
}

pub async fn remove(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let id = SubscriptionId::parse(&id).ok_or(Error::NotFound("browser"))?;
    web.act_quietly(&posted.visitor, move |tx, cx, _| notifications::end_subscription(tx, cx, &id))
        .await?;
    web.redirect(HERE, Flash::BrowserRemoved)
}
