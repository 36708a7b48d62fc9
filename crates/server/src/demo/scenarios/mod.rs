//! About forty conversations of a small maker of lamps and furniture, one file per theme.
//! Every name, firm and address is invented.

mod abroad;
mod apart;
mod billing;
mod business;
mod orders;
mod papers;
mod questions;
mod returns;

use super::scenario::Scenario;

/// Every story, each with a number of its own.
pub fn all() -> impl Iterator<Item = (usize, &'static Scenario)> {
    let themes = [
        orders::STORIES,
        abroad::STORIES,
        returns::STORIES,
        billing::STORIES,
        business::STORIES,
        questions::STORIES,
        apart::STORIES,
    ];
    themes.into_iter().flatten().enumerate()
}
