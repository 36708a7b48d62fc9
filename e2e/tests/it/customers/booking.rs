//! A customer in another time zone books, moves and cancels: on the public page and from a reply, with and
//! without scripts, on a phone and at a desk.

use api::operations::find_slots;
use api::operations::reply;
use api::operations::{BookingOfferInput, FindSlotsInput, ReplyInput};
use base::ids::ConversationId;
use base::limits::UNDO_LIVE_MS;
use bookings::booking::{BookingGuest, NewBooking, book};
use bookings::types::{self, BookingType};
use bookings::{Booking, BookingFilter, BookingStatus, local_time, zone_or_utc};
use serde_json::json;

use crate::support::axe::{axe, violations};
use crate::support::browser::{Browser, Kind};
use crate::support::test_server::TestServer;

/// Where the guest is; the host is in Berlin.
const GUEST_ZONE: &str = "America/New_York";
const HOST_ZONE: &str = "Europe/Berlin";
const EMAIL: &str = "ann@shop.example";
/// Widths of a phone and of a desk.
const WIDTHS: [u32; 2] = [360, 1280];

/// A guest's browser, and what is wrong with the pages it was shown.
struct Guest {
    browser: Browser,
    axe: Option<String>,
    wrong: Vec<String>,
}

impl Guest {
    /// A browser whose clock is in the guest's zone. One with scripts looks at every page with axe.
    async fn open(kind: Kind) -> Guest {
        let browser = Browser::open(kind).await;
        let zone = json!({ "timezoneId": GUEST_ZONE });
        browser.devtools("Emulation.setTimezoneOverride", zone).await;
        browser.resize(WIDTHS[0], 740).await;
        Guest { browser, axe: (kind == Kind::Usual).then(axe), wrong: Vec::new() }
    }

    /// The page is sound in light and dark, and nothing of it is wider than the window.
    async fn looks_at(&mut self, page: &str) {
        for width in WIDTHS {
            self.browser.resize(width, 740).await;
            let wide = self.browser.script("return document.documentElement.scrollWidth").await;
            if wide.as_u64() > Some(width.into()) {
                self.wrong.push(format!("{page}: {wide} wide in a window of {width}"));
            }
        }
        if let Some(axe) = &self.axe {
            for dark in [true, false] {
                self.browser.dark(dark).await;
                let found = violations(&self.browser, axe).await;
                self.wrong.extend(found.into_iter().map(|one| format!("{page}: {one}")));
            }
        }
        self.browser.resize(WIDTHS[0], 740).await;
    }

    /// Times are on the guest's clock: by themselves with scripts, else by the form.
    async fn reads_own_zone(&self) {
        if self.axe.is_none() {
            assert_eq!(self.browser.value("#zone").await, HOST_ZONE);
            self.browser.click(&format!("#zone option[value='{GUEST_ZONE}']")).await;
            self.browser.click(".g-zone .btn").await;
        }
        self.browser
            .until("the guest's zone", || async { self.browser.value("#zone").await == GUEST_ZONE })
            .await;
    }

    /// Follows the link of a free time; answers the time.
    async fn picks(&self, css: &str) -> i64 {
        let link = self.browser.find(css).await.attr("href").await.unwrap().unwrap();
        let digits = link.split_once("at=").unwrap().1;
        let seconds: String = digits.chars().take_while(char::is_ascii_digit).collect();
        self.browser.click(css).await;
        seconds.parse::<i64>().unwrap() * 1_000
    }

    /// The page has the time on both clocks.
    async fn sees_both_clocks(&self, at: i64) {
        let clock = |zone: &str| {
            let words = local_time(at, &zone_or_utc(zone));
            words.rsplit_once(' ').unwrap().1.to_owned()
        };
        self.browser.says("your time, New York").await;
        self.browser.says(&format!("{} to ", clock(GUEST_ZONE))).await;
        self.browser.says(&format!("{} to ", clock(HOST_ZONE))).await;
        self.browser.says("in Berlin, where they are").await;
    }

    /// The fields still have what was typed into them.
    async fn has_typed(&self, fields: &[(&str, &str)]) {
        for (field, typed) in fields {
            assert_eq!(self.browser.value(field).await, *typed, "{field}");
        }
    }

    async fn close(self) {
        assert!(self.wrong.is_empty(), "{}", self.wrong.join("\n"));
        self.browser.close().await;
    }
}

impl TestServer {
    /// What the sample workspace's customers can book.
    pub(crate) async fn booking_type(&self) -> BookingType {
        let read = self.app.act(&self.ines, |tx, cx| types::list(tx, cx.actor));
        read.await.unwrap().into_iter().find(|kind| kind.circle.is_team()).unwrap()
    }

    async fn free_times(&self, kind: &BookingType) -> Vec<base::time::Moment> {
        let asked = FindSlotsInput { id: kind.id.to_string(), ..FindSlotsInput::default() };
        let found = self
            .app
            .act(&self.ines, move |tx, cx| find_slots(tx, cx, asked.clone()))
            .await
            .unwrap();
        found.iter().map(|slot| slot.starts_at).collect()
    }

    /// Somebody else books a time.
    async fn take(&self, kind: &BookingType, starts_at: i64) {
        let kind = kind.clone();
        let work = move |tx: &mut db::Tx<'_>, cx: &base::app::Cx<'_>| {
            let guest = BookingGuest { name: "Bo", email: "bo@shop.example", zone: None };
            let new = NewBooking { starts_at, guest, answers: &[], conversation: None };
            book(tx, cx, &kind, &new)
        };
        self.app.act(&self.ines, work).await.unwrap();
    }

    async fn bookings_of(&self, email: &str) -> Vec<Booking> {
        let read = self
            .app
            .act(&self.ines, |tx, cx| bookings::list(tx, cx.actor, &BookingFilter::default(), 50));
        let found = read.await.unwrap().into_iter();
        found.filter(|one| one.guest_email == *email).collect()
    }

    /// The guest's bookings: time, status, conversation.
    async fn bookings(&self) -> Vec<(i64, BookingStatus, Option<ConversationId>)> {
        let found = self.bookings_of(EMAIL).await.into_iter();
        found.map(|one| (one.starts_at, one.status, one.conversation)).collect()
    }
}

async fn books_moves_and_cancels_on_the_public_page(kind: Kind) {
    let server = TestServer::open().await;
    let _working = server.keep_working();
    let mut guest = Guest::open(kind).await;
    let page = server.booking_type().await.url(&server.address);
    guest.browser.goto(page.rsplit_once('/').unwrap().0).await;
    guest.browser.says("What would you like to book?").await;
    guest.looks_at("types").await;
    guest.browser.click("main a").await;
    guest.reads_own_zone().await;
    guest.looks_at("times").await;
    // Not of the first day: its notice may run out while this looks at pages.
    let first =
        guest.picks(".g-days section:has(li) ~ section:has(li) li:first-child .g-slot").await;
    guest.sees_both_clocks(first).await;
    guest.looks_at("form").await;
    // Somebody is faster: nothing that was typed is lost.
    guest.browser.write("#name", "Ann Shopper").await;
    guest.browser.write("#email", EMAIL).await;
    guest.browser.write("#q0", "The kitchen").await;
    // A look at the other times and back: what was typed goes along.
    guest.browser.click(".g-back").await;
    let again = format!("button.g-slot[value='{}']", first / 1_000);
    guest.browser.find(&again).await;
    guest.looks_at("times with what was typed").await;
    guest.browser.click(&again).await;
    guest.browser.says("Who is coming?").await;
    guest.has_typed(&[("#name", "Ann Shopper"), ("#email", EMAIL), ("#q0", "The kitchen")]).await;
    guest.sees_both_clocks(first).await;
    server.take(&server.booking_type().await, first).await;
    guest.browser.click(".g-sheet-form .btn.primary").await;
    guest.browser.says("a moment ago").await;
    guest.has_typed(&[("#name", "Ann Shopper"), ("#email", EMAIL), ("#q0", "The kitchen")]).await;
    guest.looks_at("taken").await;
    guest.browser.click(".g-days section:last-of-type .g-slot:last-child").await;
    guest.browser.click(".g-sheet-form .btn.primary").await;
    guest.browser.says("Enter the code we sent you").await;
    guest.browser.says("Held until ").await;
    guest.looks_at("code").await;
    // The way back to the address keeps the time and what was typed.
    guest.browser.click("button[value='form']").await;
    guest.browser.says("Back to the code").await;
    guest.has_typed(&[("#name", "Ann Shopper"), ("#email", EMAIL), ("#q0", "The kitchen")]).await;
    guest.looks_at("another address").await;
    guest.browser.click(".g-sheet-form .btn.primary").await;
    guest.browser.says("Enter the code we sent you").await;
    guest.browser.write("#code", "0000 0000").await;
    guest.browser.click(".g-sheet-form .btn.primary").await;
    guest.browser.says("That is not the code. You have 4 tries left.").await;
    guest.looks_at("wrong code").await;
    let coded = async || server.mailed("The code is ", 9).is_some();
    guest.browser.until("the code comes", coded).await;
    let mailed = server.mailed("The code is ", 9).unwrap();
    guest.browser.write("#code", &mailed).await;
    guest.browser.click(".g-sheet-form .btn.primary").await;
    guest.browser.says("It is booked, Ann.").await;
    let booked = server.bookings().await[0].0;
    assert_ne!(booked, first);
    guest.sees_both_clocks(booked).await;
    guest.looks_at("booked").await;

    guest.browser.click(".g-btns a[href$='/move']").await;
    guest.browser.says("Choose another time").await;
    guest.looks_at("other times").await;
    assert_eq!(guest.browser.value("#zone").await, GUEST_ZONE);
    let moved = guest.picks(".g-days section:last-child li:last-child .g-slot").await;
    guest.browser.says("Move the appointment to this time?").await;
    guest.sees_both_clocks(moved).await;
    guest.looks_at("move").await;
    guest.browser.click("form .btn.primary").await;
    guest.browser.says("It is moved, Ann.").await;
    guest.sees_both_clocks(moved).await;

    guest.browser.click(".g-btns a[href$='/cancel']").await;
    guest.browser.says("Cancel this appointment?").await;
    guest.looks_at("cancel").await;
    guest.browser.write("#reason", "I found one.").await;
    guest.browser.click(".btn.danger").await;
    guest.browser.says("This appointment is cancelled").await;
    guest.looks_at("cancelled").await;
    let (off, statuses) = (BookingStatus::Cancelled, server.bookings().await);
    assert_eq!(statuses, [(booked, off, None), (moved, off, None)]);
    guest
        .browser
        .until("all are told", async || server.mailed("method=\"CANCEL\"", 0).is_some())
        .await;
    guest.browser.goto(&format!("{}/b/m/nothing", server.address)).await;
    guest.browser.says("There is nothing to book here").await;
    guest.looks_at("nothing").await;
    guest.close().await;
}

#[tokio::test]
async fn a_guest_in_another_zone_books_moves_and_cancels_on_the_public_page() {
    books_moves_and_cancels_on_the_public_page(Kind::Usual).await;
}

#[tokio::test]
async fn without_scripts_a_guest_does_the_same_on_the_public_page() {
    books_moves_and_cancels_on_the_public_page(Kind::WithoutScripts).await;
}

async fn books_moves_and_cancels_from_a_reply(kind: Kind) {
    let server = TestServer::open().await;
    let _working = server.keep_working();
    let mut guest = Guest::open(kind).await;
    let received = server.mail("ann@shop.example Ann Shopper", "Lamps", "Can we talk?", None).await;
    let (bookable, id) = (server.booking_type().await, received.conversation);
    let times = server.free_times(&bookable).await;
    let offered = vec![times[2], times[4], times[6]];
    let input = ReplyInput {
        id: id.to_string(),
        body: "Gladly. Does one of these suit you?".into(),
        send: true,
        booking: Some(BookingOfferInput {
            type_id: bookable.id.to_string(),
            times: offered.clone(),
        }),
        ..ReplyInput::default()
    };
    let sent = server.app.act(&server.ines, move |tx, cx| reply(tx, cx, input.clone()));
    sent.await.unwrap();
    server.advance(UNDO_LIVE_MS + 1_000);
    guest.browser.until("the mail leaves", async || server.mailed("/b/o/", 40).is_some()).await;
    let page = format!("{}/b/o/{}", server.address, server.mailed("/b/o/", 40).unwrap());
    // The link of the first time: it is chosen.
    guest.browser.goto(&format!("{page}?at={}", offered[0].0 / 1_000)).await;
    guest.reads_own_zone().await;
    guest.browser.goto(&format!("{page}?at={}&zone={GUEST_ZONE}", offered[0].0 / 1_000)).await;
    assert_eq!(guest.browser.count(".g-offer input").await, 3);
    let chosen = guest.browser.value(".g-offer input:checked").await;
    assert_eq!(chosen, (offered[0].0 / 1_000).to_string());
    guest.looks_at("offer").await;
    guest.browser.write("#q0", "The hall").await;
    // Another time and back to the first: what was typed goes along.
    guest.browser.click(".g-days section:last-child li:last-child .g-slot").await;
    guest.browser.find(".g-offer:nth-child(4) input").await;
    guest.has_typed(&[("#q0", "The hall")]).await;
    guest.looks_at("offer with another time").await;
    guest.browser.click(".g-offer:nth-child(1) input").await;
    server.take(&bookable, offered[0].0).await;
    guest.browser.click("form .btn.primary").await;
    guest.browser.says("Somebody else booked that time a moment ago").await;
    assert_eq!(guest.browser.value("#q0").await, "The hall");
    assert_eq!(guest.browser.count(".g-offer input:disabled").await, 1);
    guest.looks_at("offer taken").await;
    guest.browser.click(".g-offer:nth-child(3) input").await;
    guest.browser.click("form .btn.primary").await;
    guest.browser.says("It is booked, Ann.").await;
    guest.sees_both_clocks(offered[2].0).await;
    let booked = (offered[2].0, BookingStatus::Booked, Some(id.clone()));
    assert_eq!(server.bookings().await, [booked]);
    let manage = guest.browser.path().await;
    guest.browser.goto(&page).await;
    guest.browser.says("the link in it moves or cancels the appointment").await;
    guest.sees_both_clocks(offered[2].0).await;
    guest.looks_at("offer booked").await;
    guest.browser.goto(&format!("{}{manage}", server.address)).await;

    guest.browser.click(".g-btns a[href$='/move']").await;
    let moved = guest.picks(".g-days section:last-child li:last-child .g-slot").await;
    guest.browser.says("Move the appointment to this time?").await;
    guest.browser.click("form .btn.primary").await;
    guest.sees_both_clocks(moved).await;
    guest.browser.click(".g-btns a[href$='/cancel']").await;
    guest.browser.click(".btn.danger").await;
    guest.browser.says("This appointment is cancelled").await;
    let last = server.bookings().await.pop().unwrap();
    assert_eq!(last, (moved, BookingStatus::Cancelled, Some(id)));
    guest.close().await;
}

#[tokio::test]
async fn a_customer_in_another_zone_books_moves_and_cancels_from_a_reply() {
    books_moves_and_cancels_from_a_reply(Kind::Usual).await;
}

#[tokio::test]
async fn without_scripts_a_customer_does_the_same_from_a_reply() {
    books_moves_and_cancels_from_a_reply(Kind::WithoutScripts).await;
}

#[tokio::test]
async fn the_team_moves_and_cancels_in_the_calendar() {
    let server = TestServer::open().await;
    let bookable = server.booking_type().await;
    let starts_at = server.free_times(&bookable).await[0].0;
    server.take(&bookable, starts_at).await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    let zone = json!({ "timezoneId": GUEST_ZONE });
    browser.devtools("Emulation.setTimezoneOverride", zone).await;
    // The first page remembers the zone, the next ones are in it.
    browser.goto(&format!("{}/calendar", server.address)).await;
    browser.is_idle().await;
    // On a phone every view is large enough for a finger.
    browser.resize(WIDTHS[0], 740).await;
    let heights = "return [...document.querySelectorAll('.g-week-bar .seg a')]
        .map((link) => link.getBoundingClientRect().height)";
    let heights = browser.script(heights).await;
    let heights: Vec<f64> = heights.as_array().unwrap().iter().filter_map(|h| h.as_f64()).collect();
    assert!(heights.len() >= 3 && heights.iter().all(|height| *height >= 44.0), "{heights:?}");
    browser.resize(WIDTHS[1], 740).await;
    let id = server.bookings_of("bo@shop.example").await[0].id.clone();
    browser.goto(&format!("{}/calendar/{id}", server.address)).await;
    browser.says(&format!("{} to ", local_time(starts_at, &zone_or_utc(GUEST_ZONE)))).await;
    browser.click("#startsAt option:last-child").await;
    browser.click("form[action$='/move'] .btn.primary").await;
    browser.until("it is moved", || async { !browser.path().await.contains(id.as_str()) }).await;
    browser.write("#reason", "Ines is ill.").await;
    browser.click("form[action$='/cancel'] .btn.danger").await;
    browser.until("the calendar", || async { browser.path().await == "/calendar" }).await;
    let found = server.bookings_of("bo@shop.example").await;
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|one| one.status == BookingStatus::Cancelled), "{found:?}");
    browser.close().await;
}
