//! The commands about the domains that mail is sent from.

use base::actor::Actor;
use base::app::App;
use clap::Subcommand;
use model::mailboxes::domains;
use serde_json::json;
use transport::mail_out::dns_records::{self, PublishedRecord, RecordStatus, SendingSetup};
use transport::net::dns_lookup::Lookup;

use super::command::{CommandFailure, CommandResult, WorkspaceArgs, open, print, sentence};
use crate::serve::relay_config;
use crate::settings::Settings;

#[derive(Subcommand)]
pub enum Domain {
    /// List the domains of the inboxes
    List {
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// Print the DNS records to publish (DKIM, SPF, DMARC, MX); the first time it makes the key
    /// that signs the domain's mail
    Dns {
        domain: String,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// Look the records up and say what is missing; a new key begins to sign once it is seen. The
    /// exit status is 0 when DKIM, SPF and DMARC are published
    Check {
        domain: String,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// Make a new signing key; the old one signs until `domain check` sees the new one's record
    Rotate {
        domain: String,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
}

impl Domain {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        let app = open(settings).await?;
        match self {
            Domain::List { workspace } => {
                let operator = workspace.operator(&app).await?;
                let list = app.read(&operator, domains::list_domains).await.map_err(sentence)?;
                print(workspace.output, &json!({ "domains": list }), &list.join("\n"));
            }
            Domain::Dns { domain, workspace } => {
                let operator = workspace.operator(&app).await?;
                if keys(&app, &operator, &domain).await?.is_empty() {
                    let key = make_key(&app).await?;
                    let domain = domain.clone();
                    app.act(&operator, move |tx, cx| {
                        domains::keep_first_key(tx, cx, &domain, &key)
                    })
                    .await
                    .map_err(sentence)?;
                }
                print_records(&app, &operator, settings, &domain, &workspace).await?;
            }
            Domain::Rotate { domain, workspace } => {
                let operator = workspace.operator(&app).await?;
                keys(&app, &operator, &domain).await?;
                let (key, named) = (make_key(&app).await?, domain.clone());
                app.act(&operator, move |tx, cx| domains::keep_next_key(tx, cx, &named, &key))
                    .await
                    .map_err(sentence)?;
                print_records(&app, &operator, settings, &domain, &workspace).await?;
            }
            Domain::Check { domain, workspace } => {
                let operator = workspace.operator(&app).await?;
                let (lookup, sending) = (Lookup::at(settings.dns)?, sending_setup(settings));
                let findings = dns_records::check(&app, &operator, &lookup, &domain, &sending)
                    .await
                    .map_err(sentence)?;
                let good = dns_records::are_good(&findings);
                let lines = findings.iter().map(|finding| {
                    let status = match finding.status {
                        RecordStatus::Good => "good     ",
                        RecordStatus::Missing => "missing  ",
                        RecordStatus::Different => "different",
                        RecordStatus::Unknown => "unknown  ",
                    };
                    let record = &finding.record;
                    format!("{status}  {} {}  {}", record.kind, record.name, finding.sentence)
                });
                let mut said = lines.collect::<Vec<_>>();
                if !dns_records::has_key(&findings) {
                    said.push(format!("There is no signing key yet: mailroom domain dns {domain}"));
                }
                let answer = json!({ "good": good, "records": findings });
                print(workspace.output, &answer, &said.join("\n"));
                if !good {
                    return Err(CommandFailure::Told);
                }
            }
        }
        Ok(())
    }
}

async fn make_key(app: &App) -> Result<mail::DkimKey, String> {
    let ids = app.ids.clone();
    let made = tokio::task::spawn_blocking(move || domains::make_key(&ids)).await;
    made.map_err(|error| error.to_string())?.map_err(sentence)
}

async fn keys(
    app: &App,
    operator: &Actor,
    domain: &str,
) -> Result<Vec<domains::ListedKey>, String> {
    let domain = domain.to_owned();
    app.read(operator, move |tx, cx| domains::list_keys(tx, cx, &domain)).await.map_err(sentence)
}

async fn print_records(
    app: &App,
    operator: &Actor,
    settings: &Settings,
    domain: &str,
    workspace: &WorkspaceArgs,
) -> CommandResult {
    let listed = keys(app, operator, domain).await?;
    let domain = mail::ascii_domain(domain.trim()).unwrap_or_default();
    let records = dns_records::records(&domain, &listed, &sending_setup(settings));
    let shown = records
        .iter()
        .map(|record| format!("; {}\n{}", record.note, PublishedRecord::zone_line(record)));
    let said = format!(
        "{}\n\nThen: mailroom domain check {domain}",
        shown.collect::<Vec<_>>().join("\n\n")
    );
    print(workspace.output, &json!({ "domain": domain, "records": records }), &said);
    Ok(())
}

fn sending_setup(settings: &Settings) -> SendingSetup {
    SendingSetup::of(&relay_config(settings))
}
