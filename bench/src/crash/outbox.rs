//! The folder that the file relay writes mail to, and how often each mail was written.

use std::collections::HashMap;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::Errno;

/// Bytes of news that are read at once; one piece of news has at most 272.
const NEWS_BYTES: usize = 16 * 1024;

/// Watches a folder. A mail that is written again replaces its file, so the folder itself would
/// not show it.
pub struct Outbox {
    watch: OwnedFd,
    /// How often each message was written.
    pub written: HashMap<String, u64>,
}

impl Outbox {
    pub fn watch(folder: &Path) -> Result<Outbox, String> {
        let watch = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC);
        let watch = watch.map_err(|error| error.to_string())?;
        // The system drops news that repeats the last; the old names between keep it from that.
        inotify::add_watch(&watch, folder, WatchFlags::MOVED_FROM | WatchFlags::MOVED_TO)
            .map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(Outbox { watch, written: HashMap::new() })
    }

    /// Takes in what was written since the last time, and returns it in order.
    pub fn look(&mut self) -> Result<Vec<String>, String> {
        let mut latest = Vec::new();
        let mut buffer = [MaybeUninit::uninit(); NEWS_BYTES];
        let mut news = inotify::Reader::new(&self.watch, &mut buffer);
        loop {
            let piece = match news.next() {
                Ok(piece) => piece,
                Err(Errno::WOULDBLOCK) => return Ok(latest),
                Err(error) => return Err(error.to_string()),
            };
            if piece.events().contains(ReadFlags::QUEUE_OVERFLOW) {
                return Err("more mail was written than the system could tell of".into());
            }
            let name = piece.file_name().map(|name| name.to_string_lossy());
            if let Some(message) = name.as_deref().and_then(message) {
                *self.written.entry(message.clone()).or_default() += 1;
                latest.push(message);
            }
        }
    }
}

/// The message in a file's name, which is its Message-ID: `msg.ID.CHANCE@DOMAIN.eml`.
fn message(name: &str) -> Option<String> {
    let (id, _) = name.strip_suffix(".eml")?.strip_prefix("msg.")?.split_once('.')?;
    Some(format!("msg_{id}"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_mail_that_is_written_twice_under_one_name_counts_twice() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut outbox = Outbox::watch(folder.path()).expect("a watch");
        for _ in 0..2 {
            fs::write(folder.path().join("part"), "x").expect("a file");
            let name = folder.path().join("msg.01k.abc@bench.example.eml");
            fs::rename(folder.path().join("part"), name).expect("a name");
        }
        assert_eq!(outbox.look().expect("news"), ["msg_01k", "msg_01k"]);
        assert_eq!(outbox.written, HashMap::from([("msg_01k".to_owned(), 2)]));
    }
}
