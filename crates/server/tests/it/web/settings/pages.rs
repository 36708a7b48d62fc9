//! The settings pages.

use base::actor::Role;
use serde_json::json;

use crate::support::*;

on_both!(
    a_key_made_in_the_app_works_and_stops_when_revoked,
    a_webhook_shows_its_secret_once_and_refuses_private_addresses,
    people_are_added_with_a_link_and_roles_are_kept_in_order,
    members_look_but_do_not_change,
    a_page_that_the_menu_hides_refuses_members,
    inboxes_and_the_plan_are_changed_by_who_may
);

async fn a_key_made_in_the_app_works_and_stops_when_revoked(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let fields = [("name", "Ledger"), ("scope", "write"), ("works", "live")];
    let page = browser.post("/settings/keys", &fields).await.is(200);
    page.shows("Copy the key for Ledger now");
    let key = page
        .between("id=\"key\" tabindex=\"0\" role=\"group\" aria-label=\"Key for Ledger\">", "<")
        .to_owned();
    assert!(key.starts_with("rk_live_"), "{key}");
    let id = page.between("/settings/keys/agt_", "/revoke").to_owned();
    let key = TestKey { id: base::ids::AgentId::parse(&format!("agt_{id}")).unwrap(), key };
    let me = app.get(&key, "/me").await.is(200).json();
    assert_eq!(me["scopes"], json!(["read", "write"]));
    browser.get("/settings/keys").await.is(200).shows("Ledger").hides(&key.key);
    browser.post(&format!("/settings/keys/{}/revoke", key.id), &[]).await.goes_to("/settings/keys");
    app.get(&key, "/me").await.is(401);
    browser
        .post("/settings/keys", &[("name", " "), ("works", "live")])
        .await
        .is(422)
        .shows("Give the agent a name");
    browser.post("/settings/keys", &[("name", "X"), ("scope", "everything")]).await.is(400);
}

async fn a_webhook_shows_its_secret_once_and_refuses_private_addresses(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let fields = [("url", "https://hooks.example.com/in"), ("hears", "team")];
    let page = browser.post("/settings/webhooks", &fields).await.is(200);
    page.shows("whsec_").shows("https://hooks.example.com/in");
    browser
        .get("/settings/webhooks")
        .await
        .is(200)
        .hides("whsec_")
        .shows("https://hooks.example.com/in");
    for bad in
        ["http://example.com/", "https://127.0.0.1/", "https://inside.example.com/", "nonsense", ""]
    {
        browser
            .post("/settings/webhooks", &[("url", bad), ("hears", "team")])
            .await
            .is(422)
            .shows("The address must");
    }
}

async fn people_are_added_with_a_link_and_roles_are_kept_in_order(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let fields = [("name", "Ann Ames"), ("email", "ann@acme.example"), ("role", "admin")];
    let page = browser.post("/settings/people", &fields).await.is(200);
    let link =
        page.between("role=\"group\" aria-label=\"Sign-in link for Ann Ames\">", "<").to_owned();
    let link = link.strip_prefix(PUBLIC_URL).unwrap().to_owned();
    let ann = app.browser();
    ann.post(&link, &[]).await.goes_to("/");
    ann.remember_csrf().await;
    ann.get("/settings/you").await.shows("ann@acme.example, admin of Acme");

    browser
        .post("/settings/people", &fields)
        .await
        .is(422)
        .shows("is on the team")
        .shows("Ann Ames");
    let bad = [("name", ""), ("email", "nonsense"), ("role", "member")];
    browser
        .post("/settings/people", &bad)
        .await
        .is(422)
        .shows("not an e-mail address")
        .shows("Say their name");

    let owner = user(&app.owner);
    ann.post(&format!("/settings/people/{owner}/role"), &[("role", "member")]).await.is(403);
    ann.post(&format!("/settings/people/{owner}/link"), &[]).await.is(403);
    let more = [("name", "Eve"), ("email", "eve@acme.example"), ("role", "owner")];
    ann.post("/settings/people", &more).await.is(403);
    browser
        .post(&format!("/settings/people/{owner}/role"), &[("role", "member")])
        .await
        .is(400)
        .shows("only owner");
    browser
        .post("/settings/people/usr_00000000000000000000000000/role", &[("role", "member")])
        .await
        .is(404);
}

async fn members_look_but_do_not_change(app: TestApp) {
    let bo = app.person("Bo").await;
    let browser = app.signed_in(&bo).await;
    for path in [
        "/settings/people",
        "/settings/inboxes",
        "/settings/tags",
        "/settings/plan",
        "/settings/you",
    ] {
        browser.get(path).await.is(200).hides("Agents and keys");
    }
    browser.get("/settings/keys").await.is(403);
    browser.get("/settings/webhooks").await.is(403);
    let attempts: [(&str, &[(&str, &str)]); 5] = [
        ("/settings/keys", &[("name", "X"), ("works", "live")]),
        ("/settings/webhooks", &[("url", "https://example.com/"), ("hears", "team")]),
        ("/settings/people", &[("name", "X"), ("email", "x@acme.example"), ("role", "member")]),
        ("/settings/inboxes", &[("name", "X"), ("address", "x@acme.example")]),
        ("/settings/plan", &[("plan", "free")]),
    ];
    for (path, fields) in attempts {
        browser.post(path, fields).await.is(403);
    }
}

async fn a_page_that_the_menu_hides_refuses_members(app: TestApp) {
    let bo = app.person("Bo").await;
    let (owner, member) = (app.signed_in(&app.owner).await, app.signed_in(&bo).await);
    let menu = |text: &str| -> Vec<String> {
        let links = text.split("<a href=\"/settings/").skip(1);
        links.filter_map(|link| link.split('"').next()).map(str::to_owned).collect()
    };
    let of_owner = menu(&owner.get("/settings/tags").await.text);
    let of_member = menu(&member.get("/settings/tags").await.text);
    let hidden: Vec<_> = of_owner.iter().filter(|page| !of_member.contains(page)).collect();
    assert!(hidden.len() >= 3, "{hidden:?}");
    for page in hidden {
        let path = format!("/settings/{page}");
        owner.get(&path).await.is(200);
        member.get(&path).await.is(403).shows("Only an owner or an admin can do this.");
    }
}

async fn inboxes_and_the_plan_are_changed_by_who_may(app: TestApp) {
    let admin = app.person_with("Ada", Role::Admin).await;
    let browser = app.signed_in(&admin).await;
    let fields = [("name", "Billing"), ("address", "billing@acme.example")];
    browser.post("/settings/inboxes", &fields).await.goes_to("/settings/inboxes");
    browser.get("/settings/inboxes").await.shows("billing@acme.example").shows("The team");
    browser
        .post("/settings/inboxes", &fields)
        .await
        .is(422)
        .shows("This address is an inbox already");
    let own = user(&admin).to_string();
    let fields =
        [("name", "Ada"), ("address", "ada.own@acme.example"), ("private_to", own.as_str())];
    browser.post("/settings/inboxes", &fields).await.goes_to("/settings/inboxes");
    browser.get("/settings/inboxes").await.shows("You alone");
    app.signed_in(&app.owner).await.get("/settings/inboxes").await.hides("ada.own@acme.example");
    browser.post("/settings/plan", &[("plan", "free")]).await.is(403);
    let owner = app.signed_in(&app.owner).await;
    owner.post("/settings/plan", &[("plan", "free")]).await.goes_to("/settings/plan");
    let key = app.key("read").await;
    app.get(&key, "/me").await.is(403);
    owner.post("/settings/plan", &[("plan", "gold")]).await.is(400);
}
