//! Who is on a message and what was proven about its sender, in words.

use actions::conversations::timeline::MessageEntry;
use base::states::Direction;
use mail::SignatureFormat;
use model::authentication::{AuthenticationOutcome, SenderAuthentication};
use model::messages::recipients::Party;
use translation::t;

/// People of one line that are listed; the header names all of them.
const PEOPLE_SHOWN: usize = 10;
/// People that the line above a message names before it counts the others.
const PEOPLE_NAMED: usize = 3;

/// What the details of a message show.
pub struct MessageDetails {
    /// `to support@shop.example, and 2 others`; empty if nobody is named.
    pub summary: String,
    pub lines: Vec<PeopleLine>,
    pub mark: Option<ProofMark>,
    /// What each method of authentication found; empty for messages of ours.
    pub checks: Vec<String>,
}

/// From, To, Cc or Bcc.
pub struct PeopleLine {
    pub label: &'static str,
    pub people: Vec<PartyView>,
    /// People who are not listed.
    pub more: usize,
}

pub struct PartyView {
    pub name: Option<String>,
    pub email: String,
}

/// The outcome in a word, beside the summary.
pub struct ProofMark {
    pub class: &'static str,
    pub icon: &'static str,
    pub text: &'static str,
}

impl MessageDetails {
    pub fn of(message: &MessageEntry) -> MessageDetails {
        let from = Party { name: message.from_name.clone(), email: message.from_email.clone() };
        let lines = [
            (t!("From"), std::slice::from_ref(&from)),
            (t!("To"), &message.to[..]),
            (t!("Cc"), &message.cc[..]),
            (t!("Bcc"), &message.bcc[..]),
        ];
        let lines = lines.into_iter().filter(|(_, people)| !people.is_empty());
        let found = message.authentication.as_ref().map(|found| &found.0);
        let is_inbound = message.direction == Direction::Inbound;
        MessageDetails {
            summary: summary(message),
            lines: lines.map(|(label, people)| people_line(label, people)).collect(),
            mark: found.filter(|_| is_inbound).and_then(mark),
            checks: if is_inbound { checks(found, &message.from_email) } else { Vec::new() },
        }
    }
}

fn people_line(label: &'static str, people: &[Party]) -> PeopleLine {
    let view = |party: &Party| PartyView { name: party_name(party), email: party.email.clone() };
    PeopleLine {
        label,
        people: people.iter().take(PEOPLE_SHOWN).map(view).collect(),
        more: people.len().saturating_sub(PEOPLE_SHOWN),
    }
}

fn party_name(party: &Party) -> Option<String> {
    party.name.clone().filter(|name| !name.is_empty() && *name != party.email)
}

/// Everybody who got it, as far as a line has room.
fn summary(message: &MessageEntry) -> String {
    let mut all: Vec<String> = Vec::new();
    let lines = [&message.to[..], &message.cc[..], &message.bcc[..]];
    for (line, people) in lines.into_iter().enumerate() {
        for (place, party) in people.iter().enumerate() {
            let name = party_name(party).unwrap_or_else(|| party.email.clone());
            all.push(match (place, line) {
                (0, 0) => t!("to {name}", name),
                (0, 1) => t!("copy to {name}", name),
                (0, _) => t!("hidden copy to {name}", name),
                _ => name,
            });
        }
    }
    let named = if all.len() <= PEOPLE_NAMED { all.len() } else { 1 };
    let names = all[..named].join(", ");
    match all.len() - named {
        0 => names,
        1 => t!("{names}, and 1 other", names),
        others => t!("{names}, and {others} others", names, others),
    }
}

fn mark(found: &SenderAuthentication) -> Option<ProofMark> {
    match found.dmarc {
        AuthenticationOutcome::Pass => {
            Some(ProofMark { class: "ok", icon: "check", text: t!("Sender proven") })
        }
        AuthenticationOutcome::Fail => {
            Some(ProofMark { class: "danger", icon: "warn", text: t!("Sender not proven") })
        }
        AuthenticationOutcome::None => None,
    }
}

/// What was found, one sentence for each method.
fn checks(found: Option<&SenderAuthentication>, from: &str) -> Vec<String> {
    let Some(found) = found else { return vec![t!("It was not checked.").to_owned()] };
    let domain = from.rsplit_once('@').map_or(from, |(_, domain)| domain);
    let dmarc = match found.dmarc {
        AuthenticationOutcome::Pass => t!("It is really from {domain} (DMARC passed).", domain),
        AuthenticationOutcome::Fail => t!(
            "It may not be from {domain}: that domain does not vouch for it (DMARC failed).",
            domain
        ),
        AuthenticationOutcome::None => t!(
            "{domain} says nothing about mail in its name, or could not be asked (no DMARC).",
            domain
        ),
    };
    let dkim = match found.dkim {
        AuthenticationOutcome::Pass => {
            t!("It was signed, and nobody changed it since (DKIM passed).")
        }
        AuthenticationOutcome::Fail => t!("Its signature does not fit (DKIM failed)."),
        AuthenticationOutcome::None => t!("It has no signature that could be checked (no DKIM)."),
    };
    let spf = match found.spf {
        AuthenticationOutcome::Pass => {
            t!("The server that sent it may send for the sender's domain (SPF passed).")
        }
        AuthenticationOutcome::Fail => {
            t!("The server that sent it may not send for the sender's domain (SPF failed).")
        }
        AuthenticationOutcome::None => t!("Which servers may send it is not said (no SPF)."),
    };
    let mut checks = vec![dmarc, dkim.to_owned(), spf.to_owned()];
    if found.arc == AuthenticationOutcome::Pass {
        checks.push(t!("A forwarder that is trusted checked it before (ARC passed).").to_owned());
    }
    if let Some(format) = found.signature {
        checks.push(signature_words(format).to_owned());
    }
    checks
}

fn signature_words(format: SignatureFormat) -> &'static str {
    match format {
        SignatureFormat::OpenPgp => {
            t!("Its writer signed it with OpenPGP; Mailroom has not checked that signature.")
        }
        SignatureFormat::Smime => {
            t!("Its writer signed it with S/MIME; Mailroom has not checked that signature.")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn authentication_with(dmarc: AuthenticationOutcome) -> SenderAuthentication {
        let none = AuthenticationOutcome::None;
        let dkim = AuthenticationOutcome::Pass;
        let signature = Some(SignatureFormat::Smime);
        SenderAuthentication { spf: none, dkim, dmarc, arc: none, aligned: false, signature }
    }

    #[test]
    fn what_was_proven_is_said_in_words() {
        let proven =
            checks(Some(&authentication_with(AuthenticationOutcome::Pass)), "ann@shop.example");
        assert_eq!(proven[0], "It is really from shop.example (DMARC passed).");
        assert!(proven[1].contains("DKIM passed") && proven[2].contains("no SPF"));
        assert!(proven[3].contains("S/MIME; Mailroom has not checked"));
        let failed = authentication_with(AuthenticationOutcome::Fail);
        assert_eq!(mark(&failed).map(|mark| mark.text), Some("Sender not proven"));
        assert!(checks(Some(&failed), "a@b.example")[0].contains("DMARC failed"));
        assert!(mark(&authentication_with(AuthenticationOutcome::None)).is_none());
        assert_eq!(checks(None, "a@b.example"), ["It was not checked."]);
    }
}
