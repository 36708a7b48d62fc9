//! The twenty test cases of the sample workspace.

use base::app::Cx;
use base::error::Result;
use db::Tx;

use crate::stored_cases::save_definition;

macro_rules! samples {
    ($($name:literal),+ $(,)?) => {
        /// The definitions of the sample cases, by name.
        pub const SAMPLES: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("cases/", $name, ".toml")))),+];
    };
}

samples![
    "angry-third-mail",
    "asks-for-a-person",
    "broken-lamp",
    "bulb-for-the-alma",
    "cancel-my-order",
    "change-of-address",
    "damaged-parcel-photos",
    "delivery-time-table",
    "discount-for-hotels",
    "forget-my-data",
    "injected-orders",
    "invoice-again",
    "job-application",
    "missing-order-number",
    "new-bank-account",
    "newsletter",
    "refund-above-the-limit",
    "return-within-thirty-days",
    "table-on-a-saturday",
    "thanks-only",
];

/// Saves them all in a workspace.
pub fn add_samples(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<()> {
    for (_, definition) in SAMPLES {
        save_definition(tx, cx, definition)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::EvalCase;

    #[test]
    fn each_sample_can_be_played_under_the_name_of_its_file() {
        assert_eq!(SAMPLES.len(), 20);
        for (name, definition) in SAMPLES {
            let case =
                EvalCase::parse(definition).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(case.name, *name);
            assert!(
                !case.about.is_empty() && (case.nothing_to_do || !case.steps.is_empty()),
                "{name}"
            );
        }
    }
}
