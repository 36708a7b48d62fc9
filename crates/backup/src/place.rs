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
/// Variables that belong together: where one of them is the backups' own, the others are too.
const TOGETHER: [&[&str]; 3] = [
    &["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"],
    &["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"],
    &["AWS_REGION", "AWS_DEFAULT_REGION"],
];

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
            let environment = |variable: &str| std::env::var(variable).ok();
            let config = bucket_config(name, &environment)?;
            return Ok(BackupPlace { files: Arc::new(BucketPlace::open(&config, spool)?) });
        }
        if name.contains("://") {
            return Err(format!("{name}: backups go to a folder or to s3://BUCKET/PREFIX"));
        }
        Ok(BackupPlace { files: Arc::new(FolderPlace::new(name.into())) })
    }

    /// How people name it.
    pub fn label(&self) -> String {
        self.files.label()
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

fn bucket_config(
    name: &str,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<BucketConfig, String> {
    let set = |variable: &str| environment(variable).filter(|value| !value.is_empty());
    let own = |variable: &str| set(&format!("{OWN_VARIABLES}{variable}"));
    let has_own = |variables: &[&str]| variables.iter().any(|one| own(one).is_some());
    let variable = |wanted: &str| {
        let together = TOGETHER.iter().find(|variables| variables.contains(&wanted));
        if together.is_some_and(|variables| has_own(variables)) { own(wanted) } else { set(wanted) }
    };
    BucketConfig::parse(name, &variable).map_err(|mistake| {
        let hint = if TOGETHER.iter().any(|variables| has_own(variables)) {
            ", which begins with BACKUP_ as the others that go with it"
        } else {
            ""
        };
        format!("{name}: {mistake}{hint}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOBS: [(&str, &str); 5] = [
        ("AWS_ACCESS_KEY_ID", "blobs"),
        ("AWS_SECRET_ACCESS_KEY", "blobs' secret"),
        ("AWS_SESSION_TOKEN", "blobs' token"),
        ("AWS_ENDPOINT_URL_S3", "https://blobs.example"),
        ("AWS_REGION", "eu-central-1"),
    ];

    fn config(own: &[(&str, &str)]) -> Result<BucketConfig, String> {
        let all: Vec<(&str, &str)> = BLOBS.iter().chain(own).copied().collect();
        let environment = |name: &str| {
            let found = all.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        bucket_config("s3://backups/here", &environment)
    }

    #[test]
    fn backups_share_the_variables_of_blobs_where_they_have_none_of_their_own() {
        let shared = config(&[]).unwrap();
        assert_eq!(shared.access_key, "blobs");
        assert_eq!(shared.session_token.as_deref(), Some("blobs' token"));
        assert_eq!(shared.endpoint.as_deref(), Some("https://blobs.example"));
        assert_eq!(shared.region, "eu-central-1");
    }

    #[test]
    fn what_belongs_together_is_not_mixed() {
        let own = config(&[
            ("BACKUP_AWS_ACCESS_KEY_ID", "backups"),
            ("BACKUP_AWS_SECRET_ACCESS_KEY", "backups' secret"),
            ("BACKUP_AWS_ENDPOINT_URL", "https://backups.example"),
        ])
        .unwrap();
        assert_eq!((&*own.access_key, &*own.secret_key), ("backups", "backups' secret"));
        assert_eq!(own.session_token, None);
        assert_eq!(own.endpoint.as_deref(), Some("https://backups.example"));
        assert_eq!(own.region, "eu-central-1");
    }

    #[test]
    fn half_of_a_pair_is_refused_with_the_name_of_the_other_half() {
        let half = config(&[("BACKUP_AWS_ACCESS_KEY_ID", "backups")]);
        let refused = half.err().unwrap();
        assert!(refused.contains("needs the variable AWS_SECRET_ACCESS_KEY, which"), "{refused}");
    }
}
