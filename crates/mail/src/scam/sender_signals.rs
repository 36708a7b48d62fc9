//! Scam signals in the claimed sender.

use super::{
    Authentication, AuthenticationResult, DmarcPolicy, Risk, SenderHistory, Signal, domain,
};
use crate::Dmarc;
use crate::address::Address;
use crate::kind::MailKind;
use crate::parse::ParsedMail;
use crate::people::address_within;

/// Domains that a sender's is compared with.
const COMPARED: usize = 2_000;
/// Characters of a team member's name that is compared.
const NAME_CHARS: usize = 5;

pub(super) fn signals(
    mail: &ParsedMail,
    authentication: &Authentication,
    known: &SenderHistory<'_>,
) -> Vec<Signal> {
    let Some(from) = &mail.from else {
        return vec![Signal::new(3.0, Risk::Suspicious, "The mail does not say who sent it.")];
    };
    let sender = Sender { from, domain: domain::of_address(&from.email), known };
    let mut signals = proof(&sender, authentication);
    signals.extend(sender.name_shows_address());
    signals.extend(sender.name_of_team());
    signals.extend(sender.domain_looks_alike());
    signals.extend(answers_elsewhere(mail, &sender));
    signals
}

struct Sender<'a> {
    from: &'a Address,
    domain: &'a str,
    known: &'a SenderHistory<'a>,
}

impl Sender<'_> {
    fn is_ours(&self, domain: &str) -> bool {
        self.known.own_domains.iter().take(COMPARED).any(|own| domain::is_same_owner(own, domain))
    }

    /// "support@bank.example" <x@elsewhere.example>.
    fn name_shows_address(&self) -> Option<Signal> {
        let shown = address_within(self.from.name.as_deref()?)?;
        let shown_domain = domain::of_address(&shown.email);
        if !domain::exists(shown_domain) || domain::is_same_owner(shown_domain, self.domain) {
            return None;
        }
        let reason = format!(
            "The sender's name shows an address at {shown_domain}, but the mail is from {}.",
            self.domain
        );
        Some(match self.is_ours(shown_domain) {
            true => Signal::certain(8.0, Risk::Impersonation, reason),
            false => Signal::new(4.0, Risk::Impersonation, reason),
        })
    }

    fn name_of_team(&self) -> Option<Signal> {
        if self.known.contact || self.is_ours(self.domain) {
            return None;
        }
        let name = folded(self.from.name.as_deref()?);
        let listed = self.known.team.iter().take(COMPARED);
        let shared =
            |member: &&String| member.chars().count() >= NAME_CHARS && folded(member) == name;
        listed.clone().find(shared).map(|member| {
            let points = if domain::is_freemail(self.domain) { 5.0 } else { 4.0 };
            let reason = format!("The sender uses the name of {member}, who is on your team.");
            Signal::new(points, Risk::Impersonation, reason)
        })
    }

    fn domain_looks_alike(&self) -> Option<Signal> {
        let own = self.known.own_domains.iter().take(COMPARED);
        let known = self.known.correspondents.iter().take(COMPARED);
        // Known senders and public providers are not compared for look-alikes.
        let itself = |other: &String| domain::is_same_owner(other, self.domain);
        let settled = domain::is_freemail(self.domain) || own.clone().any(itself);
        let alike = |real: &&String| !settled && domain::looks_like(self.domain, real);
        if let Some(real) = own.clone().find(alike) {
            let reason = format!("{} looks like your own {real}, but is not.", self.domain);
            return Some(Signal::certain(8.0, Risk::Impersonation, reason));
        }
        if !self.known.contact
            && !known.clone().any(itself)
            && let Some(real) = known.clone().find(alike)
        {
            let reason = format!("{} looks like {real}, which you know, but is not.", self.domain);
            return Some(Signal::certain(6.0, Risk::Impersonation, reason));
        }
        domain::mixes_scripts(self.domain).then(|| {
            let reason = "The sender's domain mixes letters of several alphabets.";
            Signal::certain(5.0, Risk::Impersonation, reason)
        })
    }
}

fn folded(name: &str) -> String {
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

fn proof(sender: &Sender<'_>, authentication: &Authentication) -> Vec<Signal> {
    let domain = sender.domain;
    match authentication.dmarc {
        Dmarc::Pass => return Vec::new(),
        Dmarc::Fail if sender.is_ours(domain) => {
            let reason = format!("The mail claims to be from your own {domain} and is not.");
            return vec![Signal::certain(8.0, Risk::Impersonation, reason)];
        }
        Dmarc::Fail => {
            let points = match authentication.policy {
                DmarcPolicy::Reject => 4.0,
                DmarcPolicy::Quarantine => 3.5,
                DmarcPolicy::None => 2.0,
            };
            let reason = format!("{domain} could not be proven to have sent this mail.");
            return vec![Signal::certain(points, Risk::Impersonation, reason)];
        }
        Dmarc::Absent => {}
    }
    let unproven = (authentication.spf == AuthenticationResult::Fail)
        && authentication.dkim != AuthenticationResult::Pass;
    let unproven = unproven && authentication.arc != AuthenticationResult::Pass;
    let reason = "The sending server is not one of the sender's domain.";
    unproven.then(|| Signal::new(1.5, Risk::Suspicious, reason)).into_iter().collect()
}

/// Reply-To leads to another owner's domain.
fn answers_elsewhere(mail: &ParsedMail, sender: &Sender<'_>) -> Option<Signal> {
    if mail.kind == MailKind::List {
        return None;
    }
    let mut others = mail.reply_to.iter().map(|reply| domain::of_address(&reply.email));
    let elsewhere = others.find(|other| !domain::is_same_owner(other, sender.domain))?;
    if sender.is_ours(elsewhere) {
        return None;
    }
    let reason = format!("An answer would go to {elsewhere}, not to {}.", sender.domain);
    let tricky = domain::looks_like(elsewhere, sender.domain);
    let hides = domain::is_freemail(elsewhere);
    Some(match (tricky, hides) {
        (true, _) => Signal::certain(6.0, Risk::Impersonation, reason),
        (false, true) => Signal::new(2.5, Risk::Scam, reason),
        (false, false) => Signal::new(1.5, Risk::Suspicious, reason),
    })
}
