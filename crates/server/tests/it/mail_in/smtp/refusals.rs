//! Every refusal is counted by its reason and logged with the envelope, without a word of the mail.

use std::io::Write;
use std::sync::{Arc, Mutex};

use mail::smtp::SessionLimits;
use metrics_exporter_prometheus::PrometheusBuilder;
use server::mail_in::smtp::SmtpLimits;
use tokio::net::UnixStream;
use tracing_subscriber::fmt::MakeWriter;

use crate::support::{Backend, Client, TestApp, eventually, raw, raw_with, run};

const SUPPORT: &str = "support@acme.example";

/// What was logged.
#[derive(Clone, Default)]
struct Logged(Arc<Mutex<Vec<u8>>>);

impl Logged {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Logged {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Logged {
    type Writer = Logged;

    fn make_writer(&'a self) -> Logged {
        self.clone()
    }
}

#[test]
fn each_refusal_is_counted_and_logged_with_envelope_and_reason_alone() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let (handle, logged) = (recorder.handle(), Logged::default());
    let subscriber =
        tracing_subscriber::fmt().with_writer(logged.clone()).with_ansi(false).finish();
    let (figures, log) = (handle.clone(), logged.clone());
    tracing::subscriber::with_default(subscriber, || {
        metrics::with_local_recorder(&recorder, || {
            run(Backend::Sqlite, |app| refusals(app, move || figures.render()));
        });
    });
    let log = log.text();
    for reason in REASONS {
        let line = format!("reason=\"{reason}\"");
        assert!(log.contains(&line), "{line} in {log}");
    }
    let refused: Vec<&str> = log.lines().filter(|line| line.contains("mail was refused")).collect();
    let from = |client: &str| refused.iter().any(|line| line.contains(client));
    assert!(from("client=127.0.0.1 protocol=smtp") && from("client=local protocol=lmtp"), "{log}");
    let named = refused.iter().all(|line| line.contains("mail{id=") && line.contains(" client="));
    assert!(named, "{log}");
    for line in [
        r#"reason="bad-sequence""#,
        r#"reason="no-such-inbox" sender="ann@x.example" recipient="nobody@acme.example""#,
        r#"reason="relay-denied" sender="ann@x.example" recipient="ann@elsewhere.example""#,
        r#"reason="too-many-recipients" sender="ann@x.example" recipient="support@acme.example""#,
        r#"reason="too-large" sender="ann@x.example""#,
        r#"reason="bare-line-end" sender="ann@x.example" recipient="support@acme.example""#,
        r#"reason="mail-loop" sender="ann@x.example" recipient="support@acme.example""#,
        r#"reason="no-such-inbox" sender="<>" recipient="?a??reason=??x?@acme.example""#,
    ] {
        assert!(refused.iter().any(|said| said.contains(line)), "{line} in {log}");
    }
    for secret in ["Secret words", "Topic", "\" a", "a reason"] {
        assert!(!log.contains(secret), "{secret} in {log}");
    }
}

const REASONS: [&str; 12] = [
    "no-such-inbox",
    "relay-denied",
    "bad-sequence",
    "syntax",
    "unknown-command",
    "too-many-recipients",
    "too-large",
    "bare-line-end",
    "mail-loop",
    "too-many-connections",
    "tls-failure",
    "not-mail",
];

async fn refusals(app: TestApp, figures: impl Fn() -> String) {
    let session = SessionLimits { recipients: 1, message_bytes: 4_000, ..SessionLimits::default() };
    let limits = SmtpLimits { session, connections_each: 2, ..SmtpLimits::default() };
    let doors = app.doors(limits, "").await;
    let mut client = doors.known_client().await;
    client.say("DATA", "503 ").await;
    client.say("MAIL FROM:<ann@x.example>", "250 ").await;
    client.say("RCPT TO:<nobody@acme.example>", "550 ").await;
    client.say("RCPT TO:<ann@elsewhere.example>", "550 ").await;
    client.say(&format!("RCPT TO:<{SUPPORT}>"), "250 ").await;
    client.say(&format!("RCPT TO:<{SUPPORT}>"), "452 ").await;
    client.say("RSET", "250 ").await;
    client.say("MAIL FROM:<ann@x.example> SIZE=5000", "552 ").await;
    client.send(SUPPORT, "Subject: Topic\n\nSecret words\r\n", "550 ").await;
    let hops = "Received: from a by b; Sun, 15 Nov 2026 09:00:00 +0000\r\n".repeat(51);
    client.send(SUPPORT, &raw_with(&hops, "ann@x.example", "Topic", "Secret words"), "450 ").await;
    let mut plain = doors.known_client().await;
    plain.say("STARTTLS", "220 ").await;
    let mut third = Client::over(tokio::net::TcpStream::connect(doors.smtp).await.unwrap());
    assert!(third.next_is("421 ").await);
    plain.write(b"this is no handshake\r\n\r\n").await;
    eventually(async || figures().contains("tls-failure")).await;
    let stream = UnixStream::connect(&doors.lmtp).await.unwrap();
    let mut local = Client::greeted(stream, "220 ").await;
    local.say("MAIL FROM", "501 ").await;
    local.say("FROBNICATE", "500 ").await;
    local.say("GET / HTTP/1.1", "421 ").await;
    let stream = UnixStream::connect(&doors.lmtp).await.unwrap();
    let mut local = Client::greeted(stream, "220 ").await;
    local.say("LHLO mx.acme.example", "250 ").await;
    local.say("MAIL FROM:<>", "250 ").await;
    // An address that would look like a field of the line.
    local.say("RCPT TO:<\"a\\ reason=\\\"x\"@acme.example>", "550 ").await;
    for reason in REASONS {
        let figure = format!("mailroom_smtp_refused_total{{reason=\"{reason}\"}} ");
        let wanted = || figures().contains(&figure);
        assert!(wanted(), "{figure} in {}", figures());
    }
    let counted = "mailroom_smtp_refused_total{reason=\"relay-denied\"} 1";
    assert!(figures().contains(counted), "{}", figures());
    let stream = UnixStream::connect(&doors.lmtp).await.unwrap();
    let mut local = Client::greeted(stream, "220 ").await;
    local.say("LHLO mx.acme.example", "250 ").await;
    let before = figures();
    local.send(SUPPORT, &raw("ann@x.example", "Topic", "Secret words"), "250 ").await;
    let refused = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| line.contains("smtp_refused"));
        let mut lines: Vec<String> = lines.map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(refused(&figures()), refused(&before), "what is taken is not refused");
}
