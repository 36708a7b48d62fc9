//! The rows of the word index and their numbers on SQLite.
//!
//! A row's number leads from a posting to its conversation without a look-up, and the rows of a
//! conversation stand side by side: 44 bits for the conversation, then one that says that it is not a
//! mail, one that says that the number is spread, and 18 for the place within the conversation. FTS5 keeps
//! the numbers of deleted rows in hash tables whose slot is the number modulo a size that is a power of two
//! as long as a table is small. So each conversation begins at another place: if all began at 0, the deleted
//! rows of all conversations would fall on the same few slots, and every look would walk all of them.

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
const START_FACTOR: i64 = 1_637;
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

/// The number of a row, also of the one behind the last of its kind.
pub(crate) fn rowid(num: i64, serial: i64) -> i64 {
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

/// Where the rows of a conversation begin. An odd factor: as many conversations in a row as a table has
/// slots begin at as many places, and neighbours are far apart.
fn start(num: i64) -> i64 {
    (num & (STARTS - 1)) * START_FACTOR & (STARTS - 1)
}

/// The number of the row of a message, as SQL of its conversation's number and its serial.
pub fn message_rowid_sql(num: &str, serial: &str) -> String {
    format!(
        "({num} << {SERIAL_BITS} | {SPREAD}
          | ((({num} & {most}) * {START_FACTOR} & {most}) + {serial}))",
        most = STARTS - 1
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
        }
    }

    #[test]
    fn a_number_of_before_is_its_serial() {
        for former in [0, 3, 9_000, FIRST_ENTRY + 2] {
            assert_eq!(serial(7, 7 << SERIAL_BITS | former), former);
        }
    }

    /// The sizes that FTS5 gives a table of one page.
    #[test]
    fn the_same_serial_of_many_conversations_falls_on_many_slots() {
        for slots in [32, 64, 128, 256, 512] {
            let used: HashSet<i64> = (100..100 + slots).map(|num| rowid(num, 1) % slots).collect();
            assert!(used.len() as i64 > slots / 2, "{} of {slots}", used.len());
        }
    }
}
