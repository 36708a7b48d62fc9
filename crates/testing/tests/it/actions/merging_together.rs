//! Merging the conversations that are ticked in a list into the oldest of them.

use actions::conversations::triage::{self, ActKind, TriageAct};
use actions::conversations::{merge_together, undo_triage};
use base::actor::Actor;
use base::limits::{MERGED_INDEXED, MERGED_TOGETHER};
use mail::{Mail, Warning};
use serde_json::{Value, json};
use testing::{DAY, MINUTE, TestApp, held_warning, letter, on_both, query, texts};

on_both!(
    ticked_conversations_go_into_the_one_that_began_first,
    an_undo_takes_all_of_them_apart_again,
    an_undo_closes_the_target_again_whichever_of_them_opened_it,
    one_that_cannot_be_merged_leaves_all_as_they_are,
    nobody_merges_what_they_cannot_see,
    at_least_two_and_not_too_many_are_merged_at_once,
    many_with_many_messages_are_not_merged_at_once,
    what_somebody_merged_meanwhile_is_merged_once
);

const MISSING: &str = "cnv_00000000000000000000000000";

/// Conversations of one customer, a minute apart.
async fn letters(app: &TestApp, subjects: &[&str]) -> Vec<String> {
    let mut ids = Vec::new();
    for subject in subjects {
        let mail = app.mail("ann@x.example Ann", subject, &format!("About the {subject}")).await;
        ids.push(mail.conversation.to_string());
        app.advance(MINUTE);
    }
    ids
}

async fn merge(app: &TestApp, ids: &[String]) -> usize {
    let ids = ids.to_vec();
    app.act(&app.owner, move |tx, cx| merge_together::merge_together(tx, cx, &ids)).await
}

async fn refused(app: &TestApp, by: &Actor, ids: &[String]) -> String {
    let ids = ids.to_vec();
    let error =
        app.expect_refusal(by, move |tx, cx| merge_together::merge_together(tx, cx, &ids)).await;
    error.to_string()
}

async fn undo(app: &TestApp) {
    let offer = app.act(&app.owner, undo_triage::undo_offer).await.unwrap();
    loop {
        let id = offer.id.clone();
        if !app.act(&app.owner, move |tx, cx| undo_triage::undo_triage(tx, cx, &id)).await {
            return;
        }
    }
}

fn messages(read: &Value) -> Vec<&str> {
    let timeline = read["timeline"].as_array().unwrap();
    let mails = timeline.iter().filter(|entry| entry["type"] == "message");
    mails.map(|mail| mail["text"].as_str().unwrap()).collect()
}

async fn ticked_conversations_go_into_the_one_that_began_first(app: TestApp) {
    let key = app.key("write").await;
    let ids = letters(&app, &["Lamp", "Carrier", "Chair"]).await;
    let ticked = [ids[2].clone(), ids[0].clone(), ids[1].clone()];
    assert_eq!(merge(&app, &ticked).await, 2);
    for id in &ids {
        let read = app.read(&key, id).await;
        assert_eq!(read["id"], ids[0]);
        assert_eq!(messages(&read), ["About the Lamp", "About the Carrier", "About the Chair"]);
    }
    let events = app.timeline_events(&key, &ids[0]).await;
    let merged = events.iter().filter(|(event, _)| event == "merged");
    let mut subjects: Vec<&str> =
        merged.map(|(_, data)| data["subject"].as_str().unwrap()).collect();
    subjects.sort_unstable();
    assert_eq!(subjects, ["Carrier", "Chair"]);
    let offer = app.act(&app.owner, undo_triage::undo_offer).await.unwrap();
    assert_eq!((offer.kind, offer.changed), (ActKind::MergedTogether, 2));
}

async fn an_undo_takes_all_of_them_apart_again(app: TestApp) {
    let key = app.key("write").await;
    let ids = letters(&app, &["Lamp", "Carrier", "Chair"]).await;
    app.on(&key, &ids[1], "tags", json!({ "add": ["Broken"] })).await.is(200);
    app.on(&key, &ids[2], "tags", json!({ "add": ["Broken", "Seats"] })).await.is(200);
    app.on(&key, &ids[1], "assign", json!({ "to": "me" })).await.is(200);
    app.snooze(&app.owner, &ids[2], app.now() + 2 * DAY).await;
    let mut before = Vec::new();
    for id in &ids {
        before.push(app.read(&key, id).await);
    }
    assert_eq!(merge(&app, &ids).await, 2);
    undo(&app).await;
    for (id, before) in ids.iter().zip(&before) {
        let after = app.read(&key, id).await;
        for field in ["id", "status", "tags", "assignee"] {
            assert_eq!(after[field], before[field], "{field} of {id}");
        }
        assert_eq!(messages(&after), messages(before));
    }
    let snoozed = app.list(&key, &query(&[("view", "snoozed")])).await;
    assert_eq!(texts(&snoozed, "id"), [ids[2].as_str()]);
    assert_eq!(app.count("merges").await, 0);
    assert!(app.act(&app.owner, undo_triage::undo_offer).await.is_none());
}

async fn an_undo_closes_the_target_again_whichever_of_them_opened_it(app: TestApp) {
    let key = app.key("write").await;
    for (subjects, open) in [(["Lamp", "Carrier", "Chair"], 1), (["Desk", "Shelf", "Bed"], 2)] {
        let ids = letters(&app, &subjects).await;
        let status = |place: usize| if place == open { "open" } else { "closed" };
        for (_, id) in ids.iter().enumerate().filter(|(place, _)| *place != open) {
            app.on(&key, id, "status", json!({ "status": "closed" })).await.is(200);
        }
        app.advance(MINUTE);
        assert_eq!(merge(&app, &ids).await, 2);
        assert_eq!(app.read(&key, &ids[0]).await["status"], "open");
        undo(&app).await;
        for (place, id) in ids.iter().enumerate() {
            assert_eq!(app.read(&key, id).await["status"], status(place), "{}", subjects[place]);
        }
    }
}

async fn one_that_cannot_be_merged_leaves_all_as_they_are(app: TestApp) {
    let key = app.key("write").await;
    let ids = letters(&app, &["Lamp", "Carrier"]).await;
    let sales = app.team_inbox("sales@acme.example", "Sales").await;
    let odd = held_warning().map(|warning| Warning { hold: false, ..warning });
    let mails = [
        (&sales, letter("ann@x.example", "Offer", "How much?")),
        (&app.support, Mail { warning: held_warning(), ..letter("e@evil.example", "Pay", "Now") }),
        (&app.support, Mail { warning: odd, ..letter("o@evil.example", "Odd", "Look") }),
        (&app.support, letter("bo@x.example", "Gone", "Forget it")),
    ];
    let whys = [
        "“Offer” is in another inbox than the oldest of them; only conversations of one inbox can \
         be merged.",
        "“Pay” is held; release it first.",
        "“Odd” carries a warning; look at it and remove the warning first.",
        "“Gone” is in the spam or the trash and cannot be merged.",
    ];
    let mut others = Vec::new();
    for (mailbox, mail) in mails {
        others.push(app.deliver(mailbox, mail).await.conversation.to_string());
        app.advance(MINUTE);
    }
    let gone = others[3].clone();
    app.act(&app.owner, move |tx, cx| {
        let undo = triage::begin_triage(tx, cx, &TriageAct::Delete)?;
        triage::triage_one(tx, cx, &undo, &TriageAct::Delete, &gone)
    })
    .await;
    let before = app.list(&key, "view=all&limit=100").await;
    for (other, why) in others.iter().zip(whys) {
        let ticked = [ids[0].clone(), ids[1].clone(), other.clone()];
        let sentence = refused(&app, &app.owner, &ticked).await;
        assert_eq!(sentence, format!("c: {why} Nothing was changed."));
    }
    assert_eq!(app.list(&key, "view=all&limit=100").await, before);
    assert_eq!(app.count("merges").await, 0);
    // What was done before can still be undone.
    let offer = app.act(&app.owner, undo_triage::undo_offer).await.unwrap();
    assert_eq!(offer.kind, ActKind::Deleted);
}

async fn nobody_merges_what_they_cannot_see(app: TestApp) {
    let ids = letters(&app, &["Lamp", "Carrier"]).await;
    let ines = app.person("Ines").await;
    let private = app.private_inbox(&ines).await;
    let mine = app.deliver(&private, letter("ann@x.example", "Mine", "Private")).await;
    for hidden in [mine.conversation.to_string(), MISSING.to_owned()] {
        let ticked = [ids[0].clone(), ids[1].clone(), hidden];
        assert_eq!(
            refused(&app, &app.owner, &ticked).await,
            "c: One of them is not there any more, or you cannot see it. Nothing was changed."
        );
    }
    let ticked = [ids[0].clone(), ids[1].clone(), mine.conversation.to_string()];
    let sentence = refused(&app, &ines, &ticked).await;
    assert!(sentence.contains("“Mine” is in another inbox"), "{sentence}");
    assert_eq!(app.count("merges").await, 0);
}

async fn at_least_two_and_not_too_many_are_merged_at_once(app: TestApp) {
    let key = app.key("write").await;
    let mails = (0..MERGED_TOGETHER)
        .map(|n| letter(&format!("c{n}@x.example"), &format!("Mail {n:02}"), "Hi"));
    let filed = app.deliver_all(&app.support, mails.collect()).await;
    let mut ids: Vec<String> = filed.iter().map(|mail| mail.conversation.to_string()).collect();
    for few in [&ids[..0], &ids[..1]] {
        let sentence = refused(&app, &app.owner, few).await;
        assert_eq!(sentence, "c: Tick two conversations or more to merge them.");
    }
    ids.push(MISSING.to_owned());
    let sentence = refused(&app, &app.owner, &ids).await;
    assert_eq!(sentence, format!("c: Tick at most {MERGED_TOGETHER} conversations to merge them."));
    ids.pop();
    assert_eq!(merge(&app, &ids).await, MERGED_TOGETHER - 1);
    let listed = app.list(&key, "view=all&limit=100").await;
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0]["messageCount"], MERGED_TOGETHER);
    undo(&app).await;
    assert_eq!(app.list(&key, "view=all&limit=100").await.len(), MERGED_TOGETHER);
}

async fn many_with_many_messages_are_not_merged_at_once(app: TestApp) {
    let key = app.key("read").await;
    // One message of each conversation more than the merges of all may index again.
    let each = MERGED_INDEXED as usize / (MERGED_TOGETHER - 1) / MERGED_TOGETHER + 1;
    let mails = (0..each * MERGED_TOGETHER).map(|n| {
        let n = n % MERGED_TOGETHER;
        letter(&format!("c{n}@x.example"), &format!("Mail {n:02}"), "Hi")
    });
    let filed = app.deliver_all(&app.support, mails.collect()).await;
    let mut ids: Vec<String> = filed.iter().map(|mail| mail.conversation.to_string()).collect();
    ids.truncate(MERGED_TOGETHER);
    let sentence = refused(&app, &app.owner, &ids).await;
    assert!(sentence.contains("too many messages to be merged at once"), "{sentence}");
    assert_eq!(app.list(&key, "view=all&limit=100").await.len(), MERGED_TOGETHER);
    assert_eq!(merge(&app, &ids[..2]).await, 1);
    assert_eq!(merge(&app, &ids[2..5]).await, 2);
}

async fn what_somebody_merged_meanwhile_is_merged_once(app: TestApp) {
    let key = app.key("write").await;
    let ids = letters(&app, &["Lamp", "Carrier", "Chair"]).await;
    app.on(&key, &ids[1], "merge", json!({ "into": ids[0] })).await.is(200);
    assert_eq!(merge(&app, &ids[..2]).await, 0);
    assert_eq!(merge(&app, &ids).await, 1);
    assert_eq!(messages(&app.read(&key, &ids[0]).await).len(), 3);
}
