//! Mails that ended a process are read in a process apart first.

use std::sync::Arc;

use base::concurrency::blocking::spawn_blocking;
use base::mail_reading::MailParser;
use document_reader::SandboxedTrial;

use super::program;

async fn survives(trial: SandboxedTrial, raw: &'static [u8]) -> bool {
    let trial = Arc::new(trial);
    spawn_blocking(move || trial.survives(raw)).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mail_is_survived_by_a_process_apart() {
    let mail =
        b"From: ann@x.example\r\nSubject: Lamp\r\nContent-Type: text/html\r\n\r\n<p>Broken</p>";
    assert!(survives(SandboxedTrial::with_program(program()), mail).await);
    assert!(survives(SandboxedTrial::with_program(program()), b"").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_ends_or_does_not_start_did_not_survive() {
    for program in ["/bin/false", "/no/such/program"] {
        assert!(!survives(SandboxedTrial::with_program(program.into()), b"To: b\r\n\r\n").await);
    }
}
