//! The time that is left until a response target is missed, in lists and conversations.

use translation::t;

use crate::layout::wording::TimeFormat;

/// Less than this is a warning.
const SOON_MS: i64 = 60 * 60_000;

pub struct TargetView {
    /// `danger` when it is missed, `warn` when it is soon.
    pub class: &'static str,
    pub words: String,
}

/// The target that is due first; none where no target runs.
pub fn target(answer: Option<i64>, close: Option<i64>, times: &TimeFormat) -> Option<TargetView> {
    let (is_answer, due) = match (answer, close) {
        (Some(answer), Some(close)) if close < answer => (false, close),
        (Some(answer), _) => (true, answer),
        (None, Some(close)) => (false, close),
        (None, None) => return None,
    };
    let left = due - times.now;
    let time = span(left.abs());
    if left < 0 {
        let late = if is_answer {
            t!("Answer late by {time}", time)
        } else {
            t!("Closing late by {time}", time)
        };
        return Some(TargetView { class: "danger", words: late });
    }
    let words =
        if is_answer { t!("Answer within {time}", time) } else { t!("Close within {time}", time) };
    Some(TargetView { class: if left < SOON_MS { "warn" } else { "" }, words })
}

/// `12 min`, `3 h`, `2 days`.
fn span(ms: i64) -> String {
    let minutes = (ms / 60_000).max(1);
    match minutes {
        1..60 => t!("{n} min", n = minutes),
        60..2_880 => t!("{n} h", n = minutes / 60),
        _ => t!("{n} days", n = minutes / 1_440),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_that_is_due_first_is_shown_with_the_time_left() {
        let times = TimeFormat::new(1_000 * 60_000, jiff::tz::TimeZone::UTC);
        let words = |answer: Option<i64>, close: Option<i64>| {
            let at = |minutes: i64| minutes * 60_000;
            target(answer.map(at), close.map(at), &times).map(|one| (one.class, one.words))
        };
        assert_eq!(words(None, None), None);
        assert_eq!(words(Some(1_030), Some(1_300)), Some(("warn", "Answer within 30 min".into())));
        assert_eq!(words(None, Some(1_300)), Some(("", "Close within 5 h".into())));
        assert_eq!(words(Some(900), Some(1_300)), Some(("danger", "Answer late by 1 h".into())));
        assert_eq!(words(Some(1_300), Some(940)), Some(("danger", "Closing late by 1 h".into())));
    }
}
