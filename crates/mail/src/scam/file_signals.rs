//! Scam signals in attached files.

use super::{Risk, Signal};
use crate::files::AttachedFile;
use crate::parsed_mail::ParsedMail;

/// Bytes at the end of an archive in which its list of files is looked for.
const LIST_BYTES: usize = 256 * 1024;
/// Bytes of an attached web page that are searched.
const PAGE_BYTES: usize = 64 * 1024;

/// The weightiest signal among the files.
pub(super) fn signals(mail: &ParsedMail) -> Vec<Signal> {
    let mut found: Vec<Signal> = mail.attachments.iter().filter_map(signal).collect();
    found.sort_by(|a, b| b.points.total_cmp(&a.points));
    found.truncate(1);
    found
}

fn signal(file: &AttachedFile) -> Option<Signal> {
    let endings: Vec<String> = file.filename.rsplit('.').map(str::to_lowercase).collect();
    let (ending, before) = match endings.as_slice() {
        [ending, before, _, ..] => (ending.as_str(), before.as_str()),
        [ending, _] => (ending.as_str(), ""),
        _ => return None,
    };
    if PROGRAMS.contains(&ending) {
        let disguised = file.disguised || DOCUMENTS.contains(&before.trim());
        return Some(match disguised {
            true => {
                let reason = "An attached program is named so as to look like a document.";
                Signal::certain(8.0, Risk::Scam, reason)
            }
            false => {
                Signal::certain(4.0, Risk::Suspicious, "A program is attached, which can do harm.")
            }
        });
    }
    if ending == "zip" && lists_program(&file.bytes) {
        let reason = "An attached archive holds a program, which can do harm.";
        return Some(Signal::certain(4.0, Risk::Suspicious, reason));
    }
    if ending == "zip" && is_locked(&file.bytes) {
        let reason = "An attached archive is locked, so that nobody can check what is in it.";
        return Some(Signal::new(2.5, Risk::Suspicious, reason));
    }
    if matches!(ending, "rar" | "7z" | "ace" | "arj" | "cab" | "z" | "r00" | "uue" | "xz" | "lzh") {
        let reason = "An attached archive is of a kind that is hardly used for documents.";
        return Some(Signal::new(1.0, Risk::Suspicious, reason));
    }
    if matches!(ending, "html" | "htm" | "shtml" | "xhtml" | "svg" | "mht" | "mhtml")
        && !file.inline
    {
        return Some(match runs_something(&file.bytes) {
            true => {
                let reason = "An attached web page runs a program or asks for a password.";
                Signal::new(3.5, Risk::Phishing, reason)
            }
            false => {
                let reason = "A web page is attached, which may ask for passwords.";
                Signal::new(1.5, Risk::Phishing, reason)
            }
        });
    }
    if matches!(ending, "docm" | "xlsm" | "pptm" | "dotm" | "xlam" | "one") {
        let reason = "An attached document can run a program.";
        return Some(Signal::new(2.0, Risk::Suspicious, reason));
    }
    None
}

/// True when an archive's own list names a program. Nothing is unpacked, however much an archive
/// says it holds.
fn lists_program(archive: &[u8]) -> bool {
    const ENTRY: &[u8; 4] = b"PK\x01\x02";
    const NAME_AT: usize = 46;
    let tail = &archive[archive.len().saturating_sub(LIST_BYTES)..];
    let mut at = 0;
    while let Some(found) = tail[at..].windows(4).position(|window| window == ENTRY) {
        let entry = &tail[at + found..];
        let Some(length) = entry.get(28..30) else { return false };
        let length = usize::from(u16::from_le_bytes([length[0], length[1]]));
        if let Some(name) = entry.get(NAME_AT..NAME_AT + length) {
            let name = String::from_utf8_lossy(name).to_lowercase();
            if name.rsplit_once('.').is_some_and(|(_, ending)| PROGRAMS.contains(&ending)) {
                return true;
            }
        }
        at += found + ENTRY.len();
    }
    false
}

/// True when an archive's first entry is locked by a password: bit 0 of its flags (APPNOTE 4.4.4).
fn is_locked(archive: &[u8]) -> bool {
    archive.starts_with(b"PK\x03\x04") && archive.get(6).is_some_and(|flags| flags & 1 == 1)
}

/// True for a page with a script, a form or a password field.
fn runs_something(page: &[u8]) -> bool {
    const SIGNS: [&str; 7] = [
        "<script",
        "<form",
        "type=\"password",
        "type='password",
        "onload=",
        "http-equiv=\"refresh",
        "atob(",
    ];
    let page = &page[..page.len().min(PAGE_BYTES)];
    let page = String::from_utf8_lossy(page).to_lowercase();
    SIGNS.iter().any(|sign| page.contains(sign))
}

/// Endings of files that systems run when they are opened.
const PROGRAMS: &[&str] = &[
    "exe", "scr", "com", "pif", "bat", "cmd", "vbs", "vbe", "js", "jse", "wsf", "wsh", "hta",
    "lnk", "ps1", "msi", "msp", "jar", "cpl", "reg", "iso", "img", "vhd", "appx", "apk", "dll",
    "gadget", "inf", "chm", "scf", "url",
];

const DOCUMENTS: &[&str] = &[
    "pdf", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "txt", "rtf", "jpg", "jpeg", "png", "gif",
    "csv", "zip", "htm", "html", "mp3", "mp4", "tif",
];
