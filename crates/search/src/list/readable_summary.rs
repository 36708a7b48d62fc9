//! A row of a list that cannot be read is left out, so that it does not hide the others.

use db::{FromRow, Row, StoreError};

use super::ConversationSummary;

/// A conversation of a list; `None` where its row cannot be read, which the log says.
pub(super) struct ReadableSummary(pub(super) Option<ConversationSummary>);

impl FromRow for ReadableSummary {
    fn from_row(row: &mut Row<'_>) -> Result<ReadableSummary, StoreError> {
        let mut beginning = row.rewound();
        match ConversationSummary::from_row(row) {
            Ok(summary) => Ok(ReadableSummary(Some(summary))),
            Err(error @ (StoreError::Column { .. } | StoreError::Field { .. })) => {
                let (_, conversation): (i64, String) = FromRow::from_row(&mut beginning)?;
                tracing::error!(conversation, %error, "a list leaves out an unreadable conversation");
                Ok(ReadableSummary(None))
            }
            Err(error) => Err(error),
        }
    }
}
