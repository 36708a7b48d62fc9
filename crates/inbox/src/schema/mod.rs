//! The schema, as steps that only move forward.
//!
//! Every table's primary key starts with the workspace's number: isolation, locality, and the key
//! to split by on the day one PostgreSQL is not enough. `circle` says who may see a row: `team`,
//! `sandbox`, or the id of the one person whose private inbox it belongs to.

use db::Migration;

pub const MIGRATIONS: &[Migration] = &[
    Migration {
        version: 1,
        name: "the ground floor",
        both: include_str!("001.sql"),
        sqlite: include_str!("001.sqlite.sql"),
        postgres: include_str!("001.postgres.sql"),
    },
    Migration {
        version: 2,
        name: "due work",
        both: include_str!("002.sql"),
        sqlite: include_str!("002.sqlite.sql"),
        postgres: include_str!("002.postgres.sql"),
    },
    Migration {
        version: 3,
        name: "people at their desks",
        both: include_str!("003.sql"),
        sqlite: "",
        postgres: "",
    },
    Migration {
        version: 4,
        name: "uploads and reminders",
        both: include_str!("004_uploads.sql"),
        sqlite: "",
        postgres: "",
    },
    Migration {
        version: 5,
        name: "reading documents",
        both: include_str!("005_reading.sql"),
        sqlite: "",
        postgres: "",
    },
];
