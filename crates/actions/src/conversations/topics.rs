//! Topics in the settings: adding, changing and removing them, making them of tags, and what the
//! sorting helper learned about each.

use base::actor::{Actor, Circle, Circles};
use base::app::Cx;
use base::error::{Error, Result};
use base::ids::{ConversationId, TagId, TopicId};
use base::limits::{TAGGED_EXAMPLES, TAGS_MADE_TOPICS};
use base::sorter_models::{ExampleKind, ModelKey};
use classifier::{DECISIONS, GuessOutcome, SorterExample, TopicModel};
use db::Tx;
use model::conversations;
use model::conversations::sorter_examples::{self, GuessCount};
use model::conversations::topics::{self, Topic};
use model::conversations::{sorting, tags};
use model::figures::counters::{self, CounterKind};
use model::installation::audit_log::{self, Action};

/// Adds a topic; owners and admins do.
pub fn add_topic(tx: &mut Tx<'_>, cx: &Cx<'_>, name: &str, words: &str) -> Result<TopicId> {
    cx.actor.must_administer()?;
    let topic = topics::add(tx, cx, name, words)?;
    audit_log::record(tx, cx, &Circle::team(), Action::TopicAdded, &topic.name, "")?;
    Ok(topic.id)
}

pub fn change_topic(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &TopicId,
    name: &str,
    words: &str,
) -> Result<()> {
    cx.actor.must_administer()?;
    let before = topics::by_id(tx, cx.actor.ws, id)?;
    let topic = topics::change(tx, cx, id, name, words)?;
    let renamed = if topic.name == before.name { "" } else { &topic.name };
    audit_log::record(tx, cx, &Circle::team(), Action::TopicChanged, &before.name, renamed)
}

/// Removes a topic and what was learned about it.
pub fn remove_topic(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &TopicId) -> Result<()> {
    cx.actor.must_administer()?;
    let topic = topics::remove(tx, cx, id)?;
    audit_log::record(tx, cx, &Circle::team(), Action::TopicRemoved, &topic.name, "")
}

/// Makes a topic of each tag; the latest conversations of the team with that tag become its examples.
/// Those of private inboxes teach nothing here. Returns how many conversations were learned from.
pub fn make_topics_of_tags(tx: &mut Tx<'_>, cx: &Cx<'_>, tags: &[TagId]) -> Result<usize> {
    cx.actor.must_administer()?;
    if tags.is_empty() || tags.len() > TAGS_MADE_TOPICS {
        let sentence = format!("Choose 1 to {TAGS_MADE_TOPICS} tags.");
        return Err(Error::invalid("tags", sentence));
    }
    let mut learned = 0;
    for tag in tags {
        let tag = tags::seen_by(tx, cx.actor, tag)?.filter(|tag| tag.circle.is_team());
        let tag = tag.ok_or(Error::NotFound("tag"))?;
        let topic = match topics::find_by_name(tx, cx.actor.ws, &tag.name)? {
            Some(topic) => topic,
            None => {
                let topic = topics::add(tx, cx, &tag.name, "")?;
                let team = Circle::team();
                audit_log::record(tx, cx, &team, Action::TopicAdded, &topic.name, "of a tag")?;
                topic
            }
        };
        learned += learn_tagged(tx, cx, &tag.id, &topic)?;
    }
    Ok(learned)
}

fn learn_tagged(tx: &mut Tx<'_>, cx: &Cx<'_>, tag: &TagId, topic: &Topic) -> Result<usize> {
    let tagged: Vec<(ConversationId,)> = tx.all(
        "SELECT t.conversation
         FROM conversation_tags t JOIN conversations c ON c.ws = t.ws AND c.id = t.conversation
         WHERE t.ws = ?1 AND t.tag = ?2 AND c.circle = 'team' AND c.held = FALSE
         ORDER BY t.conversation DESC LIMIT ?3",
        &[&cx.actor.ws, tag, &TAGGED_EXAMPLES],
    )?;
    for (id,) in &tagged {
        let mut conversation = conversations::load(tx, cx.actor, id.as_str())?;
        sorting::learn_tagged(tx, cx, &mut conversation, topic)?;
    }
    let (ws, team, kind) = (cx.actor.ws, Circle::team(), ExampleKind::Topic);
    sorter_examples::settle(tx, ws, &team, kind, topic.id.as_str())?;
    Ok(tagged.len())
}

/// Forgets what was learned about topics and urgency from the team's mail; the topics stay.
pub fn forget_learned(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<()> {
    cx.actor.must_administer()?;
    let team = Circle::team();
    for kind in [ExampleKind::Topic, ExampleKind::Urgency] {
        sorter_examples::forget(tx, cx.actor.ws, &team, kind)?;
    }
    counters::reset(tx, cx.actor.ws, &team, CounterKind::TopicGiven)?;
    audit_log::record(tx, cx, &team, Action::SortingForgotten, "", "")
}

/// What the settings show of sorting.
pub struct SortingReport {
    pub topics: Vec<TopicReport>,
    /// Conversations of the team that people decided about, and how many it takes before a topic is
    /// given rather than suggested.
    pub decided: i64,
    pub needed: i64,
    /// Decisions for "none of these".
    pub none: i64,
    /// Topics that the helper gave, and how many of those somebody changed.
    pub given: i64,
    pub corrected: i64,
    /// Decisions about urgency, and about spam.
    pub urgencies: i64,
    pub spam: i64,
}

/// How a topic fares in the team's mail.
pub struct TopicReport {
    pub topic: Topic,
    pub examples: i64,
    pub given: i64,
    pub corrected: i64,
    /// What people said most often instead of this topic, and how often; `None` is no topic.
    pub confused: Option<(Option<String>, i64)>,
    pub open: i64,
}

pub fn sorting_report(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<SortingReport> {
    let (ws, team) = (cx.actor.ws, Circle::team());
    let counts = sorter_examples::guess_counts(tx, ws, &team, ExampleKind::Topic)?;
    let of_team = Actor { circles: Circles::only(team.clone()), ..cx.actor.clone() };
    let given = counters::of_kind(tx, &of_team, CounterKind::TopicGiven)?;
    let open = counters::of_kind(tx, cx.actor, CounterKind::OpenOfTopic)?;
    let all = topics::all(tx, ws)?;
    let count = |fits: &dyn Fn(&GuessCount) -> bool| -> i64 {
        counts.iter().filter(|one| fits(one)).map(|one| one.count).sum()
    };
    let reports = all.iter().map(|topic| {
        let id = topic.id.as_str();
        TopicReport {
            topic: topic.clone(),
            examples: count(&|one| one.label == id),
            given: given.get(id).copied().unwrap_or(0),
            corrected: count(&|one| {
                one.given && one.guess.as_deref() == Some(id) && one.label != id
            }),
            confused: most_confused_with(&counts, &all, id),
            open: open.get(id).copied().unwrap_or(0),
        }
    });
    let topics: Vec<TopicReport> = reports.collect();
    let sum = |tx: &mut Tx<'_>, kind| -> Result<i64> {
        let counts = sorter_examples::guess_counts(tx, ws, &team, kind)?;
        Ok(counts.iter().map(|one| one.count).sum())
    };
    Ok(SortingReport {
        decided: count(&|_| true),
        needed: DECISIONS as i64,
        none: count(&|one| one.label.is_empty()),
        given: topics.iter().map(|report| report.given).sum(),
        corrected: topics.iter().map(|report| report.corrected).sum(),
        topics,
        urgencies: sum(tx, ExampleKind::Urgency)?,
        spam: sum(tx, ExampleKind::Spam)?,
    })
}

/// What was decided most often where the helper thought of this topic, and it was not.
fn most_confused_with(
    counts: &[GuessCount],
    all: &[Topic],
    id: &str,
) -> Option<(Option<String>, i64)> {
    let name = |label: &str| {
        let known = all.iter().find(|topic| topic.id.as_str() == label);
        if label.is_empty() { Some(None) } else { known.map(|topic| Some(topic.name.clone())) }
    };
    let mut mistaken: Vec<(Option<String>, i64)> = Vec::new();
    for one in counts.iter().filter(|one| one.guess.as_deref() == Some(id) && one.label != id) {
        let Some(name) = name(&one.label) else { continue };
        match mistaken.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += one.count,
            None => mistaken.push((name, one.count)),
        }
    }
    mistaken.into_iter().max_by_key(|(_, count)| *count)
}

/// What came of replaying decided conversations in their order.
#[derive(Default)]
pub struct ReplayScore {
    pub decided: usize,
    /// Those that a model of the decisions before them would have given a topic, and how many of
    /// those rightly.
    pub given: usize,
    pub right: usize,
    /// Those whose best guess was right, of those with a topic.
    pub with_topic: usize,
    pub guessed: usize,
    pub topics: Vec<TopicScore>,
}

#[derive(Default)]
pub struct TopicScore {
    pub name: String,
    pub examples: usize,
    pub given: usize,
    pub right: usize,
}

/// What the team decided, ready to be replayed.
pub struct DecidedMail {
    topics: Vec<Topic>,
    examples: Vec<SorterExample>,
}

pub fn decided_mail(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<DecidedMail> {
    let circle = Circle::team().to_string();
    let key = ModelKey { ws: cx.actor.ws, circle, kind: ExampleKind::Topic };
    let examples = sorter_examples::training_set(tx, &key)?.examples;
    Ok(DecidedMail { topics: topics::all(tx, cx.actor.ws)?, examples })
}

/// The share of decisions after which the replayed model learns anew, so that a replay ends.
const LEARNS_AFTER: usize = 20;

impl DecidedMail {
    /// Scores each decision by what was learned before it.
    pub fn replay(&self) -> ReplayScore {
        let mut score = ReplayScore::default();
        let name = |topic: &Topic| TopicScore { name: topic.name.clone(), ..TopicScore::default() };
        score.topics = self.topics.iter().map(name).collect();
        let first = self.examples.iter().filter(|one| !one.decided).count();
        let mut decisions: Vec<GuessOutcome> = Vec::new();
        let mut model = TopicModel::learn(&self.examples[..first]);
        let mut learned = first;
        for (at, example) in self.examples.iter().enumerate().skip(first) {
            if at >= learned + 1 + learned / LEARNS_AFTER {
                model = TopicModel::learn(&self.examples[..at]).with_decisions(&decisions);
                learned = at;
            }
            let sorted = model.sort_kept(&example.features);
            if sorted.suggested.is_some() {
                let right = sorted.suggested == example.topic;
                decisions.push(GuessOutcome { confidence: sorted.confidence, right });
            }
            self.count(&mut score, example, &sorted);
        }
        score
    }

    fn count(
        &self,
        score: &mut ReplayScore,
        example: &SorterExample,
        sorted: &classifier::SortedMail,
    ) {
        let place = |id: &Option<String>| {
            self.topics.iter().position(|topic| Some(topic.id.as_str()) == id.as_deref())
        };
        let right = sorted.topic.is_some() && sorted.topic == example.topic;
        score.decided += 1;
        score.with_topic += usize::from(example.topic.is_some());
        score.guessed += usize::from(example.topic.is_some() && sorted.suggested == example.topic);
        score.given += usize::from(sorted.topic.is_some());
        score.right += usize::from(right);
        if let Some(place) = place(&example.topic) {
            score.topics[place].examples += 1;
        }
        if let Some(place) = place(&sorted.topic) {
            score.topics[place].given += 1;
            score.topics[place].right += usize::from(right);
        }
    }
}
