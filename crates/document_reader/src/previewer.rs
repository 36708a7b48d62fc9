//! Small previews of pictures and of the first page of PDFs. Files are decoded in the sandbox.

use std::sync::Arc;

use tokio::sync::Semaphore;

use super::child::{self, READER_TIME};
use super::page_renderer::PageRenderer;

/// Previews that are made at one time; each takes a core.
const AT_ONCE: usize = 2;
/// Bytes of a preview.
pub const PREVIEW_BYTES: usize = extraction::PREVIEW_BYTES;

pub struct Previewer {
    page_renderer: Arc<PageRenderer>,
    slots: Semaphore,
}

/// The outcome for one file.
#[derive(Debug, PartialEq, Eq)]
pub enum PreviewOutcome {
    /// A JPEG.
    Made(Vec<u8>),
    /// The file cannot be decoded.
    Failed,
    /// This machine cannot make one: the program is missing.
    Unavailable,
}

impl Previewer {
    pub fn new(page_renderer: Arc<PageRenderer>) -> Previewer {
        Previewer { page_renderer, slots: Semaphore::new(AT_ONCE) }
    }

    /// Makes the preview of a picture or a PDF. `read` gets the bytes once there is a slot, so that
    /// waiting holds no file in memory.
    pub async fn preview<E>(
        &self,
        content_type: &str,
        read: impl Future<Output = Result<Vec<u8>, E>>,
    ) -> Result<PreviewOutcome, E> {
        let Ok(_slot) = self.slots.acquire().await else { return Ok(PreviewOutcome::Unavailable) };
        let is_pdf = content_type == "application/pdf";
        if is_pdf && !self.page_renderer.can_draw() {
            return Ok(PreviewOutcome::Unavailable);
        }
        let bytes = read.await?;
        let picture = match is_pdf {
            true => self.page_renderer.small_first_page(bytes).await,
            false => Some(bytes),
        };
        let Some(picture) = picture else { return Ok(PreviewOutcome::Failed) };
        let program = self.page_renderer.program();
        let made = child::ask(program, &["preview"], &[], picture, READER_TIME).await;
        // The child is not trusted: only what is small and begins as a JPEG is kept.
        Ok(match made {
            Ok(made) if made.starts_with(b"\xff\xd8\xff") && made.len() <= PREVIEW_BYTES => {
                PreviewOutcome::Made(made)
            }
            _ => PreviewOutcome::Failed,
        })
    }
}
