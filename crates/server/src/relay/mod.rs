//! Where finished mail goes: the bodies of the relay that `MAILROOM_RELAY` can name.

mod folder;

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use inbox::due::{Outcome, Parcel, Relay, Sending};

use folder::FolderRelay;

/// What `MAILROOM_RELAY` names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// `file:FOLDER`: each mail becomes a file there.
    Folder(PathBuf),
    /// Nothing is configured: mail waits.
    Nowhere,
}

impl FromStr for Target {
    type Err = ();

    fn from_str(text: &str) -> Result<Target, ()> {
        match text.split_once(':') {
            Some(("file", folder)) if !folder.is_empty() => Ok(Target::Folder(folder.into())),
            _ => Err(()),
        }
    }
}

impl Target {
    /// False where mail waits or becomes a file.
    pub fn reaches_people(&self) -> bool {
        !matches!(self, Target::Folder(_) | Target::Nowhere)
    }

    pub fn open(&self) -> Result<Arc<dyn Relay>, String> {
        match self {
            Target::Folder(folder) => Ok(Arc::new(
                FolderRelay::open(folder)
                    .map_err(|error| format!("relay: {}: {error}", folder.display()))?,
            )),
            Target::Nowhere => Ok(Arc::new(NoRelay)),
        }
    }
}

/// Keeps mail waiting until a relay is configured.
struct NoRelay;

impl Relay for NoRelay {
    fn send<'a>(&'a self, _: &'a Parcel) -> Sending<'a> {
        Box::pin(async { Outcome::Later("no relay is configured".into()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relay_is_named_by_its_kind_and_place() {
        assert_eq!("file:out/mail".parse(), Ok(Target::Folder("out/mail".into())));
        for bad in ["", "file:", "out", "ftp://x"] {
            assert_eq!(bad.parse::<Target>(), Err(()), "{bad}");
        }
    }
}
