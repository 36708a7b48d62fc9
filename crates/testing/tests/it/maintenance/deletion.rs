//! Deleting an inbox or a workspace: what ends at once, what is erased, and who may do it.

use actions::inboxes::inbox_access::{self, InboxAccess};
use actions::inboxes::setup;
use actions::people::removal;
use actions::workspace::{audit_log, deletion};
use actions::writing::autosaves::{self, Autosave, AutosaveKey, AutosaveKind};
use actions::writing::unsent_files;
use base::actor::{Actor, Role};
use base::error::Error;
use base::ids::MailboxId;
use inbound::Ingested;
use jobs::{DeletionOutcome, RelayOutcome, finish_deletion};
use maintenance::check::check;
use model::mailboxes::Mailbox;
use model::mailboxes::inbox_access::{AccessEntry, AccessHolder};
use serde_json::json;
use testing::{DAY, HOUR, MINUTE, TestApp, UNDO, eventually, file, letter, on_both, raw, user};

on_both!(
    an_inbox_is_erased_with_everything_in_it_and_nothing_else,
    mail_to_a_deleted_inbox_is_refused_and_its_address_is_free,
    what_was_to_leave_from_a_deleted_inbox_stays,
    what_waits_for_another_attempt_does_not_leave_a_deleted_inbox,
    a_message_that_was_scheduled_while_its_inbox_went_fails,
    an_unsent_first_mail_outlasts_the_inbox_that_was_chosen_for_it,
    owners_delete_the_teams_inboxes_and_everybody_their_own,
    the_inbox_of_somebody_who_was_removed_is_deleted_by_an_owner,
    what_stands_in_the_way_of_a_deletion_is_said,
    of_two_deletions_at_once_one_leaves_an_inbox_for_everybody,
    nothing_is_deleted_by_a_wrong_word,
    a_deletion_that_broke_off_goes_on,
    a_conversation_that_cannot_be_erased_keeps_no_other_from_it,
    a_workspace_is_erased_and_others_stay_as_they_are,
    a_command_carries_out_what_it_began
);

pub(super) async fn delete(app: &TestApp, by: &Actor, inbox: &Mailbox) {
    let (id, address) = (inbox.id.clone(), inbox.address.to_string());
    app.act(by, move |tx, cx| deletion::delete_inbox(tx, cx, &id, &address)).await;
}

async fn refused(app: &TestApp, by: &Actor, inbox: &Mailbox) -> Error {
    let (id, address) = (inbox.id.clone(), inbox.address.to_string());
    app.expect_refusal(by, move |tx, cx| deletion::delete_inbox(tx, cx, &id, &address)).await
}

/// What does not fit together.
pub(super) async fn faults(app: &TestApp) -> Vec<String> {
    let report = check(&app.app.store, &app.app.blobs).await.unwrap();
    report.findings.into_iter().map(|finding| finding.sentence).collect()
}

async fn count_in(app: &TestApp, table: &str, inbox: &MailboxId) -> i64 {
    app.count(&format!("{table} WHERE mailbox = '{inbox}'")).await
}

async fn an_inbox_is_erased_with_everything_in_it_and_nothing_else(app: TestApp) {
    let key = app.key("write send").await;
    let billing = app.team_inbox("billing@acme.example", "Billing").await;
    let kept = app.mail("kim@x.example Kim", "Bench", "It wobbles").await;
    let mut mail = letter("ann@x.example Ann", "Invoice", "Total 12.00");
    mail.attachments = vec![file("invoice.txt", b"Total 12.00 EUR")];
    let gone = app.deliver(&billing, mail).await;
    app.deliver(&billing, letter("kim@x.example Kim", "Another", "Hello")).await;
    app.on(&key, &gone.conversation, "tags", json!({ "add": ["Urgent"] })).await.is(200);
    app.on(&key, &kept.conversation, "tags", json!({ "add": ["Urgent"] })).await.is(200);
    app.on(&key, &gone.conversation, "notes", json!({ "body": "A word" })).await.is(201);
    app.send_reply(&key, &gone.conversation, "Here it is").await;
    delete(&app, &app.owner, &billing).await;
    assert_eq!(app.get(&key, "/mailboxes").await.json().as_array().unwrap().len(), 1);
    app.pass(HOUR).await;
    for table in ["conversations", "messages", "documents", "deletions"] {
        assert_eq!(count_in(&app, table, &billing.id).await, 0, "{table}");
    }
    assert_eq!(app.count(&format!("mailboxes WHERE id = '{}'", billing.id)).await, 0);
    assert_eq!(app.subjects(&key, "view=all").await, ["Bench"]);
    assert_eq!(app.count("contacts WHERE email = 'ann@x.example'").await, 0);
    assert_eq!(app.count("contacts WHERE email = 'kim@x.example'").await, 1);
    let audit = app.act(&app.owner, |tx, cx| audit_log::list_audit(tx, cx, None)).await;
    let told: Vec<String> =
        audit.iter().take(2).map(|entry| format!("{} {}", entry.thing, entry.detail)).collect();
    assert_eq!(told, ["Billing ", "Billing 2 conversations and 3 messages"]);
    assert_eq!(faults(&app).await, Vec::<String>::new());
}

async fn mail_to_a_deleted_inbox_is_refused_and_its_address_is_free(app: TestApp) {
    let billing = app.team_inbox("billing@acme.example", "Billing").await;
    app.deliver(&billing, letter("ann@x.example", "Invoice", "text")).await;
    delete(&app, &app.owner, &billing).await;
    let taken = app.ingest(&["billing@acme.example"], &raw("a@x.example", "Late", "Hi")).await;
    assert!(matches!(taken[0], Ok(Ingested::NoInbox)), "{taken:?}");
    let again = app.team_inbox("billing@acme.example", "Billing").await;
    app.deliver(&again, letter("ann@x.example", "New", "text")).await;
    app.pass(HOUR).await;
    assert_eq!(count_in(&app, "conversations", &again.id).await, 1);
    assert_eq!(count_in(&app, "conversations", &billing.id).await, 0);
    // Mail that was on its way when the inbox went is not filed either.
    let other = app.team_inbox("shop@acme.example", "Shop").await;
    app.exec(&format!("UPDATE mailboxes SET circle = 'deleted' WHERE id = '{}'", other.id)).await;
    let taken = app.ingest(&["shop@acme.example"], &raw("a@x.example", "Late", "Hi")).await;
    assert!(matches!(taken[0], Ok(Ingested::NoInbox)), "{taken:?}");
}

async fn what_was_to_leave_from_a_deleted_inbox_stays(app: TestApp) {
    let key = app.key("write send").await;
    let billing = app.team_inbox("billing@acme.example", "Billing").await;
    let mail = app.deliver(&billing, letter("ann@x.example", "Invoice", "text")).await;
    app.schedule(&key, &mail.conversation, "On its way").await;
    delete(&app, &app.owner, &billing).await;
    app.pass(HOUR).await;
    assert!(app.outside.relay.attempts().is_empty());
}

async fn has_failed(app: &TestApp, message: &str) -> bool {
    let failed = "status = 'failed' AND sends_at IS NULL";
    app.count(&format!("messages WHERE id = '{message}' AND {failed}")).await == 1
}

async fn what_waits_for_another_attempt_does_not_leave_a_deleted_inbox(app: TestApp) {
    let key = app.key("write send").await;
    let billing = app.team_inbox("billing@acme.example", "Billing").await;
    let mail = app.deliver(&billing, letter("ann@x.example", "Invoice", "text")).await;
    let message = app.schedule(&key, &mail.conversation, "On its way").await;
    app.outside.relay.will_say(&[RelayOutcome::Later("busy".into())]);
    app.pass(UNDO).await;
    assert_eq!(app.outside.relay.attempts().len(), 1);
    delete(&app, &app.owner, &billing).await;
    assert!(has_failed(&app, &message).await);
    app.pass(DAY).await;
    assert_eq!(app.outside.relay.attempts().len(), 1);
    assert_eq!(faults(&app).await, Vec::<String>::new());
}

async fn a_message_that_was_scheduled_while_its_inbox_went_fails(app: TestApp) {
    let key = app.key("write send").await;
    let billing = app.team_inbox("billing@acme.example", "Billing").await;
    let mail = app.deliver(&billing, letter("ann@x.example", "Invoice", "text")).await;
    let message = app.schedule(&key, &mail.conversation, "On its way").await;
    app.exec(&format!("UPDATE mailboxes SET circle = 'deleted' WHERE id = '{}'", billing.id)).await;
    app.pass(DAY).await;
    assert!(app.outside.relay.attempts().is_empty());
    assert!(has_failed(&app, &message).await);
}

async fn an_unsent_first_mail_outlasts_the_inbox_that_was_chosen_for_it(app: TestApp) {
    let bo = app.person("Bo").await;
    let billing = app.team_inbox("billing@acme.example", "Billing").await;
    let unsent = Autosave {
        mailbox: billing.id.to_string(),
        ..Autosave::new(AutosaveKind::New, "Dear Ann".into())
    };
    app.act(&bo, move |tx, cx| autosaves::autosave(tx, cx, &AutosaveKey::New, &unsent)).await;
    app.attach(&bo, &AutosaveKey::New, &[("plan.txt", "text/plain", b"A plan".as_slice())]).await;
    delete(&app, &app.owner, &billing).await;
    app.pass(HOUR).await;
    assert_eq!(app.count("deletions").await, 0);
    let (kept, files) = app
        .act(&bo, |tx, cx| {
            let kept = autosaves::load_autosave(tx, cx, &AutosaveKey::New)?;
            Ok((kept, unsent_files::list(tx, cx, &AutosaveKey::New)?.len()))
        })
        .await;
    let kept = kept.unwrap();
    assert_eq!((kept.body.as_str(), kept.mailbox.as_str(), files), ("Dear Ann", "", 1));
    assert_eq!(faults(&app).await, Vec::<String>::new());
}

async fn owners_delete_the_teams_inboxes_and_everybody_their_own(app: TestApp) {
    let (bo, admin) = (app.person("Bo").await, app.person_with("Ada", Role::Admin).await);
    let billing = app.team_inbox("billing@acme.example", "Billing").await;
    for person in [&bo, &admin] {
        assert!(matches!(refused(&app, person, &billing).await, Error::Forbidden(_)));
    }
    let private = app.private_inbox(&bo).await;
    for stranger in [&app.owner, &admin] {
        assert!(matches!(refused(&app, stranger, &private).await, Error::NotFound(_)));
    }
    delete(&app, &bo, &private).await;
    // An inbox for some is the owners' to delete, also if they do not see it; others learn nothing.
    let (id, holder) = (billing.id.clone(), AccessHolder::Person(user(&bo)));
    app.act(&app.owner, move |tx, cx| {
        let entries = vec![AccessEntry { holder: holder.clone(), may_see: true, may_send: false }];
        let access = InboxAccess { everybody: false, all_send: true, entries };
        inbox_access::set_inbox_access(tx, cx, &id, &access)
    })
    .await;
    assert!(matches!(refused(&app, &admin, &billing).await, Error::NotFound(_)));
    delete(&app, &app.owner, &billing).await;
    app.pass(HOUR).await;
    assert_eq!(app.count("deletions").await, 0);
    let audit = app.act(&admin, |tx, cx| audit_log::list_audit(tx, cx, None)).await;
    assert!(audit.iter().all(|entry| !entry.thing.contains("Private")));
    assert_eq!(faults(&app).await, Vec::<String>::new());
}

async fn the_inbox_of_somebody_who_was_removed_is_deleted_by_an_owner(app: TestApp) {
    let bo = app.person("Bo").await;
    let private = app.private_inbox(&bo).await;
    app.deliver(&private, letter("ann@x.example", "Secret", "text")).await;
    let closed = |app: &TestApp| {
        let (app, owner) = (app.app.clone(), app.owner.clone());
        async move { app.act(&owner, deletion::closed_inboxes).await.unwrap() }
    };
    assert!(closed(&app).await.is_empty());
    let id = user(&bo);
    app.act(&app.owner, move |tx, cx| removal::remove_person(tx, cx, &id)).await;
    let left = closed(&app).await;
    assert_eq!(left.len(), 1);
    let (id, typed) = (left[0].id.clone(), left[0].id.to_string());
    app.act(&app.owner, move |tx, cx| deletion::delete_inbox(tx, cx, &id, &typed)).await;
    app.pass(HOUR).await;
    assert_eq!(count_in(&app, "conversations", &private.id).await, 0);
    assert!(closed(&app).await.is_empty());
}

async fn what_stands_in_the_way_of_a_deletion_is_said(app: TestApp) {
    let only = refused(&app, &app.owner, &app.support).await.to_string();
    assert!(only.contains("only inbox"), "{only}");
    let billing = app.team_inbox("billing@acme.example", "Billing").await;
    let mail = app.deliver(&billing, letter("ann@x.example", "Invoice", "text")).await;
    let booked = |starts: i64, ends: i64| {
        format!(
            "INSERT INTO bookings (ws, id, circle, type, host, conversation, starts_at, ends_at,
                guest_name, guest_email, guest_zone, answers, place, status, uid, sequence,
                token_hash, made_by, cancelled_by, reason, created_at)
             VALUES ({}, 'bkg_1', 'team', 'bkt_1', 'usr_1', '{}', {starts}, {ends}, 'Ann',
                'ann@x.example', 'UTC', '[]', '', 'booked', 'bkg_1', 0, {}, '', '', '', 0)",
            app.owner.ws,
            mail.conversation,
            match app.app.store.is_shared() {
                true => "CAST('bkg_1' AS BYTEA)",
                false => "CAST('bkg_1' AS BLOB)",
            }
        )
    };
    app.exec(&booked(app.now() + HOUR, app.now() + 2 * HOUR)).await;
    let ahead = refused(&app, &app.owner, &billing).await.to_string();
    assert!(ahead.contains("appointment ahead"), "{ahead}");
    app.pass(3 * HOUR).await;
    delete(&app, &app.owner, &billing).await;
    app.pass(HOUR).await;
    assert_eq!(app.count("bookings").await, 0);
}

async fn tries_to_delete(app: &TestApp, inbox: &Mailbox) -> Result<(), Error> {
    let (id, address) = (inbox.id.clone(), inbox.address.to_string());
    let work = app.app.act(&app.owner, move |tx, cx| deletion::delete_inbox(tx, cx, &id, &address));
    work.await.map(drop)
}

async fn of_two_deletions_at_once_one_leaves_an_inbox_for_everybody(app: TestApp) {
    let mut left = app.support.clone();
    for n in 0..4 {
        let other = app.team_inbox(&format!("team{n}@acme.example"), &format!("Team {n}")).await;
        let (one, two) = tokio::join!(tries_to_delete(&app, &left), tries_to_delete(&app, &other));
        assert!(one.is_ok() != two.is_ok(), "{one:?} {two:?}");
        assert_eq!(app.count("mailboxes WHERE circle = 'team'").await, 1);
        if one.is_ok() {
            left = other;
        }
    }
}

async fn nothing_is_deleted_by_a_wrong_word(app: TestApp) {
    let billing = app.team_inbox("billing@acme.example", "Billing").await;
    let id = billing.id.clone();
    let wrong = app
        .expect_refusal(&app.owner, move |tx, cx| deletion::delete_inbox(tx, cx, &id, "billing"))
        .await;
    assert!(wrong.to_string().contains("billing@acme.example"), "{wrong}");
    let wrong =
        app.expect_refusal(&app.owner, |tx, cx| deletion::delete_workspace(tx, cx, "Acne")).await;
    assert!(wrong.to_string().contains("Acme"), "{wrong}");
    let bo = app.person_with("Bo", Role::Admin).await;
    let admin = app.expect_refusal(&bo, |tx, cx| deletion::delete_workspace(tx, cx, "Acme")).await;
    assert!(matches!(admin, Error::Forbidden(_)), "{admin}");
    assert_eq!(app.count("deletions").await, 0);
}

/// More than one batch of conversations.
async fn fill(app: &TestApp, inbox: &Mailbox, count: usize) {
    let mails = (0..count).map(|n| letter(&format!("c{n}@x.example"), &format!("Mail {n}"), "Hi"));
    app.deliver_all(inbox, mails.collect()).await;
}

async fn a_deletion_that_broke_off_goes_on(mut app: TestApp) {
    let billing = app.team_inbox("billing@acme.example", "Billing").await;
    fill(&app, &billing, 50).await;
    delete(&app, &app.owner, &billing).await;
    app.work().await;
    let left = count_in(&app, "conversations", &billing.id).await;
    assert!(left > 0 && left < 50, "{left}");
    // The process that had claimed it is gone; its lease ends.
    let lease = app.now() + MINUTE;
    app.exec(&format!("UPDATE deletions SET due_at = {lease}")).await;
    app.restart();
    app.work().await;
    assert_eq!(count_in(&app, "conversations", &billing.id).await, left);
    app.pass(HOUR).await;
    assert_eq!(count_in(&app, "conversations", &billing.id).await, 0);
    assert_eq!(app.count("deletions").await, 0);
    assert_eq!(faults(&app).await, Vec::<String>::new());
}

async fn a_conversation_that_cannot_be_erased_keeps_no_other_from_it(app: TestApp) {
    let billing = app.team_inbox("billing@acme.example", "Billing").await;
    fill(&app, &billing, 30).await;
    let poison = format!("mailbox = '{}' AND subject = 'Mail 29'", billing.id);
    app.exec(&format!("UPDATE conversations SET tags = 'unreadable' WHERE {poison}")).await;
    delete(&app, &app.owner, &billing).await;
    app.pass(10 * MINUTE).await;
    assert_eq!(count_in(&app, "conversations", &billing.id).await, 1);
    app.exec(&format!("UPDATE conversations SET tags = '[]' WHERE {poison}")).await;
    app.pass(10 * HOUR).await;
    assert_eq!(count_in(&app, "conversations", &billing.id).await, 0);
    assert_eq!(app.count("deletions").await, 0);
}

async fn a_workspace_is_erased_and_others_stay_as_they_are(app: TestApp) {
    let key = app.key("write send").await;
    let hook = app.hook("shop").await;
    fill(&app, &app.support, 30).await;
    let private = app.private_inbox(&app.owner).await;
    app.deliver(&private, letter("ann@x.example", "Secret", "text")).await;
    app.something_happens("Event").await;
    let other = app.other_workspace("Other").await;
    app.pass(MINUTE).await;
    assert!(!app.calls_to(&hook).is_empty());
    let before = app.count(&format!("users WHERE ws = {}", other.ws)).await;
    app.act(&app.owner, |tx, cx| deletion::delete_workspace(tx, cx, "Acme")).await;
    app.get(&key, "/conversations").await.is(401);
    let taken = app.ingest(&["support@acme.example"], &raw("a@x.example", "Late", "Hi")).await;
    assert!(matches!(taken[0], Ok(Ingested::NoInbox)), "{taken:?}");
    let listed = app.app.store.read(setup::list_workspaces).await.unwrap();
    assert_eq!(listed.len(), 1);
    app.pass(HOUR).await;
    let ws = app.owner.ws;
    let shapes = app.app.store.read(|tx| Ok::<_, Error>(tx.tables()?)).await.unwrap();
    for table in shapes.iter().filter(|table| table.has("ws")) {
        let left = app.count(&format!("{} WHERE ws = {ws}", table.name)).await;
        let kept = i64::from(table.name == "deleted_workspaces");
        assert_eq!(left, kept, "{}", table.name);
    }
    assert_eq!(app.count(&format!("users WHERE ws = {}", other.ws)).await, before);
    let erased = format!("deleted_workspaces WHERE ws = {ws} AND erased_at IS NOT NULL");
    assert_eq!(app.count(&erased).await, 1);
    // Neither number nor name is in the way of a new one.
    let again = app.other_workspace("Acme").await;
    assert!(again.ws > other.ws);
    assert_eq!(faults(&app).await, Vec::<String>::new());
}

async fn a_command_carries_out_what_it_began(app: TestApp) {
    let billing = app.team_inbox("billing@acme.example", "Billing").await;
    fill(&app, &billing, 3).await;
    delete(&app, &app.owner, &billing).await;
    // The clock of a test stands still, so that each step is due only when it moves.
    let (inner, id, ws) = (app.app.clone(), billing.id.to_string(), app.owner.ws);
    let carried = tokio::spawn(async move { finish_deletion(&inner, ws, &id).await });
    eventually(async || {
        app.advance(20);
        carried.is_finished()
    })
    .await;
    assert_eq!(carried.await.unwrap().unwrap(), DeletionOutcome::Erased);
    assert_eq!(count_in(&app, "conversations", &billing.id).await, 0);
}
