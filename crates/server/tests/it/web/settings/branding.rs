//! Logo and colour: chosen by owners and admins, seen by customers.

use actions::workspace::customer_page::set_customer_page;
use base::actor::Role;
use customers::CustomerPageMode;
use serde_json::json;
use testing::{LOGO, LOGO_COMMENT};

use crate::support::*;
use crate::web::writing::compose::upload;

on_both!(
    only_owners_and_admins_choose_logo_and_colour,
    what_is_no_logo_or_no_colour_is_refused_and_changes_nothing,
    pages_of_customers_have_logo_and_colour,
    a_logo_and_a_colour_are_taken_back
);

const PLACE: &str = "/settings/branding";
const FILE: (&str, &str, &[u8]) = ("logo.png", "image/png", LOGO);

async fn only_owners_and_admins_choose_logo_and_colour(app: TestApp) {
    let bo = app.person_with("Bo", Role::Member).await;
    let (owner, member) = (app.signed_in(&app.owner).await, app.signed_in(&bo).await);
    member.get(PLACE).await.is(403);
    upload(&member, PLACE, &[("colour", "#7a4a12")], &[FILE]).await.is(403);
    owner.get(PLACE).await.is(200).shows("Logo and colour").hides("/brand/");
    upload(&owner, PLACE, &[("colour", "#F2C14E")], &[FILE]).await.goes_to(PLACE);
    let page = owner.get(PLACE).await.is(200);
    page.shows("The colour is darkened").shows("#f2c14e became #").shows("class=\"logo\"");
    owner.get("/settings/audit").await.is(200).shows("changed logo and colour:");
}

async fn what_is_no_logo_or_no_colour_is_refused_and_changes_nothing(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let svg: (&str, &str, &[u8]) = ("logo.svg", "image/svg+xml", b"<svg onload='x()'/>");
    let page = upload(&browser, PLACE, &[("colour", "#7a4a12")], &[svg]).await.is(422);
    page.shows("An SVG cannot be the logo. Save it as a PNG").shows("value=\"#7a4a12\"");
    let gif: (&str, &str, &[u8]) = ("logo.gif", "image/gif", b"GIF89a");
    let page = upload(&browser, PLACE, &[], &[gif]).await.is(422);
    page.shows("The logo must be a PNG or JPEG file.");
    let page = upload(&browser, PLACE, &[("colour", "red;}")], &[]).await.is(422);
    page.shows("Write the colour with six digits such as #0b5c61.");
    assert_eq!(app.count("brandings").await, 0);
}

async fn pages_of_customers_have_logo_and_colour(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    upload(&owner, PLACE, &[("colour", "#7a4a12")], &[FILE]).await.goes_to(PLACE);
    let key = app.key("read send").await;
    let mail = app.mail("ann@shop.example Ann", "Lamps", "Hello").await;
    let body = json!({ "body": "Hi", "send": true, "documents": [{ "label": "Passport" }] });
    app.on(&key, &mail.conversation, "replies", body).await.is(201);
    let text = app.column("SELECT text FROM messages WHERE direction = 'outbound'").await;
    let link = format!("/u/{}", text.split_once("/u/").unwrap().1.trim());
    let browser = app.browser();
    app.act(&app.owner, |tx, cx| set_customer_page(tx, cx, CustomerPageMode::On)).await;
    for path in [link.as_str(), "/sign-in", "/me/acme"] {
        let page = browser.get(path).await.is(200);
        page.shows("<link rel=\"stylesheet\" href=\"/brand/7a4a12.css\">");
        page.shows("<img class=\"logo\" src=\"/brand/");
    }
    let page = browser.get(&link).await;
    let logo = browser.get(page.between("class=\"logo\" src=\"", "\"")).await.is(200);
    assert_eq!(logo.answer.header("content-type"), "image/png");
    logo.hides(LOGO_COMMENT);
    let sheet = browser.get("/brand/7a4a12.css").await.is(200);
    assert_eq!(sheet.answer.header("content-type"), "text/css; charset=utf-8");
    sheet.shows("--accent:light-dark(#7a4a12,");
    for path in ["/brand/7a4a1.css", "/brand/red.css", "/brand/00.png", "/brand/7a4a12"] {
        browser.get(path).await.is(404);
    }
}

async fn a_logo_and_a_colour_are_taken_back(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    upload(&browser, PLACE, &[("colour", "#7a4a12"), ("in_mail", "yes")], &[FILE])
        .await
        .goes_to(PLACE);
    let page = browser.get(PLACE).await.is(200);
    let logo = page.between("class=\"logo\" src=\"", "\"").to_owned();
    upload(&browser, PLACE, &[("colour", "")], &[]).await.goes_to(PLACE);
    browser.get(&logo).await.is(200);
    upload(&browser, PLACE, &[("colour", ""), ("remove", "yes")], &[]).await.goes_to(PLACE);
    browser.get(&logo).await.is(404);
    app.browser().get("/sign-in").await.is(200).hides("/brand/");
}
