//! The time zone of reports, and who gets them by mail.

use std::sync::Arc;

use actions::sign_in::sessions::SignedIn;
use actions::workspace::report_settings::{self, ReportSettings, ReportSettingsInput};
use askama::Template;
use axum::extract::State;
use base::app::Cx;
use base::error::Error;
use base::ids::UserId;
use db::Tx;
use model::times::calendar_words;
use reports::mailing::{ReportNowOutcome, ReportPace};
use web::Web;
use web::forms::field_errors::FieldErrors;
use web::forms::form::{PostedForm, form};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::responses::{self, FormOutcome, PageError, PageResult};
use web::visitor::Visitor;

use crate::{SettingsPage, location};

const HERE: &str = "/settings/reports";

#[derive(Template)]
#[template(path = "settings_reports.html", whitespace = "minimize")]
struct ReportSettingsPage {
    frame: PageLayout,
    zones: Vec<String>,
    zone: String,
    usual_zone: String,
    /// `week`, `month`, or empty where no report is mailed.
    pace: String,
    /// Number and name of each weekday, and whether it is chosen.
    weekdays: Vec<(i64, &'static str, bool)>,
    /// When the next report leaves; empty where none does.
    next: String,
    /// Id, name, and whether they get the report.
    people: Vec<(String, String, bool)>,
    errors: FieldErrors,
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    web.show(&visitor, &build(&web, &visitor).await?)
}

async fn build(web: &Web, visitor: &Visitor) -> Result<ReportSettingsPage, PageError> {
    let (frame, settings): (PageLayout, ReportSettings) = web
        .page(visitor, location(SettingsPage::Reports), |tx, cx, _| {
            report_settings::report_settings(tx, cx)
        })
        .await?;
    let schedule = settings.schedule.as_ref();
    let weekday = schedule.map_or(0, |schedule| schedule.weekday);
    let holds = if settings.zone.is_empty() { &settings.usual_zone } else { &settings.zone };
    let zone = calendar::zone_named(holds).unwrap_or(jiff::tz::TimeZone::UTC);
    let next = schedule.map(|schedule| calendar_words::date_and_clock(schedule.due_at, &zone));
    Ok(ReportSettingsPage {
        zones: calendar::zone_names(),
        pace: schedule.map_or_else(String::new, |schedule| schedule.pace.as_str().to_owned()),
        weekdays: weekdays(weekday),
        next: next.unwrap_or_default(),
        people: settings
            .people
            .into_iter()
            .map(|(id, name, gets_it)| (id.to_string(), name, gets_it))
            .collect(),
        zone: settings.zone,
        usual_zone: settings.usual_zone,
        errors: FieldErrors::default(),
        frame,
    })
}

/// The days of the week, one of which is chosen.
fn weekdays(chosen: i64) -> Vec<(i64, &'static str, bool)> {
    let days = (0..).zip(calendar_words::weekdays());
    days.map(|(day, name)| (day, name, day == chosen)).collect()
}

form! {
    pub struct ReportSettingsForm {
        zone: String,
        /// Empty for never.
        pace: Option<String>,
        weekday: Option<i64>,
        people: Vec<String>,
    }
}

impl ReportSettingsForm {
    fn input(&self) -> base::error::Result<ReportSettingsInput> {
        let id = |id: &String| UserId::parse(id).ok_or(Error::NotFound("person"));
        let unknown = || Error::invalid("pace", "Choose never, every week or every month.");
        let pace = match self.pace.as_deref() {
            Some("") => None,
            chosen => Some(chosen.and_then(ReportPace::parse).ok_or_else(unknown)?),
        };
        Ok(ReportSettingsInput {
            zone: self.zone.clone(),
            pace,
            weekday: self.weekday.unwrap_or(0),
            people: self.people.iter().map(id).collect::<base::error::Result<_>>()?,
        })
    }

    /// Shows what was sent in place of what is set.
    fn fill(self, page: &mut ReportSettingsPage) {
        page.weekdays = weekdays(self.weekday.unwrap_or(0));
        for (id, _, gets_it) in &mut page.people {
            *gets_it = self.people.contains(id);
        }
        page.zone = self.zone;
        if let Some(pace) = self.pace {
            page.pace = pace;
        }
    }
}

pub async fn save(
    State(web): State<Arc<Web>>,
    posted: PostedForm<ReportSettingsForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let saved = match form.input() {
        Ok(input) => {
            let save = move |tx: &mut Tx<'_>, cx: &Cx<'_>, _: &SignedIn| {
                report_settings::set_report_settings(tx, cx, &input)
            };
            web.act(&visitor, save).await
        }
        Err(error) => Err(error.into()),
    };
    match saved.or_problems()? {
        Ok(()) => web.redirect(HERE, Flash::ReportsSaved),
        Err(problems) => {
            let mut page = build(&web, &visitor).await?;
            form.fill(&mut page);
            page.errors = FieldErrors::of(problems, &["zone"], "pace");
            responses::again(&page)
        }
    }
}

pub async fn mail_now(State(web): State<Arc<Web>>, posted: PostedForm) -> PageResult {
    let outcome = web
        .act_quietly(&posted.visitor, |tx, cx, _| report_settings::mail_report_now(tx, cx))
        .await?;
    let flash = match outcome {
        ReportNowOutcome::Queued => Flash::ReportMailed,
        ReportNowOutcome::UnderWay => Flash::ReportUnderWay,
        ReportNowOutcome::Unread => Flash::ReportUnread,
    };
    web.redirect(HERE, flash)
}
