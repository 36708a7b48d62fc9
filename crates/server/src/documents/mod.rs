//! The bodies of the port `inbox::jobs::DocumentReader`.
//!
//! A document is opened in a process of its own that can do nothing but compute: `cage.rs` takes
//! everything else away from it (`seccomp.rs` the system calls, `file_access.rs` the files),
//! `inside.rs` is what runs in there, `child.rs` starts it and gives it so much time. Scans and photos come out of that process as shades of gray; `ocr.rs` shows
//! them to tesseract, another such process, and the words go back into a cage to be understood.
//! `pages.rs` has pdftoppm draw pages in the same way. `model.rs` asks a language model about the text and believes nothing that is not in it.

mod built_in;
mod child;
pub mod clamd;
mod file_access;
mod isolation;
mod model;
mod ocr;
mod page_renderer;
mod parser;
mod seccomp;

pub use built_in::{BuiltInReader, FileReading};
pub use child::ALLOCATOR_RESERVES;
pub use isolation::hide_memory;
pub use model::{Endpoint, ModelReader};
pub use page_renderer::PageRenderer;
pub use parser::ParserTask;

use std::sync::Arc;

use inbox::jobs::DocumentReader;

use crate::settings::Settings;

/// The reader that the settings ask for.
pub fn of(settings: &Settings) -> Result<Arc<dyn DocumentReader>, String> {
    if !file_access::is_supported() {
        tracing::warn!(
            "the kernel has no Landlock: programs that read documents can read every file of this \
             user, though they can change none and reach no network"
        );
    }
    let built_in = BuiltInReader::of_this_program();
    match Endpoint::of(settings)? {
        Some(endpoint) => Ok(Arc::new(ModelReader::new(endpoint, built_in)?)),
        None => Ok(Arc::new(built_in)),
    }
}
