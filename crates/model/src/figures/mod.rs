//! Counters, and the facts that reports are made of.

pub mod counted_mail;
pub mod counters;
pub mod counting_turns;
pub mod report_facts;
pub mod report_histogram;
