//! API sections 2.5 and 4.10.

use base::actor::Role;
use serde_json::json;
use testing::{Chance, DAY, SECOND, TestApp, TestKey, letter, on_both, query, seeds, texts};

on_both!(
    an_inbox_has_its_fields,
    a_key_lists_the_inboxes_it_sees_by_name,
    the_list_is_complete_however_long_it_is,
    open_counts_stay_exact_under_many_changes
);

async fn an_inbox_has_its_fields(app: TestApp) {
    let key = app.key("read").await;
    app.mail("a@x.example", "Lamp", "text").await;
    assert_eq!(
        app.get(&key, "/mailboxes").await.is(200).json(),
        json!([{
            "id": app.support.id.as_str(),
            "address": "support@acme.example",
            "name": "Support",
            "open": 1,
        }])
    );
}

async fn a_key_lists_the_inboxes_it_sees_by_name(app: TestApp) {
    let key = app.key("read").await;
    let test_key = app.test_key("read").await;
    let ann = app.person_with("Ann", Role::Admin).await;
    let anns_key = app.key_of(&ann, "Anns", "read", true).await;
    app.team_inbox("zoo@acme.example", "Zoo").await;
    app.team_inbox("billing@acme.example", "Billing").await;
    let (mine, hers) = (app.private_inbox(&app.owner).await, app.private_inbox(&ann).await);
    app.other_workspace("Globex").await;
    let names = ["Billing", "Private", "Support", "Zoo"];
    for (key, private) in [(&key, &mine), (&anns_key, &hers)] {
        let list = app.get(key, "/mailboxes").await.json();
        let list = list.as_array().unwrap();
        assert_eq!(texts(list, "name"), names);
        assert_eq!(list[1]["id"], private.id.as_str());
    }
    let list = app.get(&test_key, "/mailboxes").await.json();
    assert_eq!(texts(list.as_array().unwrap(), "address"), ["sandbox@acme.test"]);
}

async fn the_list_is_complete_however_long_it_is(app: TestApp) {
    let key = app.key("read").await;
    for number in 0..120 {
        app.team_inbox(&format!("i{number}@acme.example"), &format!("Inbox {number}")).await;
    }
    assert_eq!(app.get(&key, "/mailboxes").await.json().as_array().unwrap().len(), 121);
}

async fn open_counts_stay_exact_under_many_changes(app: TestApp) {
    let key = app.key("write send").await;
    let test_key = app.test_key("write").await;
    let private = app.private_inbox(&app.owner).await;
    let sales = app.team_inbox("sales@acme.example", "Sales").await;
    let inboxes = [&app.support, &sales, &private, &app.sandbox];
    for seed in seeds() {
        let mut chance = Chance::new(seed);
        for step in 0..120 {
            app.advance(SECOND);
            let place = chance.below(inboxes.len());
            let inbox = inboxes[place];
            let by = if place == 3 { &test_key } else { &key };
            let from = format!("{}@x.test", chance.below(6));
            let mail = app.deliver(inbox, letter(&from, "Lamp", "text")).await;
            let id = &mail.conversation;
            match chance.below(6) {
                0 | 1 => {
                    let status = *chance.pick(&["open", "waiting", "closed"]);
                    app.on(by, id, "status", json!({ "status": status })).await.is(200);
                }
                2 if place != 3 => app.snooze(&app.owner, id, app.now() + DAY).await,
                3 if place != 3 => {
                    let message = app.schedule(&key, id, "Hello").await;
                    app.mark_sent(inbox, &message).await;
                }
                _ => {}
            }
            if step % 10 == 0 {
                let name = format!("MAILROOM_TEST_SEED={seed}, step {step}");
                counts_are_exact(&app, &key, &name).await;
                counts_are_exact(&app, &test_key, &name).await;
            }
        }
    }
}

async fn counts_are_exact(app: &TestApp, key: &TestKey, name: &str) {
    let list = app.get(key, "/mailboxes").await.json();
    for mailbox in list.as_array().unwrap() {
        let id = mailbox["id"].as_str().unwrap();
        let open = app.list(key, &query(&[("mailbox", id), ("limit", "100")])).await.len();
        assert_eq!(mailbox["open"], open, "{name}: {mailbox}");
    }
}
