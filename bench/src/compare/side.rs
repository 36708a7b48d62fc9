//! One of two builds: its database, set up by its own command line, and its server.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::database::DatabaseKind;
use crate::fill::workspace::{BenchDatabase, INBOX, OWNER};
use crate::inbox_figures::{InboxFigure, inbox_figures};
use crate::receive::Customers;
use crate::requests::request;
use crate::server::{Server, free_address, serve};

/// How a key begins that is no test key.
const KEY: &str = "rk_live_";

pub struct Side {
    pub server: Server,
    pub smtp: SocketAddr,
    key: String,
    place: BenchDatabase,
}

impl Side {
    /// Makes a workspace and a key with the commands that a build has had since it had a command line, and
    /// starts its server.
    pub fn start(
        binary: &Path,
        kind: DatabaseKind,
        postgres: Option<&str>,
        name: &str,
        names: SocketAddr,
    ) -> Result<Side, String> {
        if !binary.exists() {
            return Err(format!("{} is not there", binary.display()));
        }
        // A relative path would be looked up in the path of the system.
        let binary = &binary.canonicalize().map_err(|error| error.to_string())?;
        let place = BenchDatabase::new(kind, postgres, &format!("compare_{name}"))?;
        let setup = [
            "setup",
            "--workspace",
            "Bench",
            "--owner-email",
            OWNER,
            "--owner-name",
            "Olive Owner",
            "--inbox",
            INBOX,
            "--inbox-name",
            "Support",
        ];
        run(binary, &place, &setup)?;
        let create = ["key", "create", "--name", "Bench", "--scopes", "read,write", "--by", OWNER];
        let said = run(binary, &place, &create)?;
        let key = key_in(&said).ok_or_else(|| format!("{} printed no key", binary.display()))?;
        let (listen, smtp) = (free_address()?, free_address()?);
        let mut command = serve(binary, place.folder.path(), &place.url, listen);
        command
            .env("MAILROOM_SMTP_LISTEN", smtp.to_string())
            .env("MAILROOM_DNS", names.to_string());
        let first = request(&key, "GET", "/me", "");
        let log = place.folder.path().join("server.log");
        let server = Server::start(&mut command, listen, first.as_bytes(), &log)?;
        Ok(Side { server, smtp, key, place })
    }

    pub fn figures(&self, customers: &Customers) -> Result<Vec<InboxFigure>, String> {
        inbox_figures(&self.place.url, &self.key, customers)
    }
}

/// Runs a command on a database; answers what it prints.
fn run(binary: &Path, place: &BenchDatabase, args: &[&str]) -> Result<String, String> {
    let output = Command::new(binary)
        .args(args)
        .env("MAILROOM_DATA", place.folder.path())
        .env("MAILROOM_DATABASE_URL", &place.url)
        .env("RUST_LOG", "warn")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{}: {error}", binary.display()))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!(
            "{} {}: {}",
            binary.display(),
            args.join(" "),
            String::from_utf8_lossy(&output.stderr).trim()
        )),
    }
}

/// The key that a text holds, whatever stands around it.
fn key_in(said: &str) -> Option<String> {
    let start = said.find(KEY)?;
    let is_part = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
    Some(said[start..].chars().take_while(is_part).collect())
}

#[cfg(test)]
mod tests {
    use super::key_in;

    #[test]
    fn a_key_is_found_in_whatever_a_build_prints() {
        for said in
            ["rk_live_ab12\n", "The key is rk_live_ab12. Keep it.", r#"{"key":"rk_live_ab12"}"#]
        {
            assert_eq!(key_in(said).as_deref(), Some("rk_live_ab12"), "{said}");
        }
        assert_eq!(key_in("No key"), None);
    }
}
