//! The commands that serve.

mod desktop;
pub mod public_demo;

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

use actions::inboxes::setup;
use actions::sign_in::sessions;
use backup::{BackupPlace, read_passphrase};
use base::actor::{self, Actor, Circle, Role};
use base::app::App;
use base::security::scopes::Scope;
use model::installation::keep_address;
use node::data_lock::{DataLock, settle_database};
use node::roster::NodePlace;
use node::storage_check::require_writable;
use node::supervisor::Supervisor;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use transport::mail_out::RelayTarget;
use transport::net::descriptors::raise_open_files;
use transport::net::listen_address::ListenAddress;
use web::FirstRun;

use super::command::say_line;
use crate::demo;
use crate::serve::{
    MailIn, ServerParts, listen, open_app, open_first_run, open_mail, open_worker,
    reload_on_hangup, serve as serve_requests, stop_signal, with_replica,
};
use crate::settings::Settings;

/// The time that a node has to leave the list of nodes.
const LEAVING: Duration = Duration::from_millis(500);

pub async fn serve(settings: &Settings) -> Result<(), String> {
    raise_open_files();
    require_writable(&settings.data, &settings.blobs)?;
    check_backups(settings)?;
    let _lock = DataLock::take(&settings.data, &settings.database_url)?;
    let (listener, address) = listen(settings).await?;
    let public_url = settings.public_url.clone().unwrap_or_else(|| address.clone());
    let app = with_replica(settings, open_app(settings, &public_url)?).await?;
    let place = NodePlace::take(&app, &settings.data, settings.public_url.as_deref()).await?;
    remember_address(&app).await?;
    let first_run = offer_first_run(&app).await?;
    let worker = open_worker(settings, &app)?;
    let mail = open_mail(settings, &app).await?;
    let tasks = Supervisor::new(CancellationToken::new());
    reload_on_hangup(&tasks, mail.certificate());
    let smtp = mail.smtp_address().map_or(settings.smtp_listen.clone(), ListenAddress::Tcp);
    let lmtp = &settings.lmtp_listen;
    tracing::info!(%address, %public_url, %smtp, %lmtp, "serving");
    let place = place.map(Arc::new);
    let holding = place.clone().map(|place| {
        tasks.start("node list", move |stopping| {
            let place = Arc::clone(&place);
            async move { place.hold(stopping).await }
        })
    });
    let parts = ServerParts { worker, mail, first_run, public_demo: None };
    let served = serve_requests(listener, app, parts, settings, &tasks, stop_signal()).await;
    if let (Some(place), Some(holding)) = (place, holding) {
        let left = async {
            let _ = holding.await;
            place.leave().await;
        };
        let _ = tokio::time::timeout(LEAVING, left).await;
    }
    served.map_err(|error| error.to_string())
}

/// Prints the link to the set-up where there is no workspace yet. Its secret is in no line of the log.
async fn offer_first_run(app: &App) -> Result<Option<Arc<FirstRun>>, String> {
    let Some((first_run, link)) = open_first_run(app).await? else { return Ok(None) };
    say_line!("Set Mailroom up in the browser: {link}");
    desktop::open_in_browser(&link);
    Ok(Some(first_run))
}

/// Scheduled backups that could never be written are refused now, and not at three in the morning.
fn check_backups(settings: &Settings) -> Result<(), String> {
    let Some(backups) = &settings.backups else { return Ok(()) };
    BackupPlace::parse(&backups.place, &settings.backup_spool())
        .map_err(|mistake| format!("backup_to: {mistake}"))?;
    if std::fs::metadata(&backups.place).is_ok_and(|found| !found.is_dir()) {
        return Err(format!("backup_to: {} is a file, and must be a folder", backups.place));
    }
    if let Some(file) = &backups.passphrase_file {
        read_passphrase(file).map_err(|mistake| format!("backup_passphrase_file: {mistake}"))?;
    }
    Ok(())
}

/// Links that commands make lead to the server that runs.
async fn remember_address(app: &App) -> Result<(), String> {
    let address = app.public_url.clone();
    let kept = app.store.write(move |tx| keep_address(tx, &address)).await;
    kept.map_err(|error| error.to_string())
}

pub fn migrate(settings: &Settings, json: bool) -> Result<(), String> {
    open_app(settings, "")?;
    let version = model::schema::MIGRATIONS.last().map_or(0, |last| last.version);
    if json {
        say_line!("{}", json!({ "ok": true, "schema": version }))
    } else {
        say_line!("The database is up to date (schema {version}).")
    }
    Ok(())
}

/// Starts on embedded defaults with a sample workspace.
pub async fn demo(settings: &Settings, json: bool) -> Result<(), String> {
    let settings = &demo_settings(settings);
    raise_open_files();
    let lock = DataLock::take(&settings.data, &settings.database_url)?;
    let (listener, address) = listen(settings).await?;
    let public_url = settings.public_url.clone().unwrap_or_else(|| address.clone());
    // The sample workspace shows how sending works; without a relay its mail waits.
    let app = App { has_relay: true, ..open_app(settings, &public_url)? };
    remember_address(&app).await?;
    let worker = open_worker(settings, &app)?;
    let (mail, mail_trouble) = demo_mail(settings, &app).await?;
    let smtp = mail.smtp_address().map(|address| address.to_string());
    let keys = sample_keys(&app).await.map_err(|error| error.to_string())?;
    let stop = stop_signal();
    let printed = if json {
        json!({
            "address": address,
            "signInUrl": keys.sign_in,
            "liveKey": keys.live,
            "testKey": keys.test,
            "readKey": keys.read,
            "smtp": smtp,
        })
        .to_string()
    } else {
        welcome(&address, &keys, settings, smtp.ok_or(mail_trouble))
    };
    say_line!("{printed}");
    std::io::stdout().flush().map_err(|error| error.to_string())?;
    let tasks = Supervisor::new(CancellationToken::new());
    let parts = ServerParts { worker, mail, first_run: None, public_demo: None };
    let served = serve_requests(listener, app, parts, settings, &tasks, stop).await;
    drop(lock);
    settle_database(&settings.database_url, &settings.data);
    served.map_err(|error| error.to_string())
}

/// The demo goes on without mail, and says why, where another program has the port.
async fn demo_mail(settings: &Settings, app: &App) -> Result<(MailIn, String), String> {
    match open_mail(settings, app).await {
        Ok(mail) => Ok((mail, "off".into())),
        Err(sentence) => {
            let without = Settings {
                smtp_listen: ListenAddress::Off,
                lmtp_listen: ListenAddress::Off,
                ..settings.clone()
            };
            let sentence = format!("{sentence}; name another place with --smtp-listen");
            Ok((open_mail(&without, app).await?, sentence))
        }
    }
}

struct Keys {
    /// A link that signs the owner in, once.
    sign_in: String,
    live: String,
    test: String,
    read: String,
}

/// Fills an empty database. The keys of an earlier demo on the same data are not known any more,
/// so a further start makes new ones.
async fn sample_keys(app: &App) -> base::error::Result<Keys> {
    let mut workspaces = app.store.read(setup::list_workspaces).await?;
    let mut made = None;
    if workspaces.is_empty() {
        made = Some(demo::fill(app).await?);
        workspaces = app.store.read(setup::list_workspaces).await?;
    }
    let workspace =
        workspaces.into_iter().next().ok_or(base::error::Error::NotFound("workspace"))?;
    let operator = Actor::system(workspace.ws, workspace.id, Circle::team());
    let people = app.read(&operator, setup::list_people).await?;
    let owner = people.into_iter().find(|person| person.role == Role::Owner);
    let setup::PersonListing { id, email, .. } =
        owner.ok_or(base::error::Error::NotFound("owner"))?;
    let maker = app.store.read(move |tx| actor::person(tx, workspace.ws, &email)).await?;
    let sign_in = app.act(&maker, move |tx, cx| sessions::make_sign_in_link(tx, cx, &id)).await?;
    if let Some(sample) = made {
        let (live, test, read) = (sample.live_key, sample.test_key, sample.read_key);
        return Ok(Keys { sign_in, live, test, read });
    }
    app.act(&maker, move |tx, cx| {
        let mut key = |name: &str, scopes: &[Scope], livemode: bool| {
            actions::integrations::keys::make_key(tx, cx, name, scopes, livemode)
                .map(|made| made.key)
        };
        Ok(Keys {
            sign_in: sign_in.clone(),
            live: key("Demo", Scope::USUAL, true)?,
            test: key("Demo test", Scope::USUAL, false)?,
            read: key("Demo reader", &[Scope::Read], true)?,
        })
    })
    .await
}

/// The demo keeps to a folder of its own unless it is told otherwise.
fn demo_settings(settings: &Settings) -> Settings {
    let mut settings = settings.clone();
    if settings.data == std::path::Path::new("mailroom-data") {
        let data = settings.data.join("demo");
        if settings.database_url == "sqlite:mailroom-data/mailroom.db" {
            settings.database_url = format!("sqlite:{}", data.join("mailroom.db").display());
        }
        if settings.blobs == settings.data.join("blobs") {
            settings.blobs = data.join("blobs");
        }
        settings.data = data;
    }
    if settings.relay == RelayTarget::Nowhere {
        settings.relay = RelayTarget::Folder(settings.data.join("outbox"));
    }
    settings
}

fn welcome(
    address: &str,
    keys: &Keys,
    settings: &Settings,
    smtp: Result<String, String>,
) -> String {
    let smtp = match smtp {
        Ok(smtp) => format!("{smtp}   (SMTP: mail to support@lumen-holz.example arrives)"),
        Err(sentence) => sentence,
    };
    let (bold, plain) =
        if std::io::stdout().is_terminal() { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
    format!(
        "{bold}Mailroom is running with a sample workspace.{plain}

  Sign in    {sign_in}
             (works once, for a day; start again for another)
  Address    {address}
  Mail in    {smtp}
  MCP        {address}/mcp   (for agents: the same operations as tools, with a key)
  Data       {data}
  Live key   {live}
  Test key   {test}   (works in the sandbox: no real mail)

Ask it for the newest open conversations:

  curl -s '{address}/api/v1/conversations?limit=3' -H 'Authorization: Bearer {live}'

Let a simulated customer write, answer them, and see the signed events until they write back:

  {program} listen --server {address} --key {test} --try-sandbox

Every call is described at {address}/api/v1/openapi.json
Stop with Ctrl-C. Delete the data folder to begin again.
",
        data = settings.data.display(),
        program = program(),
        sign_in = keys.sign_in,
        live = keys.live,
        test = keys.test,
    )
}

/// How this program is called, for lines that are pasted.
fn program() -> String {
    let path = std::env::current_exe().ok().map(|path| path.display().to_string());
    path.filter(|path| !path.contains(' ')).unwrap_or_else(|| "mailroom".into())
}
