//! The scam check: pure signals, summed to a score, turned into a risk.
//!
//! No single signal identifies a scam, so each adds points and a good sender history subtracts
//! some. The verdict is deterministic.

mod brand_signals;
mod brands;
mod disguised_link;
mod domain;
mod evidence;
mod file_signals;
mod hosts;
mod injection;
mod letters;
mod link_signals;
mod name_skeleton;
mod page_signals;
mod phrases;
mod sender_signals;
mod word_signals;

pub(crate) use disguised_link::{
    disguised_link, disguised_mailbox, link_goal, link_target, shown_host,
};

use std::borrow::Cow;

use evidence::ScamEvidence;

use crate::parsed_mail::ParsedMail;
use crate::{Dmarc, Warning};

/// Points from which on a mail is marked.
pub const MARK: f64 = 4.0;
/// Points from which on a mail is held until a person has looked at it.
pub const HOLD: f64 = 7.0;
/// Reasons that are given.
pub const REASONS: usize = 3;
/// What stands for reasons that name a part of words which must stand nowhere else.
const WORDLESS_REASON: &str = "Something in it, such as a link, is like in scams.";
/// Points that the team's decisions about similar mail add or take away at the most.
const LEARNED: f64 = 3.0;
/// Own domains, correspondents and names that a sender's are compared with, of each.
const COMPARED: usize = 2_000;

/// The authentication results of a mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Authentication {
    pub spf: AuthenticationResult,
    pub dkim: AuthenticationResult,
    pub dmarc: Dmarc,
    /// A signature or the sending server is of the organisation that From names. It is proof also where
    /// that organisation publishes no DMARC policy.
    pub aligned: bool,
    /// The DMARC policy of the sender's domain.
    pub policy: DmarcPolicy,
    pub arc: AuthenticationResult,
}

/// The result of one authentication method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AuthenticationResult {
    Pass,
    Fail,
    /// Not used by the sender, or not decided.
    #[default]
    None,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DmarcPolicy {
    #[default]
    None,
    Quarantine,
    Reject,
}

impl Default for Authentication {
    fn default() -> Authentication {
        Authentication {
            spf: AuthenticationResult::None,
            dkim: AuthenticationResult::None,
            dmarc: Dmarc::Absent,
            aligned: false,
            policy: DmarcPolicy::None,
            arc: AuthenticationResult::None,
        }
    }
}

impl Authentication {
    /// True where the mail comes from the organisation that From names. That nothing failed is no proof.
    pub fn proves_sender(&self) -> bool {
        match self.dmarc {
            Dmarc::Pass => true,
            Dmarc::Fail => false,
            Dmarc::Absent => self.aligned,
        }
    }
}

/// The workspace's history with the sender.
#[derive(Clone, Copy, Debug, Default)]
pub struct SenderHistory<'a> {
    /// A person of the workspace wrote to this address or released its mail, and this mail proves that
    /// it comes from there.
    pub contact: bool,
    /// The domains of the workspace's own inboxes and people.
    pub own_domains: &'a [String],
    /// The names of the people and agents of the workspace.
    pub team: &'a [String],
    /// Domains of people the workspace is in touch with.
    pub correspondents: &'a [String],
    /// The same for people with whom it began only lately: two new customers may have like names, so that
    /// only what looks the same counts.
    pub new_correspondents: &'a [String],
    /// How likely this mail is spam by what the team decided about similar mail, from 0 to 1.
    pub learned: Option<f64>,
}

/// The verdict of the check.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    pub score: f64,
    /// `None` below the mark.
    pub risk: Option<Risk>,
    /// Up to three plain sentences, the weightiest first.
    pub reasons: Vec<String>,
    /// Those of the reasons that name no part of the mail.
    general_reasons: Vec<String>,
    /// True at or above the hold mark.
    pub hold: bool,
}

/// The `risk` of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Risk {
    Suspicious,
    Phishing,
    Scam,
    Impersonation,
    /// It gives orders to software that reads it.
    Injection,
}

impl Risk {
    pub fn as_str(self) -> &'static str {
        match self {
            Risk::Suspicious => "suspicious",
            Risk::Phishing => "phishing",
            Risk::Scam => "scam",
            Risk::Impersonation => "impersonation",
            Risk::Injection => "injection",
        }
    }
}

impl Verdict {
    /// The verdict as the inbox keeps it; nothing for a mail that is not marked.
    pub fn warning(&self) -> Option<Warning> {
        self.risk.map(|risk| Warning { risk, reasons: self.reasons.clone(), hold: self.hold })
    }

    /// The same for words that must stand nowhere else: without the reasons that name a part of them,
    /// such as where a link leads.
    pub fn wordless_warning(&self) -> Option<Warning> {
        let mut reasons = self.general_reasons.clone();
        if reasons.len() < self.reasons.len() {
            reasons.push(WORDLESS_REASON.to_owned());
        }
        self.risk.map(|risk| Warning { risk, reasons, hold: self.hold })
    }
}

impl Warning {
    /// The risk, and that of orders to software where a reason tells of them.
    pub fn risks(&self) -> Vec<Risk> {
        let orders = self.reasons.iter().any(|reason| injection::is_reason(reason));
        let also = (orders && self.risk != Risk::Injection).then_some(Risk::Injection);
        [self.risk].into_iter().chain(also).collect()
    }
}

/// One thing that speaks against a mail.
#[derive(Clone, Debug, PartialEq)]
struct Signal {
    points: f64,
    /// The verdict if this signal is the strongest.
    risk: Risk,
    reason: String,
    /// The reason is the same for every mail, and so names no part of this one.
    general: bool,
    /// A good sender history does not reduce it.
    certain: bool,
    /// It is about the words alone.
    words: bool,
}

impl Signal {
    fn new(points: f64, risk: Risk, reason: impl Into<Cow<'static, str>>) -> Signal {
        let reason = reason.into();
        let general = matches!(reason, Cow::Borrowed(_));
        let reason = reason.into_owned();
        Signal { points, risk, reason, general, certain: false, words: false }
    }

    fn words(points: f64, risk: Risk, reason: impl Into<Cow<'static, str>>) -> Signal {
        Signal { words: true, ..Signal::new(points, risk, reason) }
    }

    fn certain(points: f64, risk: Risk, reason: impl Into<Cow<'static, str>>) -> Signal {
        Signal { certain: true, ..Signal::new(points, risk, reason) }
    }
}

/// Checks a mail.
pub fn check(
    mail: &ParsedMail,
    authentication: &Authentication,
    known: &SenderHistory<'_>,
) -> Verdict {
    let signals = signals(mail, authentication, known);
    let certain: f64 = points(&signals, |signal| signal.certain);
    let other: f64 = points(&signals, |signal| !signal.certain);
    let score = certain + (other - trust(authentication, known)).max(0.0);
    let score = (score * 10.0).round() / 10.0;
    let words_alone = signals.iter().all(|signal| signal.words);
    // Somebody we write to may write of anything.
    let is_contact = known.contact && authentication.proves_sender();
    let hold = score >= HOLD && !(is_contact && words_alone);
    let risk = risk(&signals, hold).filter(|_| score >= MARK);
    let told = match risk {
        Some(_) => strongest(&signals),
        None => Vec::new(),
    };
    let reasons = |wanted: fn(&Signal) -> bool| {
        let wanted = told.iter().filter(|signal| wanted(signal));
        wanted.map(|signal| signal.reason.clone()).collect()
    };
    Verdict {
        score,
        hold: hold && risk.is_some(),
        risk,
        general_reasons: reasons(|signal| signal.general),
        reasons: reasons(|_| true),
    }
}

/// All signals, the weightiest first.
fn signals(
    mail: &ParsedMail,
    authentication: &Authentication,
    known: &SenderHistory<'_>,
) -> Vec<Signal> {
    let evidence = ScamEvidence::of(mail, known);
    let mut signals = sender_signals::signals(&evidence, authentication);
    signals.extend(brand_signals::signals(&evidence));
    signals.extend(link_signals::signals(&evidence, authentication));
    signals.extend(word_signals::signals(&evidence));
    signals.extend(page_signals::signals(&evidence));
    signals.extend(file_signals::signals(mail));
    signals.extend(injection::signal(&evidence));
    signals.extend(learned_signal(known));
    signals.sort_by(|a, b| b.points.total_cmp(&a.points));
    signals
}

/// The risk of the strongest signal, for a mail that is held; below that it is only suspicious.
/// Orders to software are told in any case, because agents must know.
fn risk(signals: &[Signal], hold: bool) -> Option<Risk> {
    let leading = signals.first()?.risk;
    let orders = signals.iter().any(|signal| signal.risk == Risk::Injection);
    Some(match (hold, orders) {
        (true, _) => leading,
        (false, true) => Risk::Injection,
        (false, false) => Risk::Suspicious,
    })
}

/// The strongest signals, whose reasons are given; orders to software are among them.
fn strongest(signals: &[Signal]) -> Vec<&Signal> {
    let mut told: Vec<&Signal> = signals.iter().take(REASONS).collect();
    let order = signals.iter().skip(REASONS).find(|signal| signal.risk == Risk::Injection);
    if let (Some(order), Some(last)) = (order, told.last_mut()) {
        *last = order;
    }
    told
}

/// What the team decided about similar mail, as a sign among others.
fn learned_signal(known: &SenderHistory<'_>) -> Option<Signal> {
    let points = (known.learned? - 0.5).max(0.0) * 2.0 * LEARNED;
    let reason = "Your team marked similar mail as spam.";
    (points >= 1.0).then(|| Signal::words(points, Risk::Suspicious, reason))
}

fn points(signals: &[Signal], wanted: impl Fn(&Signal) -> bool) -> f64 {
    signals.iter().filter(|signal| wanted(signal)).fold(0.0, |sum, signal| sum + signal.points)
}

/// A known sender reduces the score only as far as authentication passes; mail like what the team
/// said is no spam reduces it too.
fn trust(authentication: &Authentication, known: &SenderHistory<'_>) -> f64 {
    let by_history = match (known.contact, authentication.dmarc) {
        (true, Dmarc::Pass) => 5.0,
        (true, Dmarc::Absent) if authentication.aligned => 2.0,
        _ => 0.0,
    };
    let by_team = known.learned.map_or(0.0, |spam| (0.5 - spam).max(0.0) * 2.0 * LEARNED);
    by_history + by_team
}
