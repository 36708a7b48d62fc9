//! Columns that are unique beyond their workspace, and what they become where a workspace is put beside the one that
//! it is a copy of. A test holds that every unique index that does not begin with the workspace is named here.

/// What a unique value becomes in a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CopiedValue {
    /// Nothing: the link leads to the original alone.
    Null,
    /// A value that nobody knows, where there has to be one.
    Unknown,
    /// The row is left out, with those of the other tables named.
    LeftOut,
    /// The next free number.
    Number,
    /// Made for the copy: see `workspace_load`.
    Made,
}

/// The table, the column, and what becomes of it.
pub(crate) const UNIQUE_COLUMNS: &[(&str, &str, CopiedValue)] = &[
    ("agents", "key_hash", CopiedValue::Unknown),
    ("approval_links", "token_hash", CopiedValue::Unknown),
    ("booking_offers", "token_hash", CopiedValue::Unknown),
    ("bookings", "token_hash", CopiedValue::Unknown),
    ("contact_forms", "slug", CopiedValue::Made),
    ("conversations", "num", CopiedValue::Number),
    ("document_requests", "token_hash", CopiedValue::Null),
    ("documents", "num", CopiedValue::Number),
    ("help_sites", "path", CopiedValue::LeftOut),
    ("hosts", "feed_hash", CopiedValue::Null),
    ("mailboxes", "address", CopiedValue::Made),
    ("passkeys", "credential", CopiedValue::LeftOut),
    ("provider_accounts", "subject", CopiedValue::LeftOut),
    ("ratings", "token_hash", CopiedValue::Unknown),
    ("secure_links", "token_hash", CopiedValue::Unknown),
    ("services", "token", CopiedValue::LeftOut),
    ("tracker_webhooks", "token", CopiedValue::LeftOut),
    ("webhooks", "id", CopiedValue::LeftOut),
    ("workspaces", "id", CopiedValue::Made),
    ("workspaces", "slug", CopiedValue::Made),
];

/// What a copy leaves out beside: what hangs on such rows, and the app that is asked about customers.
pub(crate) const OF_LEFT_OUT: &[&str] = &["customer_panels", "deliveries", "delivery_attempts"];

/// True for the tables of which a copy has nothing.
pub(crate) fn is_left_out(table: &str) -> bool {
    let is_unique = |(name, _, becomes): &(&str, &str, CopiedValue)| {
        *name == table && *becomes == CopiedValue::LeftOut
    };
    OF_LEFT_OUT.contains(&table) || UNIQUE_COLUMNS.iter().any(is_unique)
}

/// The unique columns by table and name, for the test of the schema.
pub fn unique_columns() -> Vec<(&'static str, &'static str)> {
    UNIQUE_COLUMNS.iter().map(|(table, column, _)| (*table, *column)).collect()
}
