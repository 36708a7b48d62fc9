//! What Microsoft Graph refuses, forgets or breaks off while a mailbox is read.

use std::collections::BTreeSet;

use inbound::imap;

use super::*;

on_both!(
    a_server_that_asks_to_wait_is_asked_again,
    a_forgotten_delta_link_begins_a_listing_that_brings_nothing_twice,
    a_process_killed_between_fetching_and_filing_loses_and_repeats_nothing,
    a_round_that_breaks_off_goes_on_with_what_is_missing,
    a_mail_that_is_gone_when_it_is_had_is_missed_by_nobody,
    a_server_that_asks_to_stay_away_is_left_alone_and_nothing_fails,
    a_link_that_the_server_does_not_take_begins_a_new_listing,
    a_folder_of_sent_mail_that_is_refused_stops_no_mail,
    while_much_sent_mail_is_read_the_inbox_is_asked_too,
    a_mail_that_cannot_be_had_is_passed_over_after_some_tries,
    several_mails_that_cannot_be_had_are_passed_over_one_after_the_other
);

async fn a_server_that_asks_to_wait_is_asked_again(app: TestApp) {
    let world = World::start(SUPPORT);
    world.graph.deliver(SUPPORT, &letter(1), app.now() - HOUR);
    let app = world.connect(app, "all").await;
    for part in ["inbox/messages/delta", "$value"] {
        world.graph.fail_once(part, GraphServerFault::Status(429));
        world.graph.fail_once(part, GraphServerFault::Status(429));
    }
    world.round(&app).await;
    is_healthy(&app).await;
    let key = app.key("read").await;
    assert_eq!(subjects(&app, &key).await, ["Lamp 1"]);
    for _ in 0..4 {
        world.graph.fail_once("inbox/messages/delta", GraphServerFault::Status(429));
    }
    world.round(&app).await;
    let error = health(&app).await.last_error.unwrap();
    assert!(error.contains("refused: HTTP 429"), "{error}");
    world.round(&app).await;
    is_healthy(&app).await;
}

async fn a_forgotten_delta_link_begins_a_listing_that_brings_nothing_twice(app: TestApp) {
    let world = World::start(SUPPORT);
    let old = world.graph.deliver(SUPPORT, &letter(1), app.now() - 9 * HOUR);
    world.graph.deliver(SUPPORT, &letter(2), app.now() - 8 * HOUR);
    let app = world.connect(app, "all").await;
    world.round(&app).await;
    world.graph.forget_links();
    // Somebody moved an older mail into the inbox.
    let moved = world.graph.deliver(SUPPORT, &letter(3), app.now() - 10 * HOUR);
    world.graph.take_requests("");
    world.round(&app).await;
    is_healthy(&app).await;
    let key = app.key("read").await;
    assert_eq!(subjects(&app, &key).await, ["Lamp 1", "Lamp 2", "Lamp 3"]);
    let had = world.graph.take_requests("$value");
    assert!(had.iter().any(|request| request.contains(&moved)), "{had:?}");
    assert!(!had.iter().any(|request| request.contains(&old)), "it is known: {had:?}");
    for listed in app.list(&key, "view=all").await {
        let messages = app.timeline(&key, &listed["id"].as_str().unwrap(), "message").await;
        assert_eq!(messages.len(), 1);
    }
}

async fn a_process_killed_between_fetching_and_filing_loses_and_repeats_nothing(app: TestApp) {
    let world = World::start(SUPPORT);
    for number in 1..=2 {
        world.graph.deliver(SUPPORT, &letter(number), app.now() - HOUR);
    }
    let app = world.connect(app, "all").await;
    world.graph.hold("$value");
    let fetchers = world.fetchers(&app);
    let killed = tokio::spawn(async move { fetchers.fetch_due().await });
    eventually(async || world.graph.is_holding()).await;
    killed.abort();
    assert!(killed.await.is_err(), "it was killed");
    world.graph.release();
    let now = app.now();
    app.app.store.write(move |tx| imap::release_all(tx, now)).await.unwrap();
    world.round(&app).await;
    is_healthy(&app).await;
    let key = app.key("read").await;
    assert_eq!(subjects(&app, &key).await, ["Lamp 1", "Lamp 2"]);
}

async fn a_round_that_breaks_off_goes_on_with_what_is_missing(app: TestApp) {
    let world = World::start(SUPPORT);
    world.graph.deliver(SUPPORT, &letter(1), app.now() - 2 * HOUR);
    let second = world.graph.deliver(SUPPORT, &letter(2), app.now() - HOUR);
    let app = world.connect(app, "all").await;
    world.graph.fail_once(&second, GraphServerFault::HangUp);
    world.round(&app).await;
    let key = app.key("read").await;
    assert_eq!(subjects(&app, &key).await, ["Lamp 1"]);
    let error = health(&app).await.last_error.unwrap();
    assert!(error.contains("broke off"), "{error}");
    world.round(&app).await;
    is_healthy(&app).await;
    assert_eq!(subjects(&app, &key).await, ["Lamp 1", "Lamp 2"]);
    let id = app.list(&key, "view=all").await[1]["id"].as_str().unwrap().to_owned();
    assert_eq!(app.timeline(&key, &id, "message").await.len(), 1);

    // What was filed before the break is not had again.
    let mut later = Vec::new();
    for number in 3..=5 {
        let at = app.now() - i64::from(10 - number) * SECOND;
        later.push(world.graph.deliver(SUPPORT, &letter(number), at));
    }
    world.graph.fail_once(&later[2], GraphServerFault::HangUp);
    world.round(&app).await;
    world.graph.take_requests("");
    world.round(&app).await;
    is_healthy(&app).await;
    let had = world.graph.take_requests("$value");
    assert!(had.iter().any(|request| request.contains(&later[2])), "{had:?}");
    assert!(!had.iter().any(|request| request.contains(&later[0])), "{had:?}");
    assert_eq!(subjects(&app, &key).await.len(), 5);
}

async fn a_mail_that_is_gone_when_it_is_had_is_missed_by_nobody(app: TestApp) {
    let world = World::start(SUPPORT);
    let gone = world.graph.deliver(SUPPORT, &letter(1), app.now() - 2 * HOUR);
    world.graph.deliver(SUPPORT, &letter(2), app.now() - HOUR);
    let app = world.connect(app, "all").await;
    world.graph.fail_once(&gone, GraphServerFault::Code(404, "ErrorItemNotFound"));
    world.round(&app).await;
    is_healthy(&app).await;
    let key = app.key("read").await;
    assert_eq!(subjects(&app, &key).await, ["Lamp 2"]);
    // No mailbox is no deleted mail.
    world.graph.deliver(SUPPORT, &letter(3), app.now());
    world.graph.fail_once("$value", GraphServerFault::Code(404, "MailboxNotEnabledForRESTAPI"));
    world.round(&app).await;
    assert!(!health(&app).await.ok);
    world.round(&app).await;
    is_healthy(&app).await;
    assert_eq!(subjects(&app, &key).await, ["Lamp 2", "Lamp 3"]);
}

async fn a_server_that_asks_to_stay_away_is_left_alone_and_nothing_fails(app: TestApp) {
    let world = World::start(SUPPORT);
    let app = world.connect(app, "all").await;
    for (number, status) in [(1, 429), (2, 503)] {
        world.round(&app).await;
        is_healthy(&app).await;
        world.graph.deliver(SUPPORT, &letter(number), app.now());
        let fault = GraphServerFault::RetryAfter(status, 300);
        world.graph.fail_once("inbox/messages/delta", fault);
        world.round(&app).await;
        let asked = health(&app).await;
        assert!(asked.ok && asked.due_at.0 == app.now() + 5 * MINUTE, "{asked:?}");
        app.advance(4 * MINUTE);
        assert_eq!(world.fetchers(&app).fetch_due().await.unwrap(), 0);
        app.advance(MINUTE);
        assert_eq!(world.fetchers(&app).fetch_due().await.unwrap(), 1);
        is_healthy(&app).await;
    }
    let key = app.key("read").await;
    assert_eq!(subjects(&app, &key).await, ["Lamp 1", "Lamp 2"]);
}

async fn a_link_that_the_server_does_not_take_begins_a_new_listing(app: TestApp) {
    let world = World::start(SUPPORT);
    let app = world.connect(app, "all").await;
    world.round(&app).await;
    world.graph.deliver(SUPPORT, &letter(1), app.now());
    world.graph.fail_once("inbox/messages/delta", GraphServerFault::Status(400));
    world.round(&app).await;
    is_healthy(&app).await;
    world.graph.deliver(SUPPORT, &letter(2), app.now());
    let moved = app.app.store.write(|tx| {
        tx.exec(
            "UPDATE graph_folders SET delta_link = 'https://elsewhere.example/x' WHERE folder = 'inbox'",
            &[],
        )?;
        Ok::<_, base::error::Error>(())
    });
    moved.await.unwrap();
    world.round(&app).await;
    is_healthy(&app).await;
    let key = app.key("read").await;
    assert_eq!(subjects(&app, &key).await, ["Lamp 1", "Lamp 2"]);
}

async fn a_folder_of_sent_mail_that_is_refused_stops_no_mail(app: TestApp) {
    let world = World::start(SUPPORT);
    world.graph.deliver(SUPPORT, &letter(1), app.now() - HOUR);
    let app = world.connect(app, "all").await;
    let key = app.key("read").await;
    for status in [403, 400] {
        world.graph.fail_once("sentitems/messages/delta", GraphServerFault::Status(status));
        world.round(&app).await;
        is_healthy(&app).await;
        assert_eq!(subjects(&app, &key).await, ["Lamp 1"], "{status}");
    }
}

async fn while_much_sent_mail_is_read_the_inbox_is_asked_too(app: TestApp) {
    let world = World::start(SUPPORT);
    let app = world.connect(app, "all").await;
    for number in 0..201 {
        // To oneself, which is filed nowhere.
        let sent = format!(
            "From: <support@acme.example>\r\nTo: <support@acme.example>\r\nSubject: {number}\r\n\
             Message-ID: <{number}@acme.example>\r\n\r\nHi\r\n"
        );
        world.graph.put_sent(SUPPORT, &sent, app.now() - DAY + number);
    }
    world.graph.take_requests("");
    world.round(&app).await;
    is_healthy(&app).await;
    let asked = world.graph.take_requests("");
    let inbox = asked.iter().filter(|request| request.contains("inbox/messages/delta")).count();
    let had = asked.iter().filter(|request| request.contains("$value")).collect::<Vec<_>>();
    let different = had.iter().collect::<BTreeSet<_>>();
    assert_eq!((inbox, had.len()), (2, different.len()));
    assert!(different.len() > 200, "{}", different.len());
}

async fn a_mail_that_cannot_be_had_is_passed_over_after_some_tries(app: TestApp) {
    let world = World::start(SUPPORT);
    let bad = world.graph.deliver(SUPPORT, &letter(1), app.now() - 2 * HOUR);
    world.graph.deliver(SUPPORT, &letter(2), app.now() - HOUR);
    let app = world.connect(app, "all").await;
    let tries = usize::try_from(base::limits::FETCH_ATTEMPTS).unwrap();
    for status in [500, 400, 403, 404, 409].into_iter().cycle().take(tries) {
        world.graph.fail_once(&bad, GraphServerFault::Status(status));
        world.round(&app).await;
        assert!(!health(&app).await.ok, "{status}");
    }
    world.round(&app).await;
    let listed = health(&app).await;
    assert_eq!((listed.ok, listed.skipped), (true, 1), "{listed:?}");
    let why = listed.last_skipped.unwrap();
    assert!(why.starts_with("The mail received ") && why.contains("tries."), "{why}");
    let key = app.key("read").await;
    assert_eq!(subjects(&app, &key).await, ["Lamp 2"]);
}

async fn several_mails_that_cannot_be_had_are_passed_over_one_after_the_other(app: TestApp) {
    let world = World::start(SUPPORT);
    let bad = [1, 2].map(|number| {
        let at = app.now() - i64::from(4 - number) * HOUR;
        world.graph.deliver(SUPPORT, &letter(number), at)
    });
    world.graph.deliver(SUPPORT, &letter(3), app.now() - HOUR);
    let app = world.connect(app, "all").await;
    for one in &bad {
        for _ in 0..base::limits::FETCH_ATTEMPTS {
            world.graph.fail_once(one, GraphServerFault::Status(500));
            world.round(&app).await;
            assert!(!health(&app).await.ok);
        }
    }
    world.round(&app).await;
    let listed = health(&app).await;
    assert_eq!((listed.ok, listed.skipped), (true, 2), "{listed:?}");
    let key = app.key("read").await;
    assert_eq!(subjects(&app, &key).await, ["Lamp 3"]);
}
