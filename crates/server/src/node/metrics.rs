//! Prometheus metrics, on an address of their own, for operators.

use std::future::Future;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder};
use tokio::net::TcpListener;

use crate::http::{HttpLimits, HttpServer};
use crate::net::descriptors::ConnectionBudget;

/// Histogram buckets of durations, in seconds.
const SECONDS: &[f64] = &[0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0];

/// Connections to the metrics endpoint.
const CONNECTIONS: usize = 64;

/// Serves `/metrics` until `stop` is ready. From here on figures are kept.
pub async fn serve(listener: TcpListener, stop: impl Future<Output = ()>) -> Result<(), String> {
    let handle = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".into()), SECONDS)
        .and_then(PrometheusBuilder::install_recorder)
        .map_err(|error| format!("metrics: {error}"))?;
    describe();
    ConnectionBudget::current().report();
    let answer = move || {
        let handle = handle.clone();
        async move {
            handle.run_upkeep();
            ([(CONTENT_TYPE, "text/plain; version=0.0.4")], handle.render())
        }
    };
    let router = Router::new().route("/metrics", get(answer));
    let limits =
        HttpLimits { connections: CONNECTIONS, waiting: CONNECTIONS, ..HttpLimits::default() };
    let server = HttpServer { listener: "metrics", limits, ..HttpServer::default() };
    server.serve(listener, router, stop).await.map_err(|error| error.to_string())
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
    describe_gauge!("mailroom_dns_up", "1 while the DNS server answers, 0 while it does not.");
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
    describe_gauge!("mailroom_calendars_failing", "Hosts' calendars that cannot be read.");
    describe_counter!("mailroom_documents_read_total", "Documents that were read, by outcome.");
    describe_gauge!(
        "mailroom_tls_certificate_expires_timestamp_seconds",
        Unit::Seconds,
        "When the TLS certificate ends, as seconds since 1970."
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
            ("alerts.yml", include_str!("../../../../packaging/monitoring/alerts.yml")),
            ("board.json", include_str!("../../../../packaging/monitoring/grafana-board.json")),
        ] {
            let named = names(text);
            assert!(named.len() > 5, "{file}");
            let unknown: Vec<_> = named.difference(&described).collect();
            assert!(unknown.is_empty(), "{file}: {unknown:?}");
        }
        let board = include_str!("../../../../packaging/monitoring/grafana-board.json");
        assert!(serde_json::from_str::<serde_json::Value>(board).is_ok());
    }
}
