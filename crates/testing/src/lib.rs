//! A whole Mailroom in a test, without HTTP: its own database, a clock that the test moves, seeded
//! ids, and an outside that does as it is told. Only ever a dev-dependency.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod api;
mod app;
mod conversations;
mod database;
mod drafting;
mod inspection;
mod job_failures;
mod json;
mod logo;
mod mail_in;
mod outside;
mod people;
mod process;
mod random;
mod sandbox;
mod sealer;
mod servers;
mod stored_bytes;
mod unsent;
mod waiting;
mod webhooks;
mod writing;

use std::future::Future;
use std::path::Path;
use std::sync::Arc;

use base::ids::Ids;
use base::security::secret_sealer::SecretSealer;

pub use crate::servers::dovecot::{Dovecot, MAILBOX_PASSWORD, MAILBOX_USER};
pub use crate::servers::graph::{GraphServer, GraphServerFault, GraphState};
pub use crate::servers::help_desk::HelpDeskServer;
pub use crate::servers::oauth_provider::{
    OAUTH_CLIENT_ID, OAUTH_CLIENT_SECRET, OAuthProviderServer, ProviderState,
};
pub use crate::servers::push_service::{TestBrowser, TestOpenPages, TestPushService};
pub use crate::servers::reply_model::TestModel;
pub use api::{Answer, ApiClient, DirectClient, TestCall, TestKey};
pub use app::{PUBLIC_URL, TestApp};
pub use database::{Backend, CONNECTIONS, Database, open, open_keeping};
pub use drafting::{FEE_ANSWER, FEE_QUESTION, FEE_QUESTION_AGAIN, FEE_REPLY};
pub use job_failures::{FailureRecord, JOB_WAITS};
pub use json::{fields, query, text_of, texts};
pub use logo::{LOGO, LOGO_COMMENT};
pub use mail_in::{
    TestAuthenticator, TrustingParser, file, filed_mail, held_warning, letter, raw, raw_with,
};
pub use outside::{Outside, TestReader, TestRelay, TestWebhookSender};
pub use people::{no_mailbox, nowhere, user};
pub use process::{Process, RunningWorker};
pub use random::{Chance, seeds};
pub use stored_bytes::StoredBytes;
pub use waiting::{PATIENCE, becomes_true, eventually};
pub use webhooks::{Hears, TestWebhook, header, signature, signatures};
pub use writing::{approve_draft, approve_draft_at, offer_times, send_reply};

pub const SECOND: i64 = 1_000;
pub const MINUTE: i64 = 60 * SECOND;
pub const HOUR: i64 = 60 * MINUTE;
pub const DAY: i64 = 24 * HOUR;
/// The time between *Send* and sending.
pub const UNDO: i64 = base::limits::UNDO_LIVE_MS;

/// Tests each of these rules, `async fn rule(app: TestApp)`, on SQLite and on PostgreSQL.
#[macro_export]
macro_rules! on_both {
    ($($rule:ident),* $(,)?) => { $(
        mod $rule {
            #[test]
            fn on_sqlite() {
                $crate::run($crate::Backend::Sqlite, super::$rule);
            }

            #[test]
            fn on_postgres() {
                $crate::run($crate::Backend::Postgres, super::$rule);
            }
        }
    )* };
}

/// What a rule is given: a [`TestApp`], or what a crate above the domain makes of one.
pub trait Harness: Sized {
    fn sealer(data: &Path, ids: &Ids) -> Arc<dyn SecretSealer>;
    fn new(app: TestApp) -> Self;
}

impl Harness for TestApp {
    fn sealer(_: &Path, _: &Ids) -> Arc<dyn SecretSealer> {
        Arc::new(sealer::TestSealer)
    }

    fn new(app: TestApp) -> TestApp {
        app
    }
}

/// Runs a rule on one database.
pub fn run<A, F, R>(backend: Backend, rule: F)
where
    A: Harness,
    F: FnOnce(A) -> R,
    R: Future<Output = ()>,
{
    let folder = tempfile::tempdir().unwrap();
    let database = Database::new(backend, folder.path());
    run_in(&database.url, folder, rule);
}

/// Runs a rule on a database that the test looks after itself.
pub fn run_at<A, F, R>(url: &str, rule: F)
where
    A: Harness,
    F: FnOnce(A) -> R,
    R: Future<Output = ()>,
{
    run_in(url, tempfile::tempdir().unwrap(), rule);
}

fn run_in<A, F, R>(url: &str, folder: tempfile::TempDir, rule: F)
where
    A: Harness,
    F: FnOnce(A) -> R,
    R: Future<Output = ()>,
{
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { rule(A::new(TestApp::start::<A>(url, folder).await)).await });
}
