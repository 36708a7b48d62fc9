//! Connecting a mailbox by its address and password, against Dovecot and a submission server.

use rustls::RootCertStore;
use testing::{Dovecot, MAILBOX_PASSWORD as PASSWORD};

use crate::mail_in::imap::fetchers_trusting;
use crate::mail_out::names::Zone;
use crate::mail_out::peer::{Manner, Peer};
use crate::support::*;
use crate::webhooks::receiver::Authority;

on_both!(
    a_mailbox_is_found_tried_and_connected_and_its_mail_is_fetched,
    a_wrong_password_is_said_and_nothing_is_saved,
    servers_of_another_domain_that_the_dns_names_are_looked_at_first,
    servers_that_were_typed_in_are_taken,
    what_cannot_be_connected_is_said_in_a_sentence,
    a_connected_inbox_is_changed_and_disconnected,
    members_connect_nothing,
    plus_tags_of_a_connected_inbox_are_used_once_a_test_mail_came_back,
    an_owner_tests_plus_tags_again_or_says_whether_they_arrive
);

const CONNECT: &str = "/settings/inboxes/connect";
const ADDRESS: &str = "ann@acme.example";

/// A mailbox at Dovecot that sends through a submission server.
struct Mailbox {
    dovecot: Dovecot,
    submission: Peer,
    roots: RootCertStore,
}

impl Mailbox {
    async fn start() -> Mailbox {
        let (dovecot, authority) = (Dovecot::start(), Authority::new());
        let tls = Some(authority.acceptor("mail.acme.example", &[], |_| {}));
        let offers = vec!["AUTH PLAIN"];
        let manner = Manner { tls, implicit: true, offers, ..Manner::default() };
        let mut roots = authority.roots();
        roots.roots.extend(dovecot.roots.roots.clone());
        Mailbox { dovecot, submission: Peer::start(manner).await, roots }
    }

    fn ports(&self) -> (u16, u16) {
        (self.dovecot.tls_port, self.submission.address.port())
    }

    /// The domain with SRV records that lead to this host.
    fn zone(&self, domain: &str, host: &str) -> Zone {
        let (imap, smtp) = self.ports();
        Zone::default()
            .service(&format!("_imaps._tcp.{domain}"), host, imap)
            .service(&format!("_submissions._tcp.{domain}"), host, smtp)
            .address(host, "127.0.0.1")
    }
}

async fn a_mailbox_is_found_tried_and_connected_and_its_mail_is_fetched(app: TestApp) {
    let mailbox = Mailbox::start().await;
    mailbox.dovecot.deliver(
        "From: Bruno <bruno@keller.example>\r\nTo: ann@acme.example\r\nSubject: Lamp\r\n\
         Message-ID: <1@keller.example>\r\n\r\nIt is broken.\r\n",
    );
    let dns = mailbox.zone("acme.example", "mail.acme.example").serve().await;
    let app = app.with_mail_servers_and_dns(mailbox.roots.clone(), dns);
    let owner = app.signed_in(&app.owner).await;
    let page = owner.get(CONNECT).await.is(200);
    page.shows("Password of this mailbox").shows("only new mail").hides("does not work");
    let fields =
        [("address", ADDRESS), ("password", PASSWORD), ("name", "Ann"), ("history", "all")];
    let done = owner.post(CONNECT, &fields).await.is(303);
    let path = done.answer.header("location").to_owned();
    let page = owner.get(&path).await.is(200);
    page.shows("Connected. Its mail is being fetched now.").shows("Not fetched yet");
    page.shows("<code>mail.acme.example</code>, port").shows(ADDRESS);
    page.shows("through <code>mail.acme.example</code>").hides("sesame");
    let said = &mailbox.submission.seen().commands;
    assert!(said.iter().any(|said| said.starts_with("tls AUTH PLAIN")), "{said:?}");

    let key = app.key("read").await;
    // The fetcher asks the system for names, so the host is one that it knows.
    app.app
        .store
        .write(|tx| {
            tx.exec("UPDATE imap_accounts SET host = 'localhost', by_operator = TRUE", &[])?;
            Ok::<_, base::error::Error>(())
        })
        .await
        .unwrap();
    fetchers_trusting(&app, mailbox.roots.clone()).fetch_due().await.unwrap();
    assert_eq!(app.subjects(&key, "").await, ["Lamp"]);
    let log = owner.get("/settings/audit").await.is(200);
    log.shows("connected the mailbox <strong>ann@acme.example</strong>").hides("sesame");
}

async fn a_wrong_password_is_said_and_nothing_is_saved(app: TestApp) {
    let mailbox = Mailbox::start().await;
    let dns = mailbox.zone("acme.example", "mail.acme.example").serve().await;
    let app = app.with_mail_servers_and_dns(mailbox.roots.clone(), dns);
    let owner = app.signed_in(&app.owner).await;
    let page = owner
        .post(CONNECT, &[("address", ADDRESS), ("password", "wrong secret"), ("name", "Ann")])
        .await
        .is(422);
    page.shows("The mailbox refused the password");
    page.shows("mail.acme.example does not accept the user name and password");
    page.shows("value=\"mail.acme.example\"").shows("from the domain&#39;s DNS records");
    page.shows("does not work").shows("works").hides("wrong secret");
    owner.get("/settings/inboxes").await.is(200).hides(ADDRESS);
}

async fn servers_of_another_domain_that_the_dns_names_are_looked_at_first(app: TestApp) {
    let mailbox = Mailbox::start().await;
    let dns = mailbox.zone("shop.example", "mail.acme.example").serve().await;
    let app = app.with_mail_servers_and_dns(mailbox.roots.clone(), dns);
    let owner = app.signed_in(&app.owner).await;
    let fields = [("address", "ann@shop.example"), ("password", PASSWORD), ("name", "Ann")];
    let page = owner.post(CONNECT, &fields).await.is(422);
    page.shows("names servers of another domain").shows("value=\"mail.acme.example\"");
    assert_eq!(mailbox.submission.seen().sessions, 0, "nothing was told the password");
    assert!(!mailbox.dovecot.log().contains("Login: "), "{}", mailbox.dovecot.log());
    let (imap, smtp) = mailbox.ports();
    let (imap, smtp) = (imap.to_string(), smtp.to_string());
    let mut seen = fields.to_vec();
    seen.extend([
        ("found_for", "shop.example"),
        ("imap_host", "mail.acme.example"),
        ("imap_port", &imap),
        ("imap_security", "tls"),
        ("smtp_host", "mail.acme.example"),
        ("smtp_port", &smtp),
        ("smtp_security", "tls"),
        ("username", "ann@shop.example"),
    ]);
    owner.post(CONNECT, &seen).await.is(303);
}

async fn servers_that_were_typed_in_are_taken(app: TestApp) {
    let mailbox = Mailbox::start().await;
    let app = app.with_mail_servers(mailbox.roots.clone());
    let owner = app.signed_in(&app.owner).await;
    let imap = mailbox.dovecot.port.to_string();
    let fields = [
        ("address", "support@acme.example"),
        ("password", PASSWORD),
        ("imap_host", "LOCALHOST"),
        ("imap_port", &imap),
        ("imap_security", "starttls"),
        ("username", "ann"),
        ("receive_only", "1"),
    ];
    let path = format!("/settings/inboxes/{}", app.support.id);
    owner.post(CONNECT, &fields).await.goes_to(&path);
    assert_eq!(mailbox.submission.seen().sessions, 0, "it is only read");
    let page = owner.get(&path).await.is(200);
    page.shows("<code>localhost</code>").shows("Mail waits");
    let mut wrong = fields.to_vec();
    wrong[3] = ("imap_port", "99999");
    owner.post(CONNECT, &wrong).await.is(422).shows("The port for reading must be a number");
    wrong[3] = ("imap_port", "993");
    wrong[2] = ("imap_host", "a b");
    owner.post(CONNECT, &wrong).await.is(422).shows("The server for reading must be a name");
}

async fn what_cannot_be_connected_is_said_in_a_sentence(app: TestApp) {
    let zone = Zone::default().mx("acme-at.example", 10, "aspmx.l.google.com");
    let app = app.with_mail_servers_and_dns(RootCertStore::empty(), zone.serve().await);
    let owner = app.signed_in(&app.owner).await;
    for (address, sentence) in [
        ("ann@outlook.com", "Microsoft takes no passwords from mail programs any more"),
        ("ann@proton.me", "Proton Mail lets mail programs in only through its Bridge"),
        ("ann@nothing.example", "No mail server was found for nothing.example"),
        ("ann@acme-at.example", "There is no server called imap.gmail.com."),
        ("nonsense", "Give a whole address"),
        ("ann+tag@acme.example", "Give a whole address"),
    ] {
        let fields = [("address", address), ("password", "secret word"), ("name", "Ann")];
        let page = owner.post(CONNECT, &fields).await.is(422);
        page.shows(sentence).shows(&format!("value=\"{address}\"")).hides("secret word");
    }
    let page = owner.post(CONNECT, &[("address", ADDRESS), ("password", "")]).await.is(422);
    page.shows("Give the mailbox&#39;s password");
    let inside = [
        ("address", ADDRESS),
        ("password", "x"),
        ("imap_host", "10.0.0.7"),
        ("imap_port", "993"),
        ("receive_only", "1"),
    ];
    let plain = app.with_mail();
    let owner = plain.signed_in(&plain.owner).await;
    owner.post(CONNECT, &inside).await.is(422).shows("10.0.0.7 is in a private network");
}

async fn a_connected_inbox_is_changed_and_disconnected(app: TestApp) {
    let mailbox = Mailbox::start().await;
    let app = app.with_mail_servers(mailbox.roots.clone());
    let owner = app.signed_in(&app.owner).await;
    let imap = mailbox.dovecot.tls_port.to_string();
    let fields = [
        ("address", "support@acme.example"),
        ("password", PASSWORD),
        ("imap_host", "localhost"),
        ("imap_port", &imap),
        ("username", "ann"),
        ("receive_only", "1"),
    ];
    owner.post(CONNECT, &fields).await.is(303);
    let page = owner.get(&format!("{CONNECT}?inbox={}", app.support.id)).await.is(200);
    page.shows("value=\"localhost\"").shows("value=\"ann\"").shows("as it is set up now");
    page.hides("What the team calls it");
    let path = format!("/settings/inboxes/{}", app.support.id);
    owner.post(&format!("{path}/disconnect"), &[]).await.goes_to(&path);
    owner.get(&path).await.is(200).shows("What was fetched stays.").hides("Fetched from");
    owner.post(&format!("{path}/disconnect"), &[]).await.is(400);
    owner
        .get("/settings/audit")
        .await
        .shows("disconnected the mailbox <strong>support@acme.example</strong>");
}

async fn members_connect_nothing(app: TestApp) {
    let bo = app.person("Bo").await;
    let private = app.private_inbox(&bo).await;
    let member = app.signed_in(&bo).await;
    member.get(CONNECT).await.is(403);
    member.post(CONNECT, &[("address", ADDRESS), ("password", "x")]).await.is(403);
    member.post(&format!("/settings/inboxes/{}/disconnect", app.support.id), &[]).await.is(403);
    let owner = app.signed_in(&app.owner).await;
    owner.get(&format!("{CONNECT}?inbox={}", private.id)).await.is(404);
    owner.post(&format!("/settings/inboxes/{}/disconnect", private.id), &[]).await.is(404);
}

/// What connects the inbox that is there already.
fn fields_of_support<'a>(imap: &'a str, smtp: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        ("address", "support@acme.example"),
        ("password", PASSWORD),
        ("history", "all"),
        ("found_for", "acme.example"),
        ("imap_host", "mail.acme.example"),
        ("imap_port", imap),
        ("imap_security", "tls"),
        ("smtp_host", "mail.acme.example"),
        ("smtp_port", smtp),
        ("smtp_security", "tls"),
        ("username", "ann"),
    ]
}

async fn plus_tags_of_a_connected_inbox_are_used_once_a_test_mail_came_back(app: TestApp) {
    let mailbox = Mailbox::start().await;
    let dns = mailbox.zone("acme.example", "mail.acme.example").serve().await;
    let app = app.with_mail_servers_and_dns(mailbox.roots.clone(), dns);
    let owner = app.signed_in(&app.owner).await;
    let (imap, smtp) = mailbox.ports();
    let (imap, smtp) = (imap.to_string(), smtp.to_string());
    let path = format!("/settings/inboxes/{}", app.support.id);
    owner.post(CONNECT, &fields_of_support(&imap, &smtp)).await.goes_to(&path);
    eventually(async || !mailbox.submission.seen().mails.is_empty()).await;
    let sent = mailbox.submission.seen().mails.remove(0);
    assert!(sent.to[0].contains("<support+b_"), "{:?}", sent.to);
    app.app.background.finish().await;
    let page = owner.get(&path).await.is(200);
    page.shows("Being tested").shows("Customers reply to the bare address");
    let used = "mailboxes WHERE address = 'support@acme.example' AND plus_tags = TRUE";
    assert_eq!(app.count(used).await, 0, "nobody knows yet whether they arrive");

    mailbox.dovecot.deliver(&sent.text);
    app.app
        .store
        .write(|tx| {
            tx.exec("UPDATE imap_accounts SET host = 'localhost', by_operator = TRUE", &[])?;
            Ok::<_, base::error::Error>(())
        })
        .await
        .unwrap();
    fetchers_trusting(&app, mailbox.roots.clone()).fetch_due().await.unwrap();
    let page = owner.get(&path).await.is(200);
    page.shows("Tested, they work").shows("Customers reply to an address with a tag");
    assert_eq!(app.count(used).await, 1);
    let key = app.key("read").await;
    assert!(app.subjects(&key, "").await.is_empty(), "the test mail is nobody's to read");
}

async fn an_owner_tests_plus_tags_again_or_says_whether_they_arrive(app: TestApp) {
    let mailbox = Mailbox::start().await;
    let dns = mailbox.zone("acme.example", "mail.acme.example").serve().await;
    let app = app.with_mail_servers_and_dns(mailbox.roots.clone(), dns);
    let owner = app.signed_in(&app.owner).await;
    let (imap, smtp) = mailbox.ports();
    let (imap, smtp) = (imap.to_string(), smtp.to_string());
    let path = format!("/settings/inboxes/{}", app.support.id);
    let form = format!("{path}/plus-tags");
    owner.get(&path).await.is(200).hides("Plus tags");
    owner.post(CONNECT, &fields_of_support(&imap, &smtp)).await.goes_to(&path);
    eventually(async || !mailbox.submission.seen().mails.is_empty()).await;
    app.app.background.finish().await;
    app.advance(31 * 60_000);
    owner.get(&path).await.is(200).shows("The test mail did not come back");
    owner.post(&form, &[("tags", "test")]).await.goes_to(&path);
    assert_eq!(mailbox.submission.seen().mails.len(), 2);
    owner.get(&path).await.is(200).shows("The test mail left.").shows("Being tested");
    owner.post(&form, &[("tags", "on")]).await.goes_to(&path);
    owner
        .get(&path)
        .await
        .is(200)
        .shows("Somebody said that they arrive.")
        .shows("Do not use them");
    owner.post(&form, &[("tags", "off")]).await.goes_to(&path);
    owner.get(&path).await.is(200).shows("Somebody said not to use them.");
    owner.post(&form, &[("tags", "sometimes")]).await.is(400);
    let log = owner.get("/settings/audit").await.is(200);
    log.shows("switched on plus tags for <strong>support@acme.example</strong>");
    log.shows("switched off plus tags for");
    let member = app.person("Bo").await;
    app.signed_in(&member).await.post(&form, &[("tags", "on")]).await.is(403);
    let private = app.private_inbox(&member).await;
    let theirs = format!("/settings/inboxes/{}/plus-tags", private.id);
    owner.post(&theirs, &[("tags", "on")]).await.is(404);
}
