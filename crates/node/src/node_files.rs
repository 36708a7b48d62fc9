//! Checks this node's files against its database. All nodes of a database share `secret.key` and
//! the blob folder; a node with others would write secrets and blobs that the other nodes cannot
//! read, so it refuses to start.

use std::fs;
use std::future::Future;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use base::files::blob_files::BlobFiles;
use base::files::blobs::Blobs;
use base::files::private_files::file_options;
use base::ids::Ids;
use db::Store;
use model::installation::node_files::{Sealed, sealed_samples, settle, value};

use crate::vault::{KEY_FILE, Vault, imap_purpose, service_purpose};

/// The check value of the key: a word that is sealed with it.
const KEY_CHECK: &str = "secret.key";
const KEY_WORD: &str = "mailroom";
/// The mark of the folder of blobs, and the file in it that holds the same.
const BLOBS_MARK: &str = "blobs";
const MARK_FILE: &str = "mailroom-id";
const MARK_BYTES: usize = 16;

/// Refuses files that belong to another database. The first node of a database makes or adopts them.
/// Answers the vault that the key opens.
pub fn check(
    data: &Path,
    (folder, blobs): (&Path, &Blobs),
    store: &Store,
    ids: &Ids,
) -> Result<Vault, String> {
    let vault = check_key(data, store, ids)?;
    match blobs.shared_files() {
        Some(shared) => check_shared(shared, blobs, store, ids)?,
        None => check_blobs(folder, blobs, store, ids)?,
    }
    Ok(vault)
}

/// Ties a database that was just filled to the blobs that were put there for it, whatever is missing among them.
pub fn adopt_blobs(folder: &Path, blobs: &Blobs, store: &Store, ids: &Ids) -> Result<(), String> {
    let mark = match blobs.shared_files() {
        Some(shared) => {
            let told = |error: io::Error| format!("{}: {error}", shared.label());
            match shared.read(MARK_FILE) {
                Ok(mark) => String::from_utf8_lossy(&mark).trim().to_owned(),
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    let mark = new_mark(ids);
                    shared.write(MARK_FILE, mark.clone().into_bytes()).map_err(told)?;
                    mark
                }
                Err(error) => return Err(told(error)),
            }
        }
        None => {
            let path = folder.join(MARK_FILE);
            let told = |error: io::Error| format!("{}: {error}", path.display());
            match read_mark(&path).map_err(told)? {
                Some(mark) => mark,
                None => make_mark(&path, ids).map_err(told)?,
            }
        }
    };
    write(store, move |tx| settle(tx, BLOBS_MARK, &mark)).map(drop)
}

/// Checks a store that several nodes share: its mark is an object.
fn check_shared(
    shared: &dyn BlobFiles,
    blobs: &Blobs,
    store: &Store,
    ids: &Ids,
) -> Result<(), String> {
    let told = |error: io::Error| format!("{}: {error}", shared.label());
    let other = || {
        format!(
            "{} is not the store that this database keeps its files in. All nodes of a database \
             need the same one: name it with MAILROOM_BLOBS, or copy the files there.",
            shared.label()
        )
    };
    let known = read(store, |tx| value(tx, BLOBS_MARK))?;
    if known.is_none() && !has_first_file(blobs, store).map_err(told)? {
        return Err(other());
    }
    let here = match shared.read(MARK_FILE) {
        Ok(mark) => Some(String::from_utf8_lossy(&mark).trim().to_owned()),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(told(error)),
    };
    let here = match (here, &known) {
        (Some(here), _) => here,
        (None, Some(_)) => return Err(other()),
        (None, None) => {
            let mark = new_mark(ids);
            shared.write(MARK_FILE, mark.clone().into_bytes()).map_err(told)?;
            mark
        }
    };
    let mark = here.clone();
    let known = match known {
        Some(known) => known,
        None => write(store, move |tx| settle(tx, BLOBS_MARK, &mark))?,
    };
    if here == known { Ok(()) } else { Err(other()) }
}

fn check_key(data: &Path, store: &Store, ids: &Ids) -> Result<Vault, String> {
    let known = read(store, |tx| value(tx, KEY_CHECK))?;
    let samples = match known {
        Some(_) => Vec::new(),
        None => read(store, sealed_samples)?,
    };
    let is_needed = known.is_some() || !samples.is_empty();
    if is_needed && !data.join(KEY_FILE).exists() {
        return Err(format!(
            "{} is missing, and this database has secrets that were sealed with it. Copy it from \
             the node, or the backup, that the database comes from. {LOST_KEY}",
            data.join(KEY_FILE).display()
        ));
    }
    let vault = Vault::open(data, ids)?;
    let known = match known {
        Some(known) => known,
        None if samples.iter().all(|sealed| opens(&vault, sealed)) => {
            let check = vault.seal(ids, KEY_CHECK, KEY_WORD);
            write(store, move |tx| settle(tx, KEY_CHECK, &check))?
        }
        None => return Err(other_key(data)),
    };
    vault.unseal(KEY_CHECK, &known).map_err(|_| other_key(data))?;
    Ok(vault)
}

const LOST_KEY: &str = "If it is lost for good, delete the row `secret.key` of the table \
    node_files; sealed passwords then have to be given again.";

fn other_key(data: &Path) -> String {
    format!(
        "{} is not the key that this database's secrets were sealed with. Copy the right one from \
         the node, or the backup, that the database comes from. {LOST_KEY}",
        data.join(KEY_FILE).display()
    )
}

fn opens(vault: &Vault, sealed: &Sealed) -> bool {
    let (purpose, sealed) = match sealed {
        Sealed::Imap { address, sealed } => (imap_purpose(address), sealed),
        Sealed::Service { id, sealed } => (service_purpose("key", id), sealed),
    };
    vault.unseal(&purpose, sealed).is_ok()
}

fn check_blobs(folder: &Path, blobs: &Blobs, store: &Store, ids: &Ids) -> Result<(), String> {
    let path = folder.join(MARK_FILE);
    let told = |error: std::io::Error| format!("{}: {error}", path.display());
    let known = read(store, |tx| value(tx, BLOBS_MARK))?;
    if known.is_none() && !has_first_file(blobs, store).map_err(told)? {
        return Err(other_folder(folder));
    }
    let here = match (read_mark(&path).map_err(told)?, &known) {
        (None, None) => make_mark(&path, ids).map_err(told)?,
        (None, Some(known)) => {
            return Err(format!(
                "{} If this is the right one, write {known} into {}.",
                other_folder(folder),
                path.display()
            ));
        }
        (Some(here), _) => here,
    };
    let mark = here.clone();
    let known = match known {
        Some(known) => known,
        None => write(store, move |tx| settle(tx, BLOBS_MARK, &mark))?,
    };
    if here == known { Ok(()) } else { Err(other_folder(folder)) }
}

fn other_folder(folder: &Path) -> String {
    format!(
        "{} is not the folder that this database keeps its files in. All nodes of a database need \
         the same one: name it with --blobs, or copy the files of the right one here.",
        folder.display()
    )
}

/// False when the database keeps files in a folder, and not in this one.
fn has_first_file(blobs: &Blobs, store: &Store) -> io::Result<bool> {
    match read(store, base::files::blobs::first_file).map_err(io::Error::other)? {
        Some(hash) => blobs.has_file(&hash),
        None => Ok(true),
    }
}

fn read_mark(path: &Path) -> io::Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(mark) => Ok(Some(mark.trim().to_owned())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn new_mark(ids: &Ids) -> String {
    ids.bytes::<MARK_BYTES>().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Of two nodes that do so at once, the second keeps the first one's.
fn make_mark(path: &Path, ids: &Ids) -> io::Result<String> {
    let new = new_mark(ids);
    let beside = path.with_extension(std::process::id().to_string());
    let mut file = file_options().write(true).create(true).truncate(true).open(&beside)?;
    writeln!(file, "{new}")?;
    file.sync_all()?;
    let placed = match fs::hard_link(&beside, path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        placed => placed,
    };
    fs::remove_file(&beside)?;
    placed?;
    Ok(read_mark(path)?.unwrap_or(new))
}

fn read<T: Send + 'static>(
    store: &Store,
    work: impl FnMut(&mut db::Tx<'_>) -> base::error::Result<T> + Send + 'static,
) -> Result<T, String> {
    wait(store.read(work)).map_err(|error| error.to_string())
}

fn write<T: Send + 'static>(
    store: &Store,
    work: impl FnMut(&mut db::Tx<'_>) -> base::error::Result<T> + Send + 'static,
) -> Result<T, String> {
    wait(store.write(work)).map_err(|error| error.to_string())
}

/// Waits on a thread of its own: nothing is served yet, and a runtime cannot wait inside another.
fn wait<T: Send>(
    doing: impl Future<Output = base::error::Result<T>> + Send,
) -> base::error::Result<T> {
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().build()?;
            runtime.block_on(doing)
        });
        waiting.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
