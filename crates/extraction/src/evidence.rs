//! Checks whether claimed values occur in a document's text.

use jiff::civil::Date;

use crate::paper::{ExtractedFields, tidy};
use crate::rules::{Order, currency, days, fold, named_currencies, numbers};

/// A text that claims are held against.
pub struct Evidence {
    words: String,
    amounts: Vec<i64>,
    days: Vec<Date>,
    currencies: Vec<&'static str>,
}

impl Evidence {
    pub fn of(text: &str) -> Evidence {
        let lines = || text.lines();
        let amounts = lines().flat_map(numbers).map(|number| cents(number.value.abs()));
        let orders = [Order::DayFirst, Order::MonthFirst];
        let days =
            lines().flat_map(|line| orders.into_iter().flat_map(move |order| days(line, order)));
        Evidence {
            words: fold(text),
            amounts: amounts.collect(),
            days: days.map(|day| day.date).collect(),
            currencies: lines().flat_map(named_currencies).collect(),
        }
    }

    /// The fields without those that the text does not bear out.
    pub fn keep(&self, claimed: ExtractedFields) -> ExtractedFields {
        let said = |text: &String| {
            let words = fold(text);
            !words.trim().is_empty() && self.words.contains(&words)
        };
        let day = |text: &String| text.parse::<Date>().is_ok_and(|day| self.days.contains(&day));
        let text = |text: Option<String>| text.and_then(|text| tidy(&text)).filter(said);
        ExtractedFields {
            vendor: text(claimed.vendor),
            amount: claimed.amount.filter(|amount| self.amounts.contains(&cents(amount.abs()))),
            currency: claimed
                .currency
                .and_then(|code| currency::code(&code))
                .filter(|code| self.currencies.contains(&code.as_str())),
            date: claimed.date.filter(day),
            due_date: claimed.due_date.filter(day),
            reference: text(claimed.reference),
        }
    }
}

fn cents(amount: f64) -> i64 {
    (amount * 100.0).round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_text_says_is_kept() {
        let evidence =
            Evidence::of("Lumen Holz GmbH\nRechnung R-7 vom 2. November 2026\nSumme 1.120,50 €");
        let true_ones = ExtractedFields {
            vendor: Some("LUMEN  Holz".into()),
            amount: Some(1120.5),
            currency: Some("EUR".into()),
            date: Some("2026-11-02".into()),
            due_date: None,
            reference: Some("R-7".into()),
        };
        let kept = evidence.keep(true_ones.clone());
        assert_eq!(kept, ExtractedFields { vendor: Some("LUMEN Holz".into()), ..true_ones });
        let invented = ExtractedFields {
            vendor: Some("Acme".into()),
            amount: Some(1120.0),
            currency: Some("USD".into()),
            date: Some("2026-11-03".into()),
            due_date: Some("soon".into()),
            reference: Some(String::new()),
        };
        assert_eq!(evidence.keep(invented), ExtractedFields::default());
    }
}
