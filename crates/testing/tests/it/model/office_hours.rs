//! Office hours: the automatic reply outside them, and targets that are counted in them.

use actions::conversations::triage::{self, TriageAct};
use actions::conversations::undo_triage;
use actions::inboxes::office_hours::{self, OfficeHoursInput};
use actions::integrations::webhooks;
use actions::writing::compose::{self, NewReply};
use base::ids::UndoId;
use inbound::incoming_mail::FiledMail;
use mail::{Authentication, AuthenticationResult, AuthorKind, Dmarc};
use model::authentication::SenderAuthentication;
use model::mailboxes::{DraftingMode, Mailbox};
use model::messages::recipients::RecipientList;
use model::messages::written_text::TextFormat;
use model::times::local_times::LocalTimes;
use outbound::scheduling::MessageTimes;
use serde_json::{Value, json};
use testing::{
    DAY, FEE_ANSWER, FEE_QUESTION_AGAIN, HOUR, MINUTE, SECOND, TestApp, held_warning, letter,
    on_both,
};

on_both!(
    the_automatic_reply_goes_once_a_day_and_never_to_automatic_or_held_mail,
    the_automatic_reply_leaves_the_helpers_draft_alone,
    targets_are_kept_or_missed_in_office_hours,
    a_missed_target_is_told_to_webhooks_that_chose_it,
    targets_rest_while_mail_is_held_and_end_when_it_is_closed,
    undoing_a_close_brings_the_targets_back_and_counts_nothing_twice,
    the_clock_of_an_inbox_is_that_of_its_hours_or_the_one_the_team_agrees_on
);

const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// Hours around the clock on all days but today.
fn closed_today(app: &TestApp) -> String {
    let today = (app.now() / DAY + 3).rem_euclid(7) as usize;
    let open: Vec<&str> = DAYS.iter().copied().filter(|day| *day != DAYS[today]).collect();
    format!("{} 00:00-24:00", open.join(","))
}

async fn set(app: &TestApp, input: OfficeHoursInput) {
    let mailbox = app.support.id.clone();
    app.act(&app.owner, move |tx, cx| office_hours::set_office_hours(tx, cx, &mailbox, &input))
        .await;
}

async fn the_automatic_reply_goes_once_a_day_and_never_to_automatic_or_held_mail(app: TestApp) {
    let hours = OfficeHoursInput {
        weekly: closed_today(&app),
        zone: "UTC".into(),
        away_reply: "We are back tomorrow.".into(),
        ..OfficeHoursInput::default()
    };
    set(&app, hours.clone()).await;
    app.mail("ann@x.example Ann", "Lamp", "broken").await;
    app.mail("ann@x.example Ann", "Chair", "broken too").await;
    app.mail("noreply@x.example", "News", "text").await;
    let mut robot = letter("robot@x.example", "Away", "text");
    robot.kind = AuthorKind::AutoReply;
    app.deliver(&app.support, robot).await;
    let mut scam = letter("eve@evil.example", "Pay now", "text");
    scam.warning = held_warning();
    app.deliver(&app.support, scam).await;
    let mut news = letter("shop@x.example", "Offers", "text");
    news.no_automatic_reply = true;
    app.deliver(&app.support, news).await;
    let (pass, none) = (AuthenticationResult::Pass, AuthenticationResult::None);
    for (dmarc, spf) in [(Dmarc::Fail, pass), (Dmarc::Absent, none)] {
        forged(&app, Authentication { dmarc, spf, ..Authentication::default() }).await;
    }
    app.pass(5 * SECOND).await;
    let sent = app.outside.relay.attempts();
    let replies: Vec<_> = sent
        .iter()
        .filter(|mail| String::from_utf8_lossy(&mail.bytes).contains("We are back tomorrow."))
        .collect();
    assert_eq!(replies.len(), 1, "one for each customer and day");
    assert_eq!(replies[0].recipients, ["ann@x.example"]);
    let bytes = String::from_utf8_lossy(&replies[0].bytes);
    assert!(bytes.contains("Auto-Submitted: auto-replied"), "{bytes}");
    let key = app.key("read").await;
    let waiting = app.list(&key, "?view=open").await;
    assert!(waiting.iter().all(|one| one["waitingSince"] != Value::Null), "nobody was answered");
    app.pass(DAY).await;
    app.mail("ann@x.example Ann", "Table", "broken as well").await;
    app.pass(5 * SECOND).await;
    let count = app.outside.relay.attempts().len();
    assert_eq!(count, sent.len(), "the inbox is open by now");
    for (wrong, said) in [
        (OfficeHoursInput { weekly: "someday".into(), ..hours.clone() }, "Hours are written"),
        (OfficeHoursInput { zone: "Mars".into(), ..hours.clone() }, "no time zone"),
        (OfficeHoursInput { holidays: "Christmas".into(), ..hours.clone() }, "Closed days"),
        (OfficeHoursInput { place: "Atlantis".into(), ..hours.clone() }, "not known"),
        (OfficeHoursInput { answer: "soon".into(), ..hours.clone() }, "A target is written"),
    ] {
        let mailbox = app.support.id.clone();
        let refused = app
            .expect_refusal(&app.owner, move |tx, cx| {
                office_hours::set_office_hours(tx, cx, &mailbox, &wrong)
            })
            .await;
        assert!(format!("{refused:?}").contains(said), "{refused:?}");
    }
}

/// Delivers a mail whose sender is not proven.
async fn forged(app: &TestApp, found: Authentication) {
    let mut incoming = app.incoming(&app.support, letter("victim@x.example", "Lamp", "text"));
    incoming.authentication = Some(SenderAuthentication::from(&found));
    let (service, mailbox) = (app.service(&app.support), app.support.clone());
    app.act(&service, move |tx, cx| inbound::receive::receive(tx, cx, &mailbox, &incoming)).await;
}

async fn the_automatic_reply_leaves_the_helpers_draft_alone(app: TestApp) {
    let key = app.key("read draft send").await;
    app.answer("Fee taken twice", FEE_ANSWER).await;
    app.teach_fee_answer(&key).await;
    app.set_drafting(&app.owner, &app.support, DraftingMode::Answers).await;
    let away_reply = "We are back tomorrow.".to_owned();
    let weekly = closed_today(&app);
    let zone = "UTC".to_owned();
    set(&app, OfficeHoursInput { weekly, zone, away_reply, ..OfficeHoursInput::default() }).await;
    let mail = app.mail_to(&app.support, "bo@y.example Bo", FEE_QUESTION_AGAIN).await;
    app.pass(5 * SECOND).await;
    let sent = app.outside.relay.attempts();
    let is_reply = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains("We are back tomorrow.");
    assert!(sent.iter().any(|mail| is_reply(&mail.bytes)), "the automatic reply left");
    assert_eq!(app.drafts_in(&key, &mail).await.len(), 1, "and the draft still waits");
}

async fn a_missed_target_is_told_to_webhooks_that_chose_it(app: TestApp) {
    let weekly = "mon-sun 00:00-24:00".to_owned();
    let (zone, answer) = ("UTC".to_owned(), "2 h".to_owned());
    set(&app, OfficeHoursInput { weekly, zone, answer, ..OfficeHoursInput::default() }).await;
    let (plain, chosen) = (app.hook("plain").await, app.hook("chosen").await);
    let (id, names) = (chosen.id.clone(), vec!["target.missed".to_owned()]);
    app.act(&app.owner, move |tx, cx| webhooks::choose_events(tx, cx, &id, &names)).await;
    let mail = app.mail("ann@x.example", "Lamp", "broken").await;
    app.pass(3 * HOUR).await;
    let missed = |hook| -> Vec<Value> {
        let calls = app.calls_to(hook);
        let events = calls.iter().map(|call| serde_json::from_str::<Value>(&call.body).unwrap());
        events.filter(|event| event["type"] == "target.missed").collect()
    };
    assert_eq!(missed(&plain), Vec::<Value>::new());
    let told = missed(&chosen);
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0]["data"]["conversation_id"], mail.conversation.as_str());
    assert_eq!(told[0]["data"]["target"], "answer");
}

async fn targets_rest_while_mail_is_held_and_end_when_it_is_closed(app: TestApp) {
    let key = app.key("read write send").await;
    let weekly = "mon-sun 00:00-24:00".to_owned();
    let (zone, answer) = ("UTC".to_owned(), "2 h".to_owned());
    set(&app, OfficeHoursInput { weekly, zone, answer, ..OfficeHoursInput::default() }).await;
    let lamp = app.mail("ann@x.example", "Lamp", "broken").await;
    let chair = app.mail("bo@x.example", "Chair", "broken").await;
    let mut robot = letter("robot@x.example", "Receipt", "text");
    robot.kind = AuthorKind::AutoReply;
    let robot = app.deliver(&app.support, robot).await;
    let due = async |mail: &FiledMail| app.count(&with_target(mail)).await;
    assert_eq!((due(&lamp).await, due(&robot).await), (1, 0), "nobody waits for a robot's answer");
    for (from, subject, mail) in
        [("ann@x.example", "Re: Lamp", &lamp), ("bo@x.example", "Re: Chair", &chair)]
    {
        let mut scam = letter(from, subject, "Pay now");
        scam.answers = vec![app.header_id(mail.message.as_str()).await];
        scam.warning = held_warning();
        let joined = app.deliver(&app.support, scam).await;
        assert_eq!(joined.conversation, mail.conversation, "it joins");
    }
    assert_eq!((due(&lamp).await, due(&chair).await), (0, 0), "held mail is not waited with");
    app.on(&key, &chair.conversation, "status", json!({ "status": "closed" })).await.is(200);
    app.release(&lamp.conversation).await;
    assert_eq!((due(&lamp).await, due(&chair).await), (1, 0));
    let (actor, id) = (app.owner.clone(), lamp.conversation.to_string());
    let to = compose::parties("ann@x.example").unwrap();
    let reply = NewReply {
        body: "On its way".into(),
        format: TextFormat::Plain,
        recipients: RecipientList { to, ..RecipientList::default() },
        close: true,
        send: true,
        forwards: None,
        secure: None,
        times: MessageTimes::default(),
    };
    app.act(&actor, move |tx, cx| testing::send_reply(tx, cx, &id, &reply)).await;
    app.pass(11 * MINUTE).await;
    app.pass(DAY).await;
    let found = app.get(&key, "/reports").await.is(200).json();
    let targets = &found["targets"];
    assert_eq!((&targets["kept"], &targets["missed"]), (&json!(1), &json!(0)), "{targets}");
    assert_eq!(found["firstAnswer"]["count"], 1, "an answer that closes is one");
}

async fn undoing_a_close_brings_the_targets_back_and_counts_nothing_twice(app: TestApp) {
    let key = app.key("read write send").await;
    let weekly = "mon-sun 00:00-24:00".to_owned();
    let (zone, answer, resolve) = ("UTC".to_owned(), "2 h".to_owned(), "4 h".to_owned());
    set(&app, OfficeHoursInput { weekly, zone, answer, resolve, ..OfficeHoursInput::default() })
        .await;
    let lamp = app.mail("ann@x.example", "Lamp", "broken").await;
    let due = async || {
        let columns = "coalesce(answer_due_at, 0), coalesce(resolve_due_at, 0), \
                       coalesce(target_due_at, 0)";
        let sql = format!("SELECT {columns} FROM conversations WHERE id = ?1");
        let id = lamp.conversation.clone();
        let row: (i64, i64, i64) =
            app.act(&app.owner, move |tx, _| Ok(tx.one(&sql, &[&id])?)).await;
        row
    };
    let before = due().await;
    assert!(before.0 > 0 && before.1 > before.0, "{before:?}");
    app.pass(HOUR).await;
    let id = close(&app, &lamp).await;
    assert_eq!(due().await, (0, 0, 0), "closed mail waits for nothing");
    undo(&app, &id).await;
    assert_eq!(due().await, before, "the targets run on as before");
    app.pass(DAY).await;
    let id = close(&app, &lamp).await;
    undo(&app, &id).await;
    app.pass(DAY).await;
    let found = app.get(&key, "/reports").await.is(200).json();
    let targets = &found["targets"];
    assert_eq!((&targets["kept"], &targets["missed"]), (&json!(0), &json!(2)), "{targets}");
}

async fn close(app: &TestApp, mail: &FiledMail) -> UndoId {
    let ids = vec![mail.conversation.to_string()];
    app.act(&app.owner, move |tx, cx| {
        let undo = triage::begin_triage(tx, cx, &TriageAct::Close)?;
        triage::triage(tx, cx, &undo, &TriageAct::Close, &ids)?;
        Ok(undo)
    })
    .await
}

async fn undo(app: &TestApp, id: &UndoId) {
    let id = id.clone();
    assert!(app.act(&app.owner, move |tx, cx| undo_triage::undo_triage(tx, cx, &id)).await);
}

/// A conversation whose target runs, as a condition of a count.
fn with_target(mail: &FiledMail) -> String {
    format!("conversations WHERE id = '{}' AND target_due_at IS NOT NULL", mail.conversation)
}

async fn targets_are_kept_or_missed_in_office_hours(app: TestApp) {
    let key = app.key("read write send").await;
    set(
        &app,
        OfficeHoursInput {
            weekly: "mon-sun 00:00-24:00".into(),
            zone: "Europe/Berlin".into(),
            answer: "2 h".into(),
            answer_urgent: "30 min".into(),
            resolve: "1 d".into(),
            ..OfficeHoursInput::default()
        },
    )
    .await;
    let kept = app.mail("ann@x.example", "Lamp", "broken").await.conversation;
    let missed = app.mail("bo@x.example", "Chair", "broken").await.conversation;
    let urgent = app.mail("cy@x.example", "Table", "broken").await.conversation;
    app.on(&key, &urgent, "sorting", json!({ "urgency": "high" })).await.is(200);
    app.pass(40 * MINUTE).await;
    let events = |events: Vec<(String, Value)>| {
        let missed = events.into_iter().filter(|(name, _)| name == "target-missed");
        missed.map(|(_, data)| data["target"].clone()).collect::<Vec<Value>>()
    };
    assert_eq!(events(app.timeline_events(&key, &urgent).await), [json!("answer")]);
    app.send_reply(&key, &kept, "On its way").await;
    app.pass(3 * HOUR).await;
    app.send_reply(&key, &missed, "Sorry for the delay").await;
    app.pass(11 * MINUTE).await;
    assert_eq!(events(app.timeline_events(&key, &missed).await), [json!("answer")]);
    assert!(events(app.timeline_events(&key, &kept).await).is_empty());
    app.on(&key, &kept, "status", json!({ "status": "closed" })).await.is(200);
    app.pass(DAY).await;
    assert_eq!(events(app.timeline_events(&key, &missed).await), [json!("answer"), json!("close")]);
    let found = app.get(&key, "/reports").await.is(200).json();
    let targets = &found["targets"];
    // Kept: the answer and the closing of the first. Missed: two answers and two closings.
    assert_eq!((&targets["kept"], &targets["missed"]), (&json!(2), &json!(4)), "{targets}");
}

async fn the_clock_of_an_inbox_is_that_of_its_hours_or_the_one_the_team_agrees_on(app: TestApp) {
    let sales = app.team_inbox("sales@acme.example", "Sales").await;
    let own = app.private_inbox(&app.owner).await;
    // Ten in the evening.
    let at = 22 * HOUR;
    let clock = async |mailbox: &Mailbox| {
        let (ws, id) = (app.owner.ws, mailbox.id.clone());
        let times = app.app.store.read(move |tx| LocalTimes::of(tx, ws, &id)).await.unwrap();
        times.clock(at)
    };
    let set_zone = async |mailbox: &Mailbox, zone: &str| {
        let (id, hours) = (mailbox.id.clone(), hours_in(zone));
        app.act(&app.owner, move |tx, cx| office_hours::set_office_hours(tx, cx, &id, &hours))
            .await;
    };
    assert_eq!(clock(&sales).await, "22:00 UTC");
    app.exec(&format!(
        "INSERT INTO office_hours (ws, mailbox, zone, weekly, holidays, away_reply)
         VALUES ({}, '{}', 'Asia/Tokyo', '', '[]', '')",
        app.owner.ws, own.id
    ))
    .await;
    assert_eq!(clock(&sales).await, "22:00 UTC", "what is private is not told");
    set_zone(&app.support, "Asia/Kolkata").await;
    for mailbox in [&app.support, &sales] {
        assert_eq!(clock(mailbox).await, "03:30 (Kolkata)");
    }
    set_zone(&sales, "Asia/Tokyo").await;
    assert_eq!(clock(&sales).await, "07:00 (Tokyo)");
    let third = app.team_inbox("press@acme.example", "Press").await;
    assert_eq!(clock(&third).await, "22:00 UTC", "two zones are no answer");
}

fn hours_in(zone: &str) -> OfficeHoursInput {
    OfficeHoursInput { zone: zone.into(), ..OfficeHoursInput::default() }
}
