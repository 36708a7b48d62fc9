//! Connections to e-mail-sending services at the command line.

use std::fs;
use std::path::{Path, PathBuf};

use actions::integrations::services::{self, NewService};
use base::app::App;
use base::ids::ServiceId;
use clap::Subcommand;
use node::vault::Vault;
use outbound::services::{POSTMARK_PASSWORD_CHARS, POSTMARK_USER, SECRET_CHARS, Service as Kind};
use serde_json::json;
use url::{Host, Url};

use super::command::{
    CommandResult, WorkspaceArgs, count_noun, open, person, print, sentence, word_of,
};
use crate::mail_in::services::purpose;
use crate::settings::Settings;

#[derive(Subcommand)]
pub enum Service {
    /// Connect a service that your app sends its own mail through; prints the address it is to call
    Add {
        #[arg(value_parser = word_of!(Kind))]
        service: Kind,
        /// The owner or admin who connects it
        #[arg(long, value_name = "EMAIL")]
        by: String,
        /// The file that holds an API key which may read sent mail, where the service hands it out
        #[arg(long, value_name = "FILE")]
        api_key_file: Option<PathBuf>,
        /// The file that holds what its calls are checked with, where you have it already: the signing
        /// secret or key that the service shows, or the ARN of the topic; Postmark is given one
        #[arg(long, value_name = "FILE")]
        secret_file: Option<PathBuf>,
        /// The tag or metadata key in which your app puts its reference
        #[arg(long, value_name = "NAME", default_value = "reference")]
        reference_tag: String,
        /// Where the service's API is [default: the service's own address]
        #[arg(long, value_name = "URL")]
        api_url: Option<String>,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// Give a connection the secret that the service shows for its webhook
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
                service: kind,
                by,
                api_key_file,
                secret_file,
                reference_tag,
                api_url,
                workspace,
            } => {
                let maker = person(&app, &workspace.operator(&app).await?, by).await?;
                let vault = Vault::open(&settings.data, &app.ids)?;
                let (id, tag) = (ServiceId::new(&app.ids, app.clock.now()), reference_tag.clone());
                let key = match (api_key_file, kind.keeps_text()) {
                    (Some(path), true) => one_line(&path)?,
                    (None, false) => String::new(),
                    (None, true) => {
                        return Err(format!("api-key-file: {} needs one", kind.label()).into());
                    }
                    (Some(_), false) => {
                        let label = kind.label();
                        return Err(
                            format!("api-key-file: {label} hands out no text for a key").into()
                        );
                    }
                };
                let secret = match (kind, secret_file) {
                    (Kind::Postmark, Some(_)) => {
                        return Err("secret-file: Postmark is given one".into());
                    }
                    (Kind::Postmark, None) => Some(app.ids.secret(POSTMARK_PASSWORD_CHARS)),
                    (kind, Some(path)) => Some(secret_of(kind, &path)?),
                    (_, None) => None,
                };
                let seal = |what: &str, text: &str| vault.seal(&app.ids, &purpose(what, &id), text);
                let new = NewService {
                    service: kind,
                    sealed_key: seal("key", &key),
                    sealed_secret: secret.as_deref().map(|secret| seal("secret", secret)),
                    api_url: match (api_url.as_deref(), kind.keeps_text()) {
                        (Some(url), true) => api_address(url)?,
                        (Some(_), false) => {
                            return Err(format!("api-url: {} is not asked", kind.label()).into());
                        }
                        (None, _) => kind.api_url().to_owned(),
                    },
                    reference_tag,
                    id: id.clone(),
                };
                let path = app
                    .act(&maker, move |tx, cx| services::connect_service(tx, cx, &new))
                    .await
                    .map_err(sentence)?;
                let password = secret.filter(|_| kind == Kind::Postmark);
                let address = address(&app, &path, password.as_deref());
                let said = next_step(kind, &tag, &id, &address, password.is_some());
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
                let list = app.read(&operator, services::list_services).await.map_err(sentence)?;
                let known = list.iter().find(|listed| listed.id == id);
                let kind =
                    known.map(|listed| listed.service).ok_or("There is no such connection.")?;
                let secret = secret_of(kind, &secret_file)?;
                let sealed = vault.seal(&app.ids, &purpose("secret", &id), &secret);
                app.act(&operator, move |tx, cx| {
                    services::set_service_secret(tx, cx, &id, &sealed)
                })
                .await
                .map_err(sentence)?;
                print(workspace.output, &json!({ "ok": true }), "The connection is complete.");
            }
            Service::List { workspace } => {
                let operator = workspace.operator(&app).await?;
                let list = app.read(&operator, services::list_services).await.map_err(sentence)?;
                let lines = list.iter().map(|listed| {
                    let state = match (&listed.last_error, listed.complete) {
                        (_, false) => "its secret is missing (mailroom service secret)".to_owned(),
                        (Some(error), true) => error.clone(),
                        (None, true) => "ok".to_owned(),
                    };
                    let last = listed.last_noted_at.map_or("never".into(), |at| at.iso());
                    let noted = count_noun(listed.noted, "mail", "mails");
                    format!(
                        "{}  {}  {}\n    {state}; {noted} noted, last {last}",
                        listed.id,
                        listed.service.as_str(),
                        listed.address,
                    )
                });
                let said = lines.collect::<Vec<_>>().join("\n");
                print(workspace.output, &json!({ "services": list }), &said);
            }
            Service::Remove { id, workspace } => {
                let operator = workspace.operator(&app).await?;
                let id = parse(&id)?;
                app.act(&operator, move |tx, cx| services::disconnect_service(tx, cx, &id))
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

/// What is to be entered at the service, in the words of the settings page.
fn next_step(kind: Kind, tag: &str, id: &ServiceId, address: &str, complete: bool) -> String {
    let steps = kind.steps(tag).join("\n");
    let secret = format!(
        "\n\nPut that into a file, unless you gave it already, and say\n\n  mailroom service secret {id} \
         --secret-file FILE"
    );
    format!("  {address}\n\n{steps}{}", if complete { "" } else { &secret })
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

/// What the calls of a service are checked with.
fn secret_of(kind: Kind, path: &Path) -> Result<String, String> {
    let secret = one_line(path)?;
    if kind.is_secret(&secret) {
        return Ok(secret);
    }
    let (secret, service) = (kind.secret_label(), kind.label());
    Err(format!("{}: This is not the {secret} of {service}.", path.display()))
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
