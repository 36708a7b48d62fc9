//! `mailroom demo --public`: a server for strangers, sealed off from everything outside.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;

use base::app::App;
use node::data_lock::{DataLock, settle_database};
use node::supervisor::Supervisor;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use transport::mail_oauth::OAuthClients;
use transport::mail_out::RelayTarget;
use transport::net::descriptors::raise_open_files;
use transport::net::listen_address::ListenAddress;

use crate::cli::command::say_line;
use crate::demo::public::{DemoLimits, DemoRoom, PublicDemo};
use crate::serve::{
    ServerParts, listen, open_app, open_mail, open_worker, serve as serve_requests, stop_signal,
};
use crate::settings::Settings;

/// Names are looked up nowhere: nothing answers at this port of this machine.
const NO_DNS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 1);

const NEEDS_SQLITE: &str = "A public demo keeps its data in SQLite, where what visitors type never mixes with \
                            other data. Leave out --database-url.";

pub async fn run(settings: &Settings, limits: DemoLimits, json: bool) -> Result<(), String> {
    if !settings.database_url.starts_with("sqlite:") {
        return Err(NEEDS_SQLITE.into());
    }
    let settings = &sealed_settings(settings);
    raise_open_files();
    let lock = DataLock::take(&settings.data, &settings.database_url)?;
    let (listener, address) = listen(settings).await?;
    let public_url = settings.public_url.clone().unwrap_or_else(|| address.clone());
    let app = App { has_relay: true, ..open_app(settings, &public_url)? };
    let room = DemoRoom::new(vec![settings.data.clone(), settings.blobs.clone()]);
    let public_demo = PublicDemo::open(&app, limits, room).await?;
    let worker = open_worker(settings, &app)?;
    let mail = open_mail(settings, &app).await?;
    let DemoLimits { visitors, memory_mb, disk_mb, .. } = limits;
    if json {
        say_line!("{}", json!({ "address": address, "visitors": visitors }))
    } else {
        say_line!(
            "A public demo is open at {public_url}/demo\n\n\
             Each visitor has a workspace with made-up mail for an hour: at most {visitors} at a time, \
             {memory_mb} MB of memory and {disk_mb} MB of disk in {}.\n\
             No mail, webhook or look-up leaves this process. Stop with Ctrl-C.",
            settings.data.display()
        )
    }
    let tasks = Supervisor::new(CancellationToken::new());
    let parts = ServerParts { worker, mail, first_run: None, public_demo: Some(public_demo) };
    let served = serve_requests(listener, app, parts, settings, &tasks, stop_signal()).await;
    drop(lock);
    settle_database(&settings.database_url, &settings.data);
    served.map_err(|error| error.to_string())
}

/// A folder of its own unless another is named, and nothing that reaches outside or is reached by mail.
fn sealed_settings(settings: &Settings) -> Settings {
    let mut sealed = Settings {
        sealed_off: true,
        dns: Some(NO_DNS),
        smtp_listen: ListenAddress::Off,
        lmtp_listen: ListenAddress::Off,
        relay: RelayTarget::Nowhere,
        bucket: None,
        clamd: None,
        reader: None,
        model: None,
        oidc: None,
        oauth_clients: OAuthClients::default(),
        oauth_registration: false,
        developer_site: None,
        backups: None,
        database_replica_url: None,
        webhooks_allow_private: false,
        mail_allow_private: false,
        quiet: false,
        ..settings.clone()
    };
    if settings.data == Path::new("mailroom-data") {
        let data = settings.data.join("public-demo");
        if settings.database_url == "sqlite:mailroom-data/mailroom.db" {
            sealed.database_url = format!("sqlite:{}", data.join("mailroom.db").display());
        }
        if settings.blobs == settings.data.join("blobs") {
            sealed.blobs = data.join("blobs");
        }
        sealed.data = data;
    }
    sealed
}
