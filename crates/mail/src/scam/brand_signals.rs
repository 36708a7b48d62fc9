//! Scam signals in borrowed brands: a name, a subject or a domain that is somebody else's.

use super::brands::{Brand, brand_in, brand_in_domain, brand_looked_like, is_brands};
use super::evidence::ScamEvidence;
use super::hosts::{anonymous_host, is_tracker};
use super::{Risk, Signal, domain};

pub(super) fn signals(evidence: &ScamEvidence<'_>) -> Vec<Signal> {
    if evidence.is_ours(evidence.sender) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let by_name = name(evidence);
    let by_domain = sender_domain(evidence);
    let named = by_name.is_some();
    let posed = named || by_domain.is_some();
    found.extend(by_name);
    found.extend(by_domain);
    if !named {
        found.extend(subject(evidence));
    }
    found.extend(links(evidence, posed));
    found
}

/// "PayPal" <x@elsewhere.example>. Brands do not write from free mailboxes and free hosts either.
fn name(evidence: &ScamEvidence<'_>) -> Option<Signal> {
    let brand = foreign(brand_in(&evidence.name.words), evidence.sender)?;
    // A mailing list that passes a mail on keeps the name and changes the address.
    if evidence.name.words.split(' ').any(|word| word == "via") {
        return None;
    }
    let anybody = domain::is_freemail(evidence.sender) || anonymous_host(evidence.sender).is_some();
    let points = if anybody { 4.0 } else { 3.0 };
    let links = &evidence.targets;
    let elsewhere = !links.is_empty() && !links.iter().any(|link| brand.owns(&link.host));
    let points = points + if elsewhere { 1.0 } else { 0.0 };
    let reason = format!(
        "The sender's name says {}, but {} is not theirs.",
        brand.title(),
        display_host(evidence.sender)
    );
    Some(Signal::new(points, Risk::Impersonation, reason))
}

/// The brand in the sender's own domain, as part of a longer name or misspelt.
fn sender_domain(evidence: &ScamEvidence<'_>) -> Option<Signal> {
    let host = evidence.sender;
    if host.is_empty() || is_brands(host) || domain::is_freemail(host) {
        return None;
    }
    if let Some(brand) = foreign(brand_looked_like(host), host) {
        let reason =
            format!("{} looks like {}, but is not theirs.", display_host(host), brand.title());
        return Some(Signal::new(3.5, Risk::Impersonation, reason));
    }
    let brand = foreign(brand_in_domain(host), host)?;
    let reason = format!("{} has {} in it, but is not theirs.", display_host(host), brand.title());
    Some(Signal::new(3.0, Risk::Impersonation, reason))
}

/// A brand in the subject weighs only together with the words of a scam about it.
fn subject(evidence: &ScamEvidence<'_>) -> Option<Signal> {
    if evidence.has_history() {
        return None;
    }
    let brand = foreign(brand_in(&evidence.subject.words), evidence.sender)?;
    let told = STORIES.iter().any(|group| evidence.phrases.of(group) > 0);
    let leads = evidence.targets.iter().any(|link| brand.owns(&link.host));
    if !told || leads || evidence.targets.is_empty() {
        return None;
    }
    let reason = format!("It speaks for {} and leads elsewhere.", brand.title());
    Some(Signal::new(1.5, Risk::Impersonation, reason))
}

/// What scams tell in the name of a brand.
const STORIES: [&str; 9] =
    ["credentials", "secrets", "mailbox", "parcel", "refund", "prize", "wallet", "lapse", "fine"];

/// A link to a domain that has a brand in it, or looks like one.
fn links(evidence: &ScamEvidence<'_>, posed: bool) -> Option<Signal> {
    let strange = evidence.targets.iter().filter(|link| !evidence.is_own(link));
    let mut hosts: Vec<&str> = strange.map(|link| link.host.as_str()).collect();
    hosts.sort_unstable();
    hosts.dedup();
    hosts.retain(|host| !is_tracker(host) && !is_brands(host));
    hosts.truncate(HOSTS);
    let host = hosts.into_iter().find(|host| {
        foreign(brand_in_domain(host), host).is_some()
            || foreign(brand_looked_like(host), host).is_some()
    })?;
    let points = if posed { 1.5 } else { 2.5 };
    let reason = format!("A link leads to {}, which borrows a known name.", display_host(host));
    Some(Signal::new(points, Risk::Phishing, reason))
}

/// Hosts of a mail's links that are compared with the brands.
const HOSTS: usize = 20;

fn foreign(brand: Option<&'static Brand>, host: &str) -> Option<&'static Brand> {
    brand.filter(|brand| !host.is_empty() && !brand.owns(host))
}

fn display_host(host: &str) -> String {
    super::link_signals::short(host)
}
