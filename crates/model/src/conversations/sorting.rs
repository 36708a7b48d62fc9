//! Topic and urgency of a conversation: who decides them, and what the helper learns from it.

use base::actor::Circle;
use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::ids::{ConversationId, TopicId};
use base::sorter_models::ExampleKind;
use base::states::Urgency;
use classifier::TextFeatures;
use db::{Json, Tx};

use crate::conversations::sorter_examples::{self, HelperGuess, TaughtDecision};
use crate::conversations::targets;
use crate::conversations::timeline::{self, SortedBy, TimelineEvent};
use crate::conversations::topics::{self, Topic};
use crate::conversations::{self, Conversation, HELPER};
use crate::figures::counters::{self, Counter};
use crate::figures::report_facts::{self, ReportMeasure};
use crate::people::agent_limits::changes::ConversationAct;

/// Who decided where a rule did; the sorting helper does not overwrite it.
const RULE: &str = "rule";

/// The labels of the scam check's examples.
pub const SPAM: &str = "spam";
pub const FINE: &str = "fine";

/// What somebody decided about a conversation.
#[derive(Clone, Debug, Default)]
pub struct SortingDecision {
    /// The topic, or "none of these"; `None` leaves it as it is.
    pub topic: Option<Option<Topic>>,
    pub urgency: Option<Urgency>,
}

/// Sets what a person or agent decided, and learns from it.
pub fn decide(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    decision: &SortingDecision,
) -> Result<()> {
    let Some(member) = cx.actor.member() else {
        return Err(Error::Forbidden("Only a person or an agent sorts by hand.".into()));
    };
    conversations::admit_change(tx, cx, conversation, ConversationAct::Change)?;
    let mut changed = false;
    if let Some(topic) = &decision.topic {
        changed |= decide_topic(tx, cx, conversation, topic.as_ref(), member.as_str())?;
    }
    if let Some(urgency) = decision.urgency {
        changed |= decide_urgency(tx, cx, conversation, urgency, member.as_str())?;
    }
    if changed { record(tx, cx, conversation, SortedBy::of(cx.actor)) } else { Ok(()) }
}

/// True when it was not decided so before.
fn decide_topic(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    topic: Option<&Topic>,
    by: &str,
) -> Result<bool> {
    let id = topic.map(|topic| &topic.id);
    let is_decided = is_by_member(conversation.topic_by.as_deref());
    if is_decided && conversation.topic_id.as_ref() == id {
        return Ok(false);
    }
    let guess = HelperGuess {
        label: conversation.guessed_topic.as_ref().map(ToString::to_string),
        confidence: conversation.guess_confidence,
        given: conversation.topic_by.as_deref() == Some(HELPER),
    };
    put_topic(tx, cx, conversation, topic, Some(by))?;
    let label = id.map_or("", |id| id.as_str());
    learn(tx, cx, conversation, ExampleKind::Topic, label, guess)?;
    Ok(true)
}

fn decide_urgency(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    urgency: Urgency,
    by: &str,
) -> Result<bool> {
    let is_decided = is_by_member(conversation.urgency_by.as_deref());
    if is_decided && conversation.urgency == Some(urgency) {
        return Ok(false);
    }
    put_urgency(tx, cx, conversation, Some(urgency), Some(by))?;
    let guess = HelperGuess::default();
    learn(tx, cx, conversation, ExampleKind::Urgency, urgency.as_str(), guess)?;
    Ok(true)
}

/// What the helper makes of a conversation.
#[derive(Clone, Debug, Default)]
pub struct HelperVerdict {
    /// The topic to set, where the helper expects to be right.
    pub topic: Option<Topic>,
    /// The best guess, however sure.
    pub guess: Option<TopicId>,
    pub confidence: f64,
    pub topic_reasons: Vec<String>,
    pub urgency: Option<Urgency>,
    pub urgency_reasons: Vec<String>,
    pub language: Option<&'static str>,
}

/// Sets what the helper found, in one statement: it is done for every mail. What a person or agent
/// decided stays, and so does a topic that the helper gave before, so that conversations do not change
/// their topic with every mail. False when the conversation is not to be sorted for that time any more.
pub fn apply(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    verdict: &HelperVerdict,
    sorts_at: Option<i64>,
) -> Result<bool> {
    let before = (conversation.topic_id.clone(), conversation.urgency);
    let given = verdict.topic.clone().filter(|_| conversation.topic_by.is_none());
    if conversation.topic_by.is_none() {
        conversation.guessed_topic = verdict.guess.clone();
        conversation.guess_confidence = verdict.guess.as_ref().map(|_| verdict.confidence);
        conversation.topic_reasons = Json(verdict.topic_reasons.clone());
    }
    if let Some(topic) = &given {
        conversation.topic_id = Some(topic.id.clone());
        conversation.topic = Some(topic.name.clone());
        conversation.topic_by = Some(HELPER.to_owned());
    }
    if let Some(urgency) = verdict.urgency.filter(|_| !conversation.is_urgency_decided()) {
        conversation.urgency = Some(urgency);
        conversation.urgency_by = Some(HELPER.to_owned());
        conversation.urgency_reasons = Json(verdict.urgency_reasons.clone());
    }
    let written = tx.exec(
        "UPDATE conversations
         SET sorts_at = NULL, topic = ?4, topic_by = ?5, topic_reasons = ?6, guessed_topic = ?7,
             guess_confidence = ?8, urgency = ?9, urgency_by = ?10, urgency_reasons = ?11,
             language = coalesce(?12, language)
         WHERE ws = ?1 AND id = ?2 AND sorts_at = ?3",
        &[
            &cx.actor.ws,
            &conversation.id,
            &sorts_at,
            &conversation.topic_id,
            &conversation.topic_by,
            &conversation.topic_reasons,
            &conversation.guessed_topic,
            &conversation.guess_confidence,
            &conversation.urgency,
            &conversation.urgency_by,
            &conversation.urgency_reasons,
            &verdict.language,
        ],
    )?;
    if written == 0 {
        return Ok(false);
    }
    if let Some(topic) = &given {
        conversations::count_topic(tx, cx, conversation, 1)?;
        report_topic(tx, cx, conversation, 1)?;
        let (circle, given) = (&conversation.circle, Counter::TopicGiven(&topic.id));
        counters::add(tx, cx.actor.ws, circle, given, conversation.id.as_str(), 1)?;
    }
    // A topic is news, and what is urgent or no longer is; all else would fill the timeline.
    let is_high = |urgency: Option<Urgency>| urgency == Some(Urgency::High);
    if before.0 != conversation.topic_id || is_high(before.1) != is_high(conversation.urgency) {
        record(tx, cx, conversation, SortedBy::Helper)?;
    }
    Ok(true)
}

/// Sets what a rule says, unless a person or agent decided. It teaches nothing. False where the rule
/// says nothing, because what it names is gone.
pub fn set_by_rule(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    topic: Option<&Topic>,
    urgency: Option<Urgency>,
) -> Result<bool> {
    let says = topic.is_some() || urgency.is_some();
    let topic = topic.filter(|topic| {
        !is_by_member(conversation.topic_by.as_deref())
            && conversation.topic_id.as_ref() != Some(&topic.id)
    });
    let urgency = urgency.filter(|urgency| {
        !is_by_member(conversation.urgency_by.as_deref()) && conversation.urgency != Some(*urgency)
    });
    if topic.is_none() && urgency.is_none() {
        return Ok(says);
    }
    if topic.is_some() {
        put_topic(tx, cx, conversation, topic, Some(RULE))?;
    }
    if let Some(urgency) = urgency {
        put_urgency(tx, cx, conversation, Some(urgency), Some(RULE))?;
    }
    record(tx, cx, conversation, SortedBy::Rule)?;
    Ok(true)
}

/// True where a person or agent decided, rather than the helper or a rule.
pub fn is_by_member(by: Option<&str>) -> bool {
    by.is_some_and(|by| by != HELPER && by != RULE)
}

/// Learns whether a conversation's mail is spam. The topic stays as it is.
pub fn teach_spam(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    is_spam: bool,
) -> Result<()> {
    let label = if is_spam { SPAM } else { FINE };
    learn(tx, cx, conversation, ExampleKind::Spam, label, HelperGuess::default())
}

/// Has a conversation sorted soon.
pub fn schedule(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: &Conversation) -> Result<()> {
    if conversation.circle.is_sandbox() {
        return Ok(());
    }
    tx.exec_soon(
        "UPDATE conversations SET sorts_at = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &conversation.id, &cx.now],
    )?;
    tx.wake(Queue::Sorting);
    Ok(())
}

/// Takes a conversation that there is nothing to sort of out of the queue. False when newer mail is to
/// be sorted.
pub fn leave_unsorted(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    sorts_at: Option<i64>,
) -> Result<bool> {
    let left = tx.exec(
        "UPDATE conversations SET sorts_at = NULL WHERE ws = ?1 AND id = ?2 AND sorts_at = ?3",
        &[&cx.actor.ws, &conversation.id, &sorts_at],
    )?;
    Ok(left > 0)
}

/// A mail as it is sorted.
#[derive(Clone, Debug)]
pub struct SortedText {
    pub subject: String,
    /// Its writer's own words.
    pub text: String,
    /// When it came.
    pub at: i64,
}

impl SortedText {
    /// Subject and words together, as examples are kept of them.
    pub fn whole(&self) -> String {
        example_text(&self.subject, &self.text)
    }
}

/// The text of a mail as examples are kept of it.
pub fn example_text(subject: &str, text: &str) -> String {
    format!("{subject}\n{text}")
}

/// The mail that a conversation is about: the first that a person of the other side wrote.
pub fn first_mail(tx: &mut Tx<'_>, ws: i64, id: &ConversationId) -> Result<Option<SortedText>> {
    mail_of(tx, ws, id, "ORDER BY at, id")
}

/// The latest mail that a person of the other side wrote.
pub fn latest_mail(tx: &mut Tx<'_>, ws: i64, id: &ConversationId) -> Result<Option<SortedText>> {
    mail_of(tx, ws, id, "ORDER BY at DESC, id DESC")
}

fn mail_of(
    tx: &mut Tx<'_>,
    ws: i64,
    id: &ConversationId,
    order: &str,
) -> Result<Option<SortedText>> {
    let found: Option<(String, String, i64)> = tx.opt(
        &format!(
            "SELECT subject, text, at FROM messages
             WHERE ws = ?1 AND conversation = ?2 AND direction = 'inbound' AND NOT auto_reply
             {order} LIMIT 1"
        ),
        &[&ws, id],
    )?;
    Ok(found.map(|(subject, text, at)| SortedText { subject, text, at }))
}

/// The mail that a decision is about: the first for the topic, else the latest, as the helper reads
/// them.
fn decided_mail(
    tx: &mut Tx<'_>,
    ws: i64,
    id: &ConversationId,
    kind: ExampleKind,
) -> Result<Option<SortedText>> {
    match kind {
        ExampleKind::Topic => first_mail(tx, ws, id),
        ExampleKind::Urgency | ExampleKind::Spam => latest_mail(tx, ws, id),
    }
}

/// Keeps the mail that was decided about.
fn learn(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    kind: ExampleKind,
    label: &str,
    guess: HelperGuess,
) -> Result<()> {
    let Some(mail) = decided_mail(tx, cx.actor.ws, &conversation.id, kind)? else { return Ok(()) };
    let text = mail.whole();
    let (circle, conversation) = (&conversation.circle, &conversation.id);
    let decision = TaughtDecision { circle, kind, conversation, label, text: &text, guess };
    sorter_examples::teach(tx, cx, &decision)
}

/// Keeps examples to mail that their conversation has. Where the mail that was decided about is in
/// another conversation by now, or erased, the decision stands for the mail that is left.
pub fn keep_examples_true(
    tx: &mut Tx<'_>,
    ws: i64,
    circle: &Circle,
    id: &ConversationId,
) -> Result<()> {
    let mut kept = Vec::new();
    for kind in ExampleKind::ALL {
        let features = sorter_examples::kept_features(tx, ws, circle, (*kind, id))?;
        kept.extend(features.map(|features| (*kind, features)));
    }
    if kept.is_empty() {
        return Ok(());
    }
    let left = features_of_mails(tx, ws, id)?;
    for (kind, _) in kept.iter().filter(|(_, features)| !left.contains(features)) {
        let mail = decided_mail(tx, ws, id, *kind)?;
        let features = mail.map(|mail| TextFeatures::of(&mail.whole()));
        sorter_examples::replace(tx, ws, circle, (*kind, id), features.as_ref())?;
    }
    Ok(())
}

/// The mails of a conversation as examples are kept of them.
fn features_of_mails(tx: &mut Tx<'_>, ws: i64, id: &ConversationId) -> Result<Vec<Vec<u8>>> {
    let mails: Vec<(String, String, i64)> = tx.all(
        "SELECT subject, text, at FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND direction = 'inbound' AND NOT auto_reply",
        &[&ws, id],
    )?;
    let features = |(subject, text, at): (String, String, i64)| {
        TextFeatures::of(&SortedText { subject, text, at }.whole()).to_bytes()
    };
    Ok(mails.into_iter().map(features).collect())
}

/// Learns that a conversation is of a topic that was made of its tag. [`sorter_examples::settle`] is
/// called once after the last.
pub fn learn_tagged(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    topic: &Topic,
) -> Result<()> {
    if is_by_member(conversation.topic_by.as_deref()) {
        return Ok(());
    }
    let by = cx.actor.member().map_or_else(|| HELPER.to_owned(), |by| by.as_str().to_owned());
    put_topic(tx, cx, conversation, Some(topic), Some(&by))?;
    let Some(mail) = first_mail(tx, cx.actor.ws, &conversation.id)? else { return Ok(()) };
    let decision = TaughtDecision {
        circle: &conversation.circle,
        kind: ExampleKind::Topic,
        conversation: &conversation.id,
        label: topic.id.as_str(),
        text: &mail.whole(),
        guess: HelperGuess::default(),
    };
    sorter_examples::keep(tx, cx, &decision)
}

/// Writes the topic that somebody chose, and keeps the count of open conversations true.
fn put_topic(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    topic: Option<&Topic>,
    by: Option<&str>,
) -> Result<()> {
    let id = topic.map(|topic| &topic.id);
    tx.exec_soon(
        "UPDATE conversations SET topic = ?3, topic_by = ?4, topic_reasons = '[]'
         WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &conversation.id, &id, &by],
    )?;
    conversations::count_topic(tx, cx, conversation, -1)?;
    report_topic(tx, cx, conversation, -1)?;
    conversation.topic_id = id.cloned();
    conversation.topic = topic.map(|topic| topic.name.clone());
    conversation.topic_by = by.map(str::to_owned);
    report_topic(tx, cx, conversation, 1)?;
    conversations::count_topic(tx, cx, conversation, 1)
}

/// Sets the topic and who decided it as they were before an act. What was learned from the act is
/// forgotten, and what somebody decided before it is learned again.
pub fn put_topic_back(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    topic: Option<&TopicId>,
    by: Option<&str>,
) -> Result<()> {
    let topic = match topic {
        Some(id) => topics::find(tx, cx.actor.ws, id)?,
        None => None,
    };
    put_topic(tx, cx, conversation, topic.as_ref(), by)?;
    let label = topic.as_ref().map_or("", |topic| topic.id.as_str()).to_owned();
    learn_again(tx, cx, conversation, ExampleKind::Topic, by, &label)?;
    record(tx, cx, conversation, SortedBy::of(cx.actor))
}

/// The same for the urgency.
pub fn put_urgency_back(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    urgency: Option<Urgency>,
    by: Option<&str>,
) -> Result<()> {
    put_urgency(tx, cx, conversation, urgency, by)?;
    let label = urgency.map_or("", Urgency::as_str);
    learn_again(tx, cx, conversation, ExampleKind::Urgency, by, label)?;
    record(tx, cx, conversation, SortedBy::of(cx.actor))
}

fn learn_again(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    kind: ExampleKind,
    by: Option<&str>,
    label: &str,
) -> Result<()> {
    match is_by_member(by) {
        true => learn(tx, cx, conversation, kind, label, HelperGuess::default()),
        false => {
            let (circle, id) = (&conversation.circle, &conversation.id);
            sorter_examples::replace(tx, cx.actor.ws, circle, (kind, id), None)
        }
    }
}

/// Counts the conversation with its topic in reports, before or after the topic changes.
fn report_topic(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    change: i64,
) -> Result<()> {
    let Some(topic) = &conversation.topic_id else { return Ok(()) };
    let labelled = (&conversation.report_place(), &conversation.id, conversation.created_at);
    report_facts::count_label(tx, cx, labelled, ReportMeasure::Topic, topic.as_str(), change)
}

fn put_urgency(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    urgency: Option<Urgency>,
    by: Option<&str>,
) -> Result<()> {
    tx.exec_soon(
        "UPDATE conversations SET urgency = ?3, urgency_by = ?4, urgency_reasons = '[]'
         WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &conversation.id, &urgency, &by],
    )?;
    conversation.urgency = urgency;
    conversation.urgency_by = by.map(str::to_owned);
    Ok(())
}

fn record(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: &Conversation, by: SortedBy) -> Result<()> {
    let sorted = TimelineEvent::Sorted {
        topic: conversation.topic.clone(),
        urgency: conversation.urgency,
        by,
    };
    timeline::record(tx, cx, &conversation.id, &sorted)?;
    targets::refresh(tx, cx, &conversation.id)
}
