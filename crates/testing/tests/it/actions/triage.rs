//! Acts on many conversations with one undo, spam and blocked senders, and the trash.

use actions::conversations::triage::{TRIAGED_AT_ONCE, TriageAct};
use actions::conversations::{snooze, undo_triage};
use actions::documents::previews::{self, PreviewLookup};
use actions::inboxes::office_hours::{self, OfficeHoursInput};
use base::actor::{Actor, Role};
use base::ids::{DocumentId, UndoId};
use mail::Mail;
use serde_json::json;
use testing::{
    Chance, DAY, HOUR, MINUTE, SECOND, TestApp, TestKey, file, held_warning, letter, on_both,
    query, texts, user,
};

on_both!(
    an_act_on_many_is_undone_as_one,
    spam_is_out_of_the_way_and_a_blocked_sender_stays_there,
    spam_gets_no_reply_outside_office_hours,
    an_undo_leaves_newer_changes_alone_and_ends,
    what_is_in_the_trash_comes_back_or_is_erased_after_thirty_days,
    an_own_reply_takes_a_conversation_out_of_the_trash,
    a_preview_that_two_files_share_stays_with_the_second,
    nobody_acts_on_or_undoes_what_is_somebody_elses,
    a_warning_that_was_checked_can_be_taken_off
);

async fn triage(app: &TestApp, by: &Actor, act: TriageAct, ids: &[String]) -> (UndoId, usize) {
    let own = act.clone();
    let undo =
        app.act(by, move |tx, cx| actions::conversations::triage::begin_triage(tx, cx, &own)).await;
    let mut changed = 0;
    for batch in ids.chunks(TRIAGED_AT_ONCE) {
        let (undo, act, batch) = (undo.clone(), act.clone(), batch.to_vec());
        changed += app
            .act(by, move |tx, cx| {
                actions::conversations::triage::triage(tx, cx, &undo, &act, &batch)
            })
            .await;
    }
    (undo, changed)
}

async fn undo(app: &TestApp, by: &Actor, id: &UndoId) {
    loop {
        let id = id.clone();
        if !app.act(by, move |tx, cx| undo_triage::undo_triage(tx, cx, &id)).await {
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
        let offer = app.act(&app.owner, undo_triage::undo_offer).await.unwrap();
        assert_eq!((&offer.id, offer.changed), (&id, 60));
        let sidebar = app.act(&app.owner, actions::conversations::sidebar::sidebar).await;
        assert_eq!(sidebar.open, listed(&app, &key, "open").await.len() as i64, "{name}");
        undo(&app, &app.owner, &id).await;
        let sidebar = app.act(&app.owner, actions::conversations::sidebar::sidebar).await;
        assert_eq!(sidebar.open, 59, "{name}");
        let after = (listed(&app, &key, "open").await, listed(&app, &key, "snoozed").await);
        assert_eq!(after, before, "{name}");
        assert_eq!(self::rows(&app, &key).await, rows, "{name}");
        assert!(app.act(&app.owner, undo_triage::undo_offer).await.is_none());
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
    assert!(app.act(&app.owner, undo_triage::undo_offer).await.is_none());
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
    assert!(app.search_subjects(&key, "prize").await.is_empty());
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

async fn spam_gets_no_reply_outside_office_hours(app: TestApp) {
    let spam = app.mail("bad@spam.example", "Prize", "You won a prize").await.conversation;
    triage(&app, &app.owner, TriageAct::SpamAndBlock, &[spam.to_string()]).await;
    let days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    let today = days[(app.now() / DAY + 3).rem_euclid(7) as usize];
    let open: Vec<&str> = days.into_iter().filter(|day| *day != today).collect();
    let hours = OfficeHoursInput {
        weekly: format!("{} 00:00-24:00", open.join(",")),
        zone: "UTC".into(),
        away_reply: "We are back tomorrow.".into(),
        ..OfficeHoursInput::default()
    };
    let mailbox = app.support.id.clone();
    app.act(&app.owner, move |tx, cx| office_hours::set_office_hours(tx, cx, &mailbox, &hours))
        .await;
    app.mail("bad@spam.example", "Another", "You won again").await;
    app.mail("bad@spam.example", "Re: Prize", "Answer me").await;
    app.mail("good@x.example", "Lamp", "Broken").await;
    app.pass(5 * SECOND).await;
    let sent = app.outside.relay.attempts();
    let replies =
        sent.iter().filter(|mail| String::from_utf8_lossy(&mail.bytes).contains("back tomorrow"));
    let told: Vec<_> = replies.flat_map(|mail| mail.recipients.clone()).collect();
    assert_eq!(told, ["good@x.example"]);
    assert_eq!(app.count("messages WHERE automatic = TRUE").await, 1);
}

async fn an_undo_leaves_newer_changes_alone_and_ends(app: TestApp) {
    let key = app.key("write").await;
    let mut ids = Vec::new();
    for n in 0..2 {
        let mail = app.mail(&format!("c{n}@x.example"), &format!("Mail {n}"), "Hi").await;
        ids.push(mail.conversation.to_string());
    }
    let (id, changed) = triage(&app, &app.owner, TriageAct::Assign("me".into()), &ids).await;
    assert_eq!(changed, 2);
    app.on(&key, &ids[0], "assign", json!({ "to": "me" })).await.is(200);
    let theirs = app.read(&key, &ids[0]).await["assignee"].clone();
    assert!(!theirs.is_null());
    undo(&app, &app.owner, &id).await;
    assert_eq!(app.read(&key, &ids[0]).await["assignee"], theirs);
    assert!(app.read(&key, &ids[1]).await["assignee"].is_null());
    let (id, _) = triage(&app, &app.owner, TriageAct::Snooze(app.now() + DAY), &ids).await;
    app.snooze(&app.owner, &ids[0], app.now() + 2 * DAY).await;
    undo(&app, &app.owner, &id).await;
    assert_eq!(listed(&app, &key, "snoozed").await, ["Mail 0"]);
    let (id, _) = triage(&app, &app.owner, TriageAct::Close, &ids[1..]).await;
    app.advance(11 * MINUTE);
    undo(&app, &app.owner, &id).await;
    assert_eq!(app.read(&key, &ids[1]).await["status"], "closed");
}

async fn an_own_reply_takes_a_conversation_out_of_the_trash(app: TestApp) {
    let key = app.key("read draft send").await;
    let answered = app.mail("a@x.example", "Answered", "Hello").await.conversation;
    let planned = app.mail("b@x.example", "Planned", "Hello").await.conversation;
    let later = app.schedule(&key, &planned, "Soon").await;
    let ids = [answered.to_string(), planned.to_string()];
    triage(&app, &app.owner, TriageAct::Delete, &ids).await;
    let stopped = format!("messages WHERE id = '{later}' AND status = 'draft'");
    assert_eq!(app.count(&stopped).await, 1, "what was to leave is a draft again");
    app.send_reply(&key, &answered, "Here you are").await;
    assert_eq!(listed(&app, &key, "trash").await, ["Planned"]);
    app.pass(31 * DAY).await;
    app.get(&key, &format!("/conversations/{planned}")).await.is(404);
    app.get(&key, &format!("/conversations/{answered}")).await.is(200);
}

async fn a_preview_that_two_files_share_stays_with_the_second(app: TestApp) {
    let key = app.key("write").await;
    let mut ids = Vec::new();
    for (from, bytes) in [("a@x.example", b"%PDF one"), ("b@x.example", b"%PDF two")] {
        let mail = Mail { attachments: vec![file("a.pdf", bytes)], ..letter(from, "Plan", "Hi") };
        ids.push(app.deliver(&app.support, mail).await.conversation.to_string());
    }
    for id in documents(&app, &key).await {
        let blob = app.app.blobs.put(b"small").unwrap();
        let keep = move |tx: &mut db::Tx<'_>, cx: &base::app::Cx<'_>| {
            let PreviewLookup::Missing(file) = previews::document_preview(tx, cx, &id)? else {
                panic!("there is a preview already");
            };
            previews::keep_preview(tx, cx, &file.hash, &blob)
        };
        app.act(&app.owner, keep).await;
    }
    triage(&app, &app.owner, TriageAct::Delete, &ids[..1]).await;
    app.pass(31 * DAY).await;
    assert_eq!(app.count("previews").await, 1);
    let id = documents(&app, &key).await.remove(0);
    let look = app.act(&app.owner, move |tx, cx| previews::document_preview(tx, cx, &id));
    assert!(matches!(look.await, PreviewLookup::Kept(bytes) if bytes == b"small"));
    triage(&app, &app.owner, TriageAct::Delete, &ids[1..]).await;
    app.pass(31 * DAY).await;
    for table in ["previews", "blobs"] {
        assert_eq!(app.count(table).await, 0, "{table}");
    }
}

async fn documents(app: &TestApp, key: &TestKey) -> Vec<DocumentId> {
    let listed = app.get(key, "/documents").await.is(200).json();
    let ids = listed.as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap());
    ids.map(|id| DocumentId::parse(id).unwrap()).collect()
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
        assert!(app.search_subjects(&key, q).await.is_empty(), "{q}");
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
    app.act(&app.owner, move |tx, cx| snooze::remove_warning(tx, cx, &id)).await;
    let read = app.read(&key, &held).await;
    assert_eq!((read["risk"].is_null(), read["status"].as_str()), (true, Some("open")));
    let names: Vec<String> =
        app.timeline_events(&key, &held).await.into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["held", "released", "warning-removed"]);
}
