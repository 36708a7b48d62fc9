//! Reading documents (API section 2.7): the built-in reader in its cage, the endpoint
//! that may be asked, and the command.

mod command;
mod escapes;
mod files;
mod hostile;
mod language_model;
mod letters;
mod mail_trial;
mod reader;

use std::path::PathBuf;

use document_reader::{BuiltInReader, FileReading};

/// The built-in reader, which starts the program that these tests belong to.
fn built_in() -> BuiltInReader {
    BuiltInReader::with_program(program())
}

fn program() -> PathBuf {
    env!("CARGO_BIN_EXE_mailroom").into()
}

/// What was read, as the wire has it.
fn shown(reading: &FileReading) -> serde_json::Value {
    match reading {
        FileReading::Read { paper, .. } => serde_json::json!(paper),
        FileReading::Unreadable(sentence) => serde_json::json!({ "unreadable": sentence }),
        FileReading::Later(sentence) => serde_json::json!({ "later": sentence }),
    }
}
