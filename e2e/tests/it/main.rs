//! The web app in a real Chromium, as the people who work in it use it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod answering;
mod approving;
mod axe;
mod everyday;
mod hostile;
mod house;
mod keyboard;
mod plain;
mod uploading;
mod webhook;
mod window;
mod writing;
