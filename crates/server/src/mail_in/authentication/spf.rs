//! SPF (RFC 7208) of the envelope sender and the HELO name.

use std::borrow::Borrow;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant as RecordEnd;

use mail_auth::common::cache::NoCache;
use mail_auth::spf::verify::SpfParameters;
use mail_auth::{MessageAuthenticator, Parameters, RecordSet, ResolverCache, SpfOutput, SpfResult};
use tokio::time::{Instant, timeout_at};

use super::{domain_of, is_within};

/// Names of one address that are looked at (RFC 7208, section 4.6.4).
const NAMES: usize = 10;
/// Our host name for the `%{r}` macro.
const OUR_NAME: &str = "mailroom";
/// The value of `%{p}` for an address without a validated name (RFC 7208, section 7.3).
const NAMELESS: &str = "unknown";

/// The SPF results of a mail.
#[derive(Debug)]
pub struct Spf {
    /// The result for MAIL FROM, or for HELO with a null return path. DMARC uses this one.
    pub(super) sender: SpfOutput,
    /// SPF failed for the HELO name.
    pub(super) poses: bool,
}

impl Spf {
    /// The combined result. A failed HELO check fails the mail (RFC 7208, section 2.3).
    pub fn result(&self) -> SpfResult {
        if self.poses { SpfResult::Fail } else { self.sender.result() }
    }
}

/// A check that reaches the deadline is a temporary error.
pub(super) async fn check(
    dns: &MessageAuthenticator,
    ip: IpAddr,
    helo: &str,
    sender: &str,
    deadline: Instant,
) -> Spf {
    let parameters = || SpfParameters::verify_ehlo(ip, helo, OUR_NAME);
    let machine = of_identity(dns, ip, parameters, helo, deadline);
    if sender.is_empty() {
        return Spf { sender: machine.await, poses: false };
    }
    let parameters = || SpfParameters::verify_mail_from(ip, helo, OUR_NAME, sender);
    let of_sender = of_identity(dns, ip, parameters, domain_of(sender), deadline);
    let (machine, sender) = tokio::join!(machine, of_sender);
    Spf { sender, poses: machine.result() == SpfResult::Fail }
}

/// One of the two SPF identities.
async fn of_identity<'a>(
    dns: &MessageAuthenticator,
    ip: IpAddr,
    parameters: impl Fn() -> SpfParameters<'a>,
    domain: &str,
    deadline: Instant,
) -> SpfOutput {
    let checked = async {
        let names = Names::default();
        let ask = || dns.verify_spf(Parameters::new(parameters()).with_ptr_cache(&names));
        let first = ask().await;
        // The record goes by the address's names: they are proven now, and it is gone through once
        // more with those. Everything else it leads to is remembered.
        let Some(claimed) = names.take() else { return first };
        names.set(prove(dns, ip, &claimed, domain).await);
        ask().await
    };
    let slow = |_| SpfOutput::new(domain.into()).with_result(SpfResult::TempError);
    timeout_at(deadline, checked).await.unwrap_or_else(slow)
}

/// The names that lead back to their address (RFC 7208, section 5.5), those of the domain first,
/// without the dot at the end that DNS answers have: mail-auth compares them with names that have
/// none, and takes the first one for `%{p}` as it is.
async fn prove(dns: &MessageAuthenticator, ip: IpAddr, claimed: &Claimed, domain: &str) -> Claimed {
    let mut names: Vec<Box<str>> = Vec::new();
    for name in claimed.rrset.iter().take(NAMES) {
        let leads_back = match ip {
            IpAddr::V4(ip) => {
                let found = dns.ipv4_lookup(&**name, None::<&NoCache<_, _>>).await;
                found.is_ok_and(|found| found.rrset.contains(&ip))
            }
            IpAddr::V6(ip) => {
                let found = dns.ipv6_lookup(&**name, None::<&NoCache<_, _>>).await;
                found.is_ok_and(|found| found.rrset.contains(&ip))
            }
        };
        if leads_back {
            names.push(name.strip_suffix('.').unwrap_or(name).into());
        }
    }
    names.sort_by_key(|name| (!name.eq_ignore_ascii_case(domain), !is_within(name, domain)));
    if names.is_empty() {
        names.push(NAMELESS.into());
    }
    RecordSet { rrset: Arc::from(names), dnssec_status: claimed.dnssec_status }
}

type Claimed = RecordSet<Box<str>>;

/// The validated names of the client's address, once they were looked up.
#[derive(Default)]
struct Names(Mutex<Option<Claimed>>);

impl Names {
    fn take(&self) -> Option<Claimed> {
        self.lock().take()
    }

    fn set(&self, names: Claimed) {
        *self.lock() = Some(names);
    }

    fn lock(&self) -> MutexGuard<'_, Option<Claimed>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ResolverCache<IpAddr, Claimed> for Names {
    fn get<Q>(&self, _: &Q) -> Option<Claimed>
    where
        IpAddr: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.lock().clone()
    }

    fn remove<Q>(&self, _: &Q) -> Option<Claimed>
    where
        IpAddr: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.take()
    }

    fn insert(&self, _: IpAddr, names: Claimed, _: RecordEnd) {
        self.set(names);
    }
}
