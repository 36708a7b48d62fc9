//! What changed between two texts, word by word.

/// Words of a text that are compared one by one; longer texts are shown whole, before and after.
const COMPARED: usize = 1_500;
/// Unchanged words that are shown beside a change.
const BESIDE: usize = 12;

/// A stretch of words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WordChange {
    Same(String),
    Added(String),
    Removed(String),
    /// Unchanged words that are not shown.
    Gap,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Same,
    Added,
    Removed,
}

/// The words of both texts in their order, by the longest words that they share.
pub fn word_changes(before: &str, after: &str) -> Vec<WordChange> {
    let (old, new): (Vec<&str>, Vec<&str>) =
        (before.split_whitespace().collect(), after.split_whitespace().collect());
    let begins = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let ends = old[begins..]
        .iter()
        .rev()
        .zip(new[begins..].iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let (old_middle, new_middle) = (&old[begins..old.len() - ends], &new[begins..new.len() - ends]);
    let mut steps: Vec<(Step, &str)> = Vec::new();
    steps.extend(old[..begins].iter().map(|word| (Step::Same, *word)));
    if old_middle.len() > COMPARED || new_middle.len() > COMPARED {
        steps.extend(old_middle.iter().map(|word| (Step::Removed, *word)));
        steps.extend(new_middle.iter().map(|word| (Step::Added, *word)));
    } else {
        compare(old_middle, new_middle, &mut steps);
    }
    steps.extend(old[old.len() - ends..].iter().map(|word| (Step::Same, *word)));
    in_stretches(&steps)
}

/// The longest common subsequence, from a table of the lengths of what is left.
fn compare<'t>(old: &[&'t str], new: &[&'t str], steps: &mut Vec<(Step, &'t str)>) {
    let width = new.len() + 1;
    let mut left = vec![0_u16; (old.len() + 1) * width];
    for a in (0..old.len()).rev() {
        for b in (0..new.len()).rev() {
            left[a * width + b] = if old[a] == new[b] {
                left[(a + 1) * width + b + 1] + 1
            } else {
                left[(a + 1) * width + b].max(left[a * width + b + 1])
            };
        }
    }
    let (mut a, mut b) = (0, 0);
    while a < old.len() || b < new.len() {
        let is_same = a < old.len() && b < new.len() && old[a] == new[b];
        let removes =
            b == new.len() || a < old.len() && left[(a + 1) * width + b] >= left[a * width + b + 1];
        if is_same {
            steps.push((Step::Same, old[a]));
            (a, b) = (a + 1, b + 1);
        } else if removes {
            steps.push((Step::Removed, old[a]));
            a += 1;
        } else {
            steps.push((Step::Added, new[b]));
            b += 1;
        }
    }
}

/// Words of one kind together; of long unchanged stretches only what is beside a change.
fn in_stretches(steps: &[(Step, &str)]) -> Vec<WordChange> {
    let mut changes = Vec::new();
    let mut at = 0;
    while at < steps.len() {
        let kind = steps[at].0;
        let end = steps[at..].iter().position(|(step, _)| *step != kind);
        let end = end.map_or(steps.len(), |length| at + length);
        let words: Vec<&str> = steps[at..end].iter().map(|(_, word)| *word).collect();
        match kind {
            Step::Added => changes.push(WordChange::Added(words.join(" "))),
            Step::Removed => changes.push(WordChange::Removed(words.join(" "))),
            Step::Same => push_same(&mut changes, &words, (at == 0, end == steps.len())),
        }
        at = end;
    }
    changes
}

fn push_same(changes: &mut Vec<WordChange>, words: &[&str], (first, last): (bool, bool)) {
    if words.len() <= 2 * BESIDE || first && last {
        return changes.push(WordChange::Same(words.join(" ")));
    }
    if !first {
        changes.push(WordChange::Same(words[..BESIDE].join(" ")));
    }
    changes.push(WordChange::Gap);
    if !last {
        changes.push(WordChange::Same(words[words.len() - BESIDE..].join(" ")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_and_removed_is_told_word_by_word() {
        let same = |text: &str| WordChange::Same(text.into());
        let changes = word_changes("It takes three bank days.", "It takes five bank days at most.");
        assert_eq!(
            changes,
            [
                same("It takes"),
                WordChange::Removed("three".into()),
                WordChange::Added("five".into()),
                same("bank"),
                WordChange::Removed("days.".into()),
                WordChange::Added("days at most.".into()),
            ]
        );
        assert_eq!(word_changes("a", "a"), [same("a")]);
        assert_eq!(word_changes("", "new"), [WordChange::Added("new".into())]);
        let long = "word ".repeat(100);
        let changes = word_changes(&format!("{long}old"), &format!("{long}new"));
        assert_eq!((changes.len(), &changes[0]), (4, &WordChange::Gap));
    }

    #[test]
    fn very_long_texts_are_shown_before_and_after() {
        let numbers = |from: usize| {
            (from..from + 2_000).map(|number| number.to_string()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(word_changes(&numbers(0), &numbers(5_000)).len(), 2);
    }
}
