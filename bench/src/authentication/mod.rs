//! How SPF and ARC do on suites of cases that others wrote, by way of the server's own checks and a
//! DNS server that knows what a case says.

mod arc;
mod spf;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use server::mail_in::authentication::{AuthenticationConfig, DnsAuthenticator};
use test_dns::{DnsAnswer, DnsRecord, DnsServer};
use tokio::runtime::Runtime;

/// Names and what stands under them, lower case.
pub type Zone = HashMap<String, Vec<DnsRecord>>;

/// The name whose server always fails, in the suites.
const TROUBLE: &str = "_dns_error.org";

/// Scores every suite in the folders, and prints each case that came out otherwise.
pub fn score(folders: &[PathBuf]) -> Result<(), String> {
    let bench = Bench::new()?;
    let mut found = false;
    for file in folders.iter().flat_map(|folder| files(folder)) {
        let text = fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        let folder = file.parent().and_then(Path::file_name).and_then(|name| name.to_str());
        let score = match (folder, file.extension().and_then(|name| name.to_str())) {
            (Some("spf"), Some("yml")) => spf::score(&bench, &text)?,
            (Some("tests"), Some("yml")) => arc::score_suite(&bench, &text)?,
            (Some("arc"), Some("txt")) => arc::score_mail(&bench, &text)?,
            _ => continue,
        };
        found = true;
        println!(
            "{:>4} of {:>4}   {}",
            score.right,
            score.right + score.wrong.len(),
            file.display()
        );
        score.wrong.iter().for_each(|wrong| println!("               {wrong}"));
    }
    if found { Ok(()) } else { Err("there is no suite in these folders".into()) }
}

#[derive(Default)]
pub struct Score {
    right: usize,
    /// What came out otherwise, as sentences.
    wrong: Vec<String>,
}

impl Score {
    fn note(&mut self, case: &str, expected: &str, came: &str) {
        match expected == came {
            true => self.right += 1,
            false => self.wrong.push(format!("{case}: {expected} was expected, {came} came")),
        }
    }
}

/// A DNS server and somebody to ask it.
pub struct Bench {
    runtime: Runtime,
    names: DnsServer,
}

impl Bench {
    fn new() -> Result<Bench, String> {
        let runtime = Runtime::new().map_err(|error| error.to_string())?;
        Ok(Bench { runtime, names: DnsServer::start(|_| DnsAnswer::Nothing)? })
    }

    /// One that has asked nothing yet, of a DNS that knows this zone.
    fn authenticator(&self, zone: &Zone) -> Result<DnsAuthenticator, String> {
        let zone = Arc::new(zone.clone());
        self.names.learn(move |name| match zone.get(name) {
            _ if name.ends_with(TROUBLE) => DnsAnswer::Trouble,
            Some(records) => DnsAnswer::Records(records.clone()),
            None => DnsAnswer::Nothing,
        });
        let config = AuthenticationConfig { dns: Some(self.names.address), trusted_results: None };
        let _entered = self.runtime.enter();
        DnsAuthenticator::of(&config)
    }
}

/// Every file below a folder, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    let below = |path: PathBuf| if path.is_dir() { files(&path) } else { vec![path] };
    paths.into_iter().flat_map(below).collect()
}
