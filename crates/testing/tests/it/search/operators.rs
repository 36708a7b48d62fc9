//! The operators of `q`, what else search finds than mail, and indexing older mail again.

use actions::conversations::search_hits;
use api::operations::SetSortingInput;
use api::operations::set_sorting;
use base::actor::Role;
use base::states::Urgency;
use jobs::ExtractionOutcome;
use mail::{Address, Mail};
use model::documents::{DocumentFields, DocumentKind};
use serde_json::json;
use testing::{DAY, MINUTE, TestApp, TestKey, file, letter, on_both, query, texts};

on_both!(
    operators_narrow_a_search_and_unknown_ones_are_words,
    notes_files_documents_and_tags_are_found_and_lose_what_they_lose,
    an_amount_is_found_however_it_is_written,
    what_one_person_sees_no_operator_opens_to_another,
    older_mail_is_indexed_again_in_the_background
);

async fn found(app: &TestApp, key: &TestKey, q: &str) -> Vec<String> {
    let list = app.list(key, &query(&[("q", q), ("view", "all")])).await;
    let mut subjects = texts(&list, "subject");
    subjects.sort();
    subjects
}

/// Four conversations that differ in everything an operator asks for.
async fn inbox_of_four(app: &TestApp, key: &TestKey) {
    let lamp = Mail {
        to: vec![Address::new(Some("Tora North"), "tora@north.example")],
        attachments: vec![file("statement.pdf", b"x")],
        ..letter("ann@acme.example Ann Lee", "Lamp", "It arrived broken")
    };
    let lamp = app.deliver(&app.support, lamp).await.conversation;
    app.on(key, &lamp, "tags", json!({ "add": ["Two words"] })).await.is(200);
    app.on(key, &lamp, "assign", json!({ "to": "me" })).await.is(200);
    app.advance(10 * DAY);
    let desk = app.mail("bea@other.example Bea", "Desk", "Ann Lee sent me to you, broken").await;
    app.on(key, &desk.conversation, "status", json!({ "status": "closed" })).await.is(200);
    let billing = app.team_inbox("bills@acme.example", "Invoices").await;
    let bill = app.deliver(&billing, letter("cy@x.example Cy", "Bill", "Lamp fee")).await;
    app.topic("Fees", "").await;
    let input = SetSortingInput {
        id: bill.conversation.to_string(),
        topic: Some(Some("Fees".into())),
        urgency: Some(Urgency::High),
    };
    app.act(&app.owner, move |tx, cx| set_sorting(tx, cx, input.clone()).map(|_| ())).await;
    let chair = app.mail("dan@acme.example Dan", "Chair", "Nothing special").await;
    app.draft(key, &chair.conversation, "We look into it").await;
}

async fn operators_narrow_a_search_and_unknown_ones_are_words(app: TestApp) {
    let key = app.key("write draft").await;
    inbox_of_four(&app, &key).await;
    for (q, expected) in [
        ("from:ann", vec!["Lamp"]),
        ("ann", vec!["Desk", "Lamp"]),
        ("from:acme.example", vec!["Chair", "Lamp"]),
        ("from:\"Ann Lee\" broken", vec!["Lamp"]),
        ("to:tora", vec!["Lamp"]),
        ("from:tora", vec![]),
        ("subject:lamp", vec!["Lamp"]),
        ("lamp", vec!["Bill", "Lamp"]),
        ("lamp -subject:lamp", vec!["Bill"]),
        ("broken -lamp", vec!["Desk"]),
        ("-broken", vec!["Bill", "Chair"]),
        ("in:invoices", vec!["Bill"]),
        ("-in:invoices lamp", vec!["Lamp"]),
        ("in:nowhere", vec![]),
        ("tag:\"two words\"", vec!["Lamp"]),
        ("-tag:\"two words\" from:acme.example", vec!["Chair"]),
        ("tag:missing", vec![]),
        ("assigned:me", vec!["Lamp"]),
        ("assigned:nobody broken", vec!["Desk"]),
        ("is:unassigned is:open", vec!["Bill", "Chair"]),
        ("is:closed", vec!["Desk"]),
        ("-is:closed broken", vec!["Lamp"]),
        ("has:attachment", vec!["Lamp"]),
        ("-has:attachment broken", vec!["Desk"]),
        ("has:draft", vec!["Chair"]),
        ("topic:fees", vec!["Bill"]),
        ("urgency:high", vec!["Bill"]),
        ("before:5d", vec!["Lamp"]),
        ("after:5d", vec!["Bill", "Chair", "Desk"]),
        ("after:5d broken", vec!["Desk"]),
        ("after:2001-01-01 before:2002-01-01", vec![]),
        ("is:odd", vec![]),
        ("urgency:huge", vec![]),
        ("special:nothing", vec![]),
        ("\"Nothing special\"", vec!["Chair"]),
    ] {
        assert_eq!(found(&app, &key, q).await, expected, "{q}");
    }
    let unnamed = app.list(&key, &query(&[("q", "is:closed")])).await;
    assert_eq!(texts(&unnamed, "subject"), ["Desk"], "is: stands in for view");
    let page = query(&[("q", "-broken"), ("view", "all"), ("limit", "1")]);
    assert_eq!(app.walk(&key, &format!("/conversations?{page}")).await.len(), 2);
}

async fn notes_files_documents_and_tags_are_found_and_lose_what_they_lose(app: TestApp) {
    let key = app.key("write").await;
    let text = "The insured peonies wither".to_owned();
    let fields = DocumentFields { vendor: Some("Florian".into()), ..DocumentFields::default() };
    let kind = DocumentKind::Contract;
    app.outside.reader.will_say(&[ExtractionOutcome::Read { kind, fields, text }]);
    let attachments = vec![file("garden-plan.pdf", b"x")];
    let mail = Mail { attachments, ..letter("a@x.example", "Garden", "See the plan") };
    let garden = app.deliver(&app.support, mail).await.conversation;
    assert_eq!(found(&app, &key, "garden-plan.pdf").await, ["Garden"]);
    assert!(found(&app, &key, "peonies").await.is_empty());
    app.work().await;
    app.settle().await;
    for q in ["insured peonies", "florian", "\"peonies wither\"", "has:document peonies"] {
        assert_eq!(found(&app, &key, q).await, ["Garden"], "{q}");
    }
    assert!(found(&app, &key, "has:note").await.is_empty());
    app.on(&key, &garden, "notes", json!({ "body": "He phoned about tulips" })).await.is(201);
    for q in ["tulips", "has:note", "peonies tulips"] {
        assert_eq!(found(&app, &key, q).await, ["Garden"], "{q}");
    }
    app.on(&key, &garden, "tags", json!({ "add": ["Horticulture"] })).await.is(200);
    assert_eq!(found(&app, &key, "horticulture").await, ["Garden"]);
    app.on(&key, &garden, "tags", json!({ "remove": ["Horticulture"] })).await.is(200);
    assert!(found(&app, &key, "horticulture").await.is_empty());
    assert_eq!(found(&app, &key, "tulips").await, ["Garden"]);
}

async fn an_amount_is_found_however_it_is_written(app: TestApp) {
    let key = app.key("read").await;
    for (subject, text) in [
        ("English", "You owe 1,240.50 EUR."),
        ("German", "Bitte 1.240,50 EUR zahlen"),
        ("Plain", "total=1240.50"),
        ("Other", "1,240.51 and 240.50 and 1.24.50"),
        ("Round", "It was 1.240 or 1240"),
    ] {
        app.mail("a@x.example", subject, text).await;
    }
    for q in ["1240.50", "1,240.50", "1.240,50", "1'240.50 ", "€1,240.50"] {
        assert_eq!(found(&app, &key, q).await, ["English", "German", "Plain"], "{q}");
    }
    assert_eq!(found(&app, &key, "1,240.00 it").await, ["Round"]);
    assert_eq!(found(&app, &key, "\"1,240.50 EUR\"").await, ["English", "German"]);
}

async fn what_one_person_sees_no_operator_opens_to_another(app: TestApp) {
    let (ines, key) = (app.person_with("Ines", Role::Admin).await, app.key("write").await);
    let private = app.private_inbox(&ines).await;
    let own = app.key_of(&ines, "Hers", "write", true).await;
    let attachments = vec![file("secretplan.pdf", b"x")];
    let mail = Mail { attachments, ..letter("ann@x.example Ann", "Hidden", "About roses") };
    let hidden = app.deliver(&private, mail).await.conversation;
    app.on(&own, &hidden, "notes", json!({ "body": "whispered violets" })).await.is(201);
    app.on(&own, &hidden, "tags", json!({ "add": ["Roses"] })).await.is(200);
    let name = private.name.clone();
    for q in [
        "violets".to_owned(),
        "secretplan".to_owned(),
        "from:ann".to_owned(),
        "tag:roses".to_owned(),
        "-nothing".to_owned(),
        "has:note".to_owned(),
        format!("in:\"{name}\""),
    ] {
        assert_eq!(found(&app, &own, &q).await, ["Hidden"], "{q}");
        assert!(found(&app, &key, &q).await.is_empty(), "{q}");
    }
}

async fn older_mail_is_indexed_again_in_the_background(app: TestApp) {
    let key = app.key("write").await;
    let owner = app.owner.clone();
    for number in 0..60 {
        let subject = format!("Old {number}");
        let mail = app.mail("ann@x.example Ann", &subject, "An old lamp").await;
        let note = json!({ "body": format!("note{number}") });
        app.on(&key, &mail.conversation, "notes", note).await.is(201);
    }
    // As an installation was before: mails alone, without their fields.
    app.exec("DELETE FROM message_index").await;
    app.exec("DELETE FROM index_entries").await;
    app.exec("INSERT INTO index_rebuilds (name, next_num, due_at) SELECT 'all', max(num), 0 FROM conversations")
        .await;
    assert!(found(&app, &key, "from:ann subject:17").await.is_empty());
    app.pass(MINUTE).await;
    assert_eq!(found(&app, &key, "from:ann subject:17").await, ["Old 17"]);
    assert_eq!(found(&app, &key, "note59").await, ["Old 59"]);
    assert_eq!(app.count("index_rebuilds").await, 0);
    let hits = app
        .act(&owner, |tx, cx| {
            let input = api::operations::ListConversationsInput {
                q: Some("note7".into()),
                ..Default::default()
            };
            let page = api::operations::list_conversations(tx, cx, input)?;
            search_hits::search_hits(tx, cx, "note7", &page.items)
        })
        .await;
    let hit = hits.into_iter().flatten().next().unwrap();
    assert_eq!(hit.kind, search_hits::HitKind::Note);
    assert!(hit.excerpt.iter().any(|part| part.marked && part.text == "note7"), "{hit:?}");
}
