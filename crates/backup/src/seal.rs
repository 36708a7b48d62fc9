//! Encrypts the files of a sealed place with a passphrase.
//!
//! Argon2id makes the key of the place from the passphrase; each file has a key of its own, from that
//! one, the file's name and random bytes at its beginning. A file is encrypted by pieces with
//! ChaCha20-Poly1305, whose nonce counts them and marks the last, so that nothing can be cut off or
//! moved. Blobs are named by a keyed hash: their names tell nothing about what is in them.

use std::io::{self, Read, Write};

use argon2::Argon2;
use base::ids::Ids;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hmac;

use super::manifest::SealParameters;

const KEY_BYTES: usize = 32;
const SALT_BYTES: usize = 16;
/// The bytes that lead a file and make its key.
const FILE_SALT_BYTES: usize = 32;
/// Bytes of a piece before it is encrypted, and what encryption adds.
const PIECE_BYTES: usize = 64 * 1024;
const TAG_BYTES: usize = 16;
/// What the check value of a place is made of.
const CHECK: &[u8] = b"check";

/// The key of a place.
#[derive(Clone)]
pub(super) struct PlaceKey(hmac::Key);

impl PlaceKey {
    /// The key of a new place, and what is written down to make it again.
    pub fn make(passphrase: &str, ids: &Ids) -> Result<(PlaceKey, SealParameters), String> {
        let salt = ids.bytes::<SALT_BYTES>();
        let key = PlaceKey::derive(passphrase, &salt)?;
        let check = STANDARD.encode(key.tag(&[CHECK]));
        Ok((key, SealParameters { salt: STANDARD.encode(salt), check }))
    }

    /// The key of a place that is there.
    pub fn open(passphrase: &str, parameters: &SealParameters) -> Result<PlaceKey, String> {
        let damaged = |_| "the place of backups is damaged".to_owned();
        let salt = STANDARD.decode(&parameters.salt).map_err(damaged)?;
        let key = PlaceKey::derive(passphrase, &salt)?;
        if STANDARD.encode(key.tag(&[CHECK])) != parameters.check {
            return Err("This is not the passphrase that these backups were sealed with.".into());
        }
        Ok(key)
    }

    fn derive(passphrase: &str, salt: &[u8]) -> Result<PlaceKey, String> {
        let mut key = [0; KEY_BYTES];
        Argon2::default()
            .hash_password_into(passphrase.as_bytes(), salt, &mut key)
            .map_err(|error| error.to_string())?;
        Ok(PlaceKey(hmac::Key::new(hmac::HMAC_SHA256, &key)))
    }

    /// What a blob is called in the place.
    pub fn blob_name(&self, hash: &str) -> String {
        self.tag(&[b"blob", hash.as_bytes()]).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn tag(&self, parts: &[&[u8]]) -> Vec<u8> {
        let mut context = hmac::Context::with_key(&self.0);
        for part in parts {
            context.update(&(part.len() as u64).to_be_bytes());
            context.update(part);
        }
        context.sign().as_ref().to_vec()
    }

    fn of_file(&self, name: &str, salt: &[u8]) -> io::Result<LessSafeKey> {
        let key = self.tag(&[b"file", name.as_bytes(), salt]);
        let key = UnboundKey::new(&CHACHA20_POLY1305, &key).map_err(|_| damaged_error())?;
        Ok(LessSafeKey::new(key))
    }

    pub fn seal<W: Write>(&self, name: &str, ids: &Ids, mut out: W) -> io::Result<SealWriter<W>> {
        let salt = ids.bytes::<FILE_SALT_BYTES>();
        out.write_all(&salt)?;
        let key = self.of_file(name, &salt)?;
        Ok(SealWriter { out, key, piece: Vec::with_capacity(PIECE_BYTES + TAG_BYTES), number: 0 })
    }

    pub fn unseal<R: Read>(&self, name: &str, mut input: R) -> io::Result<SealReader<R>> {
        let mut salt = [0; FILE_SALT_BYTES];
        input.read_exact(&mut salt)?;
        let key = self.of_file(name, &salt)?;
        let mut reader =
            SealReader { input, key, number: 0, next: Vec::new(), piece: Vec::new(), at: 0 };
        reader.next = reader.read_piece()?;
        reader.advance()?;
        Ok(reader)
    }

    /// The bytes of a small file.
    pub fn unseal_bytes(&self, name: &str, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut opened = Vec::new();
        self.unseal(name, bytes)?.read_to_end(&mut opened)?;
        Ok(opened)
    }
}

/// Encrypts what is written to it; [`SealWriter::finish`] writes the last piece.
pub(super) struct SealWriter<W> {
    out: W,
    key: LessSafeKey,
    piece: Vec<u8>,
    number: u64,
}

impl<W: Write> SealWriter<W> {
    pub fn finish(mut self) -> io::Result<W> {
        self.write_piece(true)?;
        Ok(self.out)
    }

    fn write_piece(&mut self, last: bool) -> io::Result<()> {
        let nonce = nonce(self.number, last);
        self.key
            .seal_in_place_append_tag(nonce, Aad::empty(), &mut self.piece)
            .map_err(|_| damaged_error())?;
        self.out.write_all(&self.piece)?;
        self.piece.clear();
        self.number += 1;
        Ok(())
    }
}

impl<W: Write> Write for SealWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.piece.len() == PIECE_BYTES {
            self.write_piece(false)?;
        }
        let taken = bytes.len().min(PIECE_BYTES - self.piece.len());
        self.piece.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Decrypts what is read from it, piece by piece.
pub(super) struct SealReader<R> {
    input: R,
    key: LessSafeKey,
    number: u64,
    /// The encrypted piece that follows; empty behind the last.
    next: Vec<u8>,
    piece: Vec<u8>,
    at: usize,
}

impl<R: Read> SealReader<R> {
    fn read_piece(&mut self) -> io::Result<Vec<u8>> {
        let mut piece = Vec::new();
        self.input.by_ref().take((PIECE_BYTES + TAG_BYTES) as u64).read_to_end(&mut piece)?;
        Ok(piece)
    }

    fn advance(&mut self) -> io::Result<()> {
        let following = self.read_piece()?;
        let mut piece = std::mem::replace(&mut self.next, following);
        let nonce = nonce(self.number, self.next.is_empty());
        let opened = self
            .key
            .open_in_place(nonce, Aad::empty(), &mut piece)
            .map_err(|_| damaged_error())?
            .len();
        piece.truncate(opened);
        self.piece = piece;
        self.at = 0;
        self.number += 1;
        Ok(())
    }
}

impl<R: Read> Read for SealReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.at == self.piece.len() && !self.next.is_empty() {
            self.advance()?;
        }
        let taken = out.len().min(self.piece.len() - self.at);
        out[..taken].copy_from_slice(&self.piece[self.at..self.at + taken]);
        self.at += taken;
        Ok(taken)
    }
}

fn nonce(number: u64, last: bool) -> Nonce {
    let mut nonce = [0; NONCE_LEN];
    nonce[0] = u8::from(last);
    nonce[NONCE_LEN - 8..].copy_from_slice(&number.to_be_bytes());
    Nonce::assume_unique_for_key(nonce)
}

fn damaged_error() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a sealed file is damaged")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(passphrase: &str) -> (PlaceKey, SealParameters) {
        PlaceKey::make(passphrase, &Ids::with_seed(1)).unwrap()
    }

    fn seal_bytes(key: &PlaceKey, bytes: &[u8]) -> Vec<u8> {
        let mut writer = key.seal("a", &Ids::with_seed(2), Vec::new()).unwrap();
        writer.write_all(bytes).unwrap();
        writer.finish().unwrap()
    }

    fn open_bytes(key: &PlaceKey, name: &str, sealed: &[u8]) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        key.unseal(name, sealed)?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    #[test]
    fn a_file_opens_whole_under_its_name_and_not_at_all_otherwise() {
        let (key, parameters) = key("open sesame");
        for size in [0, 1, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES] {
            let bytes: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
            let file = seal_bytes(&key, &bytes);
            assert_eq!(open_bytes(&key, "a", &file).unwrap(), bytes, "{size}");
            assert!(open_bytes(&key, "b", &file).is_err(), "another name");
            let piece = PIECE_BYTES + TAG_BYTES;
            let cut = file.len().saturating_sub(piece).max(FILE_SALT_BYTES);
            assert!(open_bytes(&key, "a", &file[..cut]).is_err(), "{size}: the last piece is gone");
            let mut changed = file.clone();
            *changed.last_mut().unwrap() ^= 1;
            assert!(open_bytes(&key, "a", &changed).is_err(), "{size}: changed");
        }
        assert!(PlaceKey::open("open sesame", &parameters).is_ok());
        let refused = PlaceKey::open("Open sesame", &parameters).err().unwrap();
        assert!(refused.contains("not the passphrase"), "{refused}");
    }
}
