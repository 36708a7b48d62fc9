//! Certificates that are ordered: one node orders, all serve what came, and a failure is told where operators look.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use base::app::App;
use base::concurrency::future::BoxFuture;
use model::installation::acme::{self, ASK_EVERY_MS, AcmeCertificate, IssuedCertificate};
use node::certificate_orders::CertificateOrders;
use rcgen::generate_simple_self_signed;
use transport::acme::{CertificateAuthority, OrderFailure, OrderRequest, RenewalWindow};
use transport::net::tls_certificate::{CertificateSource, TlsCertificate, certificate};

use crate::support::*;

on_both!(
    one_node_orders_and_the_others_serve_what_came,
    a_failure_leaves_the_old_certificate_and_waits,
    a_server_that_suggests_a_time_moves_the_renewal,
    a_quiet_installation_serves_and_orders_nothing,
);

const HOST: &str = "mail.acme.example";
const DIRECTORY: &str = "https://ca.example/directory";
const LIFETIME: i64 = 90 * DAY;

/// Issues self-signed certificates, or refuses.
struct TestAuthority {
    app: App,
    orders: Mutex<Vec<OrderRequest>>,
    questions: AtomicUsize,
    refusal: Mutex<Option<OrderFailure>>,
    window: Mutex<Option<RenewalWindow>>,
}

impl TestAuthority {
    fn new(app: &TestApp) -> Arc<TestAuthority> {
        Arc::new(TestAuthority {
            app: app.app.clone(),
            orders: Mutex::default(),
            questions: AtomicUsize::new(0),
            refusal: Mutex::default(),
            window: Mutex::default(),
        })
    }

    fn orders(&self) -> Vec<OrderRequest> {
        self.orders.lock().unwrap().clone()
    }
}

impl CertificateAuthority for TestAuthority {
    fn order(
        &self,
        request: OrderRequest,
    ) -> BoxFuture<'_, Result<IssuedCertificate, OrderFailure>> {
        self.orders.lock().unwrap().push(request);
        let refusal = self.refusal.lock().unwrap().clone();
        Box::pin(async move {
            if let Some(refusal) = refusal {
                return Err(refusal);
            }
            let made = generate_simple_self_signed([HOST.to_owned()]).unwrap();
            let issued_at = self.app.clock.now();
            Ok(IssuedCertificate {
                chain: made.cert.pem(),
                private_key: made.signing_key.serialize_pem(),
                issued_at,
                expires_at: issued_at + LIFETIME,
            })
        })
    }

    fn renewal_window<'a>(
        &'a self,
        _chain: &'a str,
    ) -> BoxFuture<'a, Result<Option<RenewalWindow>, String>> {
        self.questions.fetch_add(1, Ordering::SeqCst);
        let window = *self.window.lock().unwrap();
        Box::pin(async move { Ok(window) })
    }
}

/// A node with a certificate of its own.
struct OrderingNode {
    orders: CertificateOrders,
    certificate: Arc<TlsCertificate>,
    _folder: tempfile::TempDir,
}

async fn node(app: &TestApp, authority: &Arc<TestAuthority>) -> OrderingNode {
    let folder = tempfile::tempdir().unwrap();
    let source = CertificateSource::Ordered(folder.path().into());
    let certificate = certificate(&source, HOST).unwrap();
    let orders = CertificateOrders::new(
        app.on_another_node(),
        HOST.into(),
        DIRECTORY.into(),
        authority.clone(),
        certificate.clone(),
    );
    orders.begin().await.unwrap();
    OrderingNode { orders, certificate, _folder: folder }
}

async fn known(app: &TestApp) -> AcmeCertificate {
    app.app.store.read(|tx| acme::certificate(tx, HOST)).await.unwrap().expect("a plan")
}

async fn one_node_orders_and_the_others_serve_what_came(app: TestApp) {
    let authority = TestAuthority::new(&app);
    let (one, two) = (node(&app, &authority).await, node(&app, &authority).await);
    let self_signed = (one.certificate.web_config(), two.certificate.web_config());
    tokio::join!(one.orders.round(false), two.orders.round(false));
    assert_eq!(authority.orders().len(), 1);
    one.orders.round(false).await;
    two.orders.round(false).await;
    assert!(!Arc::ptr_eq(&self_signed.0, &one.certificate.web_config()));
    assert!(!Arc::ptr_eq(&self_signed.1, &two.certificate.web_config()));
    assert_eq!(one.certificate.expires(), two.certificate.expires());
    // A node that starts later serves it from the first connection on, and nothing changes while nothing is due.
    let late = node(&app, &authority).await;
    let before = late.certificate.web_config();
    late.orders.round(false).await;
    assert!(Arc::ptr_eq(&before, &late.certificate.web_config()));
    assert_eq!(authority.orders().len(), 1);
    // Two thirds of ninety days are over.
    app.advance(60 * DAY);
    two.orders.round(false).await;
    let orders = authority.orders();
    assert_eq!(orders.len(), 2);
    assert!(orders[0].replaced.is_none() && orders[1].replaced.is_some());
    one.orders.round(false).await;
    late.orders.round(false).await;
    assert!(!Arc::ptr_eq(&before, &late.certificate.web_config()));
}

async fn a_failure_leaves_the_old_certificate_and_waits(app: TestApp) {
    let authority = TestAuthority::new(&app);
    let node = node(&app, &authority).await;
    node.orders.round(false).await;
    let served = node.certificate.web_config();
    app.advance(60 * DAY);
    let why = "no answer from mail.acme.example (connection)".to_owned();
    *authority.refusal.lock().unwrap() = Some(OrderFailure { why, allowed_from: None });
    node.orders.round(false).await;
    node.orders.round(false).await;
    assert_eq!(authority.orders().len(), 2, "it waits");
    let failed = known(&app).await;
    assert_eq!((failed.failures, failed.failed_at), (1, Some(app.now())));
    assert!(failed.next_at >= app.now() + HOUR);
    assert!(failed.failure.unwrap().contains("no answer from"));
    assert!(Arc::ptr_eq(&served, &node.certificate.web_config()));
    app.advance(2 * HOUR);
    *authority.refusal.lock().unwrap() = None;
    node.orders.round(false).await;
    let last = authority.orders().pop().unwrap();
    assert!(last.failures == 1 && last.replaced.is_none());
    assert_eq!(known(&app).await.problem(), None);
    assert!(!Arc::ptr_eq(&served, &node.certificate.web_config()));
}

async fn a_server_that_suggests_a_time_moves_the_renewal(app: TestApp) {
    let authority = TestAuthority::new(&app);
    let node = node(&app, &authority).await;
    node.orders.round(false).await;
    let planned = known(&app).await.next_at;
    node.orders.round(false).await;
    assert_eq!(authority.questions.load(Ordering::SeqCst), 0);
    app.advance(ASK_EVERY_MS);
    node.orders.round(false).await;
    assert_eq!(authority.questions.load(Ordering::SeqCst), 1);
    assert_eq!(known(&app).await.next_at, planned, "it suggests nothing");
    let (start, end) = (app.now() + 10 * DAY, app.now() + 11 * DAY);
    *authority.window.lock().unwrap() = Some(RenewalWindow { start, end });
    app.advance(ASK_EVERY_MS);
    node.orders.round(false).await;
    let moved = known(&app).await.next_at;
    assert!((start..=end).contains(&moved), "{moved}");
    app.advance(ASK_EVERY_MS);
    node.orders.round(false).await;
    assert_eq!(known(&app).await.next_at, moved, "it stays within the window");
    // A certificate that is about to be revoked.
    let past = RenewalWindow { start: app.now() - DAY, end: app.now() - HOUR };
    *authority.window.lock().unwrap() = Some(past);
    app.advance(ASK_EVERY_MS);
    node.orders.round(false).await;
    node.orders.round(false).await;
    assert_eq!(authority.orders().len(), 2);
}

async fn a_quiet_installation_serves_and_orders_nothing(app: TestApp) {
    let authority = TestAuthority::new(&app);
    let (quiet, loud) = (node(&app, &authority).await, node(&app, &authority).await);
    let self_signed = quiet.certificate.web_config();
    quiet.orders.round(true).await;
    assert!(authority.orders().is_empty());
    loud.orders.round(false).await;
    quiet.orders.round(true).await;
    assert!(!Arc::ptr_eq(&self_signed, &quiet.certificate.web_config()));
}
