//! A link that somebody else made signs a person in, and leaves their private inboxes shut until
//! they have shown that it is them.

use actions::integrations::webhooks;
use actions::sign_in::sessions;
use base::actor::{Actor, Circle, Role};
use inbound::incoming_mail::FiledMail;
use model::mailboxes::Mailbox;
use serde_json::json;

use super::sign_in;
use crate::support::*;
use crate::web::browser::Browser;

on_both!(
    a_link_that_somebody_else_made_leaves_private_inboxes_shut,
    keys_and_webhooks_of_such_a_session_hear_nothing_private,
    her_own_password_opens_them_and_one_set_in_such_a_session_does_not,
    the_first_to_sign_in_is_taken_for_the_person_while_there_is_nothing_private,
    a_link_that_is_mailed_to_the_person_opens_them,
    a_new_password_ends_every_link_that_would_sign_in
);

const PASSWORD: &str = "correct horse battery";

/// Ann, an admin with a letter in her private inbox, who has signed in before.
async fn ann(app: &TestApp) -> (Actor, Mailbox, FiledMail) {
    let ann = app.person_with("Ann", Role::Admin).await;
    app.signed_in(&ann).await;
    let inbox = app.private_inbox(&ann).await;
    let letter =
        app.deliver(&inbox, letter("kim@home.example", "Kitchen", "A kitchen for Ann")).await;
    (ann, inbox, letter)
}

/// The path of a link that an owner makes for somebody, as on the page of people.
async fn handed_link(app: &TestApp, person: &Actor) -> String {
    let owner = app.signed_in(&app.owner).await;
    let page = owner.post(&format!("/settings/people/{}/link", user(person)), &[]).await.is(200);
    let link = page.between("aria-label=\"Sign-in link for", "</code>").to_owned();
    link[link.find("/sign-in/").unwrap()..].to_owned()
}

async fn with_link<'a>(app: &'a TestApp, link: &str) -> Browser<'a> {
    let browser = app.browser();
    browser.post(link, &[]).await.goes_to("/");
    browser.remember_csrf().await;
    browser
}

async fn sees(browser: &Browser<'_>, letter: &FiledMail) -> bool {
    let list = browser.get("/inbox?view=open").await.is(200).text.contains("Kitchen");
    let found = !browser.get("/search?q=kitchen").await.is(200).text.contains("No message says");
    let page = browser.get(&format!("/conversations/{}", letter.conversation)).await;
    assert_eq!(
        (list, found, page.status),
        if list { (true, true, 200) } else { (false, false, 404) }
    );
    list
}

async fn set_password(browser: &Browser<'_>, old: &str, new: &str) {
    let fields = [("old", old), ("new", new)];
    browser.post("/settings/you/password", &fields).await.goes_to("/settings/you");
}

async fn with_password<'a>(app: &'a TestApp, password: &str) -> Browser<'a> {
    let browser = app.browser();
    let fields = [("email", "ann@acme.example"), ("password", password)];
    browser.post("/sign-in", &fields).await.goes_to("/");
    browser.remember_csrf().await;
    browser
}

async fn a_link_that_somebody_else_made_leaves_private_inboxes_shut(app: TestApp) {
    let (ann, inbox, letter) = ann(&app).await;
    let owner_made = handed_link(&app, &ann).await;
    let operator = app.service(&app.support);
    let id = user(&ann);
    let at_command_line =
        app.act(&operator, move |tx, cx| sessions::make_sign_in_link(tx, cx, &id)).await;
    for link in [owner_made.as_str(), at_command_line.strip_prefix(PUBLIC_URL).unwrap()] {
        let browser = with_link(&app, link).await;
        browser.get("/inbox?view=open").await.is(200).shows("Ann Teammate");
        assert!(!sees(&browser, &letter).await);
        browser.get(&format!("/inbox?mailbox={}", inbox.id)).await.is(404);
        browser.get(&format!("/settings/inboxes/{}", inbox.id)).await.is(404);
        browser
            .get("/settings/you")
            .await
            .is(200)
            .shows("Private inboxes are shut in this session");
    }
    let own = app.signed_in(&ann).await;
    assert!(sees(&own, &letter).await);
    own.get("/settings/you").await.is(200).hides("Private inboxes are shut");
}

async fn keys_and_webhooks_of_such_a_session_hear_nothing_private(app: TestApp) {
    let (ann, _, letter) = ann(&app).await;
    let fields = [("url", "https://public.example.com/"), ("hears", "private")];
    let hers = app
        .act(&ann, |tx, cx| {
            webhooks::add_webhook(tx, cx, &"https://hers.example.com/".parse().unwrap(), true, true)
        })
        .await;
    let browser = with_link(&app, &handed_link(&app, &ann).await).await;
    browser.post("/settings/webhooks", &fields).await.is(403);
    browser.get("/settings/webhooks").await.is(200).hides("hers.example.com");
    browser.get(&format!("/settings/webhooks/{}", hers.id)).await.is(404);
    browser.post(&format!("/settings/webhooks/{}/rotate", hers.id), &[]).await.is(404);

    let made = browser
        .post("/settings/keys", &[("name", "Robo"), ("scope", "write"), ("works", "live")])
        .await;
    let made = made.is(200);
    let secret = format!("rk_live_{}", made.between("rk_live_", "<"));
    let list =
        app.send(request("GET", "/conversations", Some(&secret), axum::body::Body::empty())).await;
    assert_eq!(list.is(200).json(), json!([]));
    let path = format!("/conversations/{}", letter.conversation);
    app.send(request("GET", &path, Some(&secret), axum::body::Body::empty())).await.is(404);
    let own = app.key_of(&ann, "Own", "read", true).await;
    let team = app.get(&own, &path).await.is(200).json()["team"]["agents"].clone();
    assert_eq!(texts(team.as_array().unwrap(), "name"), ["Own"], "who cannot see it is not listed");
}

async fn her_own_password_opens_them_and_one_set_in_such_a_session_does_not(app: TestApp) {
    let (ann, _, letter) = ann(&app).await;
    let stranger = with_link(&app, &handed_link(&app, &ann).await).await;
    set_password(&stranger, "", "a password of another").await;
    assert!(!sees(&stranger, &letter).await);
    let field = [("password", "a password of another")];
    stranger
        .post("/settings/you/private", &field)
        .await
        .is(422)
        .shows("no password of yours that opens");
    let again = with_password(&app, "a password of another").await;
    assert!(!sees(&again, &letter).await);
    set_password(&again, "a password of another", "yet another password").await;
    assert!(!sees(&with_password(&app, "yet another password").await, &letter).await);

    let own = app.signed_in(&ann).await;
    set_password(&own, "yet another password", PASSWORD).await;
    assert!(sees(&with_password(&app, PASSWORD).await, &letter).await);
    let handed = with_link(&app, &handed_link(&app, &ann).await).await;
    assert!(!sees(&handed, &letter).await);
    let wrong = [("password", "wrong horse battery")];
    handed.post("/settings/you/private", &wrong).await.is(422).shows("not your password");
    assert!(!sees(&handed, &letter).await);
    handed.post("/settings/you/private", &[("password", PASSWORD)]).await.goes_to("/settings/you");
    assert!(sees(&handed, &letter).await);
    let reset = with_link(&app, &handed_link(&app, &ann).await).await;
    set_password(&reset, PASSWORD, "my new long password").await;
    assert!(sees(&reset, &letter).await, "who says the old password is its person");
}

async fn the_first_to_sign_in_is_taken_for_the_person_while_there_is_nothing_private(app: TestApp) {
    let bo = app.person("Bo").await;
    let first = with_link(&app, &handed_link(&app, &bo).await).await;
    let inbox = app.private_inbox(&bo).await;
    let letter_to_bo =
        app.deliver(&inbox, letter("kim@home.example", "Kitchen", "A kitchen for Bo")).await;
    assert!(sees(&first, &letter_to_bo).await);
    assert!(!sees(&with_link(&app, &handed_link(&app, &bo).await).await, &letter_to_bo).await);

    let cy = app.person("Cy").await;
    let inbox = app.private_inbox(&cy).await;
    let letter_to_cy =
        app.deliver(&inbox, letter("kim@home.example", "Kitchen", "A kitchen for Cy")).await;
    let late = with_link(&app, &handed_link(&app, &cy).await).await;
    assert!(!sees(&late, &letter_to_cy).await, "mail came before them");
    let operator = Actor::system(cy.ws, cy.workspace.clone(), Circle::team());
    let id = user(&cy);
    let link = app.act(&operator, move |tx, cx| sessions::make_recovery_link(tx, cx, &id)).await;
    let own = with_link(&app, link.strip_prefix(PUBLIC_URL).unwrap()).await;
    assert!(sees(&own, &letter_to_cy).await);
    let refused = app
        .app
        .act(&app.owner, move |tx, cx| sessions::make_recovery_link(tx, cx, &user(&cy)))
        .await;
    assert!(refused.is_err(), "only the operator of the machine makes such a link");
}

async fn a_link_that_is_mailed_to_the_person_opens_them(app: TestApp) {
    let app = app.with_mail();
    let (_, _, letter) = ann(&app).await;
    let browser = app.browser();
    browser.post("/sign-in-link", &[("email", "ann@acme.example")]).await.is(200);
    app.work().await;
    let link = sign_in::mailed_links(&app, "ann@acme.example").remove(0);
    assert!(sees(&with_link(&app, &link).await, &letter).await);
}

async fn a_new_password_ends_every_link_that_would_sign_in(app: TestApp) {
    let app = app.with_mail();
    let desk = app.signed_in(&app.owner).await;
    let handed = app.sign_in_link(&app.owner).await;
    app.browser().post("/sign-in-link", &[("email", "owner@acme.example")]).await.is(200);
    app.work().await;
    let mailed = sign_in::mailed_links(&app, "owner@acme.example").remove(0);
    let ann = app.person("Ann").await;
    let of_another = app.sign_in_link(&ann).await;
    set_password(&desk, "", PASSWORD).await;
    for link in [&handed, &mailed] {
        app.browser().get(link).await.is(404);
        app.browser().post(link, &[]).await.is(404);
    }
    app.browser().post(&of_another, &[]).await.goes_to("/");
}
