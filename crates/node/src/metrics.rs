//! Prometheus metrics, on an address of their own, for operators.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use jobs::start_counters;
use metrics::{Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use transport::http::{HttpLimits, HttpServer};
use transport::net::descriptors::ConnectionBudget;
use transport::net::listening::cannot_listen;

use super::process_figures::process_figures;

/// Histogram buckets of durations, in seconds.
const SECONDS: &[f64] = &[0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0];

/// Connections to the metrics endpoint.
const CONNECTIONS: usize = 64;

/// The open listener of `/metrics`. Figures are kept from its opening on.
pub struct MetricsListener {
    listener: std::net::TcpListener,
    handle: PrometheusHandle,
}

impl MetricsListener {
    pub async fn open(address: SocketAddr) -> Result<MetricsListener, String> {
        let refused = |error| cannot_listen("metrics_listen", &address, &error);
        let listener = TcpListener::bind(address).await.and_then(TcpListener::into_std);
        let listener = listener.map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let handle = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Suffix("_seconds".into()), SECONDS)
            .and_then(PrometheusBuilder::install_recorder)
            .map_err(|error| format!("metrics: {error}"))?;
        describe();
        start_series();
        ConnectionBudget::current().report();
        tracing::info!(%address, "serving metrics");
        Ok(MetricsListener { listener, handle })
    }

    /// Serves until `stop`. It may be called again: each call has a copy of the socket.
    pub async fn serve(self: Arc<Self>, stop: CancellationToken) {
        let copy = self.listener.try_clone().and_then(TcpListener::from_std);
        let listener = match copy {
            Ok(listener) => listener,
            Err(error) => return tracing::error!(%error, "metrics cannot be served"),
        };
        let handle = self.handle.clone();
        let answer = move || {
            let handle = handle.clone();
            async move {
                handle.run_upkeep();
                let figures = handle.render() + &process_figures();
                ([(CONTENT_TYPE, "text/plain; version=0.0.4")], figures)
            }
        };
        let router = Router::new().route("/metrics", get(answer));
        let limits =
            HttpLimits { connections: CONNECTIONS, waiting: CONNECTIONS, ..HttpLimits::default() };
        let server = HttpServer { listener: "metrics", limits, ..HttpServer::default() };
        if let Err(error) = server.serve(listener, router, stop.cancelled_owned()).await {
            tracing::error!(%error, "the metrics listener ended");
        }
    }
}

/// Makes the series that alerts watch and that would otherwise begin with their first event.
fn start_series() {
    start_counters();
    for outcome in ["written", "failed"] {
        counter!("mailroom_backups_total", "outcome" => outcome).increment(0);
    }
    for outcome in ["issued", "failed"] {
        counter!("mailroom_certificate_orders_total", "outcome" => outcome).increment(0);
    }
    for outcome in ["filed", "failed"] {
        counter!("mailroom_mails_total", "outcome" => outcome).increment(0);
    }
    for name in [
        "mailroom_backup_removal_failures_total",
        "mailroom_imap_fetched_total",
        "mailroom_mail_connections_refused_total",
    ] {
        counter!(name).increment(0);
    }
    // Down is what a look-up finds.
    gauge!("mailroom_dns_up").set(1.0);
    for name in [
        "mailroom_backup_last_success_seconds",
        "mailroom_backup_failures",
        "mailroom_backup_damaged_files",
        "mailroom_imap_failing",
    ] {
        gauge!(name).set(0.0);
    }
}

fn describe() {
    describe_counter!("mailroom_requests_total", "Requests to the API, by route and status.");
    describe_histogram!("mailroom_request_seconds", Unit::Seconds, "Time to answer a request.");
    describe_counter!("mailroom_messages_total", "Attempts to send a message, by outcome.");
    describe_counter!("mailroom_helper_drafts_total", "Mails the drafting helper saw, by method.");
    describe_counter!("mailroom_model_calls_total", "Calls of the drafting model, by outcome.");
    describe_counter!("mailroom_deliveries_total", "Webhook delivery attempts, by outcome.");
    describe_histogram!("mailroom_delivery_seconds", Unit::Seconds, "Time a webhook took.");
    describe_counter!("mailroom_push_messages_total", "Notices sent to browsers, by outcome.");
    describe_counter!("mailroom_mails_total", "Inbound mails, by outcome.");
    describe_histogram!("mailroom_mail_seconds", Unit::Seconds, "Time to receive and file a mail.");
    describe_counter!("mailroom_conversations_sorted_total", "Sorted conversations, by topic.");
    describe_gauge!("mailroom_mail_connections", "Mail clients that are connected.");
    describe_counter!(
        "mailroom_mail_connections_refused_total",
        "Mail clients turned away because there were too many."
    );
    describe_gauge!("mailroom_open_files_limit", "File descriptors this process may have.");
    describe_gauge!("mailroom_http_connections", "HTTP connections that are open.");
    describe_gauge!("mailroom_http_connections_limit", "HTTP connections there is room for.");
    describe_gauge!("mailroom_mail_connections_limit", "Mail clients there is room for.");
    describe_counter!(
        "mailroom_http_connections_refused_total",
        "HTTP connections turned away, by the limit that was reached."
    );
    describe_counter!(
        "mailroom_http_connections_evicted_total",
        "HTTP connections closed to make room, by what they were doing."
    );
    describe_counter!(
        "mailroom_http_connections_timed_out_total",
        "HTTP connections closed because their client was silent, by deadline."
    );
    describe_gauge!("mailroom_dns_up", "0 while the DNS server does not answer, otherwise 1.");
    describe_counter!(
        "mailroom_mails_unproven_total",
        "Mails whose SPF, DKIM and DMARC were not all known in time, by reason."
    );
    describe_counter!("mailroom_imap_fetched_total", "Mails fetched by IMAP.");
    describe_gauge!("mailroom_imap_failing", "Inboxes whose mail cannot be fetched at present.");
    describe_counter!("mailroom_smtp_refused_total", "What mail clients were refused, by reason.");
    describe_gauge!(
        "mailroom_job_lag_seconds",
        Unit::Seconds,
        "How late the oldest due job is, by queue."
    );
    describe_gauge!(
        "mailroom_queue_depth",
        "What waits, is held or was given up, by queue; counted up to 10,000."
    );
    describe_gauge!(
        "mailroom_queue_oldest_seconds",
        Unit::Seconds,
        "How long the oldest of a queue is overdue, held or given up; 0 where nothing is."
    );
    describe_counter!(
        "mailroom_job_failures_total",
        "Failed attempts of background jobs, by queue."
    );
    describe_counter!("mailroom_backups_total", "Scheduled backups, by outcome.");
    describe_counter!(
        "mailroom_backup_removal_failures_total",
        "Scheduled backups that were written, but older ones could not be removed."
    );
    describe_gauge!(
        "mailroom_backup_last_success_seconds",
        Unit::Seconds,
        "When the last scheduled backup was written, as Unix time; 0 for never."
    );
    describe_gauge!("mailroom_backup_scheduled", "1 where this server writes backups by itself.");
    describe_gauge!(
        "mailroom_backup_damaged_files",
        "Damaged files that the last backup found and could not copy."
    );
    describe_gauge!(
        "mailroom_backup_overdue_seconds",
        Unit::Seconds,
        "How late the scheduled backup is that is due, 0 while none is."
    );
    describe_gauge!(
        "mailroom_backup_failures",
        "Scheduled backups that failed since the last one that was written."
    );
    describe_counter!(
        "mailroom_jobs_given_up_total",
        "Background jobs given up after their last attempt, by queue."
    );
    describe_node();
}

/// What concerns this process and what it stands on.
fn describe_node() {
    describe_gauge!("mailroom_info", "1, with the version that runs.");
    describe_gauge!(
        "mailroom_blob_store_up",
        "1 while the object store answers, where blobs are in one."
    );
    describe_gauge!("mailroom_task_up", "1 while a task of the server runs, by its name.");
    describe_counter!(
        "mailroom_task_restarts_total",
        "Times that a task ended before the server stopped and was started again, by its name."
    );
    describe_gauge!("mailroom_workspaces_resting", "Workspaces that are suspended, or quiet.");
    describe_gauge!("mailroom_nodes", "Nodes that serve this database, this one included.");
    describe_gauge!("mailroom_quiet", "1 while nothing is sent or fetched.");
    describe_gauge!("mailroom_database_up", "1 while the database answers.");
    describe_histogram!(
        "mailroom_database_seconds",
        Unit::Seconds,
        "Time of a small query, asked every 15 seconds."
    );
    describe_counter!("mailroom_database_errors_total", "Such queries that failed.");
    describe_gauge!("mailroom_replica_up", "1 while the standby of the database is read from.");
    describe_counter!(
        "mailroom_replica_reads_total",
        "Reads that may go to the standby, by what answered them."
    );
    describe_gauge!("mailroom_disk_free_bytes", Unit::Bytes, "Room on the disk, by folder.");
    describe_gauge!("mailroom_blob_store_up", "1 while the object store of blobs answers.");
    describe_counter!(
        "mailroom_blob_store_errors_total",
        "Calls of object stores that failed, backups included."
    );
    describe_gauge!("mailroom_calendars_failing", "Hosts' calendars that cannot be read.");
    describe_counter!("mailroom_documents_read_total", "Documents that were read, by outcome.");
    describe_gauge!(
        "mailroom_tls_certificate_expires_timestamp_seconds",
        Unit::Seconds,
        "When the TLS certificate ends, as seconds since 1970."
    );
    describe_counter!(
        "mailroom_certificate_orders_total",
        "Orders of a TLS certificate from an ACME server, by outcome."
    );
    describe_gauge!(
        "mailroom_tls_reload_failing",
        "1 while the files of the certificate cannot be used and an older one is served."
    );
    describe_counter!(
        "mailroom_tls_reload_failures_total",
        "Times that changed files of the certificate could not be used."
    );
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    /// The names in a text, without what Prometheus adds to histograms.
    fn names(text: &str) -> BTreeSet<String> {
        let is_part = |c: char| c.is_ascii_lowercase() || c == '_';
        let words = text.split(|c: char| !is_part(c)).filter(|word| word.starts_with("mailroom_"));
        let plain = words.map(|word| {
            let ends = ["_bucket", "_sum", "_count"];
            ends.iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word).to_owned()
        });
        plain.collect()
    }

    #[test]
    fn alerts_and_board_name_metrics_that_there_are() {
        let described = names(include_str!("metrics.rs"));
        for (file, text) in [
            ("alerts.yml", include_str!("../../../packaging/monitoring/alerts.yml")),
            ("board.json", include_str!("../../../packaging/monitoring/grafana-board.json")),
        ] {
            let named = names(text);
            assert!(named.len() > 5, "{file}");
            let unknown: Vec<_> = named.difference(&described).collect();
            assert!(unknown.is_empty(), "{file}: {unknown:?}");
        }
        let board = include_str!("../../../packaging/monitoring/grafana-board.json");
        assert!(serde_json::from_str::<serde_json::Value>(board).is_ok());
    }
}
