//! The rows of the word index and their numbers on SQLite.
//!
//! A row's number leads from a posting to its conversation without a look-up, and the rows of a
//! conversation stand side by side: 44 bits for the conversation, then one that says that it is not a
//! mail, one that says that the number is spread, and 18 for the place within the conversation. FTS5 keeps
//! the numbers of deleted rows in hash tables: on the page that is the number modulo their count, 1, 3, 7 and
//! so on, at the slot that is the quotient modulo the slots of a page, a power of two as long as there is one
//! page. So each conversation begins at another place: if all began at 0, the deleted rows of all
//! conversations would fall on the same few slots, and every look would walk all of them.

use base::ids::ConversationId;

/// Bits of a row's number that hold its place in its conversation.
pub(crate) const SERIAL_BITS: u32 = 20;
/// Every serial is below this.
pub const SERIALS: i64 = 1 << SERIAL_BITS;
/// The serials of notes, documents and tags follow those of the mails of a conversation.
pub const FIRST_ENTRY: i64 = 1 << (SERIAL_BITS - 1);
/// Set in the numbers of rows that begin at a place of their conversation's own.
const SPREAD: i64 = 1 << (SERIAL_BITS - 2);
/// The places at which a conversation may begin; more than the slots of a page of the hash table.
const STARTS: i64 = 1 << 12;
/// Mails of one conversation that search knows, and as many notes, documents and tags.
pub const ROWS_OF_CONVERSATION: i64 = SPREAD - STARTS;

/// A row of the index: a conversation, and the number of a message, note or document within it.
#[derive(Clone, Copy)]
pub struct IndexRowKey<'a> {
    pub num: i64,
    pub conversation: &'a ConversationId,
    pub serial: i64,
}

impl IndexRowKey<'_> {
    /// False for what comes after so many others that it has no number.
    pub(crate) fn has_rowid(self) -> bool {
        self.serial & (FIRST_ENTRY - 1) < ROWS_OF_CONVERSATION
    }

    pub(crate) fn rowid(self) -> i64 {
        rowid(self.num, self.serial)
    }

    /// The number that the row had before numbers were spread.
    pub(crate) fn former_rowid(self) -> i64 {
        self.num << SERIAL_BITS | self.serial
    }
}

/// The number of a row, also of the one behind the last mail and behind the last row of all.
pub(crate) fn rowid(num: i64, serial: i64) -> i64 {
    if serial >= SERIALS {
        return (num + 1) << SERIAL_BITS;
    }
    let (kind, place) = (serial & FIRST_ENTRY, serial & (FIRST_ENTRY - 1));
    num << SERIAL_BITS | kind | SPREAD | (start(num) + place.min(ROWS_OF_CONVERSATION))
}

/// The serial of a row.
pub(crate) fn serial(num: i64, rowid: i64) -> i64 {
    let low = rowid & (SERIALS - 1);
    match low & SPREAD {
        0 => low,
        _ => low & FIRST_ENTRY | ((low & (SPREAD - 1)) - start(num)),
    }
}

/// The first and the last number that rows of a conversation may have.
pub(crate) fn rowids_of(num: i64) -> (i64, i64) {
    let first = num << SERIAL_BITS;
    (first, first | (SERIALS - 1))
}

/// Where the rows of a conversation begin, as if drawn by lot: the middle of a square, of 16 bits that
/// Fibonacci hashing gives. Without the square, neighbours or every ninth conversation would share few slots.
fn start(num: i64) -> i64 {
    let hash = (((num & 0xFF_FFFF) * 2_654_435_761) >> 16) & 0xFFFF;
    ((hash * hash) >> 8) & (STARTS - 1)
}

/// The number of the row of a message, as SQL of its conversation's number and its serial.
pub fn message_rowid_sql(num: &str, serial: &str) -> String {
    let hash = format!("(((({num} & 16777215) * 2654435761) >> 16) & 65535)");
    format!(
        "(({num} << {SERIAL_BITS}) | {SPREAD} | (((({hash} * {hash}) >> 8) & {}) + {serial}))",
        STARTS - 1
    )
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_number_tells_conversation_and_serial_and_keeps_their_order() {
        for num in [1, 2, 77, 4_096, 1 << 30, 1 << 40] {
            let mut last = num << SERIAL_BITS;
            let most = ROWS_OF_CONVERSATION - 1;
            for serial in [0, 1, 5, most, FIRST_ENTRY, FIRST_ENTRY + 1, FIRST_ENTRY + most] {
                let rowid = rowid(num, serial);
                assert_eq!((rowid >> SERIAL_BITS, super::serial(num, rowid)), (num, serial));
                assert!(rowid > last && rowid <= rowids_of(num).1);
                last = rowid;
            }
            let behind = [FIRST_ENTRY - 1, FIRST_ENTRY, SERIALS - 1, SERIALS];
            assert!(behind.map(|serial| rowid(num, serial)).is_sorted());
            assert_eq!(rowid(num, SERIALS) - 1, rowids_of(num).1);
        }
    }

    #[test]
    fn a_number_of_before_is_its_serial() {
        for former in [0, 3, 9_000, FIRST_ENTRY + 2] {
            assert_eq!(serial(7, 7 << SERIAL_BITS | former), former);
        }
    }

    /// The tables that FTS5 makes: their pages, and the slots of each.
    const TABLES: [(i64, i64); 7] =
        [(1, 32), (1, 64), (1, 128), (1, 256), (3, 505), (7, 505), (15, 505)];

    /// By lot, 63 of 100 slots are used.
    #[test]
    fn the_same_serial_of_many_conversations_falls_on_many_slots() {
        for (pages, slots) in TABLES {
            for step in 1..=20 {
                let rows = (0..pages * slots).map(|place| rowid(100 + step * place, 1));
                let used: HashSet<(i64, i64)> =
                    rows.map(|row| (row % pages, row / pages % slots)).collect();
                let (used, all) = (used.len() as i64, pages * slots);
                assert!(2 * used > all, "{used} of {all}, every {step}th conversation");
            }
        }
    }
}
