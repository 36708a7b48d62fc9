//! Orders certificates from an ACME server.

use std::time::Duration;

use base::app::App;
use base::concurrency::future::BoxFuture;
use instant_acme::{
    Account, AccountCredentials, AuthorizationHandle, AuthorizationStatus, ChallengeType, Error,
    ExternalAccountKey, Identifier, NewAccount, NewOrder, Order, OrderStatus, Problem, RetryPolicy,
};
use jiff::Timestamp;
use model::installation::acme::{
    self, AcmeAccount, AcmeChallenge, ChallengeKind, IssuedCertificate, ORDER_MS,
};
use rcgen::{CertificateParams, DistinguishedName, KeyPair};
use serde_json::Value;
use tokio::time::timeout;

use super::certificate_id::certificate_id;
use super::client::AcmeHttpClient;
use super::{AcmeConfig, trusted_roots};
use crate::net::tls_certificate::issued_until;

/// How long a server may take to ask for the proof, and then to issue.
const PROOF_TIME: Duration = Duration::from_secs(120);
const ISSUE_TIME: Duration = Duration::from_secs(60);

/// What the server calls an account that it does not know (RFC 8555, section 6.7).
const UNKNOWN_ACCOUNT: &str = "urn:ietf:params:acme:error:accountDoesNotExist";

/// Who issues certificates.
pub trait CertificateAuthority: Send + Sync {
    /// Orders a certificate and waits for it.
    fn order(
        &self,
        request: OrderRequest,
    ) -> BoxFuture<'_, Result<IssuedCertificate, OrderFailure>>;

    /// When it wants a certificate to be renewed, by its chain; `None` where it does not say so.
    fn renewal_window<'a>(
        &'a self,
        chain: &'a str,
    ) -> BoxFuture<'a, Result<Option<RenewalWindow>, String>>;
}

/// One attempt to get a certificate.
#[derive(Clone, Debug, Default)]
pub struct OrderRequest {
    /// How many failed before it: the next way to prove the host is tried.
    pub failures: i64,
    /// The chain of the certificate that is renewed.
    pub replaced: Option<String>,
}

/// Why there is no certificate, and when the server allows another order, if it said so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderFailure {
    pub why: String,
    pub allowed_from: Option<i64>,
}

/// From when to when a server wants a certificate to be renewed, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenewalWindow {
    pub start: i64,
    pub end: i64,
}

/// A server that speaks ACME.
pub struct AcmeServer {
    app: App,
    config: AcmeConfig,
    http: AcmeHttpClient,
}

impl AcmeServer {
    pub fn new(app: App, config: AcmeConfig) -> Result<AcmeServer, String> {
        let roots = trusted_roots(config.ca_file.as_deref())?;
        let http = AcmeHttpClient::new(roots, app.clock.clone())?;
        Ok(AcmeServer { app, config, http })
    }

    async fn order_once(&self, request: &OrderRequest) -> Result<IssuedCertificate, AcmeFault> {
        let account = self.account().await?;
        let host = [Identifier::Dns(self.config.host.clone())];
        let mut order = match request.replaced.as_deref().and_then(certificate_id) {
            // A server without renewal information does not know what the order replaces.
            Some(replaced) => {
                match account.new_order(&NewOrder::new(&host).replaces(replaced)).await {
                    Err(Error::Unsupported(_)) => account.new_order(&NewOrder::new(&host)).await,
                    order => order,
                }
            }
            None => account.new_order(&NewOrder::new(&host)).await,
        }?;
        self.prove_host(&mut order, request.failures).await?;
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::new(vec![self.config.host.clone()])?;
        params.distinguished_name = DistinguishedName::new();
        order.finalize_csr(params.serialize_request(&key)?.der()).await?;
        let issuing = RetryPolicy::new().timeout(ISSUE_TIME);
        let chain = order.poll_certificate(&issuing).await?;
        let private_key = key.serialize_pem();
        let expires_at = issued_until(&chain, &private_key)?.as_millisecond();
        let issued_at = self.app.clock.now();
        Ok(IssuedCertificate { chain, private_key, issued_at, expires_at })
    }

    /// The account, made at the first order.
    async fn account(&self) -> Result<Account, AcmeFault> {
        let directory = self.config.directory.clone();
        let contact =
            self.config.email.as_ref().map_or_else(String::new, |email| format!("mailto:{email}"));
        let contacts: Vec<&str> =
            [contact.as_str()].into_iter().filter(|it| !it.is_empty()).collect();
        let builder = Account::builder_with_http(Box::new(self.http.clone()));
        let app = self.app.clone();
        let known = self.app.store.read({
            let directory = directory.clone();
            move |tx| acme::account(tx, &app, &directory)
        });
        if let Some(known) = known.await? {
            let credentials: AccountCredentials = serde_json::from_str(&known.credentials)
                .map_err(|error| format!("the stored account cannot be read: {error}"))?;
            let account = builder.from_credentials(credentials).await?;
            if known.contact != contact {
                account.update_contacts(&contacts).await?;
                self.keep_account(AcmeAccount { contact, ..known }).await?;
            }
            return Ok(account);
        }
        let external = self.config.external_account.as_ref();
        let external = external
            .map(|external| ExternalAccountKey::new(external.key_id.clone(), &external.key));
        let new = NewAccount {
            contact: &contacts,
            terms_of_service_agreed: true,
            only_return_existing: false,
        };
        let (account, credentials) = builder.create(&new, directory, external.as_ref()).await?;
        let credentials = serde_json::to_string(&credentials)
            .map_err(|error| format!("the new account cannot be stored: {error}"))?;
        self.keep_account(AcmeAccount { contact, credentials }).await?;
        tracing::info!(directory = self.config.directory, "ACME account made");
        Ok(account)
    }

    async fn keep_account(&self, account: AcmeAccount) -> Result<(), AcmeFault> {
        let (app, directory) = (self.app.clone(), self.config.directory.clone());
        let keep = move |tx: &mut db::Tx<'_>| acme::keep_account(tx, &app, &directory, &account);
        Ok(self.app.store.write(keep).await?)
    }

    /// Shows the server that the host is ours.
    async fn prove_host(&self, order: &mut Order, failures: i64) -> Result<(), AcmeFault> {
        let mut authorizations = order.authorizations();
        while let Some(authorization) = authorizations.next().await {
            let authorization = authorization?;
            // What was proven for an earlier order counts for a while.
            if authorization.status != AuthorizationStatus::Valid {
                self.answer_challenge(authorization, failures).await?;
            }
        }
        if order.state().status == OrderStatus::Ready {
            return Ok(());
        }
        let proving = RetryPolicy::new().timeout(PROOF_TIME);
        match order.poll_ready(&proving).await {
            Ok(OrderStatus::Invalid) => Err(refusal(order).await.into()),
            Err(Error::Api(problem)) => {
                let why = refusal(order).await.unwrap_or_else(|| reason(&problem));
                Err(why.into())
            }
            polled => Ok(polled.map(drop)?),
        }
    }

    async fn answer_challenge(
        &self,
        authorization: AuthorizationHandle<'_>,
        failures: i64,
    ) -> Result<(), AcmeFault> {
        // The challenge borrows it for as long as it lives.
        let mut authorization = authorization;
        let offered: Vec<ChallengeKind> = authorization
            .challenges
            .iter()
            .filter_map(|challenge| kind_of(&challenge.r#type))
            .collect();
        let ours = self.config.challenges.iter().copied();
        let possible: Vec<ChallengeKind> = ours.filter(|kind| offered.contains(kind)).collect();
        let turn = usize::try_from(failures).unwrap_or(0) % possible.len().max(1);
        let Some(kind) = possible.get(turn).copied() else {
            let offered: Vec<&str> = offered.into_iter().map(ChallengeKind::as_str).collect();
            return Err(format!(
                "the server offers none of the challenges that can be answered here, but {offered:?}"
            )
            .into());
        };
        let Some(mut challenge) = authorization.challenge(type_of(kind)) else {
            return Err(AcmeFault::from("the server took a challenge back".to_owned()));
        };
        let answer = AcmeChallenge {
            kind,
            token: challenge.token.clone(),
            key_authorization: challenge.key_authorization().as_str().to_owned(),
        };
        let host = self.config.host.clone();
        let publish = move |tx: &mut db::Tx<'_>| {
            acme::clear_challenges(tx)?;
            acme::publish_challenge(tx, &host, &answer)
        };
        self.app.store.write(publish).await?;
        tracing::info!(host = self.config.host, challenge = kind.as_str(), "ACME challenge ready");
        Ok(challenge.set_ready().await?)
    }

    /// Says why an order failed, and forgets an account that the server does not know any more.
    async fn failure(&self, fault: AcmeFault) -> OrderFailure {
        let AcmeFault { why, is_account_unknown } = fault;
        if is_account_unknown {
            let directory = self.config.directory.clone();
            let dropping = self.app.store.write(move |tx| acme::drop_account(tx, &directory)).await;
            if let Err(error) = dropping {
                tracing::warn!(%error, "an ACME account could not be forgotten");
            }
        }
        OrderFailure { why, allowed_from: self.http.allowed_from() }
    }

    /// Needs no account (RFC 9773, section 4.1).
    async fn window(&self, chain: &str) -> Result<Option<RenewalWindow>, String> {
        let Some(id) = certificate_id(chain) else { return Ok(None) };
        let directory = self.http.get_json(&self.config.directory).await?;
        let Some(address) = directory["renewalInfo"].as_str() else { return Ok(None) };
        let info = self.http.get_json(&format!("{address}/{id}")).await?;
        let window = read_window(&info["suggestedWindow"]);
        window.map(Some).ok_or_else(|| format!("the server names no time for a renewal: {info}"))
    }
}

impl CertificateAuthority for AcmeServer {
    fn order(
        &self,
        request: OrderRequest,
    ) -> BoxFuture<'_, Result<IssuedCertificate, OrderFailure>> {
        Box::pin(async move {
            let within = Duration::from_millis(ORDER_MS.unsigned_abs());
            let ordered = timeout(within, self.order_once(&request)).await;
            let ordered = ordered
                .unwrap_or_else(|_| Err(AcmeFault::from("the server took too long".to_owned())));
            if let Err(error) = self.app.store.write(acme::clear_challenges).await {
                tracing::warn!(%error, "ACME challenges could not be removed");
            }
            match ordered {
                Ok(issued) => Ok(issued),
                Err(fault) => Err(self.failure(fault).await),
            }
        })
    }

    fn renewal_window<'a>(
        &'a self,
        chain: &'a str,
    ) -> BoxFuture<'a, Result<Option<RenewalWindow>, String>> {
        Box::pin(self.window(chain))
    }
}

/// What went wrong in an order.
struct AcmeFault {
    why: String,
    is_account_unknown: bool,
}

impl From<String> for AcmeFault {
    fn from(why: String) -> AcmeFault {
        AcmeFault { why, is_account_unknown: false }
    }
}

impl From<Option<String>> for AcmeFault {
    fn from(why: Option<String>) -> AcmeFault {
        AcmeFault::from(why.unwrap_or_else(|| "the server refused the order".to_owned()))
    }
}

impl From<Error> for AcmeFault {
    fn from(error: Error) -> AcmeFault {
        match &error {
            Error::Api(problem) => AcmeFault {
                why: reason(problem),
                is_account_unknown: problem.r#type.as_deref() == Some(UNKNOWN_ACCOUNT),
            },
            Error::Timeout(_) => AcmeFault::from("the server took too long".to_owned()),
            error => AcmeFault::from(with_causes(error)),
        }
    }
}

impl From<rcgen::Error> for AcmeFault {
    fn from(error: rcgen::Error) -> AcmeFault {
        AcmeFault::from(format!("the request for a certificate could not be made: {error}"))
    }
}

impl From<base::error::Error> for AcmeFault {
    fn from(error: base::error::Error) -> AcmeFault {
        AcmeFault::from(error.to_string())
    }
}

/// What the server says of an authorization that it refused.
async fn refusal(order: &mut Order) -> Option<String> {
    let mut authorizations = order.authorizations();
    while let Some(Ok(mut authorization)) = authorizations.next().await {
        let Ok(state) = authorization.refresh().await else { continue };
        let failed = state.challenges.iter().find_map(|challenge| {
            let kind = kind_of(&challenge.r#type)?;
            Some(format!("{}: {}", kind.as_str(), reason(challenge.error.as_ref()?)))
        });
        if failed.is_some() {
            return failed;
        }
    }
    None
}

/// A problem in the server's words.
fn reason(problem: &Problem) -> String {
    let kind = problem.r#type.as_deref().unwrap_or("an error without a type");
    let kind = kind.rsplit(':').next().unwrap_or(kind);
    let mut said = match &problem.detail {
        Some(detail) => format!("{detail} ({kind})"),
        None => kind.to_owned(),
    };
    for part in problem.subproblems.iter().filter_map(|part| part.detail.as_deref()) {
        said.push_str("; ");
        said.push_str(part);
    }
    said
}

/// An error with what caused it: which name was not found, whose certificate is not trusted.
fn with_causes(error: &Error) -> String {
    let mut said = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        let more = error.to_string();
        if !said.contains(&more) {
            said.push_str(": ");
            said.push_str(&more);
        }
        cause = error.source();
    }
    said
}

fn read_window(window: &Value) -> Option<RenewalWindow> {
    let time = |name: &str| window[name].as_str()?.parse::<Timestamp>().ok();
    let (start, end) = (time("start")?.as_millisecond(), time("end")?.as_millisecond());
    (start <= end).then_some(RenewalWindow { start, end })
}

fn kind_of(challenge: &ChallengeType) -> Option<ChallengeKind> {
    match challenge {
        ChallengeType::Http01 => Some(ChallengeKind::Http01),
        ChallengeType::TlsAlpn01 => Some(ChallengeKind::TlsAlpn01),
        _ => None,
    }
}

fn type_of(kind: ChallengeKind) -> ChallengeType {
    match kind {
        ChallengeKind::Http01 => ChallengeType::Http01,
        ChallengeKind::TlsAlpn01 => ChallengeType::TlsAlpn01,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_window_has_two_times_in_their_order() {
        let window = |start: &str, end: &str| read_window(&json!({ "start": start, "end": end }));
        let (first, second) = ("2026-01-02T04:00:00Z", "2026-01-03T04:00:00+01:00");
        let read = window(first, second).expect("a window");
        assert_eq!(read.end - read.start, 23 * 60 * 60 * 1_000);
        assert_eq!(window(second, first), None);
        assert_eq!(window("soon", second), None);
        assert_eq!(read_window(&Value::Null), None);
    }

    #[test]
    fn a_refusal_is_told_in_the_words_of_the_server() {
        let problem = |json: Value| reason(&serde_json::from_value::<Problem>(json).unwrap());
        let kind = "urn:ietf:params:acme:error:rateLimited";
        assert_eq!(
            problem(json!({ "type": kind, "detail": "Too many certificates" })),
            "Too many certificates (rateLimited)"
        );
        let part = json!({ "detail": "no such name" });
        assert_eq!(
            problem(json!({ "type": kind, "subproblems": [part] })),
            "rateLimited; no such name"
        );
        assert_eq!(problem(json!({})), "an error without a type");
    }
}
