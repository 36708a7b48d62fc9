//! Document extraction: implementations of the port `jobs::DocumentReader`.
//!
//! Each file is parsed in a child process that can do nothing but compute: `isolation` takes
//! everything else away from it (`seccomp` the system calls, `file_access` the files), `parser`
//! runs inside it, `child` starts it and limits its time. Scanned pages leave that process as gray
//! images; `ocr` passes them to tesseract, which is isolated too, and another parser process reads
//! the words. `page_renderer` renders pages with pdftoppm in the same way; `previewer` makes
//! small previews and scaled copies of pictures, `document_texts` the texts of API answers. `language_model` queries
//! a language model and drops values that the text does not contain. `mail_trial` reads mails that ended a process
//! before, in such a process.

mod built_in;
mod child;
pub mod clamd;
mod document_texts;
mod file_access;
mod isolation;
mod language_model;
mod mail_trial;
mod ocr;
mod page_renderer;
mod parser;
mod previewer;
mod seccomp;

use std::sync::Arc;

use jobs::DocumentReader;

pub use built_in::{BuiltInReader, FileReading};
pub use child::{ALLOCATOR_RESERVES, this_program};
pub use document_texts::DocumentTexts;
pub use isolation::hide_memory;
pub use language_model::{Endpoint, ModelReader, ReaderEndpoint};
pub use mail_trial::SandboxedTrial;
pub use page_renderer::PageRenderer;
pub use parser::ParserTask;
pub use previewer::{PREVIEW_BYTES, PreviewOutcome, Previewer, SCALED_BYTES};

/// The built-in reader, with a language model beside it if an endpoint is configured.
pub fn open_reader(endpoint: Option<&ReaderEndpoint>) -> Result<Arc<dyn DocumentReader>, String> {
    if !file_access::is_supported() {
        tracing::warn!(
            "the kernel has no Landlock: programs that read documents can read every file of this \
             user, though they can change none and reach no network"
        );
    }
    let built_in = BuiltInReader::of_this_program();
    match endpoint {
        Some(endpoint) => Ok(Arc::new(ModelReader::new(Endpoint::read(endpoint)?, built_in)?)),
        None => Ok(Arc::new(built_in)),
    }
}
