//! How much work the rules of one feed may cause.

use crate::limits::EXPANSION_STEPS;

/// What is left of the work that one feed may cause.
pub(crate) struct ExpansionBudget {
    steps: u64,
}

/// A feed asks for more work than it may cause.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooMuchWork;

impl ExpansionBudget {
    pub fn new() -> ExpansionBudget {
        ExpansionBudget { steps: EXPANSION_STEPS }
    }

    pub fn spend(&mut self, steps: u64) -> Result<(), TooMuchWork> {
        self.steps = self.steps.checked_sub(steps).ok_or(TooMuchWork)?;
        Ok(())
    }
}
