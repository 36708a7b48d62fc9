//! Where the answers of a help desk come from: its API, or a folder of answers that were saved before.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde_json::Value;
use transport::net::ssrf_guard::SsrfGuard;
use url::Url;

use super::api::{ApiFault, DeskApi, JSON_BYTES};
use super::conversation::DeskFile;

/// A question to a help desk.
pub struct DeskRequest {
    /// Below its address, with the query.
    path: String,
    /// The file of the folder that a saved answer is in.
    saved_as: String,
}

impl DeskRequest {
    pub fn new(path: impl Into<String>, saved_as: impl Into<String>) -> DeskRequest {
        DeskRequest { path: path.into(), saved_as: saved_as.into() }
    }
}

pub struct DeskSource {
    base: Url,
    answers: Answers,
}

enum Answers {
    Api(Box<DeskApi>),
    Saved(PathBuf),
}

impl DeskSource {
    /// `key` is a header and its value.
    pub fn api(
        base: Url,
        key: (&'static str, &str),
        ssrf_guard: SsrfGuard,
    ) -> Result<DeskSource, String> {
        let api = DeskApi::new(base.clone(), key, ssrf_guard)?;
        Ok(DeskSource { base, answers: Answers::Api(Box::new(api)) })
    }

    pub fn from_folder(base: Url, folder: &Path) -> Result<DeskSource, String> {
        if !folder.is_dir() {
            return Err(format!("--saved: {} is no folder", folder.display()));
        }
        Ok(DeskSource { base, answers: Answers::Saved(folder.to_owned()) })
    }

    /// True where the answers were saved before.
    pub fn is_saved(&self) -> bool {
        matches!(self.answers, Answers::Saved(_))
    }

    /// The name of its host, which is part of what its mails are known by.
    pub fn host(&self) -> &str {
        self.base.host_str().unwrap_or("unknown.invalid")
    }

    /// An address that an answer names, as a whole one.
    pub fn address(&self, named: &str) -> Option<Url> {
        self.base.join(named).ok()
    }

    /// True for an address of the help desk itself.
    pub fn is_own(&self, url: &Url) -> bool {
        url.origin() == self.base.origin()
    }

    pub async fn json(&self, request: &DeskRequest) -> Result<Value, ApiFault> {
        let folder = match &self.answers {
            Answers::Api(api) => return api.json(&request.path).await,
            Answers::Saved(folder) => folder,
        };
        let name = &request.saved_as;
        let answer = read(folder, name, JSON_BYTES)?;
        serde_json::from_slice(&answer).map_err(|_| final_fault(format!("{name} is no JSON.")))
    }

    pub async fn file(&self, file: &DeskFile, most_bytes: usize) -> Result<Vec<u8>, ApiFault> {
        match &self.answers {
            Answers::Api(api) => api.file(&file.address, most_bytes).await,
            Answers::Saved(folder) => read(folder, &file.saved_as, most_bytes),
        }
    }

    /// The bytes of a saved file, which is looked for and not read; 0 where it would have to be fetched.
    pub fn saved_bytes(&self, file: &DeskFile, most_bytes: usize) -> Result<usize, ApiFault> {
        match &self.answers {
            Answers::Api(_) => Ok(0),
            Answers::Saved(folder) => {
                size(&folder.join(&file.saved_as), &file.saved_as, most_bytes)
            }
        }
    }
}

fn read(folder: &Path, name: &str, most_bytes: usize) -> Result<Vec<u8>, ApiFault> {
    let path = folder.join(name);
    size(&path, name, most_bytes)?;
    fs::read(&path).map_err(|error| unread(name, &error))
}

fn size(path: &Path, name: &str, most_bytes: usize) -> Result<usize, ApiFault> {
    let found = fs::metadata(path).map_err(|error| unread(name, &error))?;
    let bytes = usize::try_from(found.len()).unwrap_or(usize::MAX);
    if bytes > most_bytes {
        return Err(final_fault(format!("It is larger than {} MB.", most_bytes / (1024 * 1024))));
    }
    Ok(bytes)
}

fn unread(name: &str, error: &std::io::Error) -> ApiFault {
    match error.kind() {
        ErrorKind::NotFound => final_fault(format!("{name} is not in the folder.")),
        _ => ApiFault { reason: format!("{name}: {error}."), is_final: false },
    }
}

fn final_fault(reason: String) -> ApiFault {
    ApiFault { reason, is_final: true }
}
