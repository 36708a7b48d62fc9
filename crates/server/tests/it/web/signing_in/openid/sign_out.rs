//! Signing out of a browser that signed in at the provider.

use std::collections::HashMap;

use base::actor::Role;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use url::Url;

use super::provider::{CLIENT_ID, ScriptedProvider};
use super::{CALLBACK, claims, is_signed_in, link, sign_in, with_provider};
use crate::support::*;
use crate::web::browser::{Browser, Page};

on_both!(
    who_signed_in_at_the_provider_is_offered_to_sign_out_there,
    who_signed_in_otherwise_is_asked_nothing_unless_an_account_was_linked,
    nobody_is_kept_in_by_a_provider_without_a_logout_page_or_out_of_reach,
    the_identity_token_is_kept_sealed_in_the_browser,
    a_browser_without_a_session_ends_nobody_elses
);

const COOKIE: &str = "__Secure-mailroom_provider";
const OFFER: &str = "Sign out at Acme Login";

/// A provider with a logout page: a path of its own, or an address elsewhere.
fn with_logout(app: TestApp, page: &str) -> (ScriptedProvider, TestApp) {
    let (provider, app) = with_provider(app, |config| config.rules.trusts_email = true);
    let is_own = page.starts_with('/');
    let page = if is_own { format!("{}{page}", provider.issuer()) } else { page.to_owned() };
    provider.script().document = json!({ "end_session_endpoint": page });
    (provider, app)
}

async fn sign_out(browser: &Browser<'_>) -> Page {
    browser.remember_csrf().await;
    browser.post("/sign-out", &[]).await
}

/// Where the offer leads: the path, and what the query says.
fn offered(page: &Page) -> (String, HashMap<String, String>) {
    let written = page.between("<a class=\"btn primary\" href=\"", "\"");
    let url = Url::parse(&written.replace("&#38;", "&").replace("&amp;", "&")).unwrap();
    (url.path().to_owned(), url.query_pairs().into_owned().collect())
}

async fn who_signed_in_at_the_provider_is_offered_to_sign_out_there(app: TestApp) {
    let (provider, app) = with_logout(app, "/logout?tenant=acme");
    let browser = app.browser();
    sign_in(&provider, &browser).await.goes_to("/");
    let page = sign_out(&browser).await.is(200);
    assert!(!is_signed_in(&browser).await, "before anything happens at the provider");
    page.shows("You are signed out").shows("may still be signed in at Acme Login").shows(OFFER);
    let (path, asked) = offered(&page);
    assert_eq!((path.as_str(), asked["tenant"].as_str()), ("/logout", "acme"));
    assert_eq!(asked["client_id"], CLIENT_ID);
    assert_eq!(asked["post_logout_redirect_uri"], format!("{PUBLIC_URL}{CALLBACK}"));
    let payload = asked["id_token_hint"].split('.').nth(1).unwrap();
    let payload: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).unwrap()).unwrap();
    assert_eq!(payload["sub"], "owner-1");
    assert!(browser.cookie(COOKIE).is_none(), "the token is forgotten");
    browser.get(CALLBACK).await.goes_to("/sign-in");
    browser.get("/sign-in").await.is(200).shows("Sign in with Acme Login");
}

async fn who_signed_in_otherwise_is_asked_nothing_unless_an_account_was_linked(app: TestApp) {
    let (provider, app) = with_logout(app, "/logout?tenant=acme");
    let owner = app.signed_in(&app.owner).await;
    owner.post("/sign-out", &[]).await.goes_to("/sign-in");
    owner.get("/sign-in").await.is(200).shows("You are signed out.");
    let owner = app.signed_in(&app.owner).await;
    link(&provider, &owner).await.goes_to("/settings/sign-in");
    sign_out(&owner).await.is(200).shows(OFFER);
}

async fn nobody_is_kept_in_by_a_provider_without_a_logout_page_or_out_of_reach(app: TestApp) {
    let (provider, app) = with_provider(app, |config| config.rules.trusts_email = true);
    let browser = app.browser();
    sign_in(&provider, &browser).await.goes_to("/");
    let page = sign_out(&browser).await.is(200);
    page.shows("may still be signed in at Acme Login").hides(OFFER);
    assert!(!is_signed_in(&browser).await);
    drop(browser);

    let (provider, app) = with_logout(app, "http://elsewhere.example/logout");
    app.person_with("Mia", Role::Member).await;
    provider.is("mia-1", claims("mia@acme.example"));
    let browser = app.browser();
    sign_in(&provider, &browser).await.goes_to("/");
    sign_out(&browser).await.is(200).hides(OFFER);
    drop(browser);

    let (provider, app) = with_logout(app, "/logout?tenant=acme");
    app.person_with("Zoe", Role::Member).await;
    provider.is("zoe-1", claims("zoe@acme.example"));
    let browser = app.browser();
    sign_in(&provider, &browser).await.goes_to("/");
    app.advance(2 * DAY);
    provider.script().fails.insert("/.well-known/openid-configuration", 500);
    let page = sign_out(&browser).await.is(200);
    page.shows("may still be signed in at Acme Login").hides(OFFER);
    assert!(!is_signed_in(&browser).await);
}

async fn the_identity_token_is_kept_sealed_in_the_browser(app: TestApp) {
    let (provider, app) = with_logout(app, "/logout?tenant=acme");
    let browser = app.browser();
    let page = sign_in(&provider, &browser).await;
    let lines = page.answer.headers.get_all("set-cookie").iter();
    let line = lines.map(|line| line.to_str().unwrap()).find(|line| line.starts_with(COOKIE));
    let line = line.expect("a cookie");
    for part in ["; Path=/sign-out;", "; HttpOnly", "; SameSite=Lax", "; Secure"] {
        assert!(line.contains(part), "{part} in {line}");
    }
    let kept = browser.cookie(COOKIE).unwrap();
    let (_, asked) = offered(&sign_out(&browser).await.is(200));
    let token = &asked["id_token_hint"];
    assert!(kept.starts_with("v1.") && !kept.contains(token.as_str()), "{kept}");

    // What was not sealed here tells nothing.
    for changed in [token.as_str(), "v1.AAAA", &kept[..kept.len() - 4]] {
        let browser = app.browser();
        sign_in(&provider, &browser).await.goes_to("/");
        browser.set_cookie(COOKIE, changed);
        sign_out(&browser).await.goes_to("/sign-in");
    }

    // A token that is too long for a cookie is left out.
    provider.script().claims["groups"] = json!("x".repeat(4_000));
    let browser = app.browser();
    sign_in(&provider, &browser).await.goes_to("/");
    let (path, asked) = offered(&sign_out(&browser).await.is(200));
    assert_eq!((path.as_str(), asked["client_id"].as_str()), ("/logout", CLIENT_ID));
    assert!(!asked.contains_key("id_token_hint"));
}

async fn a_browser_without_a_session_ends_nobody_elses(app: TestApp) {
    let (provider, app) = with_logout(app, "/logout?tenant=acme");
    let browser = app.browser();
    sign_in(&provider, &browser).await.goes_to("/");
    let kept = browser.cookie(COOKIE).unwrap();
    let other = app.browser();
    other.set_cookie(COOKIE, &kept);
    let (_, asked) = offered(&other.post("/sign-out", &[]).await.is(200));
    assert!(!asked.contains_key("id_token_hint"), "{asked:?}");
    assert!(is_signed_in(&browser).await);
}
