//! Signing in and out.

use actions::sign_in::sessions;
use axum::body::Body;
use axum::http::Request;

use crate::support::*;

on_both!(
    a_link_signs_in_once_and_looking_at_it_uses_nothing_up,
    a_link_works_for_a_day,
    the_session_cookie_is_for_this_host_https_and_not_for_scripts,
    a_password_signs_in_and_wrong_ones_tell_nothing,
    over_https_the_plain_cookie_is_nobodys_session,
    guesses_are_counted_by_what_our_proxy_saw_and_by_ipv6_network,
    guessing_ends_after_ten_tries_for_an_address,
    sessions_are_listed_ended_and_end_by_themselves,
    signing_out_ends_the_session_on_the_server,
    changing_the_password_needs_the_old_one_and_ends_other_sessions,
    a_link_is_mailed_to_who_has_the_address_and_the_answer_is_the_same,
    mailed_links_end_after_an_hour_and_are_not_sent_without_end,
    who_is_added_is_invited_by_mail_where_mail_reaches_people,
    without_mail_no_link_is_mailed,
    whoever_has_the_address_of_an_inbox_is_told_that_links_cannot_be_mailed_there,
    a_network_learns_of_few_addresses_whether_they_are_inboxes
);

async fn a_link_signs_in_once_and_looking_at_it_uses_nothing_up(app: TestApp) {
    let link = app.sign_in_link(&app.owner).await;
    let browser = app.browser();
    browser.get("/").await.goes_to("/sign-in");
    for _ in 0..2 {
        browser.get(&link).await.is(200).shows("Sign in as Olive Owner").shows("Acme");
    }
    browser.post(&link, &[]).await.goes_to("/");
    browser.get("/").await.goes_to("/welcome");
    browser.get("/inbox?view=open").await.is(200).shows("Olive Owner");

    let other = app.browser();
    other.post(&link, &[]).await.is(404).shows("does not work any more");
    other.get(&link).await.is(404);
    other.get("/inbox").await.goes_to("/sign-in?next=%2Finbox");
}

async fn a_link_works_for_a_day(app: TestApp) {
    let link = app.sign_in_link(&app.owner).await;
    app.advance(DAY);
    app.browser().get(&link).await.is(404);
    app.browser().post(&link, &[]).await.is(404);
}

async fn the_session_cookie_is_for_this_host_https_and_not_for_scripts(app: TestApp) {
    let link = app.sign_in_link(&app.owner).await;
    let page = app.browser().post(&link, &[]).await;
    let cookie = page.answer.header("set-cookie").to_owned();
    assert!(cookie.starts_with("__Host-mailroom_session="), "{cookie}");
    for part in ["; Path=/", "; HttpOnly", "; SameSite=Lax", "; Secure"] {
        assert!(cookie.contains(part), "{cookie}");
    }
}

async fn a_password_signs_in_and_wrong_ones_tell_nothing(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let password = "correct horse battery";
    browser.post("/settings/you/password", &[("new", "short")]).await.is(422).shows("12 to 200");
    for guessable in ["passwordpassword", "aaaaaaaaaaaaaa", "qwertyuiop123"] {
        let page = browser.post("/settings/you/password", &[("new", guessable)]).await.is(422);
        page.shows("This is easy to guess");
    }
    browser.post("/settings/you/password", &[("new", password)]).await.goes_to("/settings/you");

    let other = app.browser();
    let wrong = [("email", "owner@acme.example"), ("password", "wrong horse battery")];
    let nobody = [("email", "nobody@acme.example"), ("password", "wrong horse battery")];
    let refused = other.post("/sign-in", &wrong).await.is(422);
    refused.shows("do not belong together").shows("owner@acme.example");
    let unknown = other.post("/sign-in", &nobody).await.is(422);
    assert_eq!(refused.text.replace("owner@", "nobody@"), unknown.text);
    let right = [("email", "Owner@acme.example"), ("password", password), ("next", "/leaving")];
    other.post("/sign-in", &right).await.goes_to("/leaving");
    other.get("/leaving").await.is(200);
}

async fn over_https_the_plain_cookie_is_nobodys_session(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let session = browser.cookie("__Host-mailroom_session").unwrap();
    let other = app.browser();
    other.set_cookie("mailroom_session", &session);
    other.get("/leaving").await.goes_to("/sign-in?next=%2Fleaving");
    other.set_cookie("__Host-mailroom_session", &session);
    other.get("/leaving").await.is(200);
}

async fn guesses_are_counted_by_what_our_proxy_saw_and_by_ipv6_network(app: TestApp) {
    let guess = async |number: usize, seen_from: &str| {
        let form = format!("csrf=&email=nobody{number}%40acme.example&password=wrong+horse");
        let proxy = "127.0.0.1".parse().unwrap();
        let request = Request::post("/sign-in")
            .header("content-type", "application/x-www-form-urlencoded")
            .header("x-forwarded-for", format!("203.0.113.{}", number % 250))
            .header("x-forwarded-for", seen_from)
            .extension(transport::http::Peer::new(proxy, Default::default()))
            .body(Body::from(form))
            .unwrap();
        let answer = app.send(request).await.is(422);
        String::from_utf8(answer.bytes).unwrap().contains("Too many attempts")
    };
    let place = "place 2001:db8:1:2::/64".to_owned();
    let now = app.now();
    for _ in 0..99 {
        let place = place.clone();
        app.act(&app.owner, move |tx, _| sessions::count_sign_in_attempt(tx, &place, 100, now))
            .await;
    }
    assert!(!guess(1, "2001:db8:1:2::1").await, "the hundredth is looked at");
    assert!(guess(2, "2001:db8:1:2:ffff::9").await, "and no other of the same network");
    assert!(!guess(3, "2001:db8:1:3::1").await);
}

async fn guessing_ends_after_ten_tries_for_an_address(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let password = "correct horse battery";
    browser.post("/settings/you/password", &[("new", password)]).await.goes_to("/settings/you");
    let other = app.browser();
    let right = [("email", "owner@acme.example"), ("password", password)];
    for _ in 0..10 {
        let wrong = [("email", "owner@acme.example"), ("password", "a wrong password")];
        other.post("/sign-in", &wrong).await.is(422).shows("do not belong together");
    }
    other.post("/sign-in", &right).await.is(422).shows("Too many attempts");
    app.advance(15 * MINUTE + 1);
    other.post("/sign-in", &right).await.goes_to("/");
}

async fn sessions_are_listed_ended_and_end_by_themselves(app: TestApp) {
    let desk = app.signed_in(&app.owner).await;
    app.advance(MINUTE);
    let phone = app.signed_in(&app.owner).await;
    let page = desk.get("/settings/you").await.is(200);
    page.shows("Firefox on Linux").shows("This one");
    let id = page.between("/settings/you/sessions/ses_", "/end").to_owned();
    desk.post(&format!("/settings/you/sessions/ses_{id}/end"), &[]).await.goes_to("/settings/you");
    phone.get("/inbox").await.goes_to("/sign-in?next=%2Finbox");
    desk.get("/inbox").await.is(200);
    desk.post("/settings/you/sessions/ses_00000000000000000000000000/end", &[]).await.is(404);

    app.advance(29 * DAY);
    desk.get("/inbox").await.is(200);
    app.app.background.finish().await;
    app.advance(29 * DAY);
    desk.get("/inbox").await.is(200);
    app.app.background.finish().await;
    app.advance(31 * DAY);
    desk.get("/inbox").await.goes_to("/sign-in?next=%2Finbox");
}

async fn signing_out_ends_the_session_on_the_server(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let token = browser.cookie("__Host-mailroom_session").unwrap();
    browser.post("/sign-out", &[]).await.goes_to("/sign-in");
    browser.get("/sign-in").await.is(200).shows("You are signed out.");
    browser.set_cookie("__Host-mailroom_session", &token);
    browser.get("/inbox").await.goes_to("/sign-in?next=%2Finbox");
}

async fn changing_the_password_needs_the_old_one_and_ends_other_sessions(app: TestApp) {
    let desk = app.signed_in(&app.owner).await;
    let first = [("new", "correct horse battery")];
    desk.post("/settings/you/password", &first).await.goes_to("/settings/you");
    let phone = app.signed_in(&app.owner).await;
    let second = [("old", "not that"), ("new", "another long password")];
    desk.post("/settings/you/password", &second).await.is(422).shows("not your password");
    phone.get("/inbox").await.is(200);
    let second = [("old", "correct horse battery"), ("new", "another long password")];
    desk.post("/settings/you/password", &second).await.goes_to("/settings/you");
    phone.get("/inbox").await.goes_to("/sign-in?next=%2Finbox");
    desk.get("/inbox").await.is(200);
}

/// The sign-in links in the mails to an address.
pub fn mailed_links(app: &TestApp, address: &str) -> Vec<String> {
    let attempts = app.outside.relay.attempts();
    let mails = attempts.iter().filter(|parcel| parcel.recipients == [address]);
    mails
        .map(|parcel| {
            let text = String::from_utf8_lossy(&parcel.bytes).replace("=\r\n", "");
            let start = text.find("/sign-in/").expect("a link");
            text[start..].chars().take_while(|c| !c.is_whitespace() && *c != '<').collect()
        })
        .collect()
}

async fn a_link_is_mailed_to_who_has_the_address_and_the_answer_is_the_same(app: TestApp) {
    let app = app.with_mail();
    let browser = app.browser();
    browser.get("/sign-in").await.is(200).shows("E-mail me a link");
    let known = browser.post("/sign-in-link", &[("email", "OWNER@acme.example")]).await.is(200);
    let unknown = browser.post("/sign-in-link", &[("email", "NOONE@acme.example")]).await.is(200);
    assert_eq!(known.text.replace("OWNER", "NOONE"), unknown.text);
    app.work().await;
    assert_eq!(app.outside.relay.attempts().len(), 1);
    let link = mailed_links(&app, "owner@acme.example").remove(0);
    browser.post(&link, &[]).await.goes_to("/");
    browser.get("/inbox?view=open").await.is(200).shows("Olive Owner");
    app.browser()
        .post("/sign-in-link", &[("email", "nonsense")])
        .await
        .is(422)
        .shows("not an e-mail address");
}

async fn mailed_links_end_after_an_hour_and_are_not_sent_without_end(app: TestApp) {
    let app = app.with_mail();
    let browser = app.browser();
    for _ in 0..3 {
        browser.post("/sign-in-link", &[("email", "owner@acme.example")]).await.is(200);
    }
    browser
        .post("/sign-in-link", &[("email", "owner@acme.example")])
        .await
        .is(422)
        .shows("Too many links");
    for n in 0..16 {
        browser.post("/sign-in-link", &[("email", &format!("n{n}@acme.example"))]).await.is(200);
    }
    browser
        .post("/sign-in-link", &[("email", "last@acme.example")])
        .await
        .is(422)
        .shows("Too many links");
    app.work().await;
    let links = mailed_links(&app, "owner@acme.example");
    assert_eq!(links.len(), 3);
    browser.post(&links[0], &[]).await.goes_to("/");
    app.browser().post(&links[0], &[]).await.is(404);
    app.advance(HOUR);
    app.browser().post(&links[1], &[]).await.is(404);
    app.browser().post("/sign-in-link", &[("email", "owner@acme.example")]).await.is(200);
}

async fn who_is_added_is_invited_by_mail_where_mail_reaches_people(app: TestApp) {
    let app = app.with_mail();
    let browser = app.signed_in(&app.owner).await;
    let fields = [("name", "Ann Ames"), ("email", "ann@acme.example"), ("role", "member")];
    browser.post("/settings/people", &fields).await.goes_to("/settings/people");
    let page = browser.get("/settings/people").await.is(200);
    page.shows("on its way to them by e-mail").shows("ann@acme.example").hides("/sign-in/");
    app.work().await;
    let link = mailed_links(&app, "ann@acme.example").remove(0);
    let ann = app.browser();
    ann.post(&link, &[]).await.goes_to("/");
    ann.get("/settings/you").await.is(200).shows("Ann Ames");
}

async fn without_mail_no_link_is_mailed(app: TestApp) {
    let browser = app.browser();
    browser.get("/sign-in").await.is(200).hides("E-mail me a link").shows("Ask an owner");
    browser.post("/sign-in-link", &[("email", "owner@acme.example")]).await.is(404);
}

async fn a_network_learns_of_few_addresses_whether_they_are_inboxes(app: TestApp) {
    let app = app.with_mail();
    let browser = app.browser();
    let support = [("email", "support@acme.example")];
    for _ in 0..20 {
        browser.post("/sign-in-link", &support).await.is(422).shows("it is an inbox here");
    }
    let page = browser.post("/sign-in-link", &support).await.is(422);
    page.shows("Too many links").hides("it is an inbox here");
}

async fn whoever_has_the_address_of_an_inbox_is_told_that_links_cannot_be_mailed_there(
    app: TestApp,
) {
    let app = app.with_mail();
    let sentence = "Links cannot be mailed to support@acme.example: it is an inbox here";
    let page = app.browser();
    page.post("/sign-in-link", &[("email", "Support@acme.example")])
        .await
        .is(422)
        .shows("Links cannot be mailed to Support@acme.example: it is an inbox here");
    page.post("/sign-in-link", &[("email", "support@acme.example")]).await.is(422).shows(sentence);
    page.post("/sign-in-link", &[("email", "who@acme.example")])
        .await
        .is(200)
        .hides("an inbox here");
    let owner = app.signed_in(&app.owner).await;
    for page in ["/settings/you", "/welcome"] {
        owner.get(page).await.is(200).hides("Sign-in links cannot be mailed to you");
    }
    let id = user(&app.owner);
    app.act(&app.owner, move |tx, cx| {
        tx.exec(
            "UPDATE users SET email = 'support@acme.example' WHERE ws = ?1 AND id = ?2",
            &[&cx.actor.ws, &id],
        )?;
        Ok(())
    })
    .await;
    for page in ["/settings/you", "/welcome"] {
        owner.get(page).await.is(200).shows("Sign-in links cannot be mailed to you");
    }
}
