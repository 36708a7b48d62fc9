//! A mail that ends the process while it is read: it is filed unread, and the next one comes in.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base::app::App;
use base::files::blobs::Blobs;
use base::mail_reading::{MailParser, MailReading};
use inbound::{InboundMail, MailSource, ingest};
use mail::{Envelope, ParsedMail};
use testing::{TestApp, TrustingParser, filed_mail, on_both, raw, texts};

on_both!(
    a_mail_that_ended_the_process_is_filed_unread_and_the_next_one_comes_in,
    a_mail_that_only_was_there_when_the_process_ended_is_read,
    a_mail_that_ends_the_process_twice_is_not_tried_any_more
);

/// Where the process of `the_process_ends_while_it_reads_a_mail` finds its journals.
const FOLDER: &str = "MAILROOM_TEST_JOURNALS";
const CHILD: &str = "inbound::poisoned::the_process_ends_while_it_reads_a_mail";

/// Cannot read one mail, in whichever process.
struct FragileParser {
    word: &'static str,
    trials: AtomicUsize,
}

impl MailParser for FragileParser {
    fn parse(&self, raw: &[u8], envelope: Envelope<'_>) -> ParsedMail {
        let is_poison = memchr::memmem::find(raw, self.word.as_bytes()).is_some();
        // The journal is what the next process has; nothing is unwound.
        if is_poison {
            std::process::abort();
        }
        mail::parse(raw, envelope)
    }

    fn survives(&self, raw: &[u8]) -> bool {
        self.trials.fetch_add(1, Ordering::SeqCst);
        memchr::memmem::find(raw, self.word.as_bytes()).is_none()
    }
}

fn fragile() -> Arc<FragileParser> {
    Arc::new(FragileParser { word: "is poison", trials: AtomicUsize::new(0) })
}

fn poison() -> String {
    raw("ann@x.example", "Lamp", "This is poison.")
}

fn harmless() -> String {
    raw("ben@x.example", "Chair", "It came in at the same time.")
}

/// Run in a process of its own by the rules above: it has begun with two mails and dies of one.
#[test]
#[ignore = "ends the process; started by the rules of this file"]
fn the_process_ends_while_it_reads_a_mail() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let reading = MailReading::new(Path::new(&folder), fragile());
    let _other = reading.begin(&Blobs::hash_of(harmless().as_bytes()));
    let _mark = reading.begin(&Blobs::hash_of(poison().as_bytes()));
    reading.parser().parse(poison().as_bytes(), Envelope::default());
}

fn die(folder: &Path) {
    let ended = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", CHILD])
        .env(FOLDER, folder)
        .output()
        .unwrap();
    assert!(!ended.status.success(), "{ended:?}");
    assert!(std::fs::read_dir(folder).unwrap().count() > 0);
}

/// The next process on the same folder.
fn restarted(app: &TestApp, folder: &Path, parser: &Arc<FragileParser>) -> App {
    let parser: Arc<dyn MailParser> = Arc::clone(parser) as Arc<dyn MailParser>;
    App { reading: MailReading::new(folder, parser), ..app.app.clone() }
}

async fn arrives(app: &TestApp, node: &App, mail: &str) -> inbound::incoming_mail::FiledMail {
    let delivery = InboundMail {
        sender: Some("ann@x.example".into()),
        recipients: vec!["support@acme.example".into()],
        source: MailSource::OurServer,
        raw: mail.as_bytes().to_vec(),
    };
    filed_mail(&ingest(node, &*app.outside.authenticator, delivery).await[0])
}

async fn a_mail_that_ended_the_process_is_filed_unread_and_the_next_one_comes_in(app: TestApp) {
    let key = app.key("read").await;
    let folder = tempfile::tempdir().unwrap();
    die(folder.path());
    let parser = fragile();
    let node = restarted(&app, folder.path(), &parser);
    let unread = arrives(&app, &node, &poison()).await;
    let shown = app.timeline(&key, &unread.conversation, "message").await;
    let sentence = "Mailroom could not read this mail. It is attached as it came.";
    assert_eq!(texts(&shown, "text"), [sentence]);
    assert_eq!(shown[0]["from"]["email"], "ann@x.example");
    assert_eq!(shown[0]["attachments"][0]["filename"], "mail.eml");
    assert_eq!(app.read(&key, &unread.conversation).await["subject"], "Lamp");
    assert_eq!(parser.trials.load(Ordering::SeqCst), 2, "the whole mail, and its header");
    let next = arrives(&app, &node, &raw("cara@x.example", "Table", "Where is it?")).await;
    let shown = app.timeline(&key, &next.conversation, "message").await;
    assert_eq!(texts(&shown, "text"), ["Where is it?"]);
    assert_eq!(parser.trials.load(Ordering::SeqCst), 2, "who is no suspect is not tried");
}

async fn a_mail_that_only_was_there_when_the_process_ended_is_read(app: TestApp) {
    let key = app.key("read").await;
    let folder = tempfile::tempdir().unwrap();
    die(folder.path());
    let parser = fragile();
    let node = restarted(&app, folder.path(), &parser);
    let read = arrives(&app, &node, &harmless()).await;
    let shown = app.timeline(&key, &read.conversation, "message").await;
    assert_eq!(texts(&shown, "text"), ["It came in at the same time."]);
    assert_eq!(parser.trials.load(Ordering::SeqCst), 1);
    // It is no suspect any more, for this process or the next.
    let known = restarted(&app, folder.path(), &parser);
    assert!(known.reading.is_safe(&Blobs::hash_of(harmless().as_bytes()), b""));
    assert_eq!(parser.trials.load(Ordering::SeqCst), 1);
}

async fn a_mail_that_ends_the_process_twice_is_not_tried_any_more(app: TestApp) {
    let folder = tempfile::tempdir().unwrap();
    die(folder.path());
    die(folder.path());
    let reading = MailReading::new(folder.path(), Arc::new(TrustingParser));
    let node = App { reading, ..app.app.clone() };
    let mail = poison();
    assert!(!node.reading.is_safe(&Blobs::hash_of(mail.as_bytes()), mail.as_bytes()));
    arrives(&app, &node, &mail).await;
}
