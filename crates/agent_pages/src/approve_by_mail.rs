//! The page behind the link of a mail: one draft as it stands. Opening it changes nothing, because programs that scan
//! mail open links too; only its forms do, with a recent sign-in or a mailed code.

use std::sync::Arc;

use actions::conversations::timeline::MessageEntry;
use actions::documents::document_requests::RequestItem;
use actions::sign_in::provider_rules::LocalSignInPolicy;
use actions::writing::approve_by_mail::{
    self, ApprovalPage, ApprovalPageState, LinkTrust, LinkVisitor, WaitingDraft,
};
use actions::writing::seen::{DecisionOutcome, SeenConversation, SeenDraft};
use askama::Template;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse;
use base::app::App;
use base::concurrency::queue::Queue;
use base::error::{Error, ValidationErrors};
use base::limits::{CODES_WINDOW_MS, DISCARD_REASON_CHARS, REPLY_CHARS, SIGN_IN_WAIT_MINUTES};
use base::states::Direction;
use db::Tx;
use jiff::tz::TimeZone;
use model::people::one_time_codes::CodeEntry;
use outbound::unusual_words::unusual_sentence;
use translation::t;
use web::Web;
use web::guest::{GuestBrowser, GuestForm};
use web::layout::filters;
use web::layout::responses::{PageError, html, see_other};
use web::layout::wording::{TimeFormat, paragraphs, thousands};
use web::visitor::Visitor;

use crate::approver_browser::ApproverBrowser;

/// A draft that waits, with what its reader may do.
#[derive(Template)]
#[template(path = "approve_draft.html", whitespace = "minimize")]
struct DraftPage {
    token: String,
    csrf: String,
    workspace: String,
    message: String,
    contact: String,
    subject: String,
    inbox: String,
    author: String,
    is_agent: bool,
    written: String,
    to: String,
    cc: String,
    bcc: String,
    summary: Option<String>,
    sources: Vec<String>,
    unusual: Vec<String>,
    is_marked: bool,
    risk_reasons: Vec<String>,
    was_changed: bool,
    /// When the customer wrote after the draft was made.
    meanwhile: Option<String>,
    paragraphs: Vec<Vec<String>>,
    /// The words as they are edited.
    typed: String,
    is_rich: bool,
    files: Vec<String>,
    asks: Vec<String>,
    offers_times: bool,
    /// The customer's latest messages: when, and their words. Empty for who has only the link.
    said: Vec<(String, Vec<Vec<String>>)>,
    leaves: String,
    until: String,
    revision: i64,
    seen: i64,
    decides: bool,
    mails_codes: bool,
    /// When the code of this browser was sent, and until when it counts.
    code: Option<(String, String)>,
    code_error: String,
    error: String,
    reason: String,
}

/// A link with nothing to decide.
#[derive(Template)]
#[template(path = "approve_state.html", whitespace = "minimize")]
struct StatePage {
    workspace: String,
    title: String,
    sentence: String,
    /// Where to go on: address and words.
    next: Option<(String, &'static str)>,
}

/// What goes back onto the page with a form that was not done.
#[derive(Clone, Default)]
struct Typed {
    body: Option<String>,
    reason: String,
    error: String,
    code_error: String,
}

fn visitor_of(visitor: &Visitor, browser: &GuestBrowser) -> LinkVisitor {
    LinkVisitor { browser: browser.id, session: visitor.session }
}

/// The address of a form is opened, as a browser does that brings its tabs back.
pub async fn front(Path(token): Path<String>) -> Response<Body> {
    see_other(&format!("/approve/{token}"))
}

pub async fn show(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    ApproverBrowser(browser): ApproverBrowser,
    Path(token): Path<String>,
) -> Response<Body> {
    let shown = respond(&web, (&visitor, &browser), &token, Typed::default()).await;
    browser.keep(&web, shown)
}

/// Leads somebody who is not signed in to the sign-in, and back.
pub async fn sign_in(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(token): Path<String>,
) -> Response<Body> {
    let page = format!("/approve/{token}");
    match web.read(&visitor, |_, _, _| Ok(())).await {
        Ok(()) => see_other(&page),
        Err(PageError::SignIn { .. }) => {
            PageError::SignIn { next: page, left: None }.into_response()
        }
        Err(refusal) => refusal.into_response(),
    }
}

async fn respond(
    web: &Web,
    who: (&Visitor, &GuestBrowser),
    token: &str,
    typed: Typed,
) -> Response<Body> {
    let (visitor, browser) = who;
    let (app, wanted, ways) = (web.app.clone(), token.to_owned(), web.other_ways());
    let opened_by = visitor_of(visitor, browser);
    let work = move |tx: &mut Tx<'_>| approve_by_mail::look(tx, &app, &wanted, &opened_by, ways);
    let found = web.app.store.read(work).await;
    match web.or_miss(visitor, found).await {
        Ok(page) => page_of(web, who, token, page, typed),
        Err(refusal) => gone_page(refusal),
    }
}

fn page_of(
    web: &Web,
    (visitor, browser): (&Visitor, &GuestBrowser),
    token: &str,
    page: ApprovalPage,
    typed: Typed,
) -> Response<Body> {
    let times = PageTimes::of(web, visitor);
    let ApprovalPage { link, trust, state, mails_codes, code } = page;
    let in_app = (format!("/approvals/{}", link.message), t!("Open it in Mailroom"));
    let workspace = link.workspace_name.clone();
    let said = |title: String, sentence: String, next| {
        html(StatusCode::OK, &StatePage { workspace: workspace.clone(), title, sentence, next })
    };
    match state {
        ApprovalPageState::Waits(draft) => {
            let csrf = match visitor.session {
                Some(_) => visitor.csrf.to_string(),
                None => browser.csrf.to_string(),
            };
            let status = if typed.error.is_empty() && typed.code_error.is_empty() {
                StatusCode::OK
            } else {
                StatusCode::UNPROCESSABLE_ENTITY
            };
            let code = code.map(|code| (times.clock(code.sent_at), times.clock(code.expires_at)));
            let view = DraftPage {
                token: token.to_owned(),
                csrf,
                workspace: workspace.clone(),
                until: times.clock(link.expires_at),
                decides: trust.decides(),
                mails_codes,
                code,
                ..draft_page(*draft, trust, &times)
            };
            html(status, &with_typed(view, typed))
        }
        ApprovalPageState::InAppOnly => said(
            t!("Look at it in Mailroom").into(),
            t!("This draft is shown in Mailroom alone: it is protected, or of an inbox that not everybody \
                sees. It still waits.")
            .into(),
            Some((format!("/approve/{token}/sign-in"), t!("Sign in and look"))),
        ),
        ApprovalPageState::RunOut => said(
            t!("This link has run out").into(),
            t!("The draft still waits.").into(),
            Some((in_app.0, t!("Sign in and look"))),
        ),
        ApprovalPageState::Decided(decision) => {
            let (by, at) = (decision.by, times.clock(decision.at));
            let conversation = (format!("/conversations/{}", link.conversation), t!("Open the conversation"));
            let title = if decision.approved {
                t!("{by} approved it at {at}", by, at)
            } else {
                t!("{by} discarded it at {at}", by, at)
            };
            let sentence = match (decision.approved, link.leaves_at) {
                (true, Some(at)) => t!(
                    "It leaves at {at}. Until then it can be stopped in Mailroom.",
                    at = times.clock(at)
                ),
                (true, None) => t!("It has left, or is on its way.").into(),
                (false, _) => t!("Nothing was sent.").into(),
            };
            said(title, sentence, Some(conversation))
        }
        ApprovalPageState::Gone => said(
            t!("This draft does not wait any more").into(),
            t!("Look in Mailroom what has become of it.").into(),
            Some((format!("/conversations/{}", link.conversation), t!("Open the conversation"))),
        ),
    }
}

fn draft_page(waiting: WaitingDraft, trust: LinkTrust, times: &PageTimes) -> DraftPage {
    let WaitingDraft { decision, was_changed, leaves_at } = waiting;
    let meanwhile = decision.said_since().next().map(|message| times.clock(message.at));
    let (draft, conversation) = (&decision.draft, &decision.conversation);
    let contact = conversation.contact_name.clone().filter(|name| !name.trim().is_empty());
    let parties = |list: &[model::messages::recipients::Party]| {
        let emails: Vec<&str> = list.iter().map(|party| party.email.as_str()).collect();
        emails.join(", ")
    };
    let is_persons = |entry: &MessageEntry| {
        entry.author.as_deref().is_some_and(|id| base::ids::UserId::parse(id).is_some())
    };
    let said = decision.said.iter().filter(|entry| entry.direction == Direction::Inbound);
    let said = said.map(|entry| (times.moment(entry.at), paragraphs(&entry.text)));
    DraftPage {
        token: String::new(),
        csrf: String::new(),
        workspace: String::new(),
        message: draft.id.to_string(),
        contact: contact.unwrap_or_else(|| conversation.contact_email.to_string()),
        subject: conversation.subject.clone(),
        inbox: decision.mailbox.name.clone(),
        author: draft.from_name.clone().unwrap_or_default(),
        is_agent: !is_persons(draft),
        written: times.moment(draft.at),
        to: parties(&draft.to),
        cc: parties(&draft.cc),
        bcc: parties(&draft.bcc),
        summary: draft.summary.clone(),
        sources: draft.sources.iter().flatten().map(|source| source.title.clone()).collect(),
        unusual: decision.unusual.iter().filter_map(unusual_sentence).collect(),
        is_marked: conversation.is_marked(),
        risk_reasons: conversation.risk_reasons.0.clone(),
        was_changed,
        meanwhile,
        paragraphs: paragraphs(&draft.text),
        typed: draft.markdown.as_deref().unwrap_or(&draft.text).to_owned(),
        is_rich: draft.markdown.is_some(),
        files: draft.files.iter().map(|file| file.filename.clone()).collect(),
        asks: draft.asks.iter().flat_map(|card| &card.items).map(RequestItem::line).collect(),
        offers_times: decision.offer.is_some(),
        said: if trust == LinkTrust::Link { Vec::new() } else { said.collect() },
        leaves: times.clock(leaves_at),
        until: String::new(),
        revision: draft.revision,
        seen: decision.seen.next_number,
        decides: false,
        mails_codes: false,
        code: None,
        code_error: String::new(),
        error: String::new(),
        reason: String::new(),
    }
}

fn with_typed(mut page: DraftPage, typed: Typed) -> DraftPage {
    if let Some(body) = typed.body {
        page.typed = body;
    }
    (page.error, page.code_error, page.reason) = (typed.error, typed.code_error, typed.reason);
    page
}

/// Times as their reader's clock says them, with the name of the zone where it is not known.
struct PageTimes {
    format: TimeFormat,
    is_known: bool,
}

impl PageTimes {
    fn of(web: &Web, visitor: &Visitor) -> PageTimes {
        PageTimes {
            format: TimeFormat::new(web.app.clock.now(), visitor.zone.clone()),
            is_known: visitor.zone != TimeZone::UTC,
        }
    }

    fn clock(&self, at: i64) -> String {
        self.with_zone(self.format.clock(at))
    }

    fn moment(&self, at: i64) -> String {
        self.with_zone(self.format.long(at).text)
    }

    fn with_zone(&self, time: String) -> String {
        if self.is_known { time } else { format!("{time} UTC") }
    }
}

/// True where a form is of this browser, or of the session in it.
fn is_from_here(visitor: &Visitor, browser: &GuestBrowser, form: &GuestForm) -> bool {
    match visitor.session {
        Some(_) => visitor.csrf.fits(&form.csrf()),
        None => browser.csrf.fits(&form.csrf()),
    }
}

/// A form of another browser. Where the link leads nowhere any more, that is said: the browser's cookie for it went with it.
async fn foreign_form(web: &Web, who: (&Visitor, &GuestBrowser), token: &str) -> Response<Body> {
    let shown = respond(web, who, token, Typed::default()).await;
    match shown.status() {
        StatusCode::NOT_FOUND | StatusCode::TOO_MANY_REQUESTS => shown,
        _ => PageError::Foreign.into_response(),
    }
}

/// Writes for whoever has the link, in one transaction.
async fn act_by_link<T, F>(
    web: &Web,
    (visitor, browser): (&Visitor, &GuestBrowser),
    token: &str,
    mut work: F,
) -> Result<T, PageError>
where
    T: Send + 'static,
    F: FnMut(&mut Tx<'_>, &App, &str, &LinkVisitor) -> base::error::Result<T> + Send + 'static,
{
    let (app, wanted) = (web.app.clone(), token.to_owned());
    let opened_by = visitor_of(visitor, browser);
    let written = web.app.store.write(move |tx| work(tx, &app, &wanted, &opened_by)).await;
    web.or_miss(visitor, written).await
}

/// Mails a code. The answer is the same whether the draft waits or not.
pub async fn mail_code(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    ApproverBrowser(browser): ApproverBrowser,
    Path(token): Path<String>,
    form: GuestForm,
) -> Response<Body> {
    if !is_from_here(&visitor, &browser, &form) {
        return foreign_form(&web, (&visitor, &browser), &token).await;
    }
    let (place, ways) = (visitor.place.clone(), web.other_ways());
    let who = (&visitor, &browser);
    let mailed = act_by_link(&web, who, &token, move |tx, app, token, opened_by| {
        approve_by_mail::mail_code(tx, app, token, (opened_by, &place), ways)
    });
    match mailed.await {
        Ok(None) => see_other(&format!("/approve/{token}#decide")),
        Ok(Some(until)) => {
            let minutes = CODES_WINDOW_MS / 60_000;
            let time = PageTimes::of(&web, &visitor).clock(until);
            let code_error = t!(
                "We sent several codes within {minutes} minutes. Ask again after {time}.",
                minutes,
                time
            );
            let typed = Typed { code_error, ..Typed::default() };
            let mut shown = respond(&web, who, &token, typed).await;
            *shown.status_mut() = StatusCode::TOO_MANY_REQUESTS;
            shown
        }
        Err(refusal) => gone_page(refusal),
    }
}

/// Takes the code: from then on this browser may decide for a while.
pub async fn enter_code(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    ApproverBrowser(browser): ApproverBrowser,
    Path(token): Path<String>,
    form: GuestForm,
) -> Response<Body> {
    if !is_from_here(&visitor, &browser, &form) {
        return foreign_form(&web, (&visitor, &browser), &token).await;
    }
    let (place, typed) = (visitor.place.clone(), form.get("code"));
    let (ways, (cookie, next)): (LocalSignInPolicy, _) = (web.other_ways(), web.new_guest());
    let who = (&visitor, &browser);
    let entered = act_by_link(&web, who, &token, move |tx, app, token, opened_by| {
        approve_by_mail::enter_code(tx, app, token, (opened_by, next, &place), (&typed, ways))
    });
    let code_error = match entered.await {
        Ok(CodeEntry::Right) => {
            let renewed = browser.with_new_cookie(&web, cookie);
            return renewed.keep(&web, see_other(&format!("/approve/{token}")));
        }
        Ok(CodeEntry::Wrong { tries_left: 1 }) => {
            t!("That is not the code. You have 1 try left.").to_owned()
        }
        Ok(CodeEntry::Wrong { tries_left }) if tries_left > 0 => {
            t!("That is not the code. You have {tries_left} tries left.", tries_left)
        }
        Ok(_) => t!("That code works no more. Ask for a new one.").to_owned(),
        Err(refusal) => return gone_page(refusal),
    };
    respond(&web, who, &token, Typed { code_error, ..Typed::default() }).await
}

/// What a form of a decision carries.
fn seen_of(form: &GuestForm) -> SeenDraft {
    let number = |name: &str| form.get(name).parse().unwrap_or(0);
    let conversation = SeenConversation { next_number: number("seen") };
    SeenDraft { revision: number("revision"), conversation }
}

pub async fn approve(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    ApproverBrowser(browser): ApproverBrowser,
    Path(token): Path<String>,
    form: GuestForm,
) -> Response<Body> {
    if !is_from_here(&visitor, &browser, &form) {
        return foreign_form(&web, (&visitor, &browser), &token).await;
    }
    let (seen, body) = (seen_of(&form), form.fields().opt("body"));
    let who = (&visitor, &browser);
    let text = body.clone();
    let approved = act_by_link(&web, who, &token, move |tx, app, token, opened_by| {
        tx.wake(Queue::Pages);
        approve_by_mail::approve(tx, app, token, opened_by, (seen, text.as_deref()))
    });
    let mut typed = Typed { body, ..Typed::default() };
    match approved.await {
        Ok(DecisionOutcome::Done(_)) => return see_other(&format!("/approve/{token}")),
        Ok(DecisionOutcome::Meanwhile(_)) => {
            typed.error =
                t!("The customer wrote meanwhile. Read the new message first, then decide.").into();
        }
        Err(refusal) => match problem(refusal) {
            Ok(sentence) => typed.error = sentence,
            Err(refusal) => return gone_page(refusal),
        },
    }
    respond(&web, who, &token, typed).await
}

pub async fn discard(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    ApproverBrowser(browser): ApproverBrowser,
    Path(token): Path<String>,
    form: GuestForm,
) -> Response<Body> {
    if !is_from_here(&visitor, &browser, &form) {
        return foreign_form(&web, (&visitor, &browser), &token).await;
    }
    let revision = seen_of(&form).revision;
    let reason: String = form.get("reason").trim().chars().take(DISCARD_REASON_CHARS).collect();
    let typed = Typed { reason: reason.clone(), ..Typed::default() };
    let who = (&visitor, &browser);
    let discarded = act_by_link(&web, who, &token, move |tx, app, token, opened_by| {
        tx.wake(Queue::Pages);
        approve_by_mail::discard(tx, app, token, opened_by, (revision, &reason))
    });
    match discarded.await {
        Ok(()) => see_other(&format!("/approve/{token}")),
        Err(refusal) => match problem(refusal) {
            Ok(error) => respond(&web, who, &token, Typed { error, ..typed }).await,
            Err(refusal) => gone_page(refusal),
        },
    }
}

/// The sentence of what can be mended on the page; anything else is a page of its own.
fn problem(refusal: PageError) -> Result<String, PageError> {
    match refusal {
        PageError::Domain(Error::Unauthorized) => {
            Ok(t!("This was not done: ask for a code, or sign in, and decide again.").into())
        }
        // The page says what has become of it.
        PageError::Domain(Error::Conflict(_)) => Ok(String::new()),
        PageError::Domain(Error::Forbidden(sentence)) => Ok(sentence),
        PageError::Domain(Error::Invalid(problems)) => Ok(sentence_of(&problems)),
        refusal => Err(refusal),
    }
}

fn sentence_of(problems: &ValidationErrors) -> String {
    match problems.0.first().map(|first| first.field.as_str()) {
        Some("revision") => t!(
            "Somebody changed this draft meanwhile. Read it again; what you typed is still in the \
             field."
        )
        .to_owned(),
        Some("text") => t!("A message has 1 to {n} characters.", n = thousands(REPLY_CHARS)),
        Some("message") => String::new(),
        _ => problems.first_sentence(),
    }
}

fn gone_page(refusal: PageError) -> Response<Body> {
    let (status, title, sentence) = match refusal {
        PageError::Domain(Error::NotFound(_)) => (
            StatusCode::NOT_FOUND,
            t!("This link leads nowhere"),
            t!("There is a newer mail about the draft, or you do not decide about it any more.")
                .into(),
        ),
        PageError::TooManyAttempts => (
            StatusCode::TOO_MANY_REQUESTS,
            t!("Wait a little"),
            t!(
                "Too many links that lead nowhere were opened from here. Wait {minutes} minutes \
                 and open yours again.",
                minutes = SIGN_IN_WAIT_MINUTES
            ),
        ),
        refusal => return refusal.into_response(),
    };
    let next = Some(("/approvals".to_owned(), t!("To approve")));
    html(status, &StatePage { workspace: String::new(), title: title.into(), sentence, next })
}
