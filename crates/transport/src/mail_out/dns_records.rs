//! The DNS records of a sending domain (SPF, DKIM, DMARC, MX), and whether they are published. The
//! command line prints it and the app's settings show it.

use std::net::IpAddr;
use std::time::Duration;

use base::actor::Actor;
use base::app::App;
use base::error::Result;
use base::security::public_ip::{is_public, is_public_host};
use model::mailboxes::domains::{self, KeyState, ListedKey};
use serde::Serialize;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tracing::Instrument;
use url::Host;

use crate::mail_out::{RelayConfig, RelayTarget};
use crate::net::dns_lookup::{Lookup, LookupFailure};

/// Characters of one string of a TXT record.
const STRING_CHARS: usize = 255;
/// Parent domains whose DMARC policy is looked for.
const PARENTS: usize = 4;
/// The timeout of the DNS lookups, which run concurrently.
const LOOKING: Duration = Duration::from_secs(6);

/// How this server sends, as far as others can see it.
#[derive(Clone, Debug, Default)]
pub struct SendingSetup {
    /// The name of this machine.
    pub host: Option<String>,
    /// The server that takes our mail on from here, if there is one.
    pub relay: Option<String>,
}

impl SendingSetup {
    pub fn of(config: &RelayConfig) -> SendingSetup {
        let relay = match &config.target {
            RelayTarget::Smarthost(options) => Some(options.host.clone()),
            RelayTarget::Direct(_) | RelayTarget::Folder(_) | RelayTarget::Nowhere => None,
        };
        SendingSetup { host: config.host_name(), relay }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// The domain's signature on its mail.
    Dkim,
    /// Who may send for the domain.
    Spf,
    /// What others do about mail that only claims to be the domain's.
    Dmarc,
    /// Where mail to the domain goes, bounces included.
    Mx,
}

/// A record to publish.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PublishedRecord {
    pub purpose: Purpose,
    /// Without a dot at the end.
    pub name: String,
    /// `TXT` or `MX`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub value: String,
    /// A sentence on what it is for.
    pub note: String,
}

impl PublishedRecord {
    /// As it stands in a zone file.
    pub fn zone_line(&self) -> String {
        let value = match self.kind {
            "TXT" => {
                let strings = self.value.as_bytes().chunks(STRING_CHARS);
                let quoted = strings.map(|text| format!("\"{}\"", String::from_utf8_lossy(text)));
                quoted.collect::<Vec<_>>().join(" ")
            }
            _ => format!("{}.", self.value),
        };
        format!("{}. IN {} {value}", self.name, self.kind)
    }
}

/// The state of a record in the DNS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RecordStatus {
    Good,
    Missing,
    /// Something else is published.
    Different,
    /// The DNS lookup failed.
    Unknown,
}

#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    pub record: PublishedRecord,
    pub status: RecordStatus,
    /// The records published instead of it or beside it.
    pub found: Vec<String>,
    pub sentence: String,
}

/// The records of a domain with these keys.
pub fn records(domain: &str, keys: &[ListedKey], sending: &SendingSetup) -> Vec<PublishedRecord> {
    let mut records: Vec<PublishedRecord> = keys
        .iter()
        .filter(|key| key.state != KeyState::Retired)
        .map(|key| PublishedRecord {
            purpose: Purpose::Dkim,
            name: format!("{}._domainkey.{domain}", key.selector),
            kind: "TXT",
            value: mail::dkim_record(&key.public),
            note: match key.state {
                KeyState::Waiting => "The next key: it signs once this record is seen.".into(),
                _ => "The key that signs the domain's mail.".into(),
            },
        })
        .collect();
    records.push(spf(domain, sending));
    records.push(PublishedRecord {
        purpose: Purpose::Dmarc,
        name: format!("_dmarc.{domain}"),
        kind: "TXT",
        value: "v=DMARC1; p=none".into(),
        note: "Go on to p=quarantine and p=reject once all of your mail is signed.".into(),
    });
    if let Some(host) = &sending.host {
        records.push(PublishedRecord {
            purpose: Purpose::Mx,
            name: domain.to_owned(),
            kind: "MX",
            value: format!("10 {host}"),
            note: "Only if mail to the domain is to arrive here directly; answers and bounces \
                   come to the addresses of its inboxes, with a plus tag."
                .into(),
        });
    }
    records
}

fn spf(domain: &str, sending: &SendingSetup) -> PublishedRecord {
    let relay = sending.relay.as_deref().map(sender_term);
    let (value, note) = match (relay, &sending.host) {
        (Some(Some(term)), _) => (
            format!("v=spf1 {term} ~all"),
            "Your relay sends for the domain. If its provider names an include, use that."
                .to_owned(),
        ),
        (Some(None), Some(host)) => (
            format!("v=spf1 a:{host} ~all"),
            "Your relay is inside your own network, so this machine's public name stands for it. \
             If mail leaves from another address, write ip4: and that address instead."
                .to_owned(),
        ),
        (None, Some(host)) => {
            (format!("v=spf1 a:{host} ~all"), "This server sends for the domain.".to_owned())
        }
        (Some(None) | None, None) => (
            "v=spf1 mx ~all".to_owned(),
            "The public name of this machine is not known: set MAILROOM_PUBLIC_URL, then ask again. \
             As it stands, the record lets the servers that take the domain's mail send it."
                .to_owned(),
        ),
    };
    PublishedRecord { purpose: Purpose::Spf, name: domain.to_owned(), kind: "TXT", value, note }
}

/// How an SPF record names a server (RFC 7208, section 5): by its public name or public address. A
/// server with a private name or address cannot be listed.
fn sender_term(host: &str) -> Option<String> {
    let host = host.trim_matches(['[', ']']);
    match host.parse::<IpAddr>() {
        Ok(ip @ IpAddr::V4(_)) => is_public(ip).then(|| format!("ip4:{ip}")),
        Ok(ip @ IpAddr::V6(_)) => is_public(ip).then(|| format!("ip6:{ip}")),
        Err(_) => is_public_host(&Host::Domain(host)).then(|| format!("a:{host}")),
    }
}

/// Looks every record up. A key that was waiting for its record signs from now on if it is there.
pub async fn check(
    app: &App,
    actor: &Actor,
    lookup: &Lookup,
    domain: &str,
    sending: &SendingSetup,
) -> Result<Vec<Finding>> {
    let asked = domain.to_owned();
    let keys = app.read(actor, move |tx, cx| domains::list_keys(tx, cx, &asked)).await?;
    let domain = mail::ascii_domain(domain.trim()).unwrap_or_default();
    let findings = look_up(lookup, &domain, &keys, sending).await;
    if let Some(selector) = key_now_seen(&domain, &keys, &findings) {
        let begin = move |tx: &mut db::Tx<'_>, cx: &base::app::Cx<'_>| {
            domains::begin_signing(tx, cx, &domain, &selector)
        };
        app.act(actor, begin).await?;
    }
    Ok(findings)
}

/// Looks every record of a domain with these keys up, all of them at once.
pub async fn look_up(
    lookup: &Lookup,
    domain: &str,
    keys: &[ListedKey],
    sending: &SendingSetup,
) -> Vec<Finding> {
    let mut asking = JoinSet::new();
    for (place, record) in records(domain, keys, sending).into_iter().enumerate() {
        let (lookup, domain, sending) = (lookup.clone(), domain.to_owned(), sending.clone());
        let asked = async move {
            let looked = timeout(LOOKING, check_one(&lookup, record.clone(), &domain, &sending));
            let late = "The DNS did not answer in time.";
            let found = looked.await;
            (
                place,
                found.unwrap_or_else(|_| finding(record, RecordStatus::Unknown, Vec::new(), late)),
            )
        };
        asking.spawn(asked.in_current_span());
    }
    let mut findings = asking.join_all().await;
    findings.sort_by_key(|(place, _)| *place);
    findings.into_iter().map(|(_, finding)| finding).collect()
}

/// True when SPF, DKIM and DMARC are published. MX is not required: mail may be forwarded or
/// fetched from elsewhere.
pub fn are_good(findings: &[Finding]) -> bool {
    let mut required = findings.iter().filter(|finding| finding.record.purpose != Purpose::Mx);
    has_key(findings) && required.all(|finding| finding.status == RecordStatus::Good)
}

pub fn has_key(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.record.purpose == Purpose::Dkim)
}

/// The selector of the key that waited for its record, if that is published by now.
pub fn key_now_seen(domain: &str, keys: &[ListedKey], findings: &[Finding]) -> Option<String> {
    let seen = |key: &&ListedKey| {
        let name = format!("{}._domainkey.{domain}", key.selector);
        key.state == KeyState::Waiting
            && findings.iter().any(|f| f.record.name == name && f.status == RecordStatus::Good)
    };
    keys.iter().find(seen).map(|key| key.selector.clone())
}

async fn check_one(
    lookup: &Lookup,
    record: PublishedRecord,
    domain: &str,
    sending: &SendingSetup,
) -> Finding {
    match record.purpose {
        Purpose::Dkim => check_dkim(lookup, record).await,
        Purpose::Spf => check_spf(lookup, record, sending).await,
        Purpose::Dmarc => check_dmarc(lookup, record, domain).await,
        Purpose::Mx => check_mx(lookup, record, domain, sending).await,
    }
}

fn finding(
    record: PublishedRecord,
    status: RecordStatus,
    found: Vec<String>,
    sentence: &str,
) -> Finding {
    Finding { record, status, found, sentence: sentence.into() }
}

fn absent(record: PublishedRecord, missing: LookupFailure) -> Finding {
    match missing {
        LookupFailure::Nothing => {
            finding(record, RecordStatus::Missing, Vec::new(), "It is not published yet.")
        }
        LookupFailure::Unknown => {
            finding(record, RecordStatus::Unknown, Vec::new(), "The DNS could not be asked.")
        }
    }
}

async fn check_dkim(lookup: &Lookup, record: PublishedRecord) -> Finding {
    let found = match lookup.texts(&record.name).await {
        Ok(found) => found,
        Err(missing) => return absent(record, missing),
    };
    let wanted = tag(&record.value, "p");
    let same = found.len() == 1 && tag(&found[0], "p") == wanted;
    if same {
        finding(record, RecordStatus::Good, found, "It is published.")
    } else {
        finding(record, RecordStatus::Different, found, "Another key is published there.")
    }
}

/// The value of a tag of a `name=value; …` record, white space removed.
fn tag(record: &str, name: &str) -> Option<String> {
    let mut pairs = record.split(';').filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(tag, _)| tag.trim().eq_ignore_ascii_case(name))?;
    Some(value.chars().filter(|c| !c.is_whitespace()).collect())
}

async fn check_spf(lookup: &Lookup, record: PublishedRecord, sending: &SendingSetup) -> Finding {
    let found = match lookup.texts(&record.name).await {
        Ok(found) => found,
        Err(missing) => return absent(record, missing),
    };
    let is_spf = |text: &String| {
        text.split_whitespace().next().is_some_and(|word| word.eq_ignore_ascii_case("v=spf1"))
    };
    let found: Vec<String> = found.into_iter().filter(is_spf).collect();
    match found.as_slice() {
        [] => absent(record, LookupFailure::Nothing),
        [_, _, ..] => {
            let sentence = "There are several SPF records, and then none of them counts.";
            finding(record, RecordStatus::Different, found, sentence)
        }
        [_] if sending.relay.is_some() => {
            let sentence = "It is published. Make sure that it names your relay as its provider \
                            says.";
            finding(record, RecordStatus::Good, found, sentence)
        }
        [only] => {
            if names_sender(lookup, only, &record.name, sending).await {
                finding(record, RecordStatus::Good, found, "It is published.")
            } else {
                finding(
                    record,
                    RecordStatus::Different,
                    found,
                    "It does not name this server as a sender.",
                )
            }
        }
    }
}

/// True when an SPF record names this server by its name, its address or as one that takes the
/// domain's mail. Includes are not followed.
async fn names_sender(lookup: &Lookup, spf: &str, domain: &str, sending: &SendingSetup) -> bool {
    let Some(host) = &sending.host else { return true };
    let addresses: Vec<IpAddr> = lookup.addresses(host).await.unwrap_or_default();
    let takes_mail = lookup
        .exchanges(domain)
        .await
        .is_ok_and(|all| all.iter().any(|exchange| exchange.host == *host));
    let mechanisms = spf
        .split_whitespace()
        .map(|word| word.trim_start_matches(['+', '?', '~']).to_ascii_lowercase());
    let mut mechanisms = mechanisms.filter(|word| !word.starts_with('-'));
    mechanisms.any(|word| {
        let by_address = addresses.iter().any(|address| match address {
            IpAddr::V4(address) => word == format!("ip4:{address}"),
            IpAddr::V6(address) => word == format!("ip6:{address}"),
        });
        by_address
            || word == format!("a:{host}")
            || (word == "a" && host == domain)
            || (word == "mx" && takes_mail)
    })
}

async fn check_dmarc(lookup: &Lookup, record: PublishedRecord, domain: &str) -> Finding {
    let mut missing = LookupFailure::Nothing;
    let parents = std::iter::successors(Some(domain), |name| {
        name.split_once('.').map(|(_, parent)| parent).filter(|parent| parent.contains('.'))
    });
    for name in parents.take(PARENTS) {
        let found = match lookup.texts(&format!("_dmarc.{name}")).await {
            Ok(found) => found,
            Err(why) => {
                missing = why;
                continue;
            }
        };
        let policies: Vec<String> =
            found.into_iter().filter(|text| tag(text, "v").as_deref() == Some("DMARC1")).collect();
        match policies.len() {
            0 => {}
            1 => return finding(record, RecordStatus::Good, policies, "A policy is published."),
            _ => {
                let sentence = "There are several policies, and then none of them counts.";
                return finding(record, RecordStatus::Different, policies, sentence);
            }
        }
    }
    absent(record, missing)
}

async fn check_mx(
    lookup: &Lookup,
    record: PublishedRecord,
    domain: &str,
    sending: &SendingSetup,
) -> Finding {
    let exchanges = match lookup.exchanges(domain).await {
        Ok(exchanges) => exchanges,
        Err(missing) => return absent(record, missing),
    };
    let here = exchanges.iter().any(|exchange| Some(&exchange.host) == sending.host.as_ref());
    let found = exchanges.iter().map(|e| format!("{} {}", e.preference, e.host)).collect();
    if here {
        finding(record, RecordStatus::Good, found, "Mail to the domain arrives here.")
    } else {
        let sentence = "Mail to the domain goes elsewhere, which is fine where it is forwarded \
                            or fetched from there.";
        finding(record, RecordStatus::Different, found, sentence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_spf_record_names_what_others_can_reach() {
        let host = Some("mail.acme.example".to_owned());
        for (relay, host, value) in [
            (Some("smtp.provider.example"), &host, "v=spf1 a:smtp.provider.example ~all"),
            (Some("8.8.4.4"), &host, "v=spf1 ip4:8.8.4.4 ~all"),
            (Some("[2001:4860:4860::8844]"), &host, "v=spf1 ip6:2001:4860:4860::8844 ~all"),
            (Some("127.0.0.1"), &host, "v=spf1 a:mail.acme.example ~all"),
            (Some("10.0.0.5"), &host, "v=spf1 a:mail.acme.example ~all"),
            (Some("[::1]"), &None, "v=spf1 mx ~all"),
            (Some("localhost"), &None, "v=spf1 mx ~all"),
            (Some("127.0.0.1"), &None, "v=spf1 mx ~all"),
            (None, &host, "v=spf1 a:mail.acme.example ~all"),
            (None, &None, "v=spf1 mx ~all"),
        ] {
            let sending = SendingSetup { host: host.clone(), relay: relay.map(str::to_owned) };
            let record = spf("acme.example", &sending);
            assert_eq!(record.value, value, "{relay:?}");
            let unknown = record.note.contains("MAILROOM_PUBLIC_URL");
            assert_eq!(unknown, host.is_none(), "{}", record.note);
        }
    }

    #[test]
    fn dkim_spf_and_dmarc_are_required_and_mx_is_not() {
        let stands = [Purpose::Dkim, Purpose::Spf, Purpose::Dmarc, Purpose::Mx].map(|purpose| {
            let record =
                PublishedRecord { purpose, ..spf("acme.example", &SendingSetup::default()) };
            finding(record, RecordStatus::Good, Vec::new(), "")
        });
        assert!(are_good(&stands));
        assert!(!are_good(&stands[1..]), "there is no key");
        for (place, status) in
            [(0, RecordStatus::Missing), (1, RecordStatus::Different), (2, RecordStatus::Unknown)]
        {
            let mut worse = stands.clone();
            worse[place].status = status;
            assert!(!are_good(&worse), "{:?}", worse[place].record.purpose);
        }
        let mut elsewhere = stands;
        elsewhere[3].status = RecordStatus::Different;
        assert!(are_good(&elsewhere), "mail may be fetched from elsewhere");
    }

    #[test]
    fn a_long_record_is_split_for_a_zone_file() {
        let key = ListedKey {
            selector: "mr1".into(),
            state: KeyState::Signing,
            public: "A".repeat(392),
            created_at: 0,
        };
        let sending = SendingSetup { host: Some("mail.acme.example".into()), relay: None };
        let lines: Vec<String> = records("acme.example", &[key], &sending)
            .iter()
            .map(PublishedRecord::zone_line)
            .collect();
        let long = format!(
            "mr1._domainkey.acme.example. IN TXT \"v=DKIM1; k=rsa; p={}\" \"{}\"",
            "A".repeat(237),
            "A".repeat(155)
        );
        assert_eq!(
            lines,
            [
                long.as_str(),
                "acme.example. IN TXT \"v=spf1 a:mail.acme.example ~all\"",
                "_dmarc.acme.example. IN TXT \"v=DMARC1; p=none\"",
                "acme.example. IN MX 10 mail.acme.example.",
            ]
        );
    }
}
