//! When a mail was sent and when it arrived: two times with two uses.
//!
//! `sent_at` is the message's `at`: its place in the timeline and the time that is shown. It is what
//! the sender's `Date:` says, where that is plausible, and never later than the arrival.
//!
//! `arrived_at` is when the mail reached its mailbox: now for mail that comes in live, the server's
//! INTERNALDATE (RFC 9051, section 2.3.3) for mail fetched by IMAP. The message's `counted_at` is
//! this, and a conversation's `last_message_at` is the latest `counted_at` of its messages: lists go
//! by it. So live mail comes to the top however old its `Date:` is, and fetched history sorts to
//! where it belongs.

/// 1990-01-01T00:00:00Z: earlier dates come from a clock that was not set.
const EARLIEST_MS: i64 = 631_152_000_000;

/// The two times of a mail, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MailDates {
    pub sent_at: i64,
    pub arrived_at: i64,
}

impl MailDates {
    /// Of a mail that comes in now and says that it is of this `date`.
    pub fn live(date: Option<i64>, now: i64) -> MailDates {
        MailDates::of_arrived(date, now)
    }

    /// Of a mail that is fetched now from a mailbox that took it at `internal_date`.
    pub fn of_fetched(date: Option<i64>, internal_date: Option<i64>, now: i64) -> MailDates {
        MailDates::of_arrived(date, plausible(internal_date, now).unwrap_or(now))
    }

    fn of_arrived(date: Option<i64>, arrived_at: i64) -> MailDates {
        MailDates { sent_at: plausible(date, arrived_at).unwrap_or(arrived_at), arrived_at }
    }
}

fn plausible(date: Option<i64>, latest: i64) -> Option<i64> {
    date.filter(|date| (EARLIEST_MS..=latest).contains(date))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_794_733_200_000;
    const HOUR: i64 = 3_600_000;

    #[test]
    fn a_plausible_date_is_when_a_mail_was_sent_and_any_other_is_not() {
        for (date, sent_at) in [
            (Some(NOW - HOUR), NOW - HOUR),
            (Some(NOW), NOW),
            (Some(EARLIEST_MS), EARLIEST_MS),
            (Some(NOW + 1), NOW),
            (Some(EARLIEST_MS - 1), NOW),
            (Some(i64::MIN), NOW),
            (Some(i64::MAX), NOW),
            (None, NOW),
        ] {
            assert_eq!(MailDates::live(date, NOW), MailDates { sent_at, arrived_at: NOW });
        }
    }

    #[test]
    fn a_fetched_mail_arrived_when_its_mailbox_took_it() {
        let internal = NOW - 48 * HOUR;
        for (date, internal_date, sent_at, arrived_at) in [
            (Some(internal - HOUR), Some(internal), internal - HOUR, internal),
            (Some(internal + HOUR), Some(internal), internal, internal),
            (None, Some(internal), internal, internal),
            (Some(NOW - HOUR), None, NOW - HOUR, NOW),
            (Some(NOW - HOUR), Some(NOW + HOUR), NOW - HOUR, NOW),
            (None, Some(0), NOW, NOW),
        ] {
            let dates = MailDates::of_fetched(date, internal_date, NOW);
            assert_eq!(dates, MailDates { sent_at, arrived_at });
        }
    }
}
