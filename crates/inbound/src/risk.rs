//! The scam check of a parsed mail against what the recipient's workspace knows about senders.

use base::actor::Actor;
use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::Result;
use base::sorter_models::SorterModels;
use db::Tx;
use mail::{Address, Authentication, Dmarc, Mail, ParsedMail, SenderHistory, Verdict, Warning};
use model::contacts;
use model::contacts::correspondents;
use model::contacts::correspondents::ComparedDomains;
use model::conversations::learned_spam;
use model::conversations::sorting::example_text;
use model::mailboxes::Mailbox;

/// People and agents whose names a mail may pretend to come from.
const NAMES_KNOWN: i64 = 500;

/// Runs the scam check and prepares the mail for filing.
pub fn assess(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    mail: ParsedMail,
    authentication: &Authentication,
    delivered_to: &str,
) -> Result<Mail> {
    let warning = warning(tx, cx.actor, cx.sorters, mailbox, &mail, authentication)?;
    Ok(mail.into_mail(delivered_to, authentication.dmarc, warning))
}

/// The scam verdict, given this workspace's sender history.
pub(super) fn warning(
    tx: &mut Tx<'_>,
    actor: &Actor,
    sorters: &SorterModels,
    mailbox: &Mailbox,
    mail: &ParsedMail,
    authentication: &Authentication,
) -> Result<Option<Warning>> {
    Ok(verdict(tx, actor, sorters, mailbox, mail, authentication)?.warning())
}

/// The same for what somebody who has proven their address wrote on a protected page. No reason names a
/// word of it, because reasons are kept and shown apart from it.
pub(super) fn protected_warning(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    from: Address,
    subject: &str,
    text: &str,
) -> Result<Option<Warning>> {
    let mail = ParsedMail {
        from: Some(from),
        subject: subject.to_owned(),
        text: text.to_owned(),
        original: text.to_owned(),
        ..ParsedMail::default()
    };
    let proven = Authentication { dmarc: Dmarc::Pass, ..Authentication::default() };
    Ok(verdict(tx, cx.actor, cx.sorters, mailbox, &mail, &proven)?.wordless_warning())
}

fn verdict(
    tx: &mut Tx<'_>,
    actor: &Actor,
    sorters: &SorterModels,
    mailbox: &Mailbox,
    mail: &ParsedMail,
    authentication: &Authentication,
) -> Result<Verdict> {
    let from = mail.from.as_ref().map_or("", |from| from.email.as_str());
    let (own_domains, team) = (own_domains(tx, actor)?, team(tx, actor)?);
    // Only what proves its sender profits from what the team did for them: anybody can write their name.
    let contact = authentication.proves_sender()
        && contacts::is_trusted(tx, actor.ws, &mailbox.circle, &EmailAddress::new(from))?;
    let correspondents = match contact {
        true => ComparedDomains::default(),
        false => correspondents::compared_with(tx, actor.ws, &mailbox.circle, from)?,
    };
    let text = example_text(&mail.subject, &mail.text);
    let learned = learned_spam::likelihood(tx, sorters, actor.ws, &mailbox.circle, &text)?;
    let known = SenderHistory {
        contact,
        own_domains: &own_domains,
        team: &team,
        correspondents: &correspondents.established,
        new_correspondents: &correspondents.new,
        learned,
    };
    Ok(mail::check(mail, authentication, &known))
}

fn own_domains(tx: &mut Tx<'_>, actor: &Actor) -> Result<Vec<String>> {
    let addresses: Vec<(EmailAddress,)> = tx.all(
        "SELECT address FROM mailboxes WHERE ws = ?1
         UNION SELECT email FROM users WHERE ws = ?1 LIMIT ?2",
        &[&actor.ws, &NAMES_KNOWN],
    )?;
    let domains = addresses.iter().filter_map(|(address,)| address.domain());
    let mut domains: Vec<String> = domains.map(str::to_owned).collect();
    domains.sort_unstable();
    domains.dedup();
    Ok(domains)
}

fn team(tx: &mut Tx<'_>, actor: &Actor) -> Result<Vec<String>> {
    let names: Vec<(String,)> = tx.all(
        "SELECT name FROM users WHERE ws = ?1 UNION SELECT name FROM agents WHERE ws = ?1 LIMIT ?2",
        &[&actor.ws, &NAMES_KNOWN],
    )?;
    Ok(names.into_iter().map(|(name,)| name).collect())
}
