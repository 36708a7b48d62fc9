//! The link in a mail by which one person decides about one draft: what it is bound to, how long it works, and the
//! browser that has proven who reads it. A link alone decides nothing.

use base::actor::{Actor, Circle, Circles, Principal, Role};
use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::ids::{ConversationId, MessageId, UserId, WorkspaceId};
use base::limits::{APPROVAL_LINK_KEPT_MS, APPROVAL_LINK_MS, APPROVAL_PROVEN_MS, CODE_MS};
use base::states::MessageStatus;
use base::workspaces::resting;
use db::{Json, Tx};
use model::conversations::timeline::{StoredTimelineEvent, TimelineEvent};
use model::guests::guest_tokens::{GuestToken, GuestTokenHash};
use model::messages::mail_language;
use model::people::notices::{self, Notice};
use model::people::one_time_codes::{self, CodeEntry, CodeHolder, CodeRequest, SentCode};
use serde_json::{Map, Value};
use translation::t;

/// Characters of the number by which the audit log names a link.
const NUMBER_CHARS: usize = 8;
/// Decisions of a conversation among which that about a draft is looked for; the latest.
const DECISIONS_READ: i64 = 50;

/// Makes the link of a person to a draft as it stands now, instead of the one before. Answers its address and until
/// when it works.
pub fn make(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    person: &UserId,
    (message, revision): (&MessageId, i64),
) -> Result<(String, i64)> {
    let ws = cx.actor.ws;
    tx.exec(
        "DELETE FROM approval_links WHERE ws = ?1 AND person = ?2 AND expires_at < ?3",
        &[&ws, person, &(cx.now - APPROVAL_LINK_KEPT_MS)],
    )?;
    let token = GuestToken::derive(tx, cx, &format!("approval {message} {person} {}", cx.now))?;
    let expires_at = cx.now + APPROVAL_LINK_MS;
    tx.exec(
        "INSERT INTO approval_links (
            ws, message, person, number, token_hash, revision, created_at, expires_at
         ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
         ON CONFLICT (ws, message, person) DO UPDATE
         SET number = excluded.number, token_hash = excluded.token_hash,
             revision = excluded.revision, created_at = excluded.created_at,
             expires_at = excluded.expires_at, browser = NULL, proven_at = NULL",
        &[
            &ws,
            message,
            person,
            &cx.ids.token(NUMBER_CHARS),
            &token.hash(),
            &revision,
            &cx.now,
            &expires_at,
        ],
    )?;
    Ok((format!("{}/approve/{}", cx.public_url, token.as_str()), expires_at))
}

db::row! {
    struct ApprovalLinkRow from "l" {
        ws: i64,
        message: MessageId,
        conversation: ConversationId = "m.conversation",
        person: UserId,
        number: String,
        revision: i64,
        created_at: i64,
        expires_at: i64,
        is_proven: bool = "coalesce(l.browser = ?2 AND l.proven_at > ?3, FALSE)",
        status: Option<MessageStatus> = "m.status",
        is_discarded: bool = "m.discarded_at IS NOT NULL",
        leaves_at: Option<i64> = "CASE WHEN m.status = 'scheduled' THEN m.sends_at END",
        name: String = "u.name",
        email: EmailAddress = "u.email",
        role: Role = "u.role",
        workspace: WorkspaceId = "w.id",
        workspace_name: String = "w.name",
    }
}

/// A link as somebody opens it.
#[derive(Clone, Debug)]
pub struct ApprovalLink {
    /// The person, as far as the link alone tells: they see what the whole team sees.
    pub actor: Actor,
    pub person: UserId,
    pub email: EmailAddress,
    pub workspace_name: String,
    pub message: MessageId,
    pub conversation: ConversationId,
    /// What the audit log calls it.
    pub number: String,
    /// The draft's revision when the mail was written.
    pub revision: i64,
    pub created_at: i64,
    pub expires_at: i64,
    /// This browser has entered the mailed code a while ago.
    pub is_proven: bool,
    /// True while the message is a draft that waits.
    pub waits: bool,
    /// When it leaves, while it can still be stopped.
    pub leaves_at: Option<i64>,
}

/// The link with a token, for a browser. Unknown links, replaced ones, and those of people who were removed give the
/// same error.
pub fn find(
    tx: &mut Tx<'_>,
    token: &str,
    browser: GuestTokenHash,
    now: i64,
) -> Result<ApprovalLink> {
    let token = GuestToken::parse(token).ok_or(Error::NotFound("page"))?;
    let found: Option<ApprovalLinkRow> = tx.opt(
        &format!(
            "SELECT {} FROM approval_links l
             JOIN messages m ON m.ws = l.ws AND m.id = l.message
             JOIN users u ON u.ws = l.ws AND u.id = l.person
             JOIN workspaces w ON w.ws = l.ws
             WHERE l.token_hash = ?1",
            ApprovalLinkRow::COLUMNS
        ),
        &[&token.hash(), &browser, &(now - APPROVAL_PROVEN_MS)],
    )?;
    let row = found.ok_or(Error::NotFound("page"))?;
    resting::must_be_open(tx, row.ws)?;
    let who = Principal::Person { id: row.person.clone(), name: row.name, role: row.role };
    let circles = Circles::only(Circle::team());
    Ok(ApprovalLink {
        actor: Actor { ws: row.ws, workspace: row.workspace, who, circles },
        waits: row.status == Some(MessageStatus::Draft) && !row.is_discarded,
        leaves_at: row.leaves_at,
        person: row.person,
        email: row.email,
        workspace_name: row.workspace_name,
        message: row.message,
        conversation: row.conversation,
        number: row.number,
        revision: row.revision,
        created_at: row.created_at,
        expires_at: row.expires_at,
        is_proven: row.is_proven,
    })
}

/// The workspace of a link, whatever became of its draft.
pub fn workspace_of_link(tx: &mut Tx<'_>, token: &str) -> Result<Option<WorkspaceId>> {
    let Some(token) = GuestToken::parse(token) else { return Ok(None) };
    let found: Option<(WorkspaceId,)> = tx.opt(
        "SELECT w.id FROM approval_links l JOIN workspaces w ON w.ws = l.ws WHERE l.token_hash = ?1",
        &[&token.hash()],
    )?;
    Ok(found.map(|(workspace,)| workspace))
}

impl ApprovalLink {
    pub fn has_run_out(&self, now: i64) -> bool {
        self.expires_at <= now
    }

    /// What its codes open.
    pub fn purpose(&self) -> String {
        format!("approval {} {}", self.message, self.person)
    }

    /// The code that a browser may enter, while it counts.
    pub fn code_of(
        &self,
        tx: &mut Tx<'_>,
        browser: GuestTokenHash,
        now: i64,
    ) -> Result<Option<SentCode>> {
        let sent = one_time_codes::find_sent(tx, self.actor.ws, &self.purpose(), browser)?;
        Ok(sent.filter(|code| code.expires_at > now && code.tries_left > 0))
    }

    /// Mails a code to the person; answers when the next may be asked for, if there were enough.
    pub fn mail_code(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx<'_>,
        (browser, place): (GuestTokenHash, &str),
    ) -> Result<Option<i64>> {
        let purpose = self.purpose();
        let holder = CodeHolder { purpose: &purpose, email: self.email.as_str(), browser, place };
        let code = match one_time_codes::request(tx, cx, &holder)? {
            CodeRequest::Wait(until) => return Ok(Some(until)),
            CodeRequest::Issued(code) => code,
        };
        let firm = &self.workspace_name;
        let reader = mail_language::of_person(tx, cx.actor.ws, &self.person)?;
        let (subject, text) = reader.run(|| (t!("Your code for {firm}", firm), code_text(&code)));
        notices::notify(tx, cx, &self.person, &Notice { subject: &subject, text: &text })?;
        Ok(None)
    }

    /// Tries a code. With the right one the browser with this new cookie may decide for a while, also about the
    /// person's other drafts that it has proven before.
    pub fn enter_code(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx<'_>,
        (browser, next, place): (GuestTokenHash, GuestTokenHash, &str),
        typed: &str,
    ) -> Result<CodeEntry> {
        let purpose = self.purpose();
        let holder = CodeHolder { purpose: &purpose, email: self.email.as_str(), browser, place };
        let entry = one_time_codes::enter(tx, cx, &holder, typed)?;
        if entry == CodeEntry::Right {
            tx.exec(
                "UPDATE approval_links SET browser = ?4 WHERE ws = ?1 AND person = ?2 AND browser = ?3",
                &[&cx.actor.ws, &self.person, &browser, &next],
            )?;
            tx.exec(
                "UPDATE approval_links SET browser = ?4, proven_at = ?5
                 WHERE ws = ?1 AND message = ?2 AND person = ?3",
                &[&cx.actor.ws, &self.message, &self.person, &next, &cx.now],
            )?;
        }
        Ok(entry)
    }

    /// How the draft was decided since the mail; `None` while it waits, or where nobody decided.
    pub fn decision(&self, tx: &mut Tx<'_>) -> Result<Option<DraftDecision>> {
        if self.waits {
            return Ok(None);
        }
        let found: Vec<StoredDecision> = tx.all(
            "SELECT actor_name, at, event, data FROM timeline_events
             WHERE ws = ?1 AND conversation = ?2 AND at >= ?3
             ORDER BY at DESC, id DESC LIMIT ?4",
            &[&self.actor.ws, &self.conversation, &self.created_at, &DECISIONS_READ],
        )?;
        Ok(found.into_iter().find_map(|(by, at, event, data)| {
            let StoredTimelineEvent::Known(event) = StoredTimelineEvent::read(&event, &data) else {
                return None;
            };
            let (message, approved) = match event {
                TimelineEvent::Approved { message_id, .. } => (message_id, true),
                TimelineEvent::Discarded { message_id, .. }
                | TimelineEvent::DraftRetired { message_id, .. } => (message_id, false),
                _ => return None,
            };
            (message == self.message).then_some(DraftDecision { by, at, approved })
        }))
    }
}

/// Who did something, when, what it was, and its data.
type StoredDecision = (String, i64, String, Json<Map<String, Value>>);

/// Who decided about a draft, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DraftDecision {
    pub by: String,
    pub at: i64,
    /// False for one that was discarded.
    pub approved: bool,
}

/// There is no link beside the code.
fn code_text(code: &str) -> String {
    let code = t!("Your code: {code}", code);
    let minutes = CODE_MS / 60_000;
    let how = t!(
        "Enter it on the page of the draft that you have open. It is valid for {minutes} minutes, once, and only \
         in that browser.",
        minutes
    );
    let otherwise = t!("If you did not ask for it, ignore this mail; nothing has been approved.");
    format!("{code}\n\n{how}\n\n{otherwise}\n")
}
