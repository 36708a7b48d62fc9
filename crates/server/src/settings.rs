//! Settings: a flag, or the variable of the same name, or `mailroom.toml` in the data folder, in
//! that order. All mistakes are reported together, and nothing starts half-configured.

mod acme;
mod backups;
mod environment;
mod https;
mod mail_providers;
mod oidc;
mod replica;
mod setting_sources;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use backup::BackupSettings;
use base::limits::RATE_PER_MINUTE;
use clap::Args;
use document_reader::ReaderEndpoint;
use document_reader::clamd::Clamd;
use transport::acme::AcmeConfig;
use transport::http::secure_listeners::HttpsListen;
use transport::mail_oauth::OAuthClients;
use transport::mail_out::RelayTarget;
use transport::net::bucket::BucketConfig;
use transport::net::listen_address::{ListenAddress, Networks, SocketAccess};
use transport::oidc::OidcConfig;
use transport::reply_model::ModelEndpoint;

use setting_sources::SettingSources;

pub use acme::AcmeFlags;
pub use backups::BackupFlags;
pub use environment::unknown_variables;
pub use https::HttpsFlags;
pub use mail_providers::MailProviderFlags;
pub use oidc::OidcFlags;
pub use replica::ReplicaFlags;

/// The flags, as they were typed.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "Settings")]
pub struct Flags {
    /// The data folder [default: ./mailroom-data]
    #[arg(long, env = "MAILROOM_DATA", global = true, value_name = "FOLDER")]
    pub data: Option<PathBuf>,
    /// sqlite:PATH or postgres://… [default: SQLite in the data folder]
    #[arg(
        long,
        env = "MAILROOM_DATABASE_URL",
        global = true,
        value_name = "URL",
        hide_env_values = true
    )]
    pub database_url: Option<String>,
    /// Where to serve HTTP [default: 127.0.0.1:8080]
    #[arg(long, env = "MAILROOM_LISTEN", global = true, value_name = "ADDRESS")]
    pub listen: Option<String>,
    /// Where to take mail by SMTP, or off [default: 127.0.0.1:2525]
    #[arg(long, env = "MAILROOM_SMTP_LISTEN", global = true, value_name = "ADDRESS")]
    pub smtp_listen: Option<String>,
    /// Where a mail server of yours hands mail over by LMTP: address and port, unix:PATH or off
    /// [default: off]
    #[arg(long, env = "MAILROOM_LMTP_LISTEN", global = true, value_name = "PLACE")]
    pub lmtp_listen: Option<String>,
    /// The mode of the LMTP socket, as for chmod [default: 660]
    #[arg(long, env = "MAILROOM_LMTP_SOCKET_MODE", global = true, value_name = "MODE")]
    pub lmtp_socket_mode: Option<String>,
    /// The group of the LMTP socket, such as postfix [default: the one of this process]
    #[arg(long, env = "MAILROOM_LMTP_SOCKET_GROUP", global = true, value_name = "GROUP")]
    pub lmtp_socket_group: Option<String>,
    /// The certificate chain for STARTTLS and HTTPS, a PEM file [default: self-signed]
    #[arg(long, env = "MAILROOM_TLS_CERT", global = true, value_name = "FILE")]
    pub tls_cert: Option<String>,
    /// The certificate's private key, a PEM file
    #[arg(long, env = "MAILROOM_TLS_KEY", global = true, value_name = "FILE")]
    pub tls_key: Option<String>,
    /// Networks of your own mail servers, such as 10.0.0.0/8, 192.0.2.7 [default: none]
    #[arg(long, env = "MAILROOM_TRUSTED_NETWORKS", global = true, value_name = "NETWORKS")]
    pub trusted_networks: Option<String>,
    /// Networks of your reverse proxies, whose X-Forwarded-For counts; this machine's always does
    /// [default: none]
    #[arg(long, env = "MAILROOM_TRUSTED_PROXIES", global = true, value_name = "NETWORKS")]
    pub trusted_proxies: Option<String>,
    /// The name by which your mail server signs its Authentication-Results [default: none]
    #[arg(long, env = "MAILROOM_TRUSTED_RESULTS", global = true, value_name = "NAME")]
    pub trusted_results: Option<String>,
    /// Where this service is reached from outside [default: http:// and the listen address]
    #[arg(long, env = "MAILROOM_PUBLIC_URL", global = true, value_name = "URL")]
    pub public_url: Option<String>,
    /// The developer site whose pages may call the API from a browser [default: none]
    #[arg(long, env = "MAILROOM_DEVELOPER_SITE", global = true, value_name = "URL")]
    pub developer_site: Option<String>,
    /// Let OAuth clients register themselves; others name a document about them [default: true]
    #[arg(long, env = "MAILROOM_OAUTH_REGISTRATION", global = true, value_name = "BOOLEAN")]
    pub oauth_registration: Option<String>,
    /// The DNS server to ask where names lead [default: the system's resolver]
    #[arg(long, env = "MAILROOM_DNS", global = true, value_name = "ADDRESS")]
    pub dns: Option<String>,
    /// Where raw mail, attachments and uploads are kept: a folder, or s3://BUCKET/PREFIX with the
    /// usual AWS_… variables [default: blobs in the data folder]
    #[arg(long, env = "MAILROOM_BLOBS", global = true, value_name = "PLACE")]
    pub blobs: Option<String>,
    /// Where mail leaves: smtp://USER:PASSWORD@HOST, smtps://…, mx: (straight to the recipients'
    /// servers) or file:FOLDER [default: none, mail waits]
    #[arg(
        long,
        env = "MAILROOM_RELAY",
        global = true,
        value_name = "RELAY",
        hide_env_values = true
    )]
    pub relay: Option<String>,
    /// The virus scanner for uploads: unix:PATH or host:port of a clamd [default: none]
    #[arg(long, env = "MAILROOM_CLAMD", global = true, value_name = "ADDRESS")]
    pub clamd: Option<String>,
    /// An OpenAI-compatible endpoint that reads documents, such as https://host/v1 [default: none]
    #[arg(long, env = "MAILROOM_READER_URL", global = true, value_name = "URL")]
    pub reader_url: Option<String>,
    /// The file that holds the endpoint's key [default: none is sent]
    #[arg(long, env = "MAILROOM_READER_KEY_FILE", global = true, value_name = "FILE")]
    pub reader_key_file: Option<String>,
    /// The model that the endpoint is asked for
    #[arg(long, env = "MAILROOM_READER_MODEL", global = true, value_name = "NAME")]
    pub reader_model: Option<String>,
    /// An OpenAI-compatible endpoint that drafts replies, such as https://host/v1 [default: none]
    #[arg(long, env = "MAILROOM_MODEL_URL", global = true, value_name = "URL")]
    pub model_url: Option<String>,
    /// The file that holds the endpoint's key [default: none is sent]
    #[arg(long, env = "MAILROOM_MODEL_KEY_FILE", global = true, value_name = "FILE")]
    pub model_key_file: Option<String>,
    /// The model that drafts
    #[arg(long, env = "MAILROOM_MODEL", global = true, value_name = "NAME")]
    pub model: Option<String>,
    /// Where to serve /metrics, apart from everything else [default: nowhere]
    #[arg(long, env = "MAILROOM_METRICS_LISTEN", global = true, value_name = "ADDRESS")]
    pub metrics_listen: Option<String>,
    /// Requests a minute for each key [default: 120]
    #[arg(long, env = "MAILROOM_RATE_PER_MINUTE", global = true, value_name = "NUMBER")]
    pub rate_per_minute: Option<String>,
    /// SQLite: the most writes that share one commit; 1 gives each its own [default: 128]
    #[arg(long, env = "MAILROOM_COMMIT_BATCH", global = true, value_name = "NUMBER")]
    pub commit_batch: Option<String>,
    /// Send nothing, fetch nothing and call no webhook [default: false]
    #[arg(
        long,
        env = "MAILROOM_QUIET",
        global = true,
        value_name = "BOOLEAN",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    pub quiet: Option<String>,
    /// Allow webhooks to private and http addresses, for development alone [default: false]
    #[arg(long, env = "MAILROOM_WEBHOOKS_ALLOW_PRIVATE", global = true, value_name = "BOOLEAN")]
    pub webhooks_allow_private: Option<String>,
    /// Allow owners and admins to name mail servers in private networks [default: false]
    #[arg(long, env = "MAILROOM_MAIL_ALLOW_PRIVATE", global = true, value_name = "BOOLEAN")]
    pub mail_allow_private: Option<String>,
    #[command(flatten)]
    pub replica: ReplicaFlags,
    #[command(flatten)]
    pub backups: BackupFlags,
    #[command(flatten)]
    pub https: HttpsFlags,
    #[command(flatten)]
    pub acme: AcmeFlags,
    #[command(flatten)]
    pub mail_providers: MailProviderFlags,
    #[command(flatten)]
    pub oidc: OidcFlags,
}

base::debug_without_secrets!(Flags { data, listen });

/// The settings a process runs with.
#[derive(Clone)]
pub struct Settings {
    pub data: PathBuf,
    pub database_url: String,
    /// The standby that reports and the audit log are read from.
    pub database_replica_url: Option<String>,
    pub listen: SocketAddr,
    pub https: HttpsListen,
    pub smtp_listen: ListenAddress,
    pub lmtp_listen: ListenAddress,
    pub lmtp_socket: SocketAccess,
    /// The files of the certificate and its key.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// The certificate that is ordered in their place.
    pub acme: Option<AcmeConfig>,
    /// Where our own mail servers are, which take mail from others and hand it on to us.
    pub trusted_networks: Networks,
    /// Where our reverse proxies are, beside those on this machine.
    pub trusted_proxies: Networks,
    /// The mail server of ours whose Authentication-Results are believed.
    pub trusted_results: Option<String>,
    /// Without a slash at the end.
    pub public_url: Option<String>,
    /// An origin, such as `https://developers.example.com`.
    pub developer_site: Option<String>,
    pub oauth_registration: bool,
    /// The DNS server to ask instead of the system's resolver.
    pub dns: Option<SocketAddr>,
    /// The folder of blobs; with a bucket, of files that are arriving.
    pub blobs: PathBuf,
    /// Where blobs are kept instead, shared by several nodes.
    pub bucket: Option<BucketConfig>,
    pub relay: RelayTarget,
    pub clamd: Option<Clamd>,
    pub reader: Option<ReaderEndpoint>,
    /// The language model that drafts replies.
    pub model: Option<ModelEndpoint>,
    pub metrics_listen: Option<SocketAddr>,
    pub rate_per_minute: u32,
    pub commit_batch: usize,
    /// Nothing is sent or fetched, whatever the database says.
    pub quiet: bool,
    pub webhooks_allow_private: bool,
    /// Mail servers in private networks may be named in the app.
    pub mail_allow_private: bool,
    /// Where people can sign in to connect a mailbox.
    pub oauth_clients: OAuthClients,
    /// The OpenID provider at which people sign in.
    pub oidc: Option<OidcConfig>,
    /// Backups that the server writes by itself.
    pub backups: Option<BackupSettings>,
    /// Nothing outside is called, whatever is asked for in the app: a public demo.
    pub sealed_off: bool,
}

base::debug_without_secrets!(Settings { data, listen, blobs, bucket, relay, oidc });

/// How the address of a bucket begins.
const S3: &str = "s3://";

/// Where HTTP is served unless the settings say otherwise.
const USUAL_LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);

/// The names that `mailroom.toml` may hold.
const NAMES: &[&str] = &[
    "database_url",
    "listen",
    "smtp_listen",
    "lmtp_listen",
    "lmtp_socket_mode",
    "lmtp_socket_group",
    "tls_cert",
    "tls_key",
    "trusted_networks",
    "trusted_proxies",
    "trusted_results",
    "public_url",
    "developer_site",
    "oauth_registration",
    "dns",
    "blobs",
    "relay",
    "clamd",
    "reader_url",
    "reader_key_file",
    "reader_model",
    "model_url",
    "model_key_file",
    "model",
    "metrics_listen",
    "rate_per_minute",
    "commit_batch",
    "quiet",
    "webhooks_allow_private",
    "mail_allow_private",
];

fn names() -> impl Iterator<Item = &'static str> {
    let mail = mail_providers::NAMES;
    let groups = [NAMES, acme::NAMES, backups::NAMES, https::NAMES];
    let groups = groups.into_iter().chain([mail, oidc::NAMES, replica::NAMES]);
    groups.flatten().copied()
}

/// Folders that cannot be ones.
fn place_mistakes(settings: &Settings) -> Vec<String> {
    let mut folders = vec![("data", &settings.data)];
    if settings.bucket.is_none() {
        folders.push(("blobs", &settings.blobs));
    }
    if let RelayTarget::Folder(folder) = &settings.relay {
        folders.push(("relay", folder));
    }
    let mistakes = folders.into_iter().filter_map(|(name, folder)| {
        if folder.as_os_str().is_empty() {
            return Some(format!("{name}: must name a folder; it is empty"));
        }
        let is_other = folder.metadata().is_ok_and(|found| !found.is_dir());
        is_other.then(|| format!("{name}: {} is a file, and must be a folder", folder.display()))
    });
    mistakes.collect()
}

impl Settings {
    /// Puts flags, variables and file together; every mistake is one line of the error.
    pub fn load(flags: &Flags) -> Result<Settings, Vec<String>> {
        let data = flags.data.clone().unwrap_or_else(|| "mailroom-data".into());
        let mut found = SettingSources::of_folder(&data);
        let mut settings = Settings {
            database_url: found
                .text("database_url", &flags.database_url)
                .unwrap_or_else(|| format!("sqlite:{}", data.join("mailroom.db").display())),
            database_replica_url: found.database_replica_url(&flags.replica),
            listen: found
                .parse("listen", &flags.listen, "an address and port such as 127.0.0.1:8080")
                .unwrap_or(USUAL_LISTEN),
            https: found.https(&flags.https),
            smtp_listen: found
                .parse("smtp_listen", &flags.smtp_listen, "an address and port, or off")
                .unwrap_or_else(|| ListenAddress::Tcp(SocketAddr::from(([127, 0, 0, 1], 2525)))),
            lmtp_listen: found
                .parse("lmtp_listen", &flags.lmtp_listen, "an address and port, unix:PATH or off")
                .unwrap_or(ListenAddress::Off),
            lmtp_socket: found.lmtp_socket(flags),
            tls: found.tls_files(&flags.tls_cert, &flags.tls_key),
            acme: None,
            trusted_networks: found
                .parse(
                    "trusted_networks",
                    &flags.trusted_networks,
                    "networks such as 10.0.0.0/8, 192.0.2.7",
                )
                .unwrap_or_default(),
            trusted_proxies: found
                .parse(
                    "trusted_proxies",
                    &flags.trusted_proxies,
                    "networks such as 10.0.0.0/8, 192.0.2.7",
                )
                .unwrap_or_default(),
            trusted_results: found.trusted_results(&flags.trusted_results),
            public_url: found.web_address("public_url", &flags.public_url),
            developer_site: found.web_address("developer_site", &flags.developer_site),
            oauth_registration: found
                .parse("oauth_registration", &flags.oauth_registration, "true or false")
                .unwrap_or(true),
            dns: found.parse("dns", &flags.dns, "an address and port such as 127.0.0.1:53"),
            blobs: found
                .text("blobs", &flags.blobs)
                .filter(|place| !place.starts_with(S3))
                .map_or_else(|| data.join("blobs"), PathBuf::from),
            bucket: found.bucket(&flags.blobs),
            relay: found.relay(&flags.relay),
            clamd: found.parse(
                "clamd",
                &flags.clamd,
                "unix: and a path, or a host and port such as 127.0.0.1:3310",
            ),
            reader: found.reader(flags),
            model: found.model(flags),
            metrics_listen: found.parse(
                "metrics_listen",
                &flags.metrics_listen,
                "an address and port such as 127.0.0.1:9090",
            ),
            rate_per_minute: found
                .parse("rate_per_minute", &flags.rate_per_minute, "a whole number from 1")
                .unwrap_or(RATE_PER_MINUTE),
            commit_batch: found
                .parse("commit_batch", &flags.commit_batch, "a whole number from 1")
                .unwrap_or(db::StoreOptions::default().commit_batch),
            quiet: found.parse("quiet", &flags.quiet, "true or false").unwrap_or(false),
            webhooks_allow_private: found
                .parse("webhooks_allow_private", &flags.webhooks_allow_private, "true or false")
                .unwrap_or(false),
            mail_allow_private: found
                .parse("mail_allow_private", &flags.mail_allow_private, "true or false")
                .unwrap_or(false),
            oauth_clients: found.oauth_clients(&flags.mail_providers),
            oidc: found.oidc(&flags.oidc),
            backups: found.backups(&flags.backups),
            sealed_off: false,
            data,
        };
        settings.acme = found.acme(&flags.acme, &settings);
        if let Err(error) = db::DatabaseUrl::parse(&settings.database_url) {
            found.mistakes.push(format!("database_url: {error}"));
        }
        found.mistakes.extend(place_mistakes(&settings));
        if matches!(settings.smtp_listen, ListenAddress::Unix(_)) {
            found.mistakes.push("smtp_listen: must be an address and port, or off".into());
        }
        let numbers = [
            ("rate_per_minute", settings.rate_per_minute as usize),
            ("commit_batch", settings.commit_batch),
        ];
        for (name, _) in numbers.iter().filter(|(_, number)| *number == 0) {
            found.mistakes.push(format!("{name}: must be a whole number from 1, not \"0\""));
        }
        let is_ordered = found.is_acme_on(&flags.acme);
        found.mistakes.extend(https::mistakes(&settings, is_ordered));
        found.mistakes.extend(replica::mistake(&settings));
        if found.mistakes.is_empty() { Ok(settings) } else { Err(found.mistakes) }
    }

    /// The folder that large files of backups in a bucket pass through.
    pub fn backup_spool(&self) -> PathBuf {
        self.data.join("backup-spool")
    }

    /// True when the settings leave open on which port a server is found.
    pub fn listens_as_usual(&self) -> bool {
        self.listen == USUAL_LISTEN || self.listen.port() == 0
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use model::mailboxes::mailbox_grants::SignInProvider;

    use super::*;

    fn in_folder(file: &str, change: impl FnOnce(&mut Flags)) -> Result<Settings, Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("mailroom.toml"), file).unwrap();
        let mut flags = Flags { data: Some(folder.path().into()), ..Flags::default() };
        change(&mut flags);
        Settings::load(&flags)
    }

    #[test]
    fn a_flag_wins_over_the_file_and_the_file_over_the_default() {
        let settings = in_folder("listen = '127.0.0.1:9'\nrate_per_minute = 7", |flags| {
            flags.listen = Some("127.0.0.1:10".into());
        })
        .unwrap();
        assert_eq!(settings.listen.port(), 10);
        assert_eq!(settings.rate_per_minute, 7);
        assert!(settings.database_url.starts_with("sqlite:"));
    }

    #[test]
    fn a_client_of_a_provider_has_an_id_and_a_secret_that_can_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secret");
        fs::write(&file, "hush\n").unwrap();
        let settings = in_folder("google_client_id = 'ours'", |flags| {
            flags.mail_providers.google_client_secret_file = Some(file.display().to_string());
        });
        let clients = settings.unwrap().oauth_clients;
        assert_eq!(clients.providers(), [SignInProvider::Google]);
        assert_eq!(
            clients.of(SignInProvider::Google).and_then(|client| client.secret.clone()).as_deref(),
            Some("hush")
        );
        for (file, mistake) in [
            ("google_endpoints = 'token=https://x.example'", "google_client_id:"),
            ("google_client_id = 'a'\ngoogle_endpoints = 'x'", "google_endpoints:"),
            ("microsoft_client_id = 'a'\nmicrosoft_tenant = 'a/b'", "microsoft_tenant:"),
            (
                "microsoft_client_id = 'a'\nmicrosoft_client_secret_file = '/nowhere'",
                "microsoft_client_secret_file:",
            ),
        ] {
            let mistakes = in_folder(file, |_| {}).unwrap_err();
            assert!(mistakes[0].starts_with(mistake), "{mistakes:?}");
        }
    }

    #[test]
    fn all_mistakes_are_told_together() {
        let mistakes = in_folder("lisen = 'x'\nlisten = 'y'\nrate_per_minute = 'z'", |flags| {
            flags.database_url = Some("mysql://x".into());
            flags.public_url = Some("mail.example.com".into());
            flags.dns = Some("9.9.9.9".into());
        })
        .unwrap_err();
        assert_eq!(mistakes.len(), 6, "{mistakes:?}");
    }
}
