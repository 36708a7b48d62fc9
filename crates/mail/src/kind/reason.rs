//! What the words and codes of a bounce say about its cause.

use std::sync::LazyLock;

use regex::Regex;

static STATUS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b([245])\.(\d{1,3})\.(\d{1,3})\b").expect("the pattern is valid")
});
static REPLY: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:^|[\s:;(\[<'#>])([45]\d\d)[\s\-:;,.\])'>]").expect("the pattern is valid")
});

/// Why a mail was not delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    /// The mailbox is full, or takes no mail for now.
    Full,
    /// Nobody has this address.
    Unknown,
    /// The address's domain takes no mail.
    Nowhere,
    /// Policy, reputation, content, authentication: the mail was refused, not the address.
    Refused,
    /// It could not be handed over in time.
    Late,
}

/// How far a mail system has come with a recipient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// It is still trying.
    Delayed,
    /// It says outright that it will not try again.
    GaveUp,
    /// It does not say.
    Untold,
}

/// The status and whether it is final for the address, from what a bounce says of one recipient.
pub(super) fn judge(status: Option<&str>, progress: Progress, words: &str) -> (String, bool) {
    let words = words.to_lowercase();
    let given = status.and_then(first_status).or_else(|| told_status(&words));
    let told = cause_in_words(&words);
    let cause = match given.as_deref() {
        // These are about the sender's address, whatever the words.
        Some(status) if status.ends_with(".1.7") || status.ends_with(".1.8") => {
            Some(Cause::Refused)
        }
        given => told
            .or_else(|| given.and_then(cause_of_status))
            .or_else(|| contains_any(&words, REFUSED).then_some(Cause::Refused)),
    };
    let code = told_code(&words);
    let soft = progress == Progress::Delayed
        || given.as_deref().is_some_and(|status| status.starts_with('4'));
    let status = given
        .filter(|status| !is_vague(status))
        .unwrap_or_else(|| guess(cause, soft || (code == Some('4') && cause.is_none())));
    let dead = matches!(cause, Some(Cause::Unknown | Cause::Nowhere));
    // A code for a passing fault does not outweigh plain words once nobody tries any more, and a
    // domain that takes no mail at all takes none later.
    let gave_up =
        progress == Progress::GaveUp && matches!(told, Some(Cause::Unknown | Cause::Nowhere));
    let hard = dead && (!soft || gave_up || contains_any(&words, NEVER));
    (status, hard)
}

/// True when words or status tell the cause, rather than that there was one.
pub(super) fn tells_cause(status: Option<&str>, words: &str) -> bool {
    let words = words.to_lowercase();
    let given = status.and_then(first_status).or_else(|| told_status(&words));
    let refused = REFUSED.iter().filter(|word| !["rejected", "refused", "denied"].contains(word));
    cause_in_words(&words).is_some()
        || given.is_some_and(|status| cause_of_status(&status).is_some())
        || refused.into_iter().any(|word| words.contains(word))
}

/// The first status in a field such as `5.1.1 (user unknown)`.
fn first_status(text: &str) -> Option<String> {
    STATUS.find(text).map(|found| found.as_str().to_owned())
}

/// The status in prose, where numbers of versions and addresses may look alike: a failure, not
/// followed by a fourth number.
fn told_status(words: &str) -> Option<String> {
    let candidates = STATUS.find_iter(words).filter(|found| {
        let before = words[..found.start()].chars().next_back();
        let after = words[found.end()..].chars().next();
        before != Some('.') && after != Some('.') && !found.as_str().starts_with('2')
    });
    let candidates: Vec<&str> = candidates.map(|found| found.as_str()).collect();
    let telling = candidates.iter().find(|status| !is_vague(status));
    telling.or(candidates.first()).map(|status| (*status).to_owned())
}

fn told_code(words: &str) -> Option<char> {
    REPLY.captures(words).and_then(|found| found[1].chars().next())
}

fn is_vague(status: &str) -> bool {
    matches!(status, "5.0.0" | "4.0.0" | "5.5.0")
}

fn guess(cause: Option<Cause>, soft: bool) -> String {
    let class = if soft { '4' } else { '5' };
    let rest = match cause {
        Some(Cause::Full) => "2.2",
        Some(Cause::Unknown) => "1.1",
        Some(Cause::Nowhere) => "1.2",
        Some(Cause::Refused) => "7.1",
        Some(Cause::Late) => "4.7",
        None => "0.0",
    };
    format!("{class}.{rest}")
}

fn cause_of_status(status: &str) -> Option<Cause> {
    let (_, detail) = status.split_once('.')?;
    match detail {
        "1.1" | "1.3" | "1.6" | "1.10" => Some(Cause::Unknown),
        "1.2" | "4.4" => Some(Cause::Nowhere),
        "2.2" | "2.3" | "3.4" => Some(Cause::Full),
        "4.7" | "4.1" | "4.2" => Some(Cause::Late),
        _ if detail.starts_with("7.") => Some(Cause::Refused),
        _ => None,
    }
}

/// What the words say for certain; words such as "rejected" fit every cause.
fn cause_in_words(words: &str) -> Option<Cause> {
    let told = [
        (FULL, Cause::Full),
        (REFUSED_FIRST, Cause::Refused),
        (UNKNOWN, Cause::Unknown),
        (NOWHERE, Cause::Nowhere),
        (LATE, Cause::Late),
    ];
    told.iter().find(|(phrases, _)| contains_any(words, phrases)).map(|(_, cause)| *cause)
}

fn contains_any(words: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| words.contains(phrase))
}

const FULL: &[&str] = &[
    "mailbox full",
    "mailbox is full",
    "mailbox exceeded",
    "over quota",
    "overquota",
    "quota exceeded",
    "exceeded quota",
    "quota has been exceeded",
    "exceeds quota",
    "out of storage",
    "storage allocation",
    "disk quota",
    "disk full",
    "not enough storage",
    "insufficient system storage",
    "insufficient storage",
    "is over its",
    "over the quota",
    "over quota",
    "exceeded storage",
    "exceeded its storage",
    "mailbox size limit",
    "message too large",
    "message size exceeds",
    "too large",
    "size limit",
    "maximum size",
    "exceeds maximum",
    "mailbox has exceeded",
    "inbox is full",
    "quotaexceeded",
    "account is full",
    "user is over",
    "mail box full",
];

/// Words that tell of a refusal although an unknown address is spoken of as well.
const REFUSED_FIRST: &[&str] = &[
    "spf",
    "dmarc",
    "dkim",
    "blacklist",
    "blocklist",
    "blocked using",
    "block list",
    "blacklisted",
    "spamhaus",
    "reverse dns",
    "ptr record",
    "rdns",
    "unauthenticated",
    "not authenticated",
    "relaying denied",
    "relay access denied",
    "unable to relay",
    "relay not permitted",
    "sender rejected",
    "sender address rejected",
    "sender denied",
    "bad reputation",
    "poor reputation",
    "rate limit",
    "greylist",
    "account that you tried to reach is disabled",
    "account is disabled",
    "too many",
    "detected as spam",
    "spam message",
    "looks like spam",
    "as spam",
    "virus",
    "content rejected",
    "policy reasons",
];

const UNKNOWN: &[&str] = &[
    "recipient address rejected: access denied",
    "invalid final delivery userid",
    "unable to find user",
    "user unknown",
    "unknown user",
    "no such user",
    "unknown recipient",
    "recipient unknown",
    "recipient not found",
    "user not found",
    "does not exist",
    "doesn't exist",
    "no such recipient",
    "no such mailbox",
    "mailbox unavailable",
    "mailbox not found",
    "unknown mailbox",
    "invalid recipient",
    "invalid mailbox",
    "not a valid mailbox",
    "no mailbox here",
    "no mailbox by that name",
    "unknown address",
    "address unknown",
    "unknown or illegal alias",
    "recipnotfound",
    "not listed in",
    "couldn't be found",
    "could not be found",
    "wasn't found",
    "was not found",
    "unknown local",
    "no account by",
    "not our customer",
    "this user doesn't have",
    "user doesn't have",
    "account not found",
    "unrouteable address",
    "undeliverable address",
    "bad destination mailbox",
    "recipient name is not recognized",
    "has moved",
    "no longer valid",
    "no longer available",
    "not exist",
    "adress not found",
    "address not found",
    "no such address",
    "unknown e-mail address",
    "user is unknown",
    "e-mail address you entered couldn",
    "invalid user",
    "not a known user",
    "address is unknown",
    "no valid recipients",
    "not found in directory",
    "nosuchuser",
    "no such person",
    "user doesn't exist",
    "invalid address",
    "no such local user",
    "user invalid",
    "unknown to address",
    "見つかりません",
    "リストにありません",
    "存在しません",
    "宛先が不明",
    "unbekannt",
    "inconnu",
    "desconocido",
    "sconosciuto",
];

const NOWHERE: &[&str] = &[
    "dns lookup failure",
    "host unknown",
    "unknown host",
    "host not found",
    "domain not found",
    "domain does not exist",
    "unknown domain",
    "no such domain",
    "name or service not known",
    "nxdomain",
    "host or domain name not found",
    "no mx",
    "mx record",
    "does not accept mail",
    "domain name not found",
    "couldn't find any host",
    "could not find any host",
    "null mx",
    "nullmx",
    "unrouteable mail domain",
    "name server: .: host not found",
    "illegal host",
    "bad destination system",
    "no route to host found for domain",
];

/// Words by which a domain says that it will never take mail.
const NEVER: &[&str] =
    &["no mx found", "null mx", "nullmx", "does not accept mail", "domain does not accept"];

const LATE: &[&str] = &[
    "timed out",
    "time out",
    "timeout",
    "expired",
    "could not be delivered for",
    "not be delivered within",
    "retry time",
    "connection refused",
    "connection reset",
    "no route to host",
    "queue too long",
    "have not been able to",
    "will continue to",
    "will keep trying",
    "still trying",
    "delivery temporarily",
    "delayed",
    "too long",
    "gave up",
    "giving up",
    "retry timeout",
    "network is unreachable",
    "mail loop",
    "loops back",
    "too many hops",
];

const REFUSED: &[&str] = &[
    "suspended",
    "has been disabled",
    "account disabled",
    "is disabled",
    "deactivated",
    "inactive",
    "denied",
    "rejected",
    "refused",
    "blocked",
    "policy",
    "spam",
    "banned",
    "not permitted",
    "not allowed",
    "authentication",
    "unauthorized",
    "prohibited",
    "reputation",
    "filtered",
];

#[cfg(test)]
mod tests {
    use super::{Progress, judge};

    #[test]
    fn words_tell_more_than_codes() {
        let cases = [
            (Some("5.1.1"), "550 5.1.1 user unknown", ("5.1.1", true)),
            (Some("5.1.1"), "552 mailbox is full", ("5.1.1", false)),
            (Some("5.0.0"), "550 no such user here", ("5.1.1", true)),
            (None, "Host or domain name not found", ("5.1.2", true)),
            (Some("5.7.1"), "550 rejected for policy reasons", ("5.7.1", false)),
            (Some("4.4.1"), "connection timed out", ("4.4.1", false)),
            (Some("5.1.1"), "550 5.1.1 address rejected", ("5.1.1", true)),
            (Some("5.2.1"), "550 5.2.1 the account is inactive", ("5.2.1", false)),
            (None, "something went wrong", ("5.0.0", false)),
            (None, "server 10.5.1.1 said 550 5.2.1 inactive", ("5.2.1", false)),
        ];
        for (status, words, (code, hard)) in cases {
            let judged = judge(status, Progress::Untold, words);
            assert_eq!(judged, (code.to_owned(), hard), "{words}");
        }
        let delayed = judge(None, Progress::Delayed, "user unknown");
        assert_eq!(delayed, ("4.1.1".to_owned(), false));
    }

    #[test]
    fn an_address_that_does_not_exist_is_no_passing_fault() {
        let judged = |status, progress, words| judge(Some(status), progress, words).1;
        let unknown = "450 4.1.1 recipient address rejected: user unknown";
        assert!(judged("4.1.1", Progress::GaveUp, unknown));
        assert!(!judged("4.1.1", Progress::Untold, unknown));
        assert!(!judged("4.2.2", Progress::GaveUp, "452 4.2.2 mailbox full"));
        assert!(!judged("4.4.4", Progress::GaveUp, "connection timed out"));
        assert!(judged("4.4.4", Progress::GaveUp, "host unknown"));
        assert!(judged("4.0.0", Progress::Delayed, "no mx found for domain"));
        assert!(judged("5.0.0", Progress::Untold, "the domain does not accept mail (null mx)"));
        assert!(judged("5.0.0", Progress::GaveUp, "ディレクトリには見つかりません"));
    }
}
