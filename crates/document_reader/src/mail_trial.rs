//! Reads a mail in a sandboxed process, to see whether that process survives it.

use std::io::{self, Read};
use std::path::PathBuf;

use base::limits::FETCHED_MAIL_BYTES;
use base::mail_reading::MailParser;
use mail::{Envelope, PageAddresses, RemotePictures};
use tokio::runtime::Handle;

use super::child::{self, READER_TIME};

/// The task of the child process.
const MAIL: &str = "mail";
/// Mails within mails that are read as well: as deep as somebody can open them.
const ATTACHED_DEPTH: usize = 10;
/// Bytes of the pictures of a mail that are taken out.
const PICTURE_BYTES: usize = 64 * 1024 * 1024;

/// Reads mails in this process, and those that ended one in a process apart first.
pub struct SandboxedTrial {
    program: PathBuf,
}

impl SandboxedTrial {
    pub fn of_this_program() -> SandboxedTrial {
        SandboxedTrial::with_program(child::this_program())
    }

    pub fn with_program(program: PathBuf) -> SandboxedTrial {
        SandboxedTrial { program }
    }
}

impl MailParser for SandboxedTrial {
    /// Called on a thread that may block.
    fn survives(&self, raw: &[u8]) -> bool {
        let Ok(runtime) = Handle::try_current() else { return false };
        let trial = child::ask(&self.program, &[MAIL], &[], raw.to_vec(), READER_TIME);
        let outcome = runtime.block_on(trial);
        if let Err(failure) = &outcome {
            tracing::error!(?failure, bytes = raw.len(), "a mail was not survived by its trial");
        }
        outcome.is_ok()
    }
}

/// Does everything with a mail from standard input that is done when one arrives and when it is shown.
pub fn read_everything() -> io::Result<()> {
    let mut raw = Vec::new();
    io::stdin().lock().take(u64::from(FETCHED_MAIL_BYTES)).read_to_end(&mut raw)?;
    read_mail(&raw, ATTACHED_DEPTH);
    Ok(())
}

fn read_mail(raw: &[u8], depth: usize) {
    let parsed = mail::parse(raw, Envelope::default());
    let addresses = PageAddresses { pictures: "", remote: RemotePictures::Shown };
    let _ = mail::mail_page(raw, &addresses);
    let _ = mail::mail_pictures(raw, PICTURE_BYTES);
    let _ = mail::original(raw);
    let _ = mail::header_fields(raw);
    let _ = mail::whole_text(raw);
    if let Some(part) = mail::calendar_part(raw) {
        let _ = calendar::read_reply(&part.bytes);
    }
    let authentication = mail::Authentication::default();
    let _ = mail::check(&parsed, &authentication, &mail::SenderHistory::default());
    if depth > 0 {
        let attached =
            parsed.attachments.iter().filter(|file| file.content_type == "message/rfc822");
        attached.for_each(|file| read_mail(&file.bytes, depth - 1));
    }
}
