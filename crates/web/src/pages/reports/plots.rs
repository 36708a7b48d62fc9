//! The plots of a report, as numbers of an SVG drawing. Every plot has a table that says the same.

use jiff::civil::Date;
use reports::tables::{WEEKDAYS, duration, shown_name, target_words};
use reports::{NamedFigures, ReportFigures};
use translation::t;

use crate::layout::wording::{month_name, short_month};

/// The width and height of a drawing, which the page stretches.
const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 100.0;
/// Lines of the grid, and so labels of the scale less one.
const GRID: i64 = 4;
/// Labels below a plot.
const LABELS: usize = 6;
/// Rows of a list of bars; the table has all.
const BARS: usize = 12;

/// Bars, side by side in pairs.
pub struct VolumePlot {
    /// What the picture shows, for those who do not see it.
    pub words: String,
    pub scale: Vec<String>,
    pub labels: Vec<String>,
    pub bars: Vec<StepBar>,
    /// The line of the span before; empty where there is none.
    pub before: String,
}

/// The bars of one day, week or month.
pub struct StepBar {
    pub title: String,
    pub x: String,
    pub width: String,
    pub y: String,
    pub height: String,
    pub second_x: String,
    pub second_y: String,
    pub second_height: String,
}

/// Two lines.
pub struct LinePlot {
    pub words: String,
    pub scale: Vec<String>,
    pub labels: Vec<String>,
    pub median: String,
    pub p90: String,
    pub targets: Vec<TargetLine>,
    pub has_any: bool,
}

/// A line across a plot, at a target.
pub struct TargetLine {
    pub label: String,
    pub y: String,
}

/// A cell for each hour of the week.
pub struct HeatPlot {
    pub words: String,
    pub cells: Vec<HeatCell>,
    pub hours: Vec<String>,
    pub most: i64,
}

pub struct HeatCell {
    pub title: String,
    pub shade: i64,
    pub x: i64,
    pub y: i64,
}

/// A row with a bar.
pub struct RowBar {
    pub name: String,
    pub href: String,
    pub width: String,
    pub count: i64,
    pub change: String,
}

/// A row with the parts of a bar.
pub struct DraftBar {
    pub name: String,
    pub parts: [(&'static str, String, String); 3],
    pub count: i64,
    pub share: String,
}

pub fn span_words(figures: &ReportFigures) -> String {
    t!("{from} to {to}", from = long_day(&figures.from), to = long_day(&figures.to))
}

fn date(text: &str) -> Date {
    text.parse().unwrap_or(Date::MIN)
}

fn long_day(text: &str) -> String {
    let date = date(text);
    let month = month_name(date.month());
    t!("{day} {month} {year}", day = date.day(), month, year = date.year())
}

fn short_day(text: &str) -> String {
    let date = date(text);
    t!("{day} {month}", day = date.day(), month = short_month(date.month()))
}

pub fn volume(figures: &ReportFigures) -> VolumePlot {
    let pairs: Vec<(i64, i64)> =
        figures.steps.iter().map(|step| (step.received, step.sent)).collect();
    let before: Vec<i64> = figures.steps.iter().filter_map(|step| step.received_before).collect();
    let most = pairs.iter().map(|(a, b)| *a.max(b)).chain(before.iter().copied()).max();
    let top = scale_top(most.unwrap_or(0));
    let titles = figures.steps.iter().map(|step| {
        let (day, received, sent) = (short_day(&step.from), step.received, step.sent);
        t!("{day}: {received} in, {sent} out", day, received, sent)
    });
    let busiest = pairs.iter().map(|(received, _)| *received).max().unwrap_or(0);
    VolumePlot {
        words: t!(
            "Messages in and out, {span}. The most that came in at a step were {busiest}.",
            span = span_words(figures),
            busiest,
        ),
        scale: scale(top, |n| n.to_string()),
        labels: labels(figures),
        bars: bars(titles.collect(), &pairs, top),
        before: line(&before.iter().map(|n| Some(*n as f64)).collect::<Vec<_>>(), top as f64),
    }
}

pub fn missed_targets(figures: &ReportFigures) -> VolumePlot {
    let pairs: Vec<(i64, i64)> =
        figures.steps.iter().map(|step| (step.missed, step.kept)).collect();
    let top = scale_top(pairs.iter().map(|(a, b)| *a.max(b)).max().unwrap_or(0));
    let titles = figures.steps.iter().map(|step| {
        let (day, missed, kept) = (short_day(&step.from), step.missed, step.kept);
        t!("{day}: {missed} missed, {kept} kept", day, missed, kept)
    });
    let targets = &figures.targets;
    VolumePlot {
        words: t!(
            "{missed} targets missed and {kept} kept.",
            missed = targets.missed,
            kept = targets.kept,
        ),
        scale: scale(top, |n| n.to_string()),
        labels: labels(figures),
        bars: bars(titles.collect(), &pairs, top),
        before: String::new(),
    }
}

/// `targets` are in seconds; the scale has room for them.
pub fn answers(figures: &ReportFigures, targets: &[i64]) -> LinePlot {
    let seconds = |value: Option<i64>| value.map(|seconds| seconds as f64);
    let median: Vec<_> = figures.steps.iter().map(|s| seconds(s.first_answer_median)).collect();
    let p90: Vec<_> = figures.steps.iter().map(|s| seconds(s.first_answer_p90)).collect();
    let reached = p90.iter().flatten().copied();
    let wanted = targets.iter().map(|seconds| *seconds as f64);
    let most = reached.chain(wanted).fold(0.0, f64::max);
    let hours = scale_top((most / 3_600.0).ceil() as i64);
    let top = (hours * 3_600) as f64;
    let times = &figures.first_answer;
    let words = match (times.median, times.p90) {
        (Some(median), Some(p90)) => t!(
            "Time to first answer: the median is {median}, nine of ten within {p90}.",
            median = duration(median),
            p90 = duration(p90),
        ),
        _ => t!("No first answer left in this span.").into(),
    };
    let words = [words, target_words(targets)].into_iter().filter(|words| !words.is_empty());
    let target = |seconds: &i64| TargetLine {
        label: t!("Target: {time}", time = duration(*seconds)),
        y: number(HEIGHT - *seconds as f64 * HEIGHT / top.max(1.0)),
    };
    LinePlot {
        words: words.collect::<Vec<_>>().join(" "),
        targets: targets.iter().map(target).collect(),
        scale: scale(hours, |n| t!("{n} h", n)),
        labels: labels(figures),
        median: line(&median, top),
        p90: line(&p90, top),
        has_any: times.count > 0,
    }
}

pub fn heat(figures: &ReportFigures) -> HeatPlot {
    let most = figures.hours.iter().flatten().copied().max().unwrap_or(0);
    let mut cells = Vec::new();
    for (row, (day, name)) in figures.hours.iter().zip(WEEKDAYS).enumerate() {
        let weekday = translation::text(name);
        for (hour, n) in day.iter().enumerate() {
            cells.push(HeatCell {
                title: t!("{weekday} {hour}:00: {n}", weekday, hour, n),
                shade: if *n == 0 { 0 } else { (n * 5 + most - 1) / most },
                x: hour as i64 * 10,
                y: row as i64 * 10,
            });
        }
    }
    HeatPlot {
        words: t!("Messages in by weekday and hour, in {zone}.", zone = figures.zone),
        cells,
        hours: (0..24).step_by(3).map(|hour: i64| hour.to_string()).collect(),
        most,
    }
}

pub fn named_bars(figures: &[NamedFigures]) -> Vec<RowBar> {
    let most = figures.iter().map(|one| one.conversations).max().unwrap_or(0).max(1);
    let bar = |one: &NamedFigures| RowBar {
        name: shown_name(one.id.as_deref(), &one.name),
        href: match &one.id {
            Some(id) if id.starts_with("tag_") => format!("/inbox?tag={id}"),
            _ => String::new(),
        },
        width: percent(one.conversations, most),
        count: one.conversations,
        change: with_sign(one.conversations - one.before),
    };
    figures.iter().take(BARS).map(bar).collect()
}

pub fn inbox_bars(figures: &ReportFigures) -> Vec<RowBar> {
    let most = figures.inboxes.iter().map(|one| one.received).max().unwrap_or(0).max(1);
    let bar = |one: &reports::InboxFigures| RowBar {
        name: one.name.clone(),
        href: format!("/inbox?mailbox={}", one.id),
        width: percent(one.received, most),
        count: one.received,
        change: with_sign(one.received - one.received_before),
    };
    figures.inboxes.iter().take(BARS).map(bar).collect()
}

pub fn draft_bars(figures: &ReportFigures) -> Vec<DraftBar> {
    let bar = |one: &reports::DraftFigures| {
        let all = one.as_it_was + one.edited + one.discarded;
        let part = |class, before: i64, n: i64| (class, percent(before, all), percent(n, all));
        DraftBar {
            name: shown_name(one.id.as_deref(), &one.name),
            parts: [
                part("d1", 0, one.as_it_was),
                part("d2", one.as_it_was, one.edited),
                part("d3", one.as_it_was + one.edited, one.discarded),
            ],
            count: all,
            share: t!("{share} % as is", share = one.as_it_was * 100 / all.max(1)),
        }
    };
    figures.drafts.iter().map(bar).collect()
}

fn percent(n: i64, of: i64) -> String {
    number(n as f64 * 100.0 / of.max(1) as f64)
}

fn with_sign(n: i64) -> String {
    if n < 0 { format!("−{}", -n) } else { format!("+{n}") }
}

fn number(value: f64) -> String {
    format!("{value:.1}")
}

/// The end of a scale: at least the number, and split evenly by the grid.
fn scale_top(most: i64) -> i64 {
    let mut step = 1;
    while step * GRID < most {
        step = match step.to_string().as_bytes()[0] {
            b'1' => step * 2,
            b'2' => step / 2 * 5,
            _ => step * 2,
        };
    }
    step * GRID
}

/// The labels of a scale, the highest first.
fn scale(top: i64, words: impl Fn(i64) -> String) -> Vec<String> {
    (0..=GRID).rev().map(|line| words(top * line / GRID)).collect()
}

/// A label for each step, empty for most: each stands below its own step, and few fit.
fn labels(figures: &ReportFigures) -> Vec<String> {
    let every = figures.steps.len().div_ceil(LABELS).max(1);
    let label = |(place, from): (usize, &String)| {
        if place.is_multiple_of(every) { short_day(from) } else { String::new() }
    };
    figures.steps.iter().map(|step| &step.from).enumerate().map(label).collect()
}

fn bars(titles: Vec<String>, pairs: &[(i64, i64)], top: i64) -> Vec<StepBar> {
    let room = WIDTH / pairs.len().max(1) as f64;
    let width = room * 0.36;
    let height = |n: i64| n as f64 * HEIGHT / top.max(1) as f64;
    let bar = |(place, (title, (first, second))): (usize, (String, &(i64, i64)))| {
        let x = place as f64 * room + room * 0.12;
        StepBar {
            title,
            x: number(x),
            width: number(width),
            y: number(HEIGHT - height(*first)),
            height: number(height(*first)),
            second_x: number(x + width + room * 0.04),
            second_y: number(HEIGHT - height(*second)),
            second_height: number(height(*second)),
        }
    };
    titles.into_iter().zip(pairs).enumerate().map(bar).collect()
}

/// A path through the points that there are; empty for fewer than two.
fn line(points: &[Option<f64>], top: f64) -> String {
    let room = WIDTH / points.len().max(1) as f64;
    let mut path = String::new();
    let mut drawn = 0;
    for (place, value) in points.iter().enumerate() {
        let Some(value) = value else { continue };
        let (x, y) = ((place as f64 + 0.5) * room, HEIGHT - value * HEIGHT / top.max(1.0));
        path.push_str(&format!("{}{x:.1} {y:.1}", if drawn == 0 { "M" } else { " L" }));
        drawn += 1;
    }
    if drawn < 2 { String::new() } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_ends_at_a_round_number_above_the_most() {
        for (most, top) in [(0, 4), (4, 4), (5, 8), (30, 40), (41, 80), (900, 2_000)] {
            assert_eq!(scale_top(most), top, "{most}");
        }
        assert_eq!(scale(40, |n| n.to_string()), ["40", "30", "20", "10", "0"]);
    }

    #[test]
    fn bars_stand_on_the_ground_and_a_line_needs_two_points() {
        let drawn = bars(vec!["a".into(), "b".into()], &[(4, 2), (0, 1)], 4);
        assert_eq!((drawn[0].y.as_str(), drawn[0].height.as_str()), ("0.0", "100.0"));
        assert_eq!((drawn[1].y.as_str(), drawn[1].height.as_str()), ("100.0", "0.0"));
        assert_eq!(line(&[Some(1.0), None], 2.0), "");
        assert_eq!(line(&[Some(1.0), None, Some(2.0)], 2.0), "M93.3 50.0 L466.7 0.0");
    }
}
