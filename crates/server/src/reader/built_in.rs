//! The reader that needs nobody else: rules over words, in a child process.

use std::path::PathBuf;
use std::time::Duration;

use inbox::due::{self, Found, Reader, Unread};
use inbox::wire::{DocumentFields, DocumentKind};
use papers::{Fields, Kind, Paper};
use tokio::sync::OnceCell;

use super::child::{self, Failure, READER_TIME};
use super::eyes::Eyes;
use super::inside::{OF_PICTURE, OF_SCAN, Report, TABLE_END};

pub struct BuiltIn {
    program: PathBuf,
    time: Duration,
    eyes: OnceCell<Option<Eyes>>,
}

/// What reading a file came to.
pub enum Reading {
    Read {
        paper: Paper,
        /// The file said so itself, in a form made for machines.
        stated: bool,
        text: String,
    },
    /// A sentence for people: nothing can be made of the file.
    Unreadable(String),
    /// A sentence for the log: the file is not to blame.
    Later(String),
}

impl BuiltIn {
    pub fn of_this_program() -> BuiltIn {
        BuiltIn::with_program(child::this_program())
    }

    /// The program that is started for each file.
    pub fn with_program(program: PathBuf) -> BuiltIn {
        BuiltIn { program, time: READER_TIME, eyes: OnceCell::new() }
    }

    /// The same with another time for each file.
    pub fn within(self, time: Duration) -> BuiltIn {
        BuiltIn { time, ..self }
    }

    /// Reads a file's bytes without touching anything else.
    pub async fn read_bytes(&self, bytes: Vec<u8>) -> Reading {
        let answer = match child::ask(&self.program, &["file"], &[], bytes, self.time).await {
            Ok(answer) => answer,
            Err(failure) => return failed(failure),
        };
        let Some((report, pictures)) = parse(&answer) else { return failed(Failure::Died) };
        match (self.eyes().await, pictures.is_empty()) {
            (Some(eyes), false) => self.look(eyes, report, &pictures).await,
            _ => outcome(report),
        }
    }

    async fn eyes(&self) -> Option<&Eyes> {
        self.eyes.get_or_init(|| Eyes::open(&self.program)).await.as_ref()
    }

    /// What the words in the pictures say; without any, what was known before.
    async fn look(&self, eyes: &Eyes, report: Report, pictures: &[Vec<u8>]) -> Reading {
        let Ok(tables) = eyes.look(&self.program, pictures).await else { return outcome(report) };
        let origin = if report.is_picture { OF_PICTURE } else { OF_SCAN };
        let tables = tables.join(&TABLE_END.to_string());
        let words = format!("{origin}\n{tables}").into_bytes();
        let answer = child::ask(&self.program, &["words"], &[], words, self.time).await;
        match answer.ok().and_then(|answer| parse(&answer)) {
            Some((seen, _)) => outcome(seen),
            None => outcome(report),
        }
    }
}

impl Reader for BuiltIn {
    fn read<'a>(&'a self, document: &'a Unread) -> due::Reading<'a> {
        Box::pin(async move { found(self.read_bytes(document.bytes.clone()).await) })
    }
}

/// A reading as the domain knows it.
pub fn found(reading: Reading) -> Found {
    match reading {
        Reading::Read { paper, .. } => {
            Found::Read { kind: kind(paper.kind), fields: fields(paper.fields) }
        }
        Reading::Unreadable(reason) => Found::Unreadable(reason),
        Reading::Later(reason) => Found::Later(reason),
    }
}

fn kind(kind: Kind) -> DocumentKind {
    match kind {
        Kind::Invoice => DocumentKind::Invoice,
        Kind::Receipt => DocumentKind::Receipt,
        Kind::Statement => DocumentKind::Statement,
        Kind::Contract => DocumentKind::Contract,
        Kind::Id => DocumentKind::Id,
        Kind::Tax => DocumentKind::Tax,
        Kind::Photo => DocumentKind::Photo,
        Kind::Other => DocumentKind::Other,
    }
}

fn fields(fields: Fields) -> DocumentFields {
    DocumentFields {
        vendor: fields.vendor,
        amount: fields.amount,
        currency: fields.currency,
        date: fields.date,
        due_date: fields.due_date,
        reference: fields.reference,
    }
}

fn failed(failure: Failure) -> Reading {
    let sentence = failure.sentence().to_owned();
    match failure {
        // A machine that is busy makes an honest file slow.
        Failure::NotStarted | Failure::TookTooLong => Reading::Later(sentence),
        Failure::Died => Reading::Unreadable(sentence),
    }
}

fn outcome(report: Report) -> Reading {
    match (report.paper, report.error) {
        (Some(paper), None) => Reading::Read { paper, stated: report.stated, text: report.text },
        (_, Some(error)) => Reading::Unreadable(error),
        (None, None) => failed(Failure::Died),
    }
}

/// A report and the pictures behind it. The child is not trusted: sizes that do not fit are no
/// report.
fn parse(answer: &[u8]) -> Option<(Report, Vec<Vec<u8>>)> {
    let end = answer.iter().position(|byte| *byte == b'\n')?;
    let report: Report = serde_json::from_slice(&answer[..end]).ok()?;
    let mut rest = &answer[end + 1..];
    let mut pictures = Vec::new();
    for size in &report.pictures {
        let (picture, after) = rest.split_at_checked(*size)?;
        pictures.push(picture.to_vec());
        rest = after;
    }
    Some((report, pictures))
}
