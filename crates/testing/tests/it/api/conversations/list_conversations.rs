//! API sections 2.3 and 4.2.

use base::time::Moment;
use mail::{Mail, Risk, Warning};
use serde_json::{Value, json};
use testing::{
    Chance, DAY, MINUTE, SECOND, TestApp, TestKey, UNDO, fields, letter, no_mailbox, on_both,
    query, text_of, texts,
};

on_both!(
    conversations_are_listed_newest_first_by_their_latest_mail,
    a_new_conversation_has_every_field_of_a_summary,
    a_full_summary_has_the_same_fields_and_a_reference,
    each_view_lists_its_own_and_open_is_the_default,
    an_unknown_and_an_invisible_mailbox_give_the_same_empty_list,
    a_key_lists_team_inboxes_and_its_makers_private_ones,
    a_reference_is_compared_lower_cased_in_every_status_with_view_all,
    a_list_holds_25_unless_a_limit_is_given,
    drafts_and_scheduled_mail_move_nothing_in_the_list,
    a_row_says_who_wrote_last_who_waits_and_whether_a_draft_does,
    each_order_is_walked_page_by_page,
    the_oldest_first_is_walked_whole_while_conversations_move,
    those_who_wait_longest_come_first_and_the_answered_not_at_all,
    a_list_is_narrowed_by_time_tag_and_contact,
    a_tag_that_cannot_be_seen_lists_nothing,
    a_snippet_is_the_first_140_characters_with_white_space_folded,
    filters_combine,
    conversations_of_one_moment_have_a_fixed_order,
    a_conversation_whose_row_cannot_be_read_hides_no_other
);

async fn conversations_are_listed_newest_first_by_their_latest_mail(app: TestApp) {
    let key = app.key("read").await;
    let first = app.mail("a@x.example", "First", "1").await;
    for (from, subject) in [("b@x.example", "Second"), ("c@x.example", "Third")] {
        app.advance(SECOND);
        app.mail(from, subject, "text").await;
    }
    assert_eq!(app.subjects(&key, "").await, ["Third", "Second", "First"]);
    app.advance(SECOND);
    let again = app.mail("a@x.example", "Re: First", "2").await;
    assert_eq!(again.conversation, first.conversation);
    assert_eq!(app.subjects(&key, "").await, ["First", "Third", "Second"]);
    assert_eq!(app.list(&key, "").await[0]["lastMessageAt"], app.iso());
}

async fn a_new_conversation_has_every_field_of_a_summary(app: TestApp) {
    let key = app.key("read").await;
    let mail = app.mail("bruno@keller.example Bruno Keller", "Lamp", "It is broken.").await;
    let expected = json!({
        "id": mail.conversation.as_str(),
        "subject": "Lamp",
        "snippet": "It is broken.",
        "status": "open",
        "contact": { "name": "Bruno Keller", "email": "bruno@keller.example", "known": false },
        "mailbox": "Support",
        "lastMessageAt": "2026-11-15T09:00:00.000Z",
        "messageCount": 1,
        "assignee": null,
        "tags": [],
        "topic": null,
        "urgency": null,
        "risk": null,
        "lastDirection": "inbound",
        "waitingSince": "2026-11-15T09:00:00.000Z",
        "language": null,
        "hasDraft": false,
    });
    assert_eq!(app.list(&key, "").await, [expected]);
}

async fn a_full_summary_has_the_same_fields_and_a_reference(app: TestApp) {
    let key = app.key("write").await;
    let warning = Warning { risk: Risk::Impersonation, reasons: vec!["Odd".into()], hold: false };
    let mail = Mail {
        delivered_to: "support+Inv-7@acme.example".into(),
        warning: Some(warning),
        ..letter("bruno@keller.example", "Lamp", "It is broken.")
    };
    let mail = app.deliver(&app.support, mail).await;
    app.topic("returns", "").await;
    let sorted = json!({ "topic": "returns", "urgency": "high" });
    app.on(&key, &mail.conversation, "sorting", sorted).await.is(200);
    app.on(&key, &mail.conversation, "tags", json!({ "add": ["b", "a"] })).await.is(200);
    app.on(&key, &mail.conversation, "assign", json!({ "to": "me" })).await.is(200);
    let list = app.list(&key, "").await;
    let summary = &list[0];
    let expected = json!({
        "id": mail.conversation.as_str(),
        "subject": "Lamp",
        "snippet": "It is broken.",
        "status": "open",
        "contact": { "name": null, "email": "bruno@keller.example", "known": false },
        "mailbox": "Support",
        "lastMessageAt": app.iso(),
        "messageCount": 1,
        "assignee": { "id": key.id.as_str(), "name": "Robo", "type": "agent" },
        "tags": ["a", "b"],
        "topic": "returns",
        "urgency": "high",
        "risk": "impersonation",
        "lastDirection": "inbound",
        "waitingSince": app.iso(),
        "language": null,
        "hasDraft": false,
        "reference": "inv-7",
    });
    assert_eq!(summary, &expected);
    let to = format!("user:{}", testing::user(&app.owner));
    app.on(&key, &mail.conversation, "assign", json!({ "to": to })).await.is(200);
    let list = app.list(&key, "").await;
    assert_eq!(fields(&list[0]["assignee"]), ["id", "name", "type"]);
    assert_eq!(list[0]["assignee"]["name"], "Olive Owner");
    assert_eq!(list[0]["assignee"]["type"], "user");
}

async fn each_view_lists_its_own_and_open_is_the_default(app: TestApp) {
    let key = app.key("write").await;
    for status in ["open", "waiting", "closed", "snoozed"] {
        let mail = app.mail("a@x.example", status, "text").await;
        match status {
            "snoozed" => app.snooze(&app.owner, &mail.conversation, app.now() + DAY).await,
            status => {
                let body = json!({ "status": status });
                app.on(&key, &mail.conversation, "status", body).await.is(200);
            }
        }
        app.advance(SECOND);
    }
    for view in ["open", "waiting", "closed", "snoozed"] {
        assert_eq!(app.subjects(&key, &format!("view={view}")).await, [view]);
    }
    assert_eq!(app.subjects(&key, "").await, ["open"]);
    let all = app.list(&key, "view=all").await;
    assert_eq!(texts(&all, "subject"), ["snoozed", "closed", "waiting", "open"]);
    assert_eq!(texts(&all, "status"), ["open", "closed", "waiting", "open"]);
}

async fn an_unknown_and_an_invisible_mailbox_give_the_same_empty_list(app: TestApp) {
    let key = app.key("read").await;
    let ann = app.person("Ann").await;
    let hers = app.private_inbox(&ann).await;
    app.deliver(&hers, letter("a@x.example", "Secret", "text")).await;
    app.mail("a@x.example", "Public", "text").await;
    let other = app.other_workspace("Globex").await;
    let unseen = [no_mailbox().to_string(), hers.id.to_string(), app.sandbox.id.to_string()];
    let odd = ["", "x", "mbx_", &app.owner.workspace.to_string(), &format!("{:?}", other.ws)];
    for id in unseen.iter().map(String::as_str).chain(odd) {
        for view in ["open", "all"] {
            let path = format!("/conversations?{}", query(&[("view", view), ("mailbox", id)]));
            let answer = app.get(&key, &path).await.is(200);
            assert_eq!(answer.bytes, b"[]", "{id}");
            assert_eq!(answer.next(), None, "{id}");
        }
    }
}

async fn a_key_lists_team_inboxes_and_its_makers_private_ones(app: TestApp) {
    let key = app.key("read").await;
    let ann = app.person_with("Ann", base::actor::Role::Admin).await;
    let anns_key = app.key_of(&ann, "Anns", "read", true).await;
    let test_key = app.test_key("read").await;
    let inboxes = [
        ("Team", app.support.clone()),
        ("Mine", app.private_inbox(&app.owner).await),
        ("Hers", app.private_inbox(&ann).await),
        ("Sandbox", app.sandbox.clone()),
    ];
    for (subject, inbox) in &inboxes {
        app.deliver(inbox, letter("a@x.example", subject, "text")).await;
        app.advance(SECOND);
    }
    assert_eq!(app.subjects(&key, "").await, ["Mine", "Team"]);
    assert_eq!(app.subjects(&anns_key, "").await, ["Hers", "Team"]);
    assert_eq!(app.subjects(&test_key, "").await, ["Sandbox"]);
    let mine = query(&[("mailbox", inboxes[1].1.id.as_str())]);
    assert_eq!(app.subjects(&key, &mine).await, ["Mine"]);
    assert!(app.subjects(&anns_key, &mine).await.is_empty());
}

async fn a_reference_is_compared_lower_cased_in_every_status_with_view_all(app: TestApp) {
    let key = app.key("write").await;
    for status in ["open", "waiting", "closed"] {
        let mail = Mail {
            delivered_to: "Support+ORDER-9@acme.example".into(),
            ..letter("a@x.example", status, "text")
        };
        let mail = app.deliver(&app.support, mail).await;
        app.on(&key, &mail.conversation, "status", json!({ "status": status })).await.is(200);
        app.advance(SECOND);
    }
    app.mail("a@x.example", "without", "text").await;
    for reference in ["order-9", "ORDER-9", "Order-9"] {
        let all = app.subjects(&key, &format!("view=all&reference={reference}")).await;
        assert_eq!(all, ["closed", "waiting", "open"]);
        let open = app.subjects(&key, &format!("reference={reference}")).await;
        assert_eq!(open, ["open"]);
    }
    for reference in ["order-", "order-99", "", "rder-9"] {
        let none = app.list(&key, &format!("view=all&reference={reference}")).await;
        assert_eq!(none, Vec::<Value>::new(), "{reference}");
    }
}

async fn a_list_holds_25_unless_a_limit_is_given(app: TestApp) {
    let key = app.key("read").await;
    let mails = (0..30).map(|n| letter("a@x.example", &format!("Mail {n:02}"), "text"));
    app.deliver_all(&app.support, mails.collect()).await;
    for (limit, count) in [("", 25), ("limit=1", 1), ("limit=29", 29), ("limit=100", 30)] {
        assert_eq!(app.list(&key, limit).await.len(), count, "{limit}");
    }
    assert_eq!(app.subjects(&key, "limit=2").await, ["Mail 29", "Mail 28"]);
}

async fn drafts_and_scheduled_mail_move_nothing_in_the_list(app: TestApp) {
    let key = app.key("draft send").await;
    let older = app.mail("a@x.example", "Older", "The question").await;
    app.advance(MINUTE);
    app.mail("b@x.example", "Newer", "text").await;
    let mut before = app.list(&key, "").await;
    app.advance(MINUTE);
    app.draft(&key, &older.conversation, "A draft").await;
    let message = app.schedule(&key, &older.conversation, "A reply").await;
    before[1]["hasDraft"] = json!(true);
    assert_eq!(app.list(&key, "").await, before);
    app.advance(UNDO);
    app.mark_sent(&app.support, &message).await;
    let all = app.list(&key, "view=all").await;
    assert_eq!(texts(&all, "subject"), ["Older", "Newer"]);
    assert_eq!(all[0]["snippet"], "A reply");
    assert_eq!(all[0]["messageCount"], 2);
    assert_eq!(all[0]["lastMessageAt"], app.iso());
    assert_eq!(all[0]["status"], "waiting");
    assert_eq!(all[1]["messageCount"], 1);
}

async fn a_snippet_is_the_first_140_characters_with_white_space_folded(app: TestApp) {
    let key = app.key("read").await;
    let cases = [
        ("  Hello\n\n  there,\tyou \r\n", "Hello there, you".to_owned()),
        ("", String::new()),
        (" \n\u{a0}\u{3000}", String::new()),
        (&"é".repeat(200), "é".repeat(140)),
        (&"a b\n".repeat(100), "a b ".repeat(35)),
        (&"😀".repeat(141), "😀".repeat(140)),
    ];
    for (text, expected) in &cases {
        app.advance(SECOND);
        app.mail("a@x.example", "Same", text).await;
        let list = app.list(&key, "").await;
        assert_eq!(list.len(), 1);
        assert_eq!(list[0]["snippet"].as_str().unwrap().trim_end(), expected.trim_end());
    }
    assert_eq!(app.list(&key, "").await[0]["messageCount"], cases.len());
}

async fn filters_combine(app: TestApp) {
    let key = app.key("write").await;
    let sales = app.team_inbox("sales@acme.example", "Sales").await;
    let private = app.private_inbox(&app.owner).await;
    let inboxes = [app.support.clone(), sales, private];
    let mut chance = Chance::new(7);
    let mut made: Vec<Made> = Vec::new();
    for number in 0..60 {
        app.advance(SECOND);
        let inbox = chance.pick(&inboxes);
        let tag = *chance.pick(&["", "+A-1"]);
        let mail = Mail {
            delivered_to: inbox.address.replace('@', &format!("{tag}@")),
            ..letter("a@x.example", &format!("{number}"), "text")
        };
        let id = app.deliver(inbox, mail).await.conversation;
        let view = *chance.pick(&["open", "waiting", "closed", "snoozed"]);
        if view == "snoozed" {
            app.snooze(&app.owner, &id, app.now() + DAY).await;
        } else {
            app.on(&key, &id, "status", json!({ "status": view })).await.is(200);
        }
        let assigned = *chance.pick(&["me", "unassigned", "other"]);
        let to = match assigned {
            "me" => "me".into(),
            "unassigned" => "none".into(),
            _ => format!("user:{}", testing::user(&app.owner)),
        };
        app.on(&key, &id, "assign", json!({ "to": to })).await.is(200);
        let reference = if tag.is_empty() { "" } else { "a-1" };
        let mailbox = inbox.id.to_string();
        made.insert(0, Made { id: id.to_string(), view, mailbox, assigned, reference });
    }
    let mailboxes: Vec<String> = inboxes.iter().map(|inbox| inbox.id.to_string()).collect();
    for view in ["", "open", "waiting", "closed", "snoozed", "all"] {
        for mailbox in std::iter::once("").chain(mailboxes.iter().map(String::as_str)) {
            for assigned in ["", "me", "unassigned"] {
                for reference in ["", "a-1"] {
                    let asked = Asked { view, mailbox, assigned, reference };
                    let list = app.list(&key, &asked.query()).await;
                    let expected: Vec<String> = made
                        .iter()
                        .filter(|one| asked.wants(one))
                        .map(|one| one.id.clone())
                        .collect();
                    assert_eq!(texts(&list, "id"), expected, "{}", asked.query());
                }
            }
        }
    }
}

async fn conversations_of_one_moment_have_a_fixed_order(app: TestApp) {
    let key = app.key("read").await;
    let mails = (0..5).map(|n| letter("a@x.example", &format!("Mail {n}"), "text")).collect();
    app.deliver_all(&app.support, mails).await;
    let list = app.list(&key, "").await;
    assert_eq!(texts(&list, "subject"), ["Mail 4", "Mail 3", "Mail 2", "Mail 1", "Mail 0"]);
    let at = Moment(app.now()).iso();
    assert!(list.iter().all(|summary| text_of(summary, "lastMessageAt") == at));
}

/// What a conversation of the test was given.
struct Made {
    id: String,
    view: &'static str,
    mailbox: String,
    assigned: &'static str,
    reference: &'static str,
}

/// A query; an empty text is a parameter left out.
struct Asked<'a> {
    view: &'a str,
    mailbox: &'a str,
    assigned: &'a str,
    reference: &'a str,
}

impl Asked<'_> {
    fn query(&self) -> String {
        let all = [
            ("view", self.view),
            ("mailbox", self.mailbox),
            ("assigned", self.assigned),
            ("reference", self.reference),
            ("limit", "100"),
        ];
        query(&all.into_iter().filter(|(_, value)| !value.is_empty()).collect::<Vec<_>>())
    }

    fn wants(&self, one: &Made) -> bool {
        let view = if self.view.is_empty() { "open" } else { self.view };
        (view == "all" || view == one.view)
            && (self.mailbox.is_empty() || self.mailbox == one.mailbox)
            && (self.assigned.is_empty() || self.assigned == one.assigned)
            && (self.reference.is_empty() || self.reference == one.reference)
    }
}

async fn a_row_says_who_wrote_last_who_waits_and_whether_a_draft_does(app: TestApp) {
    let key = app.key("write draft send").await;
    let mail = app.mail("a@x.example", "Lamp", "Where is it?").await;
    let asked_at = app.iso();
    app.advance(MINUTE);
    app.mail("a@x.example", "Re: Lamp", "Hello?").await;
    let state = async || {
        let read = app.read(&key, &mail.conversation).await;
        let row = app.list(&key, "view=all").await.swap_remove(0);
        for field in ["lastDirection", "waitingSince", "language", "hasDraft"] {
            assert_eq!(read[field], row[field], "{field}");
        }
        (row["lastDirection"].clone(), row["waitingSince"].clone(), row["hasDraft"].clone())
    };
    assert_eq!(state().await, (json!("inbound"), json!(asked_at), json!(false)));
    let draft = app.draft(&key, &mail.conversation, "Soon").await;
    assert_eq!(state().await, (json!("inbound"), json!(asked_at), json!(true)));
    app.post(&key, &format!("/messages/{draft}/discard"), json!({})).await.is(200);
    assert_eq!(state().await, (json!("inbound"), json!(asked_at), json!(false)));
    let message = app.schedule(&key, &mail.conversation, "It left.").await;
    app.post(&key, &format!("/messages/{message}/stop"), json!({})).await.is(200);
    assert_eq!(state().await, (json!("inbound"), json!(asked_at), json!(true)));
    app.send_reply(&key, &mail.conversation, "It really left.").await;
    assert_eq!(state().await, (json!("outbound"), Value::Null, json!(true)));
    app.advance(MINUTE);
    app.mail("a@x.example", "Re: Lamp", "It is broken.").await;
    assert_eq!(state().await, (json!("inbound"), json!(app.iso()), json!(true)));
    app.on(&key, &mail.conversation, "status", json!({ "status": "closed" })).await.is(200);
    assert_eq!(state().await, (json!("inbound"), Value::Null, json!(true)));
}

/// The subjects of a whole walk with pages of two.
async fn walked(app: &TestApp, key: &TestKey, query: &str) -> Vec<String> {
    let mut subjects = Vec::new();
    let mut path = format!("/conversations?limit=2&{query}");
    loop {
        let answer = app.get(key, &path).await.is(200);
        subjects.extend(texts(answer.json().as_array().unwrap(), "subject"));
        match answer.next() {
            Some(next) => path = next,
            None => return subjects,
        }
    }
}

async fn each_order_is_walked_page_by_page(app: TestApp) {
    let key = app.key("read").await;
    for number in 1..=5 {
        app.mail(&format!("{number}@x.example"), &format!("Mail {number}"), "the lamp").await;
        app.advance(SECOND);
    }
    let oldest: Vec<String> = (1..=5).map(|number| format!("Mail {number}")).collect();
    let newest: Vec<String> = oldest.iter().rev().cloned().collect();
    for q in ["", "&q=lamp"] {
        assert_eq!(walked(&app, &key, &format!("sort=newest{q}")).await, newest, "{q}");
        assert_eq!(walked(&app, &key, &format!("sort=oldest{q}")).await, oldest, "{q}");
        assert_eq!(walked(&app, &key, &format!("sort=waiting{q}")).await, oldest, "{q}");
    }
    app.get(&key, "/conversations?sort=best").await.is(400);
}

async fn the_oldest_first_is_walked_whole_while_conversations_move(app: TestApp) {
    let key = app.key("read").await;
    for number in 1..=5 {
        app.mail(&format!("{number}@x.example"), &format!("Mail {number}"), "text").await;
        app.advance(SECOND);
    }
    let first = app.get(&key, "/conversations?limit=2&sort=oldest").await.is(200);
    assert_eq!(texts(first.json().as_array().unwrap(), "subject"), ["Mail 1", "Mail 2"]);
    // One that was listed and one that was not yet move to the end.
    app.advance(SECOND);
    app.mail("1@x.example", "Re: Mail 1", "again").await;
    app.mail("4@x.example", "Re: Mail 4", "again").await;
    let next = app.get(&key, &first.next().unwrap()).await.is(200);
    assert_eq!(texts(next.json().as_array().unwrap(), "subject"), ["Mail 3", "Mail 4"]);
    let last = app.get(&key, &next.next().unwrap()).await.is(200);
    assert_eq!(texts(last.json().as_array().unwrap(), "subject"), ["Mail 5"]);
}

async fn those_who_wait_longest_come_first_and_the_answered_not_at_all(app: TestApp) {
    let key = app.key("send").await;
    let mut conversations = Vec::new();
    for subject in ["First", "Second", "Third"] {
        let from = format!("{}@x.example", subject.to_lowercase());
        conversations.push(app.mail(&from, subject, "text").await.conversation);
        app.advance(MINUTE);
    }
    app.mail("first@x.example", "Re: First", "Hello?").await;
    assert_eq!(app.subjects(&key, "sort=waiting").await, ["First", "Second", "Third"]);
    app.send_reply(&key, &conversations[0], "Answered").await;
    assert_eq!(app.subjects(&key, "sort=waiting&view=all").await, ["Second", "Third"]);
    app.advance(MINUTE);
    app.mail("first@x.example", "Re: First", "And now?").await;
    assert_eq!(app.subjects(&key, "sort=waiting").await, ["Second", "Third", "First"]);
}

async fn a_list_is_narrowed_by_time_tag_and_contact(app: TestApp) {
    let key = app.key("write").await;
    let mut conversations = Vec::new();
    for (from, subject) in
        [("a@x.example", "One"), ("b@x.example", "Two"), ("a@x.example", "Three")]
    {
        conversations.push(app.mail(from, subject, "the lamp").await.conversation);
        app.advance(DAY);
    }
    for conversation in &conversations[..2] {
        app.on(&key, conversation, "tags", json!({ "add": ["Vip"] })).await.is(200);
    }
    for (query, expected) in [
        ("from=A%40X.example", vec!["Three", "One"]),
        ("from=a%40x.example&tag=vip", vec!["One"]),
        ("from=nobody%40x.example", vec![]),
        ("tag=VIP", vec!["Two", "One"]),
        ("tag=VIP&sort=oldest", vec!["One", "Two"]),
        ("tag=none", vec![]),
        ("since=2026-11-16", vec!["Three", "Two"]),
        ("since=2026-11-16T09:00:00.001Z", vec!["Three"]),
        ("until=2026-11-16", vec!["Two", "One"]),
        ("since=2026-11-16&until=2026-11-16", vec!["Two"]),
        ("since=2026-11-16&until=2026-11-16&sort=oldest", vec!["Two"]),
        ("since=2026-11-16&sort=waiting", vec!["Two", "Three"]),
    ] {
        for q in ["", "&q=lamp"] {
            let query = format!("{query}{q}");
            assert_eq!(app.subjects(&key, &query).await, expected, "{query}");
            assert_eq!(walked(&app, &key, &query).await, expected, "{query}");
        }
    }
    for bad in ["since=yesterday", "until=2026-13-01", "from=nobody", "tag="] {
        app.get(&key, &format!("/conversations?{bad}")).await.is(400);
    }
}

async fn a_tag_that_cannot_be_seen_lists_nothing(app: TestApp) {
    let key = app.key("write").await;
    let test = app.test_key("write").await;
    let mail = app.mail("a@x.example", "One", "text").await;
    app.on(&key, &mail.conversation, "tags", json!({ "add": ["vip"] })).await.is(200);
    assert_eq!(app.subjects(&key, "tag=vip").await, ["One"]);
    assert!(app.subjects(&test, "tag=vip").await.is_empty());
}

async fn a_conversation_whose_row_cannot_be_read_hides_no_other(app: TestApp) {
    let key = app.key("read").await;
    let mut damaged = None;
    for subject in ["One", "Two", "Three", "Four"] {
        app.advance(SECOND);
        let mail = app.mail(&format!("{subject}@x.example"), subject, "text").await;
        damaged = damaged.or((subject == "Three").then_some(mail.conversation));
    }
    let damaged = damaged.unwrap();
    app.exec("UPDATE conversations SET tags = 'unreadable' WHERE subject = 'Three'").await;
    assert_eq!(app.subjects(&key, "").await, ["Four", "Two", "One"]);
    // Page by page too, also where the first row of a page is the one.
    let mut page = app.get(&key, "/conversations?limit=1").await.is(200);
    let mut listed = vec![text_of(&page.json()[0], "subject")];
    while let Some(next) = page.next.clone() {
        page = app.get(&key, &next).await.is(200);
        listed.extend(page.json().as_array().unwrap().iter().map(|one| text_of(one, "subject")));
    }
    assert_eq!(listed, ["Four", "Two", "One"]);
    app.get(&key, &format!("/conversations/{damaged}")).await.is(500);
}
