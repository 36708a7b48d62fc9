//! Rules: when, if and then, once for each thing that happened.

use actions::workspace::rules::RuleInput;
use actions::writing::saved_replies;
use base::actor::Role;
use base::ids::RuleId;
use inbound::incoming_mail::FiledMail;
use mail::AuthorKind;
use serde_json::{Value, json};
use testing::{HOUR, SECOND, TestApp, TestKey, held_warning, letter, on_both, user};

on_both!(
    rules_act_on_mail_in_their_order_and_say_so_in_the_timeline,
    a_rule_is_tried_before_it_is_switched_on_and_wrong_ones_are_refused,
    held_private_and_automatic_mail_is_treated_as_rules_say,
    tags_and_waiting_start_rules_and_what_a_rule_does_starts_none,
    people_are_assigned_in_turn_and_the_least_busy_first,
    what_somebody_has_is_not_taken_away_by_mail,
    two_processes_run_a_rule_once,
    a_job_that_cannot_be_read_holds_up_no_other_and_one_of_a_deleted_workspace_ends
);

/// A rule that is switched on: its conditions and acts as `field is value` and `act value`.
async fn rule(
    app: &TestApp,
    name: &str,
    event: &str,
    conditions: &[&str],
    acts: &[&str],
) -> RuleId {
    let input = input(name, event, conditions, acts);
    let id = app
        .act(&app.owner, move |tx, cx| actions::workspace::rules::add_rule(tx, cx, &input))
        .await;
    let own = id.clone();
    app.act(&app.owner, move |tx, cx| actions::workspace::rules::switch_rule(tx, cx, &own, true))
        .await;
    id
}

pub(super) fn input(name: &str, event: &str, conditions: &[&str], acts: &[&str]) -> RuleInput {
    let condition = |text: &&str| {
        let mut parts = text.splitn(3, ' ').map(str::to_owned);
        (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap_or_default())
    };
    let act = |text: &&str| {
        let (act, value) = text.split_once(' ').unwrap_or((text, ""));
        (act.to_owned(), value.to_owned())
    };
    RuleInput {
        name: name.into(),
        event: event.into(),
        wait_hours: "2".into(),
        conditions: conditions.iter().map(condition).collect(),
        acts: acts.iter().map(act).collect(),
        is_last: false,
    }
}

/// Who did what, of the events of a conversation.
async fn did(app: &TestApp, key: &TestKey, id: &impl ToString) -> Vec<(String, String)> {
    let events = app.timeline(key, id, "event").await;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    events.iter().map(|event| (text(&event["actor"]), text(&event["event"]))).collect()
}

async fn rules_act_on_mail_in_their_order_and_say_so_in_the_timeline(app: TestApp) {
    let key = app.key("read write").await;
    app.topic("Refunds", "").await;
    app.person("Ann").await;
    app.person("Bo").await;
    rule(
        &app,
        "Acme to Ann",
        "mail-arrives",
        &["domain is acme.test"],
        &["assign Ann Teammate", "tag vip"],
    )
    .await;
    rule(&app, "All to Bo", "mail-arrives", &[], &["assign Bo Teammate", "urgency high"]).await;
    rule(
        &app,
        "Refunds",
        "mail-arrives",
        &["words is money back", "subject is-not spam"],
        &["topic Refunds"],
    )
    .await;
    let mail = app.mail("x@mail.acme.test", "Lamp", "I want my MONEY back").await.conversation;
    let other = app.mail("y@else.test", "Chair", "Hello").await.conversation;
    app.pass(5 * SECOND).await;
    let read = app.read(&key, &mail).await;
    assert_eq!(
        (&read["assignee"]["name"], &read["tags"]),
        (&json!("Ann Teammate"), &json!(["vip"]))
    );
    assert_eq!((&read["topic"], &read["urgency"]), (&json!("Refunds"), &json!("high")));
    let by = |name: &str, event: &str| (format!("The rule “{name}”"), event.to_owned());
    let events = did(&app, &key, &mail).await;
    for wanted in [
        by("Acme to Ann", "assigned"),
        by("Acme to Ann", "tagged"),
        by("All to Bo", "sorted"),
        by("Refunds", "sorted"),
    ] {
        assert!(events.contains(&wanted), "{wanted:?} is not in {events:?}");
    }
    assert!(!events.contains(&by("All to Bo", "assigned")), "the first that assigns wins");
    let read = app.read(&key, &other).await;
    assert_eq!((&read["assignee"]["name"], &read["topic"]), (&json!("Bo Teammate"), &Value::Null));
    let rules = app.get(&key, "/rules").await.is(200).json();
    assert_eq!((&rules[0]["name"], &rules[0]["runs"]), (&json!("Acme to Ann"), &json!(1)));
    assert_eq!(rules[1]["runs"], 2);
    assert_eq!(
        rules[2]["conditions"][1],
        json!({ "field": "subject", "negated": true, "value": "spam" })
    );
    assert_eq!(rules[0]["acts"][0], json!({ "act": "assign", "value": "Ann Teammate" }));
    let test = app.test_key("read").await;
    assert_eq!(app.get(&test, "/rules").await.json(), json!([]));
    // What a person decided stays.
    app.on(&key, &other, "sorting", json!({ "urgency": "low" })).await.is(200);
    let mut again = letter("y@else.test", "Re: Chair", "again");
    again.answers = vec![app.header_id(&first_message(&app, &key, &other).await).await];
    app.deliver(&app.support, again).await;
    app.pass(5 * SECOND).await;
    assert_eq!(app.read(&key, &other).await["urgency"], "low");
}

async fn first_message(app: &TestApp, key: &TestKey, id: &impl ToString) -> String {
    app.timeline(key, id, "message").await[0]["id"].as_str().unwrap().to_owned()
}

async fn a_rule_is_tried_before_it_is_switched_on_and_wrong_ones_are_refused(app: TestApp) {
    let key = app.key("read").await;
    let lamp = app.mail("a@x.example", "Lamp", "broken").await.conversation;
    app.mail("b@x.example", "Chair", "broken").await;
    let new = input("Lamps", "mail-arrives", &["subject is lamp"], &["close"]);
    let id =
        app.act(&app.owner, move |tx, cx| actions::workspace::rules::add_rule(tx, cx, &new)).await;
    let own = id.clone();
    let tried =
        app.act(&app.owner, move |tx, cx| actions::workspace::rules::try_rule(tx, cx, &own)).await;
    let acted: Vec<_> = tried.iter().filter(|one| one.failing.is_none()).collect();
    assert_eq!((tried.len(), acted.len()), (2, 1));
    assert_eq!(acted[0].id, lamp);
    assert_eq!(app.read(&key, &lamp).await["status"], "open");
    // It is off until somebody switches it on.
    let off = app.mail("a@x.example", "Lamp two", "broken").await.conversation;
    app.pass(5 * SECOND).await;
    assert_eq!(app.read(&key, &off).await["status"], "open");
    for (wrong, sentence) in [
        (input("", "mail-arrives", &[], &["close"]), "name"),
        (input("x", "mail-arrives", &[], &[]), "at least one thing"),
        (input("x", "mail-arrives", &[], &["assign Nobody"]), "no person called"),
        (input("x", "mail-arrives", &["topic is Nothing"], &["close"]), "no topic called"),
        (input("x", "mail-arrives", &["urgency is huge"], &["close"]), "none of low"),
        (input("x", "never", &[], &["close"]), "Choose when"),
        (input("x", "mail-arrives", &[" is lamp"], &["close"]), "Choose what"),
        (input("x", "mail-arrives", &[], &["close", " lamp"]), "Choose what"),
        (RuleInput { wait_hours: "0".into(), ..input("x", "no-answer", &[], &["close"]) }, "hours"),
    ] {
        let refused = app
            .expect_refusal(&app.owner, move |tx, cx| {
                actions::workspace::rules::add_rule(tx, cx, &wrong)
            })
            .await;
        let said = format!("{refused:?}");
        assert!(said.contains(sentence), "{said} does not say {sentence}");
    }
    let member = app.person_with("Mia", Role::Member).await;
    app.expect_refusal(&member, move |tx, cx| actions::workspace::rules::delete_rule(tx, cx, &id))
        .await;
}

async fn held_private_and_automatic_mail_is_treated_as_rules_say(app: TestApp) {
    let key = app.key("read").await;
    let ann = app.person_with("Ann", Role::Admin).await;
    let anns = app.key_of(&ann, "Anns", "read", true).await;
    let private = app.private_inbox(&ann).await;
    rule(&app, "Automatic aside", "mail-arrives", &["automatic is yes"], &["close"]).await;
    rule(&app, "New ones", "mail-arrives", &["contact is new"], &["tag new"]).await;
    let mut robot = letter("robot@x.example", "Receipt", "text");
    robot.kind = AuthorKind::AutoReply;
    let robot = app.deliver(&app.support, robot).await.conversation;
    let mut scam = letter("eve@evil.example", "Pay now", "text");
    scam.warning = held_warning();
    let held = app.deliver(&app.support, scam).await.conversation;
    let secret = app.deliver(&private, letter("s@x.example", "Secret", "text")).await.conversation;
    app.pass(5 * SECOND).await;
    assert_eq!(app.read(&key, &robot).await["status"], "closed");
    assert_eq!(app.read(&key, &held).await["tags"], json!([]), "held mail is left alone");
    assert_eq!(app.read(&anns, &secret).await["tags"], json!([]), "private mail is left alone");
    app.release(&held).await;
    app.pass(5 * SECOND).await;
    assert_eq!(app.read(&key, &held).await["tags"], json!(["new"]));
    let other = app.mail("robot@x.example", "Other", "text").await.conversation;
    let second = app.mail("eve@evil.example", "Other", "text").await.conversation;
    app.pass(5 * SECOND).await;
    assert_eq!(app.read(&key, &other).await["tags"], json!(["new"]), "who only wrote is new");
    assert_eq!(app.read(&key, &second).await["tags"], json!([]), "the contact is known by now");
}

async fn tags_and_waiting_start_rules_and_what_a_rule_does_starts_none(app: TestApp) {
    let key = app.key("read write send").await;
    let ann = app.person("Ann").await;
    let saved = saved_replies::SavedReplyInput {
        name: "Sorry".into(),
        folder: String::new(),
        body: "Dear {{first_name}}, {{reference|your order}}: {{my_name}} is on it.".into(),
    };
    app.act(&app.owner, move |tx, cx| saved_replies::save_reply(tx, cx, &saved, &[])).await;
    rule(&app, "Vip", "tagged", &["tag is vip"], &["tag seen", "draft Sorry"]).await;
    rule(&app, "Seen", "tagged", &["tag is seen"], &["close"]).await;
    rule(&app, "Late", "no-answer", &[], &["assign Ann Teammate", "notify Ann Teammate"]).await;
    let lamp = app.mail("cy@x.example Cy Old", "Lamp", "broken").await.conversation;
    let chair = app.mail("bo@x.example", "Chair", "broken").await.conversation;
    app.on(&key, &lamp, "tags", json!({ "add": ["vip"] })).await.is(200);
    app.pass(5 * SECOND).await;
    let read = app.read(&key, &lamp).await;
    assert_eq!((&read["tags"], &read["status"]), (&json!(["vip", "seen"]), &json!("open")));
    let drafts: Vec<Value> = app.timeline(&key, &lamp, "message").await;
    let draft = drafts.iter().find(|one| one["status"] == "draft").unwrap().clone();
    assert!(draft["text"].as_str().unwrap().starts_with("Dear Cy, your order:"), "{draft}");
    app.approve(&ann, &draft, None).await;
    app.send_reply(&key, &chair, "On its way").await;
    app.pass(2 * HOUR).await;
    let sent = app.outside.relay.attempts();
    let mail = sent
        .iter()
        .map(|mail| String::from_utf8_lossy(&mail.bytes).into_owned())
        .find(|mail| mail.contains("is on it"))
        .expect("the approved draft left");
    assert!(mail.contains("Ann Teammate is on it"), "{mail}");
    let late = app.mail("dee@x.example", "Table", "broken").await.conversation;
    app.pass(HOUR).await;
    assert_eq!(app.read(&key, &late).await["assignee"], Value::Null);
    app.pass(2 * HOUR).await;
    assert_eq!(app.read(&key, &late).await["assignee"]["name"], "Ann Teammate");
    assert_eq!(app.read(&key, &chair).await["assignee"], Value::Null, "it was answered in time");
    let mut scam = letter("eve@evil.example", "Pay now", "text");
    scam.warning = held_warning();
    let held = app.deliver(&app.support, scam).await.conversation;
    app.pass(3 * HOUR).await;
    assert_eq!(app.read(&key, &held).await["assignee"], Value::Null, "held mail is left alone");
    app.release(&held).await;
    app.pass(3 * HOUR).await;
    assert_eq!(app.read(&key, &held).await["assignee"]["name"], "Ann Teammate");
}

async fn people_are_assigned_in_turn_and_the_least_busy_first(app: TestApp) {
    let key = app.key("read").await;
    app.person("Ann").await;
    rule(&app, "Turns", "mail-arrives", &["subject is turn"], &["assign everybody in turn"]).await;
    rule(&app, "Busy", "mail-arrives", &["subject is work"], &["assign the least busy"]).await;
    let mut got = Vec::new();
    for subject in ["turn 1", "turn 2", "turn 3", "work 1"] {
        let from = format!("{}@x.example", subject.replace(' ', ""));
        let id = app.mail(&from, subject, "text").await.conversation;
        app.pass(5 * SECOND).await;
        got.push(app.read(&key, &id).await["assignee"]["id"].as_str().unwrap().to_owned());
    }
    assert_eq!(got[0], got[2], "two people take turns");
    assert_ne!(got[0], got[1]);
    assert_eq!(got[3], got[1], "the one who has fewer open ones");
    assert!(got.contains(&user(&app.owner).to_string()));
}

/// The customer's next mail in a conversation, and what rules do about it.
async fn reply_of(app: &TestApp, first: &FiledMail, from: &str, subject: &str) {
    let mut again = letter(from, &format!("Re: {subject}"), "again");
    again.answers = vec![app.header_id(first.message.as_str()).await];
    let joined = app.deliver(&app.support, again).await;
    assert_eq!(joined.conversation, first.conversation, "it joins");
    app.pass(5 * SECOND).await;
}

async fn what_somebody_has_is_not_taken_away_by_mail(app: TestApp) {
    let key = app.key("read write").await;
    app.person("Ann").await;
    app.person("Bo").await;
    let cy = app.person("Cy").await;
    rule(&app, "Turns", "mail-arrives", &["subject is turn"], &["assign everybody in turn"]).await;
    rule(&app, "Ann", "mail-arrives", &["subject is lamp"], &["assign Ann Teammate"]).await;
    rule(&app, "Bo", "mail-arrives", &[], &["assign Bo Teammate"]).await;
    let has = async |mail: &FiledMail| {
        app.read(&key, &mail.conversation).await["assignee"]["id"].as_str().unwrap().to_owned()
    };
    let turn = app.mail("a@x.example", "turn", "text").await;
    let lamp = app.mail("b@x.example", "lamp", "text").await;
    app.pass(5 * SECOND).await;
    let (first, ann) = (has(&turn).await, has(&lamp).await);
    reply_of(&app, &turn, "a@x.example", "turn").await;
    assert_eq!(has(&turn).await, first, "whose turn it was keeps it");
    reply_of(&app, &lamp, "b@x.example", "lamp").await;
    assert_eq!(has(&lamp).await, ann, "the first rule holds although it changed nothing");
    let events = did(&app, &key, &lamp.conversation).await;
    assert_eq!(events.iter().filter(|(_, event)| event == "assigned").count(), 1, "{events:?}");
    let to = json!({ "to": format!("user:{}", user(&cy)) });
    app.on(&key, &lamp.conversation, "assign", to).await.is(200);
    reply_of(&app, &lamp, "b@x.example", "lamp").await;
    assert_eq!(has(&lamp).await, user(&cy).to_string(), "what a member decided stays");
}

async fn two_processes_run_a_rule_once(app: TestApp) {
    let key = app.key("read").await;
    app.person("Ann").await;
    let id = rule(&app, "Turns", "mail-arrives", &[], &["assign everybody in turn"]).await;
    for n in 0..6 {
        app.mail(&format!("a{n}@x.example"), "Lamp", "text").await;
    }
    let other = app.on_another_node();
    let worker = app.outside.worker(&other);
    app.advance(5 * SECOND);
    let (first, second) = tokio::join!(app.work(), worker.run_due());
    let _ = (first, second);
    app.pass(5 * SECOND).await;
    let rules = app.get(&key, "/rules").await.json();
    assert_eq!((&rules[0]["id"], &rules[0]["runs"]), (&json!(id.to_string()), &json!(6)));
}

async fn a_job_that_cannot_be_read_holds_up_no_other_and_one_of_a_deleted_workspace_ends(
    app: TestApp,
) {
    let key = app.key("read").await;
    rule(&app, "Acme", "mail-arrives", &["domain is acme.test"], &["tag vip"]).await;
    let mut mails = Vec::new();
    for number in 0..3 {
        let from = format!("c{number}@acme.test");
        mails.push(app.mail(&from, &format!("Case {number}"), "text").await.conversation);
    }
    let unreadable = "UPDATE rule_jobs SET event = 'unreadable' WHERE conversation =";
    app.exec(&format!("{unreadable} '{}'", mails[1])).await;
    app.exec(
        "INSERT INTO rule_jobs (ws, id, conversation, message, event, rule, created_at, due_at)
         VALUES (4711, 'left over', 'none', '', 'mail-arrives', '', 1, 1)",
    )
    .await;
    app.pass(5 * SECOND).await;
    for (number, tags) in [json!(["vip"]), json!([]), json!(["vip"])].iter().enumerate() {
        assert_eq!(&app.read(&key, &mails[number]).await["tags"], tags, "Case {number}");
    }
    assert_eq!(app.count("rule_jobs").await, 1, "it is tried again");
    assert_eq!(app.count("rule_jobs WHERE ws = 4711").await, 0);
}
