//! The kinds of limits, and what an operator sets them to.

use base::string_enum::string_enum;
use base::usage::UsageKind;

string_enum! {
    /// What is limited: bytes of raw mails, attachments and uploads as they came in, mails that people and agents
    /// send, and calls of all keys and connected apps together.
    LimitKind {
        Messages = "messages",
        Bytes = "bytes",
        DocumentBytes = "documentBytes",
        People = "people",
        MailsPerHour = "mailsPerHour",
        MailsPerDay = "mailsPerDay",
        CallsPerHour = "callsPerHour",
    }
}

/// The owners are warned at this many percent of a hard limit that comes without a soft one.
const SOFT_PERCENT: i64 = 90;

impl LimitKind {
    /// The count of what is held, where there is one.
    pub(crate) fn held_kind(self) -> Option<UsageKind> {
        match self {
            LimitKind::Messages => Some(UsageKind::Messages),
            LimitKind::Bytes => Some(UsageKind::Bytes),
            LimitKind::DocumentBytes => Some(UsageKind::DocumentBytes),
            LimitKind::People
            | LimitKind::MailsPerHour
            | LimitKind::MailsPerDay
            | LimitKind::CallsPerHour => None,
        }
    }

    /// The count that ends mail coming in.
    pub(crate) fn for_mail(self) -> Option<UsageKind> {
        self.held_kind().filter(|kind| *kind != UsageKind::DocumentBytes)
    }

    /// The hours in which mails are counted.
    pub(crate) fn hours(self) -> Option<i64> {
        match self {
            LimitKind::MailsPerHour => Some(1),
            LimitKind::MailsPerDay => Some(24),
            _ => None,
        }
    }

    /// True for amounts in bytes.
    pub fn is_bytes(self) -> bool {
        matches!(self, LimitKind::Bytes | LimitKind::DocumentBytes)
    }
}

/// What a limit is set to; nothing takes it away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitInput {
    pub soft: Option<i64>,
    pub hard: Option<i64>,
}

impl LimitInput {
    /// `1000` is a hard limit with a warning at nine tenths of it, `800:1000` names both, `800:` only warns, and
    /// `none` takes the limit away. Bytes may end in kB, MB, GB or TB.
    pub fn parse(kind: LimitKind, text: &str) -> Option<LimitInput> {
        let amount = |text: &str| parse_amount(kind, text);
        let input = match text.split_once(':') {
            None if text == "none" => LimitInput::default(),
            None => {
                let hard = amount(text)?;
                // A rate is over in an hour, so nobody is warned of it unasked.
                let warns = kind.held_kind().is_some() || kind == LimitKind::People;
                let soft = hard / 100 * SOFT_PERCENT + hard % 100 * SOFT_PERCENT / 100;
                LimitInput { soft: warns.then_some(soft), hard: Some(hard) }
            }
            Some((soft, "")) => LimitInput { soft: Some(amount(soft)?), hard: None },
            Some((soft, hard)) => {
                LimitInput { soft: Some(amount(soft)?), hard: Some(amount(hard)?) }
            }
        };
        let is_fit = input.soft.zip(input.hard).is_none_or(|(soft, hard)| soft <= hard)
            && !(kind == LimitKind::CallsPerHour && input.soft.is_some());
        is_fit.then_some(input)
    }
}

fn parse_amount(kind: LimitKind, text: &str) -> Option<i64> {
    const UNITS: [(&str, i64); 4] =
        [("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000)];
    let unit = UNITS.iter().find(|(unit, _)| kind.is_bytes() && text.ends_with(unit));
    let (digits, times) = match unit {
        Some((unit, times)) => (text.strip_suffix(unit)?, *times),
        None => (text, 1),
    };
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { digits.parse::<i64>().ok()?.checked_mul(times) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_an_amount_or_two_or_none() {
        let parsed =
            |kind, text| LimitInput::parse(kind, text).map(|input| (input.soft, input.hard));
        assert_eq!(parsed(LimitKind::Messages, "1000"), Some((Some(900), Some(1000))));
        assert_eq!(parsed(LimitKind::People, "5"), Some((Some(4), Some(5))));
        assert_eq!(parsed(LimitKind::Messages, "800:1000"), Some((Some(800), Some(1000))));
        assert_eq!(parsed(LimitKind::Messages, "800:"), Some((Some(800), None)));
        assert_eq!(parsed(LimitKind::Messages, "none"), Some((None, None)));
        assert_eq!(
            parsed(LimitKind::Bytes, "2GB"),
            Some((Some(1_800_000_000), Some(2_000_000_000)))
        );
        assert_eq!(parsed(LimitKind::CallsPerHour, "60"), Some((None, Some(60))));
        assert_eq!(parsed(LimitKind::MailsPerHour, "60"), Some((None, Some(60))));
        for wrong in ["", "-1", "1e3", "1001:1000", "2GB", ":", ":5", "99999999999999999999"] {
            assert_eq!(parsed(LimitKind::Messages, wrong), None, "{wrong}");
        }
        assert_eq!(parsed(LimitKind::Bytes, "99999999TB"), None);
        assert_eq!(parsed(LimitKind::CallsPerHour, "5:10"), None);
    }
}
