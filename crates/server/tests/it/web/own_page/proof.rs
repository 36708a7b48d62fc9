//! What is proven of a customer: who may guess how often, in which workspace a proof counts, and whose mail is whose.

use std::sync::Arc;

use actions::people::removal;
use axum::body::Body;
use axum::http::Request;
use base::limits::{CODE_TRIES, CODES_PER_PAGE, CODES_WINDOW_MS, WRONG_CODES_PER_DAY};
use mail::{Authentication, Dmarc};
use model::authentication::SenderAuthentication;
use model::times::local_times::LocalTimes;
use transport::http::Peer;

use super::{
    ANN, EVE, ME, answer, code_to, csrf, join_checked, lamp, lamp_of_globex, press, press_at,
    sign_in, sign_in_at,
};
use crate::support::*;
use crate::web::browser::{Browser, Page};

on_both!(
    a_stranger_who_asks_for_codes_and_guesses_does_not_lock_the_owner_out,
    when_the_next_code_can_be_asked_for_is_said_in_utc_without_an_inbox,
    mail_that_only_names_the_address_is_not_shown_as_hers,
    each_workspace_has_a_session_of_its_own,
    what_is_written_to_somebody_who_left_reaches_the_team
);

/// Posts a form of the front from a client network, by a reader of a language.
async fn press_as(
    browser: &Browser<'_>,
    (network, language): (&str, &str),
    what: &str,
    fields: &[(&str, &str)],
) -> Page {
    let token = csrf(&browser.get(ME).await.is(200));
    let mut all = vec![("csrf", token.as_str())];
    all.extend(fields);
    let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(&all).finish();
    let request = Request::post(format!("{ME}/{what}"))
        .header("content-type", "application/x-www-form-urlencoded")
        .header("accept-language", language)
        .extension(Peer::new(network.parse().unwrap(), Arc::default()));
    browser.send(request, Body::from(body)).await
}

async fn a_stranger_who_asks_for_codes_and_guesses_does_not_lock_the_owner_out(app: TestApp) {
    lamp(&app).await;
    let (stranger, there) = (app.browser(), ("192.0.2.77", "en"));
    let (asked, guess) = ([("email", ANN)], [("email", ANN), ("code", "1")]);
    for _ in 0..WRONG_CODES_PER_DAY / CODE_TRIES {
        press_as(&stranger, there, "code", &asked).await.is(200);
        for _ in 0..CODE_TRIES {
            press_as(&stranger, there, "open", &guess).await.is(401);
        }
        app.advance(CODES_WINDOW_MS);
    }
    for _ in 0..CODES_PER_PAGE {
        press_as(&stranger, there, "code", &asked).await.is(200);
    }
    press_as(&stranger, there, "code", &asked).await.is(429);
    let closed = press_as(&stranger, there, "open", &guess).await.is(401);
    closed.shows("That code has run out");
    app.work().await;
    let (ann, here) = (app.browser(), ("198.51.100.9", "en"));
    press_as(&ann, here, "code", &asked).await.is(200);
    app.work().await;
    let code = code_to(&app, ANN).expect("a code");
    press_as(&ann, here, "open", &[("email", ANN), ("code", &code)]).await.goes_to(ME);
}

async fn when_the_next_code_can_be_asked_for_is_said_in_utc_without_an_inbox(app: TestApp) {
    lamp(&app).await;
    app.exec("UPDATE mailboxes SET circle = 'deleted'").await;
    let (browser, german) = (app.browser(), ("192.0.2.77", "de"));
    for _ in 0..CODES_PER_PAGE {
        press_as(&browser, german, "code", &[("email", EVE)]).await.is(200);
    }
    let page = press_as(&browser, german, "code", &[("email", EVE)]).await.is(429);
    let next_at = LocalTimes::default().clock(app.now() + CODES_WINDOW_MS);
    page.shows(&format!("Ab {next_at} können Sie einen weiteren anfordern."));
}

async fn mail_that_only_names_the_address_is_not_shown_as_hers(app: TestApp) {
    let id = lamp(&app).await;
    let path = format!("{ME}/c/{id}");
    let browser = app.browser();
    sign_in(&app, &browser, ANN).await;
    let note = "It is not proven that you wrote it.";
    for (name, text, dmarc, notes) in [
        ("Lampenhaus", "Send it elsewhere", Dmarc::Fail, 2),
        ("Ann", "Where is it now?", Dmarc::Pass, 2),
    ] {
        app.advance(MINUTE);
        let checked = Authentication { dmarc, ..Authentication::default() };
        let mail = letter(&format!("{ANN} {name}"), "My lamp", text);
        join_checked(&app, &id, mail, Some(SenderAuthentication::from(&checked))).await;
        let page = browser.get(&path).await.is(200);
        page.shows(text).hides("Lampenhaus");
        assert_eq!(page.text.matches(note).count(), notes, "{text}");
        let is_hers = dmarc == Dmarc::Pass;
        assert_eq!(page.text.contains("<strong>You</strong>"), is_hers, "{text}");
        let list = browser.get(ME).await.is(200);
        assert_eq!(list.text.contains("You wrote on"), is_hers, "{text}");
    }
    // What she writes here is proven by the code, and bears the name of proven mail alone.
    answer(&browser, &path, "Thank you!").await.is(303);
    let page = browser.get(&path).await.is(200);
    assert_eq!(page.text.matches("<strong>You</strong>").count(), 2);
    press(&browser, "data", &[]).await.is(200).shows("\"proven\": false").hides("Lampenhaus");
}

async fn each_workspace_has_a_session_of_its_own(app: TestApp) {
    lamp(&app).await;
    lamp_of_globex(&app).await;
    let (browser, globex) = (app.browser(), "/me/globex");
    sign_in(&app, &browser, ANN).await;
    browser.get(globex).await.is(200).shows("Send me the code").hides("Their lamp");
    // The cookie of one workspace opens nothing in the other.
    let cookie = browser.cookie("__Host-mailroom_guest-acme").expect("a cookie");
    let other = app.browser();
    other.set_cookie("__Host-mailroom_guest-globex", &cookie);
    other.get(globex).await.is(200).shows("Send me the code").hides("Their lamp");
    // Signing in and out of one leaves the other as it was.
    sign_in_at(&app, &browser, globex, ANN).await;
    browser.get(globex).await.is(200).shows("Their lamp").hides("My lamp");
    browser.get(ME).await.is(200).shows("My lamp").hides("Their lamp");
    press_at(&browser, globex, "sign-out", &[]).await.goes_to(&format!("{globex}?left"));
    browser.get(globex).await.is(200).shows("Send me the code").hides("Their lamp");
    browser.get(ME).await.is(200).shows("My lamp");
}

async fn what_is_written_to_somebody_who_left_reaches_the_team(app: TestApp) {
    lamp(&app).await;
    let (mia, key) = (app.person("Mia").await, app.key("read").await);
    let inbox = app.private_inbox(&mia).await;
    let mail = letter("eve@shop.example Eve", "For Mia", "Are you there?");
    let mail = app.deliver(&inbox, mail).await;
    let person = user(&mia);
    app.act(&app.owner, move |tx, cx| removal::remove_person(tx, cx, &person)).await;
    let browser = app.browser();
    sign_in(&app, &browser, EVE).await;
    let path = format!("{ME}/c/{}", mail.conversation);
    answer(&browser, &path, "Who reads this?").await.is(303);
    let listed = app.list(&key, "").await;
    assert_eq!(listed[0]["subject"], "For Mia", "{listed:?}");
    assert_eq!(listed[0]["messageCount"], 1);
    app.advance(MINUTE);
    press(&browser, "forget", &[]).await.goes_to(&format!("{ME}#data"));
    assert_eq!(app.list(&key, "").await[0]["subject"], "Please delete my data");
}
