//! Work that falls due, and the ports through which it leaves the house.

mod courier;

pub use courier::{Answer, Call, Courier, Posting};
