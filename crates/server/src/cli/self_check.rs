//! Looks for faults of the set-up before they cost mail: folders, keys, database, blobs, certificate,
//! addresses.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use actions::sign_in::provider_accounts;
use backup::{BackupPlace, read_passphrase};
use base::app::App;
use base::files::private_files::FILE_MODE;
use base::limits::DAY_MS;
use base::time::{Clock, Moment, SystemClock};
use clap::Args;
use maintenance::load;
use model::installation::acme;
use model::installation::installation;
use model::installation::scheduled_backups::{ScheduledBackups, scheduled_backups};
use node::storage_check::require_writable;
use node::vault::KEY_FILE;
use serde_json::json;
use transport::acme::AcmeServer;
use transport::mail_out::RelayTarget;
use transport::net::tls_certificate::{certificate_facts, self_signed_sentence};
use transport::oidc::oidc_redirect_uri;

use super::Json;
use super::command::{CommandFailure, CommandResult, print, sentence};
use crate::serve::{open_app, open_oidc};
use crate::settings::Settings;

/// A certificate that ends within this time is worth a notice.
const CERTIFICATE_SOON_MS: i64 = 14 * DAY_MS;

#[derive(Args)]
pub struct SelfCheck {
    /// Print faults alone, for use before the service starts
    #[arg(long)]
    quietly: bool,
    #[command(flatten)]
    output: Json,
}

/// What was found about one part of the set-up.
struct SetupFinding {
    part: &'static str,
    state: SetupState,
    sentence: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SetupState {
    Fine,
    /// It works, and is probably not what was meant.
    Notice,
    /// It does not work.
    Fault,
}

impl SetupState {
    fn word(self) -> &'static str {
        match self {
            SetupState::Fine => "ok",
            SetupState::Notice => "notice",
            SetupState::Fault => "fault",
        }
    }
}

impl SelfCheck {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        let mut found = vec![folders(settings), key_file(&settings.data)];
        if settings.acme.is_none() {
            found.push(certificate(settings));
        }
        found.extend(check_installation(settings).await);
        found.push(public_url(settings));
        found.push(relay(settings));
        found.extend(sign_in_provider(settings).await);
        found.push(backup_place(settings));
        let is_faulty = found.iter().any(|finding| finding.state == SetupState::Fault);
        let shown: Vec<_> = found
            .iter()
            .map(|finding| {
                json!({
                    "part": finding.part,
                    "state": finding.state.word(),
                    "sentence": finding.sentence,
                })
            })
            .collect();
        let told = found
            .iter()
            .filter(|finding| !self.quietly || finding.state == SetupState::Fault)
            .map(|f| format!("{:<6}  {}: {}", f.state.word(), f.part, f.sentence));
        let told: Vec<String> = told.collect();
        if self.output.json || !told.is_empty() {
            print(self.output, &json!({ "ok": !is_faulty, "parts": shown }), &told.join("\n"));
        }
        if is_faulty { Err(CommandFailure::Told) } else { Ok(()) }
    }
}

fn finding(part: &'static str, state: SetupState, sentence: impl Into<String>) -> SetupFinding {
    SetupFinding { part, state, sentence: sentence.into() }
}

fn folders(settings: &Settings) -> SetupFinding {
    match require_writable(&settings.data, &settings.blobs) {
        Ok(()) => finding("folders", SetupState::Fine, "data and blobs can be written"),
        Err(fault) => finding("folders", SetupState::Fault, fault),
    }
}

fn key_file(data: &Path) -> SetupFinding {
    let path = data.join(KEY_FILE);
    match fs::metadata(&path) {
        Err(_) => {
            finding("secret.key", SetupState::Notice, "is made at the first start; back it up")
        }
        Ok(file) if file.permissions().mode() & 0o777 & !FILE_MODE != 0 => {
            let mode = file.permissions().mode() & 0o777;
            let sentence =
                format!("others may read {} (mode {mode:o}); chmod it to 600", path.display());
            finding("secret.key", SetupState::Fault, sentence)
        }
        Ok(_) => finding("secret.key", SetupState::Fine, "is there, for this user alone"),
    }
}

fn certificate(settings: &Settings) -> SetupFinding {
    let part = "certificate";
    let Some((chain, key)) = &settings.tls else {
        return finding(part, SetupState::Notice, "none is set: STARTTLS uses a self-signed one");
    };
    let facts = match certificate_facts(chain, key) {
        Ok(facts) => facts,
        Err(fault) => return finding(part, SetupState::Fault, fault),
    };
    let Some(until) = facts.expires else {
        return finding(part, SetupState::Fine, format!("{} can be used", chain.display()));
    };
    let (day, left) = (until.strftime("%Y-%m-%d"), until.as_millisecond() - SystemClock.now());
    let sentence = |what: &str| format!("{} {what} {day}", chain.display());
    if left <= 0 {
        finding(part, SetupState::Notice, sentence("has ended on"))
    } else if left < CERTIFICATE_SOON_MS {
        finding(part, SetupState::Notice, sentence("ends soon, on"))
    } else if facts.is_self_signed {
        finding(part, SetupState::Notice, self_signed_sentence(chain))
    } else {
        finding(part, SetupState::Fine, sentence("can be used until"))
    }
}

/// The certificate that the server orders by itself.
async fn ordered_certificate(settings: &Settings, app: &App) -> Option<SetupFinding> {
    let part = "certificate";
    let config = settings.acme.clone()?;
    let (host, directory) = (config.host.clone(), config.directory.clone());
    if let Err(fault) = AcmeServer::new(app.clone(), config) {
        return Some(finding(part, SetupState::Fault, fault));
    }
    let asked = host.clone();
    let found = match app.store.read(move |tx| acme::certificate(tx, &asked)).await {
        Ok(found) => found,
        Err(error) => return Some(finding(part, SetupState::Notice, sentence(error))),
    };
    let until = found.as_ref().and_then(|found| found.expires_at);
    let held = match until {
        Some(until) => format!("the one of {host} can be used until {}", Moment(until).iso()),
        None => format!("there is none of {host} yet"),
    };
    Some(match found {
        Some(acme::AcmeCertificate { failures: 1.., failure, next_at, .. }) => {
            let why = failure.unwrap_or_default();
            let again = Moment(next_at).iso();
            let sentence = format!(
                "{held}; the last order failed: {why}; it is tried again at {again}, or with \
                 `mailroom certificate renew`"
            );
            finding(part, SetupState::Notice, sentence)
        }
        Some(acme::AcmeCertificate { next_at, .. }) if until.is_some() => {
            let sentence = format!("{held} and is renewed at {}", Moment(next_at).iso());
            finding(part, SetupState::Fine, sentence)
        }
        _ => {
            let sentence = format!("{held}: the server orders it from {directory}");
            finding(part, SetupState::Notice, sentence)
        }
    })
}

/// The database, the key and the blobs, which are opened together as the server does.
async fn check_installation(settings: &Settings) -> Vec<SetupFinding> {
    let app = match open_app(settings, "") {
        Ok(app) => app,
        Err(fault) => return vec![finding("database", SetupState::Fault, fault)],
    };
    let read = app.store.read(|tx| Ok((load::is_empty(tx)?, installation(tx)?))).await;
    let (is_empty, installed) = match read {
        Ok(read) => read,
        Err(error) => return vec![finding("database", SetupState::Fault, sentence(error))],
    };
    let now = SystemClock.now();
    let database =
        match app.store.write(move |tx| model::installation::node_files::write_time(tx, now)).await
        {
            Ok(()) => finding("database", SetupState::Fine, "opens, and can be written"),
            Err(error) => finding("database", SetupState::Fault, sentence(error)),
        };
    let workspace = if is_empty {
        finding(
            "workspace",
            SetupState::Notice,
            "there is none yet: make one with `mailroom setup`",
        )
    } else {
        finding("workspace", SetupState::Fine, "there is one")
    };
    let quiet = match installed.quiet() {
        Some(mark) => {
            let sentence = format!(
                "nothing is sent or fetched since {}: {}",
                mark.since.iso(),
                mark.reason.sentence()
            );
            finding("quiet mode", SetupState::Notice, sentence)
        }
        None => finding("quiet mode", SetupState::Fine, "off"),
    };
    let backups = app.store.read(scheduled_backups).await;
    let backups = backups.map_or_else(|error| Some(broken_backups(sentence(error))), last_backup);
    let certificate = ordered_certificate(settings, &app).await;
    [database, workspace, quiet].into_iter().chain(backups).chain(certificate).collect()
}

/// How the last scheduled backup went.
fn last_backup(found: ScheduledBackups) -> Option<SetupFinding> {
    found.place.as_ref()?;
    let written = match (found.succeeded_at, found.backup) {
        (Some(at), Some(backup)) => format!("{backup} was written at {}", Moment(at).iso()),
        _ => "none was written yet".into(),
    };
    Some(match (found.failures, found.failed_at) {
        (1.., Some(at)) => broken_backups(format!(
            "the last one failed at {}: {}; {written}",
            Moment(at).iso(),
            found.failure.unwrap_or_default()
        )),
        _ => match found.failure {
            Some(lacks) => broken_backups(format!("{written}; {lacks}")),
            None => finding("last backup", SetupState::Fine, written),
        },
    })
}

fn broken_backups(sentence: String) -> SetupFinding {
    finding("last backup", SetupState::Notice, sentence)
}

/// Where backups go, and whether they can be sealed.
fn backup_place(settings: &Settings) -> SetupFinding {
    let part = "backups";
    let Some(backups) = &settings.backups else {
        return finding(
            part,
            SetupState::Notice,
            "MAILROOM_BACKUP_TO is not set: write them yourself",
        );
    };
    if let Err(fault) = BackupPlace::parse(&backups.place, &settings.backup_spool()) {
        return finding(part, SetupState::Fault, fault);
    }
    match backups.passphrase_file.as_deref().map(read_passphrase) {
        Some(Err(fault)) => finding(part, SetupState::Fault, fault),
        Some(Ok(_)) => finding(
            part,
            SetupState::Fine,
            format!("{}, sealed, {}", backups.place, backups.timing),
        ),
        None => {
            let sentence = format!("{}, not sealed, {}", backups.place, backups.timing);
            finding(part, SetupState::Fine, sentence)
        }
    }
}

fn public_url(settings: &Settings) -> SetupFinding {
    match &settings.public_url {
        None => finding(
            "public URL",
            SetupState::Notice,
            "MAILROOM_PUBLIC_URL is not set: links in mail lead to this machine alone",
        ),
        Some(url) if url.starts_with("http://") => finding(
            "public URL",
            SetupState::Notice,
            format!("{url} is without https: cookies and mail travel readable, and OAuth is off"),
        ),
        Some(url) => finding("public URL", SetupState::Fine, url.clone()),
    }
}

fn relay(settings: &Settings) -> SetupFinding {
    if settings.relay == RelayTarget::Nowhere {
        return finding(
            "outgoing mail",
            SetupState::Notice,
            "MAILROOM_RELAY is not set: only inboxes with an outgoing server of their own send",
        );
    }
    finding("outgoing mail", SetupState::Fine, "a relay is set")
}

/// Whether the OpenID provider answers as the settings say.
async fn sign_in_provider(settings: &Settings) -> Option<SetupFinding> {
    let part = "sign-in provider";
    let client = match open_oidc(settings) {
        Ok(None) => return None,
        Ok(Some(client)) => client,
        Err(fault) => return Some(finding(part, SetupState::Fault, fault)),
    };
    let issuer = &client.rules().issuer;
    if let Err(fault) = client.look().await {
        let sentence = format!("{issuer} cannot be used: {}", fault.reason());
        // Owners get in without it, so the server starts.
        return Some(finding(part, SetupState::Notice, sentence));
    }
    if let Some(fault) = missing_workspace(settings, client.rules().joins.clone()).await {
        return Some(finding(part, SetupState::Fault, fault));
    }
    let public_url = settings.public_url.as_deref().unwrap_or("the public URL");
    let uri = oidc_redirect_uri(public_url);
    let sentence =
        format!("{issuer} answers; its client needs the redirect URI {uri}, also for signing out");
    Some(finding(part, SetupState::Fine, sentence))
}

/// The workspace that people of the provider join must be there.
async fn missing_workspace(settings: &Settings, slug: Option<String>) -> Option<String> {
    let slug = slug?;
    let app = open_app(settings, "").ok()?;
    let asked = slug.clone();
    let found = app.store.read(move |tx| provider_accounts::has_workspace(tx, &asked)).await;
    match found {
        Ok(true) => None,
        Ok(false) => Some(format!("MAILROOM_OIDC_JOIN: there is no workspace {slug}")),
        Err(error) => Some(sentence(error)),
    }
}
