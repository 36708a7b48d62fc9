//! The orders of a list: which index column sorts it, and from which end it is read.

use std::cmp::Ordering;

use super::ListPosition;
use super::sql::Sql;

/// How a list is sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListOrder {
    /// By the latest mail, the newest first.
    #[default]
    Newest,
    /// By the latest mail, the oldest first.
    Oldest,
    /// Only conversations whose customer waits for an answer, the one who waits longest first.
    LongestWaiting,
}

impl ListOrder {
    /// The column that it sorts by.
    pub(super) fn column(self) -> &'static str {
        match self {
            ListOrder::Newest | ListOrder::Oldest => "c.last_message_at",
            ListOrder::LongestWaiting => "c.waiting_since",
        }
    }

    /// The ORDER BY of a list.
    pub(super) fn by(self) -> String {
        let (column, way) = (self.column(), self.way());
        format!("{column} {way}, c.id {way}")
    }

    pub(super) fn way(self) -> &'static str {
        if self.is_descending() { "DESC" } else { "ASC" }
    }

    /// The condition for what comes after a position. An index without nulls is used only where the
    /// condition says that there are none.
    pub(super) fn after(self, sql: &mut Sql, place: &ListPosition) -> String {
        let (at, id) = (sql.int(place.at), sql.text(&place.id));
        match self {
            ListOrder::Newest => format!("(c.last_message_at, c.id) < ({at}, {id})"),
            ListOrder::Oldest => format!("(c.last_message_at, c.id) > ({at}, {id})"),
            ListOrder::LongestWaiting => {
                format!("c.waiting_since IS NOT NULL AND (c.waiting_since, c.id) > ({at}, {id})")
            }
        }
    }

    /// The position before the first conversation whose latest mail is between two times.
    pub(super) fn start(self, since: Option<i64>, until: Option<i64>) -> ListPosition {
        let at = match self {
            ListOrder::Newest => until.map_or(i64::MAX, |until| until.saturating_add(1)),
            ListOrder::Oldest => since.unwrap_or(i64::MIN),
            ListOrder::LongestWaiting => i64::MIN,
        };
        ListPosition { at, id: String::new() }
    }

    pub(super) fn compare(self, one: (i64, &str), other: (i64, &str)) -> Ordering {
        match self.is_descending() {
            true => other.cmp(&one),
            false => one.cmp(&other),
        }
    }

    fn is_descending(self) -> bool {
        self == ListOrder::Newest
    }
}
