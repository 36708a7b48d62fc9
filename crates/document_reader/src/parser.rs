//! The sandboxed parser process: it reads a file or OCR text from standard input and writes a
//! report to standard output.

use std::io::{self, BufRead, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use base::limits::DOCUMENT_READ_BYTES;
use clap::{Args, Parser, Subcommand};
use extraction::{Contents, ExtractedDocument};
use serde::{Deserialize, Serialize};

use super::child::ISOLATED;
use super::isolation::{self, OCR_LIMITS, RENDERING_LIMITS};
use super::mail_trial;

/// The size limit of one OCR word table, in bytes.
pub const TABLE_BYTES: u64 = 4 * 1024 * 1024;
/// The separator between OCR word tables.
pub const TABLE_END: char = '\u{c}';

/// A task for a sandboxed child process. Not for people.
#[derive(Parser)]
#[command(name = "mailroom caged")]
pub struct ParserTask {
    #[command(subcommand)]
    command: ParserCommand,
}

#[derive(Subcommand)]
enum ParserCommand {
    /// Read a file
    File,
    /// Understand words that were seen in pictures
    Words,
    /// Read a mail that ended a process, to see whether it ends this one
    Mail,
    /// Make a small preview of a picture
    Preview,
    /// Make a scaled copy of a picture
    Scale,
    /// Make a logo of a picture
    Logo,
    /// Become tesseract, to look at a picture
    Look(Program),
    /// Become pdftoppm, to draw a page
    Draw(Program),
}

/// The program to become, with its arguments.
#[derive(Args)]
struct Program {
    path: PathBuf,
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<String>,
}

/// The parser's output; the pictures for OCR follow it, in the order and sizes given.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ParserReport {
    pub paper: Option<ExtractedDocument>,
    /// The fields come from structured data in the file, such as an XML invoice.
    pub stated: bool,
    pub text: String,
    pub error: Option<String>,
    /// The file is a picture.
    pub is_picture: bool,
    /// Bytes of each picture that follows.
    pub pictures: Vec<usize>,
}

/// The first line of OCR input.
pub const OF_PICTURE: &str = "picture";
pub const OF_SCAN: &str = "scan";

impl ParserTask {
    /// The task that this process was started for, if it was started by `crate::child`.
    pub fn of_this_process() -> Option<ParserTask> {
        let mut args = std::env::args().skip(1);
        (args.next()? == ISOLATED)
            .then(|| ParserTask::parse_from([ISOLATED.to_owned()].into_iter().chain(args)))
    }

    pub fn run(self) -> ExitCode {
        let done = match self.command {
            ParserCommand::File => isolation::enter_as_reader().and_then(|()| file()),
            ParserCommand::Words => isolation::enter_as_reader().and_then(|()| words()),
            ParserCommand::Preview => {
                isolation::enter_as_reader().and_then(|()| copy(extraction::preview))
            }
            ParserCommand::Scale => {
                isolation::enter_as_reader().and_then(|()| copy(extraction::scaled_picture))
            }
            ParserCommand::Logo => {
                isolation::enter_as_reader().and_then(|()| copy(extraction::logo_picture))
            }
            ParserCommand::Mail => {
                isolation::enter_as_mail_reader().and_then(|()| mail_trial::read_everything())
            }
            ParserCommand::Look(Program { path, args }) => {
                Err(isolation::become_program(OCR_LIMITS, &path, &args))
            }
            ParserCommand::Draw(Program { path, args }) => {
                Err(isolation::become_program(RENDERING_LIMITS, &path, &args))
            }
        };
        match done {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        }
    }
}

fn file() -> io::Result<()> {
    let mut bytes = Vec::new();
    io::stdin().lock().take(DOCUMENT_READ_BYTES as u64).read_to_end(&mut bytes)?;
    let contents = match extraction::open(&bytes) {
        Ok(contents) => contents,
        Err(unreadable) => {
            let error = Some(unreadable.sentence().to_owned());
            return answer(&ParserReport { error, ..ParserReport::default() }, &[]);
        }
    };
    let pictures: Vec<Vec<u8>> = if contents.needs_ocr() {
        contents.pictures.iter().map(|picture| picture.to_pgm()).collect()
    } else {
        Vec::new()
    };
    answer(
        &ParserReport { pictures: pictures.iter().map(Vec::len).collect(), ..report(&contents) },
        &pictures,
    )
}

/// Writes a copy of the picture that is read.
fn copy(make: fn(&[u8]) -> Option<Vec<u8>>) -> io::Result<()> {
    let mut bytes = Vec::new();
    io::stdin().lock().take(DOCUMENT_READ_BYTES as u64).read_to_end(&mut bytes)?;
    let copy = make(&bytes).ok_or(io::ErrorKind::InvalidData)?;
    let mut out = io::stdout().lock();
    out.write_all(&copy)?;
    out.flush()
}

fn words() -> io::Result<()> {
    let mut input = io::stdin().lock().take(TABLE_BYTES);
    let mut origin = String::new();
    input.read_line(&mut origin)?;
    let mut tables = Vec::new();
    input.read_to_end(&mut tables)?;
    let tables = String::from_utf8_lossy(&tables);
    let pages = tables.split(TABLE_END).map(extraction::words_seen).collect();
    let contents = Contents::from_ocr(pages, origin.trim() == OF_PICTURE);
    answer(&report(&contents), &[])
}

fn report(contents: &Contents) -> ParserReport {
    ParserReport {
        paper: Some(contents.paper()),
        stated: contents.is_stated(),
        text: contents.text(),
        is_picture: contents.is_picture(),
        ..ParserReport::default()
    }
}

fn answer(report: &ParserReport, pictures: &[Vec<u8>]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, report)?;
    out.write_all(b"\n")?;
    for picture in pictures {
        out.write_all(picture)?;
    }
    out.flush()
}
