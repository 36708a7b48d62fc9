//! Scam signals in the claimed sender.

use super::evidence::ScamEvidence;
use super::hosts::{AnonymousHost, anonymous_host};
use super::link_signals::short;
use super::name_skeleton::NameSkeleton;
use super::{
    Authentication, AuthenticationResult, COMPARED, DmarcPolicy, Risk, SenderHistory, Signal,
    domain,
};
use crate::Dmarc;
use crate::headers::address::Address;
use crate::headers::people::address_within;
use crate::kind::MailKind;
use crate::parsed_mail::ParsedMail;

/// Characters of a team member's name that is compared.
const NAME_CHARS: usize = 5;
/// Signs in a name that are no accident.
const NAME_SIGNS: usize = 2;
/// Characters from which on a name of letters and digits in turns is a machine's.
const RANDOM_CHARS: usize = 7;
/// Consonants in a row that no language has.
const UNSPEAKABLE: usize = 5;
/// Changes between letters and digits in such a name.
const RANDOM_TURNS: usize = 3;

pub(super) fn signals(evidence: &ScamEvidence<'_>, authentication: &Authentication) -> Vec<Signal> {
    let (mail, known) = (evidence.mail, evidence.known);
    let Some(from) = &mail.from else {
        return vec![Signal::new(3.0, Risk::Suspicious, "The mail does not say who sent it.")];
    };
    let sender =
        Sender { from, domain: domain::of_address(&from.email), known, reply_to: &mail.reply_to };
    let mut signals = proof(&sender, authentication);
    signals.extend(sender.name_shows_address());
    signals.extend(sender.name_of_team());
    signals.extend(sender.domain_looks_alike());
    signals.extend(answers_elsewhere(mail, &sender));
    signals.extend(sender.nobodys_domain());
    signals.extend(sender.name_is_dressed_up());
    signals.extend(calls_reader_by_address(mail));
    signals
}

struct Sender<'a> {
    from: &'a Address,
    domain: &'a str,
    known: &'a SenderHistory<'a>,
    reply_to: &'a [Address],
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
        // Many people have two addresses at such providers.
        let both_free = domain::is_freemail(shown_domain) && domain::is_freemail(self.domain);
        // A service that sends for somebody lets answers go to them.
        let answers =
            |reply: &Address| domain::is_same_owner(domain::of_address(&reply.email), shown_domain);
        let open = self.reply_to.iter().any(answers);
        Some(match (self.is_ours(shown_domain), both_free || open) {
            (true, _) => Signal::certain(8.0, Risk::Impersonation, reason),
            (false, true) => Signal::new(2.0, Risk::Impersonation, reason),
            (false, false) => Signal::new(4.0, Risk::Impersonation, reason),
        })
    }

    /// A domain that cannot exist, that nobody would choose, or that anybody gets.
    fn nobodys_domain(&self) -> Option<Signal> {
        let (points, reason) = if cannot_exist(self.domain) {
            (1.5, format!("{} cannot be the domain of a sender.", short(self.domain)))
        } else if anonymous_host(self.domain) == Some(AnonymousHost::FreeHost) {
            (2.0, format!("It comes from {}, a host that anybody can use.", short(self.domain)))
        } else if is_gibberish(self.from.email.split('@').next().unwrap_or_default()) {
            (1.0, "The sender's address looks made up by a machine.".to_owned())
        } else if is_random(self.domain) {
            (2.0, format!("{} looks made up by a machine.", short(self.domain)))
        } else {
            return None;
        };
        Some(Signal::new(points, Risk::Suspicious, reason))
    }

    /// "__C0NGRATS__", "B*A*N*K": signs that keep filters from reading a name.
    fn name_is_dressed_up(&self) -> Option<Signal> {
        let name = self.from.name.as_deref()?;
        let signs = name.chars().filter(|c| "_*~|^#=\\".contains(*c)).count();
        (signs >= NAME_SIGNS && !name.contains('@')).then(|| {
            let reason = "The sender's name is dressed up with signs.";
            Signal::new(1.5, Risk::Suspicious, reason)
        })
    }

    fn name_of_team(&self) -> Option<Signal> {
        if self.known.contact || self.is_ours(self.domain) {
            return None;
        }
        let name = NameSkeleton::of(self.from.name.as_deref()?);
        let mut listed = self.known.team.iter().take(COMPARED);
        let shared = |member: &&String| {
            member.chars().count() >= NAME_CHARS && name.poses_as(&NameSkeleton::of(member))
        };
        listed.find(shared).map(|member| {
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
        let new = self.known.new_correspondents.iter().take(COMPARED);
        let imitated = |real: &&String| !settled && domain::imitates(self.domain, real);
        if !self.known.contact
            && !new.clone().any(itself)
            && let Some(real) = new.clone().find(imitated)
        {
            let reason = format!("{} looks like {real}, which you know, but is not.", self.domain);
            return Some(Signal::certain(6.0, Risk::Impersonation, reason));
        }
        if domain::poses_as_latin(self.domain) {
            let reason =
                "The sender's domain is written in letters that only look like the usual ones.";
            return Some(Signal::certain(5.0, Risk::Impersonation, reason));
        }
        domain::mixes_scripts(self.domain).then(|| {
            let reason = "The sender's domain mixes letters of several alphabets.";
            Signal::certain(5.0, Risk::Impersonation, reason)
        })
    }
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

/// "For ann@x.example: your password expires". People who know somebody use a name.
fn calls_reader_by_address(mail: &ParsedMail) -> Option<Signal> {
    let subject = mail.subject.to_lowercase();
    let called = mail.to.iter().take(5).any(|reader| {
        let from = mail.from.as_ref().map_or("", |from| from.email.as_str());
        reader.email != from && subject.contains(&reader.email)
    });
    called.then(|| {
        let reason = "The subject calls you by your address instead of a name.";
        Signal::new(1.0, Risk::Suspicious, reason)
    })
}

/// True for a domain without an ending that anybody registers under. Names inside a house and those
/// that are kept for examples (RFC 2606) may be honest.
fn cannot_exist(domain: &str) -> bool {
    const INSIDE: [&str; 10] = [
        "example",
        "test",
        "invalid",
        "localhost",
        "local",
        "lan",
        "internal",
        "intranet",
        "home",
        "corp",
    ];
    let ending = domain.rsplit('.').next().unwrap_or_default();
    !domain.starts_with('[') && !INSIDE.contains(&ending) && !domain::has_known_ending(domain)
}

/// True for a registered name such as `a1hnknw1j1`: letters and digits in turns.
fn is_random(host: &str) -> bool {
    let registered = domain::registered_domain(host);
    let label = registered.split('.').next().unwrap_or_default();
    let digits: Vec<bool> = label.bytes().map(|b| b.is_ascii_digit()).collect();
    let turns = digits.windows(2).filter(|pair| pair[0] != pair[1]).count();
    label.len() >= RANDOM_CHARS && !label.starts_with("xn--") && turns >= RANDOM_TURNS
}

/// True for a name of letters that nobody can say, such as `snytvkqx`.
fn is_gibberish(local: &str) -> bool {
    let letters = local.len() >= RANDOM_CHARS && local.bytes().all(|b| b.is_ascii_alphabetic());
    let is_vowel = |b: &u8| b"aeiouy".contains(&b.to_ascii_lowercase());
    let longest = local.as_bytes().split(is_vowel).map(<[u8]>::len).max().unwrap_or(0);
    letters && longest >= UNSPEAKABLE
}
