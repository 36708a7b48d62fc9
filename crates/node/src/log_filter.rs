//! The bounds of `RUST_LOG`: our own lines, which contain no mail text and no secrets, and of
//! libraries only warnings, because their debug logs contain query arguments, headers, mail and
//! passwords.

use tracing::{Level, Metadata, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::{FilterExt, LevelFilter, filter_fn};
use tracing_subscriber::layer::Filter;
use tracing_subscriber::registry::LookupSpan;

/// Our own crates.
const OWN: &[&str] = &[
    "actions",
    "agent_pages",
    "api",
    "backup",
    "base",
    "bookings",
    "calendar",
    "classifier",
    "contact_forms",
    "customer_pages",
    "customer_panel",
    "customers",
    "db",
    "developer_site",
    "document_reader",
    "drafting",
    "evals",
    "extraction",
    "help",
    "helper_scores",
    "inbound",
    "jobs",
    "knowledge",
    "mail",
    "mailroom",
    "maintenance",
    "model",
    "node",
    "outbound",
    "phrases",
    "public_suffix",
    "quotas",
    "reports",
    "rules",
    "search",
    "server",
    "settings_pages",
    "side_column",
    "translation",
    "transport",
    "web",
];
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
    within_bounds(EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(usual)))
}

fn within_bounds<S>(asked: EnvFilter) -> impl Filter<S> + Send + Sync + 'static
where
    S: Subscriber + for<'lookup> LookupSpan<'lookup>,
{
    let context = filter_fn(is_context).with_max_level_hint(LevelFilter::ERROR);
    asked.or(context).and(filter_fn(may_be_told))
}

/// The spans of requests, mail connections and jobs: whatever lines are asked for, they say what
/// they belong to.
fn is_context(metadata: &Metadata<'_>) -> bool {
    metadata.is_span() && *metadata.level() == Level::ERROR
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

    /// What is logged where this is asked for.
    fn logged_lines(asked: &str, work: impl FnOnce()) -> String {
        let (mut log, writer) = std::io::pipe().expect("a pipe");
        let layer =
            tracing_subscriber::fmt::layer().with_ansi(false).with_writer(Mutex::new(writer));
        let filter = within_bounds(asked.parse().expect("a filter"));
        let subscriber = tracing_subscriber::registry().with(layer.with_filter(filter));
        tracing::subscriber::with_default(subscriber, work);
        let mut told = String::new();
        log.read_to_string(&mut told).expect("text");
        told
    }

    #[test]
    fn every_crate_of_ours_is_one() {
        let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for folder in crates.read_dir().expect("the crates") {
            let name = folder.expect("a crate").file_name().into_string().expect("a name");
            assert!(OWN.contains(&&*name) || name.starts_with("test"), "{name}");
        }
    }

    #[test]
    fn libraries_say_no_more_than_warnings_however_much_is_asked_for() {
        let told = logged_lines("trace", || {
            tracing::trace!(target: "server::smtp", "told-1");
            tracing::warn!(target: "hyper::proto", "told-2");
            tracing::info!(target: "hyper::proto", "kept-1");
            tracing::debug!(target: "tokio_postgres::query", "kept-2");
            tracing::error!(target: "html5ever::tree_builder", "kept-3");
            tracing::debug!(target: "serverless", "kept-4");
        });
        assert!(told.contains("told-1") && told.contains("told-2"), "{told}");
        assert!(!told.contains("kept-"), "{told}");
    }

    #[test]
    fn a_line_says_which_request_it_belongs_to_whatever_is_asked_for() {
        for asked in ["jobs=debug", "error", "jobs=error,warn"] {
            let told = logged_lines(asked, || {
                let _within =
                    tracing::error_span!(target: "server::http", "request", id = 7).entered();
                tracing::error!(target: "jobs", "told-1");
                tracing::info!(target: "server::http", "kept-1");
            });
            assert!(told.contains("request{id=7}: jobs: told-1"), "{asked}: {told}");
            assert!(!told.contains("kept-"), "{asked}: {told}");
        }
    }
}
