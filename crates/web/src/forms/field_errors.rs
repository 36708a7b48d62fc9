//! What is wrong with each field of a form; its page shows it there.

use base::error::ValidationErrors;
use translation::sentence;

/// Nothing is wrong by default.
#[derive(Default)]
pub struct FieldErrors(Vec<(String, String)>);

impl FieldErrors {
    /// By the fields that the page has; what belongs to none of them is shown at `last`.
    pub fn of(problems: ValidationErrors, fields: &[&str], last: &str) -> FieldErrors {
        let mut errors: Vec<(String, String)> = Vec::new();
        for problem in problems.0 {
            let is_known = fields.contains(&problem.field.as_str());
            let field = if is_known { problem.field } else { last.to_owned() };
            let said = sentence(&problem.sentence).into_owned();
            match errors.iter_mut().find(|(known, _)| *known == field) {
                Some((_, before)) => *before = format!("{before} {said}"),
                None => errors.push((field, said)),
            }
        }
        FieldErrors(errors)
    }

    /// Empty where nothing is wrong.
    pub fn at(&self, field: &str) -> &str {
        let wrong = self.0.iter().find(|(wrong, _)| wrong == field);
        wrong.map_or("", |(_, said)| said.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_stands_at_its_field_and_the_rest_at_the_last() {
        let mut problems = ValidationErrors::default();
        problems.add("zone", "is none.");
        problems.add("weekly", "Write days.");
        problems.add("other", "And hours.");
        let errors = FieldErrors::of(problems, &["zone", "weekly"], "weekly");
        assert_eq!(
            (errors.at("zone"), errors.at("weekly")),
            ("is none.", "Write days. And hours.")
        );
        assert_eq!(errors.at("name"), "");
    }
}
