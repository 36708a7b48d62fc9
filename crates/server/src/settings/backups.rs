//! The settings of scheduled backups.

use backup::{BackupSettings, BackupTiming};
use clap::Args;

use super::setting_sources::SettingSources;

/// When backups are written unless the settings say otherwise.
const USUAL_TIME: &str = "03:00";

/// The flags, as they were typed.
#[derive(Args, Clone, Debug, Default)]
pub struct BackupFlags {
    /// Where the server writes backups by itself: a folder, or s3://BUCKET/PREFIX [default: nowhere]
    #[arg(long, env = "MAILROOM_BACKUP_TO", global = true, value_name = "PLACE")]
    pub backup_to: Option<String>,
    /// When: a time in UTC such as 03:00, or hours such as 6h [default: 03:00]
    #[arg(long, env = "MAILROOM_BACKUP_AT", global = true, value_name = "TIME")]
    pub backup_at: Option<String>,
    /// What is kept: the newest so many, or those of days, weeks and months as 7/4/12 [default: all]
    #[arg(long, env = "MAILROOM_BACKUP_KEEP", global = true, value_name = "NUMBER|D/W/M")]
    pub backup_keep: Option<String>,
    /// The file whose first line is the passphrase that seals them [default: they are not sealed]
    #[arg(long, env = "MAILROOM_BACKUP_PASSPHRASE_FILE", global = true, value_name = "FILE")]
    pub backup_passphrase_file: Option<String>,
}

/// The names that `mailroom.toml` may hold.
pub(super) const NAMES: &[&str] =
    &["backup_to", "backup_at", "backup_keep", "backup_passphrase_file"];

impl SettingSources {
    /// The scheduled backups, where a place is named.
    pub(super) fn backups(&mut self, flags: &BackupFlags) -> Option<BackupSettings> {
        let at = self.text("backup_at", &flags.backup_at).unwrap_or_else(|| USUAL_TIME.into());
        let timing: Option<BackupTiming> = self.parse_saying("backup_at", &at);
        let keep = self.text("backup_keep", &flags.backup_keep);
        let keep = keep.and_then(|keep| self.parse_saying("backup_keep", &keep));
        let passphrase = self.text("backup_passphrase_file", &flags.backup_passphrase_file);
        let place = self.text("backup_to", &flags.backup_to).filter(|place| !place.is_empty())?;
        Some(BackupSettings {
            place,
            timing: timing?,
            keep,
            passphrase_file: passphrase.map(Into::into),
        })
    }

    /// A value whose own sentence says what it must be.
    fn parse_saying<T: std::str::FromStr<Err = String>>(
        &mut self,
        name: &str,
        text: &str,
    ) -> Option<T> {
        match text.trim().parse() {
            Ok(value) => Some(value),
            Err(rule) => {
                self.mistakes.push(format!("{name}: {rule}"));
                None
            }
        }
    }
}
