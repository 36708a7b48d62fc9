//! Durations as counters: spans that grow by a quarter of a doubling, so that a median and a 90th
//! percentile can be read from counts, within a tenth of their value.

use std::collections::BTreeMap;

/// Spans to a doubling.
const TO_A_DOUBLING: f64 = 4.0;
/// The first span ends here; all shorter durations are in it.
const FIRST_MS: f64 = 60_000.0;
/// The last span begins at about 128 days.
const LAST: i64 = 70;

/// The span that a duration is counted in.
pub fn bucket(ms: i64) -> i64 {
    let ms = (ms.max(0) as f64).max(FIRST_MS);
    (((ms / FIRST_MS).log2() * TO_A_DOUBLING).floor() as i64).min(LAST)
}

/// Counts by span, the shortest first, of counters that are named after it.
pub fn histogram<'a>(counts: impl Iterator<Item = (&'a str, i64)>) -> Vec<(i64, i64)> {
    let mut sums: BTreeMap<i64, i64> = BTreeMap::new();
    for (name, n) in counts {
        *sums.entry(name.parse().unwrap_or(0)).or_default() += n;
    }
    sums.into_iter().collect()
}

/// A share of durations lies below this one, in milliseconds: 0.5 for the median. `counts` has each
/// span and how many durations are in it, in order.
pub fn quantile(counts: &[(i64, i64)], share: f64) -> Option<i64> {
    let all: i64 = counts.iter().map(|(_, n)| n).sum();
    if all <= 0 {
        return None;
    }
    let wanted = share * all as f64;
    let mut before = 0.0;
    for (bucket, n) in counts.iter().filter(|(_, n)| *n > 0) {
        let n = *n as f64;
        if before + n >= wanted {
            let within = ((wanted - before) / n).clamp(0.0, 1.0);
            return Some(edge(*bucket as f64 + within));
        }
        before += n;
    }
    counts.last().map(|(bucket, _)| edge(*bucket as f64 + 1.0))
}

fn edge(bucket: f64) -> i64 {
    (FIRST_MS * (bucket / TO_A_DOUBLING).exp2()).round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_within_a_fifth_of_the_duration_that_was_counted() {
        for minutes in [2, 7, 45, 62, 240, 1_440, 20_000] {
            let ms = minutes * 60_000;
            let found = quantile(&[(bucket(ms), 1)], 0.5).unwrap();
            assert!((found - ms).abs() * 5 <= ms, "{minutes} minutes became {found}");
        }
        assert_eq!(bucket(i64::MAX), LAST);
        assert_eq!(bucket(-5), 0);
    }

    #[test]
    fn quantiles_are_in_order_and_of_nothing_there_is_none() {
        let counts = [(0, 10), (8, 80), (20, 10)];
        let (median, most) = (quantile(&counts, 0.5).unwrap(), quantile(&counts, 0.9).unwrap());
        assert!(median > edge(8.0) && median < edge(9.0), "{median}");
        assert!(most >= median && most <= edge(9.0), "{most}");
        assert!(quantile(&counts, 0.95).unwrap() > edge(20.0));
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[(3, 0)], 0.5), None);
    }
}
