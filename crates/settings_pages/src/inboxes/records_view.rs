//! The DNS records of a domain, as the page of an inbox shows them.

use model::mailboxes::domains::{KeyState, ListedKey};
use translation::{sentence, t};
use transport::mail_out::dns_records::{self, Finding, PublishedRecord, Purpose, RecordStatus};
use web::Web;

use crate::inboxes::incoming_mail;

/// How many other records of the DNS are shown, and how many characters of each.
const FOUND_SHOWN: usize = 3;
const FOUND_CHARS: usize = 600;

pub struct RecordsView {
    pub domain: String,
    /// The selector of the key that signs now.
    pub signs: Option<String>,
    pub rows: Vec<RecordView>,
    /// The same as lines of a zone file.
    pub zone: String,
    /// Set once they were looked up.
    pub outcome: Option<OutcomeView>,
}

pub struct RecordView {
    pub kind: &'static str,
    pub purpose: &'static str,
    pub name: String,
    pub value: String,
    pub note: String,
    pub looked_up: Option<FindingView>,
}

pub struct FindingView {
    pub state: incoming_mail::StatusBadge,
    pub sentence: String,
    /// What is published, where it is something else.
    pub found: Vec<String>,
}

pub struct OutcomeView {
    pub class: &'static str,
    pub icon: &'static str,
    pub title: String,
    pub sentence: &'static str,
}

/// The records of a domain with these keys, not looked up.
pub fn view(web: &Web, domain: &str, keys: &[ListedKey]) -> RecordsView {
    let records = dns_records::records(domain, keys, &web.mail_setup.sending);
    let zone: Vec<String> = records.iter().map(PublishedRecord::zone_line).collect();
    let signs = keys.iter().find(|key| key.state == KeyState::Signing);
    RecordsView {
        domain: domain.to_owned(),
        signs: signs.map(|key| key.selector.clone()),
        zone: zone.join("\n"),
        rows: records.into_iter().map(|record| record_view(record, None)).collect(),
        outcome: None,
    }
}

fn record_view(record: PublishedRecord, looked_up: Option<FindingView>) -> RecordView {
    RecordView {
        kind: record.kind,
        purpose: match record.purpose {
            Purpose::Dkim => "DKIM",
            Purpose::Spf => "SPF",
            Purpose::Dmarc => "DMARC",
            Purpose::Mx => t!("Mail in"),
        },
        name: record.name,
        value: record.value,
        note: sentence(&record.note).into_owned(),
        looked_up,
    }
}

/// A record with what was found in the DNS.
pub fn from_finding(finding: Finding) -> RecordView {
    let (mx, status) = (finding.record.purpose == Purpose::Mx, finding.status);
    let (class, icon, word) = match status {
        RecordStatus::Good => ("ok", "check", t!("Found")),
        // Mail may well go elsewhere and be forwarded or fetched from there.
        RecordStatus::Missing if mx => ("", "none", t!("Missing")),
        RecordStatus::Different if mx => ("", "none", t!("Different")),
        RecordStatus::Missing => ("danger", "fail", t!("Missing")),
        RecordStatus::Different => ("warn", "warn", t!("Different")),
        RecordStatus::Unknown => ("warn", "wait", t!("Not known")),
    };
    let clip = |text: &String| match text.char_indices().nth(FOUND_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.clone(),
    };
    let others = match status {
        RecordStatus::Different => finding.found.iter().take(FOUND_SHOWN).map(clip).collect(),
        RecordStatus::Good | RecordStatus::Missing | RecordStatus::Unknown => Vec::new(),
    };
    let looked_up = FindingView {
        state: incoming_mail::StatusBadge { class, icon, word },
        sentence: sentence(&finding.sentence).into_owned(),
        found: others,
    };
    record_view(finding.record, Some(looked_up))
}

/// What was found, in one line. The MX record is not counted: mail may be forwarded or fetched.
pub fn outcome(findings: &[Finding]) -> OutcomeView {
    let counted = || findings.iter().filter(|finding| finding.record.purpose != Purpose::Mx);
    let of = |status: RecordStatus| counted().filter(|finding| finding.status == status).count();
    let (good, all) = (of(RecordStatus::Good), counted().count());
    if good == all {
        return OutcomeView {
            class: "ok",
            icon: "check",
            title: t!("Every record that vouches for your mail is found").into(),
            sentence: t!("Others can tell that mail of this domain is yours."),
        };
    }
    let (icon, sentence) = if good + of(RecordStatus::Unknown) == all {
        ("wait", t!("The DNS did not answer for every name. Check again in a moment."))
    } else {
        (
            "warn",
            t!("Until they are, some of your mail may land in spam. Publish what is missing or \
                 different, then check again; it can take an hour until a new record is seen."),
        )
    };
    let title = t!("{good} of the {all} records that vouch for your mail are found", good, all);
    OutcomeView { class: "warn", icon, title, sentence }
}

/// The domain of an address as the DNS knows it.
pub fn ascii_domain(address: &str) -> Option<String> {
    mail::ascii_domain(address.rsplit_once('@')?.1)
}
