//! The web app in a real Chromium, as the people who work in it use it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod answering;
mod approving;
mod connecting;
mod customers;
mod dates;
mod drafting;
mod everyday;
mod hostile;
mod keyboard;
mod morning;
mod notifications;
mod oauth;
mod offline;
mod passkeys;
mod plain;
mod reading;
mod rich_text;
mod rules;
mod send_later;
mod sorting;
mod support;
mod webhook;
mod writing;
