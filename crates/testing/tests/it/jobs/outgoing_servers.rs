//! Mail leaves through the server of its inbox, and one server holds up no other.

use actions::inboxes::outgoing_servers::{
    self, NewOutgoingServer, OutgoingServerListing, ServerScope, list_outgoing_servers,
    remove_outgoing_server, set_outgoing_server,
};
use actions::people::removal;
use actions::sign_in::sessions;
use actions::workspace::audit_log;
use base::actor::Role;
use jobs::RelayOutcome;
use model::mailboxes::Mailbox;
use model::mailboxes::outgoing_servers::{SubmissionLogin, SubmissionSecurity};
use testing::*;

on_both!(
    an_inbox_sends_through_its_own_server_and_the_others_through_that_of_all,
    a_server_that_hangs_holds_up_its_own_inbox_only,
    a_failing_server_is_told_and_gets_one_message_at_a_time,
    after_an_hour_of_failures_the_owners_are_told_once_and_again_when_it_works,
    mail_that_waited_leaves_at_once_through_a_new_server,
    a_password_is_kept_for_the_same_host_and_user_alone,
    sign_in_links_leave_only_through_a_server_that_an_owner_set,
    a_server_is_set_by_owners_and_admins_for_inboxes_that_they_see,
    a_server_goes_with_the_person_whose_private_inbox_has_it
);

fn server(host: &str) -> NewOutgoingServer {
    NewOutgoingServer {
        host: host.into(),
        port: 465,
        security: SubmissionSecurity::Tls,
        username: "desk".into(),
        password: "open sesame".into(),
    }
}

fn desk() -> SubmissionLogin {
    SubmissionLogin::Password { username: "desk".into(), password: "open sesame".into() }
}

async fn set(app: &TestApp, scope: &ServerScope, new: NewOutgoingServer) {
    let scope = scope.clone();
    app.act(&app.owner, move |tx, cx| set_outgoing_server(tx, cx, &scope, &new)).await;
}

fn of(inbox: &Mailbox) -> ServerScope {
    ServerScope::Inbox(inbox.id.clone())
}

async fn servers(app: &TestApp) -> Vec<OutgoingServerListing> {
    app.act(&app.owner, list_outgoing_servers).await
}

/// The hosts that mail was given to, with its first recipient.
fn given(app: &TestApp) -> Vec<(String, String)> {
    let host = |server: &Option<std::sync::Arc<_>>| match server {
        Some(server) => {
            let server: &model::mailboxes::outgoing_servers::SubmissionServer = server;
            server.host.clone()
        }
        None => "relay".to_owned(),
    };
    let attempts = app.outside.relay.attempts();
    attempts.iter().map(|mail| (host(&mail.server), mail.recipients[0].clone())).collect()
}

async fn message_in(app: &TestApp, key: &TestKey, inbox: &Mailbox, to: &str) -> String {
    let id = app.deliver(inbox, letter(to, &format!("Lamp of {to}"), "Where?")).await.conversation;
    app.schedule(key, &id, "It left.").await
}

async fn an_inbox_sends_through_its_own_server_and_the_others_through_that_of_all(app: TestApp) {
    let key = app.key("send").await;
    let sales = app.team_inbox("sales@acme.example", "Sales").await;
    message_in(&app, &key, &app.support, "a@x.example").await;
    app.pass(UNDO).await;
    set(&app, &ServerScope::All, server("all.example")).await;
    set(&app, &of(&sales), server("sales.example")).await;
    message_in(&app, &key, &app.support, "b@x.example").await;
    message_in(&app, &key, &sales, "c@x.example").await;
    app.pass(UNDO).await;
    let mut given = given(&app);
    given.sort();
    let expected = [("all.example", "b"), ("relay", "a"), ("sales.example", "c")];
    let expected = expected.map(|(host, to)| (host.to_owned(), format!("{to}@x.example")));
    assert_eq!(given, expected);
    let attempts = app.outside.relay.attempts();
    let own = attempts.iter().find_map(|mail| mail.server.as_ref()).unwrap();
    assert_eq!(own.login, Some(desk()));
    assert!(!format!("{own:?}").contains("sesame"));
    assert!(servers(&app).await.iter().all(|server| server.last_sent_at.is_some()));
}

async fn a_server_that_hangs_holds_up_its_own_inbox_only(app: TestApp) {
    let key = app.key("send").await;
    let sales = app.team_inbox("sales@acme.example", "Sales").await;
    set(&app, &of(&sales), server("sales.example")).await;
    let hanging: Vec<String> = (0..12).map(|number| format!("h{number}@x.example")).collect();
    for to in &hanging {
        message_in(&app, &key, &sales, to).await;
    }
    // The messages of the inbox that works are the last that fall due.
    app.advance(1_000);
    for number in 0..4 {
        message_in(&app, &key, &app.support, &format!("w{number}@x.example")).await;
    }
    let names: Vec<&str> = hanging.iter().map(String::as_str).collect();
    app.outside.relay.hangs_for(&names);
    app.advance(UNDO);
    let _working = app.keep_working();
    app.outside.relay.was_given(6).await;
    let count = |first: char| given(&app).iter().filter(|(_, to)| to.starts_with(first)).count();
    assert_eq!(count('w'), 4, "the other inbox is not held up");
    assert_eq!(count('h'), 2, "as many as one server of an inbox may have");
}

async fn a_failing_server_is_told_and_gets_one_message_at_a_time(app: TestApp) {
    let key = app.key("send").await;
    set(&app, &of(&app.support), server("own.example")).await;
    message_in(&app, &key, &app.support, "a@x.example").await;
    app.outside.relay.will_say(&[RelayOutcome::Unavailable("relay: no connection".into())]);
    app.pass(UNDO).await;
    let listed = servers(&app).await.remove(0);
    assert!(listed.failing_since.is_some());
    assert_eq!(listed.last_error.as_deref(), Some("relay: no connection"));
    app.pass(MINUTE).await;
    let listed = servers(&app).await.remove(0);
    assert!(listed.failing_since.is_none() && listed.last_error.is_none());
    assert!(listed.last_sent_at.is_some());
}

async fn mail_that_waited_leaves_at_once_through_a_new_server(app: TestApp) {
    let key = app.key("send").await;
    message_in(&app, &key, &app.support, "a@x.example").await;
    app.outside.relay.will_say(&vec![RelayOutcome::Unavailable("nothing".into()); 4]);
    app.pass(UNDO + 30 * MINUTE).await;
    assert_eq!(given(&app).len(), 4);
    set(&app, &of(&app.support), server("own.example")).await;
    app.work().await;
    assert_eq!(given(&app).last().unwrap().0, "own.example");
    assert_eq!(given(&app).len(), 5);
}

async fn a_password_is_kept_for_the_same_host_and_user_alone(app: TestApp) {
    let scope = of(&app.support);
    set(&app, &scope, server("own.example")).await;
    let without = || NewOutgoingServer { password: String::new(), ..server("own.example") };
    set(&app, &scope, NewOutgoingServer { port: 587, ..without() }).await;
    let proposed = {
        let (scope, new) = (scope.clone(), without());
        app.act(&app.owner, move |tx, cx| outgoing_servers::proposed_server(tx, cx, &scope, &new))
            .await
    };
    assert_eq!(proposed.login, Some(desk()));
    for other in [
        NewOutgoingServer { host: "evil.example".into(), ..without() },
        NewOutgoingServer { username: "other".into(), ..without() },
        NewOutgoingServer { security: SubmissionSecurity::Plain, ..server("own.example") },
        NewOutgoingServer { host: "own.example\r\n".into(), ..server("") },
        NewOutgoingServer { port: 0, ..server("own.example") },
    ] {
        let scope = scope.clone();
        let refused = app
            .expect_refusal(&app.owner, move |tx, cx| set_outgoing_server(tx, cx, &scope, &other));
        assert!(matches!(refused.await, base::error::Error::Invalid(_)));
    }
}

async fn sign_in_links_leave_only_through_a_server_that_an_owner_set(app: TestApp) {
    let (ann, admin) = (app.person("Ann").await, app.person_with("Ada", Role::Admin).await);
    let invite = |app: &TestApp| {
        let id = user(&ann);
        let operator = app.service(&app.support);
        let app = app.app.clone();
        async move { app.act(&operator, move |tx, cx| sessions::invite(tx, cx, &id, false)).await }
    };
    let (scope, new) = (ServerScope::All, server("admins.example"));
    app.act(&admin, move |tx, cx| set_outgoing_server(tx, cx, &scope, &new)).await;
    invite(&app).await.unwrap();
    app.work().await;
    set(&app, &ServerScope::All, server("owners.example")).await;
    invite(&app).await.unwrap();
    app.work().await;
    // Microsoft Graph would keep the link where everybody who uses the mailbox can read it.
    let owner = app.owner.clone();
    app.act(&owner, |tx, _| Ok(tx.exec("UPDATE outgoing_servers SET protocol = 'graph'", &[])?))
        .await;
    invite(&app).await.unwrap();
    app.work().await;
    let hosts: Vec<String> = given(&app).into_iter().map(|(host, _)| host).collect();
    assert_eq!(hosts, ["relay", "owners.example", "relay"]);
    assert!(app.outside.relay.attempts().iter().all(|mail| mail.of_service));
}

async fn a_server_is_set_by_owners_and_admins_for_inboxes_that_they_see(app: TestApp) {
    let bo = app.person("Bo").await;
    let private = app.private_inbox(&bo).await;
    let try_as = |actor: &base::actor::Actor, scope: ServerScope| {
        let (app, actor) = (app.app.clone(), actor.clone());
        async move {
            let new = server("x.example");
            let set = move |tx: &mut db::Tx<'_>, cx: &base::app::Cx<'_>| {
                set_outgoing_server(tx, cx, &scope, &new)
            };
            app.act(&actor, set).await
        }
    };
    assert!(matches!(try_as(&bo, of(&app.support)).await, Err(base::error::Error::Forbidden(_))));
    assert!(matches!(try_as(&app.owner, of(&private)).await, Err(base::error::Error::NotFound(_))));
    assert!(try_as(&app.owner, of(&app.support)).await.is_ok());
    let log = app.act(&app.owner, |tx, cx| audit_log::list_audit(tx, cx, None)).await;
    assert_eq!(log[0].detail, "x.example, port 465");
    assert!(log.iter().all(|entry| !entry.detail.contains("sesame")));
    let scope = of(&app.support);
    app.act(&app.owner, move |tx, cx| remove_outgoing_server(tx, cx, &scope)).await;
    assert!(servers(&app).await.is_empty());
}

async fn a_server_goes_with_the_person_whose_private_inbox_has_it(app: TestApp) {
    let admin = app.person_with("Ada", Role::Admin).await;
    let private = app.private_inbox(&admin).await;
    let (scope, new) = (of(&private), server("own.example"));
    app.act(&admin, move |tx, cx| set_outgoing_server(tx, cx, &scope, &new)).await;
    let id = user(&admin);
    app.act(&app.owner, move |tx, cx| removal::remove_person(tx, cx, &id)).await;
    let left = app.app.store.read(|tx| {
        let rows: Vec<(String,)> = tx.all("SELECT mailbox FROM outgoing_servers", &[])?;
        Ok::<_, base::error::Error>(rows.len())
    });
    assert_eq!(left.await.unwrap(), 0);
}

async fn after_an_hour_of_failures_the_owners_are_told_once_and_again_when_it_works(app: TestApp) {
    let key = app.key("send").await;
    set(&app, &of(&app.support), server("own.example")).await;
    message_in(&app, &key, &app.support, "a@x.example").await;
    let down = || RelayOutcome::Unavailable("relay: no connection".into());
    // The attempts are after 0, 1, 6, 21 and 81 minutes.
    app.outside.relay.will_say(&[down(), down(), down(), down(), down()]);
    app.pass(UNDO).await;
    let notices = || {
        let attempts = app.outside.relay.attempts();
        let notices = attempts.into_iter().filter(|mail| mail.recipients == ["owner@acme.example"]);
        let text = |mail: &jobs::OutgoingMail| String::from_utf8(mail.bytes.to_vec()).unwrap();
        notices.map(|mail| text(&mail)).collect::<Vec<_>>()
    };
    for wait in [1, 5, 15] {
        app.pass(wait * MINUTE).await;
        assert!(notices().is_empty(), "not before an hour is over");
    }
    app.pass(HOUR).await;
    let told = notices();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].contains("Subject: Mail from support@acme.example cannot leave"),
        "{}",
        told[0]
    );
    assert!(told[0].contains("no connection") && told[0].contains("own.example"), "{}", told[0]);
    app.outside.relay.will_say(&[down()]);
    app.pass(4 * HOUR).await;
    assert_eq!(notices().len(), 1, "once is enough");
    app.pass(4 * HOUR).await;
    let told = notices();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[1].contains("leaves again"), "{}", told[1]);
    let listed = servers(&app).await.remove(0);
    assert!(listed.failing_since.is_none() && listed.last_error.is_none());
}
