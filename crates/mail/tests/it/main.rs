//! What is made of whole mails: every fixture beside its expected value, every attack, and rules
//! that hold for any bytes.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod attacks;
mod fixtures;
mod headers;
mod hidden_words;
mod pages;
mod properties;
mod scam_rules;
mod scams;
mod signatures;
mod smtp;
mod text_parts;
mod threads;
mod trimming;
mod winmail;
