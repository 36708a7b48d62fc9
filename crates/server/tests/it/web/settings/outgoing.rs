//! The servers that mail leaves through, as owners and admins set them up in the app.

use std::sync::Arc;

use base::actor::Role;
use jobs::Worker;
use rustls::RootCertStore;
use transport::mail_out::RelayRouter;

use crate::mail_out::peer::{Manner, Peer};
use crate::support::*;
use crate::webhooks::receiver::Authority;

on_both!(
    a_server_is_tried_and_saved_and_a_test_mail_leaves_through_it,
    a_server_that_does_not_work_is_not_saved_and_the_fault_is_a_sentence,
    a_server_in_a_private_network_is_refused,
    a_reply_leaves_through_the_server_of_its_inbox,
    links_are_mailed_once_an_owner_has_set_a_server,
    members_and_strangers_see_nothing_of_it,
    a_quiet_server_sends_no_test_mail
);

const PASSWORD: &str = "open sesame 1";

fn path(app: &TestApp) -> String {
    format!("/settings/inboxes/{}/outgoing", app.support.id)
}

/// A submission server that offers TLS from the start, and the authority that vouches for it.
async fn submission(says: Vec<(&'static str, &'static str)>) -> (Peer, RootCertStore) {
    let authority = Authority::new();
    let tls = Some(authority.acceptor("localhost", &[], |_| {}));
    let manner =
        Manner { tls, implicit: true, says, offers: vec!["AUTH PLAIN"], ..Manner::default() };
    (Peer::start(manner).await, authority.roots())
}

fn fields<'a>(port: &'a str, host: &'a str, security: &'a str) -> [(&'a str, &'a str); 5] {
    [
        ("host", host),
        ("port", port),
        ("security", security),
        ("username", "desk@acme.example"),
        ("password", PASSWORD),
    ]
}

async fn a_server_is_tried_and_saved_and_a_test_mail_leaves_through_it(app: TestApp) {
    let (peer, roots) = submission(vec![]).await;
    let app = app.with_mail_servers(roots);
    let owner = app.signed_in(&app.owner).await;
    let page = owner.get(&path(&app)).await.is(200);
    page.shows("Mail waits").shows("Send me a test mail").hides("Remove this server");
    let port = peer.address.port().to_string();
    owner.post(&path(&app), &fields(&port, "localhost", "tls")).await.goes_to(&path(&app));
    let page = owner.get(&path(&app)).await.is(200);
    page.shows("It works and is saved.").shows("<code>localhost</code>").shows("TLS");
    page.hides(PASSWORD).shows("Leave it empty to keep");
    assert!(peer.seen().commands.iter().any(|said| said.starts_with("tls AUTH PLAIN ")));
    assert!(peer.seen().mails.is_empty(), "nothing is sent while it is tried");

    let test = format!("/settings/inboxes/{}/test-mail", app.support.id);
    let page = owner.post(&test, &[]).await.is(200);
    page.shows("A test mail to owner@acme.example was accepted");
    let mails = peer.seen().mails;
    assert_eq!(mails.len(), 1);
    assert_eq!(mails[0].to, ["RCPT TO:<owner@acme.example>"]);
    assert!(mails[0].text.contains("From: \"Mailroom\" <support@acme.example>"));
    let log = owner.get("/settings/audit").await.is(200);
    log.shows("set the outgoing server of <strong>Support</strong>").hides(PASSWORD);

    owner.post(&format!("{}/remove", path(&app)), &[]).await.goes_to(&path(&app));
    owner.get(&path(&app)).await.is(200).shows("Mail waits").hides("<code>localhost</code>");
}

async fn a_server_that_does_not_work_is_not_saved_and_the_fault_is_a_sentence(app: TestApp) {
    let (refusing, roots) = submission(vec![("AUTH", "535 5.7.8 Wrong <b>word</b>")]).await;
    let plain = Peer::start(Manner::default()).await;
    let app = app.with_mail_servers(roots);
    let owner = app.signed_in(&app.owner).await;
    let unused = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let refusing = refusing.address.port();
    let plain = plain.address.port();
    for (host, port, security, sentence) in [
        ("localhost", refusing, "tls", "localhost does not accept the user name and password."),
        ("localhost", refusing, "tls", "It said: 5.7.8 Wrong &#60;b&#62;word&#60;/b&#62;."),
        ("nobody.invalid", 465, "tls", "There is no server called nobody.invalid."),
        ("localhost", unused, "tls", "Nobody answers at localhost on port"),
        ("localhost", plain, "starttls", "localhost offers no encryption on port"),
        ("127.0.0.1", refusing, "tls", "could not be encrypted"),
    ] {
        let port = port.to_string();
        let page = owner.post(&path(&app), &fields(&port, host, security)).await.is(422);
        page.shows("Not saved: the server did not work").shows(sentence);
        page.shows(&format!("value=\"{host}\"")).hides(PASSWORD).shows("Mail waits");
    }
    for (host, port, security, sentence) in [
        ("", "465", "tls", "The server must be a name"),
        ("a b", "465", "tls", "The server must be a name"),
        ("localhost", "x", "tls", "The port must be a number"),
        ("localhost", "70000", "tls", "The port must be a number"),
        ("localhost", "25", "none", "The encryption must be TLS"),
    ] {
        let page = owner.post(&path(&app), &fields(port, host, security)).await.is(422);
        page.shows(sentence).hides(PASSWORD);
    }
}

async fn a_server_in_a_private_network_is_refused(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    let peer = Peer::start(Manner::default()).await;
    let port = peer.address.port().to_string();
    for host in ["127.0.0.1", "::1", "10.0.0.7", "169.254.169.254"] {
        let page = owner.post("/settings/outgoing", &fields(&port, host, "tls")).await.is(422);
        page.shows("is in a private network").shows("MAILROOM_MAIL_ALLOW_PRIVATE");
    }
    assert_eq!(peer.seen().sessions, 0);
}

async fn a_reply_leaves_through_the_server_of_its_inbox(app: TestApp) {
    let (peer, roots) = submission(vec![]).await;
    let app = app.with_mail_servers(roots.clone());
    let owner = app.signed_in(&app.owner).await;
    let port = peer.address.port().to_string();
    owner.post("/settings/outgoing", &fields(&port, "localhost", "tls")).await.is(303);
    let page = owner.get("/settings/outgoing").await.is(200);
    page.shows("the server above").shows("support@acme.example");
    let key = app.key("send").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    app.schedule(&key, &mail.conversation, "It left on Tuesday.").await;
    app.advance(UNDO);
    let router = RelayRouter::new(app.outside.relay.clone(), false, dialling(roots, true));
    let (sender, reader) = (app.outside.webhook_sender.clone(), app.outside.reader.clone());
    let worker = Worker::new(app.app.clone(), Arc::new(router), sender, reader);
    worker.run_due().await.unwrap();
    let mails = peer.seen().mails;
    assert_eq!(mails.len(), 1);
    assert!(mails[0].text.contains("It left on Tuesday."));
    assert!(app.outside.relay.attempts().is_empty(), "not through the operator's relay");
    let messages = app.timeline(&key, &mail.conversation, "message").await;
    assert_eq!(messages[1]["status"], "sent");
    let inbox = owner.get(&format!("/settings/inboxes/{}", app.support.id)).await.is(200);
    inbox.shows("through <code>localhost</code>");
}

async fn links_are_mailed_once_an_owner_has_set_a_server(app: TestApp) {
    let (peer, roots) = submission(vec![]).await;
    let app = app.with_mail_servers(roots);
    let owner = app.signed_in(&app.owner).await;
    owner.get("/settings/people").await.is(200).shows("Add and show the sign-in link");
    app.browser().get("/sign-in").await.is(200).hides("/sign-in-link");
    let port = peer.address.port().to_string();
    owner.post("/settings/outgoing", &fields(&port, "localhost", "tls")).await.is(303);
    owner.get("/settings/people").await.is(200).shows("Add and e-mail an invitation");
    app.browser().get("/sign-in").await.is(200).shows("/sign-in-link");
}

async fn members_and_strangers_see_nothing_of_it(app: TestApp) {
    let bo = app.person("Bo").await;
    let admin = app.person_with("Ada", Role::Admin).await;
    let private = app.private_inbox(&admin).await;
    let hidden = format!("/settings/inboxes/{}/outgoing", private.id);
    let member = app.signed_in(&bo).await;
    for page in ["/settings/outgoing".to_owned(), path(&app)] {
        member.get(&page).await.is(403);
        member.post(&page, &fields("465", "x.example", "tls")).await.is(403);
        member.post(&format!("{page}/remove"), &[]).await.is(403);
    }
    let owner = app.signed_in(&app.owner).await;
    owner.get(&hidden).await.is(404);
    owner.post(&hidden, &fields("465", "x.example", "tls")).await.is(404);
    owner.post(&format!("{hidden}/remove"), &[]).await.is(404);
    owner.post(&format!("/settings/inboxes/{}/test-mail", private.id), &[]).await.is(404);
    app.signed_in(&admin).await.get(&hidden).await.is(200);
}

async fn a_quiet_server_sends_no_test_mail(mut app: TestApp) {
    app.set_quiet(true);
    let owner = app.signed_in(&app.owner).await;
    let test = format!("/settings/inboxes/{}/test-mail", app.support.id);
    owner.post(&test, &[]).await.is(200).shows("Nothing was sent").shows("This server is quiet");
}
