//! The fields of a booking type: as a form posts them, as the page shows them, and what is wrong with them.

use base::error::ValidationErrors;
use base::ids::UserId;
use base::limits::BOOKING_NOTICE_MINUTES;
use bookings::types::{BookingQuestion, BookingTypeInput, HostChoice};
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
    /// The form as it is before anybody types.
    fn of(input: &BookingTypeInput) -> BookingTypeForm {
        let optional = |number: Option<i64>| number.map(|n| n.to_string()).unwrap_or_default();
        let (notice, notice_unit) = notice_of(input.notice);
        let questions: Vec<String> = input.questions.iter().map(ToString::to_string).collect();
        BookingTypeForm {
            name: input.name.clone(),
            slug: input.slug.clone(),
            place: input.place.clone(),
            description: input.description.clone(),
            minutes: input.minutes.to_string(),
            step: optional(input.step),
            before: input.before.to_string(),
            after: input.after.to_string(),
            notice,
            notice_unit,
            horizon_days: input.horizon_days.to_string(),
            per_day: optional(input.per_day),
            cancel_until: input.cancel_hours.to_string(),
            questions: questions.join("\n"),
            hosts: input.hosts.iter().map(ToString::to_string).collect(),
            weights: HostWeights(input.weights.clone()),
            together: input.mode == HostChoice::Together,
            unlisted: !input.listed,
            inactive: !input.active,
        }
    }

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
    pub typed: BookingTypeForm,
    pub units: Vec<NoticeUnit>,
    pub people: Vec<HostLine>,
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
    pub weight: i64,
}

impl TypeFields {
    /// Of a type as it is, or of one that is about to be added.
    pub fn of(input: &BookingTypeInput, people: Vec<(UserId, String)>) -> TypeFields {
        let people = people.into_iter().map(|(id, name)| HostLine {
            is_host: input.hosts.contains(&id),
            weight: input
                .weights
                .iter()
                .find(|(host, _)| *host == id)
                .map_or(1, |(_, weight)| *weight),
            id: id.to_string(),
            name,
        });
        let typed = BookingTypeForm::of(input);
        TypeFields {
            people: people.collect(),
            units: units(&typed.notice_unit),
            typed,
            errors: Vec::new(),
        }
    }

    /// What was typed, with what is wrong with it.
    pub fn with_typed(self, typed: BookingTypeForm, problems: ValidationErrors) -> TypeFields {
        let weight = |id: &str| {
            let weights = &typed.weights.0;
            weights.iter().find(|(person, _)| person.as_str() == id).map(|(_, weight)| *weight)
        };
        let people = self.people.into_iter().map(|one| HostLine {
            is_host: typed.hosts.contains(&one.id),
            weight: weight(&one.id).unwrap_or(one.weight),
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
            units: units(&typed.notice_unit),
            typed,
        }
    }

    /// What is wrong with a field; empty where nothing is.
    pub fn error(&self, field: &str) -> &str {
        let wrong = self.errors.iter().find(|(wrong, _)| wrong == field);
        wrong.map_or("", |(_, sentence)| sentence.as_str())
    }
}

/// A notice in the largest unit that it is a whole number of.
fn notice_of(minutes: i64) -> (String, String) {
    let fits = |(_, each): &&(&str, i64)| minutes != 0 && minutes % each == 0;
    let (word, each) = UNITS.iter().find(fits).copied().unwrap_or(("minutes", 1));
    ((minutes / each).to_string(), word.to_owned())
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
            let (number, unit) = notice_of(minutes);
            assert_eq!((number.as_str(), unit.as_str()), shown, "{text}");
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
