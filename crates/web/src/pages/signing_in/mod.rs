//! The first run, signing in and out, and letting apps in.

pub mod consent;
pub mod first_run;
pub mod passkeys;
pub mod provider;
pub mod second_step;
pub mod sign_in;
pub mod sign_out;
