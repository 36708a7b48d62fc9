//! What holds a secret never prints it: a log line or the message of a panic may format anything.

use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};

use actions::integrations::keys::MadeKey;
use actions::integrations::oauth_tokens::{CodeExchange, IssuedTokens};
use actions::integrations::webhooks::MadeWebhook;
use actions::sign_in::provider_rules::ProviderPlan;
use actions::sign_in::sign_in_steps::SignInProgress;
use api::webhook_json::CreatedWebhook;
use base::ids::{AgentId, Ids, WebhookId};
use base::security::web_push::PushTarget;
use bookings::calendars::{CalendarKind, CalendarSource, NewCalendar};
use db::{DatabaseUrl, ReplicaOptions};
use document_reader::ReaderEndpoint;
use jobs::{PushRequest, WebhookRequest};
use model::webhooks::WebhookFormat;
use server::settings::{Flags, Settings};
use transport::reply_model::ModelEndpoint;

const SECRET: &str = "grumblewort";

fn secret() -> String {
    SECRET.to_owned()
}

fn hides(value: &dyn Debug) {
    for said in [format!("{value:?}"), format!("{value:#?}")] {
        assert!(!said.contains(SECRET), "{said}");
    }
}

#[test]
fn no_secret_is_in_the_debug_output_of_what_holds_it() {
    let ids = Ids::with_seed(1);
    hides(&MadeKey { id: AgentId::new(&ids, 0), key: secret() });
    hides(&MadeWebhook { id: WebhookId::new(&ids, 0), secret: Some(secret()) });
    hides(&CreatedWebhook {
        id: WebhookId::new(&ids, 0),
        url: "https://shop.example/hook".into(),
        format: WebhookFormat::Mailroom,
        events: Vec::new(),
        secret: Some(secret()),
    });
    hides(&IssuedTokens {
        access_token: secret(),
        refresh_token: secret(),
        expires_in_seconds: 1,
        scope: "read".into(),
    });
    hides(&CodeExchange {
        code: secret(),
        client_id: "app".into(),
        redirect_uri: "https://app.example/".into(),
        verifier: secret(),
    });
    hides(&ProviderPlan { state: secret(), nonce: secret(), verifier: secret() });
    for progress in [
        SignInProgress::SignedIn(secret()),
        SignInProgress::NeedsCode(secret()),
        SignInProgress::NeedsSetUp(secret()),
    ] {
        hides(&progress);
    }
    hides(&PushTarget { endpoint: secret(), p256dh: secret(), auth: secret() });
    let headers = vec![("authorization", secret())];
    hides(&PushRequest { endpoint: secret(), headers: headers.clone(), body: secret().into() });
    hides(&WebhookRequest { url: secret(), headers, body: SECRET.into() });
    let (kind, address) = (CalendarKind::CalDav, secret());
    let new = NewCalendar { kind, address: address.clone(), user: "u".into(), password: secret() };
    hides(&new);
    let (user, etag) = ("u".to_owned(), String::new());
    hides(&CalendarSource { kind, address, user, password: secret(), etag });
}

#[test]
fn no_password_of_a_setting_is_in_its_debug_output() {
    let url = format!("postgres://mailroom:{SECRET}@db.example/mailroom");
    hides(&DatabaseUrl::parse(&url).unwrap());
    hides(&ReplicaOptions::at(&url));
    let flags = Flags {
        database_url: Some(url.clone()),
        relay: Some(format!("smtp://u:{SECRET}@relay.example")),
        ..Flags::default()
    };
    hides(&flags);
    let settings = Settings::load(&flags).unwrap();
    hides(&Settings { database_replica_url: Some(url), ..settings });
    let (url, model) = (format!("https://u:{SECRET}@model.example"), "m".to_owned());
    hides(&ModelEndpoint { url: url.clone(), key_file: None, model: model.clone() });
    hides(&ReaderEndpoint { url, key_file: None, model });
}

/// Words in the names of fields that hold secrets.
const WORDS: &[&str] = &[
    "secret",
    "token",
    "password",
    "passphrase",
    "verifier",
    "credential",
    "database_url",
    "bearer",
];
/// Fields with such a name that hold none, and why.
const HARMLESS: &[(&str, &str)] = &[
    // The id that an authenticator gave its key, which every sign-in names.
    ("PasskeyListing", "credential"),
    // A word of a style sheet, of a document.
    ("SheetCell", "tokens"),
    // The names of files.
    ("BackupFlags", "backup_passphrase_file"),
    ("MailProviderFlags", "google_client_secret_file"),
    ("MailProviderFlags", "microsoft_client_secret_file"),
    ("OidcFlags", "oidc_client_secret_file"),
];
/// The types of fields that print what they hold.
const PRINTED: &[&str] =
    &["String", "Option<String>", "Vec<u8>", "Vec<String>", "Arc<str>", "&'a str"];

/// A type that derives `Debug` and has a field that is called a secret and printed as it is.
#[test]
fn no_type_that_derives_debug_has_a_field_that_is_a_secret() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut sources = Vec::new();
    for folder in fs::read_dir(crates).unwrap() {
        source_files(&folder.unwrap().path().join("src"), &mut sources);
    }
    assert!(sources.len() > 300, "the sources were not found");
    let mut found = Vec::new();
    for file in sources {
        let text = fs::read_to_string(&file).unwrap();
        found.extend(printed_secrets(&text).into_iter().map(|secret| (file.clone(), secret)));
    }
    assert!(found.is_empty(), "derive no Debug (see debug_without_secrets!): {found:#?}");
}

/// The types and fields of a source in which a derived `Debug` would print a secret.
fn printed_secrets(text: &str) -> Vec<(String, String)> {
    let (mut found, mut derives, mut within) = (Vec::new(), false, None::<String>);
    for line in text.lines().map(str::trim) {
        if line.starts_with("#[derive(") {
            derives = line.contains("Debug");
        } else if line.contains("struct ") && line.ends_with('{') {
            let (_, name) = line.split_once("struct ").unwrap();
            let name = name.split(|c: char| !c.is_alphanumeric()).next().unwrap();
            within = derives.then(|| name.to_owned());
            derives = false;
        } else if line == "}" || line.contains("enum ") || line.contains("fn ") {
            (within, derives) = (None, false);
        } else if let (Some(name), Some((field, kind))) = (&within, line.split_once(": ")) {
            let field = field.rsplit(' ').next().unwrap_or(field);
            let kind = kind.split(" = ").next().unwrap_or(kind).trim_end_matches(',');
            let is_secret = WORDS.iter().any(|word| field.contains(word));
            if is_secret && PRINTED.contains(&kind) && !HARMLESS.contains(&(name.as_str(), field)) {
                found.push((name.clone(), field.to_owned()));
            }
        }
    }
    found
}

fn source_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            source_files(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

#[test]
fn a_derived_debug_of_a_secret_is_found() {
    let text = "#[derive(Clone, Debug)]\npub struct Login {\n    pub user: String,\n    pub password: String,\n}\n";
    assert_eq!(printed_secrets(text), [("Login".to_owned(), "password".to_owned())]);
}
