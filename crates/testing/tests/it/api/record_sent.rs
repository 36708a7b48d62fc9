//! API section 4.13: mail that an app sends by itself.

use mail::{Address, Dmarc, Mail};
use serde_json::{Value, json};
use testing::{Chance, DAY, SECOND, TestApp, TestKey, letter, on_both, texts};

on_both!(
    a_plus_tag_is_a_reference_by_the_rules,
    the_reference_may_stand_in_any_recipient_that_is_our_inbox,
    mail_to_a_reference_is_a_reply_even_when_it_begins,
    two_references_are_two_conversations_whatever_the_subject,
    a_recipient_who_answers_begins_a_conversation_with_the_recorded_mail,
    every_recipient_and_everyone_on_the_conversation_may_join_it,
    whoever_else_names_the_mail_gets_a_separate_conversation_without_the_reference,
    recording_again_updates_until_someone_replies,
    after_a_reply_recording_only_fills_in_what_was_missing,
    a_record_without_a_reply_is_forgotten_after_30_days,
    a_record_with_a_reply_stays,
    what_was_forgotten_may_be_recorded_anew,
    of_50000_records_without_a_reply_the_oldest_goes_first,
    a_message_id_of_998_characters_of_any_script_is_recorded,
    a_test_keys_record_is_answered_in_the_sandbox_alone,
    another_workspaces_record_is_answered_there_alone,
    a_conversation_that_had_no_reference_gets_the_one_it_answers
);

const SENT: &str = "order-9.c1f7a9d2e4@app.example";

async fn a_plus_tag_is_a_reference_by_the_rules(app: TestApp) {
    let key = app.key("read").await;
    let (forty, more) = (format!("{}1", "x".repeat(39)), format!("{}1", "x".repeat(40)));
    for (tag, reference) in [
        ("INV-2041", Some("inv-2041")),
        ("a_1", Some("a_1")),
        ("7", Some("7")),
        (&forty, Some(forty.as_str())),
        (&more, None),
        ("billing", None),
        ("in.v1", None),
        ("", None),
        ("a+1", None),
        ("ä1", None),
        ("-", None),
    ] {
        let mail = Mail {
            delivered_to: format!("Support+{tag}@acme.example"),
            ..letter("a@x.example", &format!("tag {tag}"), "text")
        };
        let mail = app.deliver(&app.support, mail).await;
        let read = app.read(&key, &mail.conversation).await;
        assert_eq!(read.get("reference").and_then(Value::as_str), reference, "{tag}");
        let list = app.list(&key, "limit=1").await;
        assert_eq!(list[0].get("reference"), read.get("reference"), "{tag}");
        assert_eq!(read.get("appSent"), None);
        app.advance(SECOND);
    }
}

async fn the_reference_may_stand_in_any_recipient_that_is_our_inbox(app: TestApp) {
    let key = app.key("read").await;
    let tagged = || vec![Address::new(None, "support+INV-5@acme.example")];
    let elsewhere = || vec![Address::new(None, "someone+INV-5@x.example")];
    for (subject, mail, reference) in [
        ("to", Mail { to: tagged(), ..letter("a@x.example", "to", "") }, Some("inv-5")),
        ("cc", Mail { cc: tagged(), ..letter("a@x.example", "cc", "") }, Some("inv-5")),
        ("other", Mail { to: elsewhere(), ..letter("a@x.example", "other", "") }, None),
    ] {
        let mail = app.deliver(&app.support, mail).await;
        let read = app.read(&key, &mail.conversation).await;
        assert_eq!(read.get("reference").and_then(Value::as_str), reference, "{subject}");
    }
}

async fn mail_to_a_reference_is_a_reply_even_when_it_begins(app: TestApp) {
    let mail = Mail {
        delivered_to: "support+inv-1@acme.example".into(),
        ..letter("a@x.example", "Lamp", "text")
    };
    app.deliver(&app.support, mail.clone()).await;
    app.deliver(&app.support, mail).await;
    let events = app.events().await;
    assert_eq!(texts(&events, "type"), ["turn.changed", "client.replied", "client.replied"]);
    assert_eq!(events[1]["data"]["reference"], "inv-1");
    assert_eq!(events[2]["data"]["reference"], "inv-1");
    assert_eq!(events[0]["data"].get("reference"), None);
}

async fn two_references_are_two_conversations_whatever_the_subject(app: TestApp) {
    let key = app.key("read").await;
    for tag in ["+inv-1", "+inv-2", "", "+inv-1", ""] {
        let delivered_to = format!("support{tag}@acme.example");
        app.deliver(&app.support, Mail { delivered_to, ..letter("a@x.example", "Lamp", "x") })
            .await;
    }
    assert_eq!(app.list(&key, "").await.len(), 3);
    assert_eq!(app.list(&key, "reference=INV-1").await[0]["messageCount"], 2);
}

async fn a_recipient_who_answers_begins_a_conversation_with_the_recorded_mail(app: TestApp) {
    let key = app.key("record").await;
    let answer = record(&app, &key, json!({ "text": "It left today." })).await;
    assert_eq!(answer, json!({ "ok": true }));
    let recorded = app.iso();
    app.advance(DAY);
    let reply = app.deliver(&app.support, answering("bruno@x.example")).await;
    let read = app.read(&key, &reply.conversation).await;
    assert_eq!(read["reference"], "order-9");
    assert_eq!(
        read["appSent"],
        json!({
            "messageId": SENT,
            "to": ["bruno@x.example", "cara@x.example"],
            "subject": "Your order 9",
            "sentAt": recorded,
            "text": "It left today.",
        })
    );
    assert_eq!(app.list(&key, "").await[0]["reference"], "order-9");
    let events = app.events().await;
    assert_eq!(texts(&events, "type"), ["turn.changed", "client.replied"]);
    assert_eq!(events[1]["data"]["reference"], "order-9");
    assert_eq!(read["timeline"].as_array().unwrap().len(), 1);
}

async fn every_recipient_and_everyone_on_the_conversation_may_join_it(app: TestApp) {
    let key = app.key("record").await;
    record(&app, &key, json!({})).await;
    let first = Mail {
        message_id: Some("reply@x.example".into()),
        cc: vec![Address::new(None, "dora@x.example")],
        ..answering("bruno@x.example")
    };
    let first = app.deliver(&app.support, first).await;
    for from in ["cara@x.example", "dora@x.example", "bruno@x.example"] {
        let joined = app.deliver(&app.support, answering(from)).await;
        assert_eq!(joined.conversation, first.conversation, "{from}");
    }
    assert_eq!(app.event_types().await.len(), 5);
}

async fn whoever_else_names_the_mail_gets_a_separate_conversation_without_the_reference(
    app: TestApp,
) {
    let key = app.key("record").await;
    record(&app, &key, json!({})).await;
    for replied in [false, true] {
        let real = match replied {
            true => Some(app.deliver(&app.support, answering("bruno@x.example")).await),
            false => None,
        };
        let stranger = answering(&format!("eve{replied}@x.example"));
        let failed = Mail { dmarc: Dmarc::Fail, ..answering("cara@x.example") };
        let absent = Mail { dmarc: Dmarc::Absent, ..answering("cara@x.example") };
        let mut mails = vec![("stranger", stranger), ("failed", failed), ("absent", absent)];
        if replied {
            let absent = Mail { dmarc: Dmarc::Absent, ..answering("bruno@x.example") };
            mails.push(("absent on it", absent));
        }
        for (who, mail) in mails {
            let count = app.events().await.len();
            let mail = Mail { subject: format!("{who} {replied}"), ..mail };
            let alone = app.deliver(&app.support, mail).await;
            let read = app.read(&key, &alone.conversation).await;
            assert_eq!(read.get("reference"), None, "{who}");
            assert_eq!(read.get("appSent"), None, "{who}");
            assert_ne!(Some(&alone.conversation), real.as_ref().map(|real| &real.conversation));
            assert_eq!(app.event_types_since(count).await, ["turn.changed"]);
        }
    }
}

async fn recording_again_updates_until_someone_replies(app: TestApp) {
    let key = app.key("record").await;
    record(&app, &key, json!({ "text": "First words" })).await;
    let again = json!({
        "reference": "ORDER-10", "to": ["Dora@X.example"], "subject": "Other",
        "messageId": format!(" <{SENT}> "),
    });
    record(&app, &key, again).await;
    let alone = app.deliver(&app.support, answering("bruno@x.example")).await;
    assert_eq!(app.read(&key, &alone.conversation).await.get("reference"), None);
    let reply = app.deliver(&app.support, answering("dora@x.example")).await;
    let read = app.read(&key, &reply.conversation).await;
    assert_eq!(read["reference"], "order-10");
    assert_eq!(read["appSent"]["to"], json!(["dora@x.example"]));
    assert_eq!(read["appSent"]["subject"], "Other");
}

async fn after_a_reply_recording_only_fills_in_what_was_missing(app: TestApp) {
    let key = app.key("record").await;
    record(&app, &key, json!({})).await;
    let reply = app.deliver(&app.support, answering("bruno@x.example")).await;
    let before = app.read(&key, &reply.conversation).await;
    assert_eq!(before["appSent"]["text"], Value::Null);
    let other = json!({
        "reference": "order-10", "to": ["eve@x.example"], "subject": "Other",
        "text": "The words",
    });
    record(&app, &key, other).await;
    let after = app.read(&key, &reply.conversation).await;
    let mut expected = before.clone();
    expected["appSent"]["text"] = json!("The words");
    assert_eq!(after, expected);
    record(&app, &key, json!({ "text": "Other words" })).await;
    assert_eq!(app.read(&key, &reply.conversation).await, expected);
    let eve = app.deliver(&app.support, answering("eve@x.example")).await;
    assert_ne!(eve.conversation, reply.conversation);
}

async fn a_record_without_a_reply_is_forgotten_after_30_days(app: TestApp) {
    let key = app.key("record").await;
    for (ahead, known) in [(30 * DAY - 1, true), (30 * DAY + 1, false)] {
        let id = format!("{known}@app.example");
        record(&app, &key, json!({ "messageId": id })).await;
        app.advance(ahead);
        let mail = Mail { answers: vec![id], ..answering("bruno@x.example") };
        let mail = Mail { subject: format!("Late {known}"), ..mail };
        let reply = app.deliver(&app.support, mail).await;
        let read = app.read(&key, &reply.conversation).await;
        assert_eq!(read.get("reference").is_some(), known);
    }
}

async fn a_record_with_a_reply_stays(app: TestApp) {
    let key = app.key("record").await;
    record(&app, &key, json!({})).await;
    let reply = app.deliver(&app.support, answering("bruno@x.example")).await;
    app.advance(400 * DAY);
    record(&app, &key, json!({ "messageId": "another@app.example" })).await;
    let late = app.deliver(&app.support, answering("cara@x.example")).await;
    assert_eq!(late.conversation, reply.conversation);
    assert_eq!(app.read(&key, &reply.conversation).await["appSent"]["messageId"], SENT);
}

async fn what_was_forgotten_may_be_recorded_anew(app: TestApp) {
    let key = app.key("record").await;
    record(&app, &key, json!({})).await;
    app.advance(31 * DAY);
    record(&app, &key, json!({ "reference": "order-11" })).await;
    let sent_at = app.iso();
    app.advance(DAY);
    let reply = app.deliver(&app.support, answering("bruno@x.example")).await;
    let read = app.read(&key, &reply.conversation).await;
    assert_eq!(read["reference"], "order-11");
    assert_eq!(read["appSent"]["sentAt"], sent_at);
}

async fn of_50000_records_without_a_reply_the_oldest_goes_first(app: TestApp) {
    let key = app.key("record").await;
    record(&app, &key, json!({ "messageId": "answered@app.example" })).await;
    let mail =
        Mail { answers: vec!["answered@app.example".into()], ..answering("bruno@x.example") };
    app.deliver(&app.support, mail).await;
    let (ws, now) = (app.owner.ws, app.now());
    app.exec(&format!(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 49999)
         INSERT INTO app_mail (
            ws, livemode, header_key, header_id, reference, to_list, subject, recorded_at
         )
         SELECT {ws}, TRUE, 'n' || i || '@app.example', 'n' || i || '@app.example', 'r' || i,
                '[\"bruno@x.example\"]', 's',
                {now} + i FROM n"
    ))
    .await;
    app.exec(&format!(
        "INSERT INTO counters (ws, circle, what, shard, n)
         VALUES ({ws}, 'team', 'app-mail:unanswered', 99, 49999)"
    ))
    .await;
    app.advance(50_000);
    for (number, kept) in [("a", vec![1, 2, 3]), ("b", vec![2, 3]), ("c", vec![3])] {
        record(&app, &key, json!({ "messageId": format!("{number}@app.example") })).await;
        assert_eq!(oldest(&app).await, kept, "{number}");
        app.advance(SECOND);
    }
    record(&app, &key, json!({ "messageId": "c@app.example" })).await;
    assert_eq!(oldest(&app).await, [3], "a repeat takes no room");
    let answers = vec!["answered@app.example".into()];
    let mail = Mail { answers, subject: "Again".into(), ..answering("cara@x.example") };
    let joined = app.deliver(&app.support, mail).await;
    assert_eq!(app.read(&key, &joined.conversation).await["reference"], "order-9");
}

async fn a_message_id_of_998_characters_of_any_script_is_recorded(app: TestApp) {
    let key = app.key("record").await;
    let mut chance = Chance::new(1);
    let mut letter = || char::from_u32((0x4e00 + chance.below(0x4000)) as u32).unwrap();
    let id: String = (0..998).map(|_| letter()).collect();
    for _ in 0..2 {
        record(&app, &key, json!({ "messageId": id })).await;
    }
    let mail = Mail { answers: vec![id.clone()], ..answering("bruno@x.example") };
    let reply = app.deliver(&app.support, mail).await;
    assert_eq!(app.read(&key, &reply.conversation).await["appSent"]["messageId"], id);
}

async fn a_test_keys_record_is_answered_in_the_sandbox_alone(app: TestApp) {
    let (live, test) = (app.key("record").await, app.test_key("record").await);
    record(&app, &test, json!({ "reference": "test-1" })).await;
    let in_live = app.deliver(&app.support, answering("bruno@x.example")).await;
    assert_eq!(app.read(&live, &in_live.conversation).await.get("reference"), None);
    record(&app, &live, json!({ "reference": "live-1" })).await;
    let in_test = app.deliver(&app.sandbox, answering("bruno@x.example")).await;
    let read = app.read(&test, &in_test.conversation).await;
    assert_eq!(read["reference"], "test-1");
    assert_eq!(read["appSent"]["messageId"], SENT);
    let mail = Mail { subject: "Later".into(), ..answering("bruno@x.example") };
    let in_live = app.deliver(&app.support, mail).await;
    assert_eq!(app.read(&live, &in_live.conversation).await["reference"], "live-1");
    let list = app.list(&live, "view=all&reference=test-1").await;
    assert!(list.is_empty());
}

async fn another_workspaces_record_is_answered_there_alone(app: TestApp) {
    let other = app.other_workspace("Globex").await;
    let their_key = app.key_of(&other, "Their", "record", true).await;
    record(&app, &their_key, json!({})).await;
    let key = app.key("read").await;
    let ours = app.deliver(&app.support, answering("bruno@x.example")).await;
    assert_eq!(app.read(&key, &ours.conversation).await.get("reference"), None);
}

async fn a_conversation_that_had_no_reference_gets_the_one_it_answers(app: TestApp) {
    let key = app.key("record").await;
    let mail = Mail {
        message_id: Some("first@x.example".into()),
        ..letter("bruno@x.example", "Lamp", "text")
    };
    let first = app.deliver(&app.support, mail).await;
    let tagged = Mail {
        answers: vec!["first@x.example".into()],
        delivered_to: "support+inv-3@acme.example".into(),
        ..letter("bruno@x.example", "Else", "text")
    };
    assert_eq!(app.deliver(&app.support, tagged).await.conversation, first.conversation);
    assert_eq!(app.read(&key, &first.conversation).await["reference"], "inv-3");
    let event = app.events().await.pop().unwrap();
    assert_eq!(event["data"]["reference"], "inv-3");
}

/// Records the mail of order 9 to Bruno and Cara, with these fields changed or added.
async fn record(app: &TestApp, key: &TestKey, changes: Value) -> Value {
    let mut body = json!({
        "messageId": SENT,
        "reference": "Order-9",
        "to": ["Bruno@x.example", "cara@x.example"],
        "subject": "Your order 9",
    });
    for (field, value) in changes.as_object().unwrap() {
        body[field] = value.clone();
    }
    app.post(key, "/app-mail", body).await.is(201).json()
}

/// An answer to the recorded mail.
fn answering(from: &str) -> Mail {
    Mail { answers: vec![SENT.into()], ..letter(from, "Re: Your order 9", "Thank you") }
}

/// Which of the first three records in bulk are still there.
async fn oldest(app: &TestApp) -> Vec<usize> {
    let read = app.app.store.read(|tx| {
        tx.all::<(String,)>(
            "SELECT header_id FROM app_mail
             WHERE header_id IN ('n1@app.example', 'n2@app.example', 'n3@app.example')
             ORDER BY header_id",
            &[],
        )
    });
    let rows = read.await.unwrap_or_else(|error: db::StoreError| panic!("{error}"));
    rows.iter().map(|(id,)| id[1..2].parse().unwrap()).collect()
}
