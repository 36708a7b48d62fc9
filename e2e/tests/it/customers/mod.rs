//! What customers do on their pages.

mod booking;
mod protecting;
mod right_to_left;
mod uploading;
