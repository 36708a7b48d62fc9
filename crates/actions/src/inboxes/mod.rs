//! Inboxes and the mailboxes behind them.

pub mod connect_mailbox;
pub mod contact_forms;
pub mod drafting;
pub mod first_run;
pub mod first_steps;
pub mod imap_accounts;
pub mod inbox_access;
pub mod mailbox_sign_in;
pub mod office_hours;
pub mod outgoing_servers;
pub mod satisfaction;
pub mod setup;
pub mod writing_settings;
