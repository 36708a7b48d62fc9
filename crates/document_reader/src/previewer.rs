//! Small previews of pictures and of the first page of PDFs, scaled copies of pictures, and logos. Files are
//! decoded in the sandbox.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::child::{self, ChildFailure, READER_TIME};
use super::page_renderer::PageRenderer;

/// Previews, and scaled copies, that are made at one time; each takes a core.
const AT_ONCE: usize = 2;
/// How long a picture waits for its turn to be scaled, and how long scaling may take by the clock. A reader waits
/// for it, who is shown the original otherwise.
const SCALING_WAIT: Duration = Duration::from_secs(3);
const SCALING_TIME: Duration = Duration::from_secs(20);
/// Bytes of a preview.
pub const PREVIEW_BYTES: usize = extraction::PREVIEW_BYTES;
/// Bytes of a scaled copy; what has no more needs none.
pub const SCALED_BYTES: usize = extraction::SCALED_BYTES;

const PNG: &[u8] = b"\x89PNG";
/// How the files begin that a scaled copy can be: JPEG and PNG.
const PICTURES: [&[u8]; 2] = [b"\xff\xd8\xff", PNG];

pub struct Previewer {
    page_renderer: Arc<PageRenderer>,
    preview_slots: Semaphore,
    scaling_slots: Semaphore,
}

/// The outcome for one file.
#[derive(Debug, PartialEq, Eq)]
pub enum PreviewOutcome {
    /// A JPEG; a scaled copy may be a PNG.
    Made(Vec<u8>),
    /// The file cannot be decoded.
    Failed,
    /// None was made for want of a program or of time, which says nothing of the file.
    Unavailable,
}

impl Previewer {
    pub fn new(page_renderer: Arc<PageRenderer>) -> Previewer {
        let (preview_slots, scaling_slots) = (Semaphore::new(AT_ONCE), Semaphore::new(AT_ONCE));
        Previewer { page_renderer, preview_slots, scaling_slots }
    }

    /// Makes the preview of a picture or a PDF. `read` gets the bytes once there is a slot, so that
    /// waiting holds no file in memory.
    pub async fn preview<E>(
        &self,
        content_type: &str,
        read: impl Future<Output = Result<Vec<u8>, E>>,
    ) -> Result<PreviewOutcome, E> {
        let Ok(_slot) = self.preview_slots.acquire().await else {
            return Ok(PreviewOutcome::Unavailable);
        };
        let is_pdf = content_type == "application/pdf";
        if is_pdf && !self.page_renderer.can_draw() {
            return Ok(PreviewOutcome::Unavailable);
        }
        let bytes = read.await?;
        let picture = match is_pdf {
            true => self.page_renderer.small_first_page(bytes).await,
            false => Ok(bytes),
        };
        let picture = match picture {
            Ok(picture) => picture,
            Err(failure) => return Ok(PreviewOutcome::of_failure(failure)),
        };
        let program = self.page_renderer.program();
        let made = child::ask(program, &["preview"], &[], picture, READER_TIME).await;
        // The child is not trusted: only what is small and begins as a JPEG is kept.
        Ok(match made {
            Ok(made) if made.starts_with(b"\xff\xd8\xff") && made.len() <= PREVIEW_BYTES => {
                PreviewOutcome::Made(made)
            }
            Ok(_) => PreviewOutcome::Failed,
            Err(failure) => PreviewOutcome::of_failure(failure),
        })
    }

    /// Makes the scaled copy of a picture, whose bytes `read` gets once there is a slot. Waits for none for long.
    pub async fn scale<E>(
        &self,
        read: impl Future<Output = Result<Vec<u8>, E>>,
    ) -> Result<PreviewOutcome, E> {
        let Some(_slot) = slot_within(&self.scaling_slots, SCALING_WAIT).await else {
            return Ok(PreviewOutcome::Unavailable);
        };
        let picture = read.await?;
        let program = self.page_renderer.program();
        let made = child::ask(program, &["scale"], &[], picture, SCALING_TIME).await;
        let begins_well = |copy: &[u8]| PICTURES.iter().any(|start| copy.starts_with(start));
        Ok(match made {
            Ok(copy) if begins_well(&copy) && copy.len() <= SCALED_BYTES => {
                PreviewOutcome::Made(copy)
            }
            Ok(_) => PreviewOutcome::Failed,
            Err(failure) => PreviewOutcome::of_failure(failure),
        })
    }

    /// Makes a PNG of a JPEG that somebody chose as a logo.
    pub async fn logo(&self, jpeg: Vec<u8>) -> PreviewOutcome {
        let Some(_slot) = slot_within(&self.scaling_slots, SCALING_WAIT).await else {
            return PreviewOutcome::Unavailable;
        };
        let program = self.page_renderer.program();
        match child::ask(program, &["logo"], &[], jpeg, SCALING_TIME).await {
            Ok(png) if png.starts_with(PNG) && png.len() <= extraction::LOGO_PNG_BYTES => {
                PreviewOutcome::Made(png)
            }
            Ok(_) => PreviewOutcome::Failed,
            Err(failure) => PreviewOutcome::of_failure(failure),
        }
    }
}

impl PreviewOutcome {
    fn of_failure(failure: ChildFailure) -> PreviewOutcome {
        match failure {
            ChildFailure::Died => PreviewOutcome::Failed,
            // Of a machine that is busy or short of something; the limits of the processor end a child that a file
            // keeps busy.
            ChildFailure::NotStarted | ChildFailure::TookTooLong => PreviewOutcome::Unavailable,
        }
    }
}

/// A slot, if there is one in time.
async fn slot_within(slots: &Semaphore, wait: Duration) -> Option<SemaphorePermit<'_>> {
    timeout(wait, slots.acquire()).await.ok()?.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_ends_the_child_counts_against_the_file() {
        for (failure, outcome) in [
            (ChildFailure::Died, PreviewOutcome::Failed),
            (ChildFailure::NotStarted, PreviewOutcome::Unavailable),
            (ChildFailure::TookTooLong, PreviewOutcome::Unavailable),
        ] {
            assert_eq!(PreviewOutcome::of_failure(failure), outcome, "{failure:?}");
        }
    }

    #[tokio::test]
    async fn a_child_that_does_not_start_says_nothing_of_the_file() {
        let renderer = PageRenderer::with_program("/nonexistent".into());
        let previewer = Previewer::new(Arc::new(renderer));
        let read = || async { Ok::<_, ()>(b"\x89PNG".to_vec()) };
        assert_eq!(previewer.scale(read()).await, Ok(PreviewOutcome::Unavailable));
        let preview = previewer.preview("image/png", read()).await;
        assert_eq!(preview, Ok(PreviewOutcome::Unavailable));
    }

    #[tokio::test]
    async fn a_picture_does_not_wait_for_a_slot_for_long() {
        let slots = Semaphore::new(1);
        let taken = slot_within(&slots, Duration::ZERO).await;
        assert!(taken.is_some());
        assert!(slot_within(&slots, Duration::ZERO).await.is_none());
        drop(taken);
        assert!(slot_within(&slots, Duration::ZERO).await.is_some());
    }
}
