//! Health endpoints for supervisors: liveness and readiness.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use inbox::App;
use inbox::model::scheduled_backups::scheduled_backups;

use crate::net::dns_health::DnsHealth;
use crate::net::tls_certificate::TlsCertificate;
use crate::node::quiet::{QUIET_SENTENCE, QuietMode};
use crate::node::storage_check::StorageCheck;

/// The inputs of `/readyz`.
pub struct Readiness {
    pub app: App,
    pub storage: StorageCheck,
    pub dns: Arc<DnsHealth>,
    pub certificate: Option<Arc<TlsCertificate>>,
    pub quiet: QuietMode,
}

pub fn router(readiness: Readiness) -> Router {
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .with_state(Arc::new(readiness))
}

/// Ready when the database responds and the folders are writable. Failing DNS, failing backups, a
/// standby that is away, a certificate that ends and quiet mode are reported but do not make the
/// server unready.
async fn ready(State(readiness): State<Arc<Readiness>>) -> (StatusCode, String) {
    let unable = |problem: &str| (StatusCode::SERVICE_UNAVAILABLE, format!("{problem}\n"));
    if !readiness.database_answers().await {
        return unable("the database does not answer");
    }
    if let Err(problem) = readiness.storage.outcome().await {
        return unable(&problem);
    }
    let dns = if readiness.dns.is_up().await {
        ""
    } else {
        "the DNS server does not answer: SPF, DKIM and DMARC are not known\n"
    };
    let now = readiness.app.clock.now();
    let certificate = match readiness.certificate.as_ref().and_then(|c| c.problem(now)) {
        Some(problem) => format!("{problem}\n"),
        None => String::new(),
    };
    let quiet =
        if readiness.quiet.is_quiet() { format!("{QUIET_SENTENCE}\n") } else { String::new() };
    let backups =
        if readiness.backups_fail().await { "the last scheduled backup failed\n" } else { "" };
    let replica = match readiness.app.store.replica_status().and_then(|replica| replica.problem) {
        Some(problem) => format!("the replica of the database is not used: {problem}\n"),
        None => String::new(),
    };
    (StatusCode::OK, format!("ready\n{quiet}{dns}{certificate}{backups}{replica}"))
}

impl Readiness {
    async fn backups_fail(&self) -> bool {
        let found = self.app.store.read(scheduled_backups).await;
        found.is_ok_and(|found| found.place.is_some() && found.failures > 0)
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
