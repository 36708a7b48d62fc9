//! The figures of a report as tables, which the page shows beside the plots and CSV repeats.

use translation::{msg, t, text_in_context};

use crate::{NamedFigures, RatedPartKind, ReportFigures, SatisfactionFigures, TimeFigures};

/// What stands for an average of few answers.
const TOO_FEW: &str = msg!("Too few to say");

/// A figure at the head of the page.
pub struct Kpi {
    pub label: &'static str,
    pub value: String,
    pub change: String,
    /// `ok`, `warn`, or nothing for what is neither good nor bad.
    pub tone: &'static str,
    pub before: String,
}

/// One table.
pub struct ReportTable {
    /// As CSV names it.
    pub key: &'static str,
    pub title: &'static str,
    pub columns: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

/// The figures at the head of the page; `has_targets` says whether an inbox has any.
pub fn kpis(figures: &ReportFigures, has_targets: bool) -> Vec<Kpi> {
    let answer = &figures.first_answer;
    let targets = &figures.targets;
    vec![
        count_kpi(t!("Messages in"), figures.received, figures.received_before),
        count_kpi(t!("Messages out"), figures.sent, figures.sent_before),
        time_kpi(t!("First answer, median"), answer.median, answer.median_before),
        time_kpi(t!("First answer, p90"), answer.p90, answer.p90_before),
        time_kpi(
            t!("To close, median"),
            figures.time_to_close.median,
            figures.time_to_close.median_before,
        ),
        targets_kpi(
            share(targets.kept, targets.missed),
            share(targets.kept_before, targets.missed_before),
            has_targets,
        ),
    ]
}

fn count_kpi(label: &'static str, now: i64, before: i64) -> Kpi {
    let change = match before {
        0 => String::new(),
        before => {
            let percent = (now - before) * 100 / before;
            if percent < 0 { format!("−{} %", -percent) } else { format!("+{percent} %") }
        }
    };
    let before = t!("were {before}", before);
    Kpi { label, value: now.to_string(), change, tone: "", before }
}

fn time_kpi(label: &'static str, now: Option<i64>, before: Option<i64>) -> Kpi {
    let (change, tone) = match (now, before) {
        (Some(now), Some(before)) if now + 60 <= before => {
            (t!("{time} faster", time = duration(before - now)), "ok")
        }
        (Some(now), Some(before)) if now >= before + 60 => {
            (t!("{time} slower", time = duration(now - before)), "warn")
        }
        _ => (String::new(), ""),
    };
    let value = now.map_or_else(|| t!("none yet").into(), duration);
    let before =
        before.map_or_else(String::new, |before| t!("was {time}", time = duration(before)));
    Kpi { label, value, change, tone, before }
}

fn targets_kpi(now: Option<i64>, before: Option<i64>, has_targets: bool) -> Kpi {
    let (change, tone) = match (now, before) {
        (Some(now), Some(before)) if now > before => {
            (t!("{n} points more", n = now - before), "ok")
        }
        (Some(now), Some(before)) if now < before => {
            (t!("{n} points less", n = before - now), "warn")
        }
        _ => (String::new(), ""),
    };
    let none = if has_targets { t!("none due") } else { t!("none set") };
    Kpi {
        label: t!("Targets kept"),
        value: now.map_or_else(|| none.into(), |share| format!("{share} %")),
        change,
        tone,
        before: before.map_or_else(String::new, |share| t!("was {share} %", share)),
    }
}

fn share(kept: i64, missed: i64) -> Option<i64> {
    (kept + missed > 0).then(|| kept * 100 / (kept + missed))
}

pub const WEEKDAYS: [&str; 7] =
    [msg!("Mon"), msg!("Tue"), msg!("Wed"), msg!("Thu"), msg!("Fri"), msg!("Sat"), msg!("Sun")];

/// `24 min`, `1 h 02`, `3 days`.
pub fn duration(seconds: i64) -> String {
    let minutes = (seconds + 30) / 60;
    match minutes {
        ..1 => t!("under 1 min").into(),
        1..60 => t!("{n} min", n = minutes),
        60..2_880 => {
            let rest = format!("{:02}", minutes % 60);
            t!("{hours} h {minutes}", hours = minutes / 60, minutes = rest)
        }
        _ => t!("{n} days", n = minutes / 1_440),
    }
}

/// Which target the first answer has; empty where there is none.
pub fn target_words(targets: &[i64]) -> String {
    let times: Vec<String> = targets.iter().map(|seconds| duration(*seconds)).collect();
    match times.as_slice() {
        [] => String::new(),
        [time] => t!("The target is {time}.", time = time),
        times => t!("The targets are {times}.", times = times.join(", ")),
    }
}

/// Every table of a report.
pub fn tables(figures: &ReportFigures) -> Vec<ReportTable> {
    let minutes = |seconds: Option<i64>| seconds.map_or_else(String::new, duration);
    let steps = |cells: fn(&crate::ReportStep) -> Vec<String>| {
        let row = |step: &crate::ReportStep| {
            let mut row = vec![step.from.clone()];
            row.extend(cells(step));
            row
        };
        figures.steps.iter().map(row).collect::<Vec<_>>()
    };
    let mut hour_columns = vec![t!("Day").to_owned()];
    hour_columns.extend((0..24).map(|hour| hour.to_string()));
    let hours = figures.hours.iter().zip(WEEKDAYS).map(|(day, name)| {
        let cells = day.iter().map(ToString::to_string);
        std::iter::once(translation::text(name).to_owned()).chain(cells).collect()
    });
    let answers = figures.steps.iter().map(|step| {
        let (median, p90) = (step.first_answer_median, step.first_answer_p90);
        vec![step.from.clone(), minutes(median), minutes(p90)]
    });
    let (received, sent) = (text_in_context("messages", "In"), text_in_context("messages", "Out"));
    vec![
        table(
            "volume",
            t!("Messages in and out"),
            &[t!("From"), received, t!("In before"), sent],
            steps(|step| {
                let before = step.received_before.map_or_else(String::new, |n| n.to_string());
                vec![step.received.to_string(), before, step.sent.to_string()]
            }),
        ),
        table(
            "first-answer",
            t!("Time to first answer"),
            &[t!("From"), t!("Median"), t!("p90")],
            answers.collect(),
        ),
        ReportTable {
            key: "hours",
            title: t!("Messages in by weekday and hour"),
            columns: hour_columns,
            rows: hours.collect(),
        },
        table(
            "inboxes",
            t!("By inbox"),
            &[t!("Inbox"), received, t!("In before"), sent, t!("Out before")],
            {
                let row = |inbox: &crate::InboxFigures| {
                    let (received, sent) = (inbox.received, inbox.sent);
                    let numbers = [received, inbox.received_before, sent, inbox.sent_before];
                    named_row(&inbox.name, &numbers)
                };
                figures.inboxes.iter().map(row).collect()
            },
        ),
        table(
            "topics",
            t!("By topic"),
            &[t!("Topic"), t!("Conversations"), t!("Before")],
            rows_by_name(&figures.topics),
        ),
        table(
            "tags",
            t!("By tag"),
            &[t!("Tag"), t!("Conversations"), t!("Before")],
            rows_by_name(&figures.tags),
        ),
        table("people", t!("By person and agent"), &[t!("Who"), t!("Sent"), t!("Closed")], {
            let row = |one: &crate::MemberFigures| named_row(&one.name, &[one.sent, one.closed]);
            figures.members.iter().map(row).collect()
        }),
        table(
            "drafts",
            t!("What became of drafts"),
            &[t!("Who"), t!("Sent as is"), t!("Sent after edits"), t!("Discarded")],
            {
                let row = |one: &crate::DraftFigures| {
                    let name = shown_name(one.id.as_deref(), &one.name);
                    named_row(&name, &[one.as_it_was, one.edited, one.discarded])
                };
                figures.drafts.iter().map(row).collect()
            },
        ),
        table(
            "targets",
            t!("Missed targets"),
            &[t!("From"), t!("Missed"), text_in_context("targets", "Of")],
            steps(|step| vec![step.missed.to_string(), (step.missed + step.kept).to_string()]),
        ),
        table(
            "satisfaction",
            t!("How customers found it"),
            &[t!("Figure"), t!("Answers given"), t!("Average")],
            satisfaction_rows(&figures.satisfaction),
        ),
        table(
            "totals",
            t!("All in all"),
            &[t!("Figure"), t!("Now"), t!("Before")],
            totals(figures),
        ),
    ]
}

/// All answers, those of each inbox, topic and kind of answerer, and how often each score was given.
fn satisfaction_rows(figures: &SatisfactionFigures) -> Vec<Vec<String>> {
    if figures.asked + figures.count == 0 {
        return Vec::new();
    }
    let row = |name: &str, count: i64, average: Option<f64>| {
        let average = average.map_or_else(String::new, |average| format!("{average:.2}"));
        vec![name.to_owned(), count.to_string(), average]
    };
    let mut rows = vec![
        row(t!("Customers asked"), figures.asked, None),
        row(t!("Every inbox"), figures.count, figures.average),
    ];
    rows.extend(figures.inboxes.iter().map(|inbox| row(&inbox.name, inbox.count, inbox.average)));
    let few = || translation::text(TOO_FEW).to_owned();
    for part in figures.topics.iter().chain(&figures.answered_by) {
        let name = shown_name(part.id.as_deref(), &part.name);
        let name = match part.kind {
            RatedPartKind::Topic => t!("Topic {name}", name),
            RatedPartKind::People => name,
            RatedPartKind::Drafted => t!("Draft of {name}, approved", name),
            RatedPartKind::Alone => t!("{name} by itself", name),
        };
        let average = part.average.map_or_else(few, |average| format!("{average:.2}"));
        rows.push(vec![name, part.count.to_string(), average]);
    }
    rows.extend(
        figures
            .by_score
            .iter()
            .map(|one| row(&t!("{score} of 5", score = one.score), one.count, None)),
    );
    rows
}

fn totals(figures: &ReportFigures) -> Vec<Vec<String>> {
    let time = |label: &str, times: &TimeFigures| {
        let cell = |seconds: Option<i64>| seconds.map_or_else(String::new, duration);
        [
            vec![t!("{label}, median", label), cell(times.median), cell(times.median_before)],
            vec![t!("{label}, p90", label), cell(times.p90), cell(times.p90_before)],
        ]
    };
    let (documents, targets) = (&figures.documents, &figures.targets);
    let mut rows = vec![
        named_row(t!("Messages in"), &[figures.received, figures.received_before]),
        named_row(t!("Messages out"), &[figures.sent, figures.sent_before]),
        named_row(t!("Conversations begun"), &[figures.begun, figures.begun_before]),
        named_row(t!("Conversations closed"), &[figures.closed, figures.closed_before]),
        named_row(t!("Targets kept"), &[targets.kept, targets.kept_before]),
        named_row(t!("Targets missed"), &[targets.missed, targets.missed_before]),
        named_row(t!("Documents asked for"), &[documents.asked, documents.asked_before]),
        named_row(t!("Documents received"), &[documents.received, documents.received_before]),
    ];
    rows.extend(time(t!("Time to first answer"), &figures.first_answer));
    rows.extend(time(t!("Time to close"), &figures.time_to_close));
    rows.push(vec![t!("Open now").into(), figures.waiting.open.to_string(), String::new()]);
    rows
}

fn table(
    key: &'static str,
    title: &'static str,
    columns: &[&str],
    rows: Vec<Vec<String>>,
) -> ReportTable {
    ReportTable { key, title, columns: columns.iter().map(ToString::to_string).collect(), rows }
}

fn rows_by_name(figures: &[NamedFigures]) -> Vec<Vec<String>> {
    let row = |one: &NamedFigures| {
        named_row(&shown_name(one.id.as_deref(), &one.name), &[one.conversations, one.before])
    };
    figures.iter().map(row).collect()
}

/// What has no id is named by us: no topic, and the helper.
pub fn shown_name(id: Option<&str>, name: &str) -> String {
    match id {
        Some(_) => name.to_owned(),
        None => translation::sentence(name).into_owned(),
    }
}

fn named_row(name: &str, numbers: &[i64]) -> Vec<String> {
    std::iter::once(name.to_owned()).chain(numbers.iter().map(ToString::to_string)).collect()
}

/// Tables one after the other, as RFC 4180 has it.
pub fn csv(tables: &[ReportTable]) -> String {
    let mut text = String::new();
    for table in tables {
        if tables.len() > 1 {
            text.push_str(&format!(
                "{}{}\r\n",
                if text.is_empty() { "" } else { "\r\n" },
                table.title
            ));
        }
        for row in std::iter::once(&table.columns).chain(&table.rows) {
            let cells: Vec<String> = row.iter().map(|cell| csv_cell(cell)).collect();
            text.push_str(&cells.join(","));
            text.push_str("\r\n");
        }
    }
    text
}

/// A spreadsheet would take a name that begins like a formula for one.
fn csv_cell(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if is_formula { format!("'{text}") } else { text.to_owned() };
    if text.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_quoted_and_never_a_formula() {
        assert_eq!(csv_cell("VAT, 2026"), "\"VAT, 2026\"");
        assert_eq!(csv_cell("say \"hi\""), "\"say \"\"hi\"\"\"");
        assert_eq!(csv_cell("=1+1"), "'=1+1");
        assert_eq!(csv_cell("24 min"), "24 min");
    }

    #[test]
    fn durations_are_short_and_changes_say_whether_they_are_good() {
        let words = [0, 60, 3_720, 172_800].map(duration);
        assert_eq!(words, ["under 1 min", "1 min", "1 h 02", "2 days"]);
        let faster = time_kpi("x", Some(3_720), Some(4_800));
        assert_eq!((faster.change.as_str(), faster.tone), ("18 min faster", "ok"));
        assert_eq!(count_kpi("x", 521, 485).change, "+7 %");
        assert_eq!(count_kpi("x", 5, 0).change, "");
        assert_eq!(targets_kpi(Some(96), Some(98), true).change, "2 points less");
    }
}
