//! What a query for the value of a field asks of the database.

use base::actor::Actor;
use base::error::Result;
use db::{Json, Tx};
use search::list::{FieldHolder, FieldMatch, FieldTest};
use search::{FieldQuery, FieldSign};

use crate::fields::stored_values::FieldEntry;
use crate::fields::typed_value::{FieldValue, fold, parse_day, parse_number};
use crate::fields::{self, CustomField, FieldKind, FieldOwner};

/// The test of a query; `None` when there is no such field, or nothing that its value could be.
pub fn test_of(tx: &mut Tx<'_>, actor: &Actor, query: &FieldQuery) -> Result<Option<FieldTest>> {
    let Some(field) = fields::find(tx, actor.ws, &query.key)? else { return Ok(None) };
    let Some(wanted) = wanted_value(&field, query) else { return Ok(None) };
    let holder = match field.owner {
        FieldOwner::Conversation => FieldHolder::Conversation,
        FieldOwner::Contact => FieldHolder::Contact(actor.circles.distinct().cloned().collect()),
        FieldOwner::Company => FieldHolder::Company(actor.circles.distinct().cloned().collect()),
    };
    FieldTest::new(tx, actor.ws, &field.key, holder, wanted).map(Some)
}

fn wanted_value(field: &CustomField, query: &FieldQuery) -> Option<FieldMatch> {
    let (sign, value) = (query.sign, query.value.as_str());
    let number = match field.kind {
        FieldKind::Number | FieldKind::Money => parse_number(value),
        FieldKind::Date => parse_day(value),
        _ => None,
    };
    match (number, sign) {
        (Some(number), sign) => Some(FieldMatch::Number(sign, number)),
        (None, FieldSign::Above | FieldSign::AtLeast | FieldSign::Below | FieldSign::AtMost) => {
            None
        }
        (None, FieldSign::Is) => match field.kind {
            FieldKind::Number | FieldKind::Date => None,
            // With its currency.
            FieldKind::Money => {
                let sum = FieldValue::of_text(field, value).ok()?;
                Some(FieldMatch::Text(sum.fold_text()))
            }
            _ => Some(FieldMatch::Text(fold(value))),
        },
    }
}

/// Reads what a rule says of a field: `order:A-17`, `items>2` or `items<=10`.
pub fn parse_condition(text: &str) -> Option<FieldQuery> {
    let (key, rest) = text.split_at(text.find([':', '>', '<'])?);
    let signed = |(typed, sign): &(&str, FieldSign)| Some((rest.strip_prefix(typed)?, *sign));
    let (value, sign) = FieldSign::TYPED.iter().find_map(signed)?;
    let (key, value) = (key.trim().to_lowercase(), value.trim().to_owned());
    (!key.is_empty() && !value.is_empty()).then_some(FieldQuery { key, sign, value })
}

/// True for a value that a query can ask of a field.
pub fn fits(field: &CustomField, query: &FieldQuery) -> bool {
    wanted_value(field, query).is_some()
}

/// True where one of these values is what a query asks for.
pub fn is_among(entries: &[FieldEntry], query: &FieldQuery) -> bool {
    let Some(entry) = entries.iter().find(|entry| entry.key == query.key) else { return false };
    let field = CustomField {
        key: entry.key.clone(),
        owner: FieldOwner::Conversation,
        kind: entry.kind,
        choices: Json(Vec::new()),
    };
    match wanted_value(&field, query) {
        Some(FieldMatch::Text(folded)) => entry.value.fold_text() == folded,
        Some(FieldMatch::Number(sign, wanted)) => {
            entry.value.number.is_some_and(|number| match sign {
                FieldSign::Is => number == wanted,
                FieldSign::Above => number > wanted,
                FieldSign::AtLeast => number >= wanted,
                FieldSign::Below => number < wanted,
                FieldSign::AtMost => number <= wanted,
            })
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_a_key_a_sign_and_a_value() {
        let query = |key: &str, sign, value: &str| {
            Some(FieldQuery { key: key.into(), sign, value: value.into() })
        };
        assert_eq!(parse_condition("order: A-17"), query("order", FieldSign::Is, "A-17"));
        assert_eq!(parse_condition("Items>2"), query("items", FieldSign::Above, "2"));
        assert_eq!(parse_condition("due<2026-12-01"), query("due", FieldSign::Below, "2026-12-01"));
        assert_eq!(parse_condition("items >= 2"), query("items", FieldSign::AtLeast, "2"));
        assert_eq!(parse_condition("items<=2"), query("items", FieldSign::AtMost, "2"));
        for wrong in ["", "order", "order:", ":A", "> 5", "items>="] {
            assert_eq!(parse_condition(wrong), None, "{wrong}");
        }
        let items = FieldValue { text: "2".into(), number: Some(20_000) };
        let known = [FieldEntry { key: "items".into(), kind: FieldKind::Number, value: items }];
        for (condition, expected) in [
            ("items:2", true),
            ("items>1.5", true),
            ("items>=2", true),
            ("items<2", false),
            ("items<=2", true),
            ("other:2", false),
        ] {
            let query = parse_condition(condition).expect("a condition");
            assert_eq!(is_among(&known, &query), expected, "{condition}");
        }
    }

    #[test]
    fn a_value_is_compared_as_its_kind_has_it() {
        let found = |kind, sign, value: &str| {
            let (key, owner) = ("total".to_owned(), FieldOwner::Conversation);
            let field = CustomField { key: key.clone(), owner, kind, choices: Json(Vec::new()) };
            wanted_value(&field, &FieldQuery { key, sign, value: value.to_owned() })
        };
        let text = |text: &str| Some(FieldMatch::Text(text.to_owned()));
        let (is, above) = (FieldSign::Is, FieldSign::Above);
        assert_eq!(found(FieldKind::Text, is, "Grün"), text("grun"));
        assert_eq!(found(FieldKind::Text, above, "5"), None);
        let five = |sign| Some(FieldMatch::Number(sign, 50_000));
        assert_eq!(found(FieldKind::Number, is, "5.0"), five(is));
        assert_eq!(found(FieldKind::Money, above, "5"), five(above));
        assert_eq!(found(FieldKind::Money, is, "5 eur"), text("5 eur"));
        assert_eq!(found(FieldKind::Number, is, "five"), None);
        assert_eq!(
            found(FieldKind::Date, above, "1970-01-02"),
            Some(FieldMatch::Number(above, 86_400_000))
        );
        assert_eq!(found(FieldKind::Date, is, "soon"), None);
    }
}
