//! Scam signals in links.

use url::{Host, Url};

use super::disguised_link::{DisguisedLink, disguised_link, link_target};
use super::{Authentication, Risk, Signal, domain};
use crate::Dmarc;
use crate::html::Link;
use crate::kind::MailKind;
use crate::parse::ParsedMail;

/// The weightiest signal of each kind; a hundred links count as one.
pub(super) fn signals(mail: &ParsedMail, authentication: &Authentication) -> Vec<Signal> {
    let proven = match (&mail.from, authentication.dmarc) {
        (Some(from), Dmarc::Pass) => Some(domain::of_address(&from.email)),
        _ => None,
    };
    let listed = mail.kind == MailKind::List;
    let mut found: Vec<Signal> = Vec::new();
    for link in &mail.links {
        let Some(target) = link_target(&link.target) else { continue };
        found.extend(shows_another_domain(link, &target, proven, listed));
        found.extend(hides_its_host(&target));
    }
    weightiest(found)
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
    let DisguisedLink { shown, leads } = disguised_link(&link.text, target)?;
    let honest =
        proven.is_some_and(|proven| domain::is_same_owner(proven, &leads)) || is_redirector(&leads);
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
    if target.username().contains('.') {
        let reason = "A link shows one site and leads to another after an @ sign.";
        return Some(Signal::new(3.0, Risk::Phishing, reason));
    }
    domain::mixes_scripts(target.host_str()?).then(|| {
        let reason = "A link leads to a site whose name mixes letters of several alphabets.";
        Signal::new(4.0, Risk::Phishing, reason)
    })
}

/// Services that pass a click on, as mail programs and newsletters use them.
fn is_redirector(host: &str) -> bool {
    const REDIRECTORS: &[&str] = &[
        "urldefense.com",
        "urldefense.proofpoint.com",
        "list-manage.com",
        "mailchi.mp",
        "sendgrid.net",
        "mandrillapp.com",
        "mailgun.org",
        "sparkpostmail.com",
        "mjt.lu",
        "hubspotlinks.com",
        "hs-sites.com",
        "exacttarget.com",
        "exct.net",
        "rs6.net",
        "constantcontact.com",
        "createsend.com",
        "cmail19.com",
        "cmail20.com",
        "klclick.com",
        "awstrack.me",
        "google.com",
        "doubleclick.net",
        "facebook.com",
        "linkedin.com",
        "lnkd.in",
        "t.co",
        "youtube.com",
        "youtu.be",
        "goo.gl",
        "mimecast.com",
        "barracudanetworks.com",
        "fireeye.com",
    ];
    let host = host.to_lowercase();
    REDIRECTORS.iter().any(|known| host == *known || host.ends_with(&format!(".{known}")))
}

fn short(host: &str) -> String {
    const CHARS: usize = 60;
    if host.chars().count() <= CHARS {
        return host.to_owned();
    }
    format!("{}…", host.chars().take(CHARS).collect::<String>())
}
