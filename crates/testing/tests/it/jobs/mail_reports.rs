//! Reports that are mailed once a week or a month.

use actions::people::removal;
use actions::workspace::report_settings::{
    ReportSettingsInput, mail_report_now, set_report_settings,
};
use base::actor::{Actor, Circle, Role};
use jobs::RelayOutcome;
use maintenance::waiting;
use reports::mailing::{ReportNowOutcome, ReportPace, mail_due};
use testing::{DAY, HOUR, MINUTE, TestApp, letter, on_both, user};

on_both!(
    a_report_is_mailed_once_with_what_each_reader_may_see,
    a_period_that_was_missed_is_mailed_once_and_late,
    whoever_left_the_team_gets_no_report,
    two_processes_mail_a_period_once,
    a_zone_that_changes_mails_no_period_twice,
    a_zone_further_east_loses_no_period,
    what_is_saved_while_a_report_is_tried_again_loses_no_period,
    a_copy_mails_no_report_that_the_original_mailed,
    a_report_for_an_address_that_is_an_inbox_is_not_queued,
    owners_and_admins_choose_and_members_do_not
);

/// Weekly, on the day after today.
fn tomorrow(app: &TestApp, people: &[&Actor]) -> ReportSettingsInput {
    ReportSettingsInput {
        zone: "UTC".into(),
        pace: Some(ReportPace::Week),
        // 1 January 1970 was a Thursday.
        weekday: (app.now() / DAY + 1 + 3).rem_euclid(7),
        people: people.iter().map(|person| user(person)).collect(),
    }
}

async fn choose(app: &TestApp, input: ReportSettingsInput) {
    app.act(&app.owner, move |tx, cx| set_report_settings(tx, cx, &input)).await;
}

/// Until a time of tomorrow.
fn until_tomorrow(app: &TestApp, time: i64) -> i64 {
    DAY - app.now().rem_euclid(DAY) + time
}

/// The reports that left, each with whom it is for, with nothing folded.
fn mailed(app: &TestApp) -> Vec<(Vec<String>, String)> {
    let attempts = app.outside.relay.attempts().into_iter();
    let unfolded = attempts.map(|mail| {
        let text = String::from_utf8_lossy(&mail.bytes);
        let text = text.replace("=\r\n", "").replace("=3D", "=").replace("\r\n", "\n");
        (mail.recipients, text)
    });
    unfolded.filter(|(_, text)| text.contains("Report of")).collect()
}

async fn a_report_is_mailed_once_with_what_each_reader_may_see(app: TestApp) {
    let (ann, bo) = (app.person("Ann").await, app.person("Bo").await);
    let private = app.private_inbox(&ann).await;
    app.deliver(&private, letter("a@x.example", "Secret", "text")).await;
    app.mail("b@x.example", "Lamp", "text").await;
    choose(&app, tomorrow(&app, &[&ann, &bo])).await;
    app.pass(until_tomorrow(&app, 8 * HOUR - MINUTE)).await;
    assert!(mailed(&app).is_empty(), "it is not eight");
    app.pass(2 * MINUTE).await;
    let mails = mailed(&app);
    assert_eq!(mails.len(), 2);
    for (to, text) in &mails {
        let is_anns = to.as_slice() == ["ann@acme.example"];
        assert!(is_anns || to.as_slice() == ["bo@acme.example"], "{to:?}");
        assert_eq!(text.contains("Private: 1 in, 0 out"), is_anns, "{text}");
        assert!(text.contains("Support: 1 in, 0 out"), "{text}");
        assert_eq!(text.contains("Messages in: 2"), is_anns, "{text}");
        assert!(text.contains("multipart/alternative") && text.contains("bgcolor="), "{text}");
        assert!(!text.contains("<svg") && !text.contains("<script") && !text.contains("<img"));
    }
    app.pass(6 * DAY).await;
    assert_eq!(mailed(&app).len(), 2, "once a week");
    app.pass(DAY).await;
    assert_eq!(mailed(&app).len(), 4);
}

async fn a_period_that_was_missed_is_mailed_once_and_late(app: TestApp) {
    choose(&app, tomorrow(&app, &[&app.owner])).await;
    app.advance(30 * DAY);
    app.work().await;
    app.work().await;
    assert_eq!(mailed(&app).len(), 1);
    app.pass(7 * DAY).await;
    assert_eq!(mailed(&app).len(), 2, "the next one is on time");
}

async fn whoever_left_the_team_gets_no_report(app: TestApp) {
    let (ann, bo) = (app.person_with("Ann", Role::Admin).await, app.person("Bo").await);
    choose(&app, tomorrow(&app, &[&bo])).await;
    // Ann's waits for the relay, and Bo's is not due.
    app.outside.relay.will_say(&[RelayOutcome::Later("busy".into())]);
    assert_eq!(app.act(&ann, mail_report_now).await, ReportNowOutcome::Queued);
    assert_eq!(app.act(&ann, mail_report_now).await, ReportNowOutcome::UnderWay);
    app.work().await;
    assert_eq!(mailed(&app).len(), 1);
    for person in [&ann, &bo] {
        let id = user(person);
        app.act(&app.owner, move |tx, cx| removal::remove_person(tx, cx, &id)).await;
    }
    app.pass(8 * DAY).await;
    assert_eq!(mailed(&app).len(), 1, "nothing more");
    assert_eq!(app.count("report_recipients").await, 0);
    assert_eq!(app.count("notices").await, 0);
}

async fn two_processes_mail_a_period_once(app: TestApp) {
    choose(&app, tomorrow(&app, &[&app.owner])).await;
    app.advance(until_tomorrow(&app, 8 * HOUR));
    let system = Actor::system(app.owner.ws, app.owner.workspace.clone(), Circle::team());
    let (first, second) = tokio::join!(app.act(&system, mail_due), app.act(&system, mail_due));
    assert_ne!(first, second, "one of them");
    assert_eq!(app.count("notices WHERE report IS NOT NULL").await, 1);
}

async fn a_zone_that_changes_mails_no_period_twice(app: TestApp) {
    let input = tomorrow(&app, &[&app.owner]);
    choose(&app, input.clone()).await;
    app.pass(until_tomorrow(&app, 8 * HOUR)).await;
    assert_eq!(mailed(&app).len(), 1);
    // It is eight there some hours later on the same day.
    choose(&app, ReportSettingsInput { zone: "America/New_York".into(), ..input }).await;
    app.pass(DAY).await;
    assert_eq!(mailed(&app).len(), 1);
    app.pass(6 * DAY + 12 * HOUR).await;
    assert_eq!(mailed(&app).len(), 2);
}

async fn a_zone_further_east_loses_no_period(app: TestApp) {
    let input = tomorrow(&app, &[&app.owner]);
    choose(&app, input.clone()).await;
    app.pass(until_tomorrow(&app, HOUR)).await;
    // It is ten there already, on the same day.
    choose(&app, ReportSettingsInput { zone: "Asia/Tokyo".into(), ..input }).await;
    app.pass(8 * HOUR).await;
    assert_eq!(mailed(&app).len(), 1);
    app.pass(6 * DAY).await;
    assert_eq!(mailed(&app).len(), 1);
    // Eight in Tokyo is eleven in the evening before.
    app.pass(15 * HOUR).await;
    assert_eq!(mailed(&app).len(), 2);
}

async fn what_is_saved_while_a_report_is_tried_again_loses_no_period(app: TestApp) {
    let input = tomorrow(&app, &[&app.owner]);
    choose(&app, input.clone()).await;
    app.advance(until_tomorrow(&app, 8 * HOUR));
    // As after an attempt that failed.
    app.exec(&format!("UPDATE report_schedules SET due_at = {}", app.now() + MINUTE)).await;
    choose(&app, input).await;
    app.pass(HOUR).await;
    assert_eq!(mailed(&app).len(), 1);
}

async fn a_copy_mails_no_report_that_the_original_mailed(app: TestApp) {
    choose(&app, tomorrow(&app, &[&app.owner])).await;
    assert_eq!(app.app.store.read(waiting::waiting).await.unwrap()["reports by mail"], 1);
    app.advance(until_tomorrow(&app, 9 * HOUR));
    let inner = app.app.clone();
    let stopped = app.app.store.write(move |tx| waiting::stop_overdue(tx, &inner)).await;
    assert_eq!(stopped.unwrap(), 0, "no message was");
    app.pass(6 * DAY).await;
    assert!(mailed(&app).is_empty());
    app.pass(DAY).await;
    assert_eq!(mailed(&app).len(), 1, "the next one is mailed");
}

async fn a_report_for_an_address_that_is_an_inbox_is_not_queued(app: TestApp) {
    let ann = app.person_with("Ann", Role::Admin).await;
    let sql =
        format!("UPDATE users SET email = 'support@acme.example' WHERE id = '{}'", user(&ann));
    app.exec(&sql).await;
    assert_eq!(app.act(&ann, mail_report_now).await, ReportNowOutcome::Unread);
    assert_eq!(app.count("notices WHERE report IS NOT NULL").await, 0);
}

async fn owners_and_admins_choose_and_members_do_not(app: TestApp) {
    let bo = app.person("Bo").await;
    let input = tomorrow(&app, &[&bo]);
    app.expect_refusal(&bo, move |tx, cx| set_report_settings(tx, cx, &input)).await;
    app.expect_refusal(&bo, mail_report_now).await;
    let wrong = ReportSettingsInput { zone: "Nowhere".into(), ..tomorrow(&app, &[]) };
    app.expect_refusal(&app.owner, move |tx, cx| set_report_settings(tx, cx, &wrong)).await;
    assert_eq!(app.count("report_schedules").await, 0);
    let month = ReportSettingsInput { pace: Some(ReportPace::Month), ..tomorrow(&app, &[&bo]) };
    choose(&app, month).await;
    app.pass(32 * DAY).await;
    assert_eq!(mailed(&app).len(), 1, "on the first day of a month");
    choose(&app, ReportSettingsInput { pace: None, ..tomorrow(&app, &[&bo]) }).await;
    let before = mailed(&app).len();
    app.pass(40 * DAY).await;
    assert_eq!(mailed(&app).len(), before);
}
