//! The segments of SQLite's word indexes, which every search reads, and putting them together a little at a
//! time.

use base::error::Result;
use db::Tx;

/// The indexes that have segments.
const INDEXES: [&str; 2] = ["message_index", "document_index"];
/// Pages merged at once: this blocks other writers for a millisecond or two.
const PAGES_AT_ONCE: i64 = 64;
/// SQLite reports at least this many changes when segments were merged.
const CHANGED: i64 = 2;
/// All segments are put together when those beside the largest hold such a part of its pages: a word is written
/// again once for every eighth that its index grows.
const SCATTERED_PART: u64 = 8;
/// An index of so few pages is put together whenever there is anything to put together: that takes a second.
const SMALL_PAGES: u64 = 2_048;
/// The row that says which segments there are.
const STRUCTURE: i64 = 10;

/// Merges a little of the indexes: what was begun, levels of two segments, and those of which a tenth of the
/// rows was deleted. False when nothing is left to do.
pub fn merge_some(tx: &mut Tx<'_>) -> Result<bool> {
    let mut is_done = true;
    for index in INDEXES {
        is_done &= !merge(tx, index, PAGES_AT_ONCE)?;
    }
    Ok(!is_done)
}

/// Has all segments of an index that lies scattered merged into one by the steps that follow; false where
/// none does. Each mail may scatter a small index again, so a while has to pass until this is done again.
pub fn merge_scattered(tx: &mut Tx<'_>) -> Result<bool> {
    let mut is_done = true;
    for index in INDEXES {
        if is_scattered(&segments(tx, index)?) {
            is_done &= !merge(tx, index, -PAGES_AT_ONCE)?;
        }
    }
    Ok(!is_done)
}

/// Has all segments of the indexes merged into one by the steps that follow, so that they keep nothing of rows
/// that were taken out.
pub fn begin_merging(tx: &mut Tx<'_>) -> Result<()> {
    INDEXES.iter().try_for_each(|index| merge(tx, index, -PAGES_AT_ONCE).map(drop))
}

/// Merges so many pages; fewer than none begin with all segments. True when there was something to merge.
fn merge(tx: &mut Tx<'_>, index: &str, pages: i64) -> Result<bool> {
    let before = changes(tx)?;
    tx.exec(&format!("INSERT INTO {index} ({index}, rank) VALUES ('merge', ?1)"), &[&pages])?;
    Ok(changes(tx)? - before >= CHANGED)
}

fn changes(tx: &mut Tx<'_>) -> Result<i64> {
    let (changes,): (i64,) = tx.one("SELECT total_changes()", &[])?;
    Ok(changes)
}

/// A part of an index.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Segment {
    pages: u64,
    /// Rows that were deleted and still stand in it.
    deleted: u64,
}

fn segments(tx: &mut Tx<'_>, index: &str) -> Result<Vec<Segment>> {
    let record: Option<(Vec<u8>,)> =
        tx.opt(&format!("SELECT block FROM {index}_data WHERE id = ?1"), &[&STRUCTURE])?;
    // A record that cannot be read is left to FTS5, which says so.
    Ok(record.and_then(|(record,)| read_structure(&record)).unwrap_or_default())
}

fn is_scattered(segments: &[Segment]) -> bool {
    let pages = segments.iter().map(|segment| segment.pages);
    let (all, largest) = (pages.clone().sum::<u64>(), pages.max().unwrap_or_default());
    if all <= SMALL_PAGES {
        return segments.len() > 1 || segments.iter().any(|segment| segment.deleted > 0);
    }
    (all - largest) * SCATTERED_PART >= largest
}

/// The segments, of a record as indexes write it whose rows can be deleted without their content.
fn read_structure(record: &[u8]) -> Option<Vec<Segment>> {
    const WITH_DELETED_ROWS: [u8; 4] = [0xFF, 0, 0, 1];
    // Behind a cookie of four bytes stands which form it is.
    let mut rest = record.get(4..)?.strip_prefix(&WITH_DELETED_ROWS)?;
    let levels = varint(&mut rest)?;
    let (_segments, _writes) = (varint(&mut rest)?, varint(&mut rest)?);
    let mut segments = Vec::new();
    for _ in 0..levels {
        let (_merging, count) = (varint(&mut rest)?, varint(&mut rest)?);
        for _ in 0..count {
            let (_id, first, last) = (varint(&mut rest)?, varint(&mut rest)?, varint(&mut rest)?);
            // The first and the last origin, and the pages that say which rows were deleted.
            for _ in 0..3 {
                varint(&mut rest)?;
            }
            let (deleted, _rows) = (varint(&mut rest)?, varint(&mut rest)?);
            segments.push(Segment { pages: last.checked_sub(first)? + 1, deleted });
        }
    }
    Some(segments)
}

/// A number as SQLite writes it: seven bits a byte, the highest first, and eight in a ninth.
fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for place in 0..9 {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        if place == 8 {
            return Some(number << 8 | u64::from(*byte));
        }
        number = number << 7 | u64::from(byte & 0x7F);
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_tells_the_pages_of_each_segment() {
        let mut record = vec![0, 0, 0, 1, 0xFF, 0, 0, 1];
        // Two levels, three segments, a count of writes of two bytes.
        record.extend([2, 3, 0x81, 0x00]);
        record.extend([0, 2]);
        record.extend([7, 1, 3, 0, 4, 0, 0, 9]);
        record.extend([8, 1, 1, 5, 5, 1, 2, 9]);
        record.extend([0, 1]);
        record.extend([3, 2, 0x82, 0x00, 1, 9, 0, 0, 50]);
        let found = read_structure(&record).unwrap();
        let found: Vec<_> = found.iter().map(|one| (one.pages, one.deleted)).collect();
        assert_eq!(found, [(3, 0), (1, 2), (255, 0)]);
        assert_eq!(read_structure(&record[..record.len() - 1]), None);
        assert_eq!(read_structure(b""), None);
    }

    #[test]
    fn a_small_index_is_one_segment_and_of_a_large_one_the_small_ones_hold_less_than_an_eighth() {
        let is_scattered = |pages: &[u64], deleted| {
            let segments = pages.iter().map(|pages| Segment { pages: *pages, deleted });
            is_scattered(&segments.collect::<Vec<_>>())
        };
        assert!(!is_scattered(&[], 0));
        assert!(!is_scattered(&[5], 0));
        assert!(is_scattered(&[5], 1));
        assert!(is_scattered(&[5, 1], 0));
        assert!(!is_scattered(&[100_000], 900));
        assert!(!is_scattered(&[100_000, 7_000, 4_000], 0));
        assert!(is_scattered(&[100_000, 9_000, 4_000], 0));
    }

    #[test]
    fn a_number_has_one_to_nine_bytes() {
        for (bytes, number) in
            [(vec![0x7F], 127), (vec![0x81, 0x00], 128), (vec![0xFF; 9], u64::MAX)]
        {
            let mut rest = bytes.as_slice();
            assert_eq!((varint(&mut rest), rest), (Some(number), &[][..]));
        }
    }
}
