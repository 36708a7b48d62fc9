//! Bookings at the command line: hours, types, calendars, and slots as arithmetic alone.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use bookings::calendars::{CalendarKind, NewCalendar};
use bookings::hours::HostStay;
use bookings::types::{BookingQuestion, BookingTypeInput, HostChoice};
use calendar::{
    BusyQuery, HostHours, HostMode, RoundRobinState, SlotHost, SlotQuery, SlotRules, TimeRange,
};
use clap::{Args, Subcommand};
use jiff::ToSpan;
use jiff::civil::Date;
use serde::Deserialize;
use serde_json::json;

use super::calendar_trial::TriedCalendar;
use super::command::{CommandResult, WorkspaceArgs, open, person, print, say, sentence};
use super::small_file::{first_line, small_file};
use crate::settings::Settings;

/// Days that slots are tried for at once; longer spans are tried in parts.
const DAYS_AT_ONCE: i64 = 28;
/// Days that slots can be tried for in all.
const DAYS: i64 = 3_660;

#[derive(Subcommand)]
pub enum BookingCommand {
    /// Set when a person can be booked
    Hours {
        /// The person's address
        email: String,
        /// Their time zone, such as Europe/Berlin
        #[arg(long)]
        zone: String,
        /// Their week, such as "mon-fri 09:00-12:00,13:00-17:00; sat 10:00-12:00"
        #[arg(long)]
        weekly: String,
        /// Whose public holidays are days off, such as DE-BY; "" for none
        #[arg(long, value_name = "PLACE")]
        holidays: Option<String>,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// Give a date hours of its own, or make it a day off
    Date {
        /// The person's address
        email: String,
        #[arg(long)]
        date: String,
        /// The hours of that date; none make it a day off
        #[arg(long, default_value = "")]
        hours: String,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// Say that a person is in another time zone for some days
    Stay {
        /// The person's address
        email: String,
        /// The first day
        #[arg(long, value_name = "DATE")]
        from: String,
        /// The last day
        #[arg(long, value_name = "DATE")]
        to: String,
        #[arg(long)]
        zone: String,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// What customers can book
    #[command(subcommand)]
    Type(BookingTypeCommand),
    /// Calendars that say when a person is busy
    #[command(subcommand)]
    Calendar(CalendarCommand),
}

#[derive(Subcommand)]
pub enum BookingTypeCommand {
    /// Add a booking type
    Add(NewBookingType),
}

#[derive(Args)]
pub struct NewBookingType {
    #[arg(long)]
    name: String,
    /// The last part of its address: lower-case letters, digits and -
    #[arg(long)]
    slug: String,
    #[arg(long, default_value_t = 30)]
    minutes: i64,
    /// Who is there; of several one, by turns. A share may follow: EMAIL:2 gets twice as many
    #[arg(long, value_name = "EMAIL[:SHARE]", value_delimiter = ',', required = true)]
    hosts: Vec<String>,
    /// All hosts are there, instead of one of them
    #[arg(long)]
    together: bool,
    /// Minutes kept free before
    #[arg(long, default_value_t = 0)]
    before: i64,
    /// Minutes kept free after
    #[arg(long, default_value_t = 0)]
    after: i64,
    /// Minutes from now to the earliest start
    #[arg(long, default_value_t = 60)]
    notice: i64,
    /// Days into the future that can be booked
    #[arg(long, default_value_t = 60)]
    horizon_days: i64,
    /// Minutes from one start to the next; its length if not given
    #[arg(long)]
    step: Option<i64>,
    /// Bookings of it that a host takes a day
    #[arg(long)]
    per_day: Option<i64>,
    /// Hours before the start until which guests move or cancel with their link; 0 for until the start
    #[arg(long, value_name = "HOURS", default_value_t = 0)]
    cancel_until: i64,
    /// Where it takes place
    #[arg(long, default_value = "")]
    place: String,
    #[arg(long, default_value = "")]
    description: String,
    /// A question for guests, up to five times; one that must be answered ends with *
    #[arg(long = "question", value_name = "TEXT")]
    questions: Vec<String>,
    /// Not on the page of the workspace; only its own address leads to it
    #[arg(long)]
    unlisted: bool,
    /// The owner or admin who adds it
    #[arg(long, value_name = "EMAIL")]
    by: String,
    #[command(flatten)]
    workspace: WorkspaceArgs,
}

#[derive(Subcommand)]
pub enum CalendarCommand {
    /// Subscribe a person to a calendar
    Add(NewBusyCalendar),
    /// Read a calendar once and print when it is busy, touching no data
    Try(TriedCalendar),
}

#[derive(Args)]
pub struct NewBusyCalendar {
    /// The person's address
    email: String,
    /// The address of an ICS feed
    #[arg(long, value_name = "URL", conflicts_with = "caldav", required_unless_present = "caldav")]
    ics: Option<String>,
    /// The address of a CalDAV calendar
    #[arg(long, value_name = "URL", requires = "user", requires = "password_file")]
    caldav: Option<String>,
    #[arg(long)]
    user: Option<String>,
    /// A file with the app password in its first line
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    #[command(flatten)]
    workspace: WorkspaceArgs,
}

impl BookingCommand {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        match self {
            BookingCommand::Date { email, date, hours, workspace } => {
                let app = open(settings).await?;
                let operator = workspace.operator(&app).await?;
                app.act(&operator, move |tx, cx| {
                    let person = actions::bookings::person_at(tx, cx, &email)?;
                    actions::bookings::set_host_date(tx, cx, &person, (&date, &hours), "")
                })
                .await
                .map_err(sentence)?;
                print(workspace.output, &json!({ "ok": true }), "The date is set.");
                Ok(())
            }
            BookingCommand::Stay { email, from, to, zone, workspace } => {
                let app = open(settings).await?;
                let operator = workspace.operator(&app).await?;
                app.act(&operator, move |tx, cx| {
                    let stay = HostStay {
                        person: actions::bookings::person_at(tx, cx, &email)?,
                        first_date: from.clone(),
                        last_date: to.clone(),
                        zone: zone.clone(),
                    };
                    actions::bookings::set_host_stay(tx, cx, &stay)
                })
                .await
                .map_err(sentence)?;
                print(workspace.output, &json!({ "ok": true }), "The days are set.");
                Ok(())
            }
            BookingCommand::Hours { email, zone, weekly, holidays, workspace } => {
                let app = open(settings).await?;
                let operator = workspace.operator(&app).await?;
                app.act(&operator, move |tx, cx| {
                    let person = actions::bookings::person_at(tx, cx, &email)?;
                    actions::bookings::set_hours(tx, cx, &person, &zone, &weekly)?;
                    match &holidays {
                        Some(place) => actions::bookings::set_holidays(tx, cx, &person, place),
                        None => Ok(()),
                    }
                })
                .await
                .map_err(sentence)?;
                print(workspace.output, &json!({ "ok": true }), "The hours are set.");
                Ok(())
            }
            BookingCommand::Type(BookingTypeCommand::Add(new)) => new.add(settings).await,
            BookingCommand::Calendar(CalendarCommand::Add(new)) => new.add(settings).await,
            BookingCommand::Calendar(CalendarCommand::Try(tried)) => tried.read(settings).await,
        }
    }
}

impl NewBookingType {
    async fn add(self, settings: &Settings) -> CommandResult {
        let app = open(settings).await?;
        let maker = person(&app, &self.workspace.operator(&app).await?, self.by.clone()).await?;
        let hosts = self.hosts.clone();
        let input = BookingTypeInput {
            name: self.name,
            slug: self.slug,
            description: self.description,
            place: self.place,
            minutes: self.minutes,
            step: self.step,
            before: self.before,
            after: self.after,
            notice: self.notice,
            horizon_days: self.horizon_days,
            per_day: self.per_day,
            cancel_hours: self.cancel_until,
            mode: if self.together { HostChoice::Together } else { HostChoice::Any },
            questions: self.questions.iter().map(|line| BookingQuestion::from_line(line)).collect(),
            listed: !self.unlisted,
            ..BookingTypeInput::default()
        };
        let kind = app
            .act(&maker, move |tx, cx| {
                let mut input = input.clone();
                for host in &hosts {
                    let (email, share) = match host.split_once(':') {
                        Some((email, share)) => (email, share.parse().unwrap_or(0)),
                        None => (host.as_str(), 1),
                    };
                    let person = actions::bookings::person_at(tx, cx, email)?;
                    input.weights.push((person.clone(), share));
                    input.hosts.push(person);
                }
                actions::bookings::add_booking_type(tx, cx, &input)
            })
            .await
            .map_err(sentence)?;
        let url = kind.url(&app.public_url);
        let said = format!("{} can be booked at {url}", kind.name);
        print(self.workspace.output, &json!({ "id": kind.id, "url": url }), &said);
        Ok(())
    }
}

impl NewBusyCalendar {
    async fn add(self, settings: &Settings) -> CommandResult {
        let password = match &self.password_file {
            Some(file) => first_line(file)?,
            None => String::new(),
        };
        let (kind, address) = match (self.ics, self.caldav) {
            (Some(address), _) => (CalendarKind::Ics, address),
            (None, Some(address)) => (CalendarKind::CalDav, address),
            (None, None) => return Err("Say --ics or --caldav with an address.".into()),
        };
        let new = NewCalendar { kind, address, user: self.user.unwrap_or_default(), password };
        let app = open(settings).await?;
        let operator = self.workspace.operator(&app).await?;
        let email = self.email;
        let id = app
            .act(&operator, move |tx, cx| {
                let person = actions::bookings::person_at(tx, cx, &email)?;
                actions::bookings::add_busy_calendar(tx, cx, &person, &new)
            })
            .await
            .map_err(sentence)?;
        print(self.workspace.output, &json!({ "id": id }), "The calendar is read from now on.");
        Ok(())
    }
}

#[derive(Subcommand)]
pub enum SlotsCommand {
    /// Print the starts that hours and busy times leave, one a line, touching no data
    Try(TrySlots),
}

#[derive(Args)]
pub struct TrySlots {
    /// A JSON file: zone, weekly, except (dates with hours of their own), before, after, step
    #[arg(long, value_name = "FILE")]
    hours: PathBuf,
    /// An ICS file with busy times
    #[arg(long, value_name = "FILE")]
    busy: Option<PathBuf>,
    /// The first day
    #[arg(long, value_name = "DATE")]
    from: Date,
    /// The last day
    #[arg(long, value_name = "DATE")]
    to: Date,
    /// The length of an appointment
    #[arg(long)]
    minutes: u32,
}

/// Hours as a file has them.
#[derive(Deserialize)]
struct TriedHours {
    zone: String,
    weekly: String,
    #[serde(default)]
    except: BTreeMap<String, String>,
    #[serde(default)]
    before: u32,
    #[serde(default)]
    after: u32,
    step: Option<u32>,
}

impl SlotsCommand {
    pub fn run(self) -> Result<(), String> {
        let SlotsCommand::Try(tried) = self;
        tried.print_starts()
    }
}

impl TrySlots {
    fn print_starts(self) -> Result<(), String> {
        let text = small_file(&self.hours)?;
        let file = self.hours.display();
        let tried: TriedHours =
            serde_json::from_str(&text).map_err(|error| format!("{file}: {error}"))?;
        let hours = tried.hours().map_err(|problem| format!("{file}: {problem}"))?;
        let days = self.from.until(self.to).map_or(-1, |span| i64::from(span.get_days()));
        if self.to < self.from || days > DAYS {
            return Err(format!("--to must be at most {DAYS} days after --from."));
        }
        let feed = match &self.busy {
            Some(file) => fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?,
            None => Vec::new(),
        };
        let mut lines = String::new();
        let mut first = self.from;
        while first <= self.to {
            let last = first.saturating_add((DAYS_AT_ONCE - 1).days()).min(self.to);
            let window = days_of(&hours, first, last)?;
            for start in self.starts(&tried, &hours, &feed, window)? {
                lines.push_str(&format!("{start}\n"));
            }
            first = last.saturating_add(1.day());
        }
        say!("{lines}");
        Ok(())
    }

    fn starts(
        &self,
        tried: &TriedHours,
        hours: &HostHours,
        feed: &[u8],
        window: TimeRange,
    ) -> Result<Vec<jiff::Timestamp>, String> {
        let around = jiff::SignedDuration::from_hours(49);
        let query = BusyQuery {
            window: TimeRange::new(
                window.start.saturating_sub(around).map_err(|error| error.to_string())?,
                window.end.saturating_add(around).map_err(|error| error.to_string())?,
            ),
            host_zone: &hours.zone,
            host_addresses: &[],
            is_own_uid: &|_| false,
        };
        let busy = match feed.is_empty() {
            true => Vec::new(),
            false => {
                let busy = calendar::busy_times(feed, &query).map_err(|error| error.to_string())?;
                busy.intervals.iter().map(|interval| interval.range).collect()
            }
        };
        let rules = SlotRules {
            length: self.minutes,
            step: tried.step.unwrap_or(self.minutes),
            before: tried.before,
            after: tried.after,
            notice: 0,
            horizon_days: None,
            per_day: None,
        };
        let turns = RoundRobinState { weight: 1, given: 0, last_given: None };
        let hosts = [SlotHost { hours, busy: &busy, bookings: &[], turns }];
        let mut starts: Vec<jiff::Timestamp> = Vec::new();
        let mut left = window;
        // An answer has a limit, so go on behind the last start until there is none.
        loop {
            let query = SlotQuery {
                window: left,
                now: jiff::Timestamp::MIN,
                rules,
                mode: HostMode::Any,
                hosts: &hosts,
                limit: usize::MAX,
            };
            let slots = calendar::slots(&query).map_err(|error| format!("{error:?}"))?;
            let Some(last) = slots.last() else { return Ok(starts) };
            starts.extend(slots.iter().map(|slot| slot.range.start));
            let second = jiff::SignedDuration::from_secs(1);
            let next =
                last.range.start.saturating_add(second).map_err(|error| error.to_string())?;
            left = TimeRange::new(next, window.end);
        }
    }
}

impl TriedHours {
    fn hours(&self) -> Result<HostHours, String> {
        let zone = calendar::zone_named(&self.zone)
            .ok_or_else(|| format!("{} is not a time zone.", self.zone))?;
        let weekly =
            self.weekly.parse().map_err(|error: calendar::HoursError| error.to_string())?;
        let mut hours = HostHours::new(zone, weekly);
        for (date, ranges) in &self.except {
            let day: Date = date.parse().map_err(|_| format!("{date} is not a date."))?;
            let ranges = calendar::clock_ranges(ranges).map_err(|error| error.to_string())?;
            hours.dates.insert(day, ranges);
        }
        Ok(hours)
    }
}

/// From the beginning of the first day to the end of the last one, on the host's clock.
fn days_of(hours: &HostHours, first: Date, last: Date) -> Result<TimeRange, String> {
    let midnight = |date: Date| {
        let zoned = date.to_zoned(hours.zone.clone()).map_err(|error| error.to_string())?;
        Ok::<_, String>(zoned.timestamp())
    };
    Ok(TimeRange::new(midnight(first)?, midnight(last.saturating_add(1.day()))?))
}
