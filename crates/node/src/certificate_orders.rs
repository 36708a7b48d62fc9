//! The certificate that an ACME server issues: one node orders it when it is due, and all of them serve it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use base::app::App;
use base::error::Result;
use base::time::Moment;
use metrics::counter;
use model::installation::acme::{self, AcmeCertificate, IssuedCertificate};
use tokio_util::sync::CancellationToken;
use transport::acme::{CertificateAuthority, OrderFailure, OrderRequest, RenewalWindow};
use transport::net::tls_certificate::TlsCertificate;

use crate::quiet::QuietMode;

/// How often it is looked whether an order is due, or another node got a certificate.
const LOOK_EVERY: Duration = Duration::from_secs(15);

/// Orders the certificate of a host on this node.
pub struct CertificateOrders {
    app: App,
    host: String,
    /// The address of the server's directory.
    directory: String,
    authority: Arc<dyn CertificateAuthority>,
    certificate: Arc<TlsCertificate>,
    /// When the certificate was issued that this node serves, or 0.
    served: AtomicI64,
}

impl CertificateOrders {
    pub fn new(
        app: App,
        host: String,
        directory: String,
        authority: Arc<dyn CertificateAuthority>,
        certificate: Arc<TlsCertificate>,
    ) -> CertificateOrders {
        let served = AtomicI64::new(0);
        CertificateOrders { app, host, directory, authority, certificate, served }
    }

    /// Writes down which certificate is wanted, and serves it if it is there.
    pub async fn begin(&self) -> Result<()> {
        let (host, directory, now) = (self.host.clone(), self.directory.clone(), self.now());
        let plan = move |tx: &mut db::Tx<'_>| acme::set_plan(tx, &host, &directory, now);
        self.app.store.write(plan).await?;
        if self.take_over().await?.is_none_or(|found| found.issued_at.is_none()) {
            tracing::warn!(
                host = self.host,
                directory = self.directory,
                "there is no TLS certificate yet: a self-signed one is served until the ACME server issues one"
            );
        }
        Ok(())
    }

    /// Orders what is due until `stop`. A quiet installation orders nothing: it may be a copy, whose host leads elsewhere.
    pub async fn run(&self, quiet: QuietMode, stop: CancellationToken) {
        let rounds = async {
            loop {
                self.round(quiet.is_quiet()).await;
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        tokio::select! {
            () = rounds => {}
            () = stop.cancelled() => {}
        }
    }

    /// Serves what another node got, and orders a certificate if one is due and no other node does.
    pub async fn round(&self, is_quiet: bool) {
        match self.try_round(is_quiet).await {
            Ok(()) => {}
            Err(error) if error.is_outage() => {}
            Err(error) => {
                tracing::error!(host = self.host, %error, "the order of a TLS certificate could not be recorded");
            }
        }
    }

    async fn try_round(&self, is_quiet: bool) -> Result<()> {
        let Some(known) = self.take_over().await? else {
            // A node that was started for another host took it away.
            return self.begin().await;
        };
        let (now, host) = (self.now(), self.host.clone());
        if is_quiet {
            return Ok(());
        }
        if known.next_at <= now {
            let claim = move |tx: &mut db::Tx<'_>| acme::claim_order(tx, &host, now);
            if self.app.store.write(claim).await? {
                self.order(&known).await?;
                self.take_over().await?;
            }
        } else if known.ask_at.is_some_and(|ask_at| ask_at <= now) {
            let claim = move |tx: &mut db::Tx<'_>| acme::claim_question(tx, &host, now);
            if self.app.store.write(claim).await? {
                self.ask(&known).await?;
            }
        }
        Ok(())
    }

    /// Serves the certificate in the database if it is another than before.
    async fn take_over(&self) -> Result<Option<AcmeCertificate>> {
        let host = self.host.clone();
        let known = self.app.store.read(move |tx| acme::certificate(tx, &host)).await?;
        let issued_at = known.as_ref().and_then(|known| known.issued_at).unwrap_or(0);
        if self.served.load(Ordering::Relaxed) == issued_at {
            return Ok(known);
        }
        let Some(issued) = self.stored_certificate().await? else { return Ok(known) };
        self.served.store(issued.issued_at, Ordering::Relaxed);
        let until = Moment(issued.expires_at).iso();
        match self.certificate.install(&issued.chain, &issued.private_key) {
            Ok(()) => tracing::info!(host = self.host, until, "serving the TLS certificate"),
            Err(error) => tracing::error!(host = self.host, error, "TLS certificate not served"),
        }
        Ok(known)
    }

    async fn stored_certificate(&self) -> Result<Option<IssuedCertificate>> {
        let (app, host) = (self.app.clone(), self.host.clone());
        self.app.store.read(move |tx| acme::issued_certificate(tx, &app, &host)).await
    }

    async fn order(&self, known: &AcmeCertificate) -> Result<()> {
        // A server that refused an order may have done so because of what it replaces.
        let replaced = match known.failures {
            0 => self.stored_certificate().await?.map(|issued| issued.chain),
            _ => None,
        };
        let request = OrderRequest { failures: known.failures, replaced };
        let ordered = self.authority.order(request).await;
        let outcome = if ordered.is_ok() { "issued" } else { "failed" };
        counter!("mailroom_certificate_orders_total", "outcome" => outcome).increment(1);
        match ordered {
            Ok(issued) => self.keep(issued).await,
            Err(failure) => self.fail(known, failure).await,
        }
    }

    async fn keep(&self, issued: IssuedCertificate) -> Result<()> {
        let next_at = acme::renewal_time(&self.app.ids, issued.issued_at, issued.expires_at);
        let (until, renewed) = (Moment(issued.expires_at).iso(), Moment(next_at).iso());
        tracing::info!(host = self.host, until, renewed, "TLS certificate issued");
        let (app, host) = (self.app.clone(), self.host.clone());
        let keep = move |tx: &mut db::Tx<'_>| acme::succeed(tx, &app, &host, &issued, next_at);
        self.app.store.write(keep).await
    }

    async fn fail(&self, known: &AcmeCertificate, failure: OrderFailure) -> Result<()> {
        let (now, OrderFailure { why, allowed_from }) = (self.now(), failure);
        let next_at = acme::retry_time(&self.app.ids, now, known.failures + 1, allowed_from);
        let (again, directory) = (Moment(next_at).iso(), &self.directory);
        tracing::error!(
            host = self.host,
            directory,
            why,
            again,
            "the TLS certificate could not be ordered"
        );
        let host = self.host.clone();
        let fail = move |tx: &mut db::Tx<'_>| acme::fail(tx, &host, &why, now, next_at);
        self.app.store.write(fail).await
    }

    /// Moves the renewal into the time that the server suggests, which is earlier when it revokes certificates (RFC
    /// 9773, section 4.2).
    async fn ask(&self, known: &AcmeCertificate) -> Result<()> {
        let Some(issued) = self.stored_certificate().await? else { return Ok(()) };
        let RenewalWindow { start, end } = match self.authority.renewal_window(&issued.chain).await
        {
            Ok(Some(window)) => window,
            Ok(None) => return Ok(()),
            Err(why) => {
                tracing::warn!(host = self.host, why, "the ACME server did not say when to renew");
                return Ok(());
            }
        };
        let is_settled = (start..=end).contains(&known.next_at) || known.failures > 0;
        if is_settled || end >= issued.expires_at {
            return Ok(());
        }
        let (host, next_at) = (self.host.clone(), self.app.ids.between(start, end));
        tracing::info!(
            host = self.host,
            renewed = Moment(next_at).iso(),
            "the ACME server suggests when to renew the TLS certificate"
        );
        self.app.store.write(move |tx| acme::move_order(tx, &host, next_at)).await
    }

    fn now(&self) -> i64 {
        self.app.clock.now()
    }
}
