//! Drafts replies to customers' messages, and learns from replies that have left.

use std::sync::Arc;

use base::actor::{Actor, Circle};
use base::app::{App, Cx};
use base::concurrency::blocking::spawn_blocking;
use base::concurrency::future::BoxFuture;
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::ids::MessageId;
use base::states::{Direction, MessageStatus};
use db::Tx;
use drafting::case::{DraftingCase, waiting_case};
use drafting::examples::{self, AnsweredMail, ReplyExample, ReplyLesson};
use drafting::matching::{HelperMatch, filled_answer, find_answers};
use drafting::redaction::Redaction;
use drafting::reply::{AnswerRejection, CheckedDraft, check_answer};
use drafting::request::request_body;
use drafting::writing::{DraftMethod, HelperDraft, write_draft};
use drafting::{budget, findings, promises};
use metrics::counter;
use model::mailboxes::DraftingMode;
use model::messages::answers::{self, KnownAnswer};
use model::messages::drafting_queue;
use model::messages::helper_drafts::DraftSource;
use model::messages::written_text::{TextFormat, WrittenText};
use outbound::messages;
use serde_json::Value;

use super::{ModelReply, ReplyModel};
use crate::runs::concurrency::{FreeSlots, JobSlots};
use crate::runs::failures::{JobRule, send_no_notice, system};
use crate::runs::fair_share::{FairShare, FairShareCursor, fair_share};
use crate::runs::job_rows::{JobRows, job_rows};
use crate::runs::runtime::{BackgroundJob, DueJob, JobRound, JobRuntime, LEASE_MS};

/// Messages that are looked at together, in total and for each workspace.
const IN_FLIGHT: usize = 8;
const IN_FLIGHT_EACH: usize = 2;

const WORKSPACES: FairShare = fair_share!(outward "drafting_jobs", "ws", "due_at");

const ROWS: JobRows = job_rows!(outward "drafting_jobs", "due_at", "message");

/// A message that cannot be looked at gets no draft; nobody misses what was never promised.
pub(super) const RULE: JobRule = ROWS.deleting(Queue::Drafting, send_no_notice);

#[derive(Clone)]
pub(super) struct DraftReplies {
    runtime: JobRuntime,
    model: Option<Arc<dyn ReplyModel>>,
    slots: JobSlots,
    last_workspace: FairShareCursor<i64>,
}

impl BackgroundJob for DraftReplies {
    fn queue(&self) -> Queue {
        Queue::Drafting
    }

    fn earliest(&self) -> &'static str {
        ROWS.earliest
    }

    /// A model is outside; built-in drafts wait with it.
    fn is_outward(&self) -> bool {
        true
    }

    fn slots(&self) -> Option<&JobSlots> {
        Some(&self.slots)
    }

    fn run(&self) -> BoxFuture<'_, Result<JobRound>> {
        Box::pin(self.start_due())
    }
}

/// A message as the queue names it.
enum QueuedMessage {
    /// A customer's, with what a draft is made from; boxed, because it is large.
    Waiting(Box<WaitingMessage>),
    /// A reply of ours that has left; `None` where it answered no mail.
    Reply(Actor, MessageId, Option<Box<ReplyExample>>),
    /// Nothing is to be done about it.
    Settled,
}

struct WaitingMessage {
    actor: Actor,
    case: DraftingCase,
    known: Vec<KnownAnswer>,
    past: Vec<AnsweredMail>,
}

impl DraftReplies {
    pub(super) fn new(runtime: JobRuntime, model: Option<Arc<dyn ReplyModel>>) -> DraftReplies {
        let slots = JobSlots::new(IN_FLIGHT_EACH, IN_FLIGHT);
        DraftReplies { runtime, model, slots, last_workspace: FairShareCursor::default() }
    }

    async fn start_due(&self) -> Result<JobRound> {
        let app = self.runtime.app.clone();
        let (free, last) = (self.slots.free(), self.last_workspace.get());
        if free.all == 0 {
            return Ok(JobRound::without_slots());
        }
        let claim = move |tx: &mut Tx<'_>| claim_due(tx, &app, &free, last);
        let Claims { jobs, last, partial } = self.runtime.app.store.write(claim).await?;
        let partial = self.last_workspace.advance(last, jobs.len(), partial);
        let round = JobRound { claimed: jobs.len(), full: jobs.is_empty(), partial };
        for job in jobs {
            let slot = self.slots.enter(&job.ws.to_string());
            let (this, own) = (self.clone(), job.clone());
            let work = async move { this.look_at(own).await };
            self.runtime.start(&RULE, job, work, slot);
        }
        Ok(round)
    }

    async fn look_at(&self, job: DueJob) -> Result<()> {
        let now = self.runtime.app.clock.now();
        let own = job.clone();
        let found = self.runtime.app.store.read(move |tx| load(tx, &own, now)).await?;
        match found {
            QueuedMessage::Waiting(waiting) => self.draft(*waiting).await,
            QueuedMessage::Reply(actor, message, reply) => {
                let lesson = match reply {
                    Some(reply) => Some(spawn_blocking(move || reply.lesson()).await?),
                    None => None,
                };
                let learn =
                    move |tx: &mut Tx<'_>, cx: &Cx<'_>| learn(tx, cx, &message, lesson.as_ref());
                self.runtime.app.act(&actor, learn).await
            }
            QueuedMessage::Settled => {
                let settle = move |tx: &mut Tx<'_>| {
                    tx.exec(RULE.abandon, &job.args(&[]))?;
                    Ok(())
                };
                self.runtime.app.store.write(settle).await
            }
        }
    }

    async fn draft(&self, waiting: WaitingMessage) -> Result<()> {
        let WaitingMessage { actor, case, known, past } = waiting;
        // Comparing takes a few milliseconds of a core.
        let (case, found) = spawn_blocking(move || {
            let found = find_answers(&case, &known, &past);
            (case, found)
        })
        .await?;
        let by_model = match case.mode {
            DraftingMode::Model => self.ask_model(&actor, &case, &found).await?,
            DraftingMode::Answers | DraftingMode::Off => None,
        };
        let draft = by_model.or_else(|| built_in(&case, &found));
        let method = draft.as_ref().map_or("none", |draft| draft.method.as_str());
        counter!("mailroom_helper_drafts_total", "method" => method).increment(1);
        self.runtime
            .app
            .act(&actor, move |tx, cx| record(tx, cx, &case.message, &found, draft.as_ref()))
            .await
    }

    /// The draft of the model, where one is set up, the budget allows it and its answer passes every
    /// check. Without one the built-in helper's stands.
    async fn ask_model(
        &self,
        actor: &Actor,
        case: &DraftingCase,
        found: &HelperMatch,
    ) -> Result<Option<HelperDraft>> {
        let Some(model) = &self.model else { return Ok(None) };
        // Without knowing how a language promises, no answer in it could pass.
        let is_checkable = case.language.as_deref().is_some_and(promises::knows);
        if found.sources.is_empty() || !is_checkable {
            return Ok(None);
        }
        let (mailbox, message) = (case.mailbox.id.clone(), case.message.clone());
        let take = move |tx: &mut Tx<'_>, cx: &Cx<'_>| {
            budget::take_call(tx, cx.actor.ws, &mailbox, &message, cx.now)
        };
        if !self.runtime.app.act(actor, take).await? {
            return Ok(None);
        }
        let mut redaction = Redaction::new(case.names.clone());
        let request = request_body(model.name(), case, &found.sources, &mut redaction);
        let began = self.runtime.app.clock.now();
        let answered = self.ask_once(model, &request).await;
        let took_ms = self.runtime.app.clock.now() - began;
        let tokens = answered.as_ref().map_or(0, |answer| answer.tokens);
        let checked = answered
            .map_err(AnswerRejection::Failed)
            .and_then(|answer| check_answer(&answer.content, case, &found.sources, &redaction));
        self.note_call(actor, case, tokens, &checked).await?;
        Ok(checked
            .ok()
            .map(|checked| model_draft(model.name(), &found.sources, checked, tokens, took_ms)))
    }

    async fn ask_once(
        &self,
        model: &Arc<dyn ReplyModel>,
        request: &Value,
    ) -> Result<ModelReply, String> {
        let answered = model.ask(request).await;
        if let Err(reason) = &answered {
            tracing::warn!(reason, "drafting model request failed");
        }
        answered
    }

    async fn note_call(
        &self,
        actor: &Actor,
        case: &DraftingCase,
        tokens: i64,
        checked: &Result<CheckedDraft, AnswerRejection>,
    ) -> Result<()> {
        let mailbox = case.mailbox.id.clone();
        let (label, failure) = match checked {
            Ok(_) => ("used", None),
            Err(AnswerRejection::Unusable(reason)) => {
                tracing::debug!(reason, "drafting model answer not used");
                ("refused", None)
            }
            Err(AnswerRejection::Failed(reason)) => ("failed", Some(reason.clone())),
        };
        counter!("mailroom_model_calls_total", "outcome" => label).increment(1);
        let note = move |tx: &mut Tx<'_>, cx: &Cx<'_>| {
            budget::note_call(tx, cx.actor.ws, &mailbox, tokens, failure.as_deref(), cx.now)
        };
        self.runtime.app.act(actor, note).await
    }
}

/// The built-in helper's draft: an answer with its placeholders filled.
fn built_in(case: &DraftingCase, found: &HelperMatch) -> Option<HelperDraft> {
    let (answer, score) = found.draft.as_ref()?;
    let text = filled_answer(case, answer)?;
    Some(HelperDraft {
        written: WrittenText::new(&text, TextFormat::Markdown),
        summary: format!("The team's answer “{}”, as on earlier mail like this.", answer.title),
        sources: vec![DraftSource { answer: answer.id.clone(), title: answer.title.clone() }],
        method: DraftMethod::Answers,
        score: *score,
        model: String::new(),
        tokens: 0,
        took_ms: 0,
    })
}

fn model_draft(
    model: &str,
    sources: &[KnownAnswer],
    checked: CheckedDraft,
    tokens: i64,
    took_ms: i64,
) -> HelperDraft {
    let cited = sources.iter().filter(|source| checked.sources.contains(&source.id));
    let source = |answer: &KnownAnswer| DraftSource {
        answer: answer.id.clone(),
        title: answer.title.clone(),
    };
    HelperDraft {
        sources: cited.map(source).collect(),
        written: WrittenText::new(&checked.text, TextFormat::Plain),
        summary: checked.summary,
        method: DraftMethod::Model,
        score: 0.0,
        model: model.to_owned(),
        tokens,
        took_ms,
    }
}

/// Writes the draft, if the message still waits for one, and what was found beside it.
fn record(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    message: &MessageId,
    found: &HelperMatch,
    draft: Option<&HelperDraft>,
) -> Result<()> {
    if !drafting_queue::finish(tx, cx.actor.ws, message)? {
        return Ok(());
    }
    let Some(case) = waiting_case(tx, cx.actor, message)? else { return Ok(()) };
    findings::keep(tx, cx.actor.ws, &case.conversation.id, message, found)?;
    match draft {
        Some(draft) => write_draft(tx, cx, &case, draft).map(drop),
        None => Ok(()),
    }
}

/// Learns from a reply that has left.
fn learn(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    message: &MessageId,
    lesson: Option<&ReplyLesson>,
) -> Result<()> {
    if !drafting_queue::finish(tx, cx.actor.ws, message)? {
        return Ok(());
    }
    let Some(lesson) = lesson else { return Ok(()) };
    let (_, conversation) = messages::load_outgoing(tx, cx.actor, message)?;
    examples::record(tx, cx, &conversation, lesson)
}

fn load(tx: &mut Tx<'_>, job: &DueJob, now: i64) -> Result<QueuedMessage> {
    let message = MessageId::parse(&job.key[0]).ok_or(Error::NotFound("message"))?;
    let found: Option<(Direction, Option<MessageStatus>, Circle)> = tx.opt(
        "SELECT m.direction, m.status, c.circle FROM messages m
         JOIN conversations c ON c.ws = m.ws AND c.id = m.conversation
         WHERE m.ws = ?1 AND m.id = ?2",
        &[&job.ws, &message],
    )?;
    let Some((direction, status, circle)) = found else { return Ok(QueuedMessage::Settled) };
    let actor = system(tx, job.ws, circle.clone())?;
    match (direction, status) {
        (Direction::Outbound, Some(MessageStatus::Sent)) => {
            let (reply, conversation) = messages::load_outgoing(tx, &actor, &message)?;
            let reply = ReplyExample::load(tx, job.ws, &conversation, &reply, now)?;
            Ok(QueuedMessage::Reply(actor, message, reply.map(Box::new)))
        }
        (Direction::Outbound, _) => Ok(QueuedMessage::Settled),
        (Direction::Inbound, _) => {
            let Some(case) = waiting_case(tx, &actor, &message)? else {
                return Ok(QueuedMessage::Settled);
            };
            let known = answers::in_use_by_software(tx, job.ws, &actor.circles, now)?;
            let past = examples::newest(tx, job.ws, &circle)?;
            Ok(QueuedMessage::Waiting(Box::new(WaitingMessage { actor, case, known, past })))
        }
    }
}

/// The messages taken on, and the workspace that the round ended with.
struct Claims {
    jobs: Vec<DueJob>,
    last: i64,
    /// Further workspaces may have some.
    partial: bool,
}

fn claim_due(tx: &mut Tx<'_>, app: &App, free: &FreeSlots, last: i64) -> Result<Claims> {
    let now = app.clock.now();
    let due = WORKSPACES.due(tx, now, &last)?;
    let mut claims = Claims { jobs: Vec::new(), last: due.end, partial: due.partial };
    for ws in due.owners {
        let left = free.all - claims.jobs.len();
        for id in due_messages(tx, ws, now, free.of(&ws.to_string()).min(left))? {
            tx.exec(
                "UPDATE drafting_jobs SET due_at = ?3 WHERE ws = ?1 AND message = ?2",
                &[&ws, &id, &(now + LEASE_MS)],
            )?;
            claims.jobs.push(DueJob::from((ws, id)));
        }
        if claims.jobs.len() == free.all {
            claims.last = ws;
            break;
        }
    }
    Ok(claims)
}

/// The messages of a workspace that are due, those that another process holds left alone.
fn due_messages(tx: &mut Tx<'_>, ws: i64, now: i64, most: usize) -> Result<Vec<String>> {
    let lock = tx.pick("", " FOR UPDATE SKIP LOCKED");
    let due: Vec<(String,)> = tx.all(
        &format!(
            "SELECT message FROM drafting_jobs
             WHERE ws = ?1 AND due_at <= ?2 ORDER BY due_at, message LIMIT ?3{lock}"
        ),
        &[&ws, &now, &(most as i64)],
    )?;
    Ok(due.into_iter().map(|(id,)| id).collect())
}
