//! The numbers of conversations as arguments of a statement that looks at several of them.

use db::Arg;

/// Conversations looked at in one statement, at most.
pub const PROBED_AT_ONCE: usize = 100;
/// The same in most statements.
const PROBED_MOSTLY: usize = 25;

/// How many arguments a statement has for these numbers, so that most counts share one statement.
pub fn probe_width(nums: &[i64]) -> usize {
    if nums.len() <= PROBED_MOSTLY { PROBED_MOSTLY } else { PROBED_AT_ONCE }
}

/// The numbers as arguments, filled up by repeating the last.
pub fn arguments(nums: &[i64]) -> Vec<&dyn Arg> {
    let filled = nums.iter().chain(nums.last().into_iter().cycle());
    filled.take(probe_width(nums)).map(|num| num as &dyn Arg).collect()
}

/// The first arguments of a statement that looks at these numbers.
pub fn marks(nums: &[i64]) -> String {
    let marks: Vec<String> = (1..=probe_width(nums)).map(|mark| format!("?{mark}")).collect();
    marks.join(", ")
}
