//! The pages on which customers book: a workspace's types, the free times of one, the form, and the
//! guest's own page for the code, moving and cancelling. Opening a page changes nothing; forms do. All
//! of it works without scripts.
//!
//! Customers read the texts of this folder.

mod change_words;
mod form_input;
mod held;
mod manage;
mod offer;
mod public;
mod times_view;
mod views;

use std::collections::BTreeSet;
use std::sync::Arc;

use actions::sign_in::sessions;
use axum::Router;
use axum::body::Body;
use axum::http::{Response, StatusCode};
use axum::middleware::map_response;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::Error;
use base::ids::BookingId;
use base::limits::{DAY_MS, SIGN_IN_WAIT_MINUTES, SLOT_DAYS_DEFAULT, SLOTS_GIVEN};
use bookings::availability::{self, FreeTime};
use bookings::types::{self, BookingHost, BookingType};
use bookings::zone_or_utc;
use calendar::TimeRange;
use db::Tx;
use jiff::ToSpan;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use translation::{Reader, t};

use crate::Web;
use crate::forms::form::FormFields;
use crate::guest::keep_secret;
use crate::layout::responses::{PageError, html};
use crate::visitor::Visitor;
use views::{GuestNothing, GuestZone};

pub use times_view::{day_of_year, day_words};
pub use views::reason_words;

/// Forms of one client network in the time that attempts to sign in are counted for.
const FORMS_PER_NETWORK: i64 = 30;

pub fn router() -> Router<Arc<Web>> {
    Router::new()
        .route("/b/{workspace}", get(public::types))
        .route("/b/{workspace}/{kind}", get(public::times).post(public::hold))
        .route("/b/o/{token}", get(offer::page).post(offer::book))
        .route("/b/m/{token}", get(manage::page))
        .route("/b/m/{token}/code", post(held::enter_code))
        .route("/b/m/{token}/again", post(held::send_code))
        .route("/b/m/{token}/move", get(manage::times).post(manage::reschedule))
        .route("/b/m/{token}/cancel", get(manage::ask_cancel).post(manage::cancel))
        .route("/b/m/{token}/appointment.ics", get(manage::entry))
        .layer(map_response(keep_secret))
}

/// The free times that a page shows, with the window they are of.
struct ShownTimes {
    free: Vec<FreeTime>,
    /// The first day, and the day after the last one.
    first: Date,
    next: Date,
    /// There may be free times after these.
    has_later: bool,
    hosts: Vec<BookingHost>,
    /// The days on which somebody has hours, in the guest's zone.
    open: BTreeSet<Date>,
    /// The days on which somebody would have hours if no day differed from its week.
    regular: BTreeSet<Date>,
    /// Minutes that a time is booked ahead at least.
    notice: i64,
    /// Hours before the start until which a guest moves or cancels; 0: until the start.
    cancel_hours: i64,
}

/// Two weeks of free times from the asked day on; from the first free one if none is asked.
fn shown_times(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    kind: &BookingType,
    asked: &TimesQuery,
    except: Option<&BookingId>,
) -> base::error::Result<ShownTimes> {
    let zone = &asked.zone.zone;
    let today = times_view::in_zone(cx.now, zone).date();
    let first = asked.from.filter(|from| *from >= today).unwrap_or(today);
    let shown = times_from(tx, cx, kind, (zone, first), except)?;
    // After the last day that can be booked nothing is free; before it something may be.
    if shown.free.is_empty() && first > today {
        return times_from(tx, cx, kind, (zone, today), except);
    }
    Ok(shown)
}

fn times_from(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    kind: &BookingType,
    (zone, mut first): (&TimeZone, Date),
    except: Option<&BookingId>,
) -> base::error::Result<ShownTimes> {
    let mut window = views::days(first, SLOT_DAYS_DEFAULT, zone);
    let most = SLOTS_GIVEN as usize;
    let mut loaded = availability::load(tx, cx, kind, window, except)?;
    let mut free = loaded.free(window, most)?;
    if free.is_empty() {
        let next = availability::next_free(tx, cx, kind, window.1, 1, except)?;
        if let Some(next) = next.first() {
            first = times_view::in_zone(next.starts_at, zone).date();
            window = views::days(first, SLOT_DAYS_DEFAULT, zone);
            loaded = availability::load(tx, cx, kind, window, except)?;
            free = loaded.free(window, most)?;
        }
    }
    let cut = day_that_is_cut(&free, most, zone);
    if let Some(cut) = cut {
        free.retain(|one| times_view::in_zone(one.starts_at, zone).date() < cut);
    }
    let hosts = types::hosts(tx, cx.actor.ws, &kind.id)?;
    let hours = loaded.report(window)?.into_iter().flat_map(|day| day.hours);
    Ok(ShownTimes {
        free,
        first,
        next: cut.unwrap_or_else(|| times_view::in_zone(window.1, zone).date()),
        has_later: cut.is_some() || window.1 < cx.now + (kind.horizon_days + 1) * DAY_MS,
        hosts,
        open: days_of(hours, zone),
        regular: days_of(loaded.regular_hours(window).into_iter(), zone),
        notice: kind.notice,
        cancel_hours: kind.cancel_hours,
    })
}

/// A list that is as long as it may be ends within a day, which the next page begins with.
fn day_that_is_cut(free: &[FreeTime], most: usize, zone: &TimeZone) -> Option<Date> {
    let day = |one: &FreeTime| times_view::in_zone(one.starts_at, zone).date();
    let (first, last) = (free.first().map(day)?, free.last().map(day)?);
    (free.len() >= most && first < last).then_some(last)
}

fn days_of(hours: impl Iterator<Item = TimeRange>, zone: &TimeZone) -> BTreeSet<Date> {
    let mut days = BTreeSet::new();
    for range in hours {
        let first = times_view::in_zone(range.start.as_millisecond(), zone).date();
        // Hours that end at midnight are of the day before.
        let last = times_view::in_zone(range.end.as_millisecond() - 1, zone).date();
        days.extend(first.series(1.day()).take_while(|date| *date <= last));
    }
    days
}

/// What the address or the form of a page says about times.
#[derive(Clone)]
struct TimesQuery {
    zone: GuestZone,
    from: Option<Date>,
    at: Option<i64>,
    /// A form says it, so the address alone does not lead to the page.
    is_form: bool,
}

impl TimesQuery {
    fn of(fields: &FormFields, visitor: &Visitor) -> TimesQuery {
        // The zone in the list of a form counts once its button is pressed.
        let zone = if fields.get("step") == "zone" { "newZone" } else { "zone" };
        let picked = start_of(&fields.get("pick"));
        TimesQuery {
            zone: GuestZone::of(&fields.get(zone), visitor),
            from: fields.get("from").parse().ok(),
            at: picked.or_else(|| start_of(&fields.get("at"))),
            is_form: fields.has("csrf"),
        }
    }

    /// The zone of the hosts, where the guest has named none.
    fn with_host_zone(mut self, hosts: &[BookingHost]) -> TimesQuery {
        if !self.zone.is_chosen {
            let name = host_zone(hosts);
            self.zone.zone = zone_or_utc(name);
            self.zone.name = name.to_owned();
        }
        self
    }
}

/// The zone in which the hosts of a type work; that of the first, if they differ.
fn host_zone(hosts: &[BookingHost]) -> &str {
    hosts.iter().find_map(|host| host.zone.as_deref()).unwrap_or("UTC")
}

/// A start in an address or a form: seconds since 1970.
fn start_of(text: &str) -> Option<i64> {
    let seconds = text.parse::<i64>().ok().filter(|seconds| (0..=99_999_999_999).contains(seconds));
    seconds.map(|seconds| seconds * 1_000)
}

impl Web {
    /// Counts a form of a client network; false at the limit.
    async fn count_booking_form(&self, visitor: &Visitor) -> base::error::Result<bool> {
        let (what, now) = (format!("booking {}", visitor.place), self.app.clock.now());
        self.app
            .store
            .write(move |tx| sessions::count_sign_in_attempt(tx, &what, FORMS_PER_NETWORK, now))
            .await
    }

    /// Has the calendars of a type's hosts read again before one of their times is given away.
    async fn look_again(&self, ws: i64, kind: &BookingType) {
        if self.quiet.is_quiet() {
            return;
        }
        // If they cannot be read now, what is known counts.
        let _ = bookings::freshen_calendars(&self.app, ws, &kind.id).await;
    }

    /// Runs a form of a guest, in the language of their page, and tells open pages.
    async fn guest_act<T: Send + 'static>(
        &self,
        mut work: impl FnMut(&mut Tx<'_>) -> base::error::Result<T> + Send + 'static,
    ) -> base::error::Result<T> {
        let reader = Reader::current();
        self.app
            .store
            .write(move |tx| {
                tx.wake(Queue::Pages);
                reader.run(|| work(tx))
            })
            .await
    }
}

/// What a client network is told that sent too many forms.
fn too_many_words() -> String {
    t!(
        "Too much was tried from here. Wait {minutes} minutes and try again.",
        minutes = SIGN_IN_WAIT_MINUTES,
    )
}

/// The response where there is no page.
fn refusal(error: PageError) -> Response<Body> {
    let (status, title, sentence) = match error {
        PageError::Domain(Error::NotFound(_)) => (
            StatusCode::NOT_FOUND,
            t!("There is nothing to book here"),
            t!("The link is not complete, or what it leads to is over. Look at the newest mail \
                 from the people you want to meet, or ask them.")
            .to_owned(),
        ),
        PageError::Domain(Error::Forbidden(sentence)) => (
            StatusCode::TOO_MANY_REQUESTS,
            t!("Wait a little"),
            translation::sentence(&sentence).into_owned(),
        ),
        PageError::Domain(Error::Conflict(sentence)) => (
            StatusCode::CONFLICT,
            t!("That is not possible any more"),
            translation::sentence(&sentence).into_owned(),
        ),
        PageError::TooManyAttempts => {
            (StatusCode::TOO_MANY_REQUESTS, t!("Wait a little"), too_many_words())
        }
        error => return error.into_response(),
    };
    html(status, &GuestNothing { title, sentence })
}
