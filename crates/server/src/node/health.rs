//! Health endpoints for supervisors: liveness and readiness.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use inbox::App;

use crate::net::dns_health::DnsHealth;
use crate::node::quiet::{QUIET_SENTENCE, QuietMode};
use crate::node::storage_check::StorageCheck;

/// The inputs of `/readyz`.
pub struct Readiness {
    pub app: App,
    pub storage: StorageCheck,
    pub dns: Arc<DnsHealth>,
    pub quiet: QuietMode,
}

pub fn router(readiness: Readiness) -> Router {
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .with_state(Arc::new(readiness))
}

/// Ready when the database responds and the folders are writable. Failing DNS and quiet mode are
/// reported but do not make the server unready.
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
    let quiet =
        if readiness.quiet.is_quiet() { format!("{QUIET_SENTENCE}\n") } else { String::new() };
    (StatusCode::OK, format!("ready\n{quiet}{dns}"))
}

impl Readiness {
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
