//! Who sees an inbox and who sends from it.

use actions::inboxes::inbox_access::{self, InboxAccess};
use actions::inboxes::setup;
use actions::integrations::webhooks;
use actions::people::teams;
use actions::sign_in::sessions;
use actions::workspace::audit_log;
use base::actor::{Actor, Role};
use model::mailboxes::Mailbox;
use model::mailboxes::inbox_access::{AccessEntry, AccessHolder};
use model::webhooks::WebhookFormat;
use serde_json::json;
use testing::{TestApp, TestKey, letter, on_both, user};

on_both!(
    a_team_gives_its_people_an_inbox_and_takes_it_back_at_once,
    an_agent_sees_an_inbox_for_some_only_if_it_is_given,
    whoever_may_not_send_drafts_for_approval,
    closing_and_opening_an_inbox_leaves_everything_as_it_was,
    what_closes_is_gone_from_every_list_of_the_others,
    a_private_inbox_is_nobodys_to_give,
    owners_give_an_inbox_that_they_do_not_see_and_admins_do_not,
    only_who_sees_an_inbox_is_assigned_and_mentioned,
    an_inbox_is_never_left_to_nobody,
    a_webhook_of_an_inbox_for_some_hears_that_inbox_and_the_teams_does_not,
    an_admin_changes_no_team_that_sees_what_they_do_not,
    a_link_made_by_another_opens_no_inbox_for_some,
    whoever_may_not_send_sends_no_link_or_invitation_either,
    mail_on_its_way_while_an_inbox_closes_is_filed_for_those_who_see_it,
    who_took_part_in_an_inbox_that_closes_is_offered_to_nobody_else,
    what_the_other_circle_has_already_is_added_to,
    a_webhook_ends_when_its_maker_no_longer_sees_the_inbox
);

fn sees(holder: AccessHolder) -> AccessEntry {
    AccessEntry { holder, may_see: true, may_send: false }
}

fn person(actor: &Actor) -> AccessHolder {
    AccessHolder::Person(user(actor))
}

fn some(entries: Vec<AccessEntry>) -> InboxAccess {
    InboxAccess { everybody: false, all_send: true, entries }
}

async fn give(app: &TestApp, by: &Actor, inbox: &Mailbox, access: InboxAccess) {
    let id = inbox.id.clone();
    app.act(by, move |tx, cx| inbox_access::set_inbox_access(tx, cx, &id, &access)).await;
}

async fn refused(app: &TestApp, by: &Actor, inbox: &Mailbox, access: InboxAccess) -> String {
    let id = inbox.id.clone();
    let error = app
        .expect_refusal(by, move |tx, cx| inbox_access::set_inbox_access(tx, cx, &id, &access))
        .await;
    error.to_string()
}

/// Somebody as they are at their next request.
async fn again(app: &TestApp, actor: &Actor) -> Actor {
    let (ws, id) = (actor.ws, user(actor));
    let people = app.act(&app.owner, setup::list_people).await;
    let email = people.into_iter().find(|one| one.id == id).unwrap().email.to_string();
    app.app.store.read(move |tx| base::actor::person(tx, ws, &email)).await.unwrap()
}

/// True when somebody can open a conversation at their next request.
async fn opens(app: &TestApp, actor: &Actor, conversation: &str) -> bool {
    let (actor, id) = (again(app, actor).await, conversation.to_owned());
    app.app.act(&actor, move |tx, cx| model::conversations::load(tx, cx.actor, &id)).await.is_ok()
}

async fn a_team_gives_its_people_an_inbox_and_takes_it_back_at_once(app: TestApp) {
    let (ann, bo) = (app.person("Ann").await, app.person("Bo").await);
    let billing = app.team_inbox("billing@acme.example", "Billing").await;
    let mail = app.deliver(&billing, letter("a@x.example", "Invoice", "text")).await;
    let id = mail.conversation.to_string();
    let people = [user(&ann)];
    let team = app.act(&app.owner, move |tx, cx| teams::make_team(tx, cx, "Money", &people)).await;
    give(&app, &app.owner, &billing, some(vec![sees(AccessHolder::Team(team.clone()))])).await;
    assert!(opens(&app, &ann, &id).await);
    assert!(!opens(&app, &bo, &id).await);
    assert!(!opens(&app, &app.owner, &id).await);
    let people = [user(&bo)];
    let changed = team.clone();
    app.act(&app.owner, move |tx, cx| teams::change_team(tx, cx, &changed, "Money", &people)).await;
    assert!(!opens(&app, &ann, &id).await);
    assert!(opens(&app, &bo, &id).await);
    let gone =
        app.expect_refusal(&app.owner, move |tx, cx| teams::remove_team(tx, cx, &team)).await;
    assert!(gone.to_string().contains("the only one that sees an inbox"), "{gone}");
}

async fn an_agent_sees_an_inbox_for_some_only_if_it_is_given(app: TestApp) {
    let key = app.key("read write").await;
    let billing = app.team_inbox("billing@acme.example", "Billing").await;
    let mail = app.deliver(&billing, letter("a@x.example", "Invoice", "text")).await;
    let owner = app.owner.clone();
    give(&app, &owner, &billing, some(vec![sees(person(&owner))])).await;
    assert_eq!(app.subjects(&key, "").await, Vec::<String>::new());
    app.get(&key, &format!("/conversations/{}", mail.conversation)).await.is(404);
    let agent = AccessHolder::Agent(key.id.clone());
    give(&app, &owner, &billing, some(vec![sees(person(&owner)), sees(agent)])).await;
    assert_eq!(app.subjects(&key, "").await, ["Invoice"]);
    app.get(&key, &format!("/conversations/{}", mail.conversation)).await.is(200);
}

async fn whoever_may_not_send_drafts_for_approval(app: TestApp) {
    let (reads, sends) = (app.key("read draft send").await, app.key("read draft send").await);
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    let entry = AccessEntry {
        holder: AccessHolder::Agent(sends.id.clone()),
        may_see: false,
        may_send: true,
    };
    let access = InboxAccess { everybody: true, all_send: false, entries: vec![entry] };
    let support = app.support.clone();
    give(&app, &app.owner, &support, access).await;
    app.draft(&reads, &mail.conversation, "A draft").await;
    let body = json!({ "body": "At once", "send": true });
    let answer = app.on(&reads, &mail.conversation, "replies", body.clone()).await.is(403);
    assert!(answer.error().contains("not send from it"), "{}", answer.error());
    app.on(&sends, &mail.conversation, "replies", body).await.is(201);
}

async fn closing_and_opening_an_inbox_leaves_everything_as_it_was(app: TestApp) {
    let key = app.key("read write draft send").await;
    let billing = app.team_inbox("billing@acme.example", "Billing").await;
    fill(&app, &key, &billing).await;
    let paths = ["/conversations", "/conversations?q=invoice", "/events", "/documents", "/tags"];
    let mut before = Vec::new();
    app.settle().await;
    for path in paths {
        before.push(app.get(&key, path).await.is(200).json());
    }
    let owner = app.owner.clone();
    give(&app, &owner, &billing, some(vec![sees(person(&owner))])).await;
    let closed = app.count("conversations WHERE circle = mailbox").await;
    assert_eq!(closed, 2);
    let open = InboxAccess { everybody: true, all_send: true, entries: Vec::new() };
    give(&app, &owner, &billing, open).await;
    app.settle().await;
    for (path, before) in paths.iter().zip(before) {
        assert_eq!(app.get(&key, path).await.is(200).json(), before, "{path}");
    }
    for table in ["conversations", "documents", "events", "contacts", "counters", "report_facts"] {
        let left = format!("{table} WHERE circle LIKE 'mbx%'");
        let rest = if table == "counters" { format!("{left} AND n <> 0") } else { left };
        assert_eq!(app.count(&rest).await, 0, "{table}");
    }
}

/// Two conversations with a tag, a document and a reply, and one of another inbox.
async fn fill(app: &TestApp, key: &TestKey, inbox: &Mailbox) {
    let mut first = letter("a@x.example", "Invoice one", "the invoice");
    first.attachments = vec![testing::file("paper.txt", b"an invoice")];
    let first = app.deliver(inbox, first).await;
    let second = app.deliver(inbox, letter("b@y.example", "Invoice two", "the invoice")).await;
    app.mail("c@z.example", "Elsewhere", "nothing of that").await;
    app.on(key, &first.conversation, "tags", json!({ "add": ["money"] })).await.is(200);
    app.on(key, &second.conversation, "assign", json!({ "to": "me" })).await.is(200);
    app.on(key, &second.conversation, "assign", json!({ "to": "none" })).await.is(200);
}

async fn what_closes_is_gone_from_every_list_of_the_others(app: TestApp) {
    let key = app.key("read write draft send").await;
    let billing = app.team_inbox("billing@acme.example", "Billing").await;
    fill(&app, &key, &billing).await;
    let owner = app.owner.clone();
    give(&app, &owner, &billing, some(vec![sees(person(&owner))])).await;
    assert_eq!(app.subjects(&key, "").await, ["Elsewhere"]);
    assert_eq!(app.search_subjects(&key, "invoice").await, Vec::<String>::new());
    assert_eq!(app.get(&key, "/documents").await.is(200).json(), json!([]));
    let events = app.get(&key, "/events").await.is(200).json().to_string();
    assert!(!events.contains("Invoice") && !events.contains("x.example"), "{events}");
    let tags = app.get(&key, "/tags").await.is(200).json();
    assert_eq!(tags[0]["count"], json!(0), "{tags}");
    let mailboxes = app.get(&key, "/mailboxes").await.is(200).json().to_string();
    assert!(!mailboxes.contains("billing@"), "{mailboxes}");
}

async fn a_private_inbox_is_nobodys_to_give(app: TestApp) {
    let ann = app.person_with("Ann", Role::Admin).await;
    let hers = app.private_inbox(&ann).await;
    let open = InboxAccess { everybody: true, all_send: true, entries: Vec::new() };
    let owner = app.owner.clone();
    assert_eq!(
        refused(&app, &owner, &hers, open.clone()).await,
        "There is no such inbox, or you cannot see it."
    );
    assert!(refused(&app, &ann, &hers, open).await.contains("stays with its person"));
}

async fn owners_give_an_inbox_that_they_do_not_see_and_admins_do_not(app: TestApp) {
    let ann = app.person_with("Ann", Role::Admin).await;
    let bo = app.person_with("Bo", Role::Admin).await;
    let billing = app.team_inbox("billing@acme.example", "Billing").await;
    give(&app, &app.owner, &billing, some(vec![sees(person(&ann))])).await;
    let wanted = some(vec![sees(person(&ann)), sees(person(&bo))]);
    let no = refused(&app, &bo, &billing, wanted.clone()).await;
    assert_eq!(no, "There is no such inbox, or you cannot see it.");
    let owner = again(&app, &app.owner).await;
    give(&app, &owner, &billing, wanted).await;
    let log = app.act(&again(&app, &ann).await, |tx, cx| audit_log::list_audit(tx, cx, None)).await;
    let newest = &log[0];
    let detail = "seen by Ann Teammate, Bo Teammate; sent by whoever sees it; changed from outside";
    assert_eq!(newest.detail, detail);
    let log = app.act(&owner, |tx, cx| audit_log::list_audit(tx, cx, None)).await;
    assert_eq!(log[0].id, newest.id);
}

async fn only_who_sees_an_inbox_is_assigned_and_mentioned(app: TestApp) {
    let (ann, bo) = (app.person("Ann").await, app.person("Bo").await);
    let key = app.key("read write").await;
    let billing = app.team_inbox("billing@acme.example", "Billing").await;
    let mail = app.deliver(&billing, letter("a@x.example", "Invoice", "text")).await;
    let to = |person: &Actor| json!({ "to": format!("user:{}", user(person)) });
    app.on(&key, &mail.conversation, "assign", to(&bo)).await.is(200);
    let agent = AccessHolder::Agent(key.id.clone());
    give(&app, &app.owner, &billing, some(vec![sees(person(&ann)), sees(agent)])).await;
    let read = app.read(&key, &mail.conversation).await;
    assert!(read["assignee"].is_null(), "{read}");
    app.on(&key, &mail.conversation, "assign", to(&bo)).await.is(400);
    app.on(&key, &mail.conversation, "assign", to(&ann)).await.is(200);
    let note = json!({ "body": "@Ann and @Bo, look" });
    app.on(&key, &mail.conversation, "notes", note).await.is(201);
    let told = format!("mentions WHERE person = '{}'", user(&bo));
    assert_eq!(app.count(&told).await, 0);
    let told = format!("mentions WHERE person = '{}'", user(&ann));
    assert_eq!(app.count(&told).await, 1);
}

async fn an_inbox_is_never_left_to_nobody(app: TestApp) {
    let key = app.key("read").await;
    let billing = app.team_inbox("billing@acme.example", "Billing").await;
    let owner = app.owner.clone();
    let no = refused(&app, &owner, &billing, some(Vec::new())).await;
    assert!(no.contains("at least one person or team"), "{no}");
    let agent = AccessHolder::Agent(key.id.clone());
    let no = refused(&app, &owner, &billing, some(vec![sees(agent)])).await;
    assert!(no.contains("at least one person or team"), "{no}");
    let nobody_sends = InboxAccess { all_send: false, ..some(vec![sees(person(&owner))]) };
    let no = refused(&app, &owner, &billing, nobody_sends).await;
    assert!(no.contains("at least one of them who sends"), "{no}");
}

async fn a_webhook_of_an_inbox_for_some_hears_that_inbox_and_the_teams_does_not(app: TestApp) {
    let owner = app.owner.clone();
    let billing = app.team_inbox("billing@acme.example", "Billing").await;
    let support = app.support.clone();
    give(&app, &owner, &billing, some(vec![sees(person(&owner))])).await;
    let owner = again(&app, &owner).await;
    let team = app.webhook(&owner, false, true).await;
    let id = billing.id.clone();
    let own = app
        .act(&owner, move |tx, cx| {
            let url = webhooks::check_url("https://billing.example/hook", false)?;
            webhooks::add_inbox_webhook(tx, cx, (&url, WebhookFormat::Mailroom), &id)
        })
        .await;
    let closed = app.act(&owner, {
        let id = billing.id.clone();
        move |tx, cx| model::mailboxes::seen_by(tx, cx.actor, &id)
    });
    let closed = closed.await.unwrap();
    app.deliver(&closed, letter("a@x.example", "Invoice", "text")).await;
    let heard = |hook: &base::ids::WebhookId| format!("deliveries WHERE webhook = '{hook}'");
    let (theirs, teams) = (app.count(&heard(&own.id)).await, app.count(&heard(&team)).await);
    assert!(theirs > 0 && teams == 0, "{theirs} {teams}");
    app.deliver(&support, letter("b@x.example", "Lamp", "text")).await;
    assert_eq!(app.count(&heard(&own.id)).await, theirs);
    assert!(app.count(&heard(&team)).await > 0);
}

async fn an_admin_changes_no_team_that_sees_what_they_do_not(app: TestApp) {
    let (ann, bo) = (app.person("Ann").await, app.person_with("Bo", Role::Admin).await);
    let billing = app.team_inbox("billing@acme.example", "Billing").await;
    let people = [user(&ann)];
    let team = app.act(&bo, move |tx, cx| teams::make_team(tx, cx, "Money", &people)).await;
    give(&app, &app.owner, &billing, some(vec![sees(AccessHolder::Team(team.clone()))])).await;
    let (people, changed) = ([user(&ann), user(&bo)], team.clone());
    let no = app
        .expect_refusal(&bo, move |tx, cx| teams::change_team(tx, cx, &changed, "Money", &people))
        .await;
    assert!(no.to_string().contains("an inbox that you do not see"), "{no}");
    let no = app.expect_refusal(&bo, move |tx, cx| teams::remove_team(tx, cx, &team)).await;
    assert!(no.to_string().contains("an inbox that you do not see"), "{no}");
}

async fn a_link_made_by_another_opens_no_inbox_for_some(app: TestApp) {
    let (ann, bo) = (app.person("Ann").await, app.person("Bo").await);
    let billing = app.team_inbox("billing@acme.example", "Billing").await;
    give(&app, &app.owner, &billing, some(vec![sees(person(&ann))])).await;
    for (who, is_trusted) in [(&ann, false), (&bo, true)] {
        let id = user(who);
        let link =
            app.act(&app.owner, move |tx, cx| sessions::make_sign_in_link(tx, cx, &id)).await;
        let token = sessions::TokenHash::of(link.rsplit('/').next().unwrap()).unwrap();
        let used = app
            .act(&app.owner, move |tx, cx| sessions::use_sign_in_link(tx, cx.now, &token, None))
            .await;
        assert_eq!(used.opens_private, is_trusted);
    }
}

async fn whoever_may_not_send_sends_no_link_or_invitation_either(app: TestApp) {
    let ann = app.person("Ann").await;
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    let entry = AccessEntry { may_see: false, may_send: true, holder: person(&app.owner) };
    let access = InboxAccess { everybody: true, all_send: false, entries: vec![entry] };
    let support = app.support.clone();
    give(&app, &app.owner, &support, access).await;
    for (who, sends) in [(&ann, false), (&app.owner, true), (&app.service(&support), true)] {
        let id = mail.conversation.clone();
        let asked = app.app.act(who, move |tx, cx| {
            model::mailboxes::inbox_access::must_send_in(tx, cx.actor, &id)
        });
        assert_eq!(asked.await.is_ok(), sends);
    }
}

async fn mail_on_its_way_while_an_inbox_closes_is_filed_for_those_who_see_it(app: TestApp) {
    use inbound::RecipientInbox;
    use inbound::history::{ImportTarget, ImportedMail, import};
    let owner = app.owner.clone();
    let before = app.team_inbox("billing@acme.example", "Billing").await;
    give(&app, &owner, &before, some(vec![sees(person(&owner))])).await;
    let inbox = RecipientInbox { ws: owner.ws, workspace: owner.workspace, mailbox: before };
    let target = ImportTarget { inbox, own: Default::default() };
    let raw = "From: a@x.example\r\nTo: billing@acme.example\r\nSubject: Invoice\r\n\
               Message-ID: <one@x.example>\r\n\r\nThe invoice\r\n";
    let mails = vec![ImportedMail { raw: raw.into(), taken_at: None }];
    import(&app.app, &target, mails).await.unwrap();
    assert_eq!(app.count("conversations WHERE circle = mailbox").await, 1);
    assert_eq!(app.count("conversations WHERE circle = 'team'").await, 0);
}

async fn who_took_part_in_an_inbox_that_closes_is_offered_to_nobody_else(app: TestApp) {
    let owner = app.owner.clone();
    let billing = app.team_inbox("billing@acme.example", "Billing").await;
    let mail = app.deliver(&billing, letter("a@x.example", "Invoice", "text")).await;
    let elsewhere = app.mail("b@x.example", "Lamp", "text").await;
    let took_part = [
        (&mail.conversation, "secret@x.example"),
        (&mail.conversation, "known@x.example"),
        (&elsewhere.conversation, "known@x.example"),
    ];
    for (conversation, email) in took_part {
        let values = format!("{}, '{conversation}', '{email}'", owner.ws);
        app.exec(&format!("INSERT INTO participants (ws, conversation, email) VALUES ({values})"))
            .await;
    }
    for email in ["secret@x.example", "known@x.example"] {
        let values = format!("{}, 'team', '{email}', '', 1", owner.ws);
        let columns = "ws, circle, email, name, last_at";
        app.exec(&format!("INSERT INTO contacts ({columns}) VALUES ({values})")).await;
    }
    give(&app, &owner, &billing, some(vec![sees(person(&owner))])).await;
    for (email, of_team) in [("secret@x.example", 0), ("known@x.example", 1)] {
        let left = format!("contacts WHERE circle = 'team' AND email = '{email}'");
        assert_eq!(app.count(&left).await, of_team, "{email}");
        let moved = format!("contacts WHERE circle = '{}' AND email = '{email}'", billing.id);
        assert_eq!(app.count(&moved).await, 1, "{email}");
    }
}

async fn what_the_other_circle_has_already_is_added_to(app: TestApp) {
    let owner = app.owner.clone();
    let billing = app.team_inbox("billing@acme.example", "Billing").await;
    app.deliver(&billing, letter("a@x.example", "Invoice", "text")).await;
    let (ws, id) = (owner.ws, &billing.id);
    for circle in ["team", id.as_str()] {
        app.exec(&format!(
            "INSERT INTO report_days (ws, circle, measure, day, mailbox, name, n)
             VALUES ({ws}, '{circle}', 'begun', 1, '{id}', 'x', 7)"
        ))
        .await;
    }
    for circle in ["team", id.as_str()] {
        app.exec(&format!(
            "INSERT INTO report_quarter_hours (
                 ws, circle, measure, day, quarter_hour, mailbox, name, n
             ) VALUES ({ws}, '{circle}', 'begun', 1, 48, '{id}', 'x', 7)"
        ))
        .await;
    }
    for shard in 0..8 {
        app.exec(&format!(
            "INSERT INTO counters (ws, circle, what, shard, n)
             VALUES ({ws}, '{id}', 'open:{id}', {shard}, 0)"
        ))
        .await;
    }
    give(&app, &owner, &billing, some(vec![sees(person(&owner))])).await;
    let days = format!("report_days WHERE circle = '{id}' AND name = 'x' AND n = 14");
    assert_eq!(app.count(&days).await, 1);
    let hours = format!("report_quarter_hours WHERE circle = '{id}' AND name = 'x' AND n = 14");
    assert_eq!(app.count(&hours).await, 1);
    let open = format!("counters WHERE circle = '{id}' AND what = 'open:{id}' AND n = 1");
    assert_eq!(app.count(&open).await, 1);
}

async fn a_webhook_ends_when_its_maker_no_longer_sees_the_inbox(app: TestApp) {
    let bo = app.person_with("Bo", Role::Admin).await;
    let owner = app.owner.clone();
    let billing = app.team_inbox("billing@acme.example", "Billing").await;
    let both = some(vec![sees(person(&owner)), sees(person(&bo))]);
    give(&app, &owner, &billing, both.clone()).await;
    let id = billing.id.clone();
    app.act(&again(&app, &bo).await, move |tx, cx| {
        let url = webhooks::check_url("https://billing.example/hook", false)?;
        webhooks::add_inbox_webhook(tx, cx, (&url, WebhookFormat::Mailroom), &id)
    })
    .await;
    let hooks = format!("webhooks WHERE circle = '{}'", billing.id);
    give(&app, &again(&app, &owner).await, &billing, both).await;
    assert_eq!(app.count(&hooks).await, 1);
    let alone = some(vec![sees(person(&owner))]);
    give(&app, &again(&app, &owner).await, &billing, alone).await;
    assert_eq!(app.count(&hooks).await, 0);
}
