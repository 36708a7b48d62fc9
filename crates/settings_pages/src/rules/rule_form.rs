//! The form of a rule: what was typed, and rows that are added and removed before it is saved.

use actions::workspace::rules::RuleInput;
use base::limits::{RULE_ACTS, RULE_CONDITIONS};
use model::rule_queue::RuleEvent;
use rules::{ConditionField, RuleActKind, RuleNames, TeamRule};
use web::forms::field_errors::FieldErrors;
use web::forms::form::form;

use super::words;

form! {
    pub struct RuleForm {
        name: String,
        event: String,
        wait: String,
        field: Vec<String>,
        how: Vec<String>,
        value: Vec<String>,
        act: Vec<String>,
        with: Vec<String>,
        /// Skip the rules below.
        last: bool,
        /// Try it after saving.
        try_it: bool = "try",
        /// What the form is to have one more of: `condition` or `act`.
        add: String,
        /// The row that it is to have no more.
        remove_condition: Option<i64>,
        remove_act: Option<i64>,
    }
}

/// A row that is added to the form, or taken out of it by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowChange {
    AddCondition,
    RemoveCondition(usize),
    AddAct,
    RemoveAct(usize),
}

impl RuleForm {
    /// The rows that were sent, as many as a rule can have.
    pub fn input(&self) -> RuleInput {
        let at = |values: &[String], place: usize| values.get(place).cloned().unwrap_or_default();
        let condition =
            |place| (at(&self.field, place), at(&self.how, place), at(&self.value, place));
        let act = |place| (at(&self.act, place), at(&self.with, place));
        RuleInput {
            name: self.name.clone(),
            event: self.event.clone(),
            wait_hours: self.wait.clone(),
            conditions: (0..self.field.len().min(RULE_CONDITIONS)).map(condition).collect(),
            acts: (0..self.act.len().min(RULE_ACTS)).map(act).collect(),
            is_last: self.last,
        }
    }

    /// What a button changes that does not save.
    pub fn row_change(&self) -> Option<RowChange> {
        let place = |number: Option<i64>| number.and_then(|number| usize::try_from(number).ok());
        match (self.add.as_str(), place(self.remove_condition), place(self.remove_act)) {
            ("condition", _, _) => Some(RowChange::AddCondition),
            ("act", _, _) => Some(RowChange::AddAct),
            (_, Some(place), _) => Some(RowChange::RemoveCondition(place)),
            (_, _, Some(place)) => Some(RowChange::RemoveAct(place)),
            (_, None, None) => None,
        }
    }
}

/// Where the form says what is wrong.
pub const ERROR_FIELDS: [&str; 4] = ["name", "wait", "conditions", "acts"];

/// The form as it is shown: choices with the chosen one.
#[derive(Default)]
pub struct RuleFormView {
    pub name: String,
    pub event: String,
    pub events: Vec<(&'static str, &'static str)>,
    pub wait: String,
    pub conditions: Vec<ConditionRow>,
    pub fields: Vec<(&'static str, &'static str)>,
    pub acts: Vec<ActRow>,
    pub kinds: Vec<(&'static str, &'static str)>,
    pub is_last: bool,
    /// True when a row was added or removed, and nothing saved since.
    pub is_changed: bool,
    pub errors: FieldErrors,
}

pub struct ConditionRow {
    pub field: String,
    pub is_not: bool,
    pub value: String,
    /// True where the person goes on.
    pub is_focused: bool,
}

pub struct ActRow {
    pub act: String,
    pub value: String,
    pub is_focused: bool,
}

impl RuleFormView {
    pub fn of_rule(rule: &TeamRule, names: &RuleNames) -> RuleFormView {
        let conditions = rule.conditions.iter().map(|one| {
            let how = if one.not { "is-not" } else { "is" };
            (one.field.as_str().to_owned(), how.to_owned(), words::condition_value(names, one))
        });
        let acts = rule.acts.iter();
        let acts = acts.map(|one| (one.act.as_str().to_owned(), words::act_value(names, one)));
        RuleFormView::of_input(RuleInput {
            name: rule.name.clone(),
            event: rule.event.as_str().into(),
            wait_hours: if rule.wait_minutes > 0 {
                (rule.wait_minutes / 60).to_string()
            } else {
                String::new()
            },
            conditions: conditions.collect(),
            acts: acts.collect(),
            is_last: rule.is_last,
        })
    }

    /// With the rows that are filled, and an empty one of each kind.
    pub fn of_input(mut input: RuleInput) -> RuleFormView {
        input.conditions.retain(|(field, _, value)| !field.is_empty() || !value.is_empty());
        input.acts.retain(|(act, value)| !act.is_empty() || !value.is_empty());
        add_row(&mut input.conditions, RULE_CONDITIONS);
        add_row(&mut input.acts, RULE_ACTS);
        RuleFormView::of_rows(input)
    }

    /// With a row more or less, and everything else as it was typed.
    pub fn of_change(mut input: RuleInput, change: RowChange) -> RuleFormView {
        let (condition, act) = match change {
            RowChange::AddCondition => {
                (Some(add_row(&mut input.conditions, RULE_CONDITIONS)), None)
            }
            RowChange::RemoveCondition(place) => {
                (Some(remove_row(&mut input.conditions, place)), None)
            }
            RowChange::AddAct => (None, Some(add_row(&mut input.acts, RULE_ACTS))),
            RowChange::RemoveAct(place) => (None, Some(remove_row(&mut input.acts, place))),
        };
        let mut view = RuleFormView { is_changed: true, ..RuleFormView::of_rows(input) };
        if let Some(row) = condition.and_then(|place| view.conditions.get_mut(place)) {
            row.is_focused = true;
        }
        if let Some(row) = act.and_then(|place| view.acts.get_mut(place)) {
            row.is_focused = true;
        }
        view
    }

    /// With the rows as they are.
    fn of_rows(input: RuleInput) -> RuleFormView {
        let conditions = input.conditions.into_iter().map(|(field, how, value)| ConditionRow {
            field,
            is_not: how == "is-not",
            value,
            is_focused: false,
        });
        let acts = input.acts.into_iter();
        let acts = acts.map(|(act, value)| ActRow { act, value, is_focused: false });
        RuleFormView {
            name: input.name,
            event: input.event,
            events: RuleEvent::ALL.iter().map(|one| (one.as_str(), words::event(*one))).collect(),
            wait: input.wait_hours,
            conditions: conditions.collect(),
            fields: ConditionField::ALL
                .iter()
                .map(|one| (one.as_str(), words::field_label(*one)))
                .collect(),
            acts: acts.collect(),
            kinds: RuleActKind::ALL
                .iter()
                .map(|one| (one.as_str(), words::act_label(*one)))
                .collect(),
            is_last: input.is_last,
            ..RuleFormView::default()
        }
    }

    /// Why it was refused.
    pub fn problems(&self) -> Vec<&str> {
        let all = ERROR_FIELDS.iter().map(|field| self.errors.at(field));
        all.filter(|one| !one.is_empty()).collect()
    }

    pub fn can_add_condition(&self) -> bool {
        self.conditions.len() < RULE_CONDITIONS
    }

    pub fn can_add_act(&self) -> bool {
        self.acts.len() < RULE_ACTS
    }
}

/// Adds an empty row where there may be one more; the place of the last row.
fn add_row<R: Default>(rows: &mut Vec<R>, most: usize) -> usize {
    if rows.len() < most {
        rows.push(R::default());
    }
    rows.len().saturating_sub(1)
}

/// Removes a row, but leaves an empty one; the place of the row that follows, or of the last.
fn remove_row<R: Default>(rows: &mut Vec<R>, place: usize) -> usize {
    if place < rows.len() {
        rows.remove(place);
    }
    if rows.is_empty() {
        rows.push(R::default());
    }
    place.min(rows.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use web::forms::form::{Form, FormFields};

    fn read(text: &str) -> RuleForm {
        RuleForm::read(&FormFields::read(text.as_bytes())).expect("a form")
    }

    /// The values of the conditions, with a star where the person goes on.
    fn change(text: &str) -> Vec<String> {
        let form = read(text);
        let change = form.row_change().expect("a change");
        let view = RuleFormView::of_change(form.input(), change);
        let star = |row: &ConditionRow| if row.is_focused { "*" } else { "" };
        view.conditions.iter().map(|row| format!("{}{}", row.value, star(row))).collect()
    }

    #[test]
    fn a_button_that_saves_changes_no_row() {
        assert_eq!(read("name=x&try=1").row_change(), None);
        assert_eq!(read("add=act").row_change(), Some(RowChange::AddAct));
        assert_eq!(read("remove_act=1").row_change(), Some(RowChange::RemoveAct(1)));
        assert_eq!(read("remove_act=-1").row_change(), None);
    }

    #[test]
    fn rows_are_added_up_to_the_limit_and_removed_down_to_one() {
        let two = "field=tag&value=a&field=&value=b";
        assert_eq!(change(&format!("{two}&add=condition")), ["a", "b", "*"]);
        assert_eq!(change(&format!("{two}&remove_condition=0")), ["b*"]);
        assert_eq!(change(&format!("{two}&remove_condition=1")), ["a*"]);
        assert_eq!(change(&format!("{two}&remove_condition=9")), ["a", "b*"]);
        assert_eq!(change("field=tag&value=a&remove_condition=0"), ["*"]);
        let full = "field=tag&value=a&".repeat(RULE_CONDITIONS + 1);
        assert_eq!(change(&format!("{full}add=condition")).len(), RULE_CONDITIONS);
    }

    #[test]
    fn a_form_has_the_filled_rows_and_an_empty_one() {
        let form = read("field=&value=&field=tag&value=a&field=&value=b&act=close");
        let view = RuleFormView::of_input(form.input());
        let values: Vec<&str> = view.conditions.iter().map(|row| row.value.as_str()).collect();
        assert_eq!((values, view.acts.len()), (vec!["a", "b", ""], 2));
        assert!(view.can_add_condition() && view.can_add_act());
        let full = read(&"act=close&".repeat(RULE_ACTS));
        let view = RuleFormView::of_input(full.input());
        assert!(view.acts.len() == RULE_ACTS && !view.can_add_act());
    }
}
