//! Files that are being uploaded: pieces until the last byte is here, then one file. They lie in a
//! folder, or in the store that several nodes share, so that any node can take the next piece.
//!
//! Each request writes a piece of its own, which nobody else ever writes to. The row of the upload says
//! which pieces count, so two requests for one file cannot mix their bytes, and nothing changes after
//! it was scanned.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::files::blob_files::BlobFiles;
use crate::files::private_files;
use crate::ids::{Ids, UploadId};

/// The characters that tell two pieces of one offset apart.
const TOKEN_CHARS: usize = 12;
/// Between an upload's id, a piece's offset and its token. No id contains it.
const DOT: char = '.';
/// What names begin with in a shared store.
const SHARED_FOLDER: &str = "arriving";
/// Files beside one upload's own that may be written at one time.
const ASIDE_NAMES: u32 = 1_000;

/// Unfinished and unsubmitted uploads. A file is named by its upload's id, never by the customer's
/// file name.
#[derive(Clone)]
pub struct PartialUploads {
    folder: Arc<Path>,
    shared: Option<Arc<dyn BlobFiles>>,
}

/// The name of the bytes that one request brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadPiece(String);

impl UploadPiece {
    pub fn new(id: &UploadId, offset: i64, ids: &Ids) -> UploadPiece {
        UploadPiece(format!("{id}{DOT}{offset}{DOT}{}", ids.token(TOKEN_CHARS)))
    }

    /// A piece of an upload from its row; `None` for what is no such name.
    pub fn parse(id: &UploadId, name: &str) -> Option<UploadPiece> {
        let (offset, token) = name.strip_prefix(id.as_str())?.strip_prefix(DOT)?.split_once(DOT)?;
        let is_plain = token.chars().all(|c| c.is_ascii_alphanumeric()) && !token.is_empty();
        (offset.parse::<u64>().is_ok() && is_plain).then(|| UploadPiece(name.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Where in the file its bytes begin.
    fn offset(&self) -> u64 {
        self.0.split(DOT).nth(1).and_then(|offset| offset.parse().ok()).unwrap_or(0)
    }
}

impl PartialUploads {
    pub fn open(folder: &Path, shared: Option<Arc<dyn BlobFiles>>) -> io::Result<PartialUploads> {
        private_files::make_folder(folder)?;
        Ok(PartialUploads { folder: folder.into(), shared })
    }

    /// A new piece, to be written, synced and kept.
    pub fn begin_piece(&self, piece: &UploadPiece) -> io::Result<File> {
        private_files::file_options().write(true).create_new(true).open(self.path(piece.as_str()))
    }

    /// Makes a piece that was synced durable for every node.
    pub fn keep_piece(&self, piece: &UploadPiece) -> io::Result<()> {
        self.keep(piece.as_str())
    }

    pub fn remove_piece(&self, piece: &UploadPiece) -> io::Result<()> {
        self.remove_named(piece.as_str())
    }

    /// Makes one file of all pieces, in their order. Who does it again finds it done.
    pub fn assemble(&self, id: &UploadId, pieces: &[UploadPiece], size: i64) -> io::Result<()> {
        // An upload that an earlier version began has its first bytes in the file of its id.
        let mut whole = match self.read_named(id.as_str()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && !pieces.is_empty() => {
                Vec::new()
            }
            read => read?,
        };
        if whole.len() as u64 == size.unsigned_abs() {
            return Ok(());
        }
        for piece in pieces {
            let bytes = self.read_named(piece.as_str())?;
            whole.truncate(usize::try_from(piece.offset()).map_err(io::Error::other)?);
            if (whole.len() as u64) < piece.offset() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            whole.extend_from_slice(&bytes);
        }
        self.adopt(id, &whole)
    }

    /// The file of an upload that comes in one request, to be written, synced and kept.
    pub fn begin_whole(&self, id: &UploadId) -> io::Result<File> {
        private_files::file_options().write(true).create_new(true).open(self.path(id.as_str()))
    }

    /// Makes such a file durable for every node.
    pub fn keep_whole(&self, id: &UploadId) -> io::Result<()> {
        self.keep(id.as_str())
    }

    /// The whole file, ready to be read.
    pub fn read(&self, id: &UploadId) -> io::Result<File> {
        match &self.shared {
            None => File::open(self.path(id.as_str())),
            Some(_) => self.unlinked_file(id, &self.read_named(id.as_str())?),
        }
    }

    pub fn bytes(&self, id: &UploadId) -> io::Result<Vec<u8>> {
        self.read_named(id.as_str())
    }

    /// A file with these bytes that has no name any more, and ends with its last reader.
    pub fn unlinked_file(&self, id: &UploadId, bytes: &[u8]) -> io::Result<File> {
        let (mut file, path) = self.aside(id)?;
        fs::remove_file(&path)?;
        file.write_all(bytes)?;
        file.seek(SeekFrom::Start(0))?;
        Ok(file)
    }

    /// The uploads that have something in the folder of this node.
    pub fn list(&self) -> io::Result<Vec<UploadId>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let name = entry?.file_name();
            let id = name.to_str().and_then(|name| name.split(DOT).next());
            found.extend(id.and_then(UploadId::parse));
        }
        found.sort();
        found.dedup();
        Ok(found)
    }

    /// Puts the file of an upload in its place, whole.
    pub fn adopt(&self, id: &UploadId, bytes: &[u8]) -> io::Result<()> {
        if let Some(shared) = &self.shared {
            return shared.write(&shared_name(id.as_str()), bytes.to_vec());
        }
        let (mut file, aside) = self.aside(id)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&aside, self.path(id.as_str()))?;
        self.sync_folder()
    }

    /// Removes the file of an upload; one that is gone is no harm.
    pub fn remove(&self, id: &UploadId) -> io::Result<()> {
        self.remove_named(id.as_str())
    }

    /// Removes everything of an upload that lies in the folder of this node.
    pub fn remove_here(&self, id: &UploadId) -> io::Result<()> {
        for entry in fs::read_dir(&self.folder)? {
            let name = entry?.file_name();
            let name = name.to_str().filter(|name| name.split(DOT).next() == Some(id.as_str()));
            if let Some(name) = name {
                missing_is_fine(fs::remove_file(self.path(name)))?;
            }
        }
        Ok(())
    }

    fn keep(&self, name: &str) -> io::Result<()> {
        let Some(shared) = &self.shared else { return self.sync_folder() };
        shared.write(&shared_name(name), fs::read(self.path(name))?)?;
        missing_is_fine(fs::remove_file(self.path(name)))
    }

    fn read_named(&self, name: &str) -> io::Result<Vec<u8>> {
        let Some(shared) = &self.shared else { return fs::read(self.path(name)) };
        match shared.read(&shared_name(name)) {
            // An earlier version kept uploads in the folder of the node that took them.
            Err(error) if error.kind() == io::ErrorKind::NotFound => fs::read(self.path(name)),
            read => read,
        }
    }

    fn remove_named(&self, name: &str) -> io::Result<()> {
        missing_is_fine(fs::remove_file(self.path(name)))?;
        match &self.shared {
            None => Ok(()),
            Some(shared) => shared.remove(&shared_name(name)),
        }
    }

    fn sync_folder(&self) -> io::Result<()> {
        File::open(&self.folder)?.sync_all()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A new file beside an upload's own.
    fn aside(&self, id: &UploadId) -> io::Result<(File, PathBuf)> {
        for number in 0..ASIDE_NAMES {
            let path = self.path(&format!("{id}{DOT}new-{number}"));
            let mut options = private_files::file_options();
            match options.read(true).write(true).create_new(true).open(&path) {
                Ok(file) => return Ok((file, path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

fn shared_name(name: &str) -> String {
    format!("{SHARED_FOLDER}/{name}")
}

fn missing_is_fine(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::Mutex;

    use super::*;

    #[derive(Default)]
    struct Objects(Mutex<HashMap<String, Vec<u8>>>);

    impl BlobFiles for Objects {
        fn read(&self, name: &str) -> io::Result<Vec<u8>> {
            let found = self.0.lock().unwrap().get(name).cloned();
            found.ok_or_else(|| io::ErrorKind::NotFound.into())
        }

        fn write(&self, name: &str, bytes: Vec<u8>) -> io::Result<()> {
            self.0.lock().unwrap().insert(name.to_owned(), bytes);
            Ok(())
        }

        fn exists(&self, name: &str) -> io::Result<bool> {
            Ok(self.0.lock().unwrap().contains_key(name))
        }

        fn remove(&self, name: &str) -> io::Result<()> {
            self.0.lock().unwrap().remove(name);
            Ok(())
        }

        fn names(&self, each: &mut dyn FnMut(String)) -> io::Result<()> {
            self.0.lock().unwrap().keys().cloned().for_each(each);
            Ok(())
        }

        fn label(&self) -> String {
            "objects".into()
        }
    }

    fn write(uploads: &PartialUploads, piece: &UploadPiece, bytes: &[u8]) {
        let mut file = uploads.begin_piece(piece).unwrap();
        file.write_all(bytes).unwrap();
        uploads.keep_piece(piece).unwrap();
    }

    #[test]
    fn pieces_of_several_nodes_become_one_file_that_each_of_them_reads() {
        let ids = Ids::random();
        let id = UploadId::new(&ids, 1);
        let objects: Arc<dyn BlobFiles> = Arc::new(Objects::default());
        let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for shared in [None, Some(objects)] {
            let second = if shared.is_some() { there.path() } else { here.path() };
            let first = PartialUploads::open(here.path(), shared.clone()).unwrap();
            let second = PartialUploads::open(second, shared).unwrap();
            let pieces = [UploadPiece::new(&id, 0, &ids), UploadPiece::new(&id, 3, &ids)];
            // The first request was cut off late: what lies behind the next one's offset does not count.
            write(&first, &pieces[0], b"abcX");
            write(&second, &pieces[1], b"def");
            first.assemble(&id, &pieces, 6).unwrap();
            second.assemble(&id, &pieces, 6).unwrap();
            for piece in &pieces {
                second.remove_piece(piece).unwrap();
            }
            assert_eq!(second.bytes(&id).unwrap(), b"abcdef");
            let mut read = Vec::new();
            io::Read::read_to_end(&mut first.read(&id).unwrap(), &mut read).unwrap();
            assert_eq!(read, b"abcdef");
            second.remove(&id).unwrap();
            assert!(first.bytes(&id).is_err() && first.list().unwrap().is_empty());
        }
    }

    #[test]
    fn an_upload_that_an_earlier_version_took_is_found_in_the_folder() {
        let (ids, folder) = (Ids::random(), tempfile::tempdir().unwrap());
        let (whole, begun) = (UploadId::new(&ids, 1), UploadId::new(&ids, 2));
        fs::write(folder.path().join(whole.as_str()), b"abcdef").unwrap();
        fs::write(folder.path().join(begun.as_str()), b"abc").unwrap();
        let objects: Arc<dyn BlobFiles> = Arc::new(Objects::default());
        let uploads = PartialUploads::open(folder.path(), Some(objects)).unwrap();
        assert_eq!(uploads.bytes(&whole).unwrap(), b"abcdef");
        let piece = UploadPiece::new(&begun, 3, &ids);
        write(&uploads, &piece, b"def");
        uploads.assemble(&begun, &[piece], 6).unwrap();
        assert_eq!(uploads.bytes(&begun).unwrap(), b"abcdef");
        uploads.remove(&whole).unwrap();
        let gone = uploads.bytes(&whole).unwrap_err();
        assert_eq!(gone.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_piece_is_named_by_its_upload_alone() {
        let ids = Ids::random();
        let (id, other) = (UploadId::new(&ids, 1), UploadId::new(&ids, 2));
        let piece = UploadPiece::new(&id, 12, &ids);
        assert_eq!(UploadPiece::parse(&id, piece.as_str()), Some(piece.clone()));
        assert_eq!(UploadPiece::parse(&other, piece.as_str()), None);
        for name in [id.as_str(), &format!("{id}.x.a"), &format!("{id}.1./../a"), ""] {
            assert_eq!(UploadPiece::parse(&id, name), None);
        }
    }
}
