//! Health endpoints for supervisors: liveness and readiness.

use std::sync::Arc;

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::routing::get;
use base::app::App;
use model::installation::acme;
use model::installation::scheduled_backups::scheduled_backups;
use transport::net::dns_health::DnsHealth;
use transport::net::tls_certificate::TlsCertificate;

use crate::quiet::{QUIET_SENTENCE, QuietMode};
use crate::storage_check::StorageCheck;
use crate::supervisor::Supervisor;

/// A scheduled backup that is later than this is said to be, in milliseconds.
const BACKUP_LATE_MS: i64 = 6 * 60 * 60 * 1_000;

/// Tasks without which a server does not do its work. Others are told of, so that a fault in one of them
/// does not take every node out of service.
const NEEDED_TASKS: [&str; 3] = ["jobs", "SMTP listener", "LMTP listener"];

/// The inputs of `/readyz`.
pub struct Readiness {
    pub app: App,
    pub storage: StorageCheck,
    pub dns: Arc<DnsHealth>,
    pub certificate: Option<Arc<TlsCertificate>>,
    pub quiet: QuietMode,
    pub tasks: Supervisor,
}

/// One line of `/readyz`.
struct ReadinessLine {
    part: &'static str,
    /// What is wrong, in a sentence without paths or secrets.
    problem: Option<String>,
    /// True where the problem makes the server unready, false where it is only said.
    is_needed: bool,
}

pub fn router(readiness: Readiness) -> Router {
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .with_state(Arc::new(readiness))
}

/// Ready when the database responds, the folders are writable and every task runs. Failing DNS, failing, late or
/// damaged backups, a silent store of blobs, a standby that is away, a certificate that ends or cannot be ordered and
/// quiet mode are reported but do not make the server unready. `?verbose` names every part.
async fn ready(
    State(readiness): State<Arc<Readiness>>,
    RawQuery(query): RawQuery,
) -> (StatusCode, String) {
    let lines = readiness.lines().await;
    let is_down = |line: &&ReadinessLine| line.is_needed && line.problem.is_some();
    let is_ready = !lines.iter().any(|line| is_down(&line));
    let status = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let said = |lines: &mut dyn Iterator<Item = &ReadinessLine>| -> String {
        lines.filter_map(|line| line.problem.as_ref()).map(|said| format!("{said}\n")).collect()
    };
    if query.is_some_and(|query| query.split('&').any(|name| name.starts_with("verbose"))) {
        let first = if is_ready { "ready\n" } else { "not ready\n" };
        let lines = lines
            .iter()
            .map(|line| format!("{}: {}\n", line.part, line.problem.as_deref().unwrap_or("ok")));
        return (status, first.to_owned() + &lines.collect::<String>());
    }
    let body = match is_ready {
        true => format!("ready\n{}", said(&mut lines.iter())),
        false => said(&mut lines.iter().filter(is_down)),
    };
    (status, body)
}

impl Readiness {
    async fn lines(&self) -> Vec<ReadinessLine> {
        let needed = |part, problem| ReadinessLine { part, problem, is_needed: true };
        let told = |part, problem| ReadinessLine { part, problem, is_needed: false };
        let mut lines = Vec::new();
        let is_up = self.database_answers().await;
        let silent = "the database does not answer".to_owned();
        lines.push(needed("database", (!is_up).then_some(silent)));
        if is_up {
            lines.push(needed("storage", self.storage.outcome().await.err()));
        }
        for task in self.tasks.statuses() {
            let is_needed = NEEDED_TASKS.contains(&task.name);
            lines.push(ReadinessLine { part: task.name, problem: task.problem(), is_needed });
        }
        let quiet = self.quiet.is_quiet().then(|| QUIET_SENTENCE.to_owned());
        lines.push(told("quiet mode", quiet));
        lines.push(told("DNS", self.dns_problem().await));
        let now = self.app.clock.now();
        let certificate = self.certificate.as_ref().and_then(|c| c.problem(now));
        lines.push(told("TLS certificate", certificate));
        let ordered_for = self.certificate.as_ref().and_then(|c| c.ordered_for());
        if let (true, Some(host)) = (is_up, ordered_for) {
            lines.push(told("certificate order", self.order_problem(host.to_owned()).await));
        }
        if is_up {
            lines.push(told("scheduled backups", self.backup_problem(now).await));
        }
        let blobs = self.storage.blob_store_problem().await.map(str::to_owned);
        lines.push(told("object store", blobs));
        if let Some(replica) = self.app.store.replica_status() {
            let sentence = |why| format!("the replica of the database is not used: {why}");
            lines.push(told("replica", replica.problem.map(sentence)));
        }
        lines
    }

    async fn dns_problem(&self) -> Option<String> {
        let sentence = "the DNS server does not answer: SPF, DKIM and DMARC are not known";
        (!self.dns.is_up().await).then(|| sentence.to_owned())
    }

    async fn backup_problem(&self, now: i64) -> Option<String> {
        let found = self.app.store.read(scheduled_backups).await.ok()?;
        if let Some(problem) = found.problem() {
            return Some(problem.into());
        }
        let hours = found.overdue_ms(now) / (60 * 60 * 1_000);
        let is_late = found.overdue_ms(now) > BACKUP_LATE_MS;
        is_late.then(|| format!("the scheduled backup is {hours} hours late"))
    }

    async fn order_problem(&self, host: String) -> Option<String> {
        let found = self.app.store.read(move |tx| acme::certificate(tx, &host)).await;
        found.ok()??.problem()
    }

    async fn database_answers(&self) -> bool {
        if !self.app.store.is_reachable() {
            return false;
        }
        let asked = self.app.store.read(|tx| tx.one::<(i64,)>("SELECT CAST(1 AS BIGINT)", &[]));
        match asked.await {
            Ok::<_, db::StoreError>(_) => true,
            Err(error) => {
                if !error.is_outage() {
                    tracing::error!(%error, "the store does not answer");
                }
                false
            }
        }
    }
}
