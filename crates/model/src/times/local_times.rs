//! Times that a customer is told, with the name of the zone: on their own clock where it is known, on that of the
//! inbox, or else in UTC.

use base::actor::Circle;
use base::email_address::EmailAddress;
use base::error::Result;
use base::ids::{ConversationId, MailboxId};
use calendar::zone_named;
use db::Tx;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use crate::mailboxes::office_hours;
use crate::times::calendar_words::long_date;

/// The clock of an inbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalTimes {
    pub zone: TimeZone,
    /// The city that the zone is named after; `None` for UTC.
    city: Option<String>,
}

impl Default for LocalTimes {
    fn default() -> LocalTimes {
        LocalTimes { zone: TimeZone::UTC, city: None }
    }
}

impl LocalTimes {
    pub fn of(tx: &mut Tx<'_>, ws: i64, mailbox: &MailboxId) -> Result<LocalTimes> {
        let name = office_hours::zone_of(tx, ws, mailbox)?;
        Ok(LocalTimes::in_zone(name.as_deref().unwrap_or_default()))
    }

    /// The clock of a conversation's customer, where they once named their zone for an appointment; else that of
    /// the inbox.
    pub fn of_conversation(
        tx: &mut Tx<'_>,
        ws: i64,
        conversation: &ConversationId,
    ) -> Result<LocalTimes> {
        let customer = LocalTimes::of_customer(tx, ws, conversation)?;
        if let Some(times) = customer {
            return Ok(times);
        }
        let (mailbox,): (MailboxId,) = tx.one(
            "SELECT mailbox FROM conversations WHERE ws = ?1 AND id = ?2",
            &[&ws, conversation],
        )?;
        LocalTimes::of(tx, ws, &mailbox)
    }

    /// The clock that the customer of a conversation named last.
    pub fn of_customer(
        tx: &mut Tx<'_>,
        ws: i64,
        conversation: &ConversationId,
    ) -> Result<Option<LocalTimes>> {
        let (email, circle): (EmailAddress, Circle) = tx.one(
            "SELECT contact_email, circle FROM conversations WHERE ws = ?1 AND id = ?2",
            &[&ws, conversation],
        )?;
        let named: Option<(String,)> = tx.opt(
            "SELECT guest_zone FROM bookings
             WHERE ws = ?1 AND guest_email = ?2 AND circle = ?3
               AND guest_zone <> '' AND status <> 'held'
             ORDER BY created_at DESC LIMIT 1",
            &[&ws, &email, &circle],
        )?;
        let times = named.map(|(zone,)| LocalTimes::in_zone(&zone));
        Ok(times.filter(|times| times.city.is_some()))
    }

    fn in_zone(name: &str) -> LocalTimes {
        match zone_named(name) {
            Some(zone) => {
                LocalTimes { zone, city: Some(city(name)).filter(|city| city.as_str() != "UTC") }
            }
            None => LocalTimes::default(),
        }
    }

    /// The date on this clock.
    pub fn date(&self, at: i64) -> Date {
        self.to_zoned(at).date()
    }

    /// `12 December 2026`.
    pub fn day(&self, at: i64) -> String {
        long_date(self.date(at))
    }

    /// `10:42 (Berlin)`, or `09:42 UTC`.
    pub fn clock(&self, at: i64) -> String {
        self.with_zone_name(&self.to_zoned(at).strftime("%H:%M").to_string())
    }

    /// `12 December 2026, 10:42 (Berlin)`.
    pub fn moment(&self, at: i64) -> String {
        format!("{}, {}", self.day(at), self.clock(at))
    }

    /// A time of this clock with the name of the zone.
    pub fn with_zone_name(&self, time: &str) -> String {
        match &self.city {
            Some(city) => format!("{time} ({city})"),
            None => format!("{time} UTC"),
        }
    }

    fn to_zoned(&self, at: i64) -> Zoned {
        let at = Timestamp::from_millisecond(at).unwrap_or(Timestamp::UNIX_EPOCH);
        at.to_zoned(self.zone.clone())
    }
}

/// The last part of a zone's name: `New York`.
fn city(zone: &str) -> String {
    zone.rsplit('/').next().unwrap_or(zone).replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_on_the_clock_of_its_zone_and_names_it() {
        // 2026-11-15T23:30:00Z
        let at = 1_794_785_400_000;
        for (zone, day, clock) in [
            ("America/New_York", "15 November 2026", "18:30 (New York)"),
            ("Europe/Berlin", "16 November 2026", "00:30 (Berlin)"),
            ("UTC", "15 November 2026", "23:30 UTC"),
            ("Etc/UTC", "15 November 2026", "23:30 UTC"),
            ("", "15 November 2026", "23:30 UTC"),
            ("Mars", "15 November 2026", "23:30 UTC"),
        ] {
            let times = LocalTimes::in_zone(zone);
            assert_eq!((times.day(at).as_str(), times.clock(at).as_str()), (day, clock), "{zone}");
            assert_eq!(times.moment(at), format!("{day}, {clock}"));
        }
    }
}
