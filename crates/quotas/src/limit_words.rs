//! Limits in words, for people and agents.

use crate::limit_kind::LimitKind;

/// What is said where a hard limit ends something. Customers read it.
pub fn reached_sentence(what: LimitKind, hard: i64) -> String {
    let amount = amount_words(what, hard);
    match what {
        LimitKind::Messages => {
            format!("This workspace may hold {amount} messages, and holds as many.")
        }
        LimitKind::Bytes => {
            format!(
                "This workspace may hold {amount} of mails and files, and has no room for more."
            )
        }
        LimitKind::DocumentBytes => {
            format!("This workspace may hold {amount} of documents, and has no room for more.")
        }
        LimitKind::People => format!("This workspace may have {amount} people, and has as many."),
        LimitKind::MailsPerHour => {
            format!("This workspace may send {amount} mails in an hour. Try again in the next.")
        }
        LimitKind::MailsPerDay => {
            format!("This workspace may send {amount} mails in a day. Try again later.")
        }
        LimitKind::CallsPerHour => {
            format!(
                "The keys of this workspace may make {amount} calls in an hour together. Try again later."
            )
        }
    }
}

/// What owners read when a soft limit is passed.
pub fn warning_sentence(what: LimitKind, used: i64, hard: Option<i64>) -> String {
    let used = amount_words(what, used);
    let holds = match what {
        LimitKind::Messages => format!("This workspace holds {used} messages."),
        LimitKind::Bytes => format!("This workspace holds {used} of mails and files."),
        LimitKind::DocumentBytes => format!("This workspace holds {used} of documents."),
        LimitKind::People => format!("This workspace has {used} people."),
        LimitKind::MailsPerHour => format!("This workspace sent {used} mails in this hour."),
        LimitKind::MailsPerDay => format!("This workspace sent {used} mails within a day."),
        LimitKind::CallsPerHour => {
            format!("The keys of this workspace made {used} calls in this hour.")
        }
    };
    match hard {
        Some(hard) => format!("{holds} The limit is {}.", amount_words(what, hard)),
        None => holds,
    }
}

/// An amount as people read it.
pub fn amount_words(what: LimitKind, amount: i64) -> String {
    if !what.is_bytes() || amount < 1_000 {
        return if what.is_bytes() { format!("{amount} bytes") } else { group_digits(amount) };
    }
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    let (mut rest, mut unit) = (amount as f64 / 1_000.0, 0);
    while rest >= 999.95 && unit + 1 < UNITS.len() {
        rest /= 1_000.0;
        unit += 1;
    }
    format!("{rest:.1} {}", UNITS[unit])
}

fn group_digits(amount: i64) -> String {
    base::limits::thousands(usize::try_from(amount).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_named_as_people_read_them() {
        assert_eq!(amount_words(LimitKind::Messages, 12_000), "12,000");
        assert_eq!(amount_words(LimitKind::Bytes, 2_500_000_000), "2.5 GB");
        assert_eq!(amount_words(LimitKind::Bytes, 12), "12 bytes");
        assert_eq!(
            warning_sentence(LimitKind::People, 9, Some(10)),
            "This workspace has 9 people. The limit is 10."
        );
    }
}
