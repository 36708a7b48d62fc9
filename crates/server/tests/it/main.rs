//! Every rule of the API, through the REST door, and of the web app, on both databases.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod app_mail;
mod assign;
mod cursor;
mod documents;
mod doors;
mod drafts;
mod events;
mod held;
mod list;
mod mailboxes;
mod notes;
mod parity;
mod people;
mod read;
mod receive;
mod replies;
mod requests;
mod sandbox;
mod search;
mod search_model;
mod snooze;
mod status;
mod support;
mod tags;
mod threading;
mod web;
