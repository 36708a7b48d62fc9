//! Where backups lie: a folder of this machine, or a bucket of an object store.

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use transport::net::bucket::BucketConfig;

use super::bucket_place::BucketPlace;
use super::folder_place::FolderPlace;
use super::place_files::{PlaceFiles, blob_place};

/// How the address of a bucket begins.
const S3: &str = "s3://";
/// What leads the variables of a bucket for backups, where they differ from those of blobs.
const OWN_VARIABLES: &str = "BACKUP_";

/// A place that holds backups.
#[derive(Clone)]
pub struct BackupPlace {
    files: Arc<dyn PlaceFiles>,
}

impl BackupPlace {
    /// The place that an operator names. Large files of a bucket pass through the folder `spool`, so
    /// that no transaction waits for the network.
    pub fn parse(name: &str, spool: &Path) -> Result<BackupPlace, String> {
        if name.starts_with(S3) {
            let own = |variable: &str| std::env::var(format!("{OWN_VARIABLES}{variable}")).ok();
            let config = BucketConfig::parse(name, &|variable| {
                own(variable).or_else(|| std::env::var(variable).ok())
            });
            let config = config.map_err(|mistake| format!("{name}: {mistake}"))?;
            return Ok(BackupPlace { files: Arc::new(BucketPlace::open(&config, spool)?) });
        }
        if name.contains("://") {
            return Err(format!("{name}: backups go to a folder or to s3://BUCKET/PREFIX"));
        }
        Ok(BackupPlace { files: Arc::new(FolderPlace::new(name.into())) })
    }

    /// How people name it.
    pub fn shown(&self) -> String {
        self.files.shown()
    }

    /// Where a blob lies, as a name in this place.
    pub(super) fn blob_name(name: &str) -> String {
        blob_place(name)
    }
}

impl Deref for BackupPlace {
    type Target = dyn PlaceFiles;

    fn deref(&self) -> &(dyn PlaceFiles + 'static) {
        &*self.files
    }
}
