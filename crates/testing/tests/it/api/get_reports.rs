//! Reports: what is counted as it happens, and who sees it (additions, section 8).

use base::actor::Role;
use base::time::Moment;
use serde_json::{Value, json};
use testing::{DAY, HOUR, MINUTE, SECOND, TestApp, TestKey, held_warning, letter, on_both};

on_both!(
    a_day_of_work_is_counted_as_it_happens,
    a_private_inbox_counts_for_its_person_alone_and_held_mail_when_it_is_released,
    the_history_before_reports_is_counted_once,
    a_span_is_checked_and_a_year_is_shown_in_months,
    days_and_hours_are_those_of_the_zone,
    what_was_counted_by_the_day_stays_in_its_day
);

/// The figures, after what happened was folded.
async fn reports(app: &TestApp, key: &TestKey, query: &str) -> Value {
    app.pass(3 * SECOND).await;
    app.get(key, &format!("/reports{query}")).await.is(200).json()
}

async fn a_day_of_work_is_counted_as_it_happens(app: TestApp) {
    let key = app.key("read write draft send").await;
    app.topic("Refunds", "").await;
    let lamp = app.mail("ann@x.example", "Lamp", "It is broken").await.conversation;
    let chair = app.mail("bo@x.example", "Chair", "Where is it?").await.conversation;
    app.on(&key, &lamp, "tags", json!({ "add": ["vip", "late"] })).await.is(200);
    app.on(&key, &lamp, "tags", json!({ "remove": ["late"] })).await.is(200);
    app.on(&key, &lamp, "sorting", json!({ "topic": "Refunds" })).await.is(200);
    app.pass(50 * MINUTE).await;
    app.send_reply(&key, &lamp, "It is on its way").await;
    let draft = app.draft(&key, &chair, "Tomorrow").await;
    let discarded = app.draft(&key, &chair, "Never").await;
    let owner = app.owner.clone();
    app.act(&owner, move |tx, cx| {
        let id = |text: &str| base::ids::MessageId::parse(text).unwrap();
        actions::writing::drafts::discard_draft(tx, cx, &id(&discarded), 1, "wrong")?;
        testing::approve_draft(tx, cx, &id(&draft), 1, "The day after tomorrow")
    })
    .await;
    app.pass(11 * MINUTE).await;
    app.on(&key, &lamp, "status", json!({ "status": "closed" })).await.is(200);
    let found = reports(&app, &key, "").await;
    assert_eq!((&found["received"], &found["sent"]), (&json!(2), &json!(2)), "{found:#}");
    assert_eq!((&found["begun"], &found["closed"]), (&json!(2), &json!(1)));
    let hours: i64 = found["hours"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|day| day.as_array())
        .flatten()
        .filter_map(Value::as_i64)
        .sum();
    assert_eq!(hours, 2);
    // Both waited about an hour; a histogram knows it to a fifth.
    let median = found["firstAnswer"]["median"].as_i64().unwrap();
    assert!((2_900..4_400).contains(&median), "{median}");
    assert_eq!(found["timeToClose"]["count"], 1);
    assert_eq!(found["topics"][0]["name"], "Refunds");
    assert_eq!(
        (&found["topics"][0]["conversations"], &found["topics"][1]["conversations"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(found["tags"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&found["tags"][0]["name"], &found["tags"][0]["conversations"]),
        (&json!("vip"), &json!(1))
    );
    let drafts = &found["drafts"][0];
    assert_eq!(
        (&drafts["name"], &drafts["asItWas"], &drafts["edited"], &drafts["discarded"]),
        (&json!("Robo"), &json!(0), &json!(1), &json!(1))
    );
    assert_eq!(
        (&found["members"][0]["name"], &found["members"][0]["sent"]),
        (&json!("Robo"), &json!(2))
    );
    assert_eq!(found["waiting"]["open"], 0);
    assert_eq!(found["steps"].as_array().unwrap().len(), 28);
    assert_eq!(found["steps"][27]["received"], 2);
    let other = app.team_inbox("sales@acme.example", "Sales").await;
    let none = reports(&app, &key, &format!("?mailbox={}", other.id)).await;
    assert_eq!((&none["received"], &none["sent"]), (&json!(0), &json!(0)));
    let all = reports(&app, &key, &format!("?mailbox={}", app.support.id)).await;
    assert_eq!(all["received"], 2);
}

async fn a_private_inbox_counts_for_its_person_alone_and_held_mail_when_it_is_released(
    app: TestApp,
) {
    let ann = app.person_with("Ann", Role::Admin).await;
    let private = app.private_inbox(&ann).await;
    let (team, anns) = (app.key("read").await, app.key_of(&ann, "Anns", "read", true).await);
    app.deliver(&private, letter("a@x.example", "Secret", "text")).await;
    let mut scam = letter("eve@evil.example", "Pay now", "text");
    scam.warning = held_warning();
    let held = app.deliver(&app.support, scam).await.conversation;
    let seen = |figures: &Value| (figures["received"].clone(), figures["begun"].clone());
    assert_eq!(seen(&reports(&app, &team, "").await), (json!(0), json!(0)));
    assert_eq!(seen(&reports(&app, &anns, "").await), (json!(1), json!(1)));
    app.get(&team, &format!("/reports?mailbox={}", private.id)).await.is(400);
    app.release(&held).await;
    assert_eq!(seen(&reports(&app, &team, "").await), (json!(1), json!(1)));
    let test = app.test_key("read").await;
    assert_eq!(seen(&reports(&app, &test, "").await), (json!(0), json!(0)));
}

async fn the_history_before_reports_is_counted_once(app: TestApp) {
    let key = app.key("read write send").await;
    let lamp = app.mail("ann@x.example", "Lamp", "It is broken").await.conversation;
    app.on(&key, &lamp, "tags", json!({ "add": ["vip"] })).await.is(200);
    app.pass(30 * MINUTE).await;
    app.send_reply(&key, &lamp, "It is on its way").await;
    app.pass(11 * MINUTE).await;
    app.on(&key, &lamp, "status", json!({ "status": "closed" })).await.is(200);
    let live = reports(&app, &key, "").await;
    for table in ["report_facts", "report_quarter_hours", "report_days", "report_months"] {
        app.exec(&format!("DELETE FROM {table}")).await;
    }
    assert_eq!(reports(&app, &key, "").await["received"], 0);
    let until = app.now();
    app.exec(&format!(
        "INSERT INTO report_backfill (name, num, until, due_at) VALUES ('history', 0, {until}, 0)"
    ))
    .await;
    app.pass(SECOND).await;
    app.mail("bo@x.example", "Chair", "Where is it?").await;
    let past = reports(&app, &key, "").await;
    assert_eq!(app.count("report_backfill").await, 0);
    for figure in ["sent", "closed", "firstAnswer", "timeToClose", "tags"] {
        assert_eq!(past[figure], live[figure], "{figure}");
    }
    assert_eq!((&past["received"], &past["begun"]), (&json!(2), &json!(2)));
}

async fn a_span_is_checked_and_a_year_is_shown_in_months(app: TestApp) {
    let key = app.key("read").await;
    app.mail("ann@x.example", "Lamp", "text").await;
    let today = app.iso()[..10].to_owned();
    let day = reports(&app, &key, &format!("?from={today}&to={today}")).await;
    assert_eq!((&day["days"], &day["received"]), (&json!(1), &json!(1)));
    assert_eq!(day["steps"].as_array().unwrap().len(), 1);
    let year: i64 = today[..4].parse().unwrap();
    let (from, to) = (format!("{}-01-01", year - 1), format!("{year}-12-31"));
    let years = reports(&app, &key, &format!("?from={from}&to={to}")).await;
    assert_eq!(years["steps"].as_array().unwrap().len(), 24);
    assert_eq!(years["received"], 1);
    let total: i64 = years["steps"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|step| step["received"].as_i64())
        .sum();
    assert_eq!(total, 1);
    for wrong in [
        "?from=2026-02-30",
        "?from=2026-02-02&to=2026-02-01",
        "?from=1990-01-01",
        "?from=9999-01-01&to=9999-12-31",
        "?mailbox=mbx_none",
    ] {
        app.get(&key, &format!("/reports{wrong}")).await.is(400);
    }
}

/// A day that counts from 1970, as it is written.
fn date(day: i64) -> String {
    Moment(day * DAY).iso()[..10].to_owned()
}

async fn of_days(app: &TestApp, key: &TestKey, days: (i64, i64), zone: &str) -> Value {
    let (from, to) = (date(days.0), date(days.1));
    reports(app, key, &format!("?from={from}&to={to}&zone={zone}")).await
}

async fn days_and_hours_are_those_of_the_zone(app: TestApp) {
    let key = app.key("read").await;
    // Half past eleven in the evening in UTC, which is quarter past five of the next morning in Kathmandu.
    app.pass(DAY - app.now().rem_euclid(DAY) + 23 * HOUR + 30 * MINUTE).await;
    let today = app.now() / DAY;
    app.mail("ann@x.example", "Lamp", "text").await;
    for (zone, day, other) in [
        ("UTC", today, today + 1),
        ("America/New_York", today, today + 1),
        ("Europe/Berlin", today + 1, today),
        ("Asia/Kathmandu", today + 1, today),
    ] {
        let found = of_days(&app, &key, (day, day), zone).await;
        assert_eq!((&found["zone"], &found["received"]), (&json!(zone), &json!(1)), "{found:#}");
        assert_eq!(found["steps"][0]["received"], 1, "{zone}");
        let none = of_days(&app, &key, (other, other), zone).await;
        assert_eq!((&none["received"], &none["steps"][0]["received"]), (&json!(0), &json!(0)));
        // Days, weeks and months.
        for days in [10, 100, 300] {
            let found = of_days(&app, &key, (today + 1 - days, today + 1), zone).await;
            let steps = found["steps"].as_array().unwrap();
            let sum: i64 = steps.iter().filter_map(|step| step["received"].as_i64()).sum();
            assert_eq!((&found["received"], sum), (&json!(1), 1), "{days} days in {zone}");
            let hours = found["hours"].as_array().unwrap().iter().flat_map(|day| day.as_array());
            let sum: i64 = hours.flatten().filter_map(Value::as_i64).sum();
            assert_eq!(sum, 1, "hours of {days} days in {zone}");
        }
    }
    let nepal = of_days(&app, &key, (today + 1, today + 1), "Asia/Kathmandu").await;
    // 1 January 1970 was a Thursday.
    let weekday = (today + 1 + 3).rem_euclid(7) as usize;
    assert_eq!(nepal["hours"][weekday][5], 1, "{:#}", nepal["hours"]);
    assert_eq!(reports(&app, &key, "").await["zone"], "UTC");
    app.get(&key, "/reports?zone=Nowhere").await.is(400);
}

/// Counters of an older version have no quarter hours; the migration puts them at noon.
async fn what_was_counted_by_the_day_stays_in_its_day(app: TestApp) {
    let key = app.key("read").await;
    let (ws, day, inbox) = (app.owner.ws, app.now() / DAY - 3, &app.support.id);
    let month = 12 * (date(day)[..4].parse::<i64>().unwrap() - 1970)
        + date(day)[5..7].parse::<i64>().unwrap()
        - 1;
    for (table, columns, at) in [
        ("report_quarter_hours", "day, quarter_hour", format!("{day}, 48")),
        ("report_days", "day", day.to_string()),
        ("report_months", "month", month.to_string()),
    ] {
        app.exec(&format!(
            "INSERT INTO {table} (ws, circle, measure, {columns}, mailbox, name, n)
             VALUES ({ws}, 'team', 'sent', {at}, '{inbox}', '', 4)"
        ))
        .await;
    }
    for zone in ["UTC", "Europe/Berlin", "America/Los_Angeles", "Asia/Kolkata"] {
        let found = of_days(&app, &key, (day, day), zone).await;
        assert_eq!((&found["sent"], &found["steps"][0]["sent"]), (&json!(4), &json!(4)), "{zone}");
        let around = of_days(&app, &key, (day - 1, day + 1), zone).await;
        assert_eq!((&around["sent"], &around["steps"][1]["sent"]), (&json!(4), &json!(4)));
    }
}
