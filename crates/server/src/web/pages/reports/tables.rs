//! The figures of a report as tables, which the page shows beside the plots and CSV repeats.

use inbox::model::reports::{NamedFigures, ReportFigures, TimeFigures};

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

const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// The figures at the head of the page; `has_targets` says whether an inbox has any.
pub fn kpis(figures: &ReportFigures, has_targets: bool) -> Vec<Kpi> {
    let answer = &figures.first_answer;
    let targets = &figures.targets;
    vec![
        counted("Messages in", figures.received, figures.received_before),
        counted("Messages out", figures.sent, figures.sent_before),
        timed("First answer, median", answer.median, answer.median_before),
        timed("First answer, p90", answer.p90, answer.p90_before),
        timed(
            "To close, median",
            figures.time_to_close.median,
            figures.time_to_close.median_before,
        ),
        kept(
            share(targets.kept, targets.missed),
            share(targets.kept_before, targets.missed_before),
            has_targets,
        ),
    ]
}

fn counted(label: &'static str, now: i64, before: i64) -> Kpi {
    let change = match before {
        0 => String::new(),
        before => {
            let percent = (now - before) * 100 / before;
            if percent < 0 { format!("−{} %", -percent) } else { format!("+{percent} %") }
        }
    };
    Kpi { label, value: now.to_string(), change, tone: "", before: format!("were {before}") }
}

fn timed(label: &'static str, now: Option<i64>, before: Option<i64>) -> Kpi {
    let (change, tone) = match (now, before) {
        (Some(now), Some(before)) if now + 60 <= before => {
            (format!("{} faster", duration(before - now)), "ok")
        }
        (Some(now), Some(before)) if now >= before + 60 => {
            (format!("{} slower", duration(now - before)), "warn")
        }
        _ => (String::new(), ""),
    };
    let value = now.map_or_else(|| "none yet".into(), duration);
    let before = before.map_or_else(String::new, |before| format!("was {}", duration(before)));
    Kpi { label, value, change, tone, before }
}

fn kept(now: Option<i64>, before: Option<i64>, has_targets: bool) -> Kpi {
    let (change, tone) = match (now, before) {
        (Some(now), Some(before)) if now > before => {
            (format!("{} points more", now - before), "ok")
        }
        (Some(now), Some(before)) if now < before => {
            (format!("{} points less", before - now), "warn")
        }
        _ => (String::new(), ""),
    };
    let none = if has_targets { "none due" } else { "none set" };
    Kpi {
        label: "Targets kept",
        value: now.map_or_else(|| none.into(), |share| format!("{share} %")),
        change,
        tone,
        before: before.map_or_else(String::new, |share| format!("was {share} %")),
    }
}

fn share(kept: i64, missed: i64) -> Option<i64> {
    (kept + missed > 0).then(|| kept * 100 / (kept + missed))
}

/// `24 min`, `1 h 02`, `3 days`.
pub fn duration(seconds: i64) -> String {
    let minutes = (seconds + 30) / 60;
    match minutes {
        ..1 => "under 1 min".into(),
        1..60 => format!("{minutes} min"),
        60..2_880 => format!("{} h {:02}", minutes / 60, minutes % 60),
        _ => format!("{} days", minutes / 1_440),
    }
}

/// Every table of a report.
pub fn tables(figures: &ReportFigures) -> Vec<ReportTable> {
    let minutes = |seconds: Option<i64>| seconds.map_or_else(String::new, duration);
    let steps = |cells: fn(&inbox::model::reports::ReportStep) -> Vec<String>| {
        let row = |step: &inbox::model::reports::ReportStep| {
            let mut row = vec![step.from.clone()];
            row.extend(cells(step));
            row
        };
        figures.steps.iter().map(row).collect::<Vec<_>>()
    };
    let mut hour_columns = vec!["Day".to_owned()];
    hour_columns.extend((0..24).map(|hour| hour.to_string()));
    let hours = figures.hours.iter().zip(WEEKDAYS).map(|(day, name)| {
        let cells = day.iter().map(ToString::to_string);
        std::iter::once(name.to_owned()).chain(cells).collect()
    });
    let answers = figures.steps.iter().map(|step| {
        let (median, p90) = (step.first_answer_median, step.first_answer_p90);
        vec![step.from.clone(), minutes(median), minutes(p90)]
    });
    vec![
        table(
            "volume",
            "Messages in and out",
            &["From", "In", "In before", "Out"],
            steps(|step| {
                let before = step.received_before.map_or_else(String::new, |n| n.to_string());
                vec![step.received.to_string(), before, step.sent.to_string()]
            }),
        ),
        table(
            "first-answer",
            "Time to first answer",
            &["From", "Median", "p90"],
            answers.collect(),
        ),
        ReportTable {
            key: "hours",
            title: "Messages in by weekday and hour",
            columns: hour_columns,
            rows: hours.collect(),
        },
        table("inboxes", "By inbox", &["Inbox", "In", "In before", "Out", "Out before"], {
            let row = |inbox: &inbox::model::reports::InboxFigures| {
                let (received, sent) = (inbox.received, inbox.sent);
                let numbers = [received, inbox.received_before, sent, inbox.sent_before];
                named_row(&inbox.name, &numbers)
            };
            figures.inboxes.iter().map(row).collect()
        }),
        table("topics", "By topic", &["Topic", "Conversations", "Before"], named(&figures.topics)),
        table("tags", "By tag", &["Tag", "Conversations", "Before"], named(&figures.tags)),
        table("people", "By person and agent", &["Who", "Sent", "Closed"], {
            let row = |one: &inbox::model::reports::MemberFigures| {
                named_row(&one.name, &[one.sent, one.closed])
            };
            figures.members.iter().map(row).collect()
        }),
        table(
            "drafts",
            "What became of drafts",
            &["Who", "Sent as is", "Sent after edits", "Discarded"],
            {
                let row = |one: &inbox::model::reports::DraftFigures| {
                    named_row(&one.name, &[one.as_it_was, one.edited, one.discarded])
                };
                figures.drafts.iter().map(row).collect()
            },
        ),
        table(
            "targets",
            "Missed targets",
            &["From", "Missed", "Of"],
            steps(|step| vec![step.missed.to_string(), (step.missed + step.kept).to_string()]),
        ),
        table("totals", "All in all", &["Figure", "Now", "Before"], totals(figures)),
    ]
}

fn totals(figures: &ReportFigures) -> Vec<Vec<String>> {
    let time = |label: &str, times: &TimeFigures| {
        let cell = |seconds: Option<i64>| seconds.map_or_else(String::new, duration);
        [
            vec![format!("{label}, median"), cell(times.median), cell(times.median_before)],
            vec![format!("{label}, p90"), cell(times.p90), cell(times.p90_before)],
        ]
    };
    let (documents, targets) = (&figures.documents, &figures.targets);
    let mut rows = vec![
        named_row("Messages in", &[figures.received, figures.received_before]),
        named_row("Messages out", &[figures.sent, figures.sent_before]),
        named_row("Conversations begun", &[figures.begun, figures.begun_before]),
        named_row("Conversations closed", &[figures.closed, figures.closed_before]),
        named_row("Targets kept", &[targets.kept, targets.kept_before]),
        named_row("Targets missed", &[targets.missed, targets.missed_before]),
        named_row("Documents asked for", &[documents.asked, documents.asked_before]),
        named_row("Documents received", &[documents.received, documents.received_before]),
    ];
    rows.extend(time("Time to first answer", &figures.first_answer));
    rows.extend(time("Time to close", &figures.time_to_close));
    rows.push(vec!["Open now".into(), figures.waiting.open.to_string(), String::new()]);
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

fn named(figures: &[NamedFigures]) -> Vec<Vec<String>> {
    figures.iter().map(|one| named_row(&one.name, &[one.conversations, one.before])).collect()
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
        let faster = timed("x", Some(3_720), Some(4_800));
        assert_eq!((faster.change.as_str(), faster.tone), ("18 min faster", "ok"));
        assert_eq!(counted("x", 521, 485).change, "+7 %");
        assert_eq!(counted("x", 5, 0).change, "");
        assert_eq!(kept(Some(96), Some(98), true).change, "2 points less");
    }
}
