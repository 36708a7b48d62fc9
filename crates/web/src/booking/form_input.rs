//! What a guest typed into the form of a booking, and what is wrong with it.

use base::limits::{BOOKING_ANSWER_CHARS, BOOKING_GUEST_NAME_CHARS};
use bookings::types::{BookingQuestion, BookingType};
use bookings::{Booking, BookingAnswer};
use translation::t;

use crate::forms::form::FormFields;

/// The form's fields, kept whatever becomes of them.
#[derive(Clone, Debug, Default)]
pub struct BookingFormInput {
    pub name: String,
    pub email: String,
    /// One for each question of the type.
    pub answers: Vec<String>,
    pub name_error: &'static str,
    pub email_error: &'static str,
    pub answer_errors: Vec<&'static str>,
    /// The id of the first field that is wrong.
    pub focus: String,
    /// Filled in by programs only.
    pub is_trapped: bool,
}

impl BookingFormInput {
    /// An empty form.
    pub fn blank(kind: &BookingType) -> BookingFormInput {
        let count = kind.questions.len();
        BookingFormInput {
            answers: vec![String::new(); count],
            answer_errors: vec![""; count],
            ..BookingFormInput::default()
        }
    }

    pub fn read(fields: &FormFields, kind: &BookingType) -> BookingFormInput {
        let answer = |place: usize| fields.get(&format!("q{place}")).trim().to_owned();
        let count = kind.questions.len();
        BookingFormInput {
            name: fields.get("name").trim().to_owned(),
            email: fields.get("email").trim().to_owned(),
            answers: (0..count).map(answer).collect(),
            answer_errors: vec![""; count],
            is_trapped: !fields.get("site").is_empty(),
            ..BookingFormInput::default()
        }
    }

    /// What was typed for a time that is held.
    pub fn of_booking(kind: &BookingType, held: &Booking) -> BookingFormInput {
        let answer = |question: &BookingQuestion| {
            let given = held.answers.iter().find(|one| one.question == question.text);
            given.map(|one| one.answer.clone()).unwrap_or_default()
        };
        BookingFormInput {
            name: held.guest_name.clone(),
            email: held.guest_email.to_string(),
            answers: kind.questions.iter().map(answer).collect(),
            ..BookingFormInput::blank(kind)
        }
    }

    /// Nothing was typed.
    pub fn is_blank(&self) -> bool {
        self.name.is_empty()
            && self.email.is_empty()
            && self.answers.iter().all(|answer| answer.is_empty())
    }

    /// Names and values of fields by which another page carries along what was typed.
    pub fn fields(&self) -> Vec<(String, String)> {
        let guest =
            [("name".to_owned(), self.name.clone()), ("email".to_owned(), self.email.clone())];
        let answers = self.answers.iter().enumerate();
        let answers = answers.map(|(place, answer)| (format!("q{place}"), answer.clone()));
        guest.into_iter().chain(answers).filter(|(_, value)| !value.is_empty()).collect()
    }

    /// Finds what is wrong; true when nothing is.
    pub fn check(&mut self, kind: &BookingType) -> bool {
        let chars = self.name.chars().count();
        if chars == 0 || self.name.contains('\0') {
            self.name_error = t!("Please say who is coming.");
        } else if chars > BOOKING_GUEST_NAME_CHARS {
            self.name_error = t!("That is too long for a name.");
        }
        if !mail::is_address(&self.email) {
            self.email_error = t!("That is not an email address.");
        }
        for (place, question) in kind.questions.iter().enumerate() {
            let answer = &self.answers[place];
            if question.required && answer.is_empty() {
                self.answer_errors[place] = t!("Please answer this.");
            } else if answer.chars().count() > BOOKING_ANSWER_CHARS || answer.contains('\0') {
                self.answer_errors[place] = t!("That is too long.");
            }
        }
        let answers = self.answer_errors.iter().position(|error| !error.is_empty());
        self.focus = if !self.name_error.is_empty() {
            "name".to_owned()
        } else if !self.email_error.is_empty() {
            "email".to_owned()
        } else {
            answers.map(|place| format!("q{place}")).unwrap_or_default()
        };
        self.focus.is_empty()
    }

    /// The answers as a booking keeps them.
    pub fn answers(&self, kind: &BookingType) -> Vec<BookingAnswer> {
        let pairs = kind.questions.iter().zip(&self.answers);
        let given = pairs.filter(|(_, answer)| !answer.is_empty());
        given
            .map(|(question, answer)| BookingAnswer {
                question: question.text.clone(),
                answer: answer.clone(),
            })
            .collect()
    }
}
