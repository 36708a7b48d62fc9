//! Whom notices reach, by which way, when, and what they say.

use actions::conversations::{open_conversation, triage};
use actions::inboxes::inbox_access::{self, InboxAccess};
use actions::inboxes::office_hours::{self, OfficeHoursInput};
use actions::people::notifications::{self, NoticeSettingsInput};
use api::operations::AssignConversationInput;
use api::operations::assign_conversation;
use base::actor::{self, Actor};
use base::ids::ConversationId;
use jobs::RelayOutcome;
use mail::AuthorKind;
use model::mailboxes::inbox_access::{AccessEntry, AccessHolder};
use model::mailboxes::{self, Mailbox};
use model::people::notifications::choices::{
    MailNotice, NoticeChoice, NoticeKind, OwnNoticeChoice,
};
use serde_json::json;
use testing::*;

on_both!(
    without_any_choice_browsers_tell_of_ones_own_work_and_mail_of_mentions,
    a_reply_names_its_writer_unless_the_person_wants_no_names,
    nobody_is_told_of_what_they_did_have_open_or_have_read,
    of_new_conversations_those_are_told_who_chose_the_inbox,
    automatic_held_removed_and_invented_mail_tells_nobody,
    a_digest_comes_at_its_time_and_lists_by_inbox,
    quiet_hours_hold_everything_back_until_they_end,
    many_notices_within_a_minute_come_together,
    mails_about_the_same_conversation_keep_a_distance,
    drafts_failures_and_missed_targets_reach_those_who_care,
    whoever_lost_sight_of_an_inbox_is_told_nothing_of_it,
    mails_name_nothing_of_an_inbox_that_not_everybody_sees,
    a_digest_of_which_something_is_out_of_sight_names_nothing,
    a_test_notice_goes_every_way_and_not_too_often
);

const ANN: &str = "ann@acme.example";

/// Subjects and texts of the mails to somebody.
fn mails_to(app: &TestApp, address: &str) -> Vec<String> {
    let attempts = app.outside.relay.attempts().into_iter();
    let own = attempts.filter(|mail| mail.recipients == [address]);
    own.map(|mail| String::from_utf8_lossy(&mail.bytes).replace("=\r\n", "")).collect()
}

async fn choose(app: &TestApp, person: &Actor, kind: NoticeKind, browser: bool, mail: MailNotice) {
    let chosen = [(kind, NoticeChoice { browser, mail })];
    app.act(person, move |tx, cx| notifications::choose_notices(tx, cx, &chosen)).await;
}

async fn assign(app: &TestApp, id: &ConversationId, to: &Actor) {
    let key = app.key("write").await;
    app.on(&key, id, "assign", json!({ "to": format!("user:{}", user(to)) })).await.is(200);
}

async fn set_how(app: &TestApp, person: &Actor, input: NoticeSettingsInput) {
    app.act(person, move |tx, cx| notifications::set_notice_settings(tx, cx, &input)).await;
}

fn how() -> NoticeSettingsInput {
    NoticeSettingsInput {
        zone: "UTC".into(),
        shows_names: true,
        digest: "daily".into(),
        digest_time: "08:00".into(),
        ..NoticeSettingsInput::default()
    }
}

/// Leaves an inbox to one person alone.
async fn close_inbox(app: &TestApp, inbox: &Mailbox, person: &Actor) {
    let holder = AccessHolder::Person(user(person));
    let entries = vec![AccessEntry { holder, may_see: true, may_send: true }];
    let access = InboxAccess { everybody: false, all_send: true, entries };
    let id = inbox.id.clone();
    app.act(&app.owner, move |tx, cx| inbox_access::set_inbox_access(tx, cx, &id, &access)).await;
}

/// An inbox as Ann sees it now.
async fn seen_by_ann(app: &TestApp, inbox: &Mailbox) -> Mailbox {
    let (ws, id) = (app.owner.ws, inbox.id.clone());
    let read = app.app.store.read(move |tx| {
        let ann = actor::person(tx, ws, ANN)?;
        mailboxes::seen_by(tx, &ann, &id)
    });
    read.await.unwrap().unwrap()
}

async fn without_any_choice_browsers_tell_of_ones_own_work_and_mail_of_mentions(app: TestApp) {
    let (ann, key) = (app.person("Ann").await, app.key("read write").await);
    let first = app.mail("zed@shop.example Zed Shop", "Lamps", "Hello").await.conversation;
    assign(&app, &first, &ann).await;
    app.on(&key, &first, "notes", json!({ "body": "@Ann please" })).await.is(201);
    app.pass(MINUTE).await;
    let mails = mails_to(&app, ANN);
    assert_eq!(mails.len(), 1, "{mails:?}");
    assert!(mails[0].contains("Subject: Robo mentioned you in a note"), "{}", mails[0]);
    assert!(mails[0].contains("Auto-Submitted: auto-generated"), "{}", mails[0]);
    assert!(mails[0].contains(&format!("https://mail.acme.example/conversations/{first}")));
    assert!(mails[0].contains("https://mail.acme.example/settings/notifications"));
    assert!(!mails[0].contains("please"), "the words of a note are not mailed");

    let browser = app.subscribe(&ann, "one").await;
    let second = app.mail("zed@shop.example Zed Shop", "Chairs", "Hello").await.conversation;
    assign(&app, &second, &ann).await;
    app.pass(MINUTE).await;
    let pushed = app.pushed_to(&browser);
    assert_eq!(pushed.len(), 1);
    let header = |name: &str| {
        let found = pushed[0].headers.iter().find(|(header, _)| *header == name);
        found.map(|(_, value)| value.as_str()).unwrap_or_default()
    };
    assert_eq!(header("content-encoding"), "aes128gcm");
    assert_eq!((header("ttl"), header("urgency")), ("14400", "high"));
    assert_eq!(header("topic").len(), 32);
    assert!(header("authorization").starts_with("vapid t="));
    assert_eq!(
        app.read_push(&browser),
        json!({
            "title": "Robo assigned you a conversation",
            "body": "Chairs",
            "url": format!("/conversations/{second}"),
            "tag": second,
        })
    );
    assert_eq!(mails_to(&app, ANN).len(), 1);
}

async fn a_reply_names_its_writer_unless_the_person_wants_no_names(app: TestApp) {
    let (ann, bo) = (app.person("Ann").await, app.person("Bo").await);
    set_how(&app, &bo, NoticeSettingsInput { shows_names: false, ..how() }).await;
    for (person, subject) in [(&ann, "Lamps"), (&bo, "Chairs")] {
        let id = app.mail("zed@shop.example Zed Shop", subject, "Hello").await.conversation;
        assign(&app, &id, person).await;
    }
    app.pass(HOUR).await;
    let (of_ann, of_bo) = (app.subscribe(&ann, "ann").await, app.subscribe(&bo, "bo").await);
    for subject in ["Re: Lamps", "Re: Chairs"] {
        app.mail("zed@shop.example Zed Shop", subject, "Secret words").await;
    }
    app.pass(4 * SECOND).await;
    assert!(app.pushed_to(&of_ann).is_empty(), "rules act on it first");
    app.pass(SECOND).await;
    let said = app.read_push(&of_ann);
    assert_eq!(
        (&said["title"], &said["body"]),
        (&json!("New reply from Zed Shop"), &json!("Lamps"))
    );
    let said = app.read_push(&of_bo);
    let plain = (&json!("New reply"), &json!("Open Mailroom to see it."));
    assert_eq!((&said["title"], &said["body"]), plain);
}

async fn nobody_is_told_of_what_they_did_have_open_or_have_read(app: TestApp) {
    let ann = app.person("Ann").await;
    choose(&app, &ann, NoticeKind::Reply, true, MailNotice::AtOnce).await;
    choose(&app, &ann, NoticeKind::Assigned, true, MailNotice::AtOnce).await;
    let browser = app.subscribe(&ann, "one").await;
    let id = app.mail("zed@shop.example", "Lamps", "Hello").await.conversation;
    let (of_ann, own) = (id.to_string(), format!("user:{}", user(&ann)));
    app.act(&ann, move |tx, cx| {
        let input = AssignConversationInput { id: of_ann.clone(), to: own.clone() };
        assign_conversation(tx, cx, input)
    })
    .await;
    app.pass(MINUTE).await;
    app.outside.open_pages.open(&ann, &id);
    app.mail("zed@shop.example", "Re: Lamps", "Anybody there?").await;
    app.pass(MINUTE).await;
    app.outside.open_pages.close_all();
    app.mail("zed@shop.example", "Re: Lamps", "Hello?").await;
    app.advance(SECOND);
    let read = id.to_string();
    app.act(&ann, move |tx, cx| open_conversation::mark_read(tx, cx, &read)).await;
    app.pass(MINUTE).await;
    assert!(app.pushed_to(&browser).is_empty() && mails_to(&app, ANN).is_empty());
    app.mail("zed@shop.example", "Re: Lamps", "Hello again").await;
    app.pass(MINUTE).await;
    assert_eq!((app.pushed_to(&browser).len(), mails_to(&app, ANN).len()), (1, 1));
}

async fn of_new_conversations_those_are_told_who_chose_the_inbox(app: TestApp) {
    let (ann, bo) = (app.person("Ann").await, app.person("Bo").await);
    app.person("Cy").await;
    let billing = app.team_inbox("billing@acme.example", "Billing").await;
    choose(&app, &ann, NoticeKind::NewConversation, false, MailNotice::AtOnce).await;
    let kind = NoticeKind::NewConversation;
    let only_here = [OwnNoticeChoice { kind, browser: None, mail: Some(MailNotice::AtOnce) }];
    let not_here = [OwnNoticeChoice { kind, browser: None, mail: Some(MailNotice::No) }];
    let id = billing.id.clone();
    app.act(&bo, move |tx, cx| notifications::choose_inbox_notices(tx, cx, &id, &only_here)).await;
    app.mail("zed@shop.example Zed Shop", "To support", "Hello").await;
    app.deliver(&billing, letter("zed@shop.example", "To billing", "Hello")).await;
    app.pass(MINUTE).await;
    let subjects = |address: &str| {
        let mails = mails_to(&app, address).into_iter();
        let mut found: Vec<&str> = mails
            .map(|mail| if mail.contains("To support") { "support" } else { "billing" })
            .collect();
        found.sort_unstable();
        found
    };
    assert_eq!(subjects(ANN), ["billing", "support"]);
    assert_eq!(subjects("bo@acme.example"), ["billing"]);
    assert!(mails_to(&app, "cy@acme.example").is_empty());
    let id = app.support.id.clone();
    app.act(&ann, move |tx, cx| notifications::choose_inbox_notices(tx, cx, &id, &not_here)).await;
    app.mail("yan@shop.example", "More to support", "Hello").await;
    app.pass(MINUTE).await;
    assert_eq!(mails_to(&app, ANN).len(), 2);
}

async fn automatic_held_removed_and_invented_mail_tells_nobody(app: TestApp) {
    let ann = app.person("Ann").await;
    choose(&app, &ann, NoticeKind::NewConversation, false, MailNotice::AtOnce).await;
    let automatic = mail::Mail {
        kind: AuthorKind::AutoReply,
        ..letter("robot@shop.example", "Out of office", "I am away")
    };
    app.deliver(&app.support, automatic).await;
    let held = mail::Mail {
        warning: held_warning(),
        ..letter("scam@shop.example", "Win a lamp", "Click here")
    };
    let held = app.deliver(&app.support, held).await.conversation;
    app.deliver(&app.sandbox, letter("test@shop.example", "Invented", "Hello")).await;
    let spam = app.mail("spam@shop.example", "Buy", "Now").await.conversation;
    let selected = vec![spam.to_string()];
    app.act(&app.owner, move |tx, cx| {
        let act = triage::TriageAct::Spam;
        let undo = triage::begin_triage(tx, cx, &act)?;
        triage::triage(tx, cx, &undo, &act, &selected)
    })
    .await;
    app.pass(HOUR).await;
    assert_eq!(mails_to(&app, ANN), Vec::<String>::new());
    app.release(&held).await;
    app.pass(MINUTE).await;
    assert_eq!(mails_to(&app, ANN).len(), 1, "what is released is new");
}

async fn a_digest_comes_at_its_time_and_lists_by_inbox(app: TestApp) {
    let ann = app.person("Ann").await;
    let billing = app.team_inbox("billing@acme.example", "Billing").await;
    choose(&app, &ann, NoticeKind::NewConversation, false, MailNotice::Digest).await;
    set_how(&app, &ann, NoticeSettingsInput { zone: "Europe/Berlin".into(), ..how() }).await;
    app.mail("zed@shop.example Zed Shop", "Lamps", "Hello").await;
    app.mail("yan@shop.example", "Chairs", "Hello").await;
    app.deliver(&billing, letter("xen@shop.example", "An invoice", "Hello")).await;
    // It is ten o'clock in Berlin; the digest comes at eight.
    app.pass(22 * HOUR - 1).await;
    assert_eq!(mails_to(&app, ANN), Vec::<String>::new());
    app.pass(1).await;
    let mails = mails_to(&app, ANN);
    assert_eq!(mails.len(), 1);
    let mail = &mails[0];
    assert!(mail.contains("Subject: 3 conversations have news for you"), "{mail}");
    let place = |text: &str| mail.find(text).unwrap_or_else(|| panic!("{text} in {mail}"));
    assert!(place("Billing (1)") < place("New conversation from xen@shop.example: An invoice"));
    assert!(place("An invoice") < place("Support (2)"));
    assert!(place("Support (2)") < place("New conversation from Zed Shop: Lamps"));
    app.pass(2 * DAY).await;
    assert_eq!(mails_to(&app, ANN).len(), 1);
}

async fn quiet_hours_hold_everything_back_until_they_end(app: TestApp) {
    let ann = app.person("Ann").await;
    choose(&app, &ann, NoticeKind::Assigned, true, MailNotice::AtOnce).await;
    let quiet_days = notifications::QUIET_DAYS.map(str::to_owned).to_vec();
    let quiet = NoticeSettingsInput {
        quiet: true,
        quiet_from: "08:00".into(),
        quiet_to: "12:00".into(),
        quiet_days,
        ..how()
    };
    set_how(&app, &ann, quiet).await;
    let browser = app.subscribe(&ann, "one").await;
    for subject in ["Lamps", "Chairs"] {
        let id = app.mail("zed@shop.example", subject, "Hello").await.conversation;
        assign(&app, &id, &ann).await;
    }
    app.pass(3 * HOUR - 1).await;
    assert!(app.pushed_to(&browser).is_empty() && mails_to(&app, ANN).is_empty());
    app.pass(1).await;
    assert_eq!((app.pushed_to(&browser).len(), mails_to(&app, ANN).len()), (1, 1));
    assert!(mails_to(&app, ANN)[0].contains("2 conversations have news for you"));
    let said = app.read_push(&browser);
    assert_eq!(said["title"], "2 conversations have news for you");
    assert_eq!(said["url"], "/inbox");
    let id = app.mail("zed@shop.example", "Tables", "Hello").await.conversation;
    assign(&app, &id, &ann).await;
    app.pass(MINUTE).await;
    assert_eq!(mails_to(&app, ANN).len(), 2, "afterwards it is as always");
}

async fn many_notices_within_a_minute_come_together(app: TestApp) {
    let ann = app.person("Ann").await;
    choose(&app, &ann, NoticeKind::NewConversation, false, MailNotice::AtOnce).await;
    for n in 0..15 {
        app.mail(&format!("zed{n}@shop.example"), &format!("Lamp {n}"), "Hello").await;
    }
    app.pass(MINUTE).await;
    assert_eq!(mails_to(&app, ANN).len(), 10);
    app.pass(10 * MINUTE).await;
    let mails = mails_to(&app, ANN);
    assert_eq!(mails.len(), 11);
    assert!(mails[10].contains("Subject: 5 conversations have news for you"), "{}", mails[10]);
}

async fn mails_about_the_same_conversation_keep_a_distance(app: TestApp) {
    let ann = app.person("Ann").await;
    choose(&app, &ann, NoticeKind::Reply, false, MailNotice::AtOnce).await;
    let id = app.mail("zed@shop.example", "Lamps", "Hello").await.conversation;
    assign(&app, &id, &ann).await;
    for text in ["One", "Two"] {
        app.mail("zed@shop.example", "Re: Lamps", text).await;
    }
    app.pass(MINUTE).await;
    assert_eq!(mails_to(&app, ANN).len(), 1, "two replies, one mail");
    app.mail("zed@shop.example", "Re: Lamps", "Three").await;
    app.pass(8 * MINUTE).await;
    assert_eq!(mails_to(&app, ANN).len(), 1);
    app.pass(3 * MINUTE).await;
    assert_eq!(mails_to(&app, ANN).len(), 2);
}

async fn drafts_failures_and_missed_targets_reach_those_who_care(app: TestApp) {
    let (ann, bo) = (app.person("Ann").await, app.person("Bo").await);
    for person in [&ann, &bo] {
        for kind in [NoticeKind::DraftWaits, NoticeKind::TargetMissed, NoticeKind::MessageFailed] {
            choose(&app, person, kind, false, MailNotice::AtOnce).await;
        }
    }
    let hours = OfficeHoursInput {
        zone: "UTC".into(),
        answer: "30 min".into(),
        ..OfficeHoursInput::default()
    };
    let id = app.support.id.clone();
    app.act(&app.owner, move |tx, cx| office_hours::set_office_hours(tx, cx, &id, &hours)).await;
    let key = app.key("read write draft send").await;
    let first = app.mail("zed@shop.example", "Lamps", "Hello").await.conversation;
    app.draft(&key, &first, "A draft").await;
    app.pass(MINUTE).await;
    let told = |address: &str, what: &str| {
        mails_to(&app, address).iter().filter(|mail| mail.contains(what)).count()
    };
    let draft = "Subject: A draft waits for approval";
    assert_eq!((told(ANN, draft), told("bo@acme.example", draft)), (1, 1));
    app.pass(30 * MINUTE).await;
    let missed = "Subject: A response target was missed";
    assert_eq!((told(ANN, missed), told("bo@acme.example", missed)), (1, 1));
    // Whoever has a conversation is told alone.
    let second = app.mail("yan@shop.example", "Chairs", "Hello").await.conversation;
    assign(&app, &second, &ann).await;
    app.draft(&key, &second, "A draft").await;
    app.pass(MINUTE).await;
    assert_eq!((told(ANN, draft), told("bo@acme.example", draft)), (2, 1));
    app.outside.relay.will_say(&[RelayOutcome::Never("no such person".into())]);
    app.schedule(&key, &second, "A reply").await;
    app.pass(UNDO + MINUTE).await;
    let failed = "Subject: A message could not be delivered";
    assert_eq!((told(ANN, failed), told("bo@acme.example", failed)), (1, 0));
}

async fn whoever_lost_sight_of_an_inbox_is_told_nothing_of_it(app: TestApp) {
    let (ann, bo) = (app.person("Ann").await, app.person("Bo").await);
    let billing = app.team_inbox("billing@acme.example", "Billing").await;
    for person in [&ann, &bo] {
        choose(&app, person, NoticeKind::NewConversation, true, MailNotice::AtOnce).await;
    }
    let (of_ann, of_bo) = (app.subscribe(&ann, "ann").await, app.subscribe(&bo, "bo").await);
    // One waits to be told, one is on its way already.
    app.deliver(&billing, letter("zed@shop.example", "First", "Hello")).await;
    app.outside.push_service.answers_status(&of_bo.endpoint, 503);
    app.outside.relay.will_say(&vec![RelayOutcome::Later("busy".into()); 2]);
    app.pass(6 * SECOND).await;
    app.deliver(&billing, letter("yan@shop.example", "Second", "Hello")).await;
    let (pushes, mails) = (app.pushed_to(&of_bo).len(), mails_to(&app, "bo@acme.example").len());
    assert_eq!((pushes, mails), (1, 1));
    close_inbox(&app, &billing, &ann).await;
    let billing = seen_by_ann(&app, &billing).await;
    app.outside.push_service.answers_status(&of_bo.endpoint, 201);
    app.pass(6 * HOUR).await;
    let now = (app.pushed_to(&of_bo).len(), mails_to(&app, "bo@acme.example").len());
    assert_eq!(now, (pushes, mails));
    assert_eq!(app.pushed_to(&of_ann).len(), 2);
    assert_eq!(mails_to(&app, ANN).len(), 3, "the first was tried twice");
    app.deliver(&billing, letter("xen@shop.example", "Third", "Hello")).await;
    app.pass(HOUR).await;
    assert_eq!(app.pushed_to(&of_bo).len(), pushes);
    assert_eq!(app.pushed_to(&of_ann).len(), 3);
}

async fn mails_name_nothing_of_an_inbox_that_not_everybody_sees(app: TestApp) {
    let ann = app.person("Ann").await;
    let billing = app.team_inbox("billing@acme.example", "Billing").await;
    close_inbox(&app, &billing, &ann).await;
    let billing = seen_by_ann(&app, &billing).await;
    choose(&app, &ann, NoticeKind::NewConversation, true, MailNotice::AtOnce).await;
    let browser = app.subscribe(&ann, "ann").await;
    app.deliver(&billing, letter("zed@shop.example Zed Shop", "Salaries", "Hello")).await;
    app.pass(MINUTE).await;
    let mails = mails_to(&app, ANN);
    assert_eq!(mails.len(), 1, "{mails:?}");
    assert!(mails[0].contains("Subject: New conversation\r\n"), "{}", mails[0]);
    for word in ["Zed", "zed@", "Salaries", "Billing"] {
        assert!(!mails[0].contains(word), "{word}: {}", mails[0]);
    }
    let pushed = app.read_push(&browser);
    assert!(pushed.to_string().contains("Salaries"), "a browser alone reads it: {pushed}");
}

async fn a_digest_of_which_something_is_out_of_sight_names_nothing(app: TestApp) {
    let (ann, bo) = (app.person("Ann").await, app.person("Bo").await);
    let billing = app.team_inbox("billing@acme.example", "Billing").await;
    choose(&app, &ann, NoticeKind::NewConversation, false, MailNotice::Digest).await;
    set_how(&app, &ann, NoticeSettingsInput { zone: "Europe/Berlin".into(), ..how() }).await;
    app.mail("zed@shop.example Zed Shop", "Lamps", "Hello").await;
    app.mail("yan@shop.example", "Chairs", "Hello").await;
    app.deliver(&billing, letter("xen@shop.example", "An invoice", "Hello")).await;
    app.outside.relay.will_say(&vec![RelayOutcome::Later("busy".into()); 2]);
    app.pass(22 * HOUR).await;
    close_inbox(&app, &billing, &bo).await;
    app.pass(10 * MINUTE).await;
    let mails = mails_to(&app, ANN);
    assert_eq!(mails.len(), 3, "{mails:?}");
    assert!(mails[0].contains("Subject: 3 conversations have news for you"), "{}", mails[0]);
    for mail in &mails[1..] {
        assert!(mail.contains("Subject: 2 conversations have news for you"), "{mail}");
        assert!(mail.contains("https://mail.acme.example/inbox"), "{mail}");
        assert!(mail.contains("https://mail.acme.example/settings/notifications"), "{mail}");
        for name in ["Lamps", "Zed Shop", "invoice", "Billing", "Support"] {
            assert!(!mail.contains(name), "{name} in {mail}");
        }
    }
    assert_eq!(app.count("notices").await, 0);
}

async fn a_test_notice_goes_every_way_and_not_too_often(app: TestApp) {
    let ann = app.person("Ann").await;
    let browser = app.subscribe(&ann, "one").await;
    let mut sent = 0;
    for _ in 0..12 {
        if app.act(&ann, notifications::send_test_notice).await {
            sent += 1;
        }
    }
    app.pass(MINUTE).await;
    assert_eq!((sent, mails_to(&app, ANN).len(), app.pushed_to(&browser).len()), (10, 10, 10));
    assert_eq!(app.read_push(&browser)["title"], "Test notice");
    assert!(app.act(&ann, notifications::send_test_notice).await);
}
