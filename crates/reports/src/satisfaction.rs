//! How customers found closed conversations, in figures.

use std::collections::BTreeMap;

use base::ids::MailboxId;
use base::limits::SATISFACTION_LEAST;
use base::string_enum::string_enum;
use model::figures::report_facts::HELPER_NAME;
use model::guests::answerer::Answerer;
use schemars::JsonSchema;
use serde::Serialize;

use super::names::ReportNames;

/// The answers of customers who were asked how it was, by the day of the answer.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SatisfactionFigures {
    /// Customers who were asked.
    pub asked: i64,
    pub asked_before: i64,
    pub count: i64,
    pub count_before: i64,
    /// From 1 to 5, with two decimals; null where nobody answered.
    pub average: Option<f64>,
    pub average_before: Option<f64>,
    /// Every score, the best first.
    pub by_score: Vec<ScoreFigures>,
    /// The inboxes whose customers answered.
    pub inboxes: Vec<RatedInboxFigures>,
    /// By the topic that the conversation had at the first answer; the one without an id is "no topic".
    pub topics: Vec<RatedPartFigures>,
    /// By who answered: people alone (without an id), an agent or the helper whose drafts people approved, or
    /// an agent by itself. Never by person.
    pub answered_by: Vec<RatedPartFigures>,
}

string_enum! {
    /// How an answer came about.
    RatedPartKind {
        Topic = "topic",
        People = "people",
        Drafted = "drafted",
        Alone = "alone",
    }
}

/// The answers of customers about a part of the conversations.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RatedPartFigures {
    pub id: Option<String>,
    pub kind: RatedPartKind,
    pub name: String,
    pub count: i64,
    /// Scores of 4 and 5.
    pub good: i64,
    /// Null with fewer than 5 answers.
    pub average: Option<f64>,
}

/// How many customers gave a score.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScoreFigures {
    pub score: i64,
    pub count: i64,
}

/// The answers of the customers of an inbox.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RatedInboxFigures {
    pub id: MailboxId,
    pub name: String,
    pub count: i64,
    /// Null with fewer than 5 answers.
    pub average: Option<f64>,
}

/// A sum of the counters: inbox, score and number.
type RatedRow = (MailboxId, String, i64);

/// What the counters have of a span.
pub(super) struct RatedSums<'a> {
    pub asked: i64,
    pub rated: Vec<&'a RatedRow>,
    pub topics: Vec<&'a RatedRow>,
    pub answerers: Vec<&'a RatedRow>,
}

pub(super) fn satisfaction(
    sums: &RatedSums<'_>,
    earlier: &RatedSums<'_>,
    names: &ReportNames,
) -> SatisfactionFigures {
    let inboxes = &names.inboxes;
    let now = &sums.rated;
    let scores = Scores::sum(now.iter().copied());
    let before = Scores::sum(earlier.rated.iter().copied());
    let of_inbox = |(id, name): &(MailboxId, String)| {
        let scores = Scores::sum(now.iter().copied().filter(|(mailbox, ..)| mailbox == id));
        RatedInboxFigures {
            id: id.clone(),
            name: name.clone(),
            count: scores.count(),
            average: scores.average_of_many(),
        }
    };
    let of_score = |score: i64| ScoreFigures { score, count: scores.of(score) };
    SatisfactionFigures {
        asked: sums.asked,
        asked_before: earlier.asked,
        count: scores.count(),
        count_before: before.count(),
        average: scores.average(),
        average_before: before.average(),
        by_score: (1..=5).rev().map(of_score).collect(),
        inboxes: inboxes.iter().map(of_inbox).filter(|inbox| inbox.count > 0).collect(),
        topics: topics(&sums.topics, names),
        answered_by: answerers(&sums.answerers, names),
    }
}

/// The scores of each part: its name in the counters has the score at its end.
fn by_part<'a>(rows: &[&'a RatedRow]) -> BTreeMap<&'a str, Scores> {
    let mut parts: BTreeMap<&str, Scores> = BTreeMap::new();
    for (_, name, n) in rows {
        let Some((part, score)) = name.rsplit_once(' ') else { continue };
        let scores = parts.entry(part).or_insert_with(|| Scores(BTreeMap::new()));
        if let Ok(score) = score.parse::<i64>() {
            *scores.0.entry(score).or_default() += *n;
        }
    }
    parts.retain(|_, scores| scores.count() > 0);
    parts
}

fn part(id: Option<String>, kind: RatedPartKind, name: &str, scores: &Scores) -> RatedPartFigures {
    RatedPartFigures {
        id,
        kind,
        name: name.to_owned(),
        count: scores.count(),
        good: scores.of(5) + scores.of(4),
        average: scores.average_of_many(),
    }
}

/// Topics that there are no more count as none.
fn topics(rows: &[&RatedRow], names: &ReportNames) -> Vec<RatedPartFigures> {
    let mut none = Scores(BTreeMap::new());
    let mut all: Vec<RatedPartFigures> = Vec::new();
    for (id, scores) in by_part(rows) {
        match names.topics.get(id) {
            Some(name) => {
                all.push(part(Some(id.to_owned()), RatedPartKind::Topic, name, &scores));
            }
            None => none.add(&scores),
        }
    }
    all.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.name.cmp(&b.name)));
    if none.count() > 0 {
        all.push(part(None, RatedPartKind::Topic, "No topic", &none));
    }
    all
}

fn answerers(rows: &[&RatedRow], names: &ReportNames) -> Vec<RatedPartFigures> {
    let named = |kind: RatedPartKind, id: &str, scores: &Scores| {
        if id == HELPER_NAME {
            return Some(part(None, kind, "Drafting helper", scores));
        }
        let name = names.members.get(id)?;
        Some(part(Some(id.to_owned()), kind, name, scores))
    };
    let mut all: Vec<RatedPartFigures> = by_part(rows)
        .into_iter()
        .filter_map(|(word, scores)| match Answerer::parse(word)? {
            Answerer::People => Some(part(None, RatedPartKind::People, "People alone", &scores)),
            Answerer::Drafted(by) => named(RatedPartKind::Drafted, &by, &scores),
            Answerer::Alone(by) => named(RatedPartKind::Alone, &by, &scores),
        })
        .collect();
    all.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.name.cmp(&b.name)));
    all
}

/// How often each score was given.
struct Scores(BTreeMap<i64, i64>);

impl Scores {
    fn sum<'a>(rows: impl Iterator<Item = &'a RatedRow>) -> Scores {
        let mut sums: BTreeMap<i64, i64> = BTreeMap::new();
        for (_, score, n) in rows {
            if let Ok(score) = score.parse::<i64>() {
                *sums.entry(score).or_default() += *n;
            }
        }
        Scores(sums)
    }

    fn of(&self, score: i64) -> i64 {
        self.0.get(&score).copied().unwrap_or(0)
    }

    fn count(&self) -> i64 {
        self.0.values().sum()
    }

    fn add(&mut self, others: &Scores) {
        for (score, n) in &others.0 {
            *self.0.entry(*score).or_default() += n;
        }
    }

    /// Few answers are a person's words, not a share.
    fn average_of_many(&self) -> Option<f64> {
        self.average().filter(|_| self.count() >= SATISFACTION_LEAST)
    }

    fn average(&self) -> Option<f64> {
        let (count, sum) = (self.count(), self.0.iter().map(|(score, n)| score * n).sum::<i64>());
        (count > 0).then(|| (sum as f64 / count as f64 * 100.0).round() / 100.0)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn the_average_has_two_decimals_and_changed_answers_cancel_out() {
        let inbox = MailboxId::parse("mbx_1").unwrap();
        let row = |score: &str, n: i64| (inbox.clone(), score.to_owned(), n);
        let rows = [row("5", 2), row("1", 1), row("1", -1), row("4", 1)];
        let parts = [row(" 5", 4), row("tpc_1 5", 4), row("tpc_1 1", 1), row("people 5", 2)];
        let names = ReportNames {
            inboxes: vec![(inbox.clone(), "Support".to_owned())],
            topics: HashMap::from([("tpc_1".to_owned(), "Returns".to_owned())]),
            tags: HashMap::new(),
            members: HashMap::new(),
        };
        let sums = RatedSums {
            asked: 9,
            rated: rows.iter().collect(),
            topics: parts[..3].iter().collect(),
            answerers: parts[3..].iter().collect(),
        };
        let none =
            RatedSums { asked: 0, rated: Vec::new(), topics: Vec::new(), answerers: Vec::new() };
        let figures = satisfaction(&sums, &none, &names);
        let topics = figures.topics.iter().map(|one| (one.name.as_str(), one.count, one.average));
        let expected = [("Returns", 5, Some(4.2)), ("No topic", 4, None)];
        assert_eq!(topics.collect::<Vec<_>>(), expected, "few answers have no average");
        assert_eq!(
            (figures.answered_by[0].name.as_str(), figures.answered_by[0].good),
            ("People alone", 2)
        );
        assert_eq!((figures.count, figures.average), (3, Some(4.67)));
        assert_eq!((figures.count_before, figures.average_before), (0, None));
        assert_eq!(
            figures.by_score.iter().map(|one| one.count).collect::<Vec<_>>(),
            [2, 1, 0, 0, 0]
        );
        assert_eq!(figures.inboxes[0].count, 3);
    }
}
