//! Ranges of time, and sets of them.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// From `start` until just before `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TimeRange {
    pub start: Timestamp,
    pub end: Timestamp,
}

impl TimeRange {
    pub fn new(start: Timestamp, end: Timestamp) -> TimeRange {
        TimeRange { start, end }
    }

    pub fn is_empty(&self) -> bool {
        self.end <= self.start
    }

    /// Ranges that only touch do not overlap, and an empty one overlaps nothing.
    pub fn overlaps(&self, other: &TimeRange) -> bool {
        !self.is_empty() && !other.is_empty() && self.start < other.end && other.start < self.end
    }

    pub fn contains(&self, other: &TimeRange) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    pub(crate) fn intersection(&self, other: &TimeRange) -> Option<TimeRange> {
        let range = TimeRange::new(self.start.max(other.start), self.end.min(other.end));
        (!range.is_empty()).then_some(range)
    }
}

/// Ranges in order that neither overlap nor touch, so that one is found by bisection.
#[derive(Clone, Debug, Default)]
pub(crate) struct RangeSet {
    ranges: Vec<TimeRange>,
}

impl RangeSet {
    pub fn new(ranges: impl Iterator<Item = TimeRange>) -> RangeSet {
        let mut sorted: Vec<TimeRange> = ranges.filter(|range| !range.is_empty()).collect();
        sorted.sort_unstable();
        let mut ranges: Vec<TimeRange> = Vec::with_capacity(sorted.len());
        for range in sorted {
            match ranges.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => ranges.push(range),
            }
        }
        RangeSet { ranges }
    }

    pub fn ranges(&self) -> &[TimeRange] {
        &self.ranges
    }

    pub fn overlaps(&self, range: &TimeRange) -> bool {
        let at = self.ranges.partition_point(|own| own.end <= range.start);
        self.ranges.get(at).is_some_and(|own| own.overlaps(range))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: i64, end: i64) -> TimeRange {
        let at = |second| Timestamp::from_second(second).unwrap();
        TimeRange::new(at(start), at(end))
    }

    #[test]
    fn ranges_that_touch_do_not_overlap() {
        assert!(!range(0, 10).overlaps(&range(10, 20)));
        assert!(range(0, 11).overlaps(&range(10, 20)));
        assert!(!range(0, 20).overlaps(&range(10, 10)));
    }

    #[test]
    fn a_set_overlaps_what_one_of_its_ranges_overlaps() {
        let parts = [range(50, 60), range(0, 10), range(5, 20), range(30, 30)];
        let set = RangeSet::new(parts.into_iter());
        for start in 0..70 {
            for end in start + 1..70 {
                let asked = range(start, end);
                let expected = parts.iter().any(|part| part.overlaps(&asked));
                assert_eq!(set.overlaps(&asked), expected, "{asked:?}");
            }
        }
    }
}
