//! A new owner with only a browser: from an empty workspace to a first real mail answered, against
//! Dovecot and a submission server of aiosmtpd.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use testing::{
    Dovecot, MAILBOX_PASSWORD, MAILBOX_USER, OAUTH_CLIENT_ID, OAUTH_CLIENT_SECRET,
    OAuthProviderServer, becomes_true,
};
use transport::mail_oauth::{OAuthClient, OAuthClients};

use crate::support::browser::{Browser, Kind};
use crate::support::new_workspace::NewWorkspaceServer;

/// The whole way must take less.
const FIVE_MINUTES: Duration = Duration::from_secs(5 * 60);
/// The Python that packages of the system install their libraries for.
const SYSTEM_PYTHON: &str = "/usr/bin/python3";
const ADDRESS: &str = "support@oram-sails.example";
/// The account at a provider, whose mailbox the mail server has.
const ACCOUNT: &str = "ann@oram-sails.example";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_owner_with_only_a_browser_answers_a_first_real_mail() {
    let dovecot = Dovecot::start();
    let submission = SubmissionServer::start(&dovecot);
    let server = NewWorkspaceServer::open(dovecot.roots.clone()).await;
    let _working = server.keep_working();
    let begun = Instant::now();

    let browser = Browser::open(Kind::Usual).await;
    browser.goto(&server.sign_in_link().await).await;
    browser.click(".btn.primary").await;
    browser.says("Welcome, Signe").await;
    browser.says("1 of 9 done").await;

    connect(&browser, &dovecot, &submission, "not the password").await;
    browser.says("The mailbox refused the password").await;
    connect(&browser, &dovecot, &submission, MAILBOX_PASSWORD).await;
    browser.says("Connected. Its mail is being fetched now.").await;
    browser.says("Nothing has arrived yet").await;

    dovecot.deliver(&format!(
        "From: Bruno <bruno@keller.example>\r\nTo: {ADDRESS}\r\nSubject: A torn sail\r\n\
         Message-ID: <1@keller.example>\r\n\r\nCan you mend it?\r\n"
    ));
    // The page refreshes by itself.
    browser.says("It is here").await;
    browser.says("A torn sail").await;
    browser.click("#live-arrival a").await;
    browser.says("Can you mend it?").await;
    browser.click(".answer .btn.primary").await;
    browser.write("#body", "Dear Bruno,\n\nyes, bring it in.").await;
    browser.click("[data-send]").await;
    browser.says("leaves at").await;
    server.pass_undo_window();

    let mails = submission.folder();
    let arrived = || mail_in(&mails).is_some();
    assert!(becomes_true(arrived), "the reply was not sent");
    let mail = mail_in(&mails).unwrap();
    for line in ["RCPT bruno@keller.example", "In-Reply-To: <1@keller.example>", "Re: A torn sail"]
    {
        assert!(mail.contains(line), "{line} in {mail}");
    }
    assert!(mail.contains("yes, bring it in."), "{mail}");
    assert!(begun.elapsed() < FIVE_MINUTES, "{:?}", begun.elapsed());
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mailbox_is_connected_by_signing_in_at_its_provider() {
    let provider = OAuthProviderServer::start(ACCOUNT);
    let dovecot = Dovecot::with_tokens(provider.token_info());
    let submission = SubmissionServer::start_with(&dovecot, &[provider.token_info()]);
    let endpoints = provider.endpoints(dovecot.tls_port, submission.port);
    let secret = Some(OAUTH_CLIENT_SECRET.to_owned());
    let client = OAuthClient::google(OAUTH_CLIENT_ID.into(), secret).with_endpoints(&endpoints);
    let clients = OAuthClients::new(vec![client.unwrap()]);
    let server = NewWorkspaceServer::open_with(dovecot.roots.clone(), clients).await;
    let _working = server.keep_working();
    dovecot.deliver(&format!(
        "From: Bruno <bruno@keller.example>\r\nTo: {ACCOUNT}\r\nSubject: A torn sail\r\n\
         Message-ID: <1@keller.example>\r\n\r\nCan you mend it?\r\n"
    ));

    let browser = Browser::open(Kind::Usual).await;
    browser.goto(&server.sign_in_link().await).await;
    browser.click(".btn.primary").await;
    browser.says("Welcome, Signe").await;
    browser.write("#address", ACCOUNT).await;
    // The form posts to us and the browser goes on to the provider, which sends it back.
    browser.click("button[formaction='/settings/inboxes/connect/google']").await;
    browser.says("Connected. Its mail is being fetched now.").await;
    browser.says("It is here").await;
    browser.click("#live-arrival a").await;
    browser.says("Can you mend it?").await;
    browser.click(".answer .btn.primary").await;
    browser.write("#body", "Dear Bruno,\n\nyes, bring it in.").await;
    browser.click("[data-send]").await;
    browser.says("leaves at").await;
    server.pass_undo_window();
    let mails = submission.folder();
    let arrived = || mail_in(&mails).is_some();
    assert!(becomes_true(arrived), "the reply was not sent");
    assert!(mail_in(&mails).unwrap().contains("yes, bring it in."));
    browser.close().await;
}

/// Fills in the form of the mailbox, its servers by hand, and sends it.
async fn connect(
    browser: &Browser,
    dovecot: &Dovecot,
    submission: &SubmissionServer,
    password: &str,
) {
    browser.script("document.querySelector('details.found').open = true").await;
    for (field, value) in [
        ("address", ADDRESS),
        ("imap_host", "localhost"),
        ("imap_port", &dovecot.tls_port.to_string()),
        ("smtp_host", "localhost"),
        ("smtp_port", &submission.port.to_string()),
        ("username", MAILBOX_USER),
        ("password", password),
    ] {
        browser.write(&format!("#{field}"), value).await;
    }
    browser.click("form[action='/settings/inboxes/connect'] .btn.primary").await;
}

/// The mail that was taken for the customer. A test mail to the inbox's own address leaves too.
fn mail_in(folder: &Path) -> Option<String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mails = entries.filter(|path: &PathBuf| path.extension().is_some_and(|end| end == "eml"));
    let mut texts =
        mails.map(|path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned());
    texts.find(|text| text.contains("RCPT bruno@keller.example"))
}

/// `smtp_server.py`, with the certificate of the Dovecot.
struct SubmissionServer {
    process: Child,
    port: u16,
    folder: tempfile::TempDir,
}

impl SubmissionServer {
    fn start(dovecot: &Dovecot) -> SubmissionServer {
        SubmissionServer::start_with(dovecot, &[])
    }

    /// The same with where it asks about access tokens.
    fn start_with(dovecot: &Dovecot, token_info: &[String]) -> SubmissionServer {
        let folder = tempfile::tempdir().unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/support/smtp_server.py");
        let python = std::env::var("MAILROOM_TEST_PYTHON").unwrap_or_else(|_| SYSTEM_PYTHON.into());
        let (certificate, key) = dovecot.certificate();
        let mut process = Command::new(python)
            .arg(script)
            .args([certificate, key])
            .args([MAILBOX_USER, MAILBOX_PASSWORD])
            .arg(folder.path())
            .args(token_info)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Python with aiosmtpd is installed; scripts/test installs it");
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().parse().expect("the server prints its port");
        SubmissionServer { process, port, folder }
    }

    fn folder(&self) -> PathBuf {
        self.folder.path().to_owned()
    }
}

impl Drop for SubmissionServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
