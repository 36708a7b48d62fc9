//! The web app in a real Chromium, as the people who work in it use it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod answering;
mod approving;
mod booking;
mod connecting;
mod dates;
mod drafting;
mod everyday;
mod hostile;
mod keyboard;
mod morning;
mod morning_alone;
mod notifications;
mod oauth;
mod offline;
mod passkeys;
mod plain;
mod protecting;
mod reading;
mod rich_text;
mod right_to_left;
mod rules;
mod send_later;
mod sorting;
mod support;
mod uploading;
mod webhook;
mod writing;
