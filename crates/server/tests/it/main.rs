//! Every rule of the API, through the REST and MCP doors, and of the web app, on both databases.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod app_mail;
mod assign;
mod authentication;
mod correcting;
mod courier;
mod cursor;
mod documents;
mod doors;
mod drafts;
mod due;
mod event_list;
mod events;
mod failing_jobs;
mod held;
mod imap;
mod intake;
mod list;
mod mail_out;
mod mailboxes;
mod mcp;
mod notes;
mod notices;
mod originals;
mod parity;
mod people;
mod read;
mod reading;
mod receive;
mod replies;
mod requests;
mod sandbox;
mod search;
mod search_model;
mod services;
mod smtp;
mod snooze;
mod status;
mod stop;
mod support;
mod tags;
mod threading;
mod uploads;
mod web;
mod webhooks;
