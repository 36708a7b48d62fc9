//! Contacts: addresses that are one person's, notes, colleagues and blocked senders.

use actions::conversations::triage::{self, TriageAct};
use actions::conversations::{blocked_senders, contacts};
use actions::inboxes::inbox_access::{self, InboxAccess};
use base::actor::{Actor, Role};
use base::email_address::EmailAddress;
use base::ids::ConversationId;
use maintenance::forget_person::forget_person;
use maintenance::person_files::export_person;
use model::fields::{FieldKind, FieldOwner};
use model::mailboxes::inbox_access::{AccessEntry, AccessHolder};
use serde_json::{Value, json};
use testing::{DAY, SECOND, TestApp, TestKey, letter, on_both, query, texts, user};

on_both!(
    two_addresses_become_one_contact_and_two_again,
    undoing_a_merge_gives_back_what_came_with_it,
    a_merge_tells_nobody_of_a_private_address,
    a_contact_has_the_notes_of_those_who_see_their_mail,
    only_its_author_or_an_admin_deletes_a_note,
    colleagues_are_those_of_a_company_that_the_reader_sees,
    a_contact_is_blocked_under_every_address,
    a_contact_whom_the_key_cannot_see_is_not_there,
    closing_an_inbox_takes_along_what_is_known_of_its_contacts,
    closing_an_inbox_leaves_notes_on_others_where_they_are,
    whoever_takes_part_in_another_conversation_is_not_forgotten,
    what_was_written_about_a_contact_goes_with_their_last_mail,
    a_private_note_stays_while_the_team_has_mail_of_the_contact,
    conversations_of_others_are_looked_for_among_the_latest_of_a_contact,
    a_persons_data_are_those_of_all_their_addresses,
    what_somebody_merged_for_themselves_forgets_nobody_else
);

fn address(text: &str) -> EmailAddress {
    EmailAddress::new(text)
}

async fn merge(app: &TestApp, by: &Actor, from: &str, into: &str) {
    let (from, into) = (address(from), address(into));
    app.act(by, move |tx, cx| contacts::merge_contacts(tx, cx, &from, &into)).await;
}

async fn separate(app: &TestApp, by: &Actor, contact: &str, email: &str) {
    let (contact, email) = (address(contact), address(email));
    app.act(by, move |tx, cx| contacts::separate_address(tx, cx, &contact, &email)).await;
}

async fn note(app: &TestApp, by: &Actor, email: &str, body: &str) {
    let (email, body) = (address(email), body.to_owned());
    app.act(by, move |tx, cx| contacts::add_contact_note(tx, cx, &email, &body)).await;
}

/// The addresses of a contact, as a person sees them.
async fn addresses(app: &TestApp, by: &Actor, email: &str) -> Vec<String> {
    let email = address(email);
    let open = app.act(by, move |tx, cx| contacts::open_contact(tx, cx, &email)).await;
    open.profile.addresses.iter().map(ToString::to_string).collect()
}

async fn notes(app: &TestApp, by: &Actor, email: &str) -> Vec<String> {
    let email = address(email);
    let open = app.act(by, move |tx, cx| contacts::open_contact(tx, cx, &email)).await;
    open.profile.notes.into_iter().map(|note| note.body).collect()
}

async fn contact(app: &TestApp, key: &TestKey, email: &str) -> Value {
    app.get(key, &format!("/contacts/{email}")).await.is(200).json()
}

async fn two_addresses_become_one_contact_and_two_again(app: TestApp) {
    let key = app.key("read send").await;
    let cellar = app.mail("gia@wines.example Gia", "Cellar", "One").await;
    app.send_reply(&key, &cellar.conversation, "Thank you").await;
    app.advance(SECOND);
    app.mail("gia@post.example Gia", "Carnet", "Two").await;
    app.advance(SECOND);
    app.mail("enzo@wines.example Enzo", "Corks", "Three").await;
    let from = |email: &str| query(&[("view", "all"), ("from", email)]);
    let search = |email: &str| query(&[("view", "all"), ("q", &format!("from:{email}"))]);
    assert_eq!(app.subjects(&key, &from("gia@wines.example")).await, ["Cellar"]);
    note(&app, &app.owner, "gia@post.example", "Prefers a call.").await;
    merge(&app, &app.owner, "gia@post.example", "gia@wines.example").await;
    for email in ["gia@wines.example", "gia@post.example"] {
        assert_eq!(app.subjects(&key, &from(email)).await, ["Carnet", "Cellar"], "{email}");
        assert_eq!(app.subjects(&key, &search(email)).await, ["Carnet", "Cellar"], "{email}");
        let read = contact(&app, &key, email).await;
        assert_eq!(read["email"], "gia@wines.example");
        assert_eq!(read["addresses"], json!(["gia@wines.example", "gia@post.example"]));
        assert_eq!(
            texts(read["conversations"].as_array().unwrap(), "subject"),
            ["Carnet", "Cellar"]
        );
        assert_eq!(read["notes"][0]["body"], "Prefers a call.");
        assert_eq!(read["colleagues"], json!([{ "name": "Enzo", "email": "enzo@wines.example" }]));
        assert!(read["conversations"][0]["contact"]["known"].as_bool().unwrap());
    }
    let (one, other) = (address("gia@post.example"), address("gia@wines.example"));
    let twice = app
        .expect_refusal(&app.owner, move |tx, cx| contacts::merge_contacts(tx, cx, &one, &other));
    assert!(twice.await.to_string().contains("same contact"));
    separate(&app, &app.owner, "gia@wines.example", "gia@post.example").await;
    assert_eq!(app.subjects(&key, &from("gia@wines.example")).await, ["Cellar"]);
    assert_eq!(app.subjects(&key, &search("gia@wines.example")).await, ["Cellar"]);
    assert_eq!(notes(&app, &app.owner, "gia@wines.example").await, [""; 0]);
    assert_eq!(notes(&app, &app.owner, "gia@post.example").await, ["Prefers a call."]);
    assert_eq!(app.count("contact_addresses").await, 0);
}

async fn undoing_a_merge_gives_back_what_came_with_it(app: TestApp) {
    for name in ["a", "b", "c", "d"] {
        app.mail(&format!("{name}@x.example"), name, "Hello").await;
    }
    let owner = &app.owner;
    merge(&app, owner, "b@x.example", "a@x.example").await;
    merge(&app, owner, "d@x.example", "c@x.example").await;
    merge(&app, owner, "a@x.example", "c@x.example").await;
    assert_eq!(addresses(&app, owner, "b@x.example").await.len(), 4);
    separate(&app, owner, "c@x.example", "b@x.example").await;
    assert_eq!(addresses(&app, owner, "b@x.example").await, ["a@x.example", "b@x.example"]);
    assert_eq!(addresses(&app, owner, "d@x.example").await, ["c@x.example", "d@x.example"]);
    separate(&app, owner, "a@x.example", "b@x.example").await;
    assert_eq!(addresses(&app, owner, "a@x.example").await, ["a@x.example"]);
    // The address that a contact is shown under can go, too.
    separate(&app, owner, "c@x.example", "c@x.example").await;
    assert_eq!(addresses(&app, owner, "d@x.example").await, ["d@x.example"]);
}

async fn a_merge_tells_nobody_of_a_private_address(app: TestApp) {
    let ann = app.person("Ann").await;
    let inbox = app.private_inbox(&ann).await;
    app.mail("gia@wines.example Gia", "Cellar", "One").await;
    app.deliver(&inbox, letter("gia@secret.example", "Private", "Two")).await;
    merge(&app, &ann, "gia@secret.example", "gia@wines.example").await;
    note(&app, &ann, "gia@wines.example", "For all.").await;
    assert_eq!(addresses(&app, &ann, "gia@wines.example").await.len(), 2);
    assert_eq!(addresses(&app, &app.owner, "gia@wines.example").await, ["gia@wines.example"]);
    assert_eq!(notes(&app, &app.owner, "gia@wines.example").await, ["For all."]);
    let key = app.key("read").await;
    let read = contact(&app, &key, "gia@wines.example").await;
    assert_eq!(read["addresses"], json!(["gia@wines.example"]));
    app.get(&key, "/contacts/gia@secret.example").await.is(404);
}

async fn a_contact_has_the_notes_of_those_who_see_their_mail(app: TestApp) {
    let ann = app.person("Ann").await;
    let inbox = app.private_inbox(&ann).await;
    app.deliver(&inbox, letter("gia@secret.example", "Private", "Two")).await;
    note(&app, &ann, "gia@secret.example", "Mine alone.").await;
    app.mail("gia@secret.example", "To the team", "Hello").await;
    assert_eq!(notes(&app, &ann, "gia@secret.example").await, ["Mine alone."]);
    assert_eq!(notes(&app, &app.owner, "gia@secret.example").await, [""; 0]);
    note(&app, &app.owner, "gia@secret.example", "For all.").await;
    assert_eq!(notes(&app, &ann, "gia@secret.example").await, ["For all.", "Mine alone."]);
    let (email, long) = (address("gia@secret.example"), "x".repeat(2_001));
    let refused = app
        .expect_refusal(&ann, move |tx, cx| contacts::add_contact_note(tx, cx, &email, &long))
        .await;
    assert!(refused.to_string().contains("2,000"), "{refused}");
}

async fn only_its_author_or_an_admin_deletes_a_note(app: TestApp) {
    let (ann, bo) = (app.person("Ann").await, app.person("Bo").await);
    let admin = app.person_with("Cy", Role::Admin).await;
    app.mail("gia@wines.example", "Cellar", "One").await;
    for by in [&ann, &bo] {
        note(&app, by, "gia@wines.example", "A note").await;
    }
    let email = address("gia@wines.example");
    let open = app.act(&ann, move |tx, cx| contacts::open_contact(tx, cx, &email)).await;
    let found = open.profile.notes;
    let email = address("gia@wines.example");
    let id = found[0].id.clone();
    let refused = app
        .expect_refusal(&ann, move |tx, cx| contacts::delete_contact_note(tx, cx, &email, &id))
        .await;
    assert!(refused.to_string().contains("author"), "{refused}");
    for (by, note) in [(&admin, &found[0]), (&ann, &found[1])] {
        let (email, id) = (address("gia@wines.example"), note.id.clone());
        app.act(by, move |tx, cx| contacts::delete_contact_note(tx, cx, &email, &id)).await;
    }
    assert_eq!(notes(&app, &ann, "gia@wines.example").await, [""; 0]);
}

async fn colleagues_are_those_of_a_company_that_the_reader_sees(app: TestApp) {
    let ann = app.person("Ann").await;
    let inbox = app.private_inbox(&ann).await;
    for from in ["gia@wines.example", "enzo@wines.example", "gia@gmail.com", "luca@gmail.com"] {
        app.advance(SECOND);
        app.mail(from, from, "Hello").await;
    }
    app.deliver(&inbox, letter("hidden@wines.example", "Private", "Two")).await;
    let colleagues = async |by: &Actor, email: &str| -> Vec<String> {
        let email = address(email);
        let open = app.act(by, move |tx, cx| contacts::open_contact(tx, cx, &email)).await;
        open.profile.colleagues.into_iter().map(|party| party.email).collect()
    };
    assert_eq!(colleagues(&app.owner, "gia@wines.example").await, ["enzo@wines.example"]);
    assert_eq!(
        colleagues(&ann, "gia@wines.example").await,
        ["hidden@wines.example", "enzo@wines.example"]
    );
    assert_eq!(colleagues(&app.owner, "gia@gmail.com").await, [""; 0]);
}

async fn a_contact_is_blocked_under_every_address(app: TestApp) {
    let key = app.key("read").await;
    app.mail("gia@wines.example", "Cellar", "One").await;
    app.mail("gia@post.example", "Carnet", "Two").await;
    merge(&app, &app.owner, "gia@post.example", "gia@wines.example").await;
    let email = address("gia@wines.example");
    app.act(&app.owner, move |tx, cx| blocked_senders::block_contact(tx, cx, &email)).await;
    app.mail("gia@post.example", "Prize", "You won").await;
    assert_eq!(app.subjects(&key, "view=spam").await, ["Prize"]);
    assert_eq!(contact(&app, &key, "gia@wines.example").await["blocked"], true);
    let listed = app.act(&app.owner, |tx, cx| blocked_senders::list_blocked(tx, cx, "")).await;
    let listed: Vec<String> = listed.into_iter().map(|sender| sender.email.into()).collect();
    assert_eq!(listed, ["gia@post.example", "gia@wines.example"]);
    let email = address("gia@post.example");
    app.act(&app.owner, move |tx, cx| blocked_senders::unblock_contact(tx, cx, &email)).await;
    app.mail("gia@wines.example", "Again", "Hello").await;
    assert_eq!(app.subjects(&key, "view=spam").await, ["Prize"]);
    assert!(
        app.act(&app.owner, |tx, cx| blocked_senders::list_blocked(tx, cx, "")).await.is_empty()
    );
}

async fn a_contact_whom_the_key_cannot_see_is_not_there(app: TestApp) {
    let ann = app.person_with("Ann", Role::Admin).await;
    let inbox = app.private_inbox(&ann).await;
    app.deliver(&inbox, letter("gia@secret.example", "Private", "Two")).await;
    let key = app.key("read").await;
    let hidden = app.get(&key, "/contacts/gia@secret.example").await.is(404);
    let missing = app.get(&key, "/contacts/nobody@secret.example").await.is(404);
    assert_eq!(hidden.bytes, missing.bytes);
    let own = app.key_of(&ann, "Reader", "read", true).await;
    assert_eq!(contact(&app, &own, "GIA@secret.example").await["email"], "gia@secret.example");
    let test = app.test_key("read").await;
    app.mail("gia@wines.example", "Cellar", "One").await;
    app.get(&test, "/contacts/gia@wines.example").await.is(404);
}

async fn closing_an_inbox_takes_along_what_is_known_of_its_contacts(app: TestApp) {
    let ann = app.person("Ann").await;
    let sales = app.team_inbox("sales@acme.example", "Sales").await;
    app.deliver(&sales, letter("gia@wines.example", "Cellar", "One")).await;
    app.deliver(&sales, letter("gia@post.example", "Carnet", "Two")).await;
    app.mail("gia@third.example", "To support", "Three").await;
    merge(&app, &ann, "gia@post.example", "gia@wines.example").await;
    merge(&app, &ann, "gia@third.example", "gia@wines.example").await;
    note(&app, &ann, "gia@post.example", "Only of sales.").await;
    let access = |everybody: bool, person: &Actor| {
        let holder = AccessHolder::Person(user(person));
        let entries = vec![AccessEntry { holder, may_see: true, may_send: true }];
        InboxAccess { everybody, all_send: true, entries }
    };
    let (id, closed) = (sales.id.clone(), access(false, &ann));
    app.act(&app.owner, move |tx, cx| inbox_access::set_inbox_access(tx, cx, &id, &closed)).await;
    let bo = app.person("Bo").await;
    assert_eq!(addresses(&app, &bo, "gia@third.example").await, ["gia@third.example"]);
    assert_eq!(notes(&app, &bo, "gia@third.example").await, [""; 0]);
    let (ws, email) = (ann.ws, "ann@acme.example".to_owned());
    let store = &app.app.store;
    let ann = store.read(move |tx| base::actor::person(tx, ws, &email)).await.unwrap();
    assert_eq!(addresses(&app, &ann, "gia@wines.example").await.len(), 3);
    assert_eq!(notes(&app, &ann, "gia@wines.example").await, ["Only of sales."]);
    let (id, open) = (sales.id.clone(), access(true, &ann));
    app.act(&app.owner, move |tx, cx| inbox_access::set_inbox_access(tx, cx, &id, &open)).await;
    assert_eq!(addresses(&app, &bo, "gia@wines.example").await.len(), 3);
    assert_eq!(notes(&app, &bo, "gia@wines.example").await, ["Only of sales."]);
}

async fn closing_an_inbox_leaves_notes_on_others_where_they_are(app: TestApp) {
    let ann = app.person("Ann").await;
    let sales = app.team_inbox("sales@acme.example", "Sales").await;
    app.deliver(&sales, letter("gia@wines.example", "Cellar", "One")).await;
    app.exec(&format!(
        "INSERT INTO contact_notes (ws, email, id, circle, author, author_name, body, at)
         VALUES ({}, 'enzo@wines.example', 'note_1', 'team', '', '', 'Of nobody.', 0)",
        app.owner.ws
    ))
    .await;
    let holder = AccessHolder::Person(user(&ann));
    let entries = vec![AccessEntry { holder, may_see: true, may_send: true }];
    let (id, closed) = (sales.id, InboxAccess { everybody: false, all_send: true, entries });
    app.act(&app.owner, move |tx, cx| inbox_access::set_inbox_access(tx, cx, &id, &closed)).await;
    assert_eq!(app.count("contact_notes WHERE circle = 'team'").await, 1);
}

/// Deletes a conversation, and waits until it is erased.
async fn erase(app: &TestApp, by: &Actor, id: &ConversationId) {
    let id = id.to_string();
    app.act(by, move |tx, cx| {
        let undo = triage::begin_triage(tx, cx, &TriageAct::Delete)?;
        triage::triage_one(tx, cx, &undo, &TriageAct::Delete, &id)
    })
    .await;
    app.pass(31 * DAY).await;
}

/// A mail that somebody else reads along.
fn copied(from: &str, to: &str) -> mail::Mail {
    mail::Mail { cc: vec![mail::Address::new(None, to)], ..letter(from, "Corks", "Three") }
}

async fn whoever_takes_part_in_another_conversation_is_not_forgotten(app: TestApp) {
    let own = app.mail("enzo@wines.example Enzo", "Cellar", "One").await.conversation;
    let other = app
        .deliver(&app.support, copied("gia@wines.example", "enzo@wines.example"))
        .await
        .conversation;
    erase(&app, &app.owner, &own).await;
    assert_eq!(app.count("contacts WHERE email = 'enzo@wines.example'").await, 1);
    assert!(app.count("contact_words WHERE email = 'enzo@wines.example'").await > 0);
    erase(&app, &app.owner, &other).await;
    for table in ["contacts", "contact_words"] {
        let left = app.count(&format!("{table} WHERE email LIKE '%@wines.example'")).await;
        assert_eq!(left, 0, "{table}");
    }
}

async fn what_was_written_about_a_contact_goes_with_their_last_mail(app: TestApp) {
    let wines = app.mail("gia@wines.example", "Cellar", "One").await.conversation;
    let post = app.mail("gia@post.example", "Carnet", "Two").await.conversation;
    let third = app.mail("gia@third.example", "Corks", "Three").await.conversation;
    for from in ["gia@post.example", "gia@third.example"] {
        merge(&app, &app.owner, from, "gia@wines.example").await;
    }
    note(&app, &app.owner, "gia@wines.example", "Prefers a call.").await;
    app.field("plan", FieldOwner::Contact, FieldKind::Text, &[]).await;
    let key = app.key("write").await;
    let plan = json!({ "fields": { "plan": "Pro" } });
    app.post(&key, "/contacts/gia@wines.example/fields", plan).await.is(200);
    erase(&app, &app.owner, &wines).await;
    assert_eq!(
        addresses(&app, &app.owner, "gia@third.example").await,
        ["gia@post.example", "gia@third.example"]
    );
    assert_eq!(notes(&app, &app.owner, "gia@third.example").await, ["Prefers a call."]);
    erase(&app, &app.owner, &post).await;
    assert_eq!(notes(&app, &app.owner, "gia@third.example").await, ["Prefers a call."]);
    assert_eq!(app.count("contact_addresses").await, 0);
    let left = app.get(&key, "/contacts/gia@third.example").await.is(200).json();
    assert_eq!(left["fields"], json!({ "plan": "Pro" }));
    erase(&app, &app.owner, &third).await;
    for table in ["contact_notes", "contact_fields"] {
        assert_eq!(app.count(table).await, 0, "{table}");
    }
}

async fn a_private_note_stays_while_the_team_has_mail_of_the_contact(app: TestApp) {
    let ann = app.person("Ann").await;
    let inbox = app.private_inbox(&ann).await;
    let private = app.deliver(&inbox, letter("gia@secret.example", "Private", "Two")).await;
    note(&app, &ann, "gia@secret.example", "Mine alone.").await;
    let shared = app.mail("gia@secret.example", "To the team", "Hello").await;
    erase(&app, &ann, &private.conversation).await;
    assert_eq!(notes(&app, &ann, "gia@secret.example").await, ["Mine alone."]);
    erase(&app, &app.owner, &shared.conversation).await;
    assert_eq!(app.count("contact_notes").await, 0);
}

async fn conversations_of_others_are_looked_for_among_the_latest_of_a_contact(app: TestApp) {
    app.mail("gia@wines.example", "Cellar", "One").await;
    app.deliver(&app.support, copied("enzo@wines.example", "gia@wines.example")).await;
    let also_in = async || -> Vec<String> {
        let email = address("gia@wines.example");
        let open = app.act(&app.owner, move |tx, cx| contacts::open_contact(tx, cx, &email)).await;
        open.also_in.into_iter().map(|shared| shared.subject).collect()
    };
    assert_eq!(also_in().await, ["Corks"]);
    app.act(&app.owner, |tx, cx| {
        for n in 0..500 {
            tx.exec(
                "INSERT INTO participants (ws, conversation, email)
                 VALUES (?1, ?2, 'gia@wines.example')",
                &[&cx.actor.ws, &format!("cnv_zz{n}")],
            )?;
        }
        Ok(())
    })
    .await;
    assert_eq!(also_in().await, [""; 0]);
}

async fn a_persons_data_are_those_of_all_their_addresses(app: TestApp) {
    let key = app.key("read write").await;
    app.field("plan", FieldOwner::Contact, FieldKind::Text, &[]).await;
    app.mail("gia@wines.example", "Cellar", "One").await;
    app.mail("gia@post.example", "Carnet", "Two").await;
    app.mail("enzo@wines.example", "Corks", "Three").await;
    merge(&app, &app.owner, "gia@post.example", "gia@wines.example").await;
    note(&app, &app.owner, "gia@wines.example", "Prefers a call.").await;
    let plan = json!({ "fields": { "plan": "Pro" } });
    app.post(&key, "/contacts/gia@wines.example/fields", plan).await.is(200);
    let service = app.service(&app.support);
    let person = app
        .act(&service, |tx, cx| {
            let mut person = Value::Null;
            export_person(tx, cx, &address("gia@post.example"), &mut |name, bytes| {
                if name == "person.json" {
                    person = serde_json::from_slice(bytes)?;
                }
                Ok(())
            })?;
            Ok(person)
        })
        .await;
    assert_eq!(person["conversations"].as_array().unwrap().len(), 2);
    assert_eq!(person["records"]["contact_notes"][0]["body"], "Prefers a call.");
    assert_eq!(person["records"]["contact_fields"][0]["value"], "Pro");
    assert_eq!(person["records"]["contact_addresses"].as_array().unwrap().len(), 2);
    let done =
        app.act(&service, |tx, cx| forget_person(tx, cx, &address("gia@post.example"))).await;
    assert_eq!(done.conversations, 2);
    assert_eq!(app.subjects(&key, "view=all").await, ["Corks"]);
    let named = "audit_log WHERE thing LIKE '%gia@%' OR detail LIKE '%gia@%'";
    assert_eq!(app.count(named).await, 0);
    for table in ["contact_notes", "contact_addresses", "contact_fields"] {
        assert_eq!(app.count(table).await, 0, "{table}");
    }
}

async fn what_somebody_merged_for_themselves_forgets_nobody_else(app: TestApp) {
    let (ann, key) = (app.person("Ann").await, app.key("read").await);
    let inbox = app.private_inbox(&ann).await;
    for from in ["gia@wines.example", "enzo@wines.example"] {
        app.deliver(&inbox, letter(from, "Private", "One")).await;
    }
    merge(&app, &ann, "gia@wines.example", "enzo@wines.example").await;
    app.mail("enzo@wines.example", "Corks", "Two").await;
    let service = app.service(&app.support);
    let done =
        app.act(&service, |tx, cx| forget_person(tx, cx, &address("gia@wines.example"))).await;
    assert_eq!(done.addresses, [address("gia@wines.example")]);
    assert_eq!(done.conversations, 1);
    assert_eq!(app.subjects(&key, "view=all").await, ["Corks"]);
    assert_eq!(app.count("conversations WHERE contact_email = 'enzo@wines.example'").await, 2);
}
