//! Files of word lists: a `[group]`, and one word or phrase on each line below it, compared as it stands.

use std::collections::BTreeMap;

/// The lists of a file, by their groups.
pub struct WordLists(BTreeMap<&'static str, &'static [&'static str]>);

impl WordLists {
    /// Reads a file that is part of the program, once. Lines that begin with `#` are comments; a bar ends
    /// a line whose last blank counts. A word before the first group, or a group without words, is a
    /// mistake in the file, and panics.
    pub fn parse(file: &'static str) -> WordLists {
        let mut lists: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let mut group = None;
        for line in file.lines().map(str::trim_end) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                group = Some(name);
                lists.entry(name).or_default();
                continue;
            }
            let group = group.expect("a group stands before its words");
            lists.entry(group).or_default().push(line.strip_suffix('|').unwrap_or(line));
        }
        let empty = lists.iter().find(|(_, words)| words.is_empty());
        assert!(empty.is_none(), "a group has no words: {empty:?}");
        WordLists(lists.into_iter().map(|(name, words)| (name, &*words.leak())).collect())
    }

    /// The words of a group; a group that is not there is a mistake in the program, and panics.
    pub fn list(&self, group: &str) -> &'static [&'static str] {
        self.0.get(group).copied().expect("the file has the group")
    }

    pub fn groups(&self) -> impl Iterator<Item = &'static str> {
        self.0.keys().copied()
    }
}

/// Declares the lists of a file beside the source. A test of each file holds that none is missing and
/// none left over.
#[macro_export]
macro_rules! word_lists {
    ($file:literal: $($(#[$about:meta])* $vis:vis $name:ident = $group:literal;)+) => {
        static LISTS: std::sync::LazyLock<$crate::WordLists> =
            std::sync::LazyLock::new(|| $crate::WordLists::parse(include_str!($file)));

        $(
            $(#[$about])*
            $vis static $name: std::sync::LazyLock<&'static [&'static str]> =
                std::sync::LazyLock::new(|| LISTS.list($group));
        )+

        #[cfg(test)]
        #[test]
        fn every_list_of_the_file_is_declared() {
            let mut declared = vec![$($group),+];
            declared.sort_unstable();
            assert_eq!(LISTS.groups().collect::<Vec<_>>(), declared);
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_its_lines_as_they_stand() {
        let file = "# about\n\n[b]\nsent from my |\n# more\n*word\n[a]\nВід\n";
        let lists = WordLists::parse(file);
        assert_eq!(lists.list("b"), ["sent from my ", "*word"]);
        assert_eq!(lists.list("a"), ["Від"]);
        assert_eq!(lists.groups().collect::<Vec<_>>(), ["a", "b"]);
    }
}
