//! Starts the supervised tasks of a server.

use std::pin::pin;
use std::sync::Arc;

use backup::BackupRunner;
use base::agent_presence::share_agents;
use base::app::App;
use base::rate_limit::share_rates;
use jobs::Worker;
use node::certificate_orders::CertificateOrders;
use node::metrics::MetricsListener;
use node::quiet::QuietMode;
use node::supervisor::Supervisor;
use node::watch::Watch;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use transport::acme::AcmeServer;
use transport::net::tls_certificate::TlsCertificate;

use crate::mail_in::imap::Fetchers;
use crate::mail_in::smtp::start_refusal_counters;
use crate::settings::Settings;

/// Serves the metrics where the settings say so. Comes first, because figures are kept from here on.
pub(super) async fn start_metrics(settings: &Settings, tasks: &Supervisor) -> Result<(), String> {
    let Some(address) = settings.metrics_listen else { return Ok(()) };
    let listener = Arc::new(MetricsListener::open(address).await?);
    start_refusal_counters();
    tasks.start("metrics listener", move |stop| Arc::clone(&listener).serve(stop));
    Ok(())
}

/// Samples the gauges.
pub(super) fn start_watch(settings: &Settings, app: &App, tasks: &Supervisor) {
    let watch = Arc::new(Watch {
        app: app.clone(),
        folders: vec![("data", settings.data.clone()), ("blobs", settings.blobs.clone())],
        writes_backups: settings.backups.is_some(),
    });
    tasks.start("watch", move |stop| {
        let watch = Arc::clone(&watch);
        async move { watch.run(stop).await }
    });
}

/// Writes scheduled backups.
pub(super) fn start_backups(settings: &Settings, app: &App, quiet: &QuietMode, tasks: &Supervisor) {
    let backups = Arc::new(BackupRunner {
        app: app.clone(),
        settings: settings.backups.clone(),
        data: settings.data.clone(),
        spool: settings.backup_spool(),
    });
    let quiet = quiet.clone();
    tasks.start("backups", move |stop| {
        let (backups, quiet) = (Arc::clone(&backups), quiet.clone());
        async move { backups.run(quiet, stop).await }
    });
}

/// Orders the certificate where the settings say so. The one that is there is served from the first connection on.
pub(super) async fn start_certificate_orders(
    settings: &Settings,
    app: &App,
    certificate: Arc<TlsCertificate>,
    quiet: &QuietMode,
    tasks: &Supervisor,
) -> Result<(), String> {
    let Some(config) = settings.acme.clone() else { return Ok(()) };
    let (host, directory) = (config.host.clone(), config.directory.clone());
    let authority = Arc::new(AcmeServer::new(app.clone(), config)?);
    let orders = CertificateOrders::new(app.clone(), host, directory, authority, certificate);
    orders.begin().await.map_err(|error| error.to_string())?;
    let (orders, quiet) = (Arc::new(orders), quiet.clone());
    tasks.start("certificate orders", move |stop| {
        let (orders, quiet) = (Arc::clone(&orders), quiet.clone());
        async move { orders.run(quiet, stop).await }
    });
    Ok(())
}

/// Runs background jobs and fetches mail, as far as the mode of the moment allows. A fault of one leaves the other.
pub(super) fn start_due_work(
    quiet: &QuietMode,
    worker: Worker,
    fetchers: Fetchers,
    tasks: &Supervisor,
) -> [JoinHandle<()>; 2] {
    let quiet_worker = worker.clone().quiet();
    let (of_jobs, of_fetching) = (quiet.clone(), quiet.clone());
    let jobs = tasks.start("jobs", move |stop| {
        let (worker, quiet_worker) = (worker.clone(), quiet_worker.clone());
        run_in_turns(of_jobs.clone(), stop, move |is_quiet, turn| {
            let worker = if is_quiet { quiet_worker.clone() } else { worker.clone() };
            async move { worker.run(turn.cancelled()).await }
        })
    });
    let fetching = tasks.start("mail fetching", move |stop| {
        let fetchers = fetchers.clone();
        run_in_turns(of_fetching.clone(), stop, move |is_quiet, turn| {
            let fetchers = fetchers.clone();
            async move {
                if is_quiet {
                    turn.cancelled().await;
                } else {
                    fetchers.run(turn.cancelled()).await;
                }
            }
        })
    });
    [jobs, fetching]
}

/// Runs `work` until `stop`, and begins it anew with each change of the mode.
async fn run_in_turns<F: Future<Output = ()>>(
    mut quiet: QuietMode,
    stop: CancellationToken,
    work: impl Fn(bool, CancellationToken) -> F,
) {
    while !stop.is_cancelled() {
        let turn = stop.child_token();
        let mut work = pin!(work(quiet.current(), turn.clone()));
        tokio::select! {
            () = &mut work => return,
            () = quiet.wait_for_change() => {}
        }
        turn.cancel();
        work.await;
    }
}

/// Shares with other nodes of the database which limits were used, and which agents are at work.
pub(super) fn start_sharing(app: &App, tasks: &Supervisor) {
    if !app.store.is_shared() {
        return;
    }
    let (of_rates, of_agents) = (app.clone(), app.clone());
    tasks.start("rate limits", move |stop| {
        let app = of_rates.clone();
        async move { share_rates(&app.store, &app.limiter, &*app.clock, &stop).await }
    });
    tasks.start("agent presence", move |stop| {
        let app = of_agents.clone();
        async move { share_agents(&app.store, &app.agents, &*app.clock, &stop).await }
    });
}

/// Reloads the certificate on SIGHUP.
pub fn reload_on_hangup(tasks: &Supervisor, certificate: Arc<TlsCertificate>) {
    // From here on the signal does not end the process, whether or not the task has begun.
    if let Err(error) = signal(SignalKind::hangup()) {
        return tracing::warn!(%error, "SIGHUP handler could not be installed");
    }
    tasks.start("certificate on SIGHUP", move |stop| {
        let certificate = Arc::clone(&certificate);
        async move {
            let Ok(mut hangups) = signal(SignalKind::hangup()) else { return };
            loop {
                tokio::select! {
                    hangup = hangups.recv() => if hangup.is_none() { return },
                    () = stop.cancelled() => return,
                }
                if certificate.ordered_for().is_some() {
                    continue;
                }
                match certificate.reload() {
                    Ok(()) => tracing::info!("TLS certificate reloaded"),
                    Err(error) => tracing::error!(%error, "TLS certificate not reloaded"),
                }
            }
        }
    });
}
