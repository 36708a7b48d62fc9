//! What a guest typed into the form of a booking, and what is wrong with it.

use inbox::base::limits::{BOOKING_ANSWER_CHARS, BOOKING_GUEST_NAME_CHARS};
use inbox::model::bookings::BookingAnswer;
use inbox::model::bookings::types::BookingType;
use translation::t;

use crate::web::guest::GuestForm;

/// The form's fields, kept whatever becomes of them.
#[derive(Clone, Debug, Default)]
pub struct TypedGuest {
    pub name: String,
    pub email: String,
    /// One for each question of the type.
    pub answers: Vec<String>,
    pub name_error: &'static str,
    pub email_error: &'static str,
    pub answer_errors: Vec<&'static str>,
    /// Filled in by programs only.
    pub is_trapped: bool,
}

impl TypedGuest {
    /// An empty form.
    pub fn blank(kind: &BookingType) -> TypedGuest {
        let count = kind.questions.len();
        TypedGuest {
            answers: vec![String::new(); count],
            answer_errors: vec![""; count],
            ..TypedGuest::default()
        }
    }

    pub fn read(form: &GuestForm, kind: &BookingType) -> TypedGuest {
        let answer = |place: usize| form.get(&format!("q{place}")).trim().to_owned();
        let count = kind.questions.len();
        TypedGuest {
            name: form.get("name").trim().to_owned(),
            email: form.get("email").trim().to_owned(),
            answers: (0..count).map(answer).collect(),
            answer_errors: vec![""; count],
            is_trapped: !form.get("site").is_empty(),
            ..TypedGuest::default()
        }
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
        self.name_error.is_empty()
            && self.email_error.is_empty()
            && self.answer_errors.iter().all(|error| error.is_empty())
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
