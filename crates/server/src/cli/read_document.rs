//! What is read in documents, without touching any data.

use std::fs;
use std::path::{Path, PathBuf};

use base::limits::DOCUMENT_READ_BYTES;
use clap::Args;
use document_reader::{BuiltInReader, FileReading};
use serde_json::{Value, json};

use super::command::say_line;

/// Read documents as the library does, without touching any data.
///
/// PDF, XML invoices (ZUGFeRD, Factur-X, XRechnung, FatturaPA), pictures and plain text. Scans and
/// pictures of papers are read when tesseract is installed. A file that cannot be read says why in
/// its own line and does not stop the others.
#[derive(Args)]
pub struct ReadDocument {
    /// The files to read
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print one JSON object for each file: {file, kind, fields}, and error where there is one
    #[arg(long)]
    json: bool,
}

impl ReadDocument {
    pub async fn run(self) -> Result<(), String> {
        let reader = BuiltInReader::of_this_program();
        for path in &self.files {
            let line = line(&reader, path).await;
            if self.json { say_line!("{line}") } else { say_line!("{}", line_text(&line)) }
        }
        Ok(())
    }
}

async fn line(reader: &BuiltInReader, path: &Path) -> Value {
    let file = path.display().to_string();
    let refused =
        |error: String| json!({ "file": file, "kind": null, "fields": {}, "error": error });
    let size = match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => return refused("This is a folder.".into()),
        Ok(metadata) => metadata.len(),
        Err(error) => return refused(error.to_string()),
    };
    if size > DOCUMENT_READ_BYTES as u64 {
        let most = DOCUMENT_READ_BYTES / (1024 * 1024);
        return refused(format!("The file is larger than {most} MB, so it is not read."));
    }
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) => return refused(error.to_string()),
    };
    match reader.read_bytes(bytes).await {
        FileReading::Read { paper, .. } => {
            json!({ "file": file, "kind": paper.kind, "fields": paper.fields })
        }
        FileReading::Unreadable(sentence) | FileReading::Later(sentence) => refused(sentence),
    }
}

fn line_text(line: &Value) -> String {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut lines = vec![format!("{} ({})", text(&line["file"]), text(&line["kind"]))];
    if let Some(error) = line["error"].as_str() {
        lines[0] = format!("{}: {error}", text(&line["file"]));
    }
    let fields = line["fields"].as_object().into_iter().flatten();
    lines.extend(fields.map(|(name, value)| format!("  {name:<10}{}", text(value))));
    lines.join("\n")
}
