//! The report of a period as a mail to a person: figures and plots of what they may see.

use base::app::Cx;
use base::error::Result;
use base::ids::UserId;
use db::Tx;
use jiff::civil::Date;
use model::messages::mail_language;
use model::times::calendar_words::short_month;
use model::times::workspace_zone::workspace_zone;
use translation::t;

use super::mail_html::html;
use super::mail_parts::{MailBar, MailParts, MailPlot};
use super::mail_text::text;
use super::schedule::ReportPeriod;
use crate::tables::{duration, kpis, shown_name, target_words};
use crate::{
    ReportFigures, ReportSpan, ReportStep, ReportTargets, figures_without_hours, report_targets,
};

/// Rows of inboxes and of topics.
const ROWS: usize = 12;

/// A report as it is mailed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportMail {
    pub text: String,
    pub html: String,
}

/// The report that the actor, who is this person, gets of a period: of every inbox that they see.
pub fn report_mail(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    person: &UserId,
    period: &ReportPeriod,
) -> Result<ReportMail> {
    let ws = cx.actor.ws;
    let zone = workspace_zone(tx, ws)?;
    let (from, to) = (period.from.to_string(), period.to.to_string());
    let span = ReportSpan::parse(Some(&from), Some(&to), Some(&zone), cx.now)?;
    let figures = figures_without_hours(tx, cx, &span)?;
    let targets = report_targets(tx, cx, None)?;
    let (name,): (String,) = tx.one("SELECT name FROM workspaces WHERE ws = ?1", &[&ws])?;
    let reader = mail_language::of_person(tx, ws, person)?;
    let parts = reader.run(|| {
        let title = t!("Report of {name}", name = name);
        mail_parts(title, (period, &figures, &targets), cx.public_url)
    });
    Ok(ReportMail { text: text(&parts), html: html(&parts) })
}

fn mail_parts(
    title: String,
    (period, figures, targets): (&ReportPeriod, &ReportFigures, &ReportTargets),
    public_url: &str,
) -> MailParts {
    let (from, to, zone) = (&figures.from, &figures.to, &figures.zone);
    let plots = vec![
        volume(&figures.steps),
        answers(figures, &targets.answers),
        by_inbox(figures),
        by_topic(figures),
    ];
    MailParts {
        language: translation::current().code(),
        title,
        about: t!(
            "{span}, days and hours in {zone}. Held mail and the sandbox are left out.",
            span = period.words(),
            zone = zone,
        ),
        figures: kpis(figures, targets.has_any),
        plots: plots.into_iter().filter(|plot| !plot.rows.is_empty()).collect(),
        link: t!("Open the report"),
        url: format!("{public_url}/reports?from={from}&to={to}&zone={}", zone.replace('+', "%2B")),
        footer: t!(
            "Owners and admins choose who gets this mail, under Settings, Reports by mail. It has what you may see in Mailroom, and nothing else."
        ),
    }
}

/// The first day of a step: `9 Nov`.
fn day_label(step: &ReportStep) -> String {
    let date: Date = step.from.parse().unwrap_or(Date::MIN);
    t!("{day} {month}", day = date.day(), month = short_month(date.month()))
}

fn share(n: i64, most: i64) -> f64 {
    n as f64 / most.max(1) as f64
}

fn volume(steps: &[ReportStep]) -> MailPlot {
    let most = steps.iter().map(|step| step.received).max().unwrap_or(0);
    let row = |step: &ReportStep| MailBar {
        label: day_label(step),
        value: t!("{received} in, {sent} out", received = step.received, sent = step.sent),
        length: share(step.received, most),
    };
    let rows = steps.iter().map(row).collect();
    MailPlot { title: t!("Messages in and out"), about: String::new(), rows, target: None }
}

/// The median of each day on which a first answer left, held against the target where there is one.
fn answers(figures: &ReportFigures, targets: &[i64]) -> MailPlot {
    let medians: Vec<(&ReportStep, i64)> = figures
        .steps
        .iter()
        .filter_map(|step| step.first_answer_median.map(|median| (step, median)))
        .collect();
    let longest = medians.iter().map(|(_, median)| *median).chain(targets.iter().copied()).max();
    let longest = longest.unwrap_or(0);
    let row = |(step, median): &(&ReportStep, i64)| MailBar {
        label: day_label(step),
        value: duration(*median),
        length: share(*median, longest),
    };
    let target = match targets {
        [target] => Some(share(*target, longest)),
        _ => None,
    };
    MailPlot {
        title: t!("Time to first answer, median"),
        about: target_words(targets),
        rows: medians.iter().map(row).collect(),
        target,
    }
}

fn by_inbox(figures: &ReportFigures) -> MailPlot {
    let most = figures.inboxes.iter().map(|inbox| inbox.received).max().unwrap_or(0);
    let row = |inbox: &crate::InboxFigures| MailBar {
        label: inbox.name.clone(),
        value: t!("{received} in, {sent} out", received = inbox.received, sent = inbox.sent),
        length: share(inbox.received, most),
    };
    let rows = figures.inboxes.iter().take(ROWS).map(row).collect();
    MailPlot { title: t!("By inbox"), about: String::new(), rows, target: None }
}

fn by_topic(figures: &ReportFigures) -> MailPlot {
    let topics: Vec<_> =
        figures.topics.iter().filter(|topic| topic.conversations > 0).take(ROWS).collect();
    let most = topics.iter().map(|topic| topic.conversations).max().unwrap_or(0);
    let row = |topic: &&crate::NamedFigures| MailBar {
        label: shown_name(topic.id.as_deref(), &topic.name),
        value: topic.conversations.to_string(),
        length: share(topic.conversations, most),
    };
    let about = t!("Conversations that began, by topic.").to_owned();
    MailPlot { title: t!("By topic"), about, rows: topics.iter().map(row).collect(), target: None }
}
