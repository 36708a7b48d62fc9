//! The size of a list, counted up to a limit.

use crate::base::limits::COUNTED_CONVERSATIONS;

/// How many conversations there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListCount {
    pub n: usize,
    /// False where counting ended before the list did: there are at least so many.
    pub is_exact: bool,
}

impl ListCount {
    pub const NONE: ListCount = ListCount { n: 0, is_exact: true };

    /// A count that ended one after the last that is counted.
    pub(super) fn up_to_limit(n: usize) -> ListCount {
        ListCount { n: n.min(COUNTED_CONVERSATIONS), is_exact: n <= COUNTED_CONVERSATIONS }
    }
}
