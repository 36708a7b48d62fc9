//! The time zone of reports, and when they are mailed to whom, as owners and admins set it.

use base::actor::Circle;
use base::app::Cx;
use base::error::{Error, Result};
use base::ids::UserId;
use db::Tx;
use model::installation::audit_log::{self, Action};
use model::people::members;
use model::times::workspace_zone;
use reports::mailing::{self, ReportNowOutcome, ReportPace, ReportSchedule};

use crate::sign_in::sessions::own_id;

/// The last day of the week, counted from Monday, 0.
const SUNDAY: i64 = 6;

/// What is set.
pub struct ReportSettings {
    /// The zone that was chosen; empty where none was.
    pub zone: String,
    /// The one that holds where none is chosen.
    pub usual_zone: String,
    pub schedule: Option<ReportSchedule>,
    /// The people of the team, and whether they get the report.
    pub people: Vec<(UserId, String, bool)>,
}

/// What somebody chooses.
#[derive(Clone, Debug)]
pub struct ReportSettingsInput {
    /// Empty for the one that the office hours agree on.
    pub zone: String,
    /// `None` where no report is mailed.
    pub pace: Option<ReportPace>,
    /// From 0 for Monday.
    pub weekday: i64,
    pub people: Vec<UserId>,
}

pub fn report_settings(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<ReportSettings> {
    cx.actor.must_administer()?;
    let ws = cx.actor.ws;
    let chosen = mailing::recipients(tx, ws)?;
    let people = members::people(tx, ws)?.into_iter().map(|person| {
        let gets_it = chosen.contains(&person.id);
        (person.id, person.name, gets_it)
    });
    Ok(ReportSettings {
        people: people.collect(),
        zone: workspace_zone::chosen_zone(tx, ws)?,
        usual_zone: workspace_zone::usual_zone(tx, ws)?,
        schedule: mailing::load_schedule(tx, ws)?,
    })
}

pub fn set_report_settings(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    input: &ReportSettingsInput,
) -> Result<()> {
    cx.actor.must_administer()?;
    let ws = cx.actor.ws;
    if !(0..=SUNDAY).contains(&input.weekday) {
        return Err(Error::invalid("weekday", "Choose a day of the week."));
    }
    workspace_zone::choose_zone(tx, ws, &input.zone)?;
    mailing::set_recipients(tx, ws, &input.people)?;
    mailing::choose_schedule(tx, cx, input.pace.map(|pace| (pace, input.weekday)))?;
    let zone = workspace_zone::workspace_zone(tx, ws)?;
    let pace = input.pace.map_or("never", ReportPace::as_str);
    audit_log::record(tx, cx, &Circle::team(), Action::ReportsChanged, &zone, pace)
}

/// Mails the latest report to whoever asks.
pub fn mail_report_now(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<ReportNowOutcome> {
    cx.actor.must_administer()?;
    mailing::mail_now(tx, cx, own_id(cx)?)
}
