//! Finds the mails of local sources, with the date of each, so that the oldest is imported first.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use super::mbox;

/// Bytes of a header that are looked at for its date.
const HEADER_BYTES: usize = 64 * 1024;
/// The fields of which a mail has one at least (RFC 5322 section 3.6, and those of trace and MIME).
const FIELDS: &[&str] = &[
    "from",
    "to",
    "cc",
    "bcc",
    "subject",
    "date",
    "sender",
    "reply-to",
    "message-id",
    "in-reply-to",
    "references",
    "received",
    "return-path",
    "delivered-to",
    "x-original-to",
    "mime-version",
    "content-type",
    "dkim-signature",
    "status",
    "x-mailer",
];
/// Why a file is passed over.
const NO_MAIL: &str = "it is neither a mail nor an mbox: it has no header";
/// Folders within folders.
const DEPTH: usize = 16;

/// A mail that was found.
pub struct ListedMail {
    /// Its date in milliseconds, by which mails are put in order.
    pub at: i64,
    pub bytes: u64,
    /// When the mailbox took it, where its own date does not say enough.
    pub taken_at: Option<i64>,
    pub place: MailLocation,
}

/// Where a mail can be read.
pub enum MailLocation {
    File(PathBuf),
    /// In an mbox.
    Part {
        file: Arc<Path>,
        offset: u64,
    },
    /// In a folder of an IMAP account, by their numbers.
    Imap {
        account: usize,
        folder: usize,
        uid: u32,
    },
}

impl MailLocation {
    pub fn label(&self) -> String {
        match self {
            MailLocation::File(path) => path.display().to_string(),
            MailLocation::Part { file, offset } => format!("{} at byte {offset}", file.display()),
            MailLocation::Imap { account, folder, uid } => {
                format!("account {}, folder {}, UID {uid}", account + 1, folder + 1)
            }
        }
    }
}

/// The mails of an mbox, a Maildir, a folder of .eml files, or a single one. What is none is added to
/// `passed_over` where somebody might take it for mail.
pub fn list_local(
    source: &str,
    passed_over: &mut BTreeMap<String, String>,
) -> Result<Vec<ListedMail>, String> {
    let path = Path::new(source);
    let told = |error: io::Error| format!("{source}: {error}");
    let mut listed = Vec::new();
    if path.is_dir() {
        list_folder(path, DEPTH, &mut listed, passed_over).map_err(told)?;
    } else {
        list_file(path, &mut listed, passed_over).map_err(told)?;
        if let Some(reason) = passed_over.get(&path.display().to_string()) {
            return Err(format!("{source}: {reason}"));
        }
    }
    Ok(listed)
}

fn list_folder(
    folder: &Path,
    depth: usize,
    listed: &mut Vec<ListedMail>,
    passed_over: &mut BTreeMap<String, String>,
) -> io::Result<()> {
    let is_maildir = folder.join("cur").is_dir() || folder.join("new").is_dir();
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            let holds_mail = is_maildir && matches!(name.as_str(), "cur" | "new");
            if holds_mail {
                list_maildir(&path, listed, passed_over)?;
            } else if !(is_maildir && name == "tmp") && depth > 0 {
                list_folder(&path, depth - 1, listed, passed_over)?;
            }
        } else if name.to_lowercase().ends_with(".eml") {
            list_mail(path, listed, passed_over)?;
        } else if mbox::is_mbox(&path)? {
            list_file(&path, listed, passed_over)?;
        } else if !is_maildir && !name.starts_with('.') {
            let reason = "it is neither an .eml file nor an mbox".to_owned();
            passed_over.insert(path.display().to_string(), reason);
        }
    }
    Ok(())
}

fn list_maildir(
    folder: &Path,
    listed: &mut Vec<ListedMail>,
    passed_over: &mut BTreeMap<String, String>,
) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_file() {
            list_mail(path, listed, passed_over)?;
        }
    }
    Ok(())
}

fn list_file(
    path: &Path,
    listed: &mut Vec<ListedMail>,
    passed_over: &mut BTreeMap<String, String>,
) -> io::Result<()> {
    if !mbox::is_mbox(path)? {
        return list_mail(path.to_owned(), listed, passed_over);
    }
    let (file, written) = (Arc::<Path>::from(path), written_at(path)?);
    mbox::each_part(path, HEADER_BYTES, &mut |part, header| {
        let place = MailLocation::Part { file: file.clone(), offset: part.offset };
        listed.push(with_date(header, written, part.bytes, place));
    })
}

/// A file with one mail in it, or with something that is none.
fn list_mail(
    path: PathBuf,
    listed: &mut Vec<ListedMail>,
    passed_over: &mut BTreeMap<String, String>,
) -> io::Result<()> {
    let mut start = Vec::new();
    File::open(&path)?.take(HEADER_BYTES as u64).read_to_end(&mut start)?;
    // An empty one is told of when it is read.
    if !is_mail(&start) && !start.iter().all(u8::is_ascii_whitespace) {
        passed_over.insert(path.display().to_string(), NO_MAIL.to_owned());
        return Ok(());
    }
    let header = header_of(&start);
    let (written, bytes) = (written_at(&path)?, fs::metadata(&path)?.len());
    listed.push(with_date(header, written, bytes, MailLocation::File(path)));
    Ok(())
}

/// True for bytes that begin with a header: a line of it names a field that mails have.
fn is_mail(start: &[u8]) -> bool {
    let header = mail::header_bytes(start);
    header.split(|byte| *byte == b'\n').any(|line| {
        let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
        name.len() < line.len()
            && FIELDS.iter().any(|field| name.trim_ascii().eq_ignore_ascii_case(field.as_bytes()))
    })
}

fn header_of(start: &[u8]) -> &[u8] {
    let blank = |end: &[u8]| start.windows(end.len()).position(|window| window == end);
    let ends = [blank(b"\n\n"), blank(b"\r\n\r\n")];
    let end = ends.into_iter().flatten().min().map_or(start.len(), |end| end + 1);
    &start[..end]
}

/// A mail without a date is of the time when its file was written.
fn with_date(header: &[u8], written: i64, bytes: u64, place: MailLocation) -> ListedMail {
    let date = mail::parse(header, mail::Envelope { sender: None }).date;
    let taken_at = date.is_none().then_some(written);
    ListedMail { at: date.unwrap_or(written), bytes, taken_at, place }
}

fn written_at(path: &Path) -> io::Result<i64> {
    let since = fs::metadata(path)?.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(since.as_millis() as i64)
}
