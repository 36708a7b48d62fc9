//! Signing in.

mod first_run;
mod openid;
mod own_sign_in;
mod sign_in;
mod steps;
