//! The schema, as steps that only move forward.
//!
//! Every table's primary key starts with the workspace's number: isolation, locality, and the key
//! to split by on the day one PostgreSQL is not enough. `circle` says who may see a row: `team`,
//! `sandbox`, or the id of the one person whose private inbox it belongs to.

use db::Migration;

pub const MIGRATIONS: &[Migration] = &[
    Migration {
        version: 1,
        name: "initial schema",
        both: include_str!("001.sql"),
        sqlite: include_str!("001.sqlite.sql"),
        postgres: include_str!("001.postgres.sql"),
    },
    Migration {
        version: 2,
        name: "background jobs and webhook deliveries",
        both: include_str!("002.sql"),
        sqlite: include_str!("002.sqlite.sql"),
        postgres: include_str!("002.postgres.sql"),
    },
    Migration {
        version: 3,
        name: "sessions and drafts",
        both: include_str!("003.sql"),
        sqlite: "",
        postgres: "",
    },
    Migration {
        version: 4,
        name: "mail secrets",
        both: include_str!("004_mail_secret.sql"),
        sqlite: "",
        postgres: "",
    },
    Migration {
        version: 5,
        name: "attachments, mentions and audit log",
        both: include_str!("005_app.sql"),
        sqlite: "",
        postgres: "",
    },
    Migration {
        version: 6,
        name: "document extraction",
        both: include_str!("006_reading.sql"),
        sqlite: "",
        postgres: "",
    },
    Migration {
        version: 7,
        name: "index maintenance",
        both: include_str!("007_upkeep.sql"),
        sqlite: include_str!("007_upkeep.sqlite.sql"),
        postgres: "",
    },
    Migration {
        version: 8,
        name: "outgoing mail",
        both: include_str!("008_mail_out.sql"),
        sqlite: "",
        postgres: "",
    },
    Migration {
        version: 9,
        name: "IMAP accounts",
        both: include_str!("009_fetching.sql"),
        sqlite: "",
        postgres: "",
    },
    Migration {
        version: 10,
        name: "app mail services",
        both: include_str!("010_services.sql"),
        sqlite: "",
        postgres: "",
    },
    Migration {
        version: 11,
        name: "uploads and reminders",
        both: include_str!("011_uploads.sql"),
        sqlite: "",
        postgres: "",
    },
    Migration {
        version: 12,
        name: "inboxes by domain",
        both: "",
        sqlite: include_str!("012_domains.sqlite.sql"),
        postgres: include_str!("012_domains.postgres.sql"),
    },
    Migration {
        version: 13,
        name: "quicker word indexes",
        both: "",
        sqlite: include_str!("013_words.sqlite.sql"),
        postgres: include_str!("013_words.postgres.sql"),
    },
    Migration {
        version: 14,
        name: "private inboxes open to their own person",
        both: include_str!("014_own_sign_in.sql"),
        sqlite: "",
        postgres: "",
    },
    Migration {
        version: 15,
        name: "the installation",
        both: include_str!("015_installation.sql"),
        sqlite: "",
        postgres: "",
    },
    Migration {
        version: 16,
        name: "the files that belong to a database",
        both: include_str!("016_node_files.sql"),
        sqlite: "",
        postgres: "",
    },
    Migration {
        version: 17,
        name: "failed jobs and correspondents",
        both: include_str!("017_job_failures.sql"),
        sqlite: include_str!("017_job_failures.sqlite.sql"),
        postgres: include_str!("017_job_failures.postgres.sql"),
    },
    Migration {
        version: 18,
        name: "plain names for tables and columns",
        both: include_str!("018_plain_names.sql"),
        sqlite: include_str!("018_plain_names.sqlite.sql"),
        postgres: "",
    },
    Migration {
        version: 19,
        name: "mail with HTML, and the drafts of a conversation",
        both: include_str!("019_html_and_drafts.sql"),
        sqlite: "",
        postgres: "",
    },
];
