//! The bounds of `RUST_LOG`: our own lines, which contain no mail text and no secrets, and of
//! libraries only warnings, because their debug logs contain query arguments, headers, mail and
//! passwords.

use tracing::{Level, Metadata, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::FilterExt;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::Filter;
use tracing_subscriber::registry::LookupSpan;

/// Our own crates.
const OWN: &[&str] = &["db", "inbox", "mail", "papers", "server", "mailroom"];
/// Libraries whose warnings quote their input: mail, HTML, server responses.
const SILENT: &[&str] = &[
    "ammonia",
    "async_imap",
    "html5ever",
    "imap_proto",
    "mail_auth",
    "mail_parser",
    "markup5ever",
];

/// The log filter: `RUST_LOG`, or else this level, within these bounds.
pub fn of_process<S>(usual: &str) -> impl Filter<S> + Send + Sync + 'static
where
    S: Subscriber + for<'lookup> LookupSpan<'lookup>,
{
    let asked = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(usual));
    asked.and(filter_fn(may_be_told))
}

fn may_be_told(metadata: &Metadata<'_>) -> bool {
    let target = metadata.target();
    let crate_name = target.split("::").next().unwrap_or(target);
    match crate_name {
        own if OWN.contains(&own) => true,
        silent if SILENT.contains(&silent) => false,
        _ => *metadata.level() <= Level::WARN,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::sync::Mutex;

    use tracing_subscriber::Layer;
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    #[test]
    fn libraries_say_no_more_than_warnings_however_much_is_asked_for() {
        let (mut log, writer) = std::io::pipe().expect("a pipe");
        let layer =
            tracing_subscriber::fmt::layer().with_ansi(false).with_writer(Mutex::new(writer));
        let filter = EnvFilter::new("trace").and(filter_fn(may_be_told));
        let subscriber = tracing_subscriber::registry().with(layer.with_filter(filter));
        tracing::subscriber::with_default(subscriber, || {
            tracing::trace!(target: "server::smtp", "told-1");
            tracing::warn!(target: "hyper::proto", "told-2");
            tracing::info!(target: "hyper::proto", "kept-1");
            tracing::debug!(target: "tokio_postgres::query", "kept-2");
            tracing::error!(target: "html5ever::tree_builder", "kept-3");
            tracing::debug!(target: "serverless", "kept-4");
        });
        let mut told = String::new();
        log.read_to_string(&mut told).expect("text");
        assert!(told.contains("told-1") && told.contains("told-2"), "{told}");
        assert!(!told.contains("kept-"), "{told}");
    }
}
