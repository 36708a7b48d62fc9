//! The fields of a booking type: as a form posts them, as the page shows them, and what is wrong with them.

use base::error::ValidationErrors;
use base::ids::UserId;
use base::limits::BOOKING_NOTICE_MINUTES;
use bookings::types::{BookingHost, BookingQuestion, BookingType, BookingTypeInput, HostChoice};
use translation::{msg, t};
use web::forms::form::{FormFields, FormValue, form};

/// The units of a notice in minutes, the largest first.
const UNITS: [(&str, i64); 3] =
    [(msg!("days"), 24 * 60), (msg!("hours"), 60), (msg!("minutes"), 1)];
/// What is no number is refused like one that is too small.
const NO_NUMBER: i64 = -1;

form! {
    pub struct BookingTypeForm {
        name: String,
        slug: String,
        place: String,
        description: String,
        minutes: String,
        step: String,
        before: String,
        after: String,
        notice: String,
        notice_unit: String = "noticeUnit",
        horizon_days: String = "horizonDays",
        per_day: String = "perDay",
        cancel_until: String = "cancelUntil",
        questions: String,
        hosts: Vec<String>,
        weights: HostWeights,
        together: bool,
        unlisted: bool,
        inactive: bool,
    }
}

/// The shares of hosts: fields named `weight-usr_…`.
#[derive(Clone, Default)]
pub struct HostWeights(Vec<(UserId, i64)>);

impl FormValue for HostWeights {
    fn read(fields: &FormFields, _: &str) -> base::error::Result<HostWeights> {
        let weight = |(name, value): &(String, String)| {
            let person = UserId::parse(name.strip_prefix("weight-")?)?;
            Some((person, number(value, NO_NUMBER)))
        };
        Ok(HostWeights(fields.pairs().iter().filter_map(weight).collect()))
    }
}

impl BookingTypeForm {
    pub fn input(&self) -> BookingTypeInput {
        let usual = BookingTypeInput::default();
        let lines = self.questions.lines().map(str::trim).filter(|line| !line.is_empty());
        BookingTypeInput {
            name: self.name.clone(),
            slug: self.slug.clone(),
            description: self.description.clone(),
            place: self.place.clone(),
            minutes: number(&self.minutes, usual.minutes),
            step: number_if_any(&self.step),
            before: number(&self.before, usual.before),
            after: number(&self.after, usual.after),
            notice: self.notice_minutes().unwrap_or(usual.notice),
            horizon_days: number(&self.horizon_days, usual.horizon_days),
            per_day: number_if_any(&self.per_day),
            cancel_hours: number(&self.cancel_until, usual.cancel_hours),
            mode: if self.together { HostChoice::Together } else { HostChoice::Any },
            questions: lines.map(BookingQuestion::from_line).collect(),
            hosts: self.hosts.iter().filter_map(|id| UserId::parse(id)).collect(),
            weights: self.weights.0.clone(),
            listed: !self.unlisted,
            active: !self.inactive,
            ..usual
        }
    }

    fn notice_minutes(&self) -> Option<i64> {
        let unit = UNITS.iter().find(|(unit, _)| *unit == self.notice_unit);
        let minutes = unit.map_or(1, |(_, minutes)| *minutes);
        Some(number_if_any(&self.notice)?.checked_mul(minutes).unwrap_or(NO_NUMBER))
    }
}

fn number(text: &str, usual: i64) -> i64 {
    number_if_any(text).unwrap_or(usual)
}

fn number_if_any(text: &str) -> Option<i64> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.parse().unwrap_or(NO_NUMBER))
}

/// The fields as the page shows them.
pub struct TypeFields {
    pub name: String,
    pub slug: String,
    pub place: String,
    pub description: String,
    pub minutes: String,
    pub step: String,
    pub before: String,
    pub after: String,
    pub notice: String,
    pub units: Vec<NoticeUnit>,
    pub horizon_days: String,
    pub per_day: String,
    pub cancel_until: String,
    pub questions: String,
    pub people: Vec<HostLine>,
    pub together: bool,
    pub unlisted: bool,
    pub inactive: bool,
    errors: Vec<(String, String)>,
}

/// A unit that the notice can be in.
pub struct NoticeUnit {
    pub word: &'static str,
    pub label: &'static str,
    pub is_chosen: bool,
}

/// Somebody who is or could be a host.
pub struct HostLine {
    pub id: String,
    pub name: String,
    pub is_host: bool,
    pub weight: String,
}

impl TypeFields {
    /// Of a type that is about to be added.
    pub fn of_new(people: Vec<(UserId, String)>) -> TypeFields {
        let usual = BookingTypeInput::default();
        let (notice, units) = notice_of(usual.notice);
        TypeFields {
            name: String::new(),
            slug: String::new(),
            place: String::new(),
            description: String::new(),
            minutes: usual.minutes.to_string(),
            step: String::new(),
            before: usual.before.to_string(),
            after: usual.after.to_string(),
            notice,
            units,
            horizon_days: usual.horizon_days.to_string(),
            per_day: String::new(),
            cancel_until: usual.cancel_hours.to_string(),
            questions: String::new(),
            people: host_lines(people, |_| (false, "1".to_owned())),
            together: false,
            unlisted: false,
            inactive: false,
            errors: Vec::new(),
        }
    }

    pub fn of_type(
        kind: &BookingType,
        hosts: &[BookingHost],
        people: Vec<(UserId, String)>,
    ) -> TypeFields {
        let (notice, units) = notice_of(kind.notice);
        let question =
            |one: &BookingQuestion| format!("{}{}", one.text, if one.required { "*" } else { "" });
        let host_line = |person: &UserId| {
            let host = hosts.iter().find(|host| host.person == *person);
            (host.is_some(), host.map_or(1, |host| host.weight).to_string())
        };
        TypeFields {
            name: kind.name.clone(),
            slug: kind.slug.clone(),
            place: kind.place.clone(),
            description: kind.description.clone(),
            minutes: kind.minutes.to_string(),
            step: kind.step.to_string(),
            before: kind.before_minutes.to_string(),
            after: kind.after_minutes.to_string(),
            notice,
            units,
            horizon_days: kind.horizon_days.to_string(),
            per_day: kind.per_day.map(|most| most.to_string()).unwrap_or_default(),
            cancel_until: kind.cancel_hours.to_string(),
            questions: kind.questions.iter().map(question).collect::<Vec<_>>().join("\n"),
            people: host_lines(people, host_line),
            together: kind.mode == HostChoice::Together,
            unlisted: !kind.listed,
            inactive: !kind.active,
            errors: Vec::new(),
        }
    }

    /// What was typed, with what is wrong with it.
    pub fn with_typed(self, form: BookingTypeForm, problems: ValidationErrors) -> TypeFields {
        let weight = |id: &str| {
            let weights = &form.weights.0;
            weights.iter().find(|(person, _)| person.as_str() == id).map(|(_, weight)| *weight)
        };
        let people = self.people.into_iter().map(|one| HostLine {
            is_host: form.hosts.contains(&one.id),
            weight: weight(&one.id).map_or(one.weight, |weight| weight.to_string()),
            ..one
        });
        let most = BOOKING_NOTICE_MINUTES / (24 * 60);
        let errors = problems.0.into_iter().map(|problem| match problem.field.as_str() {
            // It may have been typed in hours or days.
            "notice" => {
                let sentence = t!("must be a whole number, and at most {most} days", most);
                (problem.field, sentence)
            }
            _ => (problem.field, problem.sentence),
        });
        TypeFields {
            people: people.collect(),
            errors: errors.collect(),
            units: units(&form.notice_unit),
            name: form.name,
            slug: form.slug,
            place: form.place,
            description: form.description,
            minutes: form.minutes,
            step: form.step,
            before: form.before,
            after: form.after,
            notice: form.notice,
            horizon_days: form.horizon_days,
            per_day: form.per_day,
            cancel_until: form.cancel_until,
            questions: form.questions,
            together: form.together,
            unlisted: form.unlisted,
            inactive: form.inactive,
        }
    }

    /// What is wrong with a field; empty where nothing is.
    pub fn error(&self, field: &str) -> &str {
        let wrong = self.errors.iter().find(|(wrong, _)| wrong == field);
        wrong.map_or("", |(_, sentence)| sentence.as_str())
    }
}

fn host_lines(
    people: Vec<(UserId, String)>,
    host: impl Fn(&UserId) -> (bool, String),
) -> Vec<HostLine> {
    let line = |(id, name): (UserId, String)| {
        let (is_host, weight) = host(&id);
        HostLine { id: id.to_string(), name, is_host, weight }
    };
    people.into_iter().map(line).collect()
}

/// A notice in the largest unit that it is a whole number of.
fn notice_of(minutes: i64) -> (String, Vec<NoticeUnit>) {
    let fits = |(_, each): &&(&str, i64)| minutes != 0 && minutes % each == 0;
    let (word, each) = UNITS.iter().find(fits).copied().unwrap_or(("minutes", 1));
    ((minutes / each).to_string(), units(word))
}

fn units(chosen: &str) -> Vec<NoticeUnit> {
    let chosen = if UNITS.iter().any(|(word, _)| *word == chosen) { chosen } else { "minutes" };
    let unit = |&(word, _): &(&'static str, i64)| NoticeUnit {
        word,
        label: translation::text(word),
        is_chosen: word == chosen,
    };
    UNITS.iter().map(unit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use web::forms::form::Form;

    fn parse(text: &str) -> BookingTypeInput {
        BookingTypeForm::read(&FormFields::read(text.as_bytes())).expect("a form").input()
    }

    #[test]
    fn a_notice_is_read_in_its_unit_and_shown_in_the_largest() {
        for (text, minutes, shown) in [
            ("notice=90&noticeUnit=minutes", 90, ("90", "minutes")),
            ("notice=2&noticeUnit=hours", 120, ("2", "hours")),
            ("notice=48&noticeUnit=hours", 2_880, ("2", "days")),
            ("notice=3&noticeUnit=days", 4_320, ("3", "days")),
            ("notice=45", 45, ("45", "minutes")),
            ("notice=0&noticeUnit=days", 0, ("0", "minutes")),
        ] {
            assert_eq!(parse(text).notice, minutes, "{text}");
            let (number, units) = notice_of(minutes);
            let unit = units.iter().find(|unit| unit.is_chosen).map(|unit| unit.word);
            assert_eq!((number.as_str(), unit), (shown.0, Some(shown.1)), "{text}");
        }
    }

    #[test]
    fn what_is_no_number_is_not_taken_for_the_usual_one() {
        let usual = parse("");
        assert_eq!((usual.minutes, usual.step, usual.per_day), (30, None, None));
        let wrong = parse("minutes=x&step=1.5&perDay=many&horizonDays=a&notice=soon&cancelUntil=b");
        assert_eq!((wrong.minutes, wrong.step, wrong.per_day), (-1, Some(-1), Some(-1)));
        assert_eq!((wrong.horizon_days, wrong.notice, wrong.cancel_hours), (-1, -1, -1));
        assert_eq!((usual.cancel_hours, parse("cancelUntil=24").cancel_hours), (0, 24));
        assert_eq!(parse("notice=9223372036854775807&noticeUnit=days").notice, -1);
    }
}
