//! Passkeys in a real browser, with a virtual authenticator in the place of a finger or face.

use serde_json::json;

use crate::support::axe::{axe, violations};
use crate::support::browser::Browser;
use crate::support::test_server::TestServer;

/// An authenticator that holds passkeys and has verified whoever is there.
async fn plug_in_authenticator(browser: &Browser) {
    browser.devtools("WebAuthn.enable", json!({})).await;
    let options = json!({
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": true,
        "hasUserVerification": true,
        "isUserVerified": true,
        "automaticPresenceSimulation": true,
    });
    browser.devtools("WebAuthn.addVirtualAuthenticator", json!({ "options": options })).await;
}

async fn signs_in_with_passkey(browser: &Browser, server: &TestServer) {
    browser.goto(&format!("{}/sign-in?next=%2Fleaving", server.address)).await;
    browser
        .until("the script runs", || async {
            browser.count("form[data-passkey] .btn:enabled").await == 1
        })
        .await;
    browser.click("form[data-passkey] .btn").await;
}

async fn signs_out(browser: &Browser, server: &TestServer) {
    browser.goto(&format!("{}/settings/you", server.address)).await;
    browser.click("form[action='/sign-out'] .btn").await;
    browser.until("nobody is signed in", || async { browser.path().await == "/sign-in" }).await;
}

#[tokio::test]
async fn a_passkey_is_added_signs_in_without_a_name_and_is_removed() {
    let server = TestServer::open_by_name().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    plug_in_authenticator(&browser).await;
    browser.goto(&format!("{}/settings/sign-in", server.address)).await;
    browser.write("#name", "My laptop").await;
    browser.click("#new-passkey .btn").await;
    browser.says("It signs you in from now on").await;
    assert_eq!(browser.value("table input[name=name]").await, "My laptop");

    signs_out(&browser, &server).await;
    signs_in_with_passkey(&browser, &server).await;
    browser.until("she is signed in", || async { browser.path().await == "/leaving" }).await;

    browser.goto(&format!("{}/settings/sign-in", server.address)).await;
    browser.click("form[action$='/remove'] .btn").await;
    browser.says("It does not sign you in any more").await;
    signs_out(&browser, &server).await;
    signs_in_with_passkey(&browser, &server).await;
    browser.says("does not sign in here").await;
    assert_eq!(violations(&browser, &axe()).await, Vec::<String>::new());
    browser.close().await;
}
