//! The words that papers use, folded: English, German, French, Spanish, Italian, Dutch, and where
//! they are the same or near, Portuguese and Polish. A star before a word stands for the beginning
//! of a compound.

mod days;
mod numbers;
mod parties;
mod sums;

pub use days::{ANY_DATE, DATE, DUE, OTHER_DATE};
pub use numbers::{NUMBER, NUMBER_MARK, TITLE};
pub use parties::{BUYER, COMPANY, NOT_A_NAME, SELLER};
pub use sums::{GROSS, NOT_THE_WHOLE, TO_PAY, TOTAL, WITH_TAX};
