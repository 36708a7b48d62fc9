//! Finds topic, urgency and language of conversations with new mail, soon after it was acknowledged.

use std::sync::Arc;

use base::actor::Circle;
use base::app::App;
use base::concurrency::future::BoxFuture;
use base::concurrency::low_priority;
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::ids::TopicId;
use base::sorter_models::{ExampleKind, ModelKey};
use base::states::Urgency;
use classifier::{TopicModel, mail_language, urgency_with};
use db::Tx;
use metrics::counter;
use model::conversations;
use model::conversations::sorter_examples;
use model::conversations::sorting::{self, HelperVerdict, SortedText};
use model::conversations::topics::{self, Topic};
use model::times::local_times::LocalTimes;
use tokio::task::JoinSet;
use tracing::Instrument;

use crate::runs::failures::{JobRevival, JobRule, send_no_notice, system};
use crate::runs::job_rows::{JobRows, job_rows};
use crate::runs::runtime::{BackgroundJob, DueJob, JobRound, JobRuntime};

/// Conversations sorted in one round.
const AT_ONCE: i64 = 50;

const ROWS: JobRows = job_rows!("conversations", "sorts_at", "id");

/// A conversation that cannot be sorted stays as it is: people see that it has no topic.
pub(super) const RULE: JobRule = JobRule {
    queue: Queue::Sorting,
    retry_at: Some(ROWS.move_if_due),
    abandon: ROWS.clear,
    revival: JobRevival::Statement(ROWS.move_to),
    report: send_no_notice,
};

pub(super) struct SortConversations {
    pub runtime: JobRuntime,
}

impl BackgroundJob for SortConversations {
    fn queue(&self) -> Queue {
        Queue::Sorting
    }

    fn earliest(&self) -> &'static str {
        ROWS.earliest
    }

    fn run(&self) -> BoxFuture<'_, Result<JobRound>> {
        Box::pin(async {
            let due = self.runtime.due_rows::<(i64, String)>(ROWS.due, AT_ONCE).await?;
            Ok(self.sort_all(due).await.into())
        })
    }
}

impl SortConversations {
    /// One after the other, so that a model is learned once; the outcomes are written together.
    async fn sort_all(&self, due: Vec<DueJob>) -> usize {
        let mut under_way = JoinSet::new();
        for job in due {
            let span = job.span(RULE.queue);
            let judged = self.judge(&job).instrument(span.clone()).await;
            let runtime = self.runtime.clone();
            let done = async move {
                let done = match judged {
                    Ok(judged) => write_down(&runtime.app, job.clone(), judged).await,
                    Err(error) => Err(error),
                };
                match done {
                    Ok(false) => false,
                    done => runtime.settle(&RULE, job, done.map(drop)).await,
                }
            };
            under_way.spawn(done.instrument(span));
        }
        under_way.join_all().await.into_iter().filter(|done| *done).count()
    }

    async fn judge(&self, job: &DueJob) -> Result<JudgedConversation> {
        let own = job.clone();
        let due = self.runtime.app.store.read(move |tx| load(tx, &own)).await?;
        let sorts_at = due.sorts_at;
        let Some(mail) = due.mail else {
            return Ok(JudgedConversation { sorts_at, verdict: None });
        };
        let by_topic = match due.topics.is_empty() {
            true => None,
            false => Some(self.model(job.ws, &due.circle, ExampleKind::Topic).await?),
        };
        let by_urgency = self.model(job.ws, &due.circle, ExampleKind::Urgency).await?;
        let topics = due.topics;
        let verdict = move || verdict(&mail, by_topic.as_deref(), &by_urgency, &topics);
        let verdict = Some(low_priority::compute(verdict).await?);
        Ok(JudgedConversation { sorts_at, verdict })
    }

    /// The model of what was decided by now. A model in memory is used while its revision is the one
    /// of the rows, so no node decides by what was corrected elsewhere.
    async fn model(&self, ws: i64, circle: &Circle, kind: ExampleKind) -> Result<Arc<TopicModel>> {
        let app = &self.runtime.app;
        let key = ModelKey { ws, circle: circle.to_string(), kind };
        let (sorters, own) = (Arc::clone(&app.sorters), key.clone());
        let read = move |tx: &mut Tx<'_>| {
            let revision = sorter_examples::revision(tx, &own)?;
            let found = match sorters.get(&own, revision) {
                Some(model) => Ok(model),
                None => Err(sorter_examples::training_set(tx, &own)?),
            };
            Ok::<_, Error>((revision, found))
        };
        let (revision, found) = app.store.read(read).await?;
        let set = match found {
            Ok(model) => return Ok(model),
            Err(set) => set,
        };
        let examples = set.examples.len();
        let model = Arc::new(low_priority::compute(move || set.learn()).await?);
        app.sorters.put(key, revision, examples, Arc::clone(&model));
        Ok(model)
    }
}

/// A conversation that is due.
struct DueConversation {
    sorts_at: Option<i64>,
    circle: Circle,
    /// The mail to sort; `None` where there is none, or where it is held.
    mail: Option<DueMail>,
    /// None where a topic is set already.
    topics: Vec<Topic>,
}

struct DueMail {
    first: SortedText,
    latest: SortedText,
    /// When the latest came, on the clock of its inbox, which customers mostly share.
    times: LocalTimes,
}

/// A verdict, and the time of the queue that it was made for.
struct JudgedConversation {
    sorts_at: Option<i64>,
    verdict: Option<HelperVerdict>,
}

impl JudgedConversation {
    /// What came of it, for the metrics.
    fn outcome(&self) -> &'static str {
        match &self.verdict {
            Some(HelperVerdict { topic: Some(_), .. }) => "given",
            Some(HelperVerdict { guess: Some(_), .. }) => "suggested",
            _ => "none",
        }
    }
}

fn load(tx: &mut Tx<'_>, job: &DueJob) -> Result<DueConversation> {
    let (ws, id) = (job.ws, &job.key[0]);
    let (circle, sorts_at): (Circle, Option<i64>) =
        tx.one("SELECT circle, sorts_at FROM conversations WHERE ws = ?1 AND id = ?2", &[&ws, id])?;
    let actor = system(tx, ws, circle.clone())?;
    let conversation = conversations::load(tx, &actor, id)?;
    let mut mail = None;
    if !conversation.held && !circle.is_sandbox() {
        let first = sorting::first_mail(tx, ws, &conversation.id)?;
        let latest = sorting::latest_mail(tx, ws, &conversation.id)?;
        let times = LocalTimes::of(tx, ws, &conversation.mailbox)?;
        mail = first.zip(latest).map(|(first, latest)| DueMail { first, latest, times });
    }
    let topics = match conversation.topic_by {
        None => topics::all(tx, ws)?,
        Some(_) => Vec::new(),
    };
    Ok(DueConversation { sorts_at, circle, mail, topics })
}

/// The topic is that of the first mail, urgency and language are those of the latest.
fn verdict(
    mail: &DueMail,
    by_topic: Option<&TopicModel>,
    by_urgency: &TopicModel,
    topics: &[Topic],
) -> HelperVerdict {
    let latest = &mail.latest;
    let today = Some(mail.times.date(latest.at));
    let urgency = urgency_with(&latest.subject, &latest.text, today, by_urgency);
    let sorted = by_topic.map(|model| model.sort(&mail.first.whole())).unwrap_or_default();
    let topic = |id: &Option<String>| {
        let id = id.as_deref()?;
        topics.iter().find(|topic| topic.id.as_str() == id).cloned()
    };
    let guess = topic(&sorted.suggested).filter(|_| sorted.has_words);
    let guess: Option<TopicId> = guess.map(|topic| topic.id);
    HelperVerdict {
        topic: topic(&sorted.topic),
        topic_reasons: if guess.is_some() { sorted.reasons } else { Vec::new() },
        guess,
        confidence: sorted.confidence,
        urgency: Urgency::parse(urgency.level.as_str()),
        urgency_reasons: urgency.reasons,
        language: mail_language(&latest.subject, &latest.text).map(|language| language.as_str()),
    }
}

/// False when newer mail is to be sorted, or another process was faster. Losing this in a power cut
/// only repeats it.
async fn write_down(app: &App, job: DueJob, judged: JudgedConversation) -> Result<bool> {
    let (own, outcome) = (app.clone(), judged.outcome());
    let done = app.store.write_relaxed(move |tx| record(tx, &own, &job, &judged)).await?;
    if done {
        counter!("mailroom_conversations_sorted_total", "topic" => outcome).increment(1);
    }
    Ok(done)
}

fn record(tx: &mut Tx<'_>, app: &App, job: &DueJob, judged: &JudgedConversation) -> Result<bool> {
    let (ws, id) = (job.ws, &job.key[0]);
    let (circle,): (Circle,) =
        tx.one("SELECT circle FROM conversations WHERE ws = ?1 AND id = ?2", &[&ws, id])?;
    let actor = system(tx, ws, circle)?;
    let cx = app.cx(&actor);
    let mut conversation = conversations::load(tx, &actor, id)?;
    let Some(verdict) = judged.verdict.as_ref().filter(|_| !conversation.held) else {
        return sorting::leave_unsorted(tx, &cx, &conversation, judged.sorts_at);
    };
    let done = sorting::apply(tx, &cx, &mut conversation, verdict, judged.sorts_at)?;
    tx.wake(Queue::Pages);
    Ok(done)
}
