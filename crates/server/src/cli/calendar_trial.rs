//! Reading a calendar once, as the server would, to see whether it can be read and when it is busy.

use std::path::PathBuf;

use base::time::Moment;
use bookings::calendars::{CalendarAnswer, CalendarKind, CalendarSource, busy_ranges};
use clap::Args;
use jobs::CalendarReader;
use serde_json::{Value, json};
use transport::calendars::HttpCalendarReader;

use super::command::{CommandResult, say_line};
use super::small_file::first_line;
use crate::serve::net_config;
use crate::settings::Settings;

#[derive(Args)]
pub struct TriedCalendar {
    /// The address of an ICS feed
    #[arg(long, value_name = "URL", conflicts_with = "caldav", required_unless_present = "caldav")]
    ics: Option<String>,
    /// The address of a CalDAV calendar, or of an account
    #[arg(long, value_name = "URL", requires = "user", requires = "password_file")]
    caldav: Option<String>,
    #[arg(long)]
    user: Option<String>,
    /// A file with the app password in its first line
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// The host's time zone, for whole days and times without a zone
    #[arg(long, default_value = "UTC")]
    zone: String,
    /// The host's address, for invitations that they declined
    #[arg(long, default_value = "")]
    email: String,
    /// What the last reading printed as etag
    #[arg(long, default_value = "")]
    etag: String,
}

impl TriedCalendar {
    /// Prints `{"unchanged": true}`, or `etag` and `busy`: starts and ends in order, those that touch
    /// as one.
    pub async fn read(self, settings: &Settings) -> CommandResult {
        let password = match &self.password_file {
            Some(file) => first_line(file)?,
            None => String::new(),
        };
        let (kind, address) = match (self.ics, self.caldav) {
            (Some(address), _) => (CalendarKind::Ics, address),
            (None, Some(address)) => (CalendarKind::CalDav, address),
            (None, None) => return Err("Say --ics or --caldav with an address.".into()),
        };
        let user = self.user.unwrap_or_default();
        let source = CalendarSource { kind, address, user, password, etag: self.etag };
        let reader = HttpCalendarReader::of(&net_config(settings))?;
        let (bytes, etag) = match reader.read(&source).await {
            CalendarAnswer::Unchanged => {
                say_line!("{}", json!({ "unchanged": true }));
                return Ok(());
            }
            CalendarAnswer::Failed(sentence) => return Err(sentence.into()),
            CalendarAnswer::Feed { bytes, etag } => (bytes, etag),
        };
        let now = jiff::Timestamp::now().as_millisecond();
        let ranges = busy_ranges(&bytes, &self.zone, &self.email, "https://mailroom.invalid", now)?;
        let range = |(start, end): (i64, i64)| json!([Moment(start).iso(), Moment(end).iso()]);
        let busy: Vec<Value> = ranges.into_iter().map(range).collect();
        say_line!("{}", json!({ "etag": etag, "busy": busy }));
        Ok(())
    }
}
