//! Settings of bookings: one's own hours, days off and calendars, and what customers can book.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, State};
use inbox::base::ids::{BusyCalendarId, UserId};
use inbox::base::limits::DAY_MS;
use inbox::model::bookings::calendars::{self, BusyCalendar, CalendarKind, NewCalendar};
use inbox::model::bookings::hours::{self, HostDate, HostStay, HostWeek};
use inbox::model::bookings::types::{self, BookingHost, BookingType, BookingTypeInput, HostChoice};
use inbox::model::bookings::{availability, feed};
use inbox::{Error, actions};
use translation::{msg, t};

use super::holidays::{HolidayChoice, holiday_choices, next_holidays};
use super::{SettingsPage, location};
use crate::web::Web;
use crate::web::booking::day_words;
use crate::web::form::{FormFields, FormValue, Posted, form};
use crate::web::layout::filters;
use crate::web::layout::flash::Flash;
use crate::web::layout::page_layout::PageLayout;
use crate::web::layout::responses::{self, PageError, PageResult};
use crate::web::layout::wording::DisplayTime;
use crate::web::visitor::Visitor;

const PAGE: &str = "/settings/bookings";
/// The hours that somebody who has none yet is offered.
const USUAL_HOURS: &str = "mon-fri 09:00-12:00,13:00-17:00";

#[derive(Template)]
#[template(path = "settings_bookings.html", whitespace = "minimize")]
struct BookingSettingsPage {
    frame: PageLayout,
    /// The page of the workspace, if there is something on it.
    page_url: String,
    types: Vec<TypeLine>,
    has_hours: bool,
    zone: String,
    weekly: String,
    holidays: Vec<HolidayChoice>,
    /// The holidays ahead, in words.
    next_holidays: String,
    dates: Vec<HostDate>,
    stays: Vec<HostStay>,
    calendars: Vec<CalendarLine>,
    feed: Option<String>,
    people: Vec<(String, String)>,
    is_admin: bool,
    error: String,
}

struct TypeLine {
    id: String,
    name: String,
    url: String,
    about: String,
    is_active: bool,
}

struct CalendarLine {
    id: String,
    title: String,
    problem: String,
    read: Option<DisplayTime>,
}

/// What the page is read from.
struct BookingSettings {
    types: Vec<(BookingType, Vec<BookingHost>)>,
    week: Option<HostWeek>,
    dates: Vec<HostDate>,
    stays: Vec<HostStay>,
    calendars: Vec<BusyCalendar>,
    feed: Option<String>,
    people: Vec<(String, String)>,
    is_admin: bool,
    public_url: String,
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    web.show(&visitor, &build(&web, &visitor).await?)
}

async fn build(web: &Web, visitor: &Visitor) -> Result<BookingSettingsPage, PageError> {
    let (frame, read) = web
        .page(visitor, location(SettingsPage::Bookings), |tx, cx, me| {
            let (ws, my) = (cx.actor.ws, &me.id);
            let mut kinds = Vec::new();
            for kind in types::list(tx, cx.actor)?.into_iter().filter(|kind| kind.circle.is_team())
            {
                let hosts = types::hosts(tx, ws, &kind.id)?;
                kinds.push((kind, hosts));
            }
            let people = actions::list_people(tx, cx)?;
            Ok(BookingSettings {
                types: kinds,
                week: hours::of_person(tx, ws, my)?,
                dates: hours::dates(tx, ws, my)?,
                stays: hours::stays(tx, ws, my)?,
                calendars: calendars::of_person(tx, ws, my)?,
                feed: feed::url(tx, cx, my)?,
                people: people.into_iter().map(|one| (one.id.to_string(), one.name)).collect(),
                is_admin: cx.actor.must_administer().is_ok(),
                public_url: cx.public_url.to_owned(),
            })
        })
        .await?;
    let page_url = read.types.first().map(|(kind, _)| kind.url(&read.public_url));
    let page_url = page_url.and_then(|url| url.rsplit_once('/').map(|(page, _)| page.to_owned()));
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
        types: read.types.into_iter().map(|one| type_line(one, &read.public_url)).collect(),
        has_hours: week.is_some(),
        zone: week.as_ref().map_or(zone, |week| week.zone.clone()),
        weekly: week.map_or_else(|| USUAL_HOURS.to_owned(), |week| week.weekly),
        holidays: holiday_choices(&place),
        next_holidays: next_holidays(&place, frame.times.now),
        dates: read.dates,
        stays: read.stays,
        calendars: lines.collect(),
        feed: read.feed,
        people: read.people,
        is_admin: read.is_admin,
        error: String::new(),
        frame,
    })
}

fn type_line((kind, hosts): (BookingType, Vec<BookingHost>), public_url: &str) -> TypeLine {
    let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
    TypeLine {
        url: kind.url(public_url),
        about: t!("{minutes} minutes, {names}", minutes = kind.minutes, names = names.join(", ")),
        id: kind.id.to_string(),
        name: kind.name,
        is_active: kind.active,
    }
}

form! {
    pub struct HoursForm {
        zone: String,
        weekly: String,
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

    pub struct NewTypeForm {
        name: String,
        slug: String,
        minutes: Option<i64>,
        place: String,
        description: String,
        hosts: Vec<String>,
        weights: HostWeights,
        together: bool,
        step: Option<i64>,
        before: Option<i64>,
        after: Option<i64>,
        notice: Option<i64>,
        horizon_days: Option<i64> = "horizonDays",
        per_day: Option<i64> = "perDay",
        unlisted: bool,
        inactive: bool,
        questions: String,
    }
}

pub async fn set_hours(State(web): State<Arc<Web>>, posted: Posted<HoursForm>) -> PageResult {
    let Posted { visitor, form } = posted;
    let (zone, weekly, place) = (form.zone.clone(), form.weekly.clone(), form.holidays.clone());
    let saved = web
        .act(&visitor, move |tx, cx, me| {
            actions::set_hours(tx, cx, &me.id, &zone, &weekly)?;
            actions::set_holidays(tx, cx, &me.id, &place)
        })
        .await;
    match saved {
        Err(PageError::Domain(Error::Invalid(problems))) => {
            let mut page = build(&web, &visitor).await?;
            let sentences = problems.0.iter().map(|one| translation::sentence(&one.sentence));
            page.error = sentences.collect::<Vec<_>>().join(" ");
            (page.zone, page.weekly) = (form.zone, form.weekly);
            responses::again(&page)
        }
        saved => finish(&web, saved),
    }
}

pub async fn set_date(State(web): State<Arc<Web>>, posted: Posted<DateForm>) -> PageResult {
    let Posted { visitor, form } = posted;
    let saved = web.act(&visitor, move |tx, cx, me| {
        actions::set_host_date(tx, cx, &me.id, (&form.date, &form.hours), &form.note)
    });
    finish(&web, saved.await)
}

pub async fn remove_date(
    State(web): State<Arc<Web>>,
    Path(date): Path<String>,
    posted: Posted,
) -> PageResult {
    let removed = web
        .act(&posted.visitor, move |tx, cx, me| actions::remove_host_date(tx, cx, &me.id, &date));
    finish(&web, removed.await)
}

/// Days in another zone.
pub async fn set_stay(State(web): State<Arc<Web>>, posted: Posted<StayForm>) -> PageResult {
    let Posted { visitor, form } = posted;
    let saved = web.act(&visitor, move |tx, cx, me| {
        let stay = HostStay {
            person: me.id.clone(),
            first_date: form.first.clone(),
            last_date: form.last.clone(),
            zone: form.zone.clone(),
        };
        actions::set_host_stay(tx, cx, &stay)
    });
    finish(&web, saved.await)
}

pub async fn remove_stay(
    State(web): State<Arc<Web>>,
    Path(first): Path<String>,
    posted: Posted,
) -> PageResult {
    let removed = web
        .act(&posted.visitor, move |tx, cx, me| actions::remove_host_stay(tx, cx, &me.id, &first));
    finish(&web, removed.await)
}

pub async fn add_calendar(State(web): State<Arc<Web>>, posted: Posted<CalendarForm>) -> PageResult {
    let Posted { visitor, form } = posted;
    let address = form.address.trim().replacen("webcal://", "https://", 1);
    if let Err(error) = web.ssrf_guard.vet(&address).await {
        return Err(error.into());
    }
    let kind = if form.user.is_empty() { CalendarKind::Ics } else { CalendarKind::CalDav };
    let new = NewCalendar { kind, address, user: form.user, password: form.password };
    let added = web.act(&visitor, move |tx, cx, me| {
        actions::add_busy_calendar(tx, cx, &me.id, &new)?;
        Ok(())
    });
    finish(&web, added.await)
}

pub async fn remove_calendar(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: Posted,
) -> PageResult {
    let removed = web.act(&posted.visitor, move |tx, cx, me| {
        let id = BusyCalendarId::parse(&id).ok_or(Error::NotFound("calendar"))?;
        actions::remove_busy_calendar(tx, cx, &me.id, &id)
    });
    finish(&web, removed.await)
}

/// Makes the secret address of one's own bookings, or another one.
pub async fn make_feed(State(web): State<Arc<Web>>, posted: Posted) -> PageResult {
    let made = web.act(&posted.visitor, move |tx, cx, me| feed::renew(tx, cx, &me.id));
    finish(&web, made.await)
}

pub async fn add_type(State(web): State<Arc<Web>>, posted: Posted<NewTypeForm>) -> PageResult {
    let Posted { visitor, form } = posted;
    let input = form.input();
    let added = web.act(&visitor, move |tx, cx, _| {
        actions::add_booking_type(tx, cx, &input)?;
        Ok(())
    });
    finish(&web, added.await)
}

fn finish(web: &Web, outcome: Result<(), PageError>) -> PageResult {
    outcome?;
    web.redirect(PAGE, Flash::BookingsSaved)
}

/// The shares of hosts: fields named `weight-usr_…`.
#[derive(Clone, Default)]
pub struct HostWeights(Vec<(UserId, i64)>);

impl FormValue for HostWeights {
    fn read(fields: &FormFields, _: &str) -> inbox::Result<HostWeights> {
        let weight = |(name, value): &(String, String)| {
            let person = UserId::parse(name.strip_prefix("weight-")?)?;
            // What is no number is refused like one that is too large.
            Some((person, value.trim().parse().unwrap_or(0)))
        };
        Ok(HostWeights(fields.pairs().iter().filter_map(weight).collect()))
    }
}

impl NewTypeForm {
    fn input(&self) -> BookingTypeInput {
        let usual = BookingTypeInput::default();
        let lines = self.questions.lines().map(str::trim).filter(|line| !line.is_empty());
        BookingTypeInput {
            name: self.name.clone(),
            slug: self.slug.clone(),
            description: self.description.clone(),
            place: self.place.clone(),
            minutes: self.minutes.unwrap_or(usual.minutes),
            before: self.before.unwrap_or(usual.before),
            after: self.after.unwrap_or(usual.after),
            notice: self.notice.unwrap_or(usual.notice),
            horizon_days: self.horizon_days.unwrap_or(usual.horizon_days),
            per_day: self.per_day,
            mode: if self.together { HostChoice::Together } else { HostChoice::Any },
            questions: lines.map(types::BookingQuestion::written).collect(),
            hosts: self.hosts.iter().filter_map(|id| UserId::parse(id)).collect(),
            weights: self.weights.0.clone(),
            step: self.step,
            listed: !self.unlisted,
            active: !self.inactive,
            ..usual
        }
    }
}

/// A type with why its times are offered or not.
#[derive(Template)]
#[template(path = "settings_booking_type.html", whitespace = "minimize")]
struct TypePage {
    frame: PageLayout,
    kind: BookingType,
    url: String,
    questions: String,
    people: Vec<HostLine>,
    is_admin: bool,
    days: Vec<DayReport>,
}

/// Somebody who is or could be a host.
struct HostLine {
    id: String,
    name: String,
    is_host: bool,
    weight: i64,
}

/// What became of one day of a host.
struct DayReport {
    host: String,
    day: String,
    offered: usize,
    reasons: Vec<String>,
}

pub async fn type_page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> PageResult {
    let (frame, page) = web
        .page(&visitor, location(SettingsPage::Bookings), move |tx, cx, _| {
            let kind = types::load(tx, cx.actor, &id)?;
            let hosts = types::hosts(tx, cx.actor.ws, &kind.id)?;
            let people = actions::list_people(tx, cx)?;
            let window = (cx.now, cx.now + 7 * DAY_MS);
            let loaded = availability::load(tx, cx, &kind, window, None)?;
            let days = day_reports(&loaded, window)?;
            let is_admin = cx.actor.must_administer().is_ok();
            let url = kind.url(cx.public_url);
            Ok((kind, hosts, people, days, is_admin, url))
        })
        .await?;
    let (kind, hosts, people, days, is_admin, url) = page;
    let people = people.into_iter().map(|one| {
        let host = hosts.iter().find(|host| host.person == one.id);
        HostLine {
            id: one.id.to_string(),
            name: one.name,
            is_host: host.is_some(),
            weight: host.map_or(1, |host| host.weight),
        }
    });
    let people = people.collect();
    let question = |one: &types::BookingQuestion| {
        format!("{}{}", one.text, if one.required { "*" } else { "" })
    };
    let questions = kind.questions.iter().map(question).collect::<Vec<_>>().join("\n");
    web.show(&visitor, &TypePage { frame, kind, url, questions, people, is_admin, days })
}

pub async fn change_type(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: Posted<NewTypeForm>,
) -> PageResult {
    let Posted { visitor, form } = posted;
    let changed = web.act(&visitor, move |tx, cx, _| {
        let before = types::load(tx, cx.actor, &id)?;
        let mut input = form.input();
        input.mailbox = Some(before.mailbox.clone());
        actions::change_booking_type(tx, cx, &before.id, &input)?;
        Ok(())
    });
    finish(&web, changed.await)
}

fn day_reports(
    loaded: &availability::Availability,
    window: (i64, i64),
) -> inbox::Result<Vec<DayReport>> {
    let reports = loaded.report(window)?;
    Ok(reports
        .into_iter()
        .map(|report| {
            let host = &loaded.hosts()[report.host];
            let count = |wanted: Option<calendar::SlotObstacle>| {
                report.starts.iter().filter(|(_, why)| *why == wanted).count()
            };
            let mut reasons = Vec::new();
            if host.is_stale {
                reasons.push(t!("A calendar has not been read for a day.").to_owned());
            } else if host.is_holiday(report.date) {
                reasons.push(t!("A public holiday.").to_owned());
            } else if report.hours.is_empty() {
                reasons.push(t!("No hours on this day.").to_owned());
            }
            for (obstacle, words) in OBSTACLES {
                let lost = count(Some(*obstacle));
                if lost > 0 {
                    reasons.push(translation::fill(translation::text(words), &[("n", &lost)]));
                }
            }
            DayReport {
                host: host.name.clone(),
                day: day_words(report.date),
                offered: count(None),
                reasons,
            }
        })
        .collect())
}

/// Why a time is not offered, and how that is said of so many.
const OBSTACLES: &[(calendar::SlotObstacle, &str)] = &[
    (calendar::SlotObstacle::Notice, msg!("{n} are too soon")),
    (calendar::SlotObstacle::Horizon, msg!("{n} are too far away")),
    (calendar::SlotObstacle::DailyLimit, msg!("{n} are beyond the limit a day")),
    (calendar::SlotObstacle::Booking, msg!("{n} are taken by bookings")),
    (calendar::SlotObstacle::Busy, msg!("{n} are busy in a calendar")),
];
