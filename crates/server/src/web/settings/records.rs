//! The records that an inbox's domain publishes: what they are, whether the DNS has them, and the
//! key that signs the domain's mail.

use std::sync::Arc;

use axum::extract::{Path, State};
use db::Tx;
use inbox::base::ids::MailboxId;
use inbox::model::domains::{self, KeyState, ListedKey};
use inbox::model::mailboxes;
use inbox::{Cx, Error};

use super::inbox::{build, mailbox_id};
use super::incoming_mail;
use crate::mail_out::dns_records::{self, Finding, PublishedRecord, Purpose, RecordStatus};
use crate::net::dns_lookup::Lookup;
use crate::web::Web;
use crate::web::form::Posted;
use crate::web::layout::responses::{PageError, PageResult, see_other};
use crate::web::visitor::Visitor;

/// What is shown of what the DNS has instead: so many records, and so many characters of each.
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
    let records = dns_records::records(domain, keys, &web.ways.sending);
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
            Purpose::Mx => "Mail in",
        },
        name: record.name,
        value: record.value,
        note: record.note,
        looked_up,
    }
}

/// Looks the records up and shows the page with what was found.
pub async fn look(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: Posted,
) -> PageResult {
    let visitor = posted.visitor;
    let mailbox = mailbox_id(&id)?;
    let (domain, keys) = web.read(&visitor, move |tx, cx, _| domain_of(tx, cx, &mailbox)).await?;
    let looked = look_up(&web, &domain, &keys).await;
    if let Ok(findings) = &looked {
        begin_signing(&web, &visitor, &domain, &keys, findings).await?;
    }
    let mut page = build(&web, &visitor, &id).await?;
    if let Some(records) = page.mail.as_mut().and_then(|mail| mail.records.as_mut()) {
        match looked {
            Ok(findings) => {
                records.outcome = Some(outcome(&findings));
                records.rows = findings.into_iter().map(found).collect();
            }
            Err(outcome) => records.outcome = Some(outcome),
        }
    }
    web.show(&visitor, &page)
}

/// An answer that was remembered would tell somebody who has just published a record that it is
/// missing, so each look begins with a memory that is empty.
async fn look_up(web: &Web, domain: &str, keys: &[ListedKey]) -> Result<Vec<Finding>, OutcomeView> {
    let not = |title: &str, sentence| OutcomeView {
        class: "warn",
        icon: "warn",
        title: title.into(),
        sentence,
    };
    let Ok(_place) = web.lookups.try_acquire() else {
        let sentence = "Several domains are being looked up already. Check again in a moment.";
        return Err(not("Nothing was looked up", sentence));
    };
    let lookup = Lookup::at(web.ways.dns).map_err(|error| {
        tracing::warn!(%error, "no DNS resolver available");
        not(
            "The DNS could not be asked",
            "This server does not know a DNS server; its log says why.",
        )
    })?;
    Ok(dns_records::look_up(&lookup, domain, keys, &web.ways.sending).await)
}

async fn begin_signing(
    web: &Web,
    visitor: &Visitor,
    domain: &str,
    keys: &[ListedKey],
    findings: &[Finding],
) -> Result<(), PageError> {
    let Some(selector) = dns_records::key_now_seen(domain, keys, findings) else { return Ok(()) };
    let domain = domain.to_owned();
    web.act(visitor, move |tx, cx, _| domains::begin_signing(tx, cx, &domain, &selector)).await
}

fn found(finding: Finding) -> RecordView {
    let (mx, status) = (finding.record.purpose == Purpose::Mx, finding.status);
    let (class, icon, word) = match status {
        RecordStatus::Good => ("ok", "check", "Found"),
        // Mail may well go elsewhere and be forwarded or fetched from there.
        RecordStatus::Missing if mx => ("", "none", "Missing"),
        RecordStatus::Different if mx => ("", "none", "Different"),
        RecordStatus::Missing => ("danger", "fail", "Missing"),
        RecordStatus::Different => ("warn", "warn", "Different"),
        RecordStatus::Unknown => ("warn", "wait", "Not known"),
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
        sentence: finding.sentence,
        found: others,
    };
    record_view(finding.record, Some(looked_up))
}

/// What was found, in one line. The MX record is not counted: many do without it.
fn outcome(findings: &[Finding]) -> OutcomeView {
    let counted = || findings.iter().filter(|finding| finding.record.purpose != Purpose::Mx);
    let of = |status: RecordStatus| counted().filter(|finding| finding.status == status).count();
    let (good, all) = (of(RecordStatus::Good), counted().count());
    let (class, icon, sentence) = match () {
        () if good == all => ("ok", "check", "Others can tell that mail of this domain is yours."),
        () if good + of(RecordStatus::Unknown) == all => {
            ("warn", "wait", "The DNS did not answer for every name. Check again in a moment.")
        }
        () => (
            "warn",
            "warn",
            "Until they are, some of your mail may land in spam. Publish what is missing or \
             different, then check again; it can take an hour until a new record is seen.",
        ),
    };
    let title = match good == all {
        true => "Every record that vouches for your mail is found".to_owned(),
        false => format!("{good} of the {all} records that vouch for your mail are found"),
    };
    OutcomeView { class, icon, title, sentence }
}

/// Makes the first key of the inbox's domain; it signs at once.
pub async fn make_key(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: Posted,
) -> PageResult {
    let visitor = posted.visitor;
    let mailbox = mailbox_id(&id)?;
    let (domain, keys) = web.read(&visitor, move |tx, cx, _| domain_of(tx, cx, &mailbox)).await?;
    let mut response = see_other(&format!("/settings/inboxes/{id}#records"));
    if keys.is_empty() {
        let key = web.domain_key().await?;
        web.act(&visitor, move |tx, cx, _| domains::keep_first_key(tx, cx, &domain, &key)).await?;
        web.set_flash(&mut response, crate::web::Flash::SigningKey);
    }
    Ok(response)
}

impl Web {
    async fn domain_key(&self) -> inbox::Result<mail::DkimKey> {
        let failed = || Error::invalid("domain", "The key could not be made. Try again.");
        let _place = self.hashing.acquire().await.map_err(|_| failed())?;
        let ids = self.app.ids.clone();
        let made = tokio::task::spawn_blocking(move || domains::make_key(&ids)).await;
        made.map_err(|_| failed())?
    }
}

/// The domain of an inbox and its keys, for those who look after them.
fn domain_of(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &MailboxId,
) -> inbox::Result<(String, Vec<ListedKey>)> {
    cx.actor.must_administer()?;
    let found = mailboxes::seen_by(tx, cx.actor, mailbox)?.ok_or(Error::NotFound("inbox"))?;
    let domain = ascii_domain(&found.address).unwrap_or_default();
    let keys = domains::list_keys(tx, cx, &domain)?;
    Ok((domain, keys))
}

/// The domain of an address as the DNS knows it.
pub fn ascii_domain(address: &str) -> Option<String> {
    mail::ascii_domain(address.rsplit_once('@')?.1)
}
