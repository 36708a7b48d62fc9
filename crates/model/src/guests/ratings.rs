//! How a customer found a conversation: the page on which they say it, and what they said. The link is
//! the permission. Opening the page records nothing, because programs that scan mail open links too.
//!
//! Customers read these texts.

use base::actor::{Actor, Circle};
use base::app::Cx;
use base::concurrency::queue::Queue;
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::ids::{ConversationId, MailboxId, MemberId, MessageId, WorkspaceId};
use base::limits::{
    SATISFACTION_CHANGE_MS, SATISFACTION_CHANGES, SATISFACTION_COMMENT_CHARS,
    SATISFACTION_NOT_GOOD, SATISFACTION_OPEN_MS, SATISFACTION_PERSON_MS, thousands,
};
use base::states::Status;
use db::Tx;

use crate::branding::{self, Branding};
use crate::conversations::timeline::{self, TimelineEvent};
use crate::conversations::{self, Conversation};
use crate::figures::report_facts::{self, ReportMeasure, ReportPlace};
use crate::guests::answerer::Answerer;
use crate::guests::guest_tokens::{GuestToken, GuestTokenHash};
use crate::guests::satisfaction::SatisfactionMode;
use crate::people::notifications::facts::{self, NoticeKind};
use crate::webhooks::events::{self, SatisfactionRated};

/// A question that goes out with a mail.
pub struct NewQuestion {
    pub mode: SatisfactionMode,
    pub email: EmailAddress,
    token: GuestToken,
}

impl NewQuestion {
    /// The question about a conversation, with a link of its own.
    pub fn prepare(
        tx: &mut Tx<'_>,
        cx: &Cx<'_>,
        conversation: &Conversation,
        mode: SatisfactionMode,
    ) -> Result<NewQuestion> {
        let purpose = format!("rating {} {}", conversation.id, cx.now);
        let token = GuestToken::derive(tx, cx, &purpose)?;
        Ok(NewQuestion { mode, email: conversation.contact_email.clone(), token })
    }

    /// The address of its page.
    pub fn link(&self, cx: &Cx<'_>) -> String {
        format!("{}/r/{}", cx.public_url, self.token.as_str())
    }

    /// Opens the page of a question that was written as this mail.
    pub fn open(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx<'_>,
        conversation: &Conversation,
        message: &MessageId,
    ) -> Result<()> {
        tx.exec(
            "INSERT INTO ratings (ws, message, conversation, email, mode, token_hash, asked_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            &[
                &cx.actor.ws,
                message,
                &conversation.id,
                &self.email,
                &self.mode,
                &self.token.hash(),
                &cx.now,
            ],
        )?;
        let measure = ReportMeasure::SatisfactionAsked;
        report_facts::count(tx, cx, &conversation.report_place(), measure, "", cx.now, 1)
    }
}

/// True once the customer of a conversation was asked about it.
pub fn is_asked(tx: &mut Tx<'_>, ws: i64, conversation: &ConversationId) -> Result<bool> {
    let found: Option<(MessageId,)> = tx.opt(
        "SELECT message FROM ratings WHERE ws = ?1 AND conversation = ?2 LIMIT 1",
        &[&ws, conversation],
    )?;
    Ok(found.is_some())
}

/// True for somebody who was asked lately, about whatever.
pub fn is_asked_lately(tx: &mut Tx<'_>, cx: &Cx<'_>, email: &EmailAddress) -> Result<bool> {
    let found: Option<(MessageId,)> = tx.opt(
        "SELECT message FROM ratings WHERE ws = ?1 AND email = ?2 AND asked_at > ?3 LIMIT 1",
        &[&cx.actor.ws, email, &(cx.now - SATISFACTION_PERSON_MS)],
    )?;
    Ok(found.is_some())
}

/// Whoever was not content need not write a second time: the conversation is the team's turn again.
fn reopen(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: &mut Conversation) -> Result<()> {
    let is_over = conversation.status == Status::Closed
        && conversation.removed.is_none()
        && !conversation.held;
    if !is_over {
        return Ok(());
    }
    conversations::set_status(tx, cx, conversation, Status::Open)?;
    match &conversation.assignee {
        Some(MemberId::User(person)) => {
            facts::note(tx, cx, conversation.notice_place(), NoticeKind::Reply, person)
        }
        _ => Ok(()),
    }
}

/// True for an address whose owner does not want to be asked.
pub fn is_opted_out(tx: &mut Tx<'_>, cx: &Cx<'_>, email: &EmailAddress) -> Result<bool> {
    let hash = hash_of(tx, cx, email)?;
    let found: Option<(i64,)> = tx.opt(
        "SELECT created_at FROM rating_optouts WHERE ws = ?1 AND address_hash = ?2",
        &[&cx.actor.ws, &hash],
    )?;
    Ok(found.is_some())
}

fn hash_of(tx: &mut Tx<'_>, cx: &Cx<'_>, email: &EmailAddress) -> Result<GuestTokenHash> {
    let purpose = format!("no questions for {}", email.as_str().to_lowercase());
    Ok(GuestToken::derive(tx, cx, &purpose)?.hash())
}

db::row! {
    struct RatingRow from "r" {
        ws: i64,
        message: MessageId,
        conversation: ConversationId,
        email: EmailAddress,
        mode: SatisfactionMode,
        asked_at: i64,
        score: Option<i64>,
        comment: String,
        rated_at: Option<i64>,
        changes: i64,
        topic: String,
        answered_by: String,
        circle: Circle = "c.circle",
        mailbox: MailboxId = "c.mailbox",
        workspace: WorkspaceId = "w.id",
        workspace_name: String = "w.name",
    }
}

/// The page of a question, as accessed by its link.
#[derive(Clone, Debug)]
pub struct RatingPage {
    /// Mailroom at work in the conversation's circle.
    pub actor: Actor,
    pub mailbox: MailboxId,
    pub workspace: String,
    pub branding: Branding,
    pub mode: SatisfactionMode,
    pub score: Option<i64>,
    pub comment: String,
    message: MessageId,
    conversation: ConversationId,
    circle: Circle,
    email: EmailAddress,
    asked_at: i64,
    rated_at: Option<i64>,
    changes: i64,
    counted: RatingShares,
}

/// What a score is counted by beside its inbox: the topic of the conversation, and who answered it. It stays as it
/// was when the customer answered first.
#[derive(Clone, Debug)]
struct RatingShares {
    topic: String,
    answered_by: String,
}

/// The page of a link. Unknown links and those of what is deleted give the same error.
pub fn page_at(tx: &mut Tx<'_>, token: &str) -> Result<RatingPage> {
    let token = GuestToken::parse(token).ok_or(Error::NotFound("page"))?;
    let found: Option<RatingRow> = tx.opt(
        &format!(
            "SELECT {} FROM ratings r
             JOIN conversations c ON c.ws = r.ws AND c.id = r.conversation
             JOIN workspaces w ON w.ws = r.ws
             WHERE r.token_hash = ?1",
            RatingRow::COLUMNS
        ),
        &[&token.hash()],
    )?;
    let row = found.filter(|row| !row.circle.is_deleted()).ok_or(Error::NotFound("page"))?;
    Ok(RatingPage {
        actor: Actor::for_guest(tx, row.ws, row.workspace, row.circle.clone())?,
        mailbox: row.mailbox,
        workspace: row.workspace_name,
        branding: branding::load(tx, row.ws)?,
        mode: row.mode,
        score: row.score,
        comment: row.comment,
        message: row.message,
        conversation: row.conversation,
        circle: row.circle,
        email: row.email,
        asked_at: row.asked_at,
        rated_at: row.rated_at,
        changes: row.changes,
        counted: RatingShares { topic: row.topic, answered_by: row.answered_by },
    })
}

impl RatingPage {
    /// Until when an answer is taken, or can be changed.
    pub fn open_until(&self) -> i64 {
        match self.rated_at {
            Some(at) => at + SATISFACTION_CHANGE_MS,
            None => self.asked_at + SATISFACTION_OPEN_MS,
        }
    }

    pub fn is_open(&self, now: i64) -> bool {
        now < self.open_until() && self.changes < SATISFACTION_CHANGES
    }

    /// True when whoever was asked wants no such mail any more.
    pub fn is_opted_out(&self, tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<bool> {
        is_opted_out(tx, cx, &self.email)
    }

    /// Takes an answer, or another one instead. The same one once more changes nothing.
    pub fn rate(&self, tx: &mut Tx<'_>, cx: &Cx<'_>, score: i64, comment: &str) -> Result<()> {
        let comment = comment.replace('\0', "");
        let comment = comment.trim();
        if !self.mode.scores().contains(&score) {
            return Err(Error::invalid("score", "Choose one of the answers."));
        }
        if comment.chars().count() > SATISFACTION_COMMENT_CHARS {
            let most = thousands(SATISFACTION_COMMENT_CHARS);
            return Err(Error::invalid(
                "comment",
                format!("A comment has at most {most} characters."),
            ));
        }
        if self.score == Some(score) && self.comment == comment {
            return Ok(());
        }
        let over = || Error::Conflict("Your answer cannot be changed any more.".into());
        if !self.is_open(cx.now) {
            return Err(over());
        }
        let mut conversation = conversations::load(tx, cx.actor, self.conversation.as_str())?;
        let counted = self.shares(tx, cx, &conversation)?;
        let taken = tx.exec(
            "UPDATE ratings SET score = ?3, comment = ?4, rated_at = coalesce(rated_at, ?5),
                 changes = changes + 1, topic = ?7, answered_by = ?8
             WHERE ws = ?1 AND message = ?2 AND changes = ?6",
            &[
                &cx.actor.ws,
                &self.message,
                &score,
                &comment,
                &cx.now,
                &self.changes,
                &counted.topic,
                &counted.answered_by,
            ],
        )?;
        if taken == 0 {
            return Err(over());
        }
        self.count(tx, cx, &counted, score)?;
        let comment = Some(comment).filter(|comment| !comment.is_empty());
        let rated = TimelineEvent::Rated { score, comment: comment.map(str::to_owned) };
        timeline::record(tx, cx, &self.conversation, &rated)?;
        let event = SatisfactionRated { conversation_id: &self.conversation, score, comment };
        events::record(tx, cx, &self.circle, &event)?;
        if score <= SATISFACTION_NOT_GOOD {
            reopen(tx, cx, &mut conversation)?;
        }
        tx.wake(Queue::Pages);
        Ok(())
    }

    fn shares(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx<'_>,
        conversation: &Conversation,
    ) -> Result<RatingShares> {
        if self.rated_at.is_some() {
            return Ok(self.counted.clone());
        }
        let topic = conversation.topic_id.as_ref().map(ToString::to_string).unwrap_or_default();
        let answered_by = Answerer::of(tx, cx.actor.ws, &conversation.id)?.word();
        Ok(RatingShares { topic, answered_by })
    }

    /// Counts a score for reports, on the day of the first answer, instead of the one before.
    fn count(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx<'_>,
        counted: &RatingShares,
        score: i64,
    ) -> Result<()> {
        if self.score == Some(score) {
            return Ok(());
        }
        let place = ReportPlace { circle: &self.circle, mailbox: &self.mailbox };
        let at = self.rated_at.unwrap_or(cx.now);
        for (score, n) in self.score.map(|before| (before, -1)).into_iter().chain([(score, 1)]) {
            for (measure, name) in [
                (ReportMeasure::Rated, score.to_string()),
                (ReportMeasure::RatedTopic, format!("{} {score}", counted.topic)),
                (ReportMeasure::RatedAnswerer, format!("{} {score}", counted.answered_by)),
            ] {
                report_facts::count(tx, cx, &place, measure, &name, at, n)?;
            }
        }
        Ok(())
    }

    /// Whoever was asked is never asked again, whatever the conversation.
    pub fn opt_out(&self, tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<()> {
        let hash = hash_of(tx, cx, &self.email)?;
        tx.exec(
            "INSERT INTO rating_optouts (ws, address_hash, created_at) VALUES (?1, ?2, ?3)
             ON CONFLICT (ws, address_hash) DO NOTHING",
            &[&cx.actor.ws, &hash, &cx.now],
        )?;
        Ok(())
    }
}
