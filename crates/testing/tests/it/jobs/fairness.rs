//! One workspace with much to send keeps no other waiting.

use actions::inboxes::outgoing_servers::{NewOutgoingServer, ServerScope, set_outgoing_server};
use actions::inboxes::setup::add_mailbox;
use base::actor::{Actor, Circle};
use model::mailboxes::outgoing_servers::SubmissionSecurity;
use model::mailboxes::{self, Mailbox};
use testing::*;

on_both!(
    a_backlog_hides_nobody_behind_hundreds_with_something_planned,
    whoever_sends_the_least_gets_the_slot_that_becomes_free,
    servers_of_workspaces_that_hang_leave_slots_to_the_relay,
    servers_that_are_known_to_fail_leave_slots_to_those_that_work,
    a_server_for_all_inboxes_that_hangs_gets_four_messages
);

/// More than a round looks at before it asks who has something planned.
const BACKLOG: usize = 300;
/// More workspaces than two rounds meet.
const PLANNED: i64 = 450;
/// What one workspace may send at once.
const EACH: usize = 8;

/// A workspace with its first inbox.
struct Tenant {
    owner: Actor,
    key: TestKey,
    inbox: Mailbox,
}

impl Tenant {
    async fn new(app: &TestApp, name: &str) -> Tenant {
        let owner = app.other_workspace(name).await;
        let key = app.key_of(&owner, "Robo", "send", true).await;
        let inbox = Tenant::find_inbox(app, &owner, &inbox_address("support", name)).await;
        Tenant { owner, key, inbox }
    }

    async fn find_inbox(app: &TestApp, owner: &Actor, address: &str) -> Mailbox {
        let seen = app.act(owner, |tx, cx| mailboxes::all_seen_by(tx, cx.actor)).await;
        seen.into_iter().find(|inbox| inbox.address == address).expect("the inbox")
    }

    /// An inbox more, with a server of its own.
    async fn inbox_with_server(&self, app: &TestApp, address: &str) -> Mailbox {
        let added = address.to_owned();
        app.act(&self.owner, move |tx, cx| {
            add_mailbox(tx, cx, &added, "More", None)?;
            Ok(())
        })
        .await;
        let inbox = Tenant::find_inbox(app, &self.owner, address).await;
        let (scope, server) = (ServerScope::Inbox(inbox.id.clone()), own_server());
        app.act(&self.owner, move |tx, cx| set_outgoing_server(tx, cx, &scope, &server)).await;
        inbox
    }

    /// A reply to a mail that came to one of its inboxes.
    async fn schedule(&self, app: &TestApp, inbox: &Mailbox, to: &str) {
        let service = Actor::system(self.owner.ws, self.owner.workspace.clone(), Circle::team());
        let incoming = app.incoming(inbox, letter(to, &format!("Lamp of {to}"), "Where?"));
        let inbox = inbox.clone();
        let filed = app
            .act(&service, move |tx, cx| inbound::receive::receive(tx, cx, &inbox, &incoming))
            .await;
        app.schedule(&self.key, &filed.conversation, "It left.").await;
    }
}

fn inbox_address(who: &str, workspace: &str) -> String {
    format!("{who}@{}.example", workspace.to_lowercase())
}

fn customer(who: &str, workspace: &str) -> String {
    format!("{who}@{}.customers.example", workspace.to_lowercase())
}

fn own_server() -> NewOutgoingServer {
    NewOutgoingServer {
        host: "own.example".into(),
        port: 465,
        security: SubmissionSecurity::Tls,
        username: "desk".into(),
        password: "open sesame".into(),
    }
}

/// Who has been written to, in order.
fn written_to(app: &TestApp) -> Vec<String> {
    app.outside.relay.attempts().iter().map(|mail| mail.recipients[0].clone()).collect()
}

/// Messages of so many workspaces, none of which is due for a long time.
async fn plan_far_ahead(app: &TestApp) {
    let far = app.now() + 100 * DAY;
    app.act(&app.owner, move |tx, _| {
        for number in 0..PLANNED {
            tx.exec(
                "INSERT INTO messages (
                    ws, id, conversation, mailbox, serial, at, direction, status, header_id,
                    header_key, answers, from_email, to_list, cc_list, subject, text, attachments,
                    revision, edited, sends_at
                 ) VALUES (
                    ?1, ?2, 'cnv_x', 'mbx_x', 1, 1, 'outbound', 'scheduled', 'x',
                    'x', '[]', 'x@x.example', '[]', '[]', 'x', 'x', '[]',
                    1, FALSE, ?3
                 )",
                &[&(1_000 + number), &format!("msg_{number}"), &far],
            )?;
        }
        Ok(())
    })
    .await;
}

async fn a_backlog_hides_nobody_behind_hundreds_with_something_planned(app: TestApp) {
    let ours = app.key("send").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    for number in 0..BACKLOG {
        app.schedule(&ours, &mail.conversation, &format!("Number {number}")).await;
    }
    plan_far_ahead(&app).await;
    // The numbers of deleted workspaces are not used again: the next one is the last of all.
    app.exec(
        "INSERT INTO deleted_workspaces (ws, id, deleted_at, deleted_by, conversations, messages)
         VALUES (9999, 'wsp_gone', 1, 'x', 0, 0)",
    )
    .await;
    let last = Tenant::new(&app, "Globex").await;
    assert!(last.owner.ws > 9_999, "{}", last.owner.ws);
    last.schedule(&app, &last.inbox, "w@x.example").await;
    app.advance(UNDO);
    app.work().await;
    let written = written_to(&app);
    assert_eq!(written.len(), BACKLOG + 1);
    let place = written.iter().position(|to| to == "w@x.example").expect("it left");
    assert!(place <= 2 * EACH, "{place} messages of another workspace came first");
}

async fn whoever_sends_the_least_gets_the_slot_that_becomes_free(app: TestApp) {
    let mut hanging = Vec::new();
    for name in ["Globex", "Initech", "Hooli", "Umbrella"] {
        let busy = Tenant::new(&app, name).await;
        for number in 0..=EACH {
            let to = customer(&format!("h{number}"), name);
            // Each falls due after the one before.
            app.advance(1);
            busy.schedule(&app, &busy.inbox, &to).await;
            hanging.push(to);
        }
    }
    let small = Tenant::new(&app, "Small").await;
    app.advance(1);
    small.schedule(&app, &small.inbox, "w@x.example").await;
    // The first lets go of its slot; all others keep theirs for good.
    let kept: Vec<&str> = hanging[1..].iter().map(String::as_str).collect();
    app.outside.relay.hangs_for(&kept);
    app.advance(UNDO);
    let _working = app.keep_working();
    eventually(async || written_to(&app).contains(&"w@x.example".to_owned())).await;
}

/// Four workspaces have four inboxes each with servers of their own, and so many messages wait in each;
/// returns to whom.
async fn inboxes_with_servers(app: &TestApp, messages: usize) -> Vec<String> {
    let mut recipients = Vec::new();
    for name in ["Globex", "Initech", "Hooli", "Umbrella"] {
        let tenant = Tenant::new(app, name).await;
        for number in 0..4 {
            let address = inbox_address(&format!("more{number}"), name);
            let inbox = tenant.inbox_with_server(app, &address).await;
            for message in 0..messages {
                let to = customer(&format!("h{number}{message}"), name);
                tenant.schedule(app, &inbox, &to).await;
                recipients.push(to);
            }
        }
    }
    recipients
}

/// The messages that were given to servers that hang.
fn hanging_count(app: &TestApp) -> usize {
    written_to(app).iter().filter(|to| to.starts_with('h')).count()
}

async fn servers_of_workspaces_that_hang_leave_slots_to_the_relay(app: TestApp) {
    let hanging = inboxes_with_servers(&app, 2).await;
    let key = app.key("send").await;
    let mail = app.mail("w@x.example", "Lamp", "Where is it?").await;
    app.advance(1_000);
    app.schedule(&key, &mail.conversation, "It left.").await;
    let names: Vec<&str> = hanging.iter().map(String::as_str).collect();
    app.outside.relay.hangs_for(&names);
    app.advance(UNDO);
    let _working = app.keep_working();
    eventually(async || written_to(&app).contains(&"w@x.example".to_owned())).await;
    let given = hanging_count(&app);
    assert!(given <= 16, "{given} of 32 slots are at servers that hang");
}

async fn servers_that_are_known_to_fail_leave_slots_to_those_that_work(app: TestApp) {
    let hanging = inboxes_with_servers(&app, 1).await;
    app.exec("UPDATE outgoing_servers SET failing_since = 1").await;
    let small = Tenant::new(&app, "Small").await;
    let inbox = small.inbox_with_server(&app, &inbox_address("more", "Small")).await;
    // It is the last that falls due.
    app.advance(1);
    small.schedule(&app, &inbox, "w@x.example").await;
    let names: Vec<&str> = hanging.iter().map(String::as_str).collect();
    app.outside.relay.hangs_for(&names);
    app.advance(UNDO);
    let _working = app.keep_working();
    eventually(async || written_to(&app).contains(&"w@x.example".to_owned())).await;
    let given = hanging_count(&app);
    assert!(given <= 8, "{given} of 16 slots are at servers that fail");
}

async fn a_server_for_all_inboxes_that_hangs_gets_four_messages(app: TestApp) {
    let busy = Tenant::new(&app, "Globex").await;
    let server = own_server();
    app.act(&busy.owner, move |tx, cx| set_outgoing_server(tx, cx, &ServerScope::All, &server))
        .await;
    let hanging: Vec<String> =
        (0..12).map(|number| customer(&format!("h{number}"), "Globex")).collect();
    for to in &hanging {
        busy.schedule(&app, &busy.inbox, to).await;
    }
    let small = Tenant::new(&app, "Small").await;
    app.advance(1);
    small.schedule(&app, &small.inbox, "w@x.example").await;
    let names: Vec<&str> = hanging.iter().map(String::as_str).collect();
    app.outside.relay.hangs_for(&names);
    app.advance(UNDO);
    let _working = app.keep_working();
    eventually(async || written_to(&app).contains(&"w@x.example".to_owned())).await;
    app.outside.relay.was_given(5).await;
    assert_eq!(hanging_count(&app), 4);
}
