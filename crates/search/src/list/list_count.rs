//! The size of a list, counted up to a limit.

use base::limits::{COUNTED_BESIDE_PAGE, COUNTED_CONVERSATIONS};

/// How much work a count may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountEffort {
    /// For whoever asks for the count.
    Thorough,
    /// Beside a page of the list, which takes hardly longer for it: only what the index tells at once.
    Quick,
}

impl CountEffort {
    /// Conversations that are counted.
    pub(super) fn most(self) -> usize {
        match self {
            CountEffort::Thorough => COUNTED_CONVERSATIONS,
            CountEffort::Quick => COUNTED_BESIDE_PAGE,
        }
    }
}

/// How many conversations there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListCount {
    pub n: usize,
    /// False where counting ended before the list did: there are at least so many.
    pub is_exact: bool,
}

impl ListCount {
    pub const NONE: ListCount = ListCount { n: 0, is_exact: true };

    /// Of a list that was not counted.
    pub(super) const UNKNOWN: ListCount = ListCount { n: 0, is_exact: false };

    /// A count that ended one after the last that is counted.
    pub(super) fn up_to(n: usize, most: usize) -> ListCount {
        ListCount { n: n.min(most), is_exact: n <= most }
    }
}
