//! Writes the files of a backup into its place, and verifies in turn the blobs that lie there already.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use base::files::blobs::Blobs;
use base::ids::{Ids, UploadId};

use super::BackupProgress;
use super::damage::FileFault;
use super::place::BackupPlace;
use super::seal::PlaceKey;

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
/// The blobs of a place are verified in so many parts, one on each day. It is a prime above the seven days that
/// may lie between two scheduled backups, so that every interval reaches all parts.
const VERIFIED_PARTS: i64 = 11;
/// The ending of what is left of a damaged blob.
const DAMAGED_ENDING: &str = ".damaged";

/// The files of a place, sealed where it is.
pub(super) struct PlaceWriter<'a> {
    pub place: &'a BackupPlace,
    pub key: Option<&'a PlaceKey>,
    pub ids: &'a Ids,
}

/// How the blobs of a backup came into its place.
#[derive(Default)]
pub(super) struct CopiedBlobs {
    /// Blobs that the place did not have, and their bytes as they are packed.
    pub new: u64,
    pub new_bytes: u64,
    /// Blobs that were damaged in the place and were written anew.
    pub repaired: Vec<String>,
    /// What is wrong with those that are not in it.
    pub faults: BTreeMap<String, FileFault>,
}

impl CopiedBlobs {
    pub fn has_missing(&self) -> bool {
        self.faults.values().any(|fault| *fault == FileFault::Missing)
    }

    /// Takes out the missing ones that the database does not name any more: they were erased meanwhile.
    pub fn take_erased(&mut self, named: &BTreeSet<String>) -> Vec<String> {
        let mut erased = Vec::new();
        self.faults.retain(|blob, fault| {
            let is_erased = *fault == FileFault::Missing && !named.contains(blob);
            erased.extend(is_erased.then(|| blob.clone()));
            !is_erased
        });
        erased
    }
}

impl PlaceWriter<'_> {
    pub fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let bytes = self.seal_file(name, bytes)?;
        self.place.write(name, bytes)
    }

    fn seal_file(&self, name: &str, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let Some(key) = self.key else { return Ok(bytes.to_vec()) };
        let mut writer = key.seal(name, self.ids, Vec::new())?;
        writer.write_all(bytes)?;
        writer.finish()
    }

    /// What a blob is called in the place.
    pub fn blob_name(&self, blob: &str) -> String {
        self.key.map_or_else(|| blob.to_owned(), |key| key.blob_name(blob))
    }

    /// Copies the blobs that the place lacks, and the uploads, which are listed by their ids. What is not whole is
    /// left out and named: damaged bytes under the name of a blob would pass for it in every later backup. Of those
    /// that are there a part is verified, and written anew where it is not whole.
    pub fn write_blobs(
        &self,
        blobs: &Blobs,
        listed: &[String],
        now: i64,
        progress: &BackupProgress,
    ) -> io::Result<CopiedBlobs> {
        let mut copied = CopiedBlobs::default();
        let there: BTreeSet<String> = self.place.blobs()?.into_iter().collect();
        for (number, hash) in listed.iter().enumerate() {
            progress(number as u64, listed.len() as u64);
            let name = self.blob_name(hash);
            let is_there = there.contains(&name);
            if is_there && (!is_verified_on(hash, now) || self.is_whole(hash, &name)?) {
                continue;
            }
            let read = match UploadId::parse(hash) {
                Some(upload) => blobs.partial_uploads().bytes(&upload),
                None => blobs.read_file(hash),
            };
            match FileFault::in_blob(hash, read)? {
                Ok(packed) => {
                    let sealed = self.seal_file(&name, &packed)?;
                    self.place.write(&BackupPlace::blob_name(&name), sealed)?;
                    if is_there {
                        copied.repaired.push(hash.clone());
                    } else {
                        copied.new += 1;
                        copied.new_bytes += packed.len() as u64;
                    }
                }
                Err(fault) => {
                    if is_there {
                        self.set_aside(&name)?;
                    }
                    copied.faults.insert(hash.clone(), fault);
                }
            }
        }
        Ok(copied)
    }

    /// Reads a blob where it lies in the place.
    fn is_whole(&self, hash: &str, name: &str) -> io::Result<bool> {
        let read = self.place.read(&BackupPlace::blob_name(name));
        let read = read.and_then(|bytes| match self.key {
            Some(key) => key.unseal_bytes(name, &bytes),
            None => Ok(bytes),
        });
        Ok(FileFault::in_blob(hash, read)?.is_ok())
    }

    /// Gives what is left of a damaged blob another name. Under its own it would pass for whole on the days on
    /// which it is not verified.
    fn set_aside(&self, name: &str) -> io::Result<()> {
        let blob = BackupPlace::blob_name(name);
        let left = match self.place.read(&blob) {
            Ok(left) => left,
            Err(error) if FileFault::of(&error).is_some() => return Ok(()),
            Err(error) => return Err(error),
        };
        self.place.write(&format!("{blob}{DAMAGED_ENDING}"), left)?;
        self.place.remove(&blob)
    }
}

/// True when a blob that lies in the place is verified by the backups of this day.
fn is_verified_on(blob: &str, now: i64) -> bool {
    let part: i64 = blob.bytes().map(i64::from).sum();
    part % VERIFIED_PARTS == now.div_euclid(DAY_MS).rem_euclid(VERIFIED_PARTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_interval_of_whole_days_verifies_each_blob_once_a_turn() {
        for blob in (0..50).map(|n| Blobs::hash_of(&[n])) {
            for days in 1..=7 {
                let turn = (0..VERIFIED_PARTS).map(|n| (20_000 + n * days) * DAY_MS);
                let verified = turn.filter(|now| is_verified_on(&blob, *now)).count();
                assert_eq!(verified, 1, "{blob} every {days} days");
            }
        }
    }
}
