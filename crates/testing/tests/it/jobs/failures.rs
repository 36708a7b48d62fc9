//! A job that fails fails alone: each queue has one poisoned row among good ones. The good ones are
//! done, the poisoned one is put off by its own time, and at last it is given up and told of.

use std::future::Future;
use std::sync::Arc;

use actions::inboxes::imap_accounts::{self, FetchFrom, MailHistory};
use inbound::imap::{self, FetchProtocol, PostFetchAction, Security};
use inbound::incoming_mail::FiledMail;
use jobs::{BoxFuture, DocumentFile, DocumentReader, ExtractionOutcome, Worker};
use metrics_exporter_prometheus::PrometheusBuilder;
use model::people::notices::{Notice, notify};
use serde_json::json;
use testing::*;

on_both!(
    a_message_whose_file_cannot_be_read_holds_up_no_other,
    a_message_whose_file_is_back_leaves_and_its_failures_are_forgotten,
    a_message_that_could_not_be_recorded_does_not_leave,
    a_message_that_left_is_recorded_as_soon_as_the_database_can_write,
    a_webhook_whose_row_cannot_be_read_holds_up_no_other,
    a_simulated_answer_that_cannot_be_given_holds_up_no_other,
    a_snooze_that_cannot_be_ended_holds_up_no_other_and_comes_back_at_last,
    a_notice_that_cannot_be_put_together_holds_up_no_other,
    app_mail_whose_service_cannot_be_read_holds_up_no_other,
    a_reminder_that_cannot_be_written_holds_up_no_other,
    a_document_whose_reader_panics_holds_up_no_other,
    an_event_that_cannot_be_forgotten_holds_up_no_other,
    an_inbox_whose_row_cannot_be_read_holds_up_no_other
);

/// The subjects of the notices that were sent.
fn notices(app: &TestApp) -> Vec<String> {
    let attempts = app.outside.relay.attempts();
    let mails =
        attempts.iter().map(|mail| String::from_utf8_lossy(&mail.bytes).replace("=\r\n", ""));
    mails.filter(|mail| mail.contains("Auto-Submitted:")).collect()
}

/// Two scheduled messages; the file of the first is missing, as after a disk fault.
async fn one_file_is_missing(app: &TestApp) -> (TestKey, [FiledMail; 2], String) {
    let key = app.key("send").await;
    let poisoned = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    let good = app.mail("nils@customer.example", "Chair", "Where is it?").await;
    let message = app.schedule(&key, &poisoned.conversation, "See the file.").await;
    app.schedule(&key, &good.conversation, "It left.").await;
    app.exec(&format!(
        "INSERT INTO attachments (ws, id, conversation, person, message, filename, content_type,
            size, hash, created_at)
         VALUES ({ws}, 'enc_1', '{conversation}', '{person}', '{message}', 'a.pdf',
            'application/pdf', 10, 'abcdef', 1)",
        ws = app.owner.ws,
        conversation = poisoned.conversation,
        person = user(&app.owner),
    ))
    .await;
    (key, [poisoned, good], message)
}

async fn a_message_whose_file_cannot_be_read_holds_up_no_other(app: TestApp) {
    let (key, [poisoned, good], message) = one_file_is_missing(&app).await;
    app.advance(UNDO);
    app.work().await;
    let sent = app.outside.relay.attempts();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].recipients, ["nils@customer.example"]);
    assert_eq!(app.timeline(&key, &good.conversation, "message").await[1]["status"], "sent");
    let reason = "a file that belongs to it cannot be read";
    let told = json!({ "messageId": message, "reason": reason });
    let delayed = ("send-delayed".to_owned(), told.clone());
    let happened = app.timeline_events(&key, &poisoned.conversation).await;
    assert_eq!(happened, std::slice::from_ref(&delayed));
    app.is_put_off_and_given_up("messages").await;
    let failed = ("send-failed".to_owned(), told);
    assert_eq!(app.timeline_events(&key, &poisoned.conversation).await, [delayed, failed]);
    let messages = app.timeline(&key, &poisoned.conversation, "message").await;
    assert_eq!(messages[1]["status"], "failed");
    assert_eq!(app.outside.relay.attempts().len(), 1);
}

async fn a_message_whose_file_is_back_leaves_and_its_failures_are_forgotten(app: TestApp) {
    let (_, _, _) = one_file_is_missing(&app).await;
    app.advance(UNDO);
    app.work().await;
    assert_eq!(app.failure("messages").await.attempts, 1);
    app.exec("DELETE FROM attachments WHERE id = 'enc_1'").await;
    app.pass(MINUTE).await;
    assert_eq!(app.outside.relay.attempts().len(), 2);
    assert_eq!(app.count("job_failures").await, 0);
}

async fn a_message_that_could_not_be_recorded_does_not_leave(app: TestApp) {
    let key = app.key("send").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    app.schedule(&key, &mail.conversation, "It left.").await;
    let id = &mail.conversation;
    app.exec(&format!("UPDATE conversations SET status = 'mystery' WHERE id = '{id}'")).await;
    app.pass(2 * DAY).await;
    assert!(app.outside.relay.attempts().is_empty(), "it would be sent again and again");
    assert_eq!(app.failure("messages").await.attempts, 6);
}

/// PostgreSQL alone can be told to have no room for a moment.
async fn a_message_that_left_is_recorded_as_soon_as_the_database_can_write(app: TestApp) {
    let key = app.key("send").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    app.schedule(&key, &mail.conversation, "It left.").await;
    if app.app.store.is_shared() {
        for statement in [
            "CREATE SEQUENCE attempts_to_record",
            "CREATE FUNCTION have_no_room() RETURNS trigger LANGUAGE plpgsql AS \
             'BEGIN IF nextval(''attempts_to_record'') < 3 THEN RAISE EXCEPTION ''no room'' \
             USING ERRCODE = ''53100''; END IF; RETURN NEW; END'",
            "CREATE TRIGGER have_no_room BEFORE UPDATE ON messages FOR EACH ROW \
             WHEN (NEW.status = 'sent') EXECUTE FUNCTION have_no_room()",
        ] {
            app.exec(statement).await;
        }
    }
    app.advance(UNDO);
    app.work().await;
    assert_eq!(app.outside.relay.attempts().len(), 1);
    assert_eq!(app.count("messages WHERE status = 'sent'").await, 1);
    assert_eq!(app.count("job_failures").await, 0);
    app.pass(DAY).await;
    assert_eq!(app.outside.relay.attempts().len(), 1, "it left once");
}

async fn a_webhook_whose_row_cannot_be_read_holds_up_no_other(app: TestApp) {
    let bad = app.webhook(&app.owner, false, true).await;
    let good = app.webhook(&app.owner, false, true).await;
    app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    app.exec(&format!("UPDATE webhooks SET state = 'mystery' WHERE id = '{bad}'")).await;
    app.work().await;
    assert_eq!(app.outside.webhook_sender.calls().len(), 1);
    app.is_put_off_and_given_up("deliveries").await;
    let mut deliveries = app.deliveries().await;
    deliveries.sort();
    let told = |id: &dyn ToString, state: &str| {
        (id.to_string(), "turn.changed".to_owned(), state.to_owned())
    };
    let mut expected = [told(&bad, "failed"), told(&good, "delivered")];
    expected.sort();
    assert_eq!(deliveries, expected);
}

async fn a_simulated_answer_that_cannot_be_given_holds_up_no_other(app: TestApp) {
    let key = app.test_key("write send").await;
    for from in ["reply+1@x.test", "reply+2@x.test"] {
        let body = json!({ "from": from, "text": "Hello" });
        let made = app.post(&key, "/sandbox/inbound", body).await.is(201).json();
        app.schedule(&key, &text_of(&made, "conversationId"), "Hello back").await;
    }
    app.advance(5 * SECOND);
    app.work().await;
    assert_eq!(app.count("sandbox_replies").await, 2);
    app.exec("UPDATE sandbox_replies SET kind = 'mystery' WHERE email = 'reply+1@x.test'").await;
    app.advance(5 * SECOND);
    app.work().await;
    assert_eq!(app.count("sandbox_replies").await, 1);
    assert_eq!(app.count("messages WHERE direction = 'inbound'").await, 3);
    app.is_put_off_and_given_up("sandbox answers").await;
    assert_eq!(app.count("sandbox_replies").await, 0);
}

async fn a_snooze_that_cannot_be_ended_holds_up_no_other_and_comes_back_at_last(app: TestApp) {
    let key = app.key("read").await;
    let bad = app.mail("mara@customer.example", "Lamp", "One").await.conversation;
    let good = app.mail("nils@customer.example", "Chair", "Two").await.conversation;
    for id in [&bad, &good] {
        app.snooze(&app.owner, id, app.now() + HOUR).await;
    }
    app.exec(&format!("UPDATE conversations SET status = 'mystery' WHERE id = '{bad}'")).await;
    app.advance(HOUR);
    app.work().await;
    assert_eq!(app.subjects(&key, "view=open").await, ["Chair"]);
    app.is_put_off_and_given_up("snoozes").await;
    let mut open = app.subjects(&key, "view=open").await;
    open.sort();
    assert_eq!(open, ["Chair", "Lamp"]);
    let told = notices(&app);
    assert_eq!(told.len(), 1);
    assert!(told[0].contains("was given up"), "{told:?}");
}

async fn a_notice_that_cannot_be_put_together_holds_up_no_other(app: TestApp) {
    let other = app.other_workspace("Globex").await;
    for person in [&other, &app.owner] {
        let id = user(person);
        let notice = Notice { subject: "Hello", text: "Text" };
        app.act(person, move |tx, cx| notify(tx, cx, &id, &notice)).await;
    }
    app.exec(&format!("DELETE FROM mailboxes WHERE ws = {} AND circle = 'team'", other.ws)).await;
    app.work().await;
    assert_eq!(notices(&app).len(), 1);
    app.is_put_off_and_given_up("notices").await;
    assert_eq!(app.count("notices").await, 0);
}

async fn app_mail_whose_service_cannot_be_read_holds_up_no_other(app: TestApp) {
    for (id, kind) in [("svc_1", "mystery"), ("svc_2", "resend")] {
        app.exec(&format!(
            "INSERT INTO services (ws, id, service, token, api_key, api_url, reference_tag,
                made_by, noted, created_at)
             VALUES ({ws}, '{id}', '{kind}', '{id}', '', '', '', '{person}', 0, 0)",
            ws = app.owner.ws,
            person = user(&app.owner),
        ))
        .await;
        app.exec(&format!(
            "INSERT INTO app_mail (ws, livemode, header_key, header_id, reference, to_list,
                subject, recorded_at, service, service_mail, body_due_at)
             VALUES ({ws}, TRUE, '{id}', '{id}', '', '[]', '', 0, '{id}', 'x', {now})",
            ws = app.owner.ws,
            now = app.now(),
        ))
        .await;
    }
    app.work().await;
    let asked = "services WHERE id = 'svc_2' AND last_error LIKE 'This process cannot%'";
    assert_eq!(app.count(asked).await, 1);
    app.is_put_off_and_given_up(inbox_words_queue()).await;
    assert_eq!(app.count("app_mail WHERE header_key = 'svc_1' AND body_due_at IS NULL").await, 1);
}

async fn a_reminder_that_cannot_be_written_holds_up_no_other(app: TestApp) {
    let key = app.key("read send").await;
    let mut asked = Vec::new();
    for from in ["mara@customer.example", "nils@customer.example"] {
        let mail = app.mail(from, "Papers", "Hello").await;
        let body = json!({ "documents": [{ "label": "Passport" }], "send": true });
        let made = app.on(&key, &mail.conversation, "document-requests", body).await.is(201);
        asked.push(text_of(&made.json(), "requestId"));
    }
    app.pass(UNDO).await;
    app.exec(&format!(
        "UPDATE document_requests SET message = 'msg_gone' WHERE id = '{}'",
        asked[0]
    ))
    .await;
    app.advance(2 * DAY);
    app.work().await;
    assert_eq!(app.count("timeline_events WHERE event = 'reminded'").await, 1);
    app.is_put_off_and_given_up("reminders").await;
    let planned = format!("document_requests WHERE id = '{}' AND remind_at IS NOT NULL", asked[0]);
    assert_eq!(app.count(&planned).await, 0);
}

async fn a_document_whose_reader_panics_holds_up_no_other(app: TestApp) {
    for name in ["bad.pdf", "good.pdf"] {
        let mail = mail::Mail {
            attachments: vec![file(name, b"%PDF-1.7 words")],
            ..letter("mara@customer.example", name, "See the file")
        };
        app.deliver(&app.support, mail).await;
    }
    let (relay, webhook_sender) = (app.outside.relay.clone(), app.outside.webhook_sender.clone());
    let reader = Arc::new(PanickingReader(app.outside.reader.clone()));
    let worker = Worker::new(app.app.clone(), relay, webhook_sender, reader);
    for wait in JOB_WAITS.iter().chain(&[0]) {
        worker.run_due().await.unwrap();
        assert_eq!(app.outside.reader.file_names(), ["good.pdf"]);
        app.advance(wait * MINUTE);
    }
    let failed = app.failure("documents").await;
    assert_eq!((failed.attempts, failed.next_try_in), (6, None));
    assert_eq!(app.count("documents WHERE kind = 'other' AND extract_at IS NULL").await, 2);
}

async fn an_event_that_cannot_be_forgotten_holds_up_no_other(app: TestApp) {
    app.mail("mara@customer.example", "Lamp", "One").await;
    app.mail("nils@customer.example", "Chair", "Two").await;
    let first = app.events().await[0]["id"].as_str().unwrap().to_owned();
    let statements = match app.app.store.is_shared() {
        true => vec![
            format!(
                "CREATE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS \
                 'BEGIN IF OLD.id = ''{first}'' THEN RAISE EXCEPTION ''poisoned''; END IF; \
                 RETURN OLD; END'"
            ),
            "CREATE TRIGGER poison BEFORE DELETE ON events FOR EACH ROW \
             EXECUTE FUNCTION poison()"
                .to_owned(),
        ],
        false => vec![format!(
            "CREATE TRIGGER poison BEFORE DELETE ON events WHEN OLD.id = '{first}' \
             BEGIN SELECT RAISE(ABORT, 'poisoned'); END"
        )],
    };
    for statement in statements {
        app.exec(&statement).await;
    }
    app.advance(30 * DAY + 2 * HOUR);
    app.work().await;
    assert_eq!(app.count("events").await, 1, "only the poisoned one is left");
    assert_eq!(app.failure("retention").await.attempts, 1);
    app.work().await;
    assert_eq!(app.failure("retention").await.attempts, 1, "not before its time");
}

async fn an_inbox_whose_row_cannot_be_read_holds_up_no_other(app: TestApp) {
    app.team_inbox("sales@acme.example", "Sales").await;
    for address in ["support@acme.example", "sales@acme.example"] {
        let from = fetch_from();
        app.act(&app.owner, move |tx, cx| imap_accounts::fetch_mail_from(tx, cx, address, &from))
            .await;
    }
    let bad = app.support.id.clone();
    app.exec(&format!("UPDATE imap_accounts SET security = 'mystery' WHERE mailbox = '{bad}'"))
        .await;
    let (ids, now) = (app.app.ids.clone(), app.now());
    let claim = app.app.store.write(move |tx| imap::claim_due(tx, &ids, now, 100));
    let claimed = claim.await.unwrap();
    assert_eq!(claimed.len(), 1);
    assert_eq!(claimed[0].inbox.mailbox.address, "sales@acme.example");
    let listed = app.act(&app.owner, |tx, cx| imap_accounts::list_fetched(tx, cx.actor)).await;
    let told = listed.iter().find(|inbox| inbox.mailbox == bad).unwrap();
    assert!(!told.ok && told.last_error.as_ref().unwrap().contains("cannot be read"));
    assert_eq!(told.next_attempt_at.unwrap().0, app.now() + 10 * SECOND);
}

fn fetch_from() -> FetchFrom {
    FetchFrom {
        protocol: FetchProtocol::Imap,
        host: "localhost".into(),
        port: 993,
        security: Security::Tls,
        username: "ann".into(),
        auth: model::mailboxes::mailbox_grants::MailAuth::Password,
        sealed_password: "x".into(),
        folder: "INBOX".into(),
        after: PostFetchAction::Nothing,
        trusts: None,
        history: MailHistory::Everything,
        by_operator: true,
    }
}

/// The queue of app mail whose words are read.
fn inbox_words_queue() -> &'static str {
    "app mail words"
}

/// Panics over every file called `bad.pdf`, and hands others on.
struct PanickingReader(Arc<dyn DocumentReader>);

impl DocumentReader for PanickingReader {
    fn read<'a>(&'a self, document: &'a DocumentFile) -> BoxFuture<'a, ExtractionOutcome> {
        assert_ne!(document.filename, "bad.pdf", "this one ends its reader");
        self.0.read(document)
    }
}

#[test]
fn failures_and_lateness_are_counted_as_they_are() {
    measured(|app, figures| async move {
        one_file_is_missing(&app).await;
        app.advance(UNDO);
        let working = app.keep_working();
        eventually(async || {
            figures().contains("mailroom_job_failures_total{queue=\"messages\"} 1")
        })
        .await;
        eventually(async || app.outside.relay.attempts().len() == 1).await;
        let on_time = "mailroom_job_lag_seconds{queue=\"messages\"} 0\n";
        eventually(async || figures().contains(on_time)).await;
        drop(working);
    });
}

#[test]
fn a_queue_whose_rounds_fail_says_how_late_it_is() {
    measured(|app, figures| async move {
        app.mail("mara@customer.example", "Lamp", "One").await;
        // Nothing can be claimed: the column that claims go by is gone.
        app.exec(
            "INSERT INTO notices (ws, id, email, subject, text, due_at, attempts, created_at)
                  VALUES (1, 'x', 'a@b.example', 's', 't', 1000, 0, 0)",
        )
        .await;
        app.exec("ALTER TABLE notices RENAME COLUMN attempts TO gone").await;
        let working = app.keep_working();
        let late =
            format!("mailroom_job_lag_seconds{{queue=\"notices\"}} {}", app.now() / 1_000 - 1);
        eventually(async || figures().contains(&late)).await;
        assert!(figures().contains("mailroom_job_failures_total{queue=\"notices\"}"));
        drop(working);
    });
}

/// Runs a rule whose figures are its own.
fn measured<F, R>(rule: F)
where
    F: FnOnce(TestApp, Box<dyn Fn() -> String>) -> R,
    R: Future<Output = ()>,
{
    let recorder = PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    metrics::with_local_recorder(&recorder, || {
        run(Backend::Sqlite, |app| rule(app, Box::new(move || handle.render())));
    });
}
