//! A webhook's address is checked when it is added (API section 6.1).

use std::net::SocketAddr;
use std::path::Path;
use std::process::Output;

use serde_json::Value;
use tokio::process::Command;

use super::dns::Server;
use super::*;

#[tokio::test]
async fn an_address_is_taken_when_its_name_leads_to_public_addresses_alone() {
    let url = "https://hooks.example.com/hook";
    for (answer, sentence) in [
        (Ok(vec![OUTSIDE]), None),
        (
            Ok(vec![OUTSIDE, INSIDE]),
            Some("url: must be a public address, and its name leads into a private network"),
        ),
        (Ok(Vec::new()), Some("url: must have a name that can be found, and this one could not")),
        (Err(NotFound), Some("url: must have a name that can be found, and this one could not")),
    ] {
        let ssrf_guard = SsrfGuard::new(Script::new([answer]), rules());
        let said = ssrf_guard.vet(url).await.map(|url| url.to_string()).map_err(|e| e.to_string());
        assert_eq!(said, sentence.map_or(Ok(url.into()), |sentence| Err(sentence.into())));
    }
}

#[tokio::test]
async fn an_address_that_is_wrong_on_its_face_is_not_looked_up() {
    let script = Script::always(&[OUTSIDE]);
    let ssrf_guard = SsrfGuard::new(script.clone(), rules());
    for url in ["http://hooks.example.com/", "https://10.0.0.1/", "https://printer.local/", "x"] {
        assert!(ssrf_guard.vet(url).await.is_err(), "{url}");
    }
    assert!(script.asked().is_empty());
}

#[tokio::test]
async fn where_private_addresses_are_allowed_a_name_need_not_lead_anywhere_yet() {
    let ssrf_guard = SsrfGuard::new(Script::new([Err(NotFound)]), SsrfRules::new(true));
    assert!(ssrf_guard.vet("http://receiver:9000/hook").await.is_ok());
    assert!(ssrf_guard.vet("ftp://receiver/hook").await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_line_refuses_a_name_that_leads_into_a_private_network() {
    let dns = Server::start(|name| match name {
        "public.example.com." => Some(vec![[8, 8, 8, 8].into()]),
        "mixed.example.com." => Some(vec![[8, 8, 8, 8].into(), [192, 168, 1, 1].into()]),
        _ => None,
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &'static [&'static str]| mailroom(folder.path(), dns.address, args);
    let set_up = run(&[
        "setup",
        "--workspace=Acme",
        "--owner-email=olive@acme.example",
        "--owner-name=Olive",
        "--inbox=support@acme.example",
        "--inbox-name=Support",
    ]);
    assert!(set_up.await.status.success());
    for (args, sentence) in [
        (
            &["webhook", "add", "https://mixed.example.com/", "--by=olive@acme.example"] as &[_],
            "url: must be a public address, and its name leads into a private network",
        ),
        (
            &["webhook", "add", "https://nobody.example.com/", "--by=olive@acme.example"],
            "url: must have a name that can be found, and this one could not",
        ),
        (
            &["webhook", "add", "https://127.0.0.1/", "--by=olive@acme.example"],
            "url: must be a public address, not one of a private network",
        ),
    ] {
        let output = run(args).await;
        assert!(!output.status.success(), "{args:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(sentence), "{args:?}: {said}");
    }
    assert_eq!(listed(run(&["webhook", "list", "--json"]).await), Vec::<String>::new());
    let added = run(&["webhook", "add", "https://public.example.com/", "--by=olive@acme.example"]);
    assert!(added.await.status.success());
    let listed = listed(run(&["webhook", "list", "--json"]).await);
    assert_eq!(listed, ["https://public.example.com/"]);
}

async fn mailroom(data: &Path, dns: SocketAddr, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mailroom"));
    command.args(args).env("MAILROOM_DATA", data).env("MAILROOM_DNS", dns.to_string());
    for other in ["MAILROOM_DATABASE_URL", "MAILROOM_WEBHOOKS_ALLOW_PRIVATE"] {
        command.env_remove(other);
    }
    command.output().await.unwrap()
}

fn listed(output: Output) -> Vec<String> {
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let hooks = answer["webhooks"].as_array().unwrap().iter();
    hooks.map(|hook| hook["url"].as_str().unwrap().to_owned()).collect()
}
