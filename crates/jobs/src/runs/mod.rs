//! How jobs are claimed, run, repeated and given up.

pub(crate) mod concurrency;
pub(crate) mod counters;
pub(crate) mod failures;
pub(crate) mod fair_share;
pub(crate) mod job_rows;
pub(crate) mod lease;
pub(crate) mod quiet;
pub(crate) mod runtime;
pub(crate) mod worker;
