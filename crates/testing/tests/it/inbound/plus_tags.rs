//! Plus tags of a mailbox elsewhere are used only where a test mail came back, or somebody said so.

use actions::inboxes::imap_accounts::{self, FetchFrom, MailHistory};
use actions::inboxes::setup;
use inbound::Ingested;
use inbound::imap::{FetchProtocol, PostFetchAction, Security};
use jobs::{OutgoingMail, RelayOutcome, send_plus_tag_test};
use model::mailboxes::mailbox_grants::MailAuth;
use model::mailboxes::plus_tags::{self, PlusTagState, PlusTags};
use testing::{MINUTE, TestApp, on_both};

use super::secret;

on_both!(
    a_connected_mailbox_has_no_plus_tags_until_a_test_mail_came_back,
    a_test_mail_that_bounces_or_is_refused_leaves_the_tags_off,
    a_copy_of_a_test_mail_without_its_mark_proves_nothing,
    what_somebody_says_about_plus_tags_counts_until_the_mailbox_changes,
    mail_that_this_server_receives_itself_has_plus_tags
);

const SUPPORT: &str = "support@acme.example";

fn fetch_from(host: &str) -> FetchFrom {
    FetchFrom {
        protocol: FetchProtocol::Imap,
        host: host.into(),
        port: 993,
        security: Security::Tls,
        username: "ann".into(),
        auth: MailAuth::Password,
        sealed_password: "x".into(),
        folder: "INBOX".into(),
        after: PostFetchAction::Nothing,
        trusts: None,
        history: MailHistory::Nothing,
        by_operator: true,
    }
}

async fn connect(app: &TestApp, host: &str) {
    let from = fetch_from(host);
    app.act(&app.owner, move |tx, cx| imap_accounts::fetch_mail_from(tx, cx, SUPPORT, &from)).await;
}

async fn tags(app: &TestApp) -> PlusTags {
    let (ws, id) = (app.owner.ws, app.support.id.clone());
    app.act(&app.owner, move |tx, _| plus_tags::load(tx, ws, &id)).await.unwrap()
}

async fn known(app: &TestApp) -> (bool, PlusTagState) {
    let tags = tags(app).await;
    (tags.used, tags.state)
}

/// Sends the test mail, and answers it as it left.
async fn test(app: &TestApp) -> (RelayOutcome, OutgoingMail) {
    let id = &app.support.id;
    let outcome = send_plus_tag_test(&app.app, &*app.outside.relay, &app.owner, id).await.unwrap();
    (outcome, app.outside.relay.attempts().pop().unwrap())
}

/// A reply as it leaves: its text, with line ends as mail has them.
async fn reply(app: &TestApp) -> String {
    let key = app.key("send").await;
    let mail = app.mail("ann@x.example Ann", "Lamp", "It is broken").await;
    app.schedule(&key, &mail.conversation, "A new one is on its way").await;
    app.pass(11 * MINUTE).await;
    let sent = app.outside.relay.attempts().pop().unwrap();
    String::from_utf8_lossy(&sent.bytes).into_owned()
}

async fn a_connected_mailbox_has_no_plus_tags_until_a_test_mail_came_back(app: TestApp) {
    assert!(reply(&app).await.contains("\nReply-To: "), "received here, tags are used");
    connect(&app, "imap.elsewhere.example").await;
    assert_eq!(known(&app).await, (false, PlusTagState::Untested));
    assert!(!reply(&app).await.contains("\nReply-To: "), "nobody knows whether they arrive");

    let (outcome, mail) = test(&app).await;
    assert_eq!(outcome, RelayOutcome::Delivered);
    let [to] = mail.recipients.as_slice() else { panic!("{:?}", mail.recipients) };
    assert!(to.starts_with("support+") && to.ends_with("@acme.example"), "{to}");
    assert_eq!(mail.sender, SUPPORT, "a bounce comes to the bare address");
    assert_eq!(known(&app).await, (false, PlusTagState::Sent));
    assert!(!reply(&app).await.contains("\nReply-To: "), "it is on its way");

    let conversations = app.count("conversations").await;
    let taken = app.ingest_from(SUPPORT, &[to], &mail.bytes).await;
    assert!(matches!(taken[0], Ok(Ingested::OwnCopy)), "{taken:?}");
    assert_eq!(app.count("conversations").await, conversations, "nobody has to read it");
    assert_eq!(known(&app).await, (true, PlusTagState::Works));
    assert!(reply(&app).await.contains("\nReply-To: <support+c_"), "now they are used");
    connect(&app, "imap.elsewhere.example").await;
    assert!(known(&app).await.0, "another password changes nothing");
    connect(&app, "imap.other.example").await;
    assert_eq!(known(&app).await, (false, PlusTagState::Untested), "another provider does");
}

async fn a_test_mail_that_bounces_or_is_refused_leaves_the_tags_off(app: TestApp) {
    connect(&app, "imap.elsewhere.example").await;
    let (_, mail) = test(&app).await;
    let bounce = format!(
        "Message-ID: <dsn-1@mx.example>\r\nFrom: MAILER-DAEMON@mx.example\r\nTo: {SUPPORT}\r\n\
         Subject: Undelivered\r\nMIME-Version: 1.0\r\n\
         Content-Type: multipart/report; report-type=delivery-status; boundary=b\r\n\r\n\
         --b\r\nContent-Type: text/plain\r\n\r\nNo such user.\r\n\
         --b\r\nContent-Type: message/delivery-status\r\n\r\n\
         Reporting-MTA: dns; mx.example\r\n\r\n\
         Final-Recipient: rfc822; {to}\r\nAction: failed\r\nStatus: 5.1.1\r\n\r\n\
         --b\r\nContent-Type: text/rfc822-headers\r\n\r\nMessage-ID: <{id}>\r\n\r\n--b--\r\n",
        to = mail.recipients[0],
        id = mail.message_id,
    );
    let taken = app.ingest_from("", &[SUPPORT], bounce.as_bytes()).await;
    assert!(matches!(taken[0], Ok(Ingested::OwnCopy)), "{taken:?}");
    assert_eq!(known(&app).await, (false, PlusTagState::Refused));
    let late = app.ingest_from(SUPPORT, &[&mail.recipients[0]], &mail.bytes).await;
    assert!(matches!(late[0], Ok(Ingested::OwnCopy)), "{late:?}");
    assert_eq!(known(&app).await, (false, PlusTagState::Refused), "that test is over");

    app.outside.relay.will_say(&[RelayOutcome::Never("no such user".into())]);
    assert!(matches!(test(&app).await.0, RelayOutcome::Never(_)));
    assert_eq!(known(&app).await, (false, PlusTagState::Refused));
    app.outside.relay.will_say(&[RelayOutcome::Unavailable("down".into())]);
    test(&app).await;
    assert_eq!(known(&app).await, (false, PlusTagState::Untested), "nothing was learned");
}

async fn a_copy_of_a_test_mail_without_its_mark_proves_nothing(app: TestApp) {
    connect(&app, "imap.elsewhere.example").await;
    let (_, mail) = test(&app).await;
    let forged = format!(
        "From: eve@x.example\r\nTo: {SUPPORT}\r\nSubject: Hello\r\nMessage-ID: <{}>\r\n\r\nHi\r\n",
        mail.message_id
    );
    app.ingest_from("eve@x.example", &[SUPPORT], forged.as_bytes()).await;
    assert_eq!(known(&app).await, (false, PlusTagState::Sent));
    assert!(!secret(&app).await.is_empty());
}

async fn what_somebody_says_about_plus_tags_counts_until_the_mailbox_changes(app: TestApp) {
    let say = async |on: bool| {
        let id = app.support.id.clone();
        app.act(&app.owner, move |tx, cx| setup::set_plus_tags(tx, cx, &id, on)).await;
    };
    connect(&app, "imap.elsewhere.example").await;
    let (_, mail) = test(&app).await;
    say(false).await;
    app.ingest_from(SUPPORT, &[&mail.recipients[0]], &mail.bytes).await;
    assert_eq!(known(&app).await, (false, PlusTagState::SaidNotToWork), "a person decided");
    say(true).await;
    assert_eq!(known(&app).await, (true, PlusTagState::SaidToWork));
    assert!(reply(&app).await.contains("\nReply-To: "));
    connect(&app, "imap.other.example").await;
    assert_eq!(known(&app).await, (false, PlusTagState::Untested), "that was another mailbox");
}

async fn mail_that_this_server_receives_itself_has_plus_tags(app: TestApp) {
    connect(&app, "imap.elsewhere.example").await;
    let stop = async || {
        app.act(&app.owner, |tx, cx| imap_accounts::stop_fetching(tx, cx, SUPPORT)).await;
    };
    stop().await;
    assert_eq!(known(&app).await, (true, PlusTagState::Untested), "it comes here again");
    connect(&app, "imap.elsewhere.example").await;
    let id = app.support.id.clone();
    app.act(&app.owner, move |tx, cx| setup::set_plus_tags(tx, cx, &id, false)).await;
    stop().await;
    assert_eq!(known(&app).await, (false, PlusTagState::SaidNotToWork), "a person decided");
}
