//! Workspaces that are no ordinary ones: with made-up mail, or at rest.

pub mod resting;
pub mod samples;
