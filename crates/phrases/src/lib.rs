//! Finds listed phrases in a text, in one pass over its words.
//!
//! The scam check and the urgency rules each have a file of phrases in several languages. A
//! [`PhraseBook`] is such a file, read once:
//!
//! ```text
//! # a comment
//! [group]
//! words in a row
//! word*            every word that begins so
//! a, b c ~ d, e*   one of the left and one of the right within six words, in any order
//! ```
//!
//! Case, accents and signs do not matter, in the file and in the text ([`folded_words`]). The time
//! grows with the text, not with the file.
//!
//! [`WordLists`] is a file of words that are compared as they stand; [`word_lists!`] declares its lists.

mod book;
mod word_lists;
mod words;

pub use book::{PhraseBook, PhraseHit};
pub use word_lists::WordLists;
pub use words::{FoldedWord, folded_words};
