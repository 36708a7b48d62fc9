//! Files beside the database: blobs, uploads, what scans them.

pub mod blob_files;
pub mod blobs;
pub mod partial_uploads;
pub mod private_files;
pub mod scanner;
