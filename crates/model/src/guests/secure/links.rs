//! The page of a secure message for one recipient: its link, the code that opens it, and its lock.
//!
//! Customers read these texts.

use base::actor::{Actor, Circle};
use base::app::{App, Cx};
use base::error::{Error, Result};
use base::ids::{ConversationId, MailboxId, MessageId, UserId, WorkspaceId};
use base::limits::{CODE_MS, DAY_MS, WRONG_CODES_PER_DAY};
use db::Tx;
use translation::t;

use crate::conversations;
use crate::conversations::timeline::{self, TimelineEvent};
use crate::guests::guest_tokens::{GuestToken, GuestTokenHash};
use crate::messages::mail_language;
use crate::people::members::PERSON_SEES;
use crate::people::notices::{self, CustomerNotice, Notice};
use crate::people::one_time_codes::{self, CodeEntry, CodeHolder, CodeRequest};
use crate::times::local_times::LocalTimes;

/// The generation of a first link.
pub(super) const FIRST_GENERATION: i64 = 1;
/// People who are told of a locked page.
const TOLD: i64 = 20;

/// Whether a page can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkState {
    Open,
    /// Its time is over, or it was taken back: the reader is not told which.
    Closed,
    /// Too many wrong codes were entered.
    Locked,
}

/// The page that a link leads to.
#[derive(Clone, Debug)]
pub struct SecureLink {
    pub message: MessageId,
    pub conversation: ConversationId,
    /// The inbox that it is written from.
    pub mailbox: MailboxId,
    /// The only address that its codes go to.
    pub email: String,
    pub state: LinkState,
    pub expires_at: i64,
    pub opened_at: Option<i64>,
    pub asked_at: Option<i64>,
    /// Mailroom at work in the message's circle.
    pub actor: Actor,
    generation: i64,
}

impl SecureLink {
    /// What a code for this page is for.
    pub fn purpose(&self) -> String {
        format!("secure {} {} {}", self.message, self.email, self.generation)
    }

    /// True when a new link can be asked for: once a day.
    pub fn may_ask(&self, now: i64) -> bool {
        self.asked_at.is_none_or(|at| at <= now - DAY_MS)
    }
}

db::row! {
    struct LinkRow from "l" {
        ws: i64,
        message: MessageId,
        conversation: ConversationId,
        email: String,
        generation: i64,
        opened_at: Option<i64>,
        asked_at: Option<i64>,
        locked_at: Option<i64>,
        expires_at: Option<i64> = "s.expires_at",
        revoked_at: Option<i64> = "coalesce(s.revoked_at, l.revoked_at)",
        mailbox: MailboxId = "c.mailbox",
        circle: Circle = "c.circle",
        workspace: WorkspaceId = "w.id",
    }
}

/// The page of a link. One that is unknown and one whose message was stopped give the same error.
pub fn link_at(tx: &mut Tx<'_>, token: &str, now: i64) -> Result<SecureLink> {
    let token = GuestToken::parse(token).ok_or(Error::NotFound("page"))?;
    find(tx, token.hash(), now)
}

/// The workspace of a link, whatever became of its page.
pub fn workspace_of_link(tx: &mut Tx<'_>, token: &str) -> Result<Option<WorkspaceId>> {
    let Some(token) = GuestToken::parse(token) else { return Ok(None) };
    let found: Option<(WorkspaceId,)> = tx.opt(
        "SELECT w.id FROM secure_links l JOIN workspaces w ON w.ws = l.ws WHERE l.token_hash = ?1",
        &[&token.hash()],
    )?;
    Ok(found.map(|(workspace,)| workspace))
}

/// The page of a message for one of its recipients.
pub fn link_of(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    message: &MessageId,
    email: &str,
) -> Result<SecureLink> {
    let found: Option<(i64,)> = tx.opt(
        "SELECT generation FROM secure_links WHERE ws = ?1 AND message = ?2 AND email = ?3",
        &[&cx.actor.ws, message, &email],
    )?;
    let (generation,) = found.ok_or(Error::NotFound("page"))?;
    let token = token(tx, cx, message, email, generation)?;
    find(tx, token.hash(), cx.now)
}

fn find(tx: &mut Tx<'_>, token: GuestTokenHash, now: i64) -> Result<SecureLink> {
    let found: Option<LinkRow> = tx.opt(
        &format!(
            "SELECT {} FROM secure_links l
             JOIN secure_messages s ON s.ws = l.ws AND s.message = l.message
             JOIN messages m ON m.ws = l.ws AND m.id = l.message
             JOIN conversations c ON c.ws = l.ws AND c.id = l.conversation
             JOIN workspaces w ON w.ws = l.ws
             WHERE l.token_hash = ?1 AND m.status IN ('sending', 'sent')",
            LinkRow::COLUMNS
        ),
        &[&token],
    )?;
    let row = found.ok_or(Error::NotFound("page"))?;
    let expires_at = row.expires_at.unwrap_or(i64::MIN);
    let state = if row.revoked_at.is_some() || expires_at <= now {
        LinkState::Closed
    } else if row.locked_at.is_some_and(|at| at > now - DAY_MS) {
        LinkState::Locked
    } else {
        LinkState::Open
    };
    Ok(SecureLink {
        message: row.message,
        conversation: row.conversation,
        mailbox: row.mailbox,
        email: row.email,
        state,
        expires_at,
        opened_at: row.opened_at,
        asked_at: row.asked_at,
        actor: Actor::for_guest(tx, row.ws, row.workspace, row.circle)?,
        generation: row.generation,
    })
}

/// The address of a recipient's page; `None` if they have none.
pub fn address(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    message: &MessageId,
    email: &str,
) -> Result<Option<String>> {
    let found: Option<(i64,)> = tx.opt(
        "SELECT generation FROM secure_links WHERE ws = ?1 AND message = ?2 AND email = ?3",
        &[&cx.actor.ws, message, &email],
    )?;
    let Some((generation,)) = found else { return Ok(None) };
    let token = token(tx, cx, message, email, generation)?;
    Ok(Some(format!("{}/s/{}", cx.public_url, token.as_str())))
}

pub(super) fn token(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    message: &MessageId,
    email: &str,
    generation: i64,
) -> Result<GuestToken> {
    GuestToken::derive(tx, cx, &format!("secure {message} {generation} {email}"))
}

/// The recipients of a message who have not opened its page.
pub fn recipients_left(tx: &mut Tx<'_>, ws: i64, message: &MessageId) -> Result<Vec<String>> {
    let left: Vec<(String,)> = tx.all(
        "SELECT email FROM secure_links
         WHERE ws = ?1 AND message = ?2 AND opened_at IS NULL AND revoked_at IS NULL
         ORDER BY email",
        &[&ws, message],
    )?;
    Ok(left.into_iter().map(|(email,)| email).collect())
}

/// Mails a code to the address that the message went to. A page that is closed answers in the same
/// way and mails nothing. The answer is when the next code can be asked for, if there were enough.
pub async fn request_code(
    app: &App,
    token: &str,
    browser: GuestTokenHash,
    place: &str,
) -> Result<Option<i64>> {
    let (app, token, place) = (app.clone(), token.to_owned(), place.to_owned());
    let store = app.store.clone();
    store
        .write(move |tx| {
            let link = link_at(tx, &token, app.clock.now())?;
            if link.state != LinkState::Open {
                return Ok(None);
            }
            let cx = app.cx(&link.actor);
            let purpose = link.purpose();
            let holder =
                CodeHolder { purpose: &purpose, email: &link.email, browser, place: &place };
            match one_time_codes::request(tx, &cx, &holder)? {
                CodeRequest::Wait(until) => Ok(Some(until)),
                CodeRequest::Issued(code) => mail_code(tx, &cx, &link, &code).map(|()| None),
            }
        })
        .await
}

/// The code is in no subject, and there is no link beside it.
fn mail_code(tx: &mut Tx<'_>, cx: &Cx<'_>, link: &SecureLink, code: &str) -> Result<()> {
    let conversation = conversations::load(tx, cx.actor, link.conversation.as_str())?;
    let (firm,): (String,) =
        tx.one("SELECT name FROM workspaces WHERE ws = ?1", &[&cx.actor.ws])?;
    let times = LocalTimes::of(tx, cx.actor.ws, &conversation.mailbox)?;
    let until = times.clock(cx.now + CODE_MS);
    let reader = mail_language::of_conversation(tx, cx.actor.ws, &conversation.id)?;
    let (subject, text) = reader.run(|| (subject_of_code(&firm), code_text(code, &until, &firm)));
    let notice = CustomerNotice {
        mailbox: &conversation.mailbox,
        from_name: &firm,
        email: &link.email,
        answers: None,
        conversation: None,
        calendar: None,
        notice: Notice { subject: &subject, text: &text },
    };
    notices::write_to_customer(tx, cx, &conversation.circle, &notice)
}

/// The subject of the mail with a code, which the page names: whoever reads the page in another language
/// finds the mail by it too.
pub fn code_subject(tx: &mut Tx<'_>, link: &SecureLink, firm: &str) -> Result<String> {
    let reader = mail_language::of_conversation(tx, link.actor.ws, &link.conversation)?;
    Ok(reader.run(|| subject_of_code(firm)))
}

fn subject_of_code(firm: &str) -> String {
    t!("Your code for {firm}", firm)
}

fn code_text(code: &str, until: &str, firm: &str) -> String {
    let code = t!("Your code: {code}", code);
    let how = t!(
        "Enter it on the page that you have open. It is valid until {until}, once, and only in that \
         browser.",
        until
    );
    let otherwise = t!(
        "If you did not ask for it, ignore this mail; nothing has been opened or booked. Nobody from \
         {firm} will ever ask you for this code.",
        firm
    );
    format!("{code}\n\n{how}\n\n{otherwise}\n")
}

/// Tries a code. Too many wrong ones in a day lock the page and tell the team.
pub fn enter_code(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    link: &SecureLink,
    (browser, place): (GuestTokenHash, &str),
    typed: &str,
) -> Result<CodeEntry> {
    let purpose = link.purpose();
    let holder = CodeHolder { purpose: &purpose, email: &link.email, browser, place };
    let entry = one_time_codes::enter(tx, cx, &holder, typed)?;
    if matches!(entry, CodeEntry::Wrong { .. })
        && one_time_codes::wrong_today(tx, cx, &purpose)? >= WRONG_CODES_PER_DAY
    {
        lock(tx, cx, link)?;
    }
    Ok(entry)
}

fn lock(tx: &mut Tx<'_>, cx: &Cx<'_>, link: &SecureLink) -> Result<()> {
    let locked = tx.exec(
        "UPDATE secure_links SET locked_at = ?4
         WHERE ws = ?1 AND message = ?2 AND email = ?3
           AND (locked_at IS NULL OR locked_at <= ?5)",
        &[&cx.actor.ws, &link.message, &link.email, &cx.now, &(cx.now - DAY_MS)],
    )?;
    if locked == 0 {
        return Ok(());
    }
    let event =
        TimelineEvent::LinkLocked { message_id: link.message.clone(), email: link.email.clone() };
    timeline::record(tx, cx, &link.conversation, &event)?;
    tell_team(tx, cx, link)
}

/// A word to the conversation's assignee, or to the owners and admins.
fn tell_team(tx: &mut Tx<'_>, cx: &Cx<'_>, link: &SecureLink) -> Result<()> {
    let conversation = conversations::load(tx, cx.actor, link.conversation.as_str())?;
    if conversation.circle.is_sandbox() {
        return Ok(());
    }
    let assignee = conversation.assignee.as_ref().and_then(|id| UserId::parse(id.as_str()));
    let told: Vec<UserId> = match assignee.or_else(|| conversation.circle.person()) {
        Some(person) => vec![person],
        None => {
            let all: Vec<(UserId,)> = tx.all(
                &format!(
                    "SELECT u.id FROM users u
                     WHERE u.ws = ?1 AND u.role IN ('owner', 'admin') AND {PERSON_SEES}
                     ORDER BY u.id LIMIT ?3"
                ),
                &[&cx.actor.ws, &conversation.circle, &TOLD],
            )?;
            all.into_iter().map(|(id,)| id).collect()
        }
    };
    let text = format!(
        "Somebody entered {WRONG_CODES_PER_DAY} wrong codes on the page of a protected message to \
         {}. The page is locked for a day. If it was not the customer, take the message back; you \
         can also send a new link.\n\n{}/conversations/{}\n",
        link.email, cx.public_url, link.conversation
    );
    let notice = Notice { subject: "A protected page was locked", text: &text };
    for person in told {
        notices::notify(tx, cx, &person, &notice)?;
    }
    Ok(())
}
