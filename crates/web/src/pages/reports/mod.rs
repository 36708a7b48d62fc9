//! Reports: how the team did in a span of days, as plots and tables, and as CSV.

mod plots;

use std::sync::Arc;

use api::operations::GetReportsInput;
use api::operations::get_reports;
use askama::Template;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use base::app::Cx;
use base::error::Error;
use base::time::is_date;
use db::Tx;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use model::mailboxes;
use model::times::workspace_zone::workspace_zone;
use reports::tables::{self, Kpi, ReportTable};
use reports::{ReportFigures, report_targets};
use translation::{Language, Reader, t};

use crate::Web;
use crate::forms::form::{Asked, FormFields};
use crate::layout::filters;
use crate::layout::page_layout::{PageLayout, PageLocation};
use crate::layout::responses::{self, FormOutcome, PageError, PageResult};
use crate::visitor::Visitor;
use plots::{DraftBar, HeatPlot, LinePlot, RowBar, VolumePlot};

#[derive(Template)]
#[template(path = "reports.html", whitespace = "minimize")]
struct ReportsPage {
    frame: PageLayout,
    /// The span in words.
    span: String,
    from: String,
    to: String,
    mailbox: String,
    zone: String,
    zones: Vec<String>,
    inboxes: Vec<(String, String)>,
    /// Spans to choose from: address, label, and whether it is shown.
    spans: Vec<(String, &'static str, bool)>,
    /// The query of this report, for the links to CSV.
    query: String,
    problem: String,
    kpis: Vec<Kpi>,
    volume: VolumePlot,
    answers: LinePlot,
    heat: HeatPlot,
    missed: VolumePlot,
    topics: Vec<RowBar>,
    tags: Vec<RowBar>,
    by_inbox: Vec<RowBar>,
    drafts: Vec<DraftBar>,
    tables: Vec<ReportTable>,
}

impl ReportsPage {
    /// The figures of a plot as a table.
    fn table(&self, key: &str) -> Option<&ReportTable> {
        self.tables.iter().find(|table| table.key == key)
    }
}

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> PageResult {
    match build(&web, &visitor, &asked).await.or_problems()? {
        Ok(page) => web.show(&visitor, &page),
        Err(problems) => {
            let mut page = build(&web, &visitor, &FormFields::default()).await?;
            (page.from, page.to) =
                (asked_day(&visitor, &asked, "from"), asked_day(&visitor, &asked, "to"));
            let is_day = |text: &String| is_date(text);
            // Days are written so that they sort as text.
            page.problem = if is_day(&page.from) && is_day(&page.to) && page.from > page.to {
                t!("The first day is after the last one.").into()
            } else {
                match problems.0.first() {
                    // What this page says itself is a whole sentence.
                    Some(problem) if problem.sentence.ends_with('.') => {
                        translation::sentence(&problem.sentence).into_owned()
                    }
                    Some(problem) => {
                        let whole = format!("{} {}.", problem.field, problem.sentence);
                        translation::sentence(&whole).into_owned()
                    }
                    None => String::new(),
                }
            };
            responses::again(&page)
        }
    }
}

/// A day of the form, as the reports take it.
fn asked_day(visitor: &Visitor, asked: &FormFields, name: &str) -> String {
    visitor.iso_past_day(&asked.get(name))
}

fn input(visitor: &Visitor, asked: &FormFields) -> base::error::Result<GetReportsInput> {
    let date = |name, sentence| match asked_day(visitor, asked, name) {
        text if text.is_empty() => Ok(None),
        text if !is_date(&text) => Err(Error::invalid(name, sentence)),
        text => Ok(Some(text)),
    };
    Ok(GetReportsInput {
        from: date("from", "The first day must be a date such as 2026-11-30.")?,
        to: date("to", "The last day must be a date such as 2026-11-30.")?,
        mailbox: asked.opt("mailbox"),
        zone: match asked.opt("zone") {
            Some(name) if calendar::zone_named(&name).is_none() => {
                return Err(Error::invalid("zone", "This is no time zone."));
            }
            zone => zone,
        },
    })
}

async fn build(web: &Web, visitor: &Visitor, asked: &FormFields) -> Result<ReportsPage, PageError> {
    let (wanted, location) = (input(visitor, asked)?, PageLocation::at(t!("Reports"), "/reports"));
    let (frame, (figures, inboxes, targets)) = web
        .page_from_replica(visitor, location, move |tx, cx, _| {
            let figures = read_figures(tx, cx, &wanted)?;
            let targets = report_targets(tx, cx, figures.mailbox.as_ref())?;
            Ok((figures, mailboxes::all_seen_by(tx, cx.actor)?, targets))
        })
        .await?;
    let zone = calendar::zone_named(&figures.zone).unwrap_or(TimeZone::UTC);
    let now = Timestamp::from_millisecond(frame.times.now).unwrap_or(Timestamp::UNIX_EPOCH);
    let today = zone.to_datetime(now).date();
    let mut zones = calendar::zone_names();
    if !zones.contains(&figures.zone) {
        zones.push(figures.zone.clone());
    }
    Ok(ReportsPage {
        span: plots::span_words(&figures),
        from: figures.from.clone(),
        to: figures.to.clone(),
        inboxes: inboxes.into_iter().map(|inbox| (inbox.id.to_string(), inbox.name)).collect(),
        spans: spans(&figures, today),
        query: query(&figures, &figures.from, &figures.to),
        mailbox: mailbox(&figures),
        zone: figures.zone.clone(),
        zones,
        problem: String::new(),
        kpis: tables::kpis(&figures, targets.has_any),
        volume: plots::volume(&figures),
        answers: plots::answers(&figures, &targets.answers),
        heat: plots::heat(&figures),
        missed: plots::missed_targets(&figures),
        topics: plots::named_bars(&figures.topics),
        tags: plots::named_bars(&figures.tags),
        by_inbox: plots::inbox_bars(&figures),
        drafts: plots::draft_bars(&figures),
        tables: tables::tables(&figures),
        frame,
    })
}

/// In the zone of the workspace, unless another one is asked for.
fn read_figures(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    wanted: &GetReportsInput,
) -> base::error::Result<ReportFigures> {
    let zone = match &wanted.zone {
        Some(zone) => zone.clone(),
        None => workspace_zone(tx, cx.actor.ws)?,
    };
    get_reports(tx, cx, &GetReportsInput { zone: Some(zone), ..wanted.clone() })
}

/// One table of a report, or all of them, as CSV.
pub async fn csv(State(web): State<Arc<Web>>, visitor: Visitor, Asked(asked): Asked) -> PageResult {
    let wanted = input(&visitor, &asked)?;
    let figures: ReportFigures =
        web.read_from_replica(&visitor, move |tx, cx, _| read_figures(tx, cx, &wanted)).await?;
    let key = asked.get("table");
    // Programs read it, by the names of its columns.
    let mut tables = Reader::new(Language::ENGLISH).run(|| tables::tables(&figures));
    if !key.is_empty() {
        tables.retain(|table| table.key == key);
    }
    if tables.is_empty() {
        return Err(PageError::Domain(Error::NotFound("table")));
    }
    let mut response = responses::plain(tables::csv(&tables));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8"));
    let name = format!("attachment; filename=\"reports-{}-{}.csv\"", figures.from, figures.to);
    if let Ok(name) = HeaderValue::from_str(&name) {
        headers.insert(header::CONTENT_DISPOSITION, name);
    }
    Ok(response)
}

/// The inbox of a report; empty for all.
fn mailbox(figures: &ReportFigures) -> String {
    figures.mailbox.as_ref().map(ToString::to_string).unwrap_or_default()
}

/// The query of this report from one day to another.
fn query(figures: &ReportFigures, from: &str, to: &str) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("from", from).append_pair("to", to).append_pair("zone", &figures.zone);
    if let Some(mailbox) = &figures.mailbox {
        query.append_pair("mailbox", mailbox.as_str());
    }
    query.finish()
}

fn spans(figures: &ReportFigures, today: Date) -> Vec<(String, &'static str, bool)> {
    let quarter =
        today.first_of_month().saturating_sub(i64::from((today.month() - 1) % 3).months());
    let starts = [
        (t!("7 days"), today.saturating_sub(6.days())),
        (t!("28 days"), today.saturating_sub(27.days())),
        (t!("This quarter"), quarter),
        (t!("This year"), today.first_of_year()),
    ];
    let link = |(label, from): (&'static str, Date)| {
        let (from, to) = (from.to_string(), today.to_string());
        let current = figures.from == from && figures.to == to;
        (format!("/reports?{}", query(figures, &from, &to)), label, current)
    };
    starts.into_iter().map(link).collect()
}
