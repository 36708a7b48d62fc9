//! API sections 5.8 and 8.3: the sandbox and the live workspace do not see one another.

use actions::conversations::snooze;
use base::error::Error;
use mail::Mail;
use serde_json::{Value, json};
use testing::{DAY, SECOND, TestApp, file, held_warning, letter, nowhere, on_both, query, texts};

on_both!(
    a_test_key_sees_the_sandbox_and_nothing_else,
    every_call_on_the_other_side_answers_as_if_it_were_never_there,
    people_never_see_the_sandbox,
    the_sandbox_works_like_a_live_inbox,
    suspicious_mail_is_held_in_the_sandbox_too,
    each_workspace_has_a_sandbox_of_its_own
);

async fn a_test_key_sees_the_sandbox_and_nothing_else(app: TestApp) {
    let (live, test) = (app.key("read").await, app.test_key("read").await);
    for (subject, inbox) in [("Live", &app.support), ("Test", &app.sandbox)] {
        let mail = Mail {
            attachments: vec![file(&format!("{subject}.pdf"), b"1")],
            ..letter("a@x.test", subject, "the same treasure")
        };
        app.deliver(inbox, mail).await;
    }
    for (key, own) in [(&live, "Live"), (&test, "Test")] {
        for filter in ["", "view=all", "q=treasure", "view=all&assigned=unassigned"] {
            assert_eq!(app.subjects(key, filter).await, [own], "{filter}");
        }
        for filter in ["", "?q=pdf"] {
            let list = app.get(key, &format!("/documents{filter}")).await.json();
            let files = texts(list.as_array().unwrap(), "filename");
            assert_eq!(files, [format!("{own}.pdf")]);
        }
    }
    for (key, mailbox) in [(&live, &app.sandbox), (&test, &app.support)] {
        let filter = query(&[("view", "all"), ("mailbox", mailbox.id.as_str())]);
        assert!(app.list(key, &filter).await.is_empty());
    }
    let mailboxes = app.get(&test, "/mailboxes").await.json();
    assert_eq!(mailboxes[0]["address"], "sandbox@acme.test");
    assert_eq!(mailboxes.as_array().unwrap().len(), 1);
    for (key, livemode) in [(&live, true), (&test, false)] {
        assert_eq!(app.get(key, "/me").await.json()["livemode"], livemode);
    }
}

async fn every_call_on_the_other_side_answers_as_if_it_were_never_there(app: TestApp) {
    let scopes = "read write draft send";
    let (live, test) = (app.key(scopes).await, app.test_key(scopes).await);
    let on_live = app.mail("a@x.example", "Live", "text").await.conversation;
    let mail = app.deliver(&app.sandbox, letter("a@x.test", "Test", "text")).await;
    let on_test = mail.conversation;
    let before = (app.read(&live, &on_live).await, app.read(&test, &on_test).await);
    let calls: [(&str, Value); 7] = [
        ("notes", json!({ "body": "x" })),
        ("status", json!({ "status": "closed" })),
        ("tags", json!({ "add": ["x"] })),
        ("assign", json!({ "to": "me" })),
        ("replies", json!({ "body": "x" })),
        ("replies", json!({ "body": "x", "send": true })),
        ("document-requests", json!({ "documents": [{ "label": "x" }] })),
    ];
    for (key, theirs) in [(&live, &on_test), (&test, &on_live)] {
        let missing = app.get(key, &format!("/conversations/{}", nowhere())).await.is(404);
        let read = app.get(key, &format!("/conversations/{theirs}")).await.is(404);
        assert_eq!(read.bytes, missing.bytes);
        for (what, body) in &calls {
            let missing = app.on(key, &nowhere(), what, body.clone()).await.is(404);
            let hidden = app.on(key, theirs, what, body.clone()).await.is(404);
            assert_eq!(hidden.bytes, missing.bytes, "{what}");
        }
    }
    let after = (app.read(&live, &on_live).await, app.read(&test, &on_test).await);
    assert_eq!(after, before);
    assert_eq!(app.get(&live, "/tags").await.json(), json!([]));
}

async fn people_never_see_the_sandbox(app: TestApp) {
    let test = app.test_key("draft").await;
    let mail = app.deliver(&app.sandbox, letter("a@x.test", "Test", "text")).await;
    let id = mail.conversation.to_string();
    let until = app.now() + DAY;
    let (one, two, three) = (id.clone(), id.clone(), id.clone());
    let refused = [
        app.expect_refusal(&app.owner, move |tx, cx| {
            model::conversations::load(tx, cx.actor, &one).map(drop)
        })
        .await,
        app.expect_refusal(&app.owner, move |tx, cx| snooze::snooze(tx, cx, &two, until)).await,
        app.expect_refusal(&app.owner, move |tx, cx| snooze::release_held(tx, cx, &three)).await,
    ];
    assert!(refused.iter().all(|error| matches!(error, Error::NotFound(_))), "{refused:?}");
    let seen = app.act(&app.owner, |tx, cx| model::mailboxes::all_seen_by(tx, cx.actor)).await;
    assert!(seen.iter().all(|mailbox| mailbox.id != app.sandbox.id));
    assert_eq!(app.read(&test, &id).await["team"]["people"], json!([]));
}

async fn the_sandbox_works_like_a_live_inbox(app: TestApp) {
    let test = app.test_key("write draft send").await;
    let mail = app.deliver(&app.sandbox, letter("a@x.test Ann", "Lamp", "One")).await;
    let id = &mail.conversation;
    app.on(&test, id, "notes", json!({ "body": "Look" })).await.is(201);
    app.on(&test, id, "tags", json!({ "add": ["vip"] })).await.is(200);
    app.on(&test, id, "assign", json!({ "to": "me" })).await.is(200);
    app.draft(&test, id, "Draft").await;
    let message = app.schedule(&test, id, "Reply").await;
    app.advance(5 * SECOND);
    app.mark_sent(&app.sandbox, &message).await;
    let read = app.read(&test, id).await;
    assert_eq!(read["status"], "waiting");
    assert_eq!(read["mailbox"], "sandbox@acme.test");
    app.advance(SECOND);
    app.deliver(&app.sandbox, letter("a@x.test Ann", "Re: Lamp", "Two")).await;
    assert_eq!(app.read(&test, id).await["status"], "open");
    let events = app.events().await;
    assert!(events.iter().all(|event| event["livemode"] == false));
    assert_eq!(
        texts(&events, "type"),
        [
            "turn.changed",
            "conversation.assigned",
            "turn.changed",
            "message.sent",
            "turn.changed",
            "client.replied",
        ]
    );
}

async fn suspicious_mail_is_held_in_the_sandbox_too(app: TestApp) {
    let test = app.test_key("read").await;
    let mail = Mail { warning: held_warning(), ..letter("a@x.test", "Prize", "You won") };
    let mail = app.deliver(&app.sandbox, mail).await;
    assert_eq!(app.read(&test, &mail.conversation).await["risk"], "phishing");
    assert_eq!(app.event_types().await, ["scout.held"]);
}

async fn each_workspace_has_a_sandbox_of_its_own(app: TestApp) {
    let test = app.test_key("read").await;
    let other = app.other_workspace("Globex").await;
    let theirs = app.key_of(&other, "Their", "read", false).await;
    app.deliver(&app.sandbox, letter("a@x.test", "Ours", "treasure")).await;
    let list = app.get(&theirs, "/mailboxes").await.json();
    assert_eq!(texts(list.as_array().unwrap(), "address"), ["sandbox@globex.test"]);
    assert!(app.search_subjects(&theirs, "treasure").await.is_empty());
    assert!(app.list(&theirs, "view=all").await.is_empty());
    assert_eq!(app.list(&test, "view=all").await.len(), 1);
}
