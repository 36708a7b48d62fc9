//! The certificate that the server orders by itself, at the command line.

use clap::Subcommand;
use model::installation::{acme, installation};
use serde_json::json;

use super::Json;
use super::command::{CommandResult, open, print, sentence};
use crate::settings::Settings;

#[derive(Subcommand)]
pub enum CertificateCommand {
    /// Order a new one now, also where the last order failed; a running server does so within seconds
    Renew(Json),
}

impl CertificateCommand {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        let CertificateCommand::Renew(output) = self;
        let Some(config) = settings.acme.clone() else {
            return Err("MAILROOM_ACME is not set: no certificate is ordered here.".into());
        };
        let app = open(settings).await?;
        let (host, directory, now) = (config.host.clone(), config.directory, app.clock.now());
        let order = move |tx: &mut db::Tx<'_>| {
            acme::set_plan(tx, &host, &directory, now)?;
            acme::move_order(tx, &host, now)?;
            Ok::<_, base::error::Error>(installation(tx)?.quiet().is_some())
        };
        if app.store.write(order).await.map_err(sentence)? {
            return Err(
                "A quiet installation orders nothing: the order is due after `mailroom quiet off`."
                    .into(),
            );
        }
        let said = format!(
            "The server orders a new certificate for {} within seconds, or when it starts. `mailroom \
             self-check` says how it went.",
            config.host
        );
        print(output, &json!({ "ok": true, "host": config.host }), &said);
        Ok(())
    }
}
