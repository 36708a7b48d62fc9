//! The phrases of scams, read from `phrases.txt`.

use std::collections::HashMap;
use std::sync::LazyLock;

use phrases::PhraseBook;

static SCAM_PHRASES: LazyLock<PhraseBook> =
    LazyLock::new(|| PhraseBook::parse(include_str!("phrases.txt")));

/// How many different lines of each group a text has.
#[derive(Clone, Debug, Default)]
pub(super) struct PhraseCounts {
    counts: HashMap<&'static str, usize>,
}

impl PhraseCounts {
    /// Counts in folded words.
    pub fn of_text(folded: &str) -> PhraseCounts {
        let words: Vec<&str> = folded.split(' ').collect();
        let mut counts = HashMap::new();
        for hit in SCAM_PHRASES.find(&words) {
            *counts.entry(hit.group).or_default() += 1;
        }
        PhraseCounts { counts }
    }

    pub fn of(&self, group: &str) -> usize {
        self.counts.get(group).copied().unwrap_or(0)
    }

    /// True when a text has any phrase but those of haste.
    pub fn any(&self) -> bool {
        self.counts.keys().any(|group| *group != "haste")
    }
}
