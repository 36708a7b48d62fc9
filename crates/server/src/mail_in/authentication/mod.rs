//! Mail authentication by SPF, DKIM, DMARC and ARC.
//!
//! Implements the port [`inbound::Authenticator`]. The result is always about the address in
//! From. Behind a server of ours the client's IP address is not the sender's, so SPF is taken from
//! that server's `Authentication-Results` if the configuration trusts it, and is unknown otherwise.

mod dns;
mod results;
mod spf;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use inbound::{Authenticator, BelievedResults, Checking, Credentials, MailSource};
use mail::{Authentication, AuthenticationResult, Dmarc, DmarcPolicy, DomainName};
use mail_auth::common::verify::VerifySignature;
use mail_auth::dmarc::verify::DmarcParameters;
use mail_auth::{
    ArcOutput, AuthenticatedMessage, DkimOutput, DkimResult, DmarcOutput, DmarcResult, DnsError,
    Error, MessageAuthenticator, SpfOutput, SpfResult, dmarc,
};
use metrics::counter;
use tokio::time::{Instant, timeout_at};
use transport::net::dns_health::DnsHealth;

use results::AuthenticationResults;

pub use spf::Spf;

/// The time limit for authenticating a mail: the SMTP client waits for it.
const PATIENCE: Duration = Duration::from_secs(2);
/// The share of the time limit for SPF, DKIM and ARC; the rest is for DMARC, which needs their
/// results.
const FIRST_PART: Duration = Duration::from_millis(1_700);
/// DKIM signatures of a mail that are checked, those of its sender's domain first.
const SIGNATURES: usize = 5;
/// `Authentication-Results` of one server that are read: some write one for each method.
const BELIEVED_FIELDS: usize = 8;
/// Forwarders whose ARC seals are trusted.
const SEALERS: [&str; 5] =
    ["google.com", "microsoft.com", "fastmail.com", "messagingengine.com", "zohomail.com"];

/// The configuration of authentication.
#[derive(Clone, Debug, Default)]
pub struct AuthenticationConfig {
    /// The DNS server to use instead of the system's resolver.
    pub dns: Option<SocketAddr>,
    /// The server of ours whose `Authentication-Results` are trusted.
    pub trusted_results: Option<String>,
}

/// Authenticates mail by the senders' DNS records.
pub struct DnsAuthenticator {
    dns: MessageAuthenticator,
    health: Arc<DnsHealth>,
    /// The authserv-id of the trusted server of ours.
    believed: Option<BelievedResults>,
}

impl DnsAuthenticator {
    pub fn of(config: &AuthenticationConfig) -> Result<DnsAuthenticator, String> {
        let believed = config.trusted_results.as_deref().map(BelievedResults::of_server);
        let health = DnsHealth::of(config.dns);
        Ok(DnsAuthenticator { dns: dns::open(config.dns)?, health, believed })
    }
}

impl Authenticator for DnsAuthenticator {
    fn check<'a>(&'a self, credentials: Credentials<'a>) -> Checking<'a> {
        Box::pin(self.verdict(credentials))
    }
}

impl DnsAuthenticator {
    async fn verdict(&self, credentials: Credentials<'_>) -> Authentication {
        if !self.health.is_up().await {
            counter!("mailroom_mails_unproven_total", "reason" => "dns down").increment(1);
            return Authentication::default();
        }
        let begun = Instant::now();
        let (first, last) = (begun + FIRST_PART, begun + PATIENCE);
        let message = readable(&credentials);
        let signed = by_signature(&message);
        // The policy is looked up meanwhile, so that DMARC finds it remembered.
        let policy = timeout_at(first, self.dmarc(&credentials, &message, None, &[]));
        let (spf, dkim, arc, _) = tokio::join!(
            self.spf(&credentials, &message, first),
            self.dkim(&signed, first),
            self.arc(&message, first),
            policy,
        );
        let sender = spf.as_ref().map(|spf| &spf.sender);
        let dmarc = timeout_at(last, self.dmarc(&credentials, &message, sender, &dkim)).await;
        if Instant::now() >= first {
            counter!("mailroom_mails_unproven_total", "reason" => "timeout").increment(1);
            self.health.suspect();
        }
        let dmarc = dmarc.unwrap_or_default();
        let vouched = vouched_for(&arc, &credentials);
        let (dmarc, policy) = match dmarc_result(&dmarc, spf.is_some()) {
            // A tenant of the forwarder may have changed what it seals, such as by a rule that adds text:
            // its seal excuses a broken signature and proves nobody.
            (Dmarc::Fail, policy) if vouched => (Dmarc::Absent, policy),
            told => told,
        };
        Authentication {
            spf: spf.as_ref().map_or(AuthenticationResult::None, spf_proof),
            dkim: dkim_proof(&dkim),
            dmarc,
            aligned: is_aligned(&credentials, sender, &dkim),
            policy,
            arc: if vouched { AuthenticationResult::Pass } else { arc_proof(&arc) },
        }
    }

    /// `None` when it cannot be known.
    async fn spf(
        &self,
        credentials: &Credentials<'_>,
        message: &AuthenticatedMessage<'_>,
        deadline: Instant,
    ) -> Option<Spf> {
        match credentials.source {
            MailSource::Sender { ip, helo } => {
                let sender = mail::normal_address(credentials.sender.unwrap_or_default());
                let helo = helo.trim_end_matches('.');
                Some(spf::check(&self.dns, *ip, helo, &sender, deadline).await)
            }
            MailSource::OurServer => believed_spf(message, self.believed.as_ref()?),
            MailSource::Mailbox { believed } => believed_spf(message, believed),
        }
    }

    /// SPF of the envelope sender and of the HELO name.
    pub async fn check_spf(&self, ip: IpAddr, helo: &str, sender: &str) -> Spf {
        spf::check(&self.dns, ip, helo, sender, Instant::now() + PATIENCE).await
    }

    /// Verifies each signature separately, so that a slow DNS of one domain leaves only its own
    /// signature undecided.
    async fn dkim<'m>(
        &self,
        signed: &'m [AuthenticatedMessage<'m>],
        deadline: Instant,
    ) -> Vec<DkimOutput<'m>> {
        let check = async |place: usize| {
            let Some(message) = signed.get(place) else { return Vec::new() };
            let checked = timeout_at(deadline, self.dns.verify_dkim(message)).await;
            checked.unwrap_or_else(|_| {
                let signatures = message.dkim_headers.iter();
                signatures.map(|signature| unknown().with_signature(&signature.header)).collect()
            })
        };
        const { assert!(SIGNATURES == 5, "each has its place below") };
        let (a, b, c, d, e) = tokio::join!(check(0), check(1), check(2), check(3), check(4));
        [a, b, c, d, e].into_iter().flatten().collect()
    }

    /// Verifies the ARC chain.
    pub async fn check_arc(&self, raw: &[u8]) -> DkimResult {
        let message = AuthenticatedMessage::parse(raw).unwrap_or_default();
        self.arc(&message, Instant::now() + PATIENCE).await.result().clone()
    }

    async fn arc<'m>(
        &self,
        message: &'m AuthenticatedMessage<'m>,
        deadline: Instant,
    ) -> ArcOutput<'m> {
        timeout_at(deadline, self.dns.verify_arc(message)).await.unwrap_or_default()
    }

    async fn dmarc(
        &self,
        credentials: &Credentials<'_>,
        message: &AuthenticatedMessage<'_>,
        spf: Option<&SpfOutput>,
        dkim: &[DkimOutput<'_>],
    ) -> DmarcOutput {
        let unknown = SpfOutput::new(String::new());
        let spf = spf.unwrap_or(&unknown);
        // With a null return path SPF uses the HELO name.
        let sender = mail::normal_address(credentials.sender.unwrap_or_default());
        let identity = if sender.is_empty() { spf.domain() } else { domain_of(&sender) };
        let parameters = DmarcParameters {
            message,
            dkim_output: dkim,
            dkim2_output: None,
            rfc5321_mail_from_domain: identity,
            spf_output: spf,
        };
        self.dns.verify_dmarc(parameters).await
    }
}

/// SPF as the receiving server found it. Servers prepend their `Authentication-Results`, so only the
/// topmost fields count, down to the first of another authserv-id: what stands below that may be the
/// sender's, as may all that stands below a `Received` field unless the server is known to remove what
/// senders write in its name (RFC 8601, section 5).
fn believed_spf(message: &AuthenticatedMessage<'_>, believed: &BelievedResults) -> Option<Spf> {
    let above = message
        .headers
        .iter()
        .take_while(|(name, _)| believed.removes_forgeries || !is(name, b"received"));
    let fields = above.filter(|(name, _)| is(name, b"authentication-results"));
    let results = fields.map_while(|(_, value)| {
        AuthenticationResults::parse(value).filter(|results| believed.names(&results.server))
    });
    let found = results.take(BELIEVED_FIELDS).find(|results| results.of("spf", "").is_some())?;
    let (outcome, sender) = found.of("spf", "smtp.mailfrom")?;
    let outcome = SpfResult::try_from(outcome).ok()?;
    let sender = mail::normal_address(sender.unwrap_or_default());
    let sender = SpfOutput::new(domain_of(&sender).into()).with_result(outcome);
    Some(Spf { sender, poses: false })
}

/// True when a passing signature or SPF result is of the organisation that From names.
fn is_aligned(
    credentials: &Credentials<'_>,
    spf: Option<&SpfOutput>,
    dkim: &[DkimOutput<'_>],
) -> bool {
    let from = DomainName::of_address(credentials.from.unwrap_or_default());
    let Some(from) = from.map(|domain| domain.organisation()) else { return false };
    let is_of_from = |domain: &str| {
        DomainName::parse(domain).is_some_and(|domain| domain.organisation() == from)
    };
    let sent = spf.is_some_and(|spf| spf.result() == SpfResult::Pass && is_of_from(spf.domain()));
    let signatures = dkim.iter().filter(|output| *output.result() == DkimResult::Pass);
    let mut signers = signatures.filter_map(|output| output.signature());
    sent || signers.any(|signature| is_of_from(signature.domain()))
}

/// The mail as it is checked: for the sender that is shown, with so many signatures. A signature
/// counts only where there is one `From` field and it holds that sender, for a second one would be
/// shown and not signed.
fn readable<'a>(credentials: &Credentials<'a>) -> AuthenticatedMessage<'a> {
    let mut message = AuthenticatedMessage::parse(credentials.raw).unwrap_or_default();
    let from = mail::normal_address(credentials.from.unwrap_or_default());
    let fields = message.headers.iter().filter(|(name, _)| is(name, b"from")).count();
    let shown = |signed: &String| mail::normal_address(signed) == from;
    if fields != 1 || !message.from.iter().any(shown) {
        message.dkim_headers.clear();
    }
    let domain = domain_of(&from);
    message.dkim_headers.sort_by_key(|signature| !is_within(domain, signature.header.domain()));
    message.dkim_headers.truncate(SIGNATURES);
    message.from = vec![from];
    message
}

/// The same mail for each of its signatures, with that one alone.
fn by_signature<'a>(message: &AuthenticatedMessage<'a>) -> Vec<AuthenticatedMessage<'a>> {
    let signatures = message.dkim_headers.iter();
    signatures
        .map(|signature| AuthenticatedMessage {
            dkim_headers: vec![signature.clone()],
            ..message.clone()
        })
        .collect()
}

/// A signature whose key lookup timed out.
fn unknown<'a>() -> DkimOutput<'a> {
    DkimOutput::temp_err(Error::Dns(DnsError::Resolver(String::new())))
}

/// True when a domain is another or part of it.
fn is_within(domain: &str, other: &str) -> bool {
    match (DomainName::parse(domain), DomainName::parse(other)) {
        (Some(domain), Some(other)) => domain.is_within(&other),
        _ => domain.eq_ignore_ascii_case(other),
    }
}

/// True for a valid ARC chain whose last seal is a trusted forwarder's, with `dmarc=pass` for the
/// From domain.
fn vouched_for(arc: &ArcOutput<'_>, credentials: &Credentials<'_>) -> bool {
    let Some(last) = arc.sets().last().filter(|_| *arc.result() == DkimResult::Pass) else {
        return false;
    };
    let sealer = last.seal.header.domain().to_lowercase();
    let instance = |value: &[u8]| AuthenticationResults::parse(after_instance(value));
    let Some(results) = instance(last.results.value) else { return false };
    let from = DomainName::of_address(credentials.from.unwrap_or_default());
    let Some(("pass", Some(named))) = results.of("dmarc", "header.from") else { return false };
    SEALERS.contains(&sealer.as_str()) && from.is_some() && DomainName::parse(named) == from
}

/// `ARC-Authentication-Results` without the number of its set.
fn after_instance(value: &[u8]) -> &[u8] {
    let end = value.iter().position(|byte| *byte == b';');
    end.map_or(value, |end| &value[end + 1..])
}

/// The DMARC result. Where SPF is unknown, an unsigned mail might have passed by SPF, so it fails
/// only if the domain's policy is `quarantine` or `reject`.
fn dmarc_result(dmarc: &DmarcOutput, spf_known: bool) -> (Dmarc, DmarcPolicy) {
    let policy = match dmarc.policy() {
        dmarc::Policy::Reject => DmarcPolicy::Reject,
        dmarc::Policy::Quarantine => DmarcPolicy::Quarantine,
        dmarc::Policy::None | dmarc::Policy::Unspecified => DmarcPolicy::None,
    };
    let outcome = match dmarc.result() {
        DmarcResult::Pass => Dmarc::Pass,
        DmarcResult::Fail(_) if !spf_known && policy == DmarcPolicy::None => Dmarc::Absent,
        DmarcResult::Fail(_) => Dmarc::Fail,
        DmarcResult::None | DmarcResult::PermError(_) | DmarcResult::TempError(_) => Dmarc::Absent,
    };
    (outcome, policy)
}

fn spf_proof(spf: &Spf) -> AuthenticationResult {
    match spf.result() {
        SpfResult::Pass => AuthenticationResult::Pass,
        SpfResult::Fail => AuthenticationResult::Fail,
        SpfResult::SoftFail
        | SpfResult::Neutral
        | SpfResult::TempError
        | SpfResult::PermError
        | SpfResult::None => AuthenticationResult::None,
    }
}

fn dkim_proof(dkim: &[DkimOutput<'_>]) -> AuthenticationResult {
    let any = |wanted: fn(&DkimResult) -> bool| dkim.iter().any(|output| wanted(output.result()));
    if any(|result| *result == DkimResult::Pass) {
        AuthenticationResult::Pass
    } else if any(|result| matches!(result, DkimResult::Fail(_))) {
        AuthenticationResult::Fail
    } else {
        AuthenticationResult::None
    }
}

/// A valid ARC chain of untrusted sealers gives no result; an invalid one is a failure.
fn arc_proof(arc: &ArcOutput<'_>) -> AuthenticationResult {
    match arc.result() {
        DkimResult::Fail(_) => AuthenticationResult::Fail,
        _ => AuthenticationResult::None,
    }
}

fn domain_of(address: &str) -> &str {
    address.rsplit_once('@').map_or("", |(_, domain)| domain)
}

fn is(name: &[u8], wanted: &[u8]) -> bool {
    name.trim_ascii().eq_ignore_ascii_case(wanted)
}
