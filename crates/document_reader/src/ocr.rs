//! OCR of pictures and scanned pages with tesseract, where it is installed.

use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::Instant;

use super::child::{self, ChildFailure};

/// Time for all pictures of one document, by the clock; each is limited in time of the processor.
const LOOKING_TIME: Duration = Duration::from_secs(120);
/// The timeout for listing tesseract's languages.
const LISTING_TIME: Duration = Duration::from_secs(60);
/// The OCR languages that are used if installed; each one costs time.
const LANGUAGES: &[&str] = &["eng", "deu", "fra", "spa", "ita", "nld"];

/// Tesseract and its installed languages.
#[derive(Clone, Debug)]
pub struct Tesseract {
    program: PathBuf,
    languages: String,
}

impl Tesseract {
    /// Finds tesseract on the path, once.
    pub async fn open(this: &Path) -> Option<Tesseract> {
        let folders = env::var_os("PATH")?;
        let program = env::split_paths(&folders)
            .map(|folder| folder.join("tesseract"))
            .find(|program| program.is_file())?;
        let args = ["look", &program.to_string_lossy(), "--list-langs"];
        let known = child::ask(this, &args, &environment(), Vec::new(), LISTING_TIME).await.ok()?;
        let known = String::from_utf8_lossy(&known).into_owned();
        let has = |language: &&&str| known.lines().any(|line| line.trim() == **language);
        let languages: Vec<&str> = LANGUAGES.iter().filter(has).copied().collect();
        (!languages.is_empty()).then(|| Tesseract { program, languages: languages.join("+") })
    }

    /// The OCR word tables of the pictures that fit into the time limit.
    pub async fn look(
        &self,
        this: &Path,
        pictures: &[Vec<u8>],
    ) -> Result<Vec<String>, ChildFailure> {
        let deadline = Instant::now() + LOOKING_TIME;
        let program = self.program.to_string_lossy();
        let args = ["look", &program, "stdin", "stdout", "-l", &self.languages, "tsv"];
        let environment = environment();
        let mut tables = Vec::new();
        for picture in pictures {
            let left = deadline.saturating_duration_since(Instant::now());
            match child::ask(this, &args, &environment, picture.clone(), left).await {
                Ok(table) => tables.push(String::from_utf8_lossy(&table).into_owned()),
                Err(failure) if tables.is_empty() => return Err(failure),
                Err(_) => break,
            }
        }
        Ok(tables)
    }
}

/// The environment: one thread, and the configured language folder; nothing is inherited.
fn environment() -> Vec<(&'static str, String)> {
    let mut environment = vec![("OMP_THREAD_LIMIT", "1".to_owned())];
    environment.extend(env::var("TESSDATA_PREFIX").ok().map(|folder| ("TESSDATA_PREFIX", folder)));
    environment
}
