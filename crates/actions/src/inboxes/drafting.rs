//! The drafting helper as people see it: settings of each inbox, what would be sent to a model, what
//! was found for a conversation.

use base::actor::Circles;
use base::app::Cx;
use base::error::{Error, Result};
use base::ids::{AnswerId, ConversationId, MailboxId};
use base::limits::{DAY_MS, MODEL_CALLS_A_DAY, thousands};
use base::workspaces::samples::refuse_in_sample;
use db::Tx;
use drafting::budget::{self, ModelHealth};
use drafting::case::newest_case;
use drafting::examples;
use drafting::findings::{self, SimilarConversation};
use drafting::matching::find_answers;
use drafting::redaction::Redaction;
use drafting::request::request_body;
use model::conversations::{self, Conversation};
use model::guests::secure;
use model::installation::audit_log::{self, Action};
use model::mailboxes::{self, DraftingMode, Mailbox};
use model::messages::answers::{self, KnownAnswer};
use model::messages::draft_outcomes::{self, OutcomeTally};
use model::messages::markdown_values::escape_markdown;
use model::messages::placeholder_values::PlaceholderValues;
use model::messages::placeholders::{fill, first_word};
use serde_json::Value;

use crate::writing::autosaves::{Autosave, AutosaveKey, AutosaveKind, autosave, load_autosave};

/// The latest messages among which one is looked for that shows what would be sent.
const TRIED: i64 = 20;

/// The drafting of one inbox.
#[derive(Clone, Debug)]
pub struct InboxDrafting {
    pub mailbox: Mailbox,
    pub mode: DraftingMode,
    /// When it was paused, because too few drafts were right.
    pub paused_at: Option<i64>,
    pub calls_a_day: i64,
    pub calls_today: i64,
    pub tally: OutcomeTally,
}

/// The drafting of every inbox that the actor may see, and how the model fares.
pub fn list_drafting(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<(Vec<InboxDrafting>, ModelHealth)> {
    let mut listed = Vec::new();
    for mailbox in mailboxes::all_seen_by(tx, cx.actor)? {
        let (mode, paused_at, calls_a_day): (DraftingMode, Option<i64>, i64) = tx.one(
            "SELECT drafting, drafting_paused_at, model_calls_a_day FROM mailboxes
             WHERE ws = ?1 AND id = ?2",
            &[&cx.actor.ws, &mailbox.id],
        )?;
        let today = cx.now.div_euclid(DAY_MS);
        listed.push(InboxDrafting {
            mode,
            paused_at,
            calls_a_day,
            calls_today: budget::calls_on(tx, cx.actor.ws, &mailbox.id, today)?,
            tally: draft_outcomes::tally(tx, cx, &mailbox.id)?,
            mailbox,
        });
    }
    Ok((listed, budget::health(tx, cx.actor.ws)?))
}

/// Switches the drafting of an inbox, which also ends a pause; outcomes count from now on.
pub fn set_drafting(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &MailboxId,
    mode: DraftingMode,
    calls_a_day: i64,
) -> Result<()> {
    cx.actor.must_administer()?;
    let mailbox = mailboxes::seen_by(tx, cx.actor, id)?.ok_or(Error::NotFound("inbox"))?;
    if !(0..=MODEL_CALLS_A_DAY).contains(&calls_a_day) {
        let most = thousands(MODEL_CALLS_A_DAY as usize);
        return Err(Error::invalid("calls", format!("A day has 0 to {most} calls.")));
    }
    if mode == DraftingMode::Model {
        refuse_in_sample(tx, cx.actor.ws)?;
    }
    tx.exec(
        "UPDATE mailboxes
         SET drafting = ?3, model_calls_a_day = ?4, drafting_paused_at = NULL, drafting_since = ?5
         WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, id, &mode, &calls_a_day, &cx.now],
    )?;
    let address = mailbox.address.to_string();
    audit_log::record(tx, cx, &mailbox.circle, Action::DraftingChanged, &address, mode.as_str())
}

/// A request as it would leave for the model, about the newest mail of an inbox that has one.
#[derive(Clone, Debug)]
pub struct RequestPreview {
    pub subject: String,
    pub body: Value,
    /// Values that stay here and are put back afterwards.
    pub hidden: usize,
}

/// What would be sent to a model for an inbox, made from real mail and sent nowhere.
pub fn preview_request(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &MailboxId,
    model: &str,
) -> Result<Option<RequestPreview>> {
    cx.actor.must_administer()?;
    let mailbox = mailboxes::seen_by(tx, cx.actor, id)?.ok_or(Error::NotFound("inbox"))?;
    let newest: Vec<(ConversationId, bool)> = tx.all(
        "SELECT id, held FROM conversations WHERE ws = ?1 AND mailbox = ?2 AND view = 'open'
         ORDER BY last_message_at DESC, id DESC LIMIT ?3",
        &[&cx.actor.ws, id, &TRIED],
    )?;
    let circles = Circles::only(mailbox.circle.clone());
    let known = answers::in_use_by_software(tx, cx.actor.ws, &circles, cx.now)?;
    let past = examples::newest(tx, cx.actor.ws, &mailbox.circle)?;
    let mut first = None;
    for (conversation, _) in newest.into_iter().filter(|(_, held)| !held) {
        let Some(case) = newest_case(tx, cx.actor, &conversation)? else { continue };
        let found = find_answers(&case, &known, &past);
        let mut redaction = Redaction::new(case.names.clone());
        let body = request_body(model, &case, &found.sources, &mut redaction);
        let subject = case.conversation.subject.clone();
        let preview = RequestPreview { subject, body, hidden: redaction.count() };
        if !found.sources.is_empty() {
            return Ok(Some(preview));
        }
        first = first.or(Some(preview));
    }
    Ok(first)
}

/// What the helper found for a conversation.
pub struct HelperFindings {
    /// Answers to choose from.
    pub offers: Vec<KnownAnswer>,
    pub answered_before: Vec<SimilarConversation>,
}

/// The answers that are offered for a conversation.
pub fn offered_answers(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
) -> Result<Vec<KnownAnswer>> {
    findings::offers(tx, cx, conversation)
}

pub fn helper_findings(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: &str) -> Result<HelperFindings> {
    let conversation = conversations::load(tx, cx.actor, conversation)?;
    Ok(HelperFindings {
        offers: findings::offers(tx, cx, &conversation)?,
        answered_before: findings::answered_before(tx, cx, &conversation)?,
    })
}

/// Puts an answer, as it reads in the conversation, into the actor's unsent reply.
pub fn insert_answer(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &str,
    id: &AnswerId,
) -> Result<()> {
    let place = AutosaveKey::find(tx, cx, Some(conversation))?;
    let text = fill_answer(tx, cx, conversation, id)?;
    let unsent = load_autosave(tx, cx, &place)?.filter(|one| one.kind == AutosaveKind::Reply);
    let mut unsent = unsent.unwrap_or_else(|| Autosave::new(AutosaveKind::Reply, String::new()));
    let gap = if unsent.body.trim().is_empty() { "" } else { "\n\n" };
    unsent.body = format!("{}{gap}{text}", unsent.body.trim_end());
    let conversation = conversations::load(tx, cx.actor, conversation)?;
    unsent.secure |= conversation.secure_answer
        || secure::is_always_secure(tx, cx.actor.ws, &conversation.mailbox)?;
    autosave(tx, cx, &place, &unsent)
}

/// An answer as it reads in a conversation, as Markdown.
fn fill_answer(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: &str, id: &AnswerId) -> Result<String> {
    let conversation = conversations::load(tx, cx.actor, conversation)?;
    let known = answers::in_use(tx, cx.actor.ws, &cx.actor.circles, cx.now)?;
    let answer = known.into_iter().find(|answer| answer.id == *id);
    let answer = answer.ok_or(Error::NotFound("answer"))?;
    let inbox = mailboxes::seen_by(tx, cx.actor, &conversation.mailbox)?;
    let inbox = inbox.as_ref().map_or("", |inbox| inbox.name.as_str());
    let values = PlaceholderValues::of(tx, cx.actor.ws, &conversation, inbox)?;
    Ok(fill(&answer.body, |placeholder| {
        let value = match placeholder {
            "my_name" => cx.actor.name().to_owned(),
            "my_first_name" => first_word(cx.actor.name()).to_owned(),
            other => values.value_of(other)?,
        };
        Some(escape_markdown(&value))
    }))
}
