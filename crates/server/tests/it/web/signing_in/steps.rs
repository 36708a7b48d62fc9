//! Second steps, passkeys, the way back after a lost device, and where a sign-in leads.

use actions::sign_in::sessions;
use base::actor::{Actor, Role};
use base::security::totp::TotpSecret;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::sign_in::mailed_links;
use crate::support::*;
use crate::web::browser::{Browser, Page};

on_both!(
    a_code_of_the_app_is_asked_for_after_a_password_and_after_a_link,
    a_code_counts_once_and_guessing_ends,
    a_recovery_code_signs_in_once_and_new_ones_replace_the_old,
    two_steps_for_everybody_leads_to_the_set_up_at_the_next_sign_in,
    a_secret_is_shown_only_to_the_browser_that_sets_it_up,
    two_steps_for_everybody_let_no_password_or_link_replace_a_passkey,
    a_passkey_is_added_named_used_without_a_name_and_removed,
    adding_a_passkey_asks_for_the_password_or_a_code,
    a_new_app_and_a_removed_passkey_end_other_sessions_and_links,
    a_challenge_counts_once_in_its_browser_for_five_minutes,
    a_passkey_added_while_private_inboxes_are_shut_leaves_them_shut,
    a_removed_person_has_no_passkey_and_no_session,
    a_reset_ends_what_hangs_on_a_device_and_opens_nothing_to_who_resets,
    a_mailed_link_leads_to_where_the_browser_that_asked_for_it_was_going,
    a_lost_app_is_replaced_after_a_recovery_code_where_two_steps_are_wanted,
    changes_of_the_sign_in_are_mailed_and_written_down
);

const STEP: i64 = 30_000;

/// Switches the second step of a signed-in person on. Answers the secret and the recovery codes.
async fn with_app(app: &TestApp, browser: &Browser<'_>) -> (TotpSecret, Vec<String>) {
    browser.post("/settings/sign-in/totp", &[]).await.goes_to("/settings/sign-in#app-h");
    let page = browser.get("/settings/sign-in").await.is(200);
    let secret = secret_on(&page);
    let wrong = [("code", "000000")];
    browser.post("/settings/sign-in/totp/confirm", &wrong).await.is(422).shows("does not fit");
    let code = secret.code_at(app.now());
    let on = browser.post("/settings/sign-in/totp/confirm", &[("code", &code)]).await.is(200);
    (secret, codes_on(&on))
}

fn secret_on(page: &Page) -> TotpSecret {
    page.shows("<svg class=\"qr\"");
    let secret = page.between("aria-label=\"Secret of the app\">", "</code>").replace(' ', "");
    TotpSecret::parse(&secret).expect("a secret")
}

fn codes_on(page: &Page) -> Vec<String> {
    let list = page.between("<ul class=\"recovery\"", "</ul>");
    let parts = list.split("<code>").skip(1);
    let codes: Vec<String> = parts.map(|it| it.split('<').next().unwrap().to_owned()).collect();
    assert_eq!(codes.len(), 10);
    codes
}

async fn link_as<'a>(app: &'a TestApp, person: &Actor) -> (Browser<'a>, Page) {
    let browser = app.browser();
    let link = app.sign_in_link(person).await;
    let page = browser.post(&link, &[]).await;
    (browser, page)
}

async fn is_signed_in(browser: &Browser<'_>) -> bool {
    browser.get("/settings/you").await.status == 200
}

async fn a_code_of_the_app_is_asked_for_after_a_password_and_after_a_link(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let new = [("new", "correct horse battery")];
    browser.post("/settings/you/password", &new).await.goes_to("/settings/you");
    let (secret, _) = with_app(&app, &browser).await;
    app.advance(STEP);

    let (other, page) = link_as(&app, &app.owner).await;
    page.goes_to("/sign-in/code");
    assert!(!is_signed_in(&other).await);
    other.get("/sign-in/code").await.is(200).shows("One more step");
    other.post("/sign-in/code", &[("code", "123456")]).await.is(422).shows("does not fit");
    let code = secret.code_at(app.now());
    other.post("/sign-in/code", &[("code", &code)]).await.goes_to("/");
    assert!(is_signed_in(&other).await);
    app.browser().get("/sign-in/code").await.goes_to("/sign-in");

    app.advance(STEP);
    let third = app.browser();
    let right = [("email", "owner@acme.example"), ("password", new[0].1), ("next", "/leaving")];
    third.post("/sign-in", &right).await.goes_to("/sign-in/code");
    let code = secret.code_at(app.now());
    third.post("/sign-in/code", &[("code", &code)]).await.goes_to("/leaving");
    assert!(is_signed_in(&third).await);
}

async fn a_code_counts_once_and_guessing_ends(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let (secret, _) = with_app(&app, &browser).await;
    app.advance(STEP);
    let code = secret.code_at(app.now());
    let (first, _) = link_as(&app, &app.owner).await;
    let (second, _) = link_as(&app, &app.owner).await;
    first.post("/sign-in/code", &[("code", &code)]).await.goes_to("/");
    second.post("/sign-in/code", &[("code", &code)]).await.is(422);
    for _ in 0..4 {
        second.post("/sign-in/code", &[("code", "000000")]).await.is(422).shows("does not fit");
    }
    app.advance(STEP);
    let code = secret.code_at(app.now());
    let (third, _) = link_as(&app, &app.owner).await;
    third.post("/sign-in/code", &[("code", &code)]).await.is(422).shows("Too many codes");
    app.advance(15 * MINUTE);
    let (last, _) = link_as(&app, &app.owner).await;
    let code = secret.code_at(app.now());
    last.post("/sign-in/code", &[("code", &code)]).await.goes_to("/");
    second.get("/sign-in/code").await.goes_to("/sign-in");
}

async fn a_recovery_code_signs_in_once_and_new_ones_replace_the_old(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let (secret, codes) = with_app(&app, &browser).await;
    let (other, _) = link_as(&app, &app.owner).await;
    let typed = codes[0].to_uppercase().replace('-', " ");
    other.post("/sign-in/code", &[("code", &typed)]).await.goes_to("/");
    let (again, _) = link_as(&app, &app.owner).await;
    again.post("/sign-in/code", &[("code", &codes[0])]).await.is(422);
    browser.get("/settings/sign-in").await.shows("9 recovery codes are left");

    app.advance(STEP);
    let code = secret.code_at(app.now());
    let renewed = browser.post("/settings/sign-in/codes", &[("code", &code)]).await.is(200);
    let fresh = codes_on(&renewed);
    again.post("/sign-in/code", &[("code", &codes[1])]).await.is(422);
    again.post("/sign-in/code", &[("code", &fresh[1])]).await.goes_to("/");
    browser.post("/settings/sign-in/totp/off", &[("code", "000000")]).await.is(422);
    let off = [("code", fresh[2].as_str())];
    browser.post("/settings/sign-in/totp/off", &off).await.goes_to("/settings/sign-in");
    let (plain, page) = link_as(&app, &app.owner).await;
    page.goes_to("/");
    assert!(is_signed_in(&plain).await);
}

async fn two_steps_for_everybody_leads_to_the_set_up_at_the_next_sign_in(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    let member = app.person_with("Mia", Role::Member).await;
    let hers = app.signed_in(&member).await;
    hers.post("/settings/people/two-steps", &[("everybody", "on")]).await.is(403);
    let on = [("everybody", "on")];
    owner.post("/settings/people/two-steps", &on).await.goes_to("/settings/people");
    assert!(is_signed_in(&hers).await, "a session that began before goes on");

    let (browser, page) = link_as(&app, &member).await;
    page.goes_to("/sign-in/set-up");
    assert!(!is_signed_in(&browser).await);
    let secret = secret_on(&browser.get("/sign-in/set-up").await.is(200));
    browser.post("/sign-in/set-up", &[("code", "000000")]).await.is(422).shows("does not fit");
    let code = secret.code_at(app.now());
    let done = browser.post("/sign-in/set-up", &[("code", &code)]).await.is(200);
    assert_eq!(codes_on(&done).len(), 10);
    assert!(is_signed_in(&browser).await);
    assert!(!is_signed_in(&hers).await, "the set-up ends the sessions before it");
    browser.remember_csrf().await;
    app.advance(STEP);
    let code = secret.code_at(app.now());
    browser.post("/settings/sign-in/totp/off", &[("code", &code)]).await.is(403);
    link_as(&app, &member).await.1.goes_to("/sign-in/code");
    owner.post("/settings/people/two-steps", &[]).await.goes_to("/settings/people");
    link_as(&app, &app.owner).await.1.goes_to("/");
}

async fn a_secret_is_shown_only_to_the_browser_that_sets_it_up(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    let two_steps = [("everybody", "on")];
    owner.post("/settings/people/two-steps", &two_steps).await.goes_to("/settings/people");
    let member = app.person_with("Mia", Role::Member).await;
    let (thief, page) = link_as(&app, &member).await;
    page.goes_to("/sign-in/set-up");
    let stolen = secret_on(&thief.get("/sign-in/set-up").await.is(200));
    let (hers, page) = link_as(&app, &member).await;
    page.goes_to("/sign-in/set-up");
    let secret = secret_on(&hers.get("/sign-in/set-up").await.is(200));
    assert_ne!(stolen.base32(), secret.base32());
    let code = stolen.code_at(app.now());
    hers.post("/sign-in/set-up", &[("code", &code)]).await.is(422).shows("does not fit");
    let code = secret.code_at(app.now());
    hers.post("/sign-in/set-up", &[("code", &code)]).await.is(200);

    owner.post("/settings/people/two-steps", &[]).await.goes_to("/settings/people");
    let (other, page) = link_as(&app, &app.owner).await;
    page.goes_to("/");
    other.remember_csrf().await;
    owner.post("/settings/sign-in/totp", &[]).await.goes_to("/settings/sign-in#app-h");
    let secret = secret_on(&owner.get("/settings/sign-in").await.is(200));
    other.get("/settings/sign-in").await.is(200).hides("Secret of the app");
    let code = secret.code_at(app.now());
    let elsewhere = other.post("/settings/sign-in/totp/confirm", &[("code", &code)]).await;
    elsewhere.is(400).shows("Begin it again");
    owner.post("/settings/sign-in/totp/confirm", &[("code", &code)]).await.is(200);
}

/// A device that holds one passkey.
struct Device {
    keys: Ed25519KeyPair,
    person: String,
}

const SITE: &str = "mail.acme.example";
const CREDENTIAL: [u8; 16] = [7; 16];

fn b64(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn client_data(kind: &str, challenge: &str) -> Vec<u8> {
    format!(r#"{{"type":"{kind}","challenge":"{challenge}","origin":"https://{SITE}"}}"#)
        .into_bytes()
}

fn head(flags: u8) -> Vec<u8> {
    let mut data = Sha256::digest(SITE).to_vec();
    data.extend([flags, 0, 0, 0, 0]);
    data
}

impl Device {
    /// Adds a passkey to the person who is signed in.
    async fn enrol(browser: &Browser<'_>) -> Device {
        let options = challenge(browser, "/settings/sign-in/passkeys/challenge").await;
        assert_eq!(options["authenticatorSelection"]["userVerification"], "required");
        assert_eq!(options["rp"]["id"], SITE);
        let person = URL_SAFE_NO_PAD.decode(options["user"]["id"].as_str().unwrap()).unwrap();
        let keys = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        let keys = Ed25519KeyPair::from_pkcs8(keys.as_ref()).unwrap();
        let envelope = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];
        let spki = [envelope.as_slice(), keys.public_key().as_ref()].concat();
        let data = [head(0x45), vec![0; 16], vec![0, 16], CREDENTIAL.to_vec()].concat();
        let said = client_data("webauthn.create", options["challenge"].as_str().unwrap());
        let fields = [
            ("name", "My laptop"),
            ("id", &b64(&CREDENTIAL)),
            ("client_data", &b64(&said)),
            ("authenticator_data", &b64(&data)),
            ("public_key", &b64(&spki)),
            ("algorithm", "-8"),
        ];
        let added = browser.post("/settings/sign-in/passkeys", &fields).await;
        added.goes_to("/settings/sign-in");
        let again = browser.post("/settings/sign-in/passkeys", &fields).await;
        again.is(422).shows("could not be added");
        Device { keys, person: String::from_utf8(person).unwrap() }
    }

    async fn sign_in(&self, browser: &Browser<'_>) -> Page {
        let options = challenge(browser, "/sign-in/passkey/challenge").await;
        assert!(options.get("allowCredentials").is_none(), "{options}");
        self.answer(browser, options["challenge"].as_str().unwrap()).await
    }

    async fn answer(&self, browser: &Browser<'_>, challenge: &str) -> Page {
        let (data, said) = (head(0x05), client_data("webauthn.get", challenge));
        let signed = [data.as_slice(), Sha256::digest(&said).as_slice()].concat();
        let fields = [
            ("id", b64(&CREDENTIAL)),
            ("client_data", b64(&said)),
            ("authenticator_data", b64(&data)),
            ("signature", b64(self.keys.sign(&signed).as_ref())),
            ("user_handle", b64(self.person.as_bytes())),
        ];
        let fields: Vec<(&str, &str)> = fields.iter().map(|(k, v)| (*k, v.as_str())).collect();
        browser.post("/sign-in/passkey", &fields).await
    }
}

async fn challenge(browser: &Browser<'_>, path: &str) -> Value {
    let page = browser.post(path, &[]).await.is(200);
    serde_json::from_str(&page.text).unwrap()
}

async fn a_passkey_is_added_named_used_without_a_name_and_removed(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let device = Device::enrol(&browser).await;
    let (secret, _) = with_app(&app, &browser).await;
    drop(secret);
    let other = app.browser();
    other.get("/sign-in").await.is(200).shows("Sign in with a passkey");
    device.sign_in(&other).await.goes_to("/");
    assert!(is_signed_in(&other).await, "a passkey is both steps in one");

    let page = browser.get("/settings/sign-in").await.is(200);
    let id = format!("pky_{}", page.between("/settings/sign-in/passkeys/pky_", "/"));
    let path = format!("/settings/sign-in/passkeys/{id}");
    let stranger = app.signed_in(&app.person_with("Sam", Role::Admin).await).await;
    stranger.post(&format!("{path}/rename"), &[("name", "Mine")]).await.is(404);
    stranger.post(&format!("{path}/remove"), &[]).await.is(404);
    let name = [("name", "Old laptop")];
    browser.post(&format!("{path}/rename"), &name).await.goes_to("/settings/sign-in");
    browser.get("/settings/sign-in").await.shows("Old laptop");
    browser.post(&format!("{path}/remove"), &[]).await.goes_to("/settings/sign-in");
    let refused = device.sign_in(&app.browser()).await.is(422);
    refused.shows("does not sign in here").shows("under Settings, Signing in");
}

async fn two_steps_for_everybody_let_no_password_or_link_replace_a_passkey(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    let two_steps = [("everybody", "on")];
    owner.post("/settings/people/two-steps", &two_steps).await.goes_to("/settings/people");
    let (early, page) = link_as(&app, &app.owner).await;
    page.goes_to("/sign-in/set-up");
    let device = Device::enrol(&owner).await;
    early.get("/sign-in/set-up").await.goes_to("/sign-in");
    let new = [("new", "correct horse battery")];
    owner.post("/settings/you/password", &new).await.goes_to("/settings/you");
    let (thief, page) = link_as(&app, &app.owner).await;
    page.is(422).shows("Use your passkey.");
    thief.get("/sign-in/set-up").await.goes_to("/sign-in");
    let right = [("email", "owner@acme.example"), ("password", new[0].1)];
    thief.post("/sign-in", &right).await.is(422).shows("Use your passkey.");
    assert!(!is_signed_in(&thief).await);
    let other = app.browser();
    device.sign_in(&other).await.goes_to("/");
    assert!(is_signed_in(&other).await);
}

async fn adding_a_passkey_asks_for_the_password_or_a_code(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let new = [("new", "correct horse battery")];
    browser.post("/settings/you/password", &new).await.goes_to("/settings/you");
    let path = "/settings/sign-in/passkeys";
    let (wrong, right) = ([("password", "wrong")], [("password", new[0].1)]);
    browser.post(path, &wrong).await.is(422).shows("That is not your password.");
    browser.post(path, &right).await.is(422).shows("could not be added");
    let (_, codes) = with_app(&app, &browser).await;
    browser.post(path, &right).await.is(422).shows("That code does not fit");
    browser.post(path, &[("code", &codes[0])]).await.is(422).shows("could not be added");
}

async fn a_new_app_and_a_removed_passkey_end_other_sessions_and_links(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let device = Device::enrol(&browser).await;
    let other = app.signed_in(&app.owner).await;
    let link = app.sign_in_link(&app.owner).await;
    with_app(&app, &browser).await;
    assert!(is_signed_in(&browser).await);
    assert!(!is_signed_in(&other).await);
    app.browser().post(&link, &[]).await.is(404);

    let other = app.browser();
    device.sign_in(&other).await.goes_to("/");
    let page = browser.get("/settings/sign-in").await.is(200);
    let id = page.between("/settings/sign-in/passkeys/pky_", "/");
    let path = format!("/settings/sign-in/passkeys/pky_{id}/remove");
    browser.post(&path, &[]).await.goes_to("/settings/sign-in");
    assert!(is_signed_in(&browser).await);
    assert!(!is_signed_in(&other).await);
}

async fn a_challenge_counts_once_in_its_browser_for_five_minutes(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let device = Device::enrol(&browser).await;
    let other = app.browser();
    let options = challenge(&other, "/sign-in/passkey/challenge").await;
    let asked = options["challenge"].as_str().unwrap();
    let thief = app.browser();
    device.answer(&thief, asked).await.is(422);
    challenge(&thief, "/sign-in/passkey/challenge").await;
    device.answer(&thief, asked).await.is(422);
    let cookie = other.cookie("__Host-mailroom_step").unwrap();
    device.answer(&other, asked).await.goes_to("/");
    let replay = app.browser();
    replay.set_cookie("__Host-mailroom_step", &cookie);
    device.answer(&replay, asked).await.is(422);
    let late = app.browser();
    let options = challenge(&late, "/sign-in/passkey/challenge").await;
    app.advance(5 * MINUTE);
    device.answer(&late, options["challenge"].as_str().unwrap()).await.is(422);
}

async fn a_passkey_added_while_private_inboxes_are_shut_leaves_them_shut(app: TestApp) {
    let ann = app.person_with("Ann", Role::Admin).await;
    app.signed_in(&ann).await;
    let (operator, id) = (app.service(&app.support), user(&ann));
    let link = app.act(&operator, move |tx, cx| sessions::make_sign_in_link(tx, cx, &id)).await;
    let shut = app.browser();
    shut.post(link.strip_prefix(PUBLIC_URL).unwrap(), &[]).await.goes_to("/");
    shut.remember_csrf().await;
    let device = Device::enrol(&shut).await;
    let other = app.browser();
    device.sign_in(&other).await.goes_to("/");
    other.get("/settings/you").await.is(200).shows("Private inboxes are shut in this session");
}

async fn a_removed_person_has_no_passkey_and_no_session(app: TestApp) {
    let ann = app.person_with("Ann", Role::Admin).await;
    let hers = app.signed_in(&ann).await;
    let device = Device::enrol(&hers).await;
    hers.get("/settings/keys").await.is(200);
    let owner = app.signed_in(&app.owner).await;
    let path = format!("/settings/people/{}", user(&ann));
    owner.post(&format!("{path}/role"), &[("role", "member")]).await.goes_to("/settings/people");
    hers.get("/settings/keys").await.is(403);
    owner.post(&format!("{path}/remove"), &[]).await.goes_to("/settings/people");
    assert!(!is_signed_in(&hers).await);
    device.sign_in(&app.browser()).await.is(422);
}

async fn a_reset_ends_what_hangs_on_a_device_and_opens_nothing_to_who_resets(app: TestApp) {
    let app = app.with_mail();
    let ann = app.person_with("Ann", Role::Member).await;
    let hers = app.signed_in(&ann).await;
    let device = Device::enrol(&hers).await;
    with_app(&app, &hers).await;
    let sam = app.signed_in(&app.person_with("Sam", Role::Admin).await).await;
    let owner_path = format!("/settings/people/{}/reset-sign-in", user(&app.owner));
    sam.post(&owner_path, &[]).await.is(403);
    hers.post(&owner_path, &[]).await.is(403);
    let owner = app.signed_in(&app.owner).await;
    owner.post(&owner_path, &[]).await.is(403).shows("Somebody else resets your sign-in");
    let path = format!("/settings/people/{}/reset-sign-in", user(&ann));
    sam.post(&path, &[]).await.goes_to("/settings/people");
    assert!(!is_signed_in(&hers).await);
    device.sign_in(&app.browser()).await.is(422);
    sam.get("/settings/audit").await.shows("reset the sign-in of");

    let browser = app.browser();
    browser.post("/sign-in-link", &[("email", "ann@acme.example")]).await.is(200);
    app.work().await;
    let mails = app.outside.relay.attempts();
    let told = mails
        .iter()
        .any(|mail| String::from_utf8_lossy(&mail.bytes).contains("Your sign-in was reset"));
    assert!(told);
    let attempts = mails.iter().filter(|mail| mail.recipients == ["ann@acme.example"]);
    let mut link = attempts.filter_map(|mail| {
        let text = String::from_utf8_lossy(&mail.bytes).replace("=\r\n", "");
        let start = text.find("/sign-in/")?;
        Some(text[start..].chars().take_while(|c| !c.is_whitespace() && *c != '<').collect())
    });
    let link: String = link.next_back().expect("a link");
    browser.post(&link, &[]).await.goes_to("/");
    browser.get("/settings/you").await.is(200).hides("Private inboxes are shut");
}

async fn a_mailed_link_leads_to_where_the_browser_that_asked_for_it_was_going(app: TestApp) {
    let app = app.with_mail();
    let consent = "/authorize?client_id=x&state=1";
    for (asked, goes) in [(consent, consent), ("//evil.test", "/")] {
        let browser = app.browser();
        let fields = [("email", "owner@acme.example"), ("next", asked)];
        browser.post("/sign-in-link", &fields).await.is(200);
        app.work().await;
        let link = mailed_links(&app, "owner@acme.example").pop().unwrap();
        let page = browser.post(&link, &[]).await;
        let keeps = page.answer.header("cross-origin-opener-policy") == "unsafe-none";
        assert_eq!(keeps, goes != "/");
        page.goes_to(goes);
    }
    // Somebody else asks for a link for her, with a place of their choice.
    let stranger = app.browser();
    let fields = [("email", "owner@acme.example"), ("next", consent)];
    stranger.post("/sign-in-link", &fields).await.is(200);
    app.work().await;
    let link = mailed_links(&app, "owner@acme.example").pop().unwrap();
    let browser = app.browser();
    browser.set_cookie("__Host-mailroom_asker", &"a".repeat(40));
    browser.post(&link, &[]).await.goes_to("/");
}

async fn a_lost_app_is_replaced_after_a_recovery_code_where_two_steps_are_wanted(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    let (lost, codes) = with_app(&app, &owner).await;
    let on = [("everybody", "on")];
    owner.post("/settings/people/two-steps", &on).await.goes_to("/settings/people");
    let (browser, page) = link_as(&app, &app.owner).await;
    page.goes_to("/sign-in/code");
    browser.post("/sign-in/code", &[("code", &codes[0])]).await.goes_to("/");
    browser.remember_csrf().await;
    let path = "/settings/sign-in/totp/replace";
    browser.get("/settings/sign-in").await.is(200).shows("Replace the app").shows("so it stays on");
    browser.post(path, &[("code", "000000")]).await.is(422).shows("does not fit");
    browser.post(path, &[("code", &codes[1])]).await.goes_to("/settings/sign-in#app-h");
    let secret = secret_on(&browser.get("/settings/sign-in").await.is(200));
    owner.get("/settings/sign-in").await.is(200).hides("Secret of the app");
    let confirm = "/settings/sign-in/totp/confirm";
    browser.post(confirm, &[("code", &lost.code_at(app.now()))]).await.is(422);
    let code = secret.code_at(app.now());
    let fresh = codes_on(&browser.post(confirm, &[("code", &code)]).await.is(200));
    assert!(is_signed_in(&browser).await && !is_signed_in(&owner).await);

    app.advance(STEP);
    let (other, page) = link_as(&app, &app.owner).await;
    page.goes_to("/sign-in/code");
    other.post("/sign-in/code", &[("code", &lost.code_at(app.now()))]).await.is(422);
    other.post("/sign-in/code", &[("code", &codes[2])]).await.is(422);
    other.post("/sign-in/code", &[("code", &secret.code_at(app.now()))]).await.goes_to("/");
    let (last, _) = link_as(&app, &app.owner).await;
    last.post("/sign-in/code", &[("code", &fresh[0])]).await.goes_to("/");
    browser.get("/settings/audit").await.is(200).shows("replaced the authenticator app of");
}

async fn changes_of_the_sign_in_are_mailed_and_written_down(app: TestApp) {
    let app = app.with_mail();
    let browser = app.signed_in(&app.owner).await;
    Device::enrol(&browser).await;
    let (_, codes) = with_app(&app, &browser).await;
    let page = browser.get("/settings/sign-in").await;
    let id = format!("pky_{}", page.between("/settings/sign-in/passkeys/pky_", "/"));
    browser.post(&format!("/settings/sign-in/passkeys/{id}/remove"), &[]).await;
    browser.post("/settings/sign-in/codes", &[("code", &codes[0])]).await.is(200);
    app.work().await;
    let mails = app.outside.relay.attempts();
    let all: String = mails.iter().map(|mail| String::from_utf8_lossy(&mail.bytes)).collect();
    let unfolded = all.replace("=\r\n", "").replace("\r\n", " ");
    assert!(unfolded.contains("remove it under Settings, Signing in"));
    for subject in [
        "A passkey was added at",
        "A passkey was removed at",
        "Your second step is on at",
        "A recovery code was used at",
        "You have new recovery codes at",
    ] {
        assert!(all.contains(subject), "{subject}");
    }
    let log = browser.get("/settings/audit").await.is(200);
    for did in ["added a passkey of", "set up the second step of", "made recovery codes for"] {
        log.shows(did);
    }
    assert!(!codes.iter().any(|code| all.contains(code.as_str())));
}
