//! The team's calendar: what is counted, and whose appointments are shown.

use base::actor::{Actor, Circle};
use base::ids::UserId;
use bookings::booking::{self, BookingGuest, NewBooking};
use bookings::types::{self, BookingTypeInput, HostChoice};
use serde_json::json;

use super::settings::bookable;
use crate::support::*;

on_both!(
    the_calendar_counts_what_stands,
    the_calendar_shows_one_person_in_every_view,
    many_hosts_are_chosen_from_a_list
);

const DAY: &str = "day=2026-11-23";

/// A type of these hosts, in a room.
async fn bookable_with(app: &TestApp, slug: &str, mode: HostChoice, hosts: &[UserId]) -> String {
    let (slug, hosts) = (slug.to_owned(), hosts.to_vec());
    app.act(&app.owner, move |tx, cx| {
        for host in &hosts {
            actions::bookings::set_hours(tx, cx, host, "Europe/Berlin", "mon-fri 09:00-17:00")?;
        }
        let input = BookingTypeInput {
            name: format!("Talk {slug}"),
            slug: slug.clone(),
            place: "Room 4".into(),
            hosts: hosts.clone(),
            mode,
            ..BookingTypeInput::default()
        };
        Ok(actions::bookings::add_booking_type(tx, cx, &input)?.id.to_string())
    })
    .await
}

/// Books a time of Monday 23 November for somebody; answers the booking.
async fn book(app: &TestApp, key: &TestKey, kind: &str, clock: &str, name: &str) -> String {
    let asked = json!({
        "typeId": kind, "startsAt": format!("2026-11-23T{clock}:00.000Z"), "name": name,
        "email": "guest@shop.example",
    });
    text_of(&app.post(key, "/bookings", asked).await.is(201).json(), "id")
}

/// Holds a time for a guest who has yet to give their code.
async fn hold(app: &TestApp, kind: &str, clock: &str, name: &str) {
    let (kind, name) = (kind.to_owned(), name.to_owned());
    let starts: jiff::Timestamp = format!("2026-11-23T{clock}:00Z").parse().unwrap();
    let starts_at = starts.as_millisecond();
    app.act(&app.owner, move |tx, cx| {
        let kind = types::load_active(tx, cx.actor, &kind)?;
        let guest = BookingGuest { name: &name, email: "held@shop.example", zone: None };
        let new = NewBooking { starts_at, guest, answers: &[], conversation: None };
        booking::hold(tx, cx, &kind, &new)
    })
    .await;
}

async fn the_calendar_counts_what_stands(app: TestApp) {
    let key = app.key("read send").await;
    let kind = bookable(&app).await;
    book(&app, &key, &kind, "09:00", "Ann").await;
    book(&app, &key, &kind, "10:00", "Ben").await;
    let gone = book(&app, &key, &kind, "11:00", "Carl").await;
    app.post(&key, &format!("/bookings/{gone}/cancel"), json!({})).await.is(200);
    hold(&app, &kind, "12:00", "Dora").await;
    let browser = app.signed_in(&app.owner).await;
    let week = browser.get(&format!("/calendar?{DAY}")).await.is(200);
    week.shows("2 booked, 1 held, 1 cancelled").shows("<span class=\"quiet\">2, 1 held</span>");
    week.shows("Held: Dora").shows("Waits for the code until 09:15.").shows("Cancelled: Carl");
    let list = browser.get(&format!("/calendar?view=list&{DAY}")).await.is(200);
    list.shows("<span class=\"quiet\">2, 1 held</span>").shows("Dora");

    // Nobody gave the code: the time is free again.
    app.advance(16 * 60_000);
    let week = browser.get(&format!("/calendar?{DAY}")).await.is(200);
    week.shows("2 booked, 1 cancelled").shows("<span class=\"quiet\">2</span>").hides("Dora");
    // What the guest cancelled says so, and leaves nothing that counts.
    let alone = bookable_with(&app, "alone", HostChoice::Any, &[user(&app.owner)]).await;
    let id = book(&app, &key, &alone, "13:00", "Emil").await;
    let guest = Actor::system(app.owner.ws, app.owner.workspace.clone(), Circle::team());
    app.act(&guest, move |tx, cx| {
        let found = bookings::load(tx, cx.actor, &id)?;
        booking::cancel(tx, cx, &found, "")
    })
    .await;
    let week = browser.get(&format!("/calendar?{DAY}")).await.is(200);
    week.shows("2 booked, 2 cancelled").shows("By the guest.");
    let empty = browser.get("/calendar?view=day&day=2026-11-24").await.is(200);
    empty.shows("Nothing booked. Times in UTC.");
}

async fn the_calendar_shows_one_person_in_every_view(app: TestApp) {
    let key = app.key("read send").await;
    let (owner, bo) = (user(&app.owner), user(&app.person("Bo").await));
    let (both, any) = ([owner.clone(), bo.clone()], HostChoice::Any);
    let of_owner = bookable_with(&app, "first", any, &both[..1]).await;
    let of_bo = bookable_with(&app, "second", any, &both[1..]).await;
    let of_both = bookable_with(&app, "third", HostChoice::Together, &both).await;
    book(&app, &key, &of_owner, "09:00", "Ann Shopper").await;
    book(&app, &key, &of_bo, "09:00", "Ben Baker").await;
    book(&app, &key, &of_both, "12:00", "Cleo Cook").await;
    let browser = app.signed_in(&app.owner).await;
    for view in ["week", "day", "list"] {
        let all = browser.get(&format!("/calendar?view={view}&{DAY}")).await.is(200);
        all.shows("3 booked").shows("Ann Shopper").shows("Ben Baker").shows("Whose appointments");
        all.shows("Olive Owner, Bo Teammate");
        let path = format!("/calendar?view={view}&{DAY}&host={bo}");
        let one = browser.get(&path).await.is(200);
        one.shows("2 booked").hides("Ann Shopper").shows("Ben Baker").shows("Cleo Cook");
        // Earlier, today, later, the views and the person themselves keep the choice.
        let kept = one.text.matches(&format!("host={bo}")).count();
        assert!(kept >= 7, "{view}: {kept}");
        let nobody = browser.get(&format!("/calendar?view={view}&{DAY}&host=usr_nobody")).await;
        nobody.is(200).shows("3 booked");
    }
    let list = browser.get(&format!("/calendar?view=list&{DAY}&host={bo}")).await.is(200);
    list.shows("Talk second").shows("Room 4");
    for column in ["Time", "Who", "With", "Type", "Where"] {
        list.shows(&format!("<th scope=\"col\">{column}</th>"));
    }
}

async fn many_hosts_are_chosen_from_a_list(app: TestApp) {
    let mut hosts = vec![user(&app.owner)];
    for name in ["Ada", "Bea", "Cem", "Dan", "Eva", "Fin"] {
        hosts.push(user(&app.person(name).await));
    }
    bookable_with(&app, "many", HostChoice::Any, &hosts).await;
    let browser = app.signed_in(&app.owner).await;
    let page = browser.get(&format!("/calendar?{DAY}&host={}", hosts[3])).await.is(200);
    page.shows("<select class=\"select\" name=\"host\"");
    page.shows(&format!("<option value=\"{}\" selected>Cem Teammate</option>", hosts[3]));
    page.shows("name=\"day\" value=\"2026-11-23\"");
}
