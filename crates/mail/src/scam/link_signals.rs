//! Scam signals in links.

use url::{Host, Url};

use super::disguised_link::{DisguisedLink, disguised_link, disguised_mailbox, link_target};
use super::evidence::{LinkTarget, ScamEvidence};
use super::hosts::{AnonymousHost, anonymous_host, is_tracker, passed_on};
use super::{Authentication, Risk, Signal, domain};
use crate::Dmarc;
use crate::html::Link;
use crate::kind::MailKind;

/// The weightiest signal of each kind; a hundred links count as one.
pub(super) fn signals(evidence: &ScamEvidence<'_>, authentication: &Authentication) -> Vec<Signal> {
    let mail = evidence.mail;
    let proven = match (&mail.from, authentication.dmarc) {
        (Some(from), Dmarc::Pass) => Some(domain::of_address(&from.email)),
        _ => None,
    };
    let listed = mail.kind == MailKind::List;
    let (mut shown, mut hidden): (Vec<Signal>, Vec<Signal>) = (Vec::new(), Vec::new());
    for link in &mail.links {
        let Some(target) = link_target(&link.target) else { continue };
        shown.extend(shows_another_domain(link, &target, proven, listed));
        hidden.extend(hides_its_host(&target));
    }
    let mut found = weightiest(shown);
    found.extend(weightiest(hidden));
    found.extend(leads_to_anybody(evidence));
    found.extend(passes_on(evidence));
    found.extend(names_the_reader(evidence));
    found.extend(leads_away(evidence));
    found
}

fn weightiest(mut found: Vec<Signal>) -> Vec<Signal> {
    found.sort_by(|a, b| b.points.total_cmp(&a.points));
    found.truncate(1);
    found
}

/// The text of the link is itself an address on the web, and another one.
fn shows_another_domain(
    link: &Link,
    target: &Url,
    proven: Option<&str>,
    listed: bool,
) -> Option<Signal> {
    // Services that count clicks rewrite links to pages, not those that write to a mailbox.
    let mailbox = || disguised_mailbox(&link.text, target).filter(|_| target.scheme() == "mailto");
    let DisguisedLink { shown, leads } = disguised_link(&link.text, target).or_else(mailbox)?;
    let honest =
        proven.is_some_and(|proven| domain::is_same_owner(proven, &leads)) || is_tracker(&leads);
    if honest {
        return None;
    }
    let points = match (domain::looks_like(&leads, &shown), listed) {
        (true, _) => 5.0,
        (false, false) => 2.5,
        // Newsletters count clicks by way of other hosts.
        (false, true) => 1.0,
    };
    let reason = format!("A link that shows {} leads to {}.", short(&shown), short(&leads));
    Some(Signal::new(points, Risk::Phishing, reason))
}

fn hides_its_host(target: &Url) -> Option<Signal> {
    match target.scheme() {
        "http" | "https" => {}
        "data" | "javascript" | "vbscript" | "file" => {
            let reason = "A link runs something instead of leading to a page.";
            return Some(Signal::new(3.0, Risk::Phishing, reason));
        }
        _ => return None,
    }
    let host = target.host()?;
    if matches!(host, Host::Ipv4(_) | Host::Ipv6(_)) {
        let reason = "A link leads to a number instead of a named site.";
        return Some(Signal::new(2.5, Risk::Phishing, reason));
    }
    let labels = target.host_str()?.split(['.', '-']);
    if labels.filter(|label| is_number(label)).count() >= 4 {
        let reason = "A link leads to a server that has only a number for a name.";
        return Some(Signal::new(2.0, Risk::Phishing, reason));
    }
    if target.username().contains('.') {
        let reason = "A link shows one site and leads to another after an @ sign.";
        return Some(Signal::new(3.0, Risk::Phishing, reason));
    }
    if domain::poses_as_latin(target.host_str()?) {
        let reason = "A link leads to a site whose name is written in letters that only look like the usual ones.";
        return Some(Signal::new(4.0, Risk::Phishing, reason));
    }
    domain::mixes_scripts(target.host_str()?).then(|| {
        let reason = "A link leads to a site whose name mixes letters of several alphabets.";
        Signal::new(4.0, Risk::Phishing, reason)
    })
}

pub(super) fn short(host: &str) -> String {
    const CHARS: usize = 60;
    if host.chars().count() <= CHARS {
        return host.to_owned();
    }
    format!("{}…", host.chars().take(CHARS).collect::<String>())
}

/// A link to a shortener, a bucket or a free host. It weighs most where it is all that there is to
/// open: an honest sender's mail leads to the sender's own pages as well.
fn leads_to_anybody(evidence: &ScamEvidence<'_>) -> Option<Signal> {
    let others: Vec<&LinkTarget> =
        evidence.targets.iter().filter(|link| !evidence.is_own(link)).collect();
    let anonymous = |link: &&LinkTarget| anonymous_host(&link.host);
    let hosts: Vec<AnonymousHost> = others.iter().filter_map(anonymous).collect();
    let first = *hosts.first()?;
    let only = hosts.len() == evidence.targets.len();
    let (points, place) = match (first, only) {
        (AnonymousHost::Shortener, true) => (2.0, "a service that shortens links"),
        (AnonymousHost::Shortener, false) => (0.5, "a service that shortens links"),
        (AnonymousHost::Bucket, true) => (3.0, "a file store that anybody can use"),
        (AnonymousHost::Bucket, false) => (1.0, "a file store that anybody can use"),
        (AnonymousHost::FreeHost, true) => (2.5, "a free host that anybody can use"),
        (AnonymousHost::FreeHost, false) => (0.5, "a free host that anybody can use"),
    };
    let reason = match only {
        true => format!("Its only links lead to {place}."),
        false => format!("A link leads to {place}."),
    };
    Some(Signal::new(points, Risk::Phishing, reason))
}

/// A link to a large site that sends its visitors on to somebody else.
fn passes_on(evidence: &ScamEvidence<'_>) -> Option<Signal> {
    let gate = evidence.targets.iter().find(|link| {
        is_gate(&link.registered)
            && !evidence.is_own(link)
            && passed_on(&link.url).and_then(|next| next.host_str().map(str::to_owned)).is_some_and(
                |next| {
                    !domain::is_same_owner(&next, &link.host)
                        && !domain::is_same_owner(&next, evidence.sender)
                },
            )
    })?;
    let reason = format!("A link goes by way of {} to somebody else.", short(&gate.host));
    Some(Signal::new(1.5, Risk::Phishing, reason))
}

fn is_number(label: &str) -> bool {
    (1..=3).contains(&label.len()) && label.bytes().all(|b| b.is_ascii_digit())
}

/// Sites that everybody knows and that pass any visitor on.
fn is_gate(registered: &str) -> bool {
    const GATES: [&str; 12] = [
        "google",
        "bing",
        "youtube",
        "facebook",
        "doubleclick",
        "googleadservices",
        "linkedin",
        "yahoo",
        "baidu",
        "yandex",
        "deref-web",
        "deref-gmx",
    ];
    GATES.contains(&registered.split('.').next().unwrap_or_default())
}

/// The reader's own address behind the # of a link fills in a false sign-in page. Servers never
/// see that part, so honest senders have no use for it there.
fn names_the_reader(evidence: &ScamEvidence<'_>) -> Option<Signal> {
    let named = evidence.targets.iter().any(|link| {
        link.url.fragment().is_some_and(|part| {
            let part = part.to_lowercase().replace("%40", "@");
            evidence.mail.to.iter().take(5).any(|reader| part.contains(&reader.email))
        })
    });
    named.then(|| {
        let reason = "A link carries your own address, as false sign-in pages need it.";
        Signal::new(2.5, Risk::Phishing, reason)
    })
}

/// No link leads to the sender's own pages, and one leads to an ending that costs next to nothing.
/// Newsletters pass clicks on through other domains too, so either alone says little.
fn leads_away(evidence: &ScamEvidence<'_>) -> Option<Signal> {
    let own = |link: &LinkTarget| {
        evidence.is_own(link) || is_tracker(&link.host) || evidence.is_ours(&link.host)
    };
    if evidence.targets.is_empty() || evidence.targets.iter().any(own) {
        return None;
    }
    let cheap = evidence.targets.iter().find(|link| {
        link.host.rsplit('.').next().is_some_and(|ending| CHEAP_ENDINGS.contains(&ending))
    });
    if let Some(link) = cheap {
        let reason = format!("Its links lead away from the sender, to {}.", short(&link.host));
        return Some(Signal::new(1.5, Risk::Suspicious, reason));
    }
    let reason = "Its links lead away from the sender.";
    evidence.phrases.any().then(|| Signal::new(0.5, Risk::Suspicious, reason))
}

/// Endings of domains that are given away or sold for next to nothing, and used for a day.
const CHEAP_ENDINGS: &[&str] = &[
    "bio", "bond", "buzz", "cam", "cf", "cfd", "click", "cyou", "ga", "gq", "icu", "life", "link",
    "live", "lol", "ml", "monster", "online", "pics", "pro", "pw", "quest", "rest", "sbs", "shop",
    "site", "space", "store", "tk", "today", "top", "vip", "website", "win", "work", "world",
    "xyz", "zip",
];
