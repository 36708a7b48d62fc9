//! The relay that writes mail to files.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use base::files::private_files;
use jobs::{BoxFuture, OutgoingMail, Relay, RelayOutcome};

/// Writes each mail to a file of its own, for development and the demo.
pub struct FolderRelay {
    folder: PathBuf,
}

impl FolderRelay {
    pub fn open(folder: &Path) -> io::Result<FolderRelay> {
        private_files::make_folder(folder)?;
        Ok(FolderRelay { folder: folder.into() })
    }
}

/// A mail whose claim lapsed is written again under the same name, so it is there once.
fn write(folder: &Path, mail: &OutgoingMail) -> io::Result<()> {
    let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '@' | '-' | '_');
    let name: String = mail.message_id.chars().map(|c| if safe(c) { c } else { '_' }).collect();
    let partial = folder.join(format!(".{name}.part"));
    let mut file =
        private_files::file_options().write(true).create(true).truncate(true).open(&partial)?;
    file.write_all(&mail.bytes)?;
    file.sync_all()?;
    fs::rename(&partial, folder.join(format!("{name}.eml")))
}

impl Relay for FolderRelay {
    fn send<'a>(&'a self, mail: &'a OutgoingMail) -> BoxFuture<'a, Vec<RelayOutcome>> {
        let (folder, mail) = (self.folder.clone(), mail.clone());
        Box::pin(async move {
            let recipients = mail.recipients.len();
            let outcome = match tokio::task::spawn_blocking(move || write(&folder, &mail)).await {
                Ok(Ok(())) => RelayOutcome::Delivered,
                Ok(Err(error)) => RelayOutcome::Later(error.to_string().into()),
                Err(error) => RelayOutcome::Later(error.to_string().into()),
            };
            vec![outcome; recipients]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_mail_becomes_one_file_however_often_it_is_sent() {
        let folder = tempfile::tempdir().expect("a folder");
        let relay = FolderRelay::open(folder.path()).expect("a relay");
        let mail = OutgoingMail {
            server: None,
            of_service: false,
            of_sample: false,
            message_id: "../msg.1@acme.example".into(),
            sender: "support@acme.example".into(),
            recipients: vec!["mara@customer.example".into()],
            bytes: b"Subject: Hello\r\n\r\nHello".to_vec().into(),
        };
        for _ in 0..2 {
            assert_eq!(relay.send(&mail).await, [RelayOutcome::Delivered]);
        }
        let files: Vec<_> = fs::read_dir(folder.path()).expect("files").flatten().collect();
        assert_eq!(files.len(), 1);
        assert_eq!(files[0].file_name(), ".._msg.1@acme.example.eml");
        assert_eq!(fs::read(files[0].path()).expect("a mail"), *mail.bytes);
    }
}
