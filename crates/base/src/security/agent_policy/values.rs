//! The values of a policy's fields, as people type them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    FirstContactRule, HoursRule, LinkRule, MOST_AMOUNT, MOST_CONVERSATIONS, MOST_MINUTES,
    MarkedMailRule, RecipientRule, SecretRule,
};

/// The word for no limit.
const NONE: &str = "none";

/// A value that somebody can type.
pub trait PolicyValue: Sized {
    /// The value, or a sentence on what it must be.
    fn parse(typed: &str) -> Result<Self, String>;

    fn to_typed(&self) -> String;
}

/// So many conversations in so many minutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BulkLimit {
    pub conversations: i64,
    pub minutes: i64,
}

impl BulkLimit {
    pub(super) fn is_sound(self) -> bool {
        (1..=MOST_CONVERSATIONS).contains(&self.conversations)
            && (1..=MOST_MINUTES).contains(&self.minutes)
    }
}

/// A sum of money.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AmountLimit {
    /// Three letters, such as `EUR`.
    pub currency: String,
    pub value: f64,
}

impl AmountLimit {
    /// What is wrong with it, as a sentence.
    pub(super) fn problem(&self) -> Option<String> {
        let AmountLimit { currency, value } = self;
        // The bounds leave out what is no number.
        let is_sound = (0.0..=MOST_AMOUNT as f64).contains(value);
        if !mail::is_currency_code(currency) {
            Some(format!(
                "{currency} is no currency; write a sum with the three letters of ISO 4217, such as 50 EUR"
            ))
        } else if !is_sound {
            Some(format!(
                "must be none, or a sum from 0 to {MOST_AMOUNT} with its currency, such as 50 EUR"
            ))
        } else {
            None
        }
    }
}

macro_rules! words {
    ($($name:ident),*) => {
        $(impl PolicyValue for $name {
            fn parse(typed: &str) -> Result<$name, String> {
                let names = || format!("must be one of {}", $name::NAMES.join(", "));
                $name::parse(typed).ok_or_else(names)
            }

            fn to_typed(&self) -> String {
                self.as_str().to_owned()
            }
        })*
    };
}

words!(RecipientRule, FirstContactRule, LinkRule, HoursRule, MarkedMailRule, SecretRule);

impl PolicyValue for bool {
    fn parse(typed: &str) -> Result<bool, String> {
        match typed {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err("must be true or false".into()),
        }
    }

    fn to_typed(&self) -> String {
        self.to_string()
    }
}

impl PolicyValue for Option<i64> {
    fn parse(typed: &str) -> Result<Option<i64>, String> {
        if is_none(typed) {
            return Ok(None);
        }
        typed.parse().map(Some).map_err(|_| "must be none or a whole number".into())
    }

    fn to_typed(&self) -> String {
        self.map_or_else(|| NONE.to_owned(), |number| number.to_string())
    }
}

impl PolicyValue for Vec<String> {
    fn parse(typed: &str) -> Result<Vec<String>, String> {
        let domains = typed.split([',', ' ', '\n', '\r']).filter(|domain| !domain.is_empty());
        let mut domains: Vec<String> =
            domains.map(|domain| domain.trim_start_matches('@').to_lowercase()).collect();
        domains.dedup();
        Ok(domains)
    }

    fn to_typed(&self) -> String {
        self.join(", ")
    }
}

impl PolicyValue for Option<BulkLimit> {
    fn parse(typed: &str) -> Result<Option<BulkLimit>, String> {
        if is_none(typed) {
            return Ok(None);
        }
        let wrong = || "must be none, or conversations and minutes such as 50/5".to_owned();
        let (conversations, minutes) = typed.split_once('/').ok_or_else(wrong)?;
        let number = |text: &str| text.trim().parse().map_err(|_| wrong());
        Ok(Some(BulkLimit { conversations: number(conversations)?, minutes: number(minutes)? }))
    }

    fn to_typed(&self) -> String {
        self.map_or_else(
            || NONE.to_owned(),
            |bulk| format!("{}/{}", bulk.conversations, bulk.minutes),
        )
    }
}

impl PolicyValue for Option<AmountLimit> {
    fn parse(typed: &str) -> Result<Option<AmountLimit>, String> {
        if is_none(typed) {
            return Ok(None);
        }
        let wrong = || "must be none, or a sum with its currency such as 50 EUR".to_owned();
        let (value, currency) = typed.split_once(' ').ok_or_else(wrong)?;
        let value: f64 = value.parse().map_err(|_| wrong())?;
        Ok(Some(AmountLimit { currency: currency.trim().to_uppercase(), value }))
    }

    fn to_typed(&self) -> String {
        match self {
            None => NONE.to_owned(),
            Some(AmountLimit { currency, value }) => format!("{value} {currency}"),
        }
    }
}

fn is_none(typed: &str) -> bool {
    typed.is_empty() || typed == NONE || typed == "null"
}
