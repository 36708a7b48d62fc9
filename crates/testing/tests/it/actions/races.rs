//! Two transactions at once, on PostgreSQL, where each sees what was there when it began.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Barrier};

use actions::people::{removal, roles};
use base::actor::{Actor, Role};
use base::app::Cx;
use base::error::{Error, Result};
use base::limits::{CODES_PER_ADDRESS, NETWORKS_ASKING_FOR_CODES};
use bookings::booking::{self, BookingGuest, NewBooking};
use bookings::types::BookingTypeInput;
use db::Tx;
use model::guests::guest_tokens::GuestTokenHash;
use model::people::one_time_codes::{self, CodeHolder, CodeRequest};
use testing::{Backend, TestApp, run, user};

macro_rules! on_postgres {
    ($($rule:ident),* $(,)?) => { $(
        mod $rule {
            #[test]
            fn on_postgres() {
                super::run(super::Backend::Postgres, super::$rule);
            }
        }
    )* };
}

on_postgres!(
    two_owners_cannot_remove_each_other_at_once,
    two_owners_cannot_demote_each_other_at_once,
    an_owner_cannot_be_demoted_by_whom_they_remove,
    codes_asked_for_at_once_stay_within_the_limit_of_an_address,
    a_host_is_not_removed_while_they_are_booked
);

/// Lets two transactions begin before either of them does anything.
#[derive(Clone)]
struct Meeting {
    barrier: Arc<Barrier>,
    runs: Arc<AtomicU32>,
}

impl Meeting {
    fn new() -> Meeting {
        Meeting { barrier: Arc::new(Barrier::new(2)), runs: Arc::default() }
    }

    async fn act<T: Send + 'static>(
        &self,
        app: &TestApp,
        actor: &Actor,
        mut act: impl FnMut(&mut Tx<'_>, &Cx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let meeting = self.clone();
        let work = move |tx: &mut Tx<'_>, cx: &Cx<'_>| {
            // A transaction sees what there is at its first statement.
            let _: (i64,) = tx.one("SELECT CAST(count(*) AS BIGINT) FROM users", &[])?;
            if meeting.runs.fetch_add(1, Ordering::SeqCst) < 2 {
                meeting.barrier.wait();
            }
            act(tx, cx)
        };
        app.app.act(actor, work).await
    }
}

async fn owners(app: &TestApp) -> i64 {
    app.count("users WHERE role = 'owner'").await
}

async fn two_owners_cannot_remove_each_other_at_once(app: TestApp) {
    let (one, other) = (app.owner.clone(), app.person_with("Otto", Role::Owner).await);
    let (first, second) = (user(&one), user(&other));
    let meeting = Meeting::new();
    let results = tokio::join!(
        meeting.act(&app, &one, move |tx, cx| removal::remove_person(tx, cx, &second)),
        meeting.act(&app, &other, move |tx, cx| removal::remove_person(tx, cx, &first)),
    );
    assert_eq!(owners(&app).await, 1);
    assert!(results.0.is_ok() != results.1.is_ok(), "{results:?}");
}

async fn two_owners_cannot_demote_each_other_at_once(app: TestApp) {
    let (one, other) = (app.owner.clone(), app.person_with("Otto", Role::Owner).await);
    let (first, second) = (user(&one), user(&other));
    let meeting = Meeting::new();
    let results = tokio::join!(
        meeting.act(&app, &one, move |tx, cx| roles::set_role(tx, cx, &second, Role::Member)),
        meeting.act(&app, &other, move |tx, cx| roles::set_role(tx, cx, &first, Role::Member)),
    );
    assert_eq!(owners(&app).await, 1);
    assert!(results.0.is_ok() != results.1.is_ok(), "{results:?}");
}

async fn an_owner_cannot_be_demoted_by_whom_they_remove(app: TestApp) {
    let (one, other) = (app.owner.clone(), app.person_with("Otto", Role::Owner).await);
    let (first, second) = (user(&one), user(&other));
    let meeting = Meeting::new();
    let results = tokio::join!(
        meeting.act(&app, &one, move |tx, cx| removal::remove_person(tx, cx, &second)),
        meeting.act(&app, &other, move |tx, cx| roles::set_role(tx, cx, &first, Role::Admin)),
    );
    assert_eq!(owners(&app).await, 1);
    assert!(results.0.is_ok() != results.1.is_ok(), "{results:?}");
}

async fn codes_asked_for_at_once_stay_within_the_limit_of_an_address(app: TestApp) {
    let service = app.service(&app.support);
    let ask = |purpose: String| {
        move |tx: &mut Tx<'_>, cx: &Cx<'_>| -> Result<bool> {
            let browser = GuestTokenHash::of(&purpose);
            let holder =
                CodeHolder { purpose: &purpose, browser, email: "ann@x.example", place: &purpose };
            let answer = one_time_codes::request(tx, cx, &holder)?;
            Ok(matches!(answer, CodeRequest::Issued(_)))
        }
    };
    let limit = CODES_PER_ADDRESS * NETWORKS_ASKING_FOR_CODES;
    for number in 1..limit {
        let ask = ask(format!("page {number}"));
        assert!(app.act(&service, move |tx, cx| ask(tx, cx)).await);
    }
    let meeting = Meeting::new();
    let (one, other) = tokio::join!(
        meeting.act(&app, &service, ask("this page".into())),
        meeting.act(&app, &service, ask("that page".into())),
    );
    assert!(one.unwrap() != other.unwrap());
    assert_eq!(app.count("one_time_codes").await, limit);
}

async fn a_host_is_not_removed_while_they_are_booked(app: TestApp) {
    let host = app.person("Hanna").await;
    let person = user(&host);
    let of_host = person.clone();
    let kind = app
        .act(&app.owner, move |tx, cx| {
            actions::bookings::set_hours(tx, cx, &of_host, "Europe/Berlin", "mon-fri 09:00-17:00")?;
            let input = BookingTypeInput {
                name: "Talk".into(),
                slug: "talk".into(),
                hosts: vec![of_host.clone()],
                ..BookingTypeInput::default()
            };
            actions::bookings::add_booking_type(tx, cx, &input)
        })
        .await;
    let meeting = Meeting::new();
    let removed = person.clone();
    let book = move |tx: &mut Tx<'_>, cx: &Cx<'_>| {
        let guest = BookingGuest { name: "Ann", email: "ann@x.example", zone: None };
        // Tuesday, 17 November 2026, ten o'clock in Berlin.
        let new =
            NewBooking { starts_at: 1_794_906_000_000, guest, answers: &[], conversation: None };
        booking::book(tx, cx, &kind, &new).map(|_| ())
    };
    let (booked, gone) = tokio::join!(
        meeting.act(&app, &app.owner, book),
        meeting.act(&app, &app.owner, move |tx, cx| removal::remove_person(tx, cx, &removed)),
    );
    assert!(booked.is_ok() != gone.is_ok(), "{booked:?} {gone:?}");
    let hosts = app.count(&format!("users WHERE id = '{person}'")).await;
    assert_eq!(app.count("host_bookings").await, hosts);
    if let Err(error) = booked {
        assert!(matches!(error, Error::Conflict(_) | Error::Invalid(_)), "{error:?}");
    }
}
