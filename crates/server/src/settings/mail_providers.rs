//! The settings of the clients that the operator registered at Google and Microsoft, by which people
//! connect mailboxes.

use std::fs;

use clap::Args;
use transport::mail_oauth::{OAuthClient, OAuthClients};

use super::setting_sources::SettingSources;

/// Any account, of an organisation or of a person.
const USUAL_TENANT: &str = "common";

/// The flags, as they were typed.
#[derive(Args, Clone, Debug, Default)]
pub struct MailProviderFlags {
    /// The client registered at Google, for mailboxes connected by signing in [default: none]
    #[arg(long, env = "MAILROOM_GOOGLE_CLIENT_ID", global = true, value_name = "ID")]
    pub google_client_id: Option<String>,
    /// The file that holds that client's secret
    #[arg(long, env = "MAILROOM_GOOGLE_CLIENT_SECRET_FILE", global = true, value_name = "FILE")]
    pub google_client_secret_file: Option<String>,
    /// Other addresses than Google's: authorize=URL token=URL imap=URL smtp=URL scope=WORD
    #[arg(long, env = "MAILROOM_GOOGLE_ENDPOINTS", global = true, value_name = "ADDRESSES")]
    pub google_endpoints: Option<String>,
    /// The client registered at Microsoft, for mailboxes connected by signing in [default: none]
    #[arg(long, env = "MAILROOM_MICROSOFT_CLIENT_ID", global = true, value_name = "ID")]
    pub microsoft_client_id: Option<String>,
    /// The file that holds that client's secret
    #[arg(long, env = "MAILROOM_MICROSOFT_CLIENT_SECRET_FILE", global = true, value_name = "FILE")]
    pub microsoft_client_secret_file: Option<String>,
    /// The directory whose accounts may sign in: its name or id, organizations or common
    /// [default: common]
    #[arg(long, env = "MAILROOM_MICROSOFT_TENANT", global = true, value_name = "TENANT")]
    pub microsoft_tenant: Option<String>,
    /// Other addresses than Microsoft's: authorize=URL token=URL imap=URL smtp=URL graph=URL scope=WORD
    #[arg(long, env = "MAILROOM_MICROSOFT_ENDPOINTS", global = true, value_name = "ADDRESSES")]
    pub microsoft_endpoints: Option<String>,
}

/// The names that `mailroom.toml` may hold.
pub(super) const NAMES: &[&str] = &[
    "google_client_id",
    "google_client_secret_file",
    "google_endpoints",
    "microsoft_client_id",
    "microsoft_client_secret_file",
    "microsoft_tenant",
    "microsoft_endpoints",
];

impl SettingSources {
    /// The clients whose settings are there and right.
    pub(super) fn oauth_clients(&mut self, flags: &MailProviderFlags) -> OAuthClients {
        let google = self.client(
            "google",
            [&flags.google_client_id, &flags.google_client_secret_file, &flags.google_endpoints],
            |id, secret| Ok(OAuthClient::google(id, secret)),
        );
        let tenant = self.text("microsoft_tenant", &flags.microsoft_tenant);
        let tenant = tenant.unwrap_or_else(|| USUAL_TENANT.into());
        let microsoft = self.client(
            "microsoft",
            [
                &flags.microsoft_client_id,
                &flags.microsoft_client_secret_file,
                &flags.microsoft_endpoints,
            ],
            |id, secret| {
                OAuthClient::microsoft(id, secret, tenant.trim())
                    .map_err(|rule| format!("microsoft_tenant: {rule}"))
            },
        );
        OAuthClients::new(google.into_iter().chain(microsoft).collect())
    }

    fn client(
        &mut self,
        provider: &str,
        [id, secret_file, endpoints]: [&Option<String>; 3],
        make: impl FnOnce(String, Option<String>) -> Result<OAuthClient, String>,
    ) -> Option<OAuthClient> {
        let secret_name = format!("{provider}_client_secret_file");
        let endpoints_name = format!("{provider}_endpoints");
        let id = self.text(&format!("{provider}_client_id"), id);
        let secret_file = self.text(&secret_name, secret_file);
        let endpoints = self.text(&endpoints_name, endpoints).unwrap_or_default();
        let Some(id) = id.map(|id| id.trim().to_owned()).filter(|id| !id.is_empty()) else {
            if secret_file.is_some() || !endpoints.is_empty() {
                let rule =
                    format!("{provider}_client_id: must be given with the client's settings");
                self.mistakes.push(rule);
            }
            return None;
        };
        let secret = secret_file.map(|file| secret_in(&secret_name, &file));
        let made = secret.transpose().and_then(|secret| make(id, secret)).and_then(|client| {
            let moved = client.with_endpoints(&endpoints);
            moved.map_err(|rule| format!("{endpoints_name}: {rule}"))
        });
        made.map_err(|mistake| self.mistakes.push(mistake)).ok()
    }
}

/// The secret in a file that a setting names. The error is a mistake of the settings.
pub(super) fn secret_in(name: &str, file: &str) -> Result<String, String> {
    match fs::read_to_string(file) {
        Ok(secret) if !secret.trim().is_empty() => Ok(secret.trim().to_owned()),
        Ok(_) => Err(format!("{name}: {file}: is empty")),
        Err(error) => Err(format!("{name}: {file}: {error}")),
    }
}
