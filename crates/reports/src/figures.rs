//! The figures of a span, read from the counters: their cost does not grow with the mail.

use std::collections::{BTreeMap, HashMap};

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::MailboxId;
use base::time::Moment;
use db::{Arg, Tx};
use model::figures::counters::{self, CounterKind};
use model::figures::report_facts::{HELPER_NAME, ReportMeasure};
use model::figures::report_histogram::{histogram, quantile};
use model::mailboxes;
use schemars::JsonSchema;
use serde::Serialize;

use super::hours::hours;
use super::names::{ReportNames, report_names};
use super::satisfaction::{RatedSums, SatisfactionFigures, satisfaction};
use super::series::{ReportStep, series, sql_words};
use super::span::{PartRows, ReportSpan};

/// The figures of a report. Each `…Before` is that of the span of the same length just before.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Reports")]
pub struct ReportFigures {
    /// The first day.
    pub from: String,
    /// The last day.
    pub to: String,
    /// The time zone of days and hours.
    pub zone: String,
    /// The inbox that was asked for; null for every inbox that you can see.
    pub mailbox: Option<MailboxId>,
    pub days: i64,
    /// Mail that came in; held mail is left out.
    pub received: i64,
    pub received_before: i64,
    /// Mail that left; automatic mail is left out.
    pub sent: i64,
    pub sent_before: i64,
    /// Conversations that began.
    pub begun: i64,
    pub begun_before: i64,
    /// Conversations that were closed.
    pub closed: i64,
    pub closed_before: i64,
    /// From the customer's first mail to the first answer.
    pub first_answer: TimeFigures,
    /// From the beginning, or the last time it was opened again, to closing.
    pub time_to_close: TimeFigures,
    pub targets: TargetFigures,
    pub documents: DocumentFigures,
    /// How customers found closed conversations.
    pub satisfaction: SatisfactionFigures,
    pub waiting: WaitingFigures,
    /// The span in days, weeks or months, in order.
    pub steps: Vec<ReportStep>,
    /// Mail that came in by day of the week, Monday first, and hour of the day.
    pub hours: Vec<Vec<i64>>,
    pub inboxes: Vec<InboxFigures>,
    /// Conversations that began, by topic. The one without an id is "no topic".
    pub topics: Vec<NamedFigures>,
    /// Conversations that began, by tag.
    pub tags: Vec<NamedFigures>,
    /// What people and agents sent and closed.
    pub members: Vec<MemberFigures>,
    /// What became of the drafts of agents and the helper.
    pub drafts: Vec<DraftFigures>,
}

/// Durations in seconds; null where there were none.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TimeFigures {
    pub count: i64,
    pub median: Option<i64>,
    pub median_before: Option<i64>,
    /// Nine of ten took no longer.
    pub p90: Option<i64>,
    pub p90_before: Option<i64>,
}

#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TargetFigures {
    pub kept: i64,
    pub kept_before: i64,
    pub missed: i64,
    pub missed_before: i64,
}

#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentFigures {
    pub asked: i64,
    pub asked_before: i64,
    pub received: i64,
    pub received_before: i64,
}

/// What waits now, whatever the span.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitingFigures {
    /// Open conversations.
    pub open: i64,
    /// When the customer who waits longest wrote.
    pub oldest: Option<Moment>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InboxFigures {
    pub id: MailboxId,
    pub name: String,
    pub received: i64,
    pub received_before: i64,
    pub sent: i64,
    pub sent_before: i64,
}

/// Conversations of a topic or tag.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NamedFigures {
    pub id: Option<String>,
    pub name: String,
    pub conversations: i64,
    pub before: i64,
}

/// What a person or agent did.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemberFigures {
    pub id: String,
    pub name: String,
    pub sent: i64,
    pub closed: i64,
}

/// The drafts of an agent; the helper is the one without an id.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DraftFigures {
    pub id: Option<String>,
    pub name: String,
    pub as_it_was: i64,
    pub edited: i64,
    pub discarded: i64,
}

/// The figures of a span, of one inbox or of all that the actor may see.
pub fn figures(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    span: &ReportSpan,
    mailbox: Option<&MailboxId>,
) -> Result<ReportFigures> {
    if let Some(id) = mailbox {
        mailboxes::seen_by(tx, cx.actor, id)?.ok_or_else(|| {
            Error::invalid(
                "mailbox",
                "is not an inbox that you can see (list_mailboxes lists them)",
            )
        })?;
    }
    let now = Totals::read(tx, cx, span, mailbox)?;
    let hours = hours(tx, cx, (span, mailbox), &now.by_name(ReportMeasure::Received))?;
    Ok(ReportFigures { hours, ..figures_of(tx, cx, (span, mailbox), &now)? })
}

/// The same of all that the actor may see, without the hours.
pub fn figures_without_hours(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    span: &ReportSpan,
) -> Result<ReportFigures> {
    let now = Totals::read(tx, cx, span, None)?;
    figures_of(tx, cx, (span, None), &now)
}

/// The figures of a span whose sums were read, without the hours.
fn figures_of(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    (span, mailbox): (&ReportSpan, Option<&MailboxId>),
    now: &Totals,
) -> Result<ReportFigures> {
    let before = Totals::read(tx, cx, &span.before(), mailbox)?;
    let names = report_names(tx, cx)?;
    let steps = series(tx, cx, span, mailbox)?;
    let sum = |measure| (now.of(measure), before.of(measure));
    let (received, received_before) = sum(ReportMeasure::Received);
    let (sent, sent_before) = sum(ReportMeasure::Sent);
    let (begun, begun_before) = sum(ReportMeasure::Begun);
    let (closed, closed_before) = sum(ReportMeasure::Closed);
    let (kept, kept_before) = sum(ReportMeasure::TargetKept);
    let (missed, missed_before) = sum(ReportMeasure::TargetMissed);
    let (asked, asked_before) = sum(ReportMeasure::DocumentsAsked);
    let (documents, documents_before) = sum(ReportMeasure::DocumentsReceived);
    Ok(ReportFigures {
        from: span.from.to_string(),
        to: span.to.to_string(),
        zone: span.zone_name().to_owned(),
        mailbox: mailbox.cloned(),
        days: span.days(),
        received,
        received_before,
        sent,
        sent_before,
        begun,
        begun_before,
        closed,
        closed_before,
        first_answer: times(now, &before, ReportMeasure::FirstAnswer),
        time_to_close: times(now, &before, ReportMeasure::TimeToClose),
        targets: TargetFigures { kept, kept_before, missed, missed_before },
        documents: DocumentFigures {
            asked,
            asked_before,
            received: documents,
            received_before: documents_before,
        },
        satisfaction: satisfaction(&now.rated_sums(), &before.rated_sums(), &names),
        waiting: waiting(tx, cx, mailbox)?,
        steps,
        hours: Vec::new(),
        inboxes: inboxes(now, &before, &names),
        topics: with_none(
            figures_by_name(now, &before, ReportMeasure::Topic, &names.topics),
            begun,
            begun_before,
        ),
        tags: figures_by_name(now, &before, ReportMeasure::Tagged, &names.tags),
        members: members(now, &names),
        drafts: drafts(now, &names),
    })
}

/// The sums of a span: by measure, inbox and name.
struct Totals(HashMap<ReportMeasure, Vec<(MailboxId, String, i64)>>);

impl Totals {
    fn read(
        tx: &mut Tx<'_>,
        cx: &Cx<'_>,
        span: &ReportSpan,
        mailbox: Option<&MailboxId>,
    ) -> Result<Totals> {
        let (first, second) = cx.actor.circles.pair();
        let only = mailbox.map_or("", |mailbox| mailbox.as_str());
        let mut totals = Totals(HashMap::new());
        for part in span.parts() {
            let PartRows { table, condition, bounds } = part.rows();
            let mut args: Vec<&dyn Arg> = vec![&cx.actor.ws, first, second, &only];
            args.extend(bounds.iter().map(|bound| bound as &dyn Arg));
            let rows: Vec<(ReportMeasure, MailboxId, String, i64)> = tx.all(
                &format!(
                    "SELECT measure, mailbox, name, CAST(sum(n) AS BIGINT) FROM {table}
                     WHERE ws = ?1 AND circle IN (?2, ?3) AND measure IN ({})
                       AND (?4 = '' OR mailbox = ?4) AND {condition}
                     GROUP BY measure, mailbox, name",
                    sql_words(ReportMeasure::NAMES)
                ),
                &args,
            )?;
            for (measure, mailbox, name, n) in rows {
                totals.0.entry(measure).or_default().push((mailbox, name, n));
            }
        }
        Ok(totals)
    }

    fn rows(&self, measure: ReportMeasure) -> impl Iterator<Item = &(MailboxId, String, i64)> {
        self.0.get(&measure).into_iter().flatten()
    }

    fn rated_sums(&self) -> RatedSums<'_> {
        RatedSums {
            asked: self.of(ReportMeasure::SatisfactionAsked),
            rated: self.rows(ReportMeasure::Rated).collect(),
            topics: self.rows(ReportMeasure::RatedTopic).collect(),
            answerers: self.rows(ReportMeasure::RatedAnswerer).collect(),
        }
    }

    fn of(&self, measure: ReportMeasure) -> i64 {
        self.rows(measure).map(|(_, _, n)| n).sum()
    }

    fn by_name(&self, measure: ReportMeasure) -> BTreeMap<&str, i64> {
        let mut sums = BTreeMap::new();
        for (_, name, n) in self.rows(measure) {
            *sums.entry(name.as_str()).or_default() += n;
        }
        sums
    }

    fn by_mailbox(&self, measure: ReportMeasure) -> HashMap<&MailboxId, i64> {
        let mut sums = HashMap::new();
        for (mailbox, _, n) in self.rows(measure) {
            *sums.entry(mailbox).or_default() += n;
        }
        sums
    }
}

fn times(now: &Totals, before: &Totals, measure: ReportMeasure) -> TimeFigures {
    let seconds = |ms: i64| ms / 1_000;
    let of = |totals: &Totals| histogram(totals.by_name(measure).into_iter());
    let (counts, earlier) = (of(now), of(before));
    TimeFigures {
        count: now.of(measure),
        median: quantile(&counts, 0.5).map(seconds),
        median_before: quantile(&earlier, 0.5).map(seconds),
        p90: quantile(&counts, 0.9).map(seconds),
        p90_before: quantile(&earlier, 0.9).map(seconds),
    }
}

fn inboxes(now: &Totals, before: &Totals, names: &ReportNames) -> Vec<InboxFigures> {
    let sums = |totals: &Totals, measure| -> HashMap<String, i64> {
        totals.by_mailbox(measure).into_iter().map(|(id, n)| (id.to_string(), n)).collect()
    };
    let of = |sums: &HashMap<String, i64>, id: &MailboxId| {
        sums.get(id.as_str()).copied().unwrap_or_default()
    };
    let (received, sent) = (sums(now, ReportMeasure::Received), sums(now, ReportMeasure::Sent));
    let earlier = (sums(before, ReportMeasure::Received), sums(before, ReportMeasure::Sent));
    let all = names.inboxes.iter().map(|(id, name)| InboxFigures {
        id: id.clone(),
        name: name.clone(),
        received: of(&received, id),
        received_before: of(&earlier.0, id),
        sent: of(&sent, id),
        sent_before: of(&earlier.1, id),
    });
    all.filter(|inbox| inbox.received + inbox.sent + inbox.received_before + inbox.sent_before > 0)
        .collect()
}

/// Topics or tags that there still are, the most frequent first.
fn figures_by_name(
    now: &Totals,
    before: &Totals,
    measure: ReportMeasure,
    names: &HashMap<String, String>,
) -> Vec<NamedFigures> {
    let (sums, earlier) = (now.by_name(measure), before.by_name(measure));
    let mut all: Vec<NamedFigures> = names
        .iter()
        .map(|(id, name)| NamedFigures {
            id: Some(id.clone()),
            name: name.clone(),
            conversations: sums.get(id.as_str()).copied().unwrap_or(0),
            before: earlier.get(id.as_str()).copied().unwrap_or(0),
        })
        .filter(|one| one.conversations > 0 || one.before > 0)
        .collect();
    all.sort_by(|a, b| b.conversations.cmp(&a.conversations).then_with(|| a.name.cmp(&b.name)));
    all
}

/// Adds the conversations of no topic.
fn with_none(mut topics: Vec<NamedFigures>, begun: i64, before: i64) -> Vec<NamedFigures> {
    let sorted: i64 = topics.iter().map(|topic| topic.conversations).sum();
    let sorted_before: i64 = topics.iter().map(|topic| topic.before).sum();
    topics.push(NamedFigures {
        id: None,
        name: "No topic".into(),
        conversations: (begun - sorted).max(0),
        before: (before - sorted_before).max(0),
    });
    topics
}

fn members(now: &Totals, names: &ReportNames) -> Vec<MemberFigures> {
    let (sent, closed) = (now.by_name(ReportMeasure::Sent), now.by_name(ReportMeasure::Closed));
    let of = |sums: &BTreeMap<&str, i64>, id: &str| sums.get(id).copied().unwrap_or(0);
    let mut all: Vec<MemberFigures> = names
        .members
        .iter()
        .map(|(id, name)| MemberFigures {
            id: id.clone(),
            name: name.clone(),
            sent: of(&sent, id),
            closed: of(&closed, id),
        })
        .filter(|member| member.sent > 0 || member.closed > 0)
        .collect();
    all.sort_by(|a, b| a.name.cmp(&b.name).then_with(|| a.id.cmp(&b.id)));
    all
}

fn drafts(now: &Totals, names: &ReportNames) -> Vec<DraftFigures> {
    let as_it_was = now.by_name(ReportMeasure::DraftAsIs);
    let edited = now.by_name(ReportMeasure::DraftEdited);
    let discarded = now.by_name(ReportMeasure::DraftDiscarded);
    let of = |sums: &BTreeMap<&str, i64>, id: &str| sums.get(id).copied().unwrap_or(0);
    let figures = |id: &str, shown: Option<String>, name: &str| DraftFigures {
        id: shown,
        name: name.to_owned(),
        as_it_was: of(&as_it_was, id),
        edited: of(&edited, id),
        discarded: of(&discarded, id),
    };
    let agents = names.members.iter().map(|(id, name)| figures(id, Some(id.clone()), name));
    let mut all: Vec<DraftFigures> = agents
        .chain([figures(HELPER_NAME, None, "Drafting helper")])
        .filter(|one| one.as_it_was + one.edited + one.discarded > 0)
        .collect();
    all.sort_by(|a, b| a.name.cmp(&b.name).then_with(|| a.id.cmp(&b.id)));
    all
}

fn waiting(tx: &mut Tx<'_>, cx: &Cx<'_>, mailbox: Option<&MailboxId>) -> Result<WaitingFigures> {
    let open = counters::of_kind(tx, cx.actor, CounterKind::Open)?;
    let is_meant = |id: &str| mailbox.is_none_or(|mailbox| mailbox.as_str() == id);
    let open = open.iter().filter(|(id, _)| is_meant(id)).map(|(_, n)| n).sum();
    let mut oldest: Option<i64> = None;
    for circle in cx.actor.circles.distinct() {
        let (column, value): (&str, &dyn db::Arg) = match mailbox {
            Some(mailbox) => ("mailbox", mailbox),
            None => ("circle", circle),
        };
        let found: Option<(i64,)> = tx.opt(
            &format!(
                "SELECT waiting_since FROM conversations
                 WHERE ws = ?1 AND {column} = ?2 AND view = 'open' AND waiting_since IS NOT NULL
                   AND NOT held
                 ORDER BY waiting_since LIMIT 1"
            ),
            &[&cx.actor.ws, value],
        )?;
        oldest = [oldest, found.map(|(at,)| at)].into_iter().flatten().min();
    }
    Ok(WaitingFigures { open, oldest: oldest.map(Moment) })
}
