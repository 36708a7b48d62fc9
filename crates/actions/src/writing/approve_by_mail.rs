//! Approving a draft from a mail: what its page shows to whoever opens the link, and the decision of the person whom
//! the link is bound to. Only a recent sign-in, or a code that was mailed to them, decides.

use base::actor::Actor;
use base::app::{App, Cx};
use base::error::{Error, Result};
use base::limits::RECENT_SIGN_IN_MS;
use db::Tx;
use model::guests::guest_tokens::GuestTokenHash;
use model::installation::audit_log::{self, Action};
use model::mailboxes::inbox_access;
use model::people::one_time_codes::{CodeEntry, SentCode};
use outbound::approval_links::{self, ApprovalLink, DraftDecision};
use outbound::scheduling::{MessageTimes, WriterKind};

use crate::sign_in::provider_rules::LocalSignInPolicy;
use crate::sign_in::second_step::{second_step_of, wants_two_steps};
use crate::sign_in::sessions::{self, TokenHash};
use crate::writing::approvals::{self, Decision};
use crate::writing::drafts::{self, DraftApproval};
use crate::writing::seen::{DecisionOutcome, SeenDraft};

/// Who opens a link, as their request tells.
#[derive(Clone, Copy)]
pub struct LinkVisitor {
    pub browser: GuestTokenHash,
    pub session: Option<TokenHash>,
}

/// How far whoever opens a link has shown who they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkTrust {
    /// They have the link.
    Link,
    /// They entered the code that was mailed to the person.
    Code,
    /// The person is signed in, but has been for long.
    OldSession,
    /// The person signed in of late.
    RecentSession,
}

impl LinkTrust {
    /// True for who may decide.
    pub fn decides(self) -> bool {
        matches!(self, LinkTrust::Code | LinkTrust::RecentSession)
    }

    fn has_session(self) -> bool {
        matches!(self, LinkTrust::OldSession | LinkTrust::RecentSession)
    }
}

/// The page of a link.
pub struct ApprovalPage {
    pub link: ApprovalLink,
    pub trust: LinkTrust,
    pub state: ApprovalPageState,
    /// A code can be mailed to the person: they sign in without a second step.
    pub mails_codes: bool,
    /// The code that this browser may enter.
    pub code: Option<SentCode>,
}

/// What has become of a draft, as the page of its link tells.
pub enum ApprovalPageState {
    Waits(Box<WaitingDraft>),
    /// It waits, but only the app shows it: a protected message, or one of an inbox that not everybody sees.
    InAppOnly,
    /// It waits, but the link works no more.
    RunOut,
    Decided(DraftDecision),
    /// It is no draft any more, and nobody decided about it.
    Gone,
}

/// A draft that waits, as it stands.
pub struct WaitingDraft {
    pub decision: Decision,
    /// It was changed since the mail was written.
    pub was_changed: bool,
    /// When it leaves if it is approved now.
    pub leaves_at: i64,
}

/// What whoever opens a link sees. Nothing is changed.
pub fn look(
    tx: &mut Tx<'_>,
    app: &App,
    token: &str,
    visitor: &LinkVisitor,
    other_ways: LocalSignInPolicy,
) -> Result<ApprovalPage> {
    let now = app.clock.now();
    let link = approval_links::find(tx, token, visitor.browser, now)?;
    let (actor, trust) = reader_of(tx, &link, visitor, now)?;
    let cx = &app.cx(&actor);
    let state = state_of(tx, cx, &link, trust)?;
    let mails_codes = takes_codes(tx, cx, &link, other_ways)?;
    let code = link.code_of(tx, visitor.browser, now)?;
    Ok(ApprovalPage { link, trust, state, mails_codes, code })
}

/// The person of a link as an actor, and how far the visitor has shown to be them.
fn reader_of(
    tx: &mut Tx<'_>,
    link: &ApprovalLink,
    visitor: &LinkVisitor,
    now: i64,
) -> Result<(Actor, LinkTrust)> {
    let signed_in = match visitor.session.map(|session| sessions::signed_in(tx, &session, now)) {
        Some(Ok(me)) if me.actor.ws == link.actor.ws && me.id == link.person => Some(me),
        Some(Err(error)) if !matches!(error, Error::Unauthorized) => return Err(error),
        _ => None,
    };
    if let Some(me) = signed_in {
        let began = sessions::began_at(tx, me.actor.ws, &me.session)?;
        let trust = match (now - began < RECENT_SIGN_IN_MS, link.is_proven) {
            (true, _) => LinkTrust::RecentSession,
            (false, true) => LinkTrust::Code,
            (false, false) => LinkTrust::OldSession,
        };
        return Ok((me.actor, trust));
    }
    let trust = if link.is_proven { LinkTrust::Code } else { LinkTrust::Link };
    Ok((link.actor.clone(), trust))
}

fn state_of(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    link: &ApprovalLink,
    trust: LinkTrust,
) -> Result<ApprovalPageState> {
    if !link.waits {
        return Ok(match link.decision(tx)? {
            Some(decision) => ApprovalPageState::Decided(decision),
            None => ApprovalPageState::Gone,
        });
    }
    if link.has_run_out(cx.now) {
        return Ok(ApprovalPageState::RunOut);
    }
    let decision = match approvals::look_at_draft(tx, cx, &link.message) {
        Ok(decision) => decision,
        Err(Error::NotFound(_)) if !trust.has_session() => return Ok(ApprovalPageState::InAppOnly),
        Err(Error::NotFound(_)) => return Err(Error::NotFound("page")),
        Err(error) => return Err(error),
    };
    if !inbox_access::may_send(tx, cx.actor, &decision.mailbox.id)? {
        return Err(Error::NotFound("page"));
    }
    if decision.draft.secure && !trust.has_session() {
        return Ok(ApprovalPageState::InAppOnly);
    }
    let writer = WriterKind::of(decision.draft.author.as_deref());
    let leaves_at = MessageTimes::default().departure(tx, cx, &decision.conversation, writer)?;
    let was_changed = decision.draft.revision != link.revision;
    Ok(ApprovalPageState::Waits(Box::new(WaitingDraft { decision, was_changed, leaves_at })))
}

/// True where a mailed link would sign the person in: a code is worth no more than that.
fn takes_codes(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    link: &ApprovalLink,
    other_ways: LocalSignInPolicy,
) -> Result<bool> {
    let base::actor::Principal::Person { role, .. } = &link.actor.who else { return Ok(false) };
    Ok(other_ways.let_in(*role)
        && !wants_two_steps(tx, cx)?
        && second_step_of(tx, cx.actor.ws, &link.person)?.since.is_none())
}

/// Mails a code to the person of a link; answers when the next may be asked for, if there were enough. Nothing is
/// mailed where a code opens nothing.
pub fn mail_code(
    tx: &mut Tx<'_>,
    app: &App,
    token: &str,
    (visitor, place): (&LinkVisitor, &str),
    other_ways: LocalSignInPolicy,
) -> Result<Option<i64>> {
    let page = look(tx, app, token, visitor, other_ways)?;
    if !page.mails_codes || !matches!(page.state, ApprovalPageState::Waits(_)) {
        return Ok(None);
    }
    page.link.mail_code(tx, &app.cx(&page.link.actor), (visitor.browser, place))
}

/// Tries a code. With the right one the browser with the cookie `next` may decide for a while.
pub fn enter_code(
    tx: &mut Tx<'_>,
    app: &App,
    token: &str,
    (visitor, next, place): (&LinkVisitor, GuestTokenHash, &str),
    (typed, other_ways): (&str, LocalSignInPolicy),
) -> Result<CodeEntry> {
    let page = look(tx, app, token, visitor, other_ways)?;
    if !page.mails_codes || !matches!(page.state, ApprovalPageState::Waits(_)) {
        return Ok(CodeEntry::RunOut);
    }
    let cx = &app.cx(&page.link.actor);
    page.link.enter_code(tx, cx, (visitor.browser, next, place), typed)
}

/// Runs a decision as the person of a link, with the link's number in the audit log.
fn decide<T>(
    tx: &mut Tx<'_>,
    app: &App,
    token: &str,
    (visitor, action): (&LinkVisitor, Action),
    work: impl FnOnce(&mut Tx<'_>, &Cx<'_>, &ApprovalLink) -> Result<DecisionOutcome<T>>,
) -> Result<DecisionOutcome<T>> {
    let now = app.clock.now();
    let link = approval_links::find(tx, token, visitor.browser, now)?;
    let (actor, trust) = reader_of(tx, &link, visitor, now)?;
    if !trust.decides() {
        return Err(Error::Unauthorized);
    }
    let cx = &app.cx(&actor);
    let ApprovalPageState::Waits(draft) = state_of(tx, cx, &link, trust)? else {
        return Err(Error::Conflict("This draft is decided, or the link has run out.".into()));
    };
    let outcome = work(tx, cx, &link)?;
    if matches!(outcome, DecisionOutcome::Done(_)) {
        let circle = &draft.decision.conversation.circle;
        let number = format!("link {}", link.number);
        audit_log::record(tx, cx, circle, action, link.message.as_str(), &number)?;
    }
    Ok(outcome)
}

/// Approves the draft of a link as it was seen, with these words. Answers when it leaves.
pub fn approve(
    tx: &mut Tx<'_>,
    app: &App,
    token: &str,
    visitor: &LinkVisitor,
    (seen, text): (SeenDraft, Option<&str>),
) -> Result<DecisionOutcome<i64>> {
    decide(tx, app, token, (visitor, Action::DraftApprovedByLink), |tx, cx, link| {
        let approval = DraftApproval { text, ..DraftApproval::default() };
        drafts::approve_draft(tx, cx, &link.message, seen, &approval)
    })
}

/// Discards the draft of a link, with a reason that its writer reads.
pub fn discard(
    tx: &mut Tx<'_>,
    app: &App,
    token: &str,
    visitor: &LinkVisitor,
    (revision, reason): (i64, &str),
) -> Result<()> {
    decide(tx, app, token, (visitor, Action::DraftDiscardedByLink), |tx, cx, link| {
        drafts::discard_draft(tx, cx, &link.message, revision, reason).map(DecisionOutcome::Done)
    })
    .map(drop)
}
