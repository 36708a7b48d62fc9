mod place;
pub use place::{Networks, Place};
