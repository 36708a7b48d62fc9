//! The pages of a suspended workspace: its people read why, guests that it is closed for now. And forms of one without
//! room.

use actions::inboxes::contact_forms::add_contact_form;
use actions::workspace::help_site::set_help_site;
use actions::workspace::suspension;
use base::actor::{Actor, Circle};
use base::limits::FORM_LEAST_MS;
use contact_forms::form_texts::FormTexts;
use contact_forms::{ContactFormInput, FormProof};
use knowledge::help_site::HelpSiteInput;

use crate::support::*;

on_both!(
    people_of_a_suspended_workspace_read_why_on_every_page,
    guests_of_a_suspended_workspace_read_that_it_is_closed_for_now,
    a_workspace_without_room_takes_no_form_in_and_keeps_the_words
);

const REASON: &str = "The bill of May is open.";

fn operator(app: &TestApp) -> Actor {
    Actor::system(app.owner.ws, app.owner.workspace.clone(), Circle::team())
}

async fn suspend(app: &TestApp) {
    app.act(&operator(app), |tx, cx| suspension::suspend(tx, cx, REASON)).await;
}

async fn people_of_a_suspended_workspace_read_why_on_every_page(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    suspend(&app).await;
    for path in ["/inbox", "/settings/plan", "/search?q=lamp"] {
        browser.get(path).await.is(403).shows("This workspace is suspended").shows(REASON);
    }
    app.act(&operator(&app), suspension::resume).await;
    browser.get("/inbox").await.is(200);
}

async fn contact_form(app: &TestApp) {
    let input = ContactFormInput {
        mailbox: app.support.id.clone(),
        slug: "contact".into(),
        title: "Write to us".into(),
        intro: String::new(),
        thanks: "Thank you".into(),
        fields: Vec::new(),
        sites: Vec::new(),
        tag: String::new(),
        proof: FormProof::Never,
        texts: FormTexts::default(),
    };
    app.act(&app.owner, move |tx, cx| add_contact_form(tx, cx, &input)).await;
}

async fn guests_of_a_suspended_workspace_read_that_it_is_closed_for_now(app: TestApp) {
    contact_form(&app).await;
    let site = HelpSiteInput { is_open: true, language: "en".into(), form: String::new() };
    app.act(&app.owner, move |tx, cx| set_help_site(tx, cx, &site)).await;
    let guest = app.browser();
    for path in ["/f/contact", "/help"] {
        guest.get(path).await.is(200);
    }
    suspend(&app).await;
    for path in ["/f/contact", "/help"] {
        let page = guest.get(path).await.is(503);
        page.shows("Closed for now");
        assert!(!page.text.contains(REASON), "{path}");
    }
}

async fn a_workspace_without_room_takes_no_form_in_and_keeps_the_words(app: TestApp) {
    contact_form(&app).await;
    let guest = app.browser();
    let page = guest.get("/f/contact").await.is(200);
    app.advance(FORM_LEAST_MS);
    let typed = [
        ("made", page.between("name=\"made\" value=\"", "\"")),
        ("name", "Ann Shopper"),
        ("email", "ann@shop.example"),
        ("message", "Where is my order?"),
    ];
    let (ws, limit) = (app.owner.ws, "INSERT INTO workspace_limits (ws, what, hard) VALUES");
    app.exec(&format!("{limit} ({ws}, 'messages', 0)")).await;
    guest.post_bare("/f/contact", &typed).await.is(503).shows("Where is my order?");
    assert_eq!(app.count("messages").await, 0);
    app.exec("DELETE FROM workspace_limits").await;
    guest.post_bare("/f/contact", &typed).await.is(303);
    assert_eq!(app.count("messages").await, 1);
}
