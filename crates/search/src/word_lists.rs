//! The word lists of conversations, which tell whether a conversation has a word without the words of each
//! message.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use base::concurrency::recent_map::RecentMap;
use base::error::Result;
use db::Tx;
use memchr::memmem::Finder;
use memchr::{memchr, memchr_iter};

use super::probe::{arguments, marks};

/// Bytes of the lists that are kept in memory on PostgreSQL, in each of two generations.
const CACHED_BYTES: usize = 24 << 20;

/// A word that a list may have, or the beginning of one.
pub struct WordPattern {
    /// The line of the word without the line break before it, or how that line begins.
    line: String,
    /// The hash of the whole word; `None` for a beginning.
    hash: Option<u64>,
    finder: Finder<'static>,
}

impl WordPattern {
    pub fn new(word: &str, is_prefix: bool) -> WordPattern {
        let line = if is_prefix { word.to_owned() } else { format!("{word}\n") };
        let finder = Finder::new(&format!("\n{line}")).into_owned();
        WordPattern { line, hash: (!is_prefix).then(|| hash(word.as_bytes())), finder }
    }
}

/// The different words of a conversation's messages.
pub trait WordList {
    fn has(&self, pattern: &WordPattern) -> bool;
    /// As the database holds it.
    fn lines(&self) -> &[u8];
}

/// A list as the database holds it: a line for each word.
struct WordLines<'a>(&'a [u8]);

impl WordList for WordLines<'_> {
    fn has(&self, pattern: &WordPattern) -> bool {
        pattern.finder.find(self.0).is_some()
    }

    fn lines(&self) -> &[u8] {
        self.0
    }
}

/// A list that is kept in memory.
struct CachedWords {
    lines: Box<[u8]>,
    /// Where the lines begin, in their order.
    starts: Box<[u32]>,
    /// A bit for each hash: what a list does not have is seldom looked for in its lines.
    filter: Box<[u64]>,
}

/// Bits of the filter for each word.
const FILTER_BITS: usize = 8;

impl CachedWords {
    fn new(lines: &[u8]) -> CachedWords {
        let ends = memchr_iter(b'\n', lines).map(|end| end + 1);
        let mut starts: Vec<u32> = ends.map(|start| start as u32).collect();
        // Behind the last line break there is no word.
        starts.pop();
        let mut filter = vec![0; (starts.len() * FILTER_BITS).div_ceil(64).next_power_of_two()];
        for start in &starts {
            let rest = &lines[*start as usize..];
            let end = memchr(b'\n', rest).unwrap_or(rest.len());
            let (place, bit) = filter_bit(&filter, hash(&rest[..end]));
            filter[place] |= bit;
        }
        starts.sort_unstable_by_key(|start| &lines[*start as usize..]);
        CachedWords { lines: lines.into(), starts: starts.into(), filter: filter.into() }
    }

    /// Bytes that it takes.
    fn weight(&self) -> usize {
        self.lines.len() + size_of_val(&*self.starts) + size_of_val(&*self.filter)
    }
}

impl WordList for CachedWords {
    fn has(&self, pattern: &WordPattern) -> bool {
        if let Some(hash) = pattern.hash {
            let (place, bit) = filter_bit(&self.filter, hash);
            if self.filter[place] & bit == 0 {
                return false;
            }
        }
        let line_at = |start: &u32| &self.lines[*start as usize..];
        let line = pattern.line.as_bytes();
        let place = self.starts.partition_point(|start| line_at(start) < line);
        self.starts.get(place).is_some_and(|start| line_at(start).starts_with(line))
    }

    fn lines(&self) -> &[u8] {
        &self.lines
    }
}

/// The place of a hash in a filter, and its bit there.
fn filter_bit(filter: &[u64], hash: u64) -> (usize, u64) {
    ((hash >> 6) as usize & (filter.len() - 1), 1 << (hash & 63))
}

/// FNV-1a, with its better mixed upper half folded into the lower one.
fn hash(word: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = word.iter().fold(0xcbf2_9ce4_8422_2325, step);
    hash ^ hash >> 32
}

/// Shows the word lists of these conversations, of those that have one.
pub fn each_word_list(
    tx: &mut Tx<'_>,
    nums: &[i64],
    mut see: impl FnMut(i64, &dyn WordList),
) -> Result<()> {
    let Some(cache) = tx.cache::<WordListCache>() else {
        // Read in the database's buffer, without a copy.
        for num in nums {
            tx.each("SELECT words FROM conversation_index WHERE num = ?1", &[num], |row| {
                see(*num, &WordLines(row.take_bytes()?));
                Ok(())
            })?;
        }
        return Ok(());
    };
    for (num, list) in cache.read(tx, nums)? {
        see(num, &list.words);
    }
    Ok(())
}

/// Lists of PostgreSQL that were read before. Each is used as long as its row is the one that it was read
/// from.
pub struct WordListCache(Mutex<RecentMap<i64, Arc<CachedWordList>>>);

struct CachedWordList {
    version: String,
    words: CachedWords,
}

impl Default for WordListCache {
    fn default() -> WordListCache {
        WordListCache(Mutex::new(RecentMap::new(CACHED_BYTES)))
    }
}

impl WordListCache {
    /// The lists of these conversations, as far as they have one.
    fn read(&self, tx: &mut Tx<'_>, nums: &[i64]) -> Result<HashMap<i64, Arc<CachedWordList>>> {
        // A row is named by the transaction that wrote it and its place, both new with each change.
        let versions: Vec<(i64, String)> = tx.all(
            &format!(
                "SELECT num, CAST(xmin AS TEXT) || CAST(ctid AS TEXT)
                 FROM conversation_index WHERE num IN ({})",
                marks(nums)
            ),
            &arguments(nums),
        )?;
        let mut lists = HashMap::with_capacity(versions.len());
        let mut missing = HashMap::new();
        {
            let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            for (num, version) in versions {
                match cached.get(&num) {
                    Some(list) if list.version == version => drop(lists.insert(num, list)),
                    _ => drop(missing.insert(num, version)),
                }
            }
        }
        if missing.is_empty() {
            return Ok(lists);
        }
        let nums: Vec<i64> = missing.keys().copied().collect();
        let sql =
            format!("SELECT num, words FROM conversation_index WHERE num IN ({})", marks(&nums));
        let mut read: Vec<(i64, CachedWords)> = Vec::with_capacity(nums.len());
        tx.each(&sql, &arguments(&nums), |row| {
            read.push((row.take()?, CachedWords::new(row.take_bytes()?)));
            Ok(())
        })?;
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (num, words) in read {
            let Some(version) = missing.remove(&num) else { continue };
            let weight = words.weight() + version.len();
            let list = Arc::new(CachedWordList { version, words });
            lists.insert(num, list.clone());
            cached.insert(num, list, weight);
        }
        Ok(lists)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_list_have_the_same_words() {
        let lines = "\nlamp\nbroken\nlampshade\n\u{1}ann\ngröße\na\n".as_bytes();
        let with_others = [b"~".as_slice(), lines].concat();
        for lines in [lines, &with_others, b"\n", b""] {
            let (plain, sorted) = (WordLines(lines), CachedWords::new(lines));
            for word in [
                "lamp", "lam", "lampsh", "broken", "b", "a", "an", "größ", "größe", "z", "\u{1}ann",
            ] {
                for is_prefix in [true, false] {
                    let pattern = WordPattern::new(word, is_prefix);
                    assert_eq!(plain.has(&pattern), sorted.has(&pattern), "{word} {is_prefix}");
                }
            }
        }
        let sorted = CachedWords::new(&with_others);
        assert!(sorted.has(&WordPattern::new("lampsh", true)));
        assert!(!sorted.has(&WordPattern::new("lampsh", false)));
        assert!(sorted.has(&WordPattern::new("größe", false)));
    }
}
