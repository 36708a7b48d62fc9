//! Settings of bookings: one's own hours, days off and calendars, and what customers can book.

use std::sync::Arc;

use actions::inboxes::setup;
use askama::Template;
use axum::extract::{Path, State};
use base::error::{Error, ValidationErrors};
use base::ids::{BusyCalendarId, UserId};
use bookings::calendars::{self, BusyCalendar, CalendarKind, NewCalendar};
use bookings::feed;
use bookings::hours::{self, HostDate, HostStay, HostWeek};
use bookings::types::BookingTypeInput;
use calendar::{HoursError, WeeklyHours};
use jiff::civil::Weekday;
use web::Web;
use web::forms::form::{PostedForm, form};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::responses::{self, FormOutcome, PageError, PageResult};
use web::layout::wording::{DisplayTime, weekday};
use web::visitor::Visitor;

use crate::booking_types::booking_preview::{TypeLine, TypeState, type_lines};
use crate::booking_types::type_fields::{BookingTypeForm, TypeFields};
use crate::inboxes::holidays::{HolidayChoice, holiday_choices, next_holidays};
use crate::{SettingsPage, location};

const PAGE: &str = "/settings/bookings";
/// The hours that somebody who has none yet is offered.
const USUAL_HOURS: &str = "mon-fri 09:00-12:00,13:00-17:00";
/// The fields of the days, from Monday on.
const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

#[derive(Template)]
#[template(path = "settings_bookings.html", whitespace = "minimize")]
struct BookingSettingsPage {
    frame: PageLayout,
    /// The page of the workspace, if there is something on it.
    page_url: String,
    types: Vec<TypeLine>,
    has_hours: bool,
    zone: String,
    zone_error: String,
    week: Vec<DayHours>,
    holidays: Vec<HolidayChoice>,
    /// The holidays ahead, in words.
    next_holidays: String,
    /// What is wrong with the hours as a whole.
    hours_error: String,
    dates: Vec<HostDate>,
    stays: Vec<HostStay>,
    calendars: Vec<CalendarLine>,
    feed: Option<String>,
    /// The type that an owner or admin is about to add.
    form: TypeFields,
    is_admin: bool,
}

/// The hours of one day of the week, as the page has them.
struct DayHours {
    id: &'static str,
    name: &'static str,
    hours: String,
    error: String,
}

struct CalendarLine {
    id: String,
    title: String,
    problem: String,
    read: Option<DisplayTime>,
}

/// What the page is read from.
struct BookingSettings {
    types: Vec<TypeLine>,
    week: Option<HostWeek>,
    dates: Vec<HostDate>,
    stays: Vec<HostStay>,
    calendars: Vec<BusyCalendar>,
    feed: Option<String>,
    people: Vec<(UserId, String)>,
    is_admin: bool,
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    web.show(&visitor, &build(&web, &visitor).await?)
}

async fn build(web: &Web, visitor: &Visitor) -> Result<BookingSettingsPage, PageError> {
    let zone = visitor.zone.clone();
    let (frame, read) = web
        .page(visitor, location(SettingsPage::Bookings), move |tx, cx, me| {
            let (ws, my) = (cx.actor.ws, &me.id);
            let people = setup::list_people(tx, cx)?;
            Ok(BookingSettings {
                types: type_lines(tx, cx, &zone)?,
                week: hours::of_person(tx, ws, my)?,
                dates: hours::dates(tx, ws, my)?,
                stays: hours::stays(tx, ws, my)?,
                calendars: calendars::of_person(tx, ws, my)?,
                feed: feed::url(tx, cx, my)?,
                people: people.into_iter().map(|one| (one.id, one.name)).collect(),
                is_admin: cx.actor.must_administer().is_ok(),
            })
        })
        .await?;
    let page_url = read.types.first().and_then(|kind| kind.url.rsplit_once('/'));
    let page_url = page_url.map(|(page, _)| page.to_owned());
    let place = read.week.as_ref().map_or("", |week| week.holidays.as_str()).to_owned();
    let week = read.week.filter(|week| !week.weekly.is_empty());
    let zone = visitor.zone.iana_name().unwrap_or("UTC").to_owned();
    let lines = read.calendars.into_iter().map(|one| CalendarLine {
        id: one.id.to_string(),
        title: one.title,
        problem: one.problem,
        read: one.fetched_at.map(|at| frame.times.long(at)),
    });
    Ok(BookingSettingsPage {
        page_url: page_url.unwrap_or_default(),
        types: read.types,
        has_hours: week.is_some(),
        zone: week.as_ref().map_or(zone, |week| week.zone.clone()),
        zone_error: String::new(),
        week: days_of(week.as_ref().map_or(USUAL_HOURS, |week| week.weekly.as_str())),
        holidays: holiday_choices(&place),
        next_holidays: next_holidays(&place, frame.times.now),
        hours_error: String::new(),
        dates: read.dates,
        stays: read.stays,
        calendars: lines.collect(),
        feed: read.feed,
        form: TypeFields::of(&BookingTypeInput::default(), read.people),
        is_admin: read.is_admin,
        frame,
    })
}

/// The hours of each day; none where they cannot be read.
fn days_of(weekly: &str) -> Vec<DayHours> {
    let weekly: WeeklyHours = weekly.parse().unwrap_or_default();
    let names = Weekday::Monday.cycle_forward();
    let days = DAYS.into_iter().zip(names).enumerate().map(|(at, (id, day))| {
        let ranges = weekly.of_day(at).iter().map(ToString::to_string);
        DayHours {
            id,
            name: weekday(day),
            hours: ranges.collect::<Vec<_>>().join(", "),
            error: String::new(),
        }
    });
    days.collect()
}

form! {
    pub struct BookingHoursForm {
        zone: String,
        mon: String,
        tue: String,
        wed: String,
        thu: String,
        fri: String,
        sat: String,
        sun: String,
        holidays: String,
    }

    pub struct StayForm {
        first: String,
        last: String,
        zone: String = "stayZone",
    }

    pub struct DateForm {
        date: String,
        hours: String,
        note: String,
    }

    pub struct CalendarForm {
        address: String,
        user: String,
        password: String,
    }
}

impl BookingHoursForm {
    /// What was typed for each day, from Monday on.
    fn days(&self) -> [&str; 7] {
        let days = [&self.mon, &self.tue, &self.wed, &self.thu, &self.fri, &self.sat, &self.sun];
        days.map(|day| day.trim())
    }

    /// The hours of each day, or why they cannot be read.
    fn read_days(&self) -> [Result<String, HoursError>; 7] {
        self.days().map(|typed| {
            let ranges = calendar::clock_ranges(typed)?;
            Ok(ranges.iter().map(ToString::to_string).collect::<Vec<_>>().join(","))
        })
    }

    /// The hours of the week as the domain takes them; nothing where some cannot be read.
    fn weekly(&self) -> Option<String> {
        let mut parts = Vec::new();
        for (day, hours) in DAYS.into_iter().zip(self.read_days()) {
            let hours = hours.ok()?;
            if !hours.is_empty() {
                parts.push(format!("{day} {hours}"));
            }
        }
        Some(parts.join("; "))
    }
}

pub async fn set_hours(
    State(web): State<Arc<Web>>,
    posted: PostedForm<BookingHoursForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let Some(weekly) = form.weekly() else {
        return hours_refused(&web, &visitor, &form, ValidationErrors::default()).await;
    };
    let (zone, place) = (form.zone.clone(), form.holidays.clone());
    let saved = web
        .act(&visitor, move |tx, cx, me| {
            actions::bookings::set_hours(tx, cx, &me.id, &zone, &weekly)?;
            actions::bookings::set_holidays(tx, cx, &me.id, &place)
        })
        .await;
    match saved.or_problems()? {
        Ok(()) => finish(&web),
        Err(problems) => hours_refused(&web, &visitor, &form, problems).await,
    }
}

/// The page with the hours that were typed and what is wrong with them.
async fn hours_refused(
    web: &Web,
    visitor: &Visitor,
    form: &BookingHoursForm,
    problems: ValidationErrors,
) -> PageResult {
    let mut page = build(web, visitor).await?;
    let typed = form.days().into_iter().zip(form.read_days());
    for (day, (hours, read)) in page.week.iter_mut().zip(typed) {
        day.hours = hours.to_owned();
        day.error = read.err().map(HoursError::sentence).unwrap_or_default().to_owned();
    }
    for problem in problems.0 {
        match problem.field.as_str() {
            "zone" => page.zone_error = problem.sentence,
            _ => page.hours_error = problem.sentence,
        }
    }
    page.zone.clone_from(&form.zone);
    page.holidays = holiday_choices(&form.holidays);
    responses::again(&page)
}

pub async fn set_date(State(web): State<Arc<Web>>, posted: PostedForm<DateForm>) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let date = visitor.iso_day(&form.date);
    web.act(&visitor, move |tx, cx, me| {
        actions::bookings::set_host_date(tx, cx, &me.id, (&date, &form.hours), &form.note)
    })
    .await?;
    finish(&web)
}

pub async fn remove_date(
    State(web): State<Arc<Web>>,
    Path(date): Path<String>,
    posted: PostedForm,
) -> PageResult {
    web.act(&posted.visitor, move |tx, cx, me| {
        actions::bookings::remove_host_date(tx, cx, &me.id, &date)
    })
    .await?;
    finish(&web)
}

/// Days in another zone.
pub async fn set_stay(State(web): State<Arc<Web>>, posted: PostedForm<StayForm>) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let (first_date, last_date) = (visitor.iso_day(&form.first), visitor.iso_day(&form.last));
    web.act(&visitor, move |tx, cx, me| {
        let stay = HostStay {
            person: me.id.clone(),
            first_date: first_date.clone(),
            last_date: last_date.clone(),
            zone: form.zone.clone(),
        };
        actions::bookings::set_host_stay(tx, cx, &stay)
    })
    .await?;
    finish(&web)
}

pub async fn remove_stay(
    State(web): State<Arc<Web>>,
    Path(first): Path<String>,
    posted: PostedForm,
) -> PageResult {
    web.act(&posted.visitor, move |tx, cx, me| {
        actions::bookings::remove_host_stay(tx, cx, &me.id, &first)
    })
    .await?;
    finish(&web)
}

pub async fn add_calendar(
    State(web): State<Arc<Web>>,
    posted: PostedForm<CalendarForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let address = form.address.trim().replacen("webcal://", "https://", 1);
    if let Err(error) = web.ssrf_guard.vet(&address).await {
        return Err(error.into());
    }
    let kind = if form.user.is_empty() { CalendarKind::Ics } else { CalendarKind::CalDav };
    let new = NewCalendar { kind, address, user: form.user, password: form.password };
    web.act(&visitor, move |tx, cx, me| {
        actions::bookings::add_busy_calendar(tx, cx, &me.id, &new)?;
        Ok(())
    })
    .await?;
    finish(&web)
}

pub async fn remove_calendar(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    web.act(&posted.visitor, move |tx, cx, me| {
        let id = BusyCalendarId::parse(&id).ok_or(Error::NotFound("calendar"))?;
        actions::bookings::remove_busy_calendar(tx, cx, &me.id, &id)
    })
    .await?;
    finish(&web)
}

/// Makes the secret address of one's own bookings, or another one.
pub async fn make_feed(State(web): State<Arc<Web>>, posted: PostedForm) -> PageResult {
    web.act(&posted.visitor, move |tx, cx, me| feed::renew(tx, cx, &me.id)).await?;
    finish(&web)
}

pub async fn add_type(
    State(web): State<Arc<Web>>,
    posted: PostedForm<BookingTypeForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let input = form.input();
    let added = web.act(&visitor, move |tx, cx, _| {
        actions::bookings::add_booking_type(tx, cx, &input)?;
        Ok(())
    });
    match added.await.or_problems()? {
        Ok(()) => finish(&web),
        Err(problems) => {
            let page = build(&web, &visitor).await?;
            let fields = page.form.with_typed(form, problems);
            responses::again(&BookingSettingsPage { form: fields, ..page })
        }
    }
}

fn finish(web: &Web) -> PageResult {
    web.redirect(PAGE, Flash::BookingsSaved)
}
