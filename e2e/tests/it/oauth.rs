//! Letting an app in: the browser goes to the app with the answer, wherever the app is.

use std::time::Duration;

use actions::integrations::oauth_consent::register_client;
use model::people::oauth_clients::ClientMetadata;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::time::timeout;

use crate::support::axe::{axe, violations};
use crate::support::browser::Browser;
use crate::support::test_server::TestServer;

const PATIENCE: Duration = Duration::from_secs(60);

/// The path that a browser asks a program on this computer for.
async fn called_back(program: TcpListener) -> String {
    let called = async {
        loop {
            let (mut line, _) = program.accept().await.unwrap();
            let mut head = vec![0; 4_096];
            let count = line.read(&mut head).await.unwrap();
            let page = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\nDone";
            let _ = line.write_all(page.as_bytes()).await;
            let head = String::from_utf8_lossy(&head[..count]).into_owned();
            let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
            if path.starts_with("/callback") {
                return path;
            }
        }
    };
    timeout(PATIENCE, called).await.expect("the program is called back")
}

#[tokio::test]
async fn a_person_lets_a_program_in_and_it_hears_of_it() {
    let server = TestServer::open().await;
    let program = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let callback = format!("http://{}/callback", program.local_addr().unwrap());
    let told = json!({"client_name": "Quill", "redirect_uris": ["http://127.0.0.1/callback"]});
    let metadata = ClientMetadata::of(&told).unwrap();
    let app = server.app.clone();
    let work = move |tx: &mut db::Tx<'_>| {
        register_client(tx, &app.ids, app.clock.now(), &metadata, "here")
    };
    let client = server.app.store.write(work).await.unwrap().expect("a client").id;
    let asked = format!(
        "{}/authorize?response_type=code&client_id={client}&state=s1&code_challenge_method=S256\
         &code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&redirect_uri={callback}",
        server.address
    );
    let browser = Browser::signed_in(&server, &server.ines).await;
    browser.goto(&asked).await;
    browser.says("Connect a program that calls itself “Quill”?").await;
    for dark in [false, true] {
        browser.dark(dark).await;
        let found = violations(&browser, &axe()).await;
        assert!(found.is_empty(), "{found:?}");
    }
    browser.click("input[value=sandbox]").await;
    // The browser waits for the program's page, so both go on at the same time.
    let ((), path) = tokio::join!(browser.click("button[value=allow]"), called_back(program));
    assert!(path.contains("code=rc_") && path.contains("state=s1"), "{path}");
    browser.goto(&format!("{}/settings/apps", server.address)).await;
    browser.says("Quill · Ines").await;
    browser.says("Not used yet").await;
    browser.close().await;
}
