//! Mailboxes that are read and sent from by Microsoft Graph, against a Graph of the test's own.

mod reading_troubles;

use std::sync::Arc;

use actions::inboxes::imap_accounts::{self, FetchedInbox};
use jobs::{OutgoingMail, Relay, RelayOutcome, Worker};
use model::mailboxes::outgoing_servers;
use rustls::RootCertStore;
use server::mail_in::imap::Fetchers;
use testing::{
    GraphServer, GraphServerFault, OAUTH_CLIENT_ID, OAUTH_CLIENT_SECRET, OAuthProviderServer,
};
use transport::mail_oauth::{MailboxTokens, OAuthClient, OAuthClients};
use transport::mail_out::{RelayRouter, ServerConnectConfig};

use super::provider_sign_in::way_out;
use crate::mail_in::imap::fetchers_with;
use crate::support::*;
use crate::web::browser::{Browser, Page};

on_both!(
    a_mailbox_is_connected_read_and_sent_from_by_graph,
    a_listing_of_many_pages_brings_every_mail_once,
    what_was_there_before_is_left_alone_and_what_is_deleted_is_not_had,
    a_token_that_expired_or_is_refused_is_refreshed,
    a_withdrawn_permission_waits_for_a_sign_in_with_the_same_scopes,
    what_somebody_sent_in_outlook_joins_its_conversation,
    a_reply_whose_acceptance_got_lost_is_not_sent_twice,
    a_reply_that_is_refused_has_failed_and_one_that_is_throttled_leaves,
    a_mail_with_large_files_is_sent_as_a_draft_with_uploads,
    a_shared_mailbox_is_used_under_its_own_address
);

const SUPPORT: &str = "support@acme.example";
const BEGIN: &str = "/settings/inboxes/connect/microsoft";

struct World {
    provider: Arc<OAuthProviderServer>,
    graph: GraphServer,
    clients: OAuthClients,
}

impl World {
    /// A Microsoft where this account signs in, with the mailbox of the support inbox.
    fn start(account: &str) -> World {
        let provider = Arc::new(OAuthProviderServer::start(account));
        let graph = GraphServer::start(Arc::clone(&provider));
        graph.add_mailbox(SUPPORT);
        let (id, secret) = (OAUTH_CLIENT_ID.to_owned(), Some(OAUTH_CLIENT_SECRET.to_owned()));
        let client = OAuthClient::microsoft(id, secret, "common").unwrap();
        let client = client.with_endpoints(&graph.endpoints()).unwrap();
        World { provider, graph, clients: OAuthClients::new(vec![client]) }
    }

    fn of(&self, app: TestApp) -> TestApp {
        app.with_providers(RootCertStore::empty(), self.clients.clone())
    }

    fn tokens(&self, app: &TestApp) -> Arc<MailboxTokens> {
        Arc::new(MailboxTokens::new(app.app.clone(), self.clients.clone()).unwrap())
    }

    fn fetchers(&self, app: &TestApp) -> Fetchers {
        fetchers_with(app, RootCertStore::empty(), self.tokens(app))
    }

    /// The next round of fetching, when it is due at the latest.
    async fn round(&self, app: &TestApp) {
        app.advance(15 * MINUTE);
        self.fetchers(app).fetch_due().await.unwrap();
    }

    fn relay(&self, app: &TestApp) -> RelayRouter {
        let dialling = dialling(RootCertStore::empty(), false);
        let dialling = ServerConnectConfig { tokens: self.tokens(app), ..dialling };
        RelayRouter::new(app.outside.relay.clone(), false, dialling)
    }

    /// Sends what is due.
    async fn send(&self, app: &TestApp) {
        let relay = self.relay(app);
        let (sender, reader) = (app.outside.webhook_sender.clone(), app.outside.reader.clone());
        let worker = Worker::new(app.app.clone(), Arc::new(relay), sender, reader);
        worker.run_due().await.unwrap();
    }

    /// Presses the button, signs in, and comes back.
    async fn sign_in(&self, browser: &Browser<'_>, path: &str, fields: &[(&str, &str)]) -> Page {
        let leaving = browser.post(path, fields).await.is(200);
        let way_out = way_out(&leaving.text);
        assert!(way_out.contains("Mail.ReadWrite") && !way_out.contains("IMAP"), "{way_out}");
        let back = self.provider.sign_in(&way_out);
        browser.get(back.strip_prefix(PUBLIC_URL).expect("our own address")).await
    }

    /// The support inbox, connected with everything or with new mail alone.
    async fn connect(&self, app: TestApp, history: &str) -> TestApp {
        let app = self.of(app);
        let owner = app.signed_in(&app.owner).await;
        let fields = [("address", SUPPORT), ("history", history), ("by_graph", "1")];
        self.sign_in(&owner, BEGIN, &fields).await.is(303);
        // The test mail of its plus tags.
        app.app.background.finish().await;
        drop(owner);
        app
    }

    /// The sent mails with this in them.
    fn sent_with(&self, words: &str) -> Vec<String> {
        let all = self.graph.sent_mails(SUPPORT);
        all.into_iter().filter(|mail| mail.contains(words)).collect()
    }
}

fn letter(number: u32) -> String {
    format!(
        "From: Bruno <bruno{number}@keller.example>\r\nTo: <support@acme.example>\r\n\
         Subject: Lamp {number}\r\nMessage-ID: <{number}@keller.example>\r\n\r\n\
         It is broken, says {number}.\r\n"
    )
}

async fn health(app: &TestApp) -> FetchedInbox {
    let mut all = app.act(&app.owner, |tx, cx| imap_accounts::list_fetched(tx, cx.actor)).await;
    assert_eq!(all.len(), 1);
    all.remove(0)
}

async fn is_healthy(app: &TestApp) {
    let health = health(app).await;
    assert!(health.ok, "{health:?}");
}

async fn subjects(app: &TestApp, key: &TestKey) -> Vec<String> {
    let mut subjects = app.subjects(key, "view=all").await;
    subjects.sort();
    subjects
}

async fn a_mailbox_is_connected_read_and_sent_from_by_graph(app: TestApp) {
    let world = World::start(SUPPORT);
    world.graph.deliver(SUPPORT, &letter(1), app.now() - DAY);
    let app = world.of(app);
    let owner = app.signed_in(&app.owner).await;
    let page = owner.get("/settings/inboxes/connect").await.is(200);
    page.shows("Sign in with Microsoft").shows("Read and send by Microsoft Graph");
    let fields = [("address", ""), ("name", "Help"), ("history", "all"), ("by_graph", "1")];
    let done = world.sign_in(&owner, BEGIN, &fields).await.is(303);
    let path = done.answer.header("location").to_owned();
    let page = owner.get(&path).await.is(200);
    page.shows("by Microsoft Graph").shows("signed in at Microsoft");
    owner.get(&format!("{path}/outgoing")).await.is(200).shows("by Microsoft Graph");
    app.app.background.finish().await;
    world.round(&app).await;
    is_healthy(&app).await;
    let key = app.key("read").await;
    assert_eq!(subjects(&app, &key).await, ["Lamp 1"]);
    let listed = app.list(&key, "").await;
    let taken = base::time::Moment(app.now() - DAY - 15 * MINUTE).iso();
    assert_eq!(listed[0]["lastMessageAt"], taken, "listed by when its mailbox took it");
    let page = owner.post(&format!("{path}/test-mail"), &[]).await.is(200);
    page.shows("A test mail to owner@acme.example was accepted");
    assert_eq!(world.sent_with("owner@acme.example").len(), 1);
    assert!(app.outside.relay.attempts().is_empty(), "nothing left by the operator's relay");
    world.round(&app).await;
    assert_eq!(subjects(&app, &key).await, ["Lamp 1"], "what was sent to ourselves is not filed");
}

async fn a_listing_of_many_pages_brings_every_mail_once(app: TestApp) {
    let world = World::start(SUPPORT);
    world.graph.state().repeats = true;
    for number in 1..=7 {
        world.graph.deliver(SUPPORT, &letter(number), app.now() - i64::from(10 - number) * HOUR);
    }
    let app = world.connect(app, "all").await;
    world.round(&app).await;
    is_healthy(&app).await;
    let key = app.key("read").await;
    assert_eq!(subjects(&app, &key).await.len(), 7);
    assert_eq!(health(&app).await.fetched, 7);
    let newest = app.list(&key, "").await;
    assert_eq!(texts(&newest, "subject")[0], "Lamp 7");
    world.graph.take_requests("");
    world.round(&app).await;
    assert!(world.graph.take_requests("$value").is_empty(), "nothing is new");
    world.graph.deliver(SUPPORT, &letter(8), app.now());
    world.round(&app).await;
    assert_eq!(world.graph.take_requests("$value").len(), 1);
    assert_eq!(subjects(&app, &key).await.len(), 8);
}

async fn what_was_there_before_is_left_alone_and_what_is_deleted_is_not_had(app: TestApp) {
    let world = World::start(SUPPORT);
    world.graph.deliver(SUPPORT, &letter(1), app.now() - HOUR);
    let app = world.connect(app, "new").await;
    world.round(&app).await;
    let key = app.key("read").await;
    assert!(subjects(&app, &key).await.is_empty());
    let deleted = world.graph.deliver(SUPPORT, &letter(2), app.now());
    world.graph.deliver(SUPPORT, &letter(3), app.now());
    world.graph.delete(SUPPORT, &deleted);
    world.round(&app).await;
    is_healthy(&app).await;
    assert_eq!(subjects(&app, &key).await, ["Lamp 3"]);
}

async fn a_token_that_expired_or_is_refused_is_refreshed(app: TestApp) {
    let world = World::start(SUPPORT);
    let app = world.connect(app, "all").await;
    app.advance(2 * HOUR);
    world.round(&app).await;
    is_healthy(&app).await;
    assert_eq!(world.provider.state().refreshes, 1);
    world.provider.forget_access_token();
    world.round(&app).await;
    is_healthy(&app).await;
    assert_eq!(world.provider.state().refreshes, 2);
}

async fn a_withdrawn_permission_waits_for_a_sign_in_with_the_same_scopes(app: TestApp) {
    let world = World::start(SUPPORT);
    let app = world.connect(app, "all").await;
    app.advance(2 * HOUR);
    world.provider.state().withdrawn = true;
    world.round(&app).await;
    assert!(health(&app).await.sign_in_over);
    let owner = app.signed_in(&app.owner).await;
    let path = format!("/settings/inboxes/{}", app.support.id);
    owner.get(&path).await.is(200).shows("Sign in again with Microsoft");
    world.sign_in(&owner, &format!("{path}/sign-in"), &[]).await.goes_to(&path);
    world.round(&app).await;
    is_healthy(&app).await;
}

async fn what_somebody_sent_in_outlook_joins_its_conversation(app: TestApp) {
    let world = World::start(SUPPORT);
    world.graph.deliver(SUPPORT, &letter(1), app.now() - 2 * HOUR);
    let app = world.connect(app, "all").await;
    world.round(&app).await;
    let reply = "From: Ann <support@acme.example>\r\nTo: Bruno <bruno1@keller.example>\r\n\
        Subject: Re: Lamp 1\r\nMessage-ID: <outlook.1@acme.example>\r\n\
        In-Reply-To: <1@keller.example>\r\n\r\nA new one is on its way.\r\n";
    world.graph.put_sent(SUPPORT, reply, app.now());
    world.round(&app).await;
    world.round(&app).await;
    is_healthy(&app).await;
    let key = app.key("read").await;
    let listed = app.list(&key, "view=all").await;
    assert_eq!((listed.len(), &listed[0]["status"]), (1, &serde_json::json!("waiting")));
    let id = listed[0]["id"].as_str().unwrap();
    let messages = app.timeline(&key, &id, "message").await;
    assert_eq!(texts(&messages, "direction"), ["inbound", "outbound"]);
}

async fn a_reply_whose_acceptance_got_lost_is_not_sent_twice(app: TestApp) {
    let world = World::start(SUPPORT);
    let app = world.connect(app, "all").await;
    let key = app.key("send").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    app.schedule(&key, &mail.conversation, "It left on Tuesday.").await;
    app.advance(UNDO);
    world.graph.fail_once("sendMail", GraphServerFault::HangUp);
    world.send(&app).await;
    let messages = app.timeline(&key, &mail.conversation, "message").await;
    assert_eq!(messages[1]["status"], "sending");
    app.advance(HOUR);
    world.send(&app).await;
    let messages = app.timeline(&key, &mail.conversation, "message").await;
    assert_eq!(messages[1]["status"], "sent");
    assert_eq!(world.sent_with("It left on Tuesday.").len(), 1);
    world.round(&app).await;
    is_healthy(&app).await;
    let messages = app.timeline(&key, &mail.conversation, "message").await;
    assert_eq!(messages.len(), 2, "the copy is no second message: {messages:?}");
    let copies = app.app.store.read(|tx| {
        let rows: Vec<(String,)> = tx.all("SELECT message FROM sent_copies", &[])?;
        Ok::<_, base::error::Error>(rows)
    });
    assert!(copies.await.unwrap().is_empty(), "Graph keeps a copy by itself");
}

async fn a_reply_that_is_refused_has_failed_and_one_that_is_throttled_leaves(app: TestApp) {
    let world = World::start(SUPPORT);
    let app = world.connect(app, "all").await;
    let key = app.key("send").await;
    for (status, becomes) in [(400, "failed"), (429, "sent"), (503, "sending")] {
        let mail = app.mail("mara@customer.example", &format!("Lamp {status}"), "Where?").await;
        app.schedule(&key, &mail.conversation, &format!("It left, says {status}.")).await;
        app.advance(UNDO);
        world.graph.fail_once("sendMail", GraphServerFault::Status(status));
        world.send(&app).await;
        let messages = app.timeline(&key, &mail.conversation, "message").await;
        assert_eq!(messages[1]["status"], becomes, "{status}");
        let sent = world.sent_with(&format!("It left, says {status}.")).len();
        assert_eq!(sent, usize::from(becomes == "sent"), "{status}");
    }
}

async fn a_mail_with_large_files_is_sent_as_a_draft_with_uploads(app: TestApp) {
    let world = World::start(SUPPORT);
    let app = world.connect(app, "all").await;
    let inbox = app.support.id.clone();
    let server =
        app.act(&app.owner, move |tx, cx| outgoing_servers::server_of(tx, cx, &inbox)).await;
    let bytes = |count: usize| -> Vec<u8> { (0..count).map(|n| n.to_le_bytes()[0]).collect() };
    let file = |name: &str, count: usize| mail::Attachment {
        filename: name.into(),
        content_type: "application/pdf".into(),
        bytes: bytes(count),
    };
    let composed = |attachments: Vec<mail::Attachment>, id: &str| mail::ComposedMail {
        message_id: format!("msg.{id}@acme.example"),
        answers: Vec::new(),
        from: mail::Address::new(None, SUPPORT),
        reply_to: None,
        to: vec![mail::Address::new(None, "mara@customer.example")],
        cc: Vec::new(),
        subject: "Papers".into(),
        text: format!("Here they are, says {id}."),
        html: None,
        inline: Vec::new(),
        attachments,
        calendar: None,
        at: app.now(),
        submission: mail::AutoSubmission::No,
        loop_mark: None,
        unsubscribe: None,
    };
    let outgoing = |mail: &mail::ComposedMail| OutgoingMail {
        message_id: mail.message_id.clone(),
        sender: SUPPORT.into(),
        recipients: vec!["mara@customer.example".into(), "hidden@customer.example".into()],
        bytes: mail::compose(mail).into(),
        server: server.clone().map(Arc::new),
        of_service: false,
        of_sample: false,
    };
    let files = vec![file("small.pdf", 500_000), file("large.pdf", 7_000_000)];
    let relay = world.relay(&app);
    let sent = relay.send(&outgoing(&composed(files.clone(), "one"))).await;
    assert_eq!(sent, [RelayOutcome::Delivered, RelayOutcome::Delivered]);
    let found = world.sent_with("Here they are, says one.");
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("Bcc: <hidden@customer.example>") && found[0].len() < 100_000);
    let kept = std::mem::take(&mut world.graph.state().sent_files);
    let expected = files.iter().map(|file| (file.filename.clone(), file.bytes.clone()));
    assert!(kept == expected.collect::<Vec<_>>(), "the files arrive as they are");

    // A file that is refused leaves no draft behind.
    world.graph.fail_once("createUploadSession", GraphServerFault::Status(400));
    let refused = relay.send(&outgoing(&composed(files, "two"))).await;
    assert!(refused.iter().all(|one| matches!(one, RelayOutcome::Never(_))), "{refused:?}");
    assert!(world.sent_with("says two").is_empty());
    assert_eq!(world.graph.take_requests("DELETE /v1.0/users").len(), 1);
    assert_eq!(world.graph.count_drafts(), 0);

    // A server that is busy with the draft is asked again.
    let files = vec![file("large.pdf", 4_000_000)];
    world.graph.fail_once("/send", GraphServerFault::Status(409));
    let sent = relay.send(&outgoing(&composed(files.clone(), "three"))).await;
    assert_eq!(sent, [RelayOutcome::Delivered, RelayOutcome::Delivered]);

    // A draft that may have been sent stays, until the next attempt knows better.
    let four = outgoing(&composed(files.clone(), "four"));
    world.graph.fail_once("/send", GraphServerFault::Status(500));
    let unknown = relay.send(&four).await;
    assert!(unknown.iter().all(|one| matches!(one, RelayOutcome::Later(_))), "{unknown:?}");
    assert_eq!(world.graph.count_drafts(), 1);
    assert_eq!(relay.send(&four).await, [RelayOutcome::Delivered, RelayOutcome::Delivered]);
    assert_eq!((world.graph.count_drafts(), world.sent_with("says four").len()), (0, 1));
    let five = outgoing(&composed(files, "five"));
    world.graph.fail_once("/send", GraphServerFault::HangUp);
    let unknown = relay.send(&five).await;
    assert!(unknown.iter().all(|one| matches!(one, RelayOutcome::Later(_))), "{unknown:?}");
    assert_eq!(relay.send(&five).await, [RelayOutcome::Delivered, RelayOutcome::Delivered]);
    assert_eq!(world.sent_with("says five").len(), 1);
}

async fn a_shared_mailbox_is_used_under_its_own_address(app: TestApp) {
    let world = World::start("ann@acme.example");
    world.graph.deliver(SUPPORT, &letter(1), app.now() - HOUR);
    let app = world.of(app);
    let owner = app.signed_in(&app.owner).await;
    let other = [("address", "other@acme.example"), ("by_graph", "1")];
    let page = world.sign_in(&owner, BEGIN, &other).await.is(422);
    page.shows("You signed in at Microsoft as ann@acme.example").shows("ErrorInvalidUser");
    drop(owner);
    let app = world.connect(app, "all").await;
    assert_eq!(health(&app).await.username, SUPPORT);
    world.round(&app).await;
    is_healthy(&app).await;
    let key = app.key("read").await;
    assert_eq!(subjects(&app, &key).await, ["Lamp 1"]);
}
