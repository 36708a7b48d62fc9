//! The first page of a PDF as a picture, rendered by `pdftoppm` (poppler-utils) where it is
//! installed, in the sandbox.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::sync::Semaphore;

use super::child::{self, ChildFailure};

/// Pages that are drawn at one time.
const AT_ONCE: usize = 2;
/// A page that takes longer is not drawn.
const PATIENCE: Duration = Duration::from_secs(30);
/// The longest side of a page to read, and of one that becomes a preview, in pixels.
const SIDE: &str = "1000";
const SMALL_SIDE: &str = "480";
/// The largest picture, in bytes.
const PICTURE_BYTES: usize = 8 * 1024 * 1024;
/// Where the program may be.
const FOLDERS: &[&str] = &["/usr/bin", "/bin", "/usr/local/bin"];

/// Draws pages where the program for it is installed.
pub struct PageRenderer {
    /// This program, which enters the sandbox and executes the renderer.
    this: PathBuf,
    pdftoppm: Option<PathBuf>,
    places: Semaphore,
}

impl PageRenderer {
    /// The program that is started for each page.
    pub fn with_program(this: PathBuf) -> PageRenderer {
        let programs = FOLDERS.iter().map(|folder| Path::new(folder).join("pdftoppm"));
        let pdftoppm = programs.into_iter().find(|program| program.exists());
        PageRenderer { this, pdftoppm, places: Semaphore::new(AT_ONCE) }
    }

    pub fn can_draw(&self) -> bool {
        self.pdftoppm.is_some()
    }

    /// This program, which is started for each file.
    pub fn program(&self) -> &Path {
        &self.this
    }

    /// The first page as a PNG; `None` when it cannot be drawn.
    pub async fn first_page(&self, pdf: Vec<u8>) -> Option<Vec<u8>> {
        self.draw(pdf, SIDE).await.ok()
    }

    /// The same, small; or why it cannot be drawn.
    pub(crate) async fn small_first_page(&self, pdf: Vec<u8>) -> Result<Vec<u8>, ChildFailure> {
        self.draw(pdf, SMALL_SIDE).await
    }

    async fn draw(&self, pdf: Vec<u8>, side: &str) -> Result<Vec<u8>, ChildFailure> {
        let Some(program) = &self.pdftoppm else { return Err(ChildFailure::NotStarted) };
        let program = program.to_string_lossy();
        let Ok(_place) = self.places.acquire().await else { return Err(ChildFailure::NotStarted) };
        let drawn = ["-q", "-png", "-f", "1", "-l", "1", "-scale-to", side, "-"];
        let args: Vec<&str> = ["draw", &program].into_iter().chain(drawn).collect();
        let picture = child::ask(&self.this, &args, &[], pdf, PATIENCE).await?;
        let is_png = picture.starts_with(b"\x89PNG");
        if is_png && picture.len() <= PICTURE_BYTES { Ok(picture) } else { Err(ChildFailure::Died) }
    }
}
