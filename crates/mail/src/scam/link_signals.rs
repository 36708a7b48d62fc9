//! Scam signals in links.

use url::{Host, Url};

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
        let Some(target) = target(&link.target) else { continue };
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

/// Where a link leads, services unwrapped that rewrite links to check them.
fn target(href: &str) -> Option<Url> {
    let url = Url::parse(href).ok()?;
    let rewritten =
        url.host_str().is_some_and(|host| host.ends_with("safelinks.protection.outlook.com"));
    let inner = url.query_pairs().find(|(name, _)| name == "url").filter(|_| rewritten);
    inner.and_then(|(_, inner)| Url::parse(&inner).ok()).or(Some(url))
}

/// The text of the link is itself an address on the web, and another one.
fn shows_another_domain(
    link: &Link,
    target: &Url,
    proven: Option<&str>,
    listed: bool,
) -> Option<Signal> {
    let shown = shown_domain(&link.text)?;
    if !matches!(target.scheme(), "http" | "https") {
        return None;
    }
    let leads = target.host_str()?;
    let honest = domain::is_same_owner(&shown, leads)
        || proven.is_some_and(|proven| domain::is_same_owner(proven, leads))
        || is_redirector(leads);
    if honest {
        return None;
    }
    let points = match (domain::looks_like(leads, &shown), listed) {
        (true, _) => 5.0,
        (false, false) => 2.5,
        // Newsletters count clicks by way of other hosts.
        (false, true) => 1.0,
    };
    let reason = format!("A link that shows {} leads to {}.", short(&shown), short(leads));
    Some(Signal::new(points, Risk::Phishing, reason))
}

/// The domain in a text that is nothing but a web address.
fn shown_domain(text: &str) -> Option<String> {
    if text.contains(char::is_whitespace) || text.contains('@') || !text.contains('.') {
        return None;
    }
    let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let url = Url::parse(&whole).ok()?;
    let host = url.host_str()?.to_owned();
    domain::exists(&host).then_some(host)
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
