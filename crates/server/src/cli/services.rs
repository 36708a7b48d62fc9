//! Connections to e-mail-sending services at the command line.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Subcommand, ValueEnum};
use inbox::App;
use inbox::actions::{self, NewService};
use inbox::base::ids::ServiceId;
use inbox::model::services::Service as Kind;
use serde_json::json;
use url::{Host, Url};

use super::command::{CommandResult, WorkspaceArgs, open, person, print, sentence};
use crate::mail_in::services::{POSTMARK_USER, purpose};
use crate::node::vault::Vault;
use crate::settings::Settings;

/// Characters of the password that Postmark is to name.
const PASSWORD_CHARS: usize = 32;
/// Characters of a key or secret.
const SECRET_CHARS: usize = 500;

#[derive(Clone, Copy, ValueEnum)]
pub enum Name {
    Resend,
    Postmark,
}

#[derive(Subcommand)]
pub enum Service {
    /// Connect a service that your app sends its own mail through; prints the address it is to call
    Add {
        service: Name,
        /// The owner or admin who connects it
        #[arg(long, value_name = "EMAIL")]
        by: String,
        /// The file that holds an API key which may read sent mail
        #[arg(long, value_name = "FILE")]
        api_key_file: PathBuf,
        /// Resend: the file that holds the signing secret of the webhook (whsec_…), where you have
        /// it already
        #[arg(long, value_name = "FILE")]
        secret_file: Option<PathBuf>,
        /// The tag (Resend) or metadata key (Postmark) in which your app puts its reference
        #[arg(long, value_name = "NAME", default_value = "reference")]
        reference_tag: String,
        /// Where the service's API is [default: the service's own address]
        #[arg(long, value_name = "URL")]
        api_url: Option<String>,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// Resend: give a connection the signing secret that Resend shows for its webhook
    Secret {
        /// The connection's id, as `service list` shows it
        id: String,
        #[arg(long, value_name = "FILE")]
        secret_file: PathBuf,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// List the connections and how they go
    List {
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// End a connection
    Remove {
        id: String,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
}

impl Service {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        let app = open(settings).await?;
        match self {
            Service::Add {
                service,
                by,
                api_key_file,
                secret_file,
                reference_tag,
                api_url,
                workspace,
            } => {
                let maker = person(&app, &workspace.operator(&app).await?, by).await?;
                let vault = Vault::open(&settings.data, &app.ids)?;
                let kind = match service {
                    Name::Resend => Kind::Resend,
                    Name::Postmark => Kind::Postmark,
                };
                let id = ServiceId::new(&app.ids, app.clock.now());
                let key = one_line(&api_key_file)?;
                let secret = match (kind, secret_file) {
                    (Kind::Resend, Some(path)) => Some(signing_secret(&path)?),
                    (Kind::Mailgun | Kind::SendGrid | Kind::AmazonSes, Some(path)) => {
                        Some(one_line(&path)?)
                    }
                    (Kind::Resend | Kind::Mailgun | Kind::SendGrid | Kind::AmazonSes, None) => None,
                    (Kind::Postmark, Some(_)) => {
                        return Err("secret-file: is for Resend; Postmark is given one".into());
                    }
                    (Kind::Postmark, None) => Some(app.ids.secret(PASSWORD_CHARS)),
                };
                let seal = |what: &str, text: &str| vault.seal(&app.ids, &purpose(what, &id), text);
                let new = NewService {
                    service: kind,
                    sealed_key: seal("key", &key),
                    sealed_secret: secret.as_deref().map(|secret| seal("secret", secret)),
                    api_url: api_address(api_url.as_deref().unwrap_or(kind.api_url()))?,
                    reference_tag,
                    id: id.clone(),
                };
                let path = app
                    .act(&maker, move |tx, cx| actions::connect_service(tx, cx, &new))
                    .await
                    .map_err(sentence)?;
                let password = secret.filter(|_| kind == Kind::Postmark);
                let address = address(&app, &path, password.as_deref());
                let said = next_step(kind, &id, &address, password.is_some());
                let answer = json!({
                    "id": id,
                    "address": address,
                    "user": password.as_ref().map(|_| POSTMARK_USER),
                    "password": password,
                });
                print(workspace.output, &answer, &said);
            }
            Service::Secret { id, secret_file, workspace } => {
                let operator = workspace.operator(&app).await?;
                let vault = Vault::open(&settings.data, &app.ids)?;
                let id = parse(&id)?;
                let secret = signing_secret(&secret_file)?;
                let sealed = vault.seal(&app.ids, &purpose("secret", &id), &secret);
                app.act(&operator, move |tx, cx| actions::set_service_secret(tx, cx, &id, &sealed))
                    .await
                    .map_err(sentence)?;
                print(workspace.output, &json!({ "ok": true }), "The connection is complete.");
            }
            Service::List { workspace } => {
                let operator = workspace.operator(&app).await?;
                let list = app.read(&operator, actions::list_services).await.map_err(sentence)?;
                let lines = list.iter().map(|listed| {
                    let state = match (&listed.last_error, listed.complete) {
                        (_, false) => "its secret is missing (mailroom service secret)".to_owned(),
                        (Some(error), true) => error.clone(),
                        (None, true) => "ok".to_owned(),
                    };
                    let last = listed.last_noted_at.map_or("never".into(), |at| at.iso());
                    format!(
                        "{}  {}  {}\n    {state}; {} mails noted, last {last}",
                        listed.id,
                        listed.service.as_str(),
                        listed.address,
                        listed.noted
                    )
                });
                let said = lines.collect::<Vec<_>>().join("\n");
                print(workspace.output, &json!({ "services": list }), &said);
            }
            Service::Remove { id, workspace } => {
                let operator = workspace.operator(&app).await?;
                let id = parse(&id)?;
                app.act(&operator, move |tx, cx| actions::disconnect_service(tx, cx, &id))
                    .await
                    .map_err(sentence)?;
                print(workspace.output, &json!({ "ok": true }), "The connection has ended.");
            }
        }
        Ok(())
    }
}

fn parse(id: &str) -> Result<ServiceId, String> {
    ServiceId::parse(id).ok_or_else(|| "A connection's id starts with svc_.".to_owned())
}

/// The whole address that the service is to call, with user and password where it names them.
fn address(app: &App, path: &str, password: Option<&str>) -> String {
    let url = format!("{}{path}", app.public_url);
    match (password, url.split_once("://")) {
        (Some(password), Some((scheme, rest))) => {
            format!("{scheme}://{POSTMARK_USER}:{password}@{rest}")
        }
        _ => url,
    }
}

fn next_step(kind: Kind, id: &ServiceId, address: &str, complete: bool) -> String {
    match (kind, complete) {
        (Kind::Postmark, _) => format!(
            "In Postmark, add a webhook for the event Delivery with this address; it holds the \
             password and is shown this once:\n\n  {address}"
        ),
        (Kind::Mailgun | Kind::SendGrid | Kind::AmazonSes, _) => format!(
            "Enter this address at {}; Settings, Sending services in the app says where:\n\n  {address}",
            kind.label()
        ),
        (Kind::Resend, _) => format!(
            "In Resend, add a webhook for the event email.sent with this address:\n\n  {address}\n\n\
             Resend then shows a signing secret (whsec_…). Put it into a file, unless you gave it \
             already, and say\n\n  mailroom service secret {id} --secret-file FILE"
        ),
    }
}

fn one_line(path: &Path) -> Result<String, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let line = text.trim();
    let plain = line.chars().all(|c| c.is_ascii_graphic());
    if line.is_empty() || line.len() > SECRET_CHARS || !plain {
        return Err(format!("{}: must hold one line of visible characters", path.display()));
    }
    Ok(line.to_owned())
}

fn signing_secret(path: &Path) -> Result<String, String> {
    let secret = one_line(path)?;
    if !inbox::model::webhook_signing::is_secret(&secret) {
        return Err(format!("{}: must hold a secret such as whsec_…", path.display()));
    }
    Ok(secret)
}

/// The address of an API: https, or http on this machine alone.
fn api_address(text: &str) -> Result<String, String> {
    let wanted = || "api-url: must be an https:// address".to_owned();
    let url = Url::parse(text).map_err(|_| wanted())?;
    let here = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => return Err(wanted()),
    };
    let safe = url.scheme() == "https" || (url.scheme() == "http" && here);
    let plain = url.username().is_empty() && url.password().is_none() && url.query().is_none();
    if safe && plain { Ok(text.trim_end_matches('/').to_owned()) } else { Err(wanted()) }
}
