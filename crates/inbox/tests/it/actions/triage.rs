//! Acts on many conversations with one undo, spam and blocked senders, and the trash.

use inbox::actions::{self, TRIAGED_AT_ONCE, TriageAct};
use inbox::base::actor::{Actor, Role};
use inbox::base::ids::UndoId;
use mail::Mail;
use serde_json::json;
use testing::{
    Chance, DAY, HOUR, MINUTE, TestApp, TestKey, file, held_warning, letter, on_both, query, texts,
    user,
};

on_both!(
    an_act_on_many_is_undone_as_one,
    spam_is_out_of_the_way_and_a_blocked_sender_stays_there,
    what_is_in_the_trash_comes_back_or_is_erased_after_thirty_days,
    nobody_acts_on_or_undoes_what_is_somebody_elses,
    a_warning_that_was_checked_can_be_taken_off
);

async fn triage(app: &TestApp, by: &Actor, act: TriageAct, ids: &[String]) -> (UndoId, usize) {
    let own = act.clone();
    let undo = app.act(by, move |tx, cx| actions::begin_triage(tx, cx, &own)).await;
    let mut changed = 0;
    for batch in ids.chunks(TRIAGED_AT_ONCE) {
        let (undo, act, batch) = (undo.clone(), act.clone(), batch.to_vec());
        changed += app.act(by, move |tx, cx| actions::triage(tx, cx, &undo, &act, &batch)).await;
    }
    (undo, changed)
}

async fn undo(app: &TestApp, by: &Actor, id: &UndoId) {
    loop {
        let id = id.clone();
        if !app.act(by, move |tx, cx| actions::undo_triage(tx, cx, &id)).await {
            return;
        }
    }
}

async fn listed(app: &TestApp, key: &TestKey, view: &str) -> Vec<String> {
    let mut subjects =
        texts(&app.list(key, &query(&[("view", view), ("limit", "100")])).await, "subject");
    subjects.sort();
    subjects
}

async fn an_act_on_many_is_undone_as_one(app: TestApp) {
    let key = app.key("write").await;
    let mails = (0..60).map(|n| letter(&format!("c{n}@x.example"), &format!("Mail {n:02}"), "Hi"));
    let filed = app.deliver_all(&app.support, mails.collect()).await;
    let mut ids: Vec<String> = filed.iter().map(|mail| mail.conversation.to_string()).collect();
    app.snooze(&app.owner, &ids[0], app.now() + 2 * HOUR).await;
    app.on(&key, &ids[1], "assign", json!({ "to": "me" })).await.is(200);
    app.on(&key, &ids[2], "tags", json!({ "add": ["Kept"] })).await.is(200);
    ids.push("cnv_00000000000000000000000000".into());
    let before = (listed(&app, &key, "open").await, listed(&app, &key, "snoozed").await);
    assert_eq!((before.0.len(), before.1.len()), (59, 1));
    let me = format!("user:{}", user(&app.owner));
    for act in [
        TriageAct::Close,
        TriageAct::Assign(me),
        TriageAct::AddTags(vec!["Kept".into(), "New".into()]),
        TriageAct::Spam,
        TriageAct::Delete,
        TriageAct::Snooze(app.now() + DAY),
    ] {
        let name = format!("{act:?}");
        let rows = rows(&app, &key).await;
        let (id, changed) = triage(&app, &app.owner, act, &ids).await;
        assert_eq!(changed, 60, "{name}");
        let offer = app.act(&app.owner, actions::undo_offer).await.unwrap();
        assert_eq!((&offer.id, offer.changed), (&id, 60));
        let sidebar = app.act(&app.owner, actions::sidebar).await;
        assert_eq!(sidebar.open, listed(&app, &key, "open").await.len() as i64, "{name}");
        undo(&app, &app.owner, &id).await;
        let sidebar = app.act(&app.owner, actions::sidebar).await;
        assert_eq!(sidebar.open, 59, "{name}");
        let after = (listed(&app, &key, "open").await, listed(&app, &key, "snoozed").await);
        assert_eq!(after, before, "{name}");
        assert_eq!(self::rows(&app, &key).await, rows, "{name}");
        assert!(app.act(&app.owner, actions::undo_offer).await.is_none());
    }
    // What somebody changed since is theirs.
    let (id, _) = triage(&app, &app.owner, TriageAct::Close, &ids[3..5]).await;
    app.on(&key, &ids[3], "status", json!({ "status": "waiting" })).await.is(200);
    undo(&app, &app.owner, &id).await;
    assert_eq!(app.read(&key, &ids[3]).await["status"], "waiting");
    assert_eq!(app.read(&key, &ids[4]).await["status"], "open");
    let (_, changed) = triage(&app, &app.owner, TriageAct::Reopen, &ids[4..5]).await;
    assert_eq!(changed, 0);
    app.advance(11 * MINUTE);
    assert!(app.act(&app.owner, actions::undo_offer).await.is_none());
}

/// Assignees and tags of all conversations.
async fn rows(app: &TestApp, key: &TestKey) -> Vec<String> {
    let list = app.list(key, "view=all&limit=100").await;
    let shown = list.iter().map(|row| {
        format!("{} {} {} {}", row["id"], row["assignee"], row["tags"], row["waitingSince"])
    });
    shown.collect()
}

async fn spam_is_out_of_the_way_and_a_blocked_sender_stays_there(app: TestApp) {
    let key = app.key("write").await;
    let spam = app.mail("bad@spam.example", "Prize", "You won a prize").await.conversation;
    let events = app.event_types().await.len();
    let (_, changed) = triage(&app, &app.owner, TriageAct::SpamAndBlock, &[spam.to_string()]).await;
    assert_eq!(changed, 1);
    for view in ["open", "all"] {
        assert!(listed(&app, &key, view).await.is_empty(), "{view}");
    }
    assert!(app.found(&key, "prize").await.is_empty());
    assert_eq!(listed(&app, &key, "spam").await, ["Prize"]);
    let asked = query(&[("q", "prize is:spam"), ("view", "all")]);
    assert_eq!(texts(&app.list(&key, &asked).await, "subject"), ["Prize"]);
    app.mail("bad@spam.example", "Another", "You won again").await;
    app.mail("good@x.example", "Fine", "Hello").await;
    assert_eq!(listed(&app, &key, "open").await, ["Fine"]);
    assert_eq!(listed(&app, &key, "spam").await, ["Another", "Prize"]);
    let told = app.event_types_since(events).await;
    assert_eq!(told.iter().filter(|name| *name == "turn.changed").count(), 1, "{told:?}");
    triage(&app, &app.owner, TriageAct::Restore, &[spam.to_string()]).await;
    app.mail("bad@spam.example", "Third", "Sorry").await;
    assert_eq!(listed(&app, &key, "open").await, ["Fine", "Prize", "Third"]);
    let names: Vec<String> =
        app.timeline_events(&key, &spam).await.into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["spam", "not-spam"]);
}

async fn what_is_in_the_trash_comes_back_or_is_erased_after_thirty_days(app: TestApp) {
    let key = app.key("write").await;
    let mut chance = Chance::new(7);
    let noise: Vec<u8> = (0..300_000).map(|_| chance.below(256) as u8).collect();
    let attachments = vec![file("plan.pdf", &noise)];
    let mail = Mail { attachments, ..letter("a@x.example", "Gone", "Secret roses") };
    let gone = app.deliver(&app.support, mail).await.conversation;
    app.on(&key, &gone, "notes", json!({ "body": "violets" })).await.is(201);
    app.on(&key, &gone, "tags", json!({ "add": ["Flowers"] })).await.is(200);
    let back = app.mail("b@x.example", "Back", "Hello tulips").await.conversation;
    let kept = app.mail("c@x.example", "Kept", "Hello").await.conversation;
    let ids = [gone.to_string(), back.to_string(), kept.to_string()];
    triage(&app, &app.owner, TriageAct::Delete, &ids).await;
    assert_eq!(listed(&app, &key, "trash").await, ["Back", "Gone", "Kept"]);
    assert_eq!(files(&app).len(), 1);
    // A customer who writes again brings it back.
    app.mail("b@x.example", "Re: Back", "Still there?").await;
    assert_eq!(listed(&app, &key, "trash").await, ["Gone", "Kept"]);
    app.pass(29 * DAY).await;
    triage(&app, &app.owner, TriageAct::Restore, &ids[2..]).await;
    app.pass(2 * DAY).await;
    app.pass(HOUR).await;
    assert!(listed(&app, &key, "trash").await.is_empty());
    assert_eq!(listed(&app, &key, "open").await, ["Back", "Kept"]);
    app.get(&key, &format!("/conversations/{gone}")).await.is(404);
    for q in ["roses", "violets", "flowers"] {
        assert!(app.found(&key, q).await.is_empty(), "{q}");
    }
    for table in ["messages", "notes", "documents", "index_entries", "conversation_tags"] {
        let left = format!("{table} WHERE conversation = '{gone}'");
        assert_eq!(app.count(&left).await, 0, "{table}");
    }
    for table in ["unused_blobs", "blobs"] {
        assert_eq!(app.count(table).await, 0, "{table}");
    }
    assert_eq!(files(&app), Vec::<std::path::PathBuf>::new());
}

/// The files of the blob folder.
fn files(app: &TestApp) -> Vec<std::path::PathBuf> {
    let entries = |folder: std::path::PathBuf| {
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
    };
    let folders = entries(app.blob_folder())
        .filter(|path| path.file_name().is_some_and(|name| name.len() == 2) && path.is_dir());
    folders.flat_map(entries).collect()
}

async fn nobody_acts_on_or_undoes_what_is_somebody_elses(app: TestApp) {
    let ines = app.person_with("Ines", Role::Admin).await;
    let private = app.private_inbox(&ines).await;
    let hidden = app.deliver(&private, letter("a@x.example", "Hidden", "Hi")).await.conversation;
    let own = app.key_of(&ines, "Hers", "read", true).await;
    let ids = [hidden.to_string()];
    let (_, changed) = triage(&app, &app.owner, TriageAct::Delete, &ids).await;
    assert_eq!(changed, 0);
    let (id, changed) = triage(&app, &ines, TriageAct::Close, &ids).await;
    assert_eq!(changed, 1);
    undo(&app, &app.owner, &id).await;
    assert_eq!(app.read(&own, &hidden).await["status"], "closed");
    undo(&app, &ines, &id).await;
    assert_eq!(app.read(&own, &hidden).await["status"], "open");
}

async fn a_warning_that_was_checked_can_be_taken_off(app: TestApp) {
    let key = app.key("read").await;
    let mail = Mail { warning: held_warning(), ..letter("a@x.example", "Odd", "Pay now") };
    let held = app.deliver(&app.support, mail).await.conversation;
    let id = held.to_string();
    app.act(&app.owner, move |tx, cx| actions::remove_warning(tx, cx, &id)).await;
    let read = app.read(&key, &held).await;
    assert_eq!((read["risk"].is_null(), read["status"].as_str()), (true, Some("open")));
    let names: Vec<String> =
        app.timeline_events(&key, &held).await.into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["held", "released", "warning-removed"]);
}
