//! Setting the office hours, automatic reply and targets of an inbox.

use base::app::Cx;
use base::error::{Error, Result, ValidationError, ValidationErrors};
use base::ids::MailboxId;
use base::limits::{AWAY_REPLY_CHARS, HOLIDAYS_CHARS, OFFICE_HOURS_CHARS};
use base::time::is_date;
use calendar::{holiday_place, zone_named};
use db::{Json, Tx};
use model::installation::audit_log::{self, Action};
use model::mailboxes;
use model::mailboxes::office_hours::OfficeHours;
use model::mailboxes::weekly_hours;

/// The longest target: 90 days.
const TARGET_MINUTES: i64 = 90 * 24 * 60;

/// Office hours as a person types them.
#[derive(Clone, Debug, Default)]
pub struct OfficeHoursInput {
    /// `mon-fri 09:00-17:00`, with the names of days in any language; empty is around the clock.
    pub weekly: String,
    pub zone: String,
    /// Dates, one in a line.
    pub holidays: String,
    /// The place on whose public holidays it is closed, such as `DE-BY`; empty is none.
    pub place: String,
    pub away_reply: String,
    /// `30 min`, `4 h`, `2 d`; empty is none.
    pub answer: String,
    pub answer_urgent: String,
    pub resolve: String,
    pub resolve_urgent: String,
}

impl OfficeHoursInput {
    pub fn of(hours: &OfficeHours) -> OfficeHoursInput {
        OfficeHoursInput {
            weekly: hours.weekly.clone(),
            zone: hours.zone.clone(),
            holidays: hours.closed_dates().collect::<Vec<_>>().join("\n"),
            place: hours.holiday_place().map_or_else(String::new, |place| place.code.to_owned()),
            away_reply: hours.away_reply.clone(),
            answer: target_text(hours.answer_minutes),
            answer_urgent: target_text(hours.answer_urgent),
            resolve: target_text(hours.resolve_minutes),
            resolve_urgent: target_text(hours.resolve_urgent),
        }
    }
}

/// Sets hours, automatic reply and targets. Conversations get their targets with the next mail.
pub fn set_office_hours(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &MailboxId,
    input: &OfficeHoursInput,
) -> Result<()> {
    cx.actor.must_administer()?;
    let mailbox = mailboxes::seen_by(tx, cx.actor, mailbox)?.ok_or(Error::NotFound("inbox"))?;
    let mut problems = ValidationErrors::default();
    let mut wrong = |field: &str, sentence: &str| {
        problems.0.push(ValidationError { field: field.into(), sentence: sentence.into() });
    };
    let weekly = match weekly_hours::read(&input.weekly) {
        _ if input.weekly.chars().count() > OFFICE_HOURS_CHARS => {
            wrong("weekly", "Office hours are at most 300 characters.");
            String::new()
        }
        Ok(weekly) => weekly.to_string(),
        Err(error) => {
            wrong("weekly", error.sentence());
            String::new()
        }
    };
    if zone_named(&input.zone).is_none() {
        wrong("zone", "This is no time zone.");
    }
    let days = input.holidays.split_whitespace().map(str::to_owned);
    let mut holidays: Vec<String> = days.collect();
    if input.holidays.chars().count() > HOLIDAYS_CHARS || !holidays.iter().all(|day| is_date(day)) {
        wrong("holidays", "Closed days are dates such as 2026-12-24, one in a line.");
    }
    if !input.place.is_empty() {
        match holiday_place(&input.place) {
            Some(place) => holidays.push(place.code.to_owned()),
            None => wrong("place", "The holidays of this place are not known."),
        }
    }
    let reply = input.away_reply.trim();
    if reply.chars().count() > AWAY_REPLY_CHARS || reply.contains('\0') {
        wrong("reply", "The automatic reply is at most 2,000 characters.");
    }
    if !reply.is_empty() && weekly.is_empty() {
        wrong("reply", "An automatic reply needs office hours.");
    }
    let typed = [&input.answer, &input.answer_urgent, &input.resolve, &input.resolve_urgent];
    let targets = typed.map(|text| target(text));
    if targets.iter().any(std::result::Result::is_err) {
        wrong("targets", "A target is written as 30 min, 4 h or 2 d, up to 90 days.");
    }
    if !problems.0.is_empty() {
        return Err(Error::Invalid(problems));
    }
    let [answer, answer_urgent, resolve, resolve_urgent] =
        targets.map(std::result::Result::unwrap_or_default);
    tx.exec(
        "INSERT INTO office_hours (
            ws, mailbox, zone, weekly, holidays, away_reply, answer_minutes, answer_urgent,
            resolve_minutes, resolve_urgent
         ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
         ON CONFLICT (ws, mailbox) DO UPDATE SET zone = excluded.zone, weekly = excluded.weekly,
            holidays = excluded.holidays, away_reply = excluded.away_reply,
            answer_minutes = excluded.answer_minutes, answer_urgent = excluded.answer_urgent,
            resolve_minutes = excluded.resolve_minutes, resolve_urgent = excluded.resolve_urgent",
        &[
            &cx.actor.ws,
            &mailbox.id,
            &input.zone,
            &weekly,
            &Json(holidays),
            &reply,
            &answer,
            &answer_urgent,
            &resolve,
            &resolve_urgent,
        ],
    )?;
    audit_log::record(tx, cx, &mailbox.circle, Action::HoursChanged, &mailbox.name, &weekly)
}

/// Minutes of a target; an empty text is none.
fn target(text: &str) -> std::result::Result<Option<i64>, ()> {
    let text = text.trim().to_lowercase();
    if text.is_empty() {
        return Ok(None);
    }
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let each = match unit.trim() {
        "m" | "min" | "minutes" => 1,
        "h" | "hours" | "hour" => 60,
        "d" | "days" | "day" => 24 * 60,
        _ => return Err(()),
    };
    let minutes = number.parse::<i64>().map_err(drop)?.checked_mul(each).ok_or(())?;
    if (1..=TARGET_MINUTES).contains(&minutes) { Ok(Some(minutes)) } else { Err(()) }
}

fn target_text(minutes: Option<i64>) -> String {
    match minutes {
        None => String::new(),
        Some(minutes) if minutes % 60 == 0 => format!("{} h", minutes / 60),
        Some(minutes) => format!("{minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_read_as_they_are_written() {
        for (text, minutes) in [("30 min", 30), ("4h", 240), ("2 d", 2_880), ("90m", 90)] {
            assert_eq!(target(text), Ok(Some(minutes)), "{text}");
        }
        assert_eq!(target(" "), Ok(None));
        for wrong in ["4", "h", "0 h", "1000 d", "4 weeks", "-1 h", "99999999999999999999 h"] {
            assert_eq!(target(wrong), Err(()), "{wrong}");
        }
        assert_eq!(
            (target_text(Some(240)), target_text(Some(90))),
            ("4 h".into(), "90 min".into())
        );
    }
}
