//! What somebody should look at before they approve a draft that no person wrote: recipients from elsewhere,
//! a first contact, links, files, sums of money, secrets.

use std::collections::HashSet;

use base::actor::{Circle, Principal};
use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::Result;
use base::ids::MessageId;
use base::string_enum::string_enum;
use db::{Json, Tx};
use mail::{
    DomainName, SecretKind, familiar_hosts, link_hosts, money_amounts, organisation,
    written_secrets,
};

use super::words::MessageWords;
use crate::contacts::ContactStanding;
use crate::conversations::Conversation;
use crate::messages::recipients::RecipientList;

/// Messages of a conversation whose links are known there; the newest.
const MESSAGES_READ: i64 = 20;
/// Inboxes and domains that are the workspace's own.
const OWN_DOMAINS: i64 = 1_000;

string_enum! {
    /// What is unusual about a draft.
    UnusualKind {
        Recipients = "recipients",
        FirstContact = "firstContact",
        Links = "links",
        Files = "files",
        Amounts = "amounts",
        Secrets = "secrets",
        Marked = "marked",
    }
}

/// Something unusual, with what it is about: addresses, hosts, sums.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusual {
    pub kind: UnusualKind,
    pub what: Vec<String>,
}

/// A message as far as it is judged.
pub struct JudgedMessage<'a> {
    pub recipients: &'a RecipientList,
    /// All that the recipients will read.
    pub words: &'a MessageWords,
    pub has_files: bool,
    /// Its text is kept on a protected page; its subject is not.
    pub is_secure: bool,
    /// The line for who approves it. It is kept with the text.
    pub summary: Option<&'a str>,
}

impl JudgedMessage<'_> {
    /// The secrets that would stand in plain mail.
    pub(super) fn plain_secrets(&self) -> Vec<SecretKind> {
        written_secrets(&self.words.in_plain_mail(self.is_secure))
    }

    /// The secrets of its summary, unless that is on the protected page.
    pub(super) fn summary_secrets(&self) -> Vec<SecretKind> {
        let summary = self.summary.filter(|_| !self.is_secure);
        summary.map(written_secrets).unwrap_or_default()
    }
}

/// All that is unusual about a message.
pub fn find(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    message: &JudgedMessage<'_>,
) -> Result<Vec<Unusual>> {
    let mut found = Vec::new();
    let mut add = |kind, what: Vec<String>| {
        if !what.is_empty() {
            found.push(Unusual { kind, what });
        }
    };
    let words = message.words.all();
    let strangers = strangers(tx, cx, conversation, message.recipients)?;
    add(UnusualKind::Recipients, strangers);
    add(UnusualKind::FirstContact, first_contacts(tx, cx, conversation, message.recipients)?);
    add(UnusualKind::Links, foreign_hosts(tx, cx, conversation, &words)?);
    if message.has_files {
        add(UnusualKind::Files, vec![String::new()]);
    }
    let sums = money_amounts(&words);
    add(
        UnusualKind::Amounts,
        sums.iter().map(|sum| format!("{} {}", sum.written, sum.currency)).collect(),
    );
    let secrets = message.plain_secrets();
    add(
        UnusualKind::Secrets,
        secrets.into_iter().map(|kind| secret_name(kind).to_owned()).collect(),
    );
    if conversation.is_marked() {
        add(UnusualKind::Marked, vec![String::new()]);
    }
    Ok(found)
}

/// What a secret is called.
pub fn secret_name(kind: SecretKind) -> &'static str {
    match kind {
        SecretKind::ApiKey => "an API key",
        SecretKind::CardNumber => "a card number",
        SecretKind::BankAccount => "an IBAN",
    }
}

/// Keeps with a draft what is unusual about it, where no person wrote it.
pub fn note_of_draft(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    draft: &MessageId,
    message: &JudgedMessage<'_>,
) -> Result<()> {
    if matches!(cx.actor.who, Principal::Person { .. }) {
        return Ok(());
    }
    let found = find(tx, cx, conversation, message)?;
    let kinds: Vec<UnusualKind> = found.iter().map(|one| one.kind).collect();
    let kept = (!kinds.is_empty()).then_some(Json(&kinds));
    tx.exec(
        "UPDATE messages SET unusual = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, draft, &kept],
    )?;
    Ok(())
}

/// Recipients who are no people of the conversation: nobody there wrote from or to them.
pub fn strangers(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    recipients: &RecipientList,
) -> Result<Vec<String>> {
    let mut strangers = Vec::new();
    for party in recipients.everybody() {
        if !is_of_conversation(tx, cx, conversation, &party.address())? {
            strangers.push(party.email.clone());
        }
    }
    Ok(strangers)
}

pub(super) fn is_of_conversation(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    address: &EmailAddress,
) -> Result<bool> {
    // A conversation that begins with this message has nobody yet.
    if conversation.last_direction.is_some() && conversation.contact_email == *address {
        return Ok(true);
    }
    let found: Option<(i64,)> = tx.opt(
        "SELECT ws FROM participants WHERE ws = ?1 AND conversation = ?2 AND email = ?3",
        &[&cx.actor.ws, &conversation.id, address],
    )?;
    Ok(found.is_some())
}

/// Recipients whom nobody on the team has written to.
pub fn first_contacts(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    recipients: &RecipientList,
) -> Result<Vec<String>> {
    let mut first = Vec::new();
    for party in recipients.everybody() {
        if !is_known(tx, cx, &conversation.circle, &party.address())? {
            first.push(party.email.clone());
        }
    }
    Ok(first)
}

/// True for somebody whom the team has written to, as the people of a circle see it.
pub(super) fn is_known(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    circle: &Circle,
    address: &EmailAddress,
) -> Result<bool> {
    let standing: Option<(Option<ContactStanding>,)> = tx.opt(
        "SELECT standing FROM contacts WHERE ws = ?1 AND circle = ?2 AND email = ?3",
        &[&cx.actor.ws, circle, address],
    )?;
    Ok(standing.is_some_and(|(standing,)| standing.is_some()))
}

/// Hosts of links that are neither the workspace's nor known in the conversation.
pub fn foreign_hosts(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    words: &str,
) -> Result<Vec<String>> {
    let mut hosts = hosts_besides_own(tx, cx, words)?;
    if hosts.is_empty() {
        return Ok(hosts);
    }
    let texts: Vec<(String,)> = tx.all(
        "SELECT text FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND counted_at IS NOT NULL
         ORDER BY at DESC, id DESC LIMIT ?3",
        &[&cx.actor.ws, &conversation.id, &MESSAGES_READ],
    )?;
    let mut known: HashSet<String> =
        texts.iter().flat_map(|(text,)| familiar_hosts(text)).collect();
    known.extend(organisation(conversation.contact_email.as_str()));
    hosts.retain(|host| !known.iter().any(|known| is_within(host, known)));
    Ok(hosts)
}

/// Hosts of links that lead away from the workspace's own domains.
pub fn hosts_besides_own(tx: &mut Tx<'_>, cx: &Cx<'_>, words: &str) -> Result<Vec<String>> {
    let mut hosts = link_hosts(words);
    if hosts.is_empty() {
        return Ok(hosts);
    }
    let addresses: Vec<(EmailAddress,)> = tx.all(
        "SELECT address FROM mailboxes WHERE ws = ?1 LIMIT ?2",
        &[&cx.actor.ws, &OWN_DOMAINS],
    )?;
    let mut own: Vec<String> =
        addresses.iter().filter_map(|(address,)| organisation(address.as_str())).collect();
    own.extend(link_hosts(cx.public_url));
    hosts.retain(|host| !own.iter().any(|own| is_within(host, own)));
    Ok(hosts)
}

fn is_within(host: &str, domain: &str) -> bool {
    match (DomainName::parse(host), DomainName::parse(domain)) {
        (Some(host), Some(domain)) => host.is_within(&domain),
        _ => host == domain,
    }
}
