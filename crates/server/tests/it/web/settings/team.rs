//! Removing people, renaming things, and the log of who changed what.

use base::actor::Role;
use serde_json::json;

use crate::support::*;

on_both!(
    somebody_who_is_removed_can_do_nothing_any_more,
    the_private_inbox_of_somebody_removed_is_closed_for_everybody,
    an_owner_is_removed_by_an_owner_and_nobody_by_themselves,
    a_tag_is_renamed_everywhere_or_merged_with_another,
    an_inbox_is_renamed_on_its_page,
    a_key_administers_only_when_that_is_ticked,
    the_audit_log_says_who_changed_what_and_hides_what_is_private,
    a_key_tells_when_it_was_last_used
);

async fn somebody_who_is_removed_can_do_nothing_any_more(app: TestApp) {
    let bo = app.person_with("Bo", Role::Admin).await;
    let bos = app.signed_in(&bo).await;
    let link = app.sign_in_link(&bo).await;
    let key = app.key_of(&bo, "Robo", "read write", true).await;
    let received = app.mail("ann@shop.example", "Lamps", "Hello").await;
    let closed = app.mail("cy@shop.example", "Chairs", "Hello").await;
    let to = format!("user:{}", user(&bo));
    for id in [&received.conversation, &closed.conversation] {
        app.on(&key, id, "assign", json!({ "to": to })).await.is(200);
    }
    app.on(&key, &closed.conversation, "status", json!({ "status": "closed" })).await.is(200);
    app.on(&key, &received.conversation, "notes", json!({ "body": "@Bo" })).await.is(201);
    let hook = app.webhook(&bo, false, true).await;
    let count = app.events().await.len();

    let owner = app.signed_in(&app.owner).await;
    let path = format!("/settings/people/{}/remove", user(&bo));
    owner.get("/settings/people").await.shows(&path);
    owner
        .get(&path)
        .await
        .is(200)
        .shows("Remove Bo Teammate?")
        .shows("Every key they made is revoked");
    owner.post(&path, &[]).await.goes_to("/settings/people");
    owner.get("/settings/people").await.hides("bo@acme.example").shows("Removed.");

    bos.get("/inbox?view=open").await.is(303);
    app.browser().post(&link, &[]).await.is(404);
    app.get(&key, "/me").await.is(401);
    owner.post(&path, &[]).await.is(404);
    let reader = app.key("read").await;
    for id in [&received.conversation, &closed.conversation] {
        let read = app.read(&reader, id).await;
        assert_eq!(read["assignee"], json!(null));
        assert!(!read["team"].to_string().contains("Bo Teammate"), "{read}");
    }
    assert_eq!(app.event_types_since(count).await, ["conversation.assigned"]);
    owner.get(&format!("/settings/webhooks/{hook}")).await.is(200).shows("Olive Owner");
    owner
        .get(&format!("/conversations/{}", received.conversation))
        .await
        .is(200)
        .shows("took this off");
    let again = [("name", "Bo"), ("email", "bo@acme.example"), ("role", "member")];
    owner.post("/settings/people", &again).await.is(200);
}

async fn the_private_inbox_of_somebody_removed_is_closed_for_everybody(app: TestApp) {
    let bo = app.person_with("Bo", Role::Admin).await;
    let inbox = app.private_inbox(&bo).await;
    let received = app.deliver(&inbox, letter("zed@shop.example", "Secrets", "Hello")).await;
    let key = app.key_of(&app.owner, "Reader", "read", true).await;
    let bos = app.signed_in(&bo).await;
    let reply = format!("/conversations/{}/reply", received.conversation);
    bos.post(&reply, &[("seen", "9"), ("to", "zed@shop.example"), ("body", "Soon")]).await.is(303);
    let hook = app.webhook(&bo, true, true).await;
    let owner = app.signed_in(&app.owner).await;
    owner
        .post(&format!("/settings/people/{}/remove", user(&bo)), &[])
        .await
        .goes_to("/settings/people");
    app.pass(20 * MINUTE).await;
    assert!(app.outside.relay.attempts().is_empty());
    owner.get(&format!("/conversations/{}", received.conversation)).await.is(404);
    owner.get(&format!("/settings/webhooks/{hook}")).await.is(404);
    app.get(&key, &format!("/conversations/{}", received.conversation)).await.is(404);
    let fields = [("name", "New"), ("address", inbox.address.as_str())];
    owner.post("/settings/inboxes", &fields).await.goes_to("/settings/inboxes");
    owner.get("/search?q=secrets").await.is(200).shows("No message says");
}

async fn an_owner_is_removed_by_an_owner_and_nobody_by_themselves(app: TestApp) {
    let ada = app.person_with("Ada", Role::Admin).await;
    let oscar = app.person_with("Oscar", Role::Owner).await;
    let bo = app.person("Bo").await;
    let remove = |person: &base::actor::Actor| format!("/settings/people/{}/remove", user(person));
    let (owner, admin, member) =
        (app.signed_in(&app.owner).await, app.signed_in(&ada).await, app.signed_in(&bo).await);
    admin.post(&remove(&oscar), &[]).await.is(403).shows("Only an owner can remove an owner");
    owner.post(&remove(&app.owner), &[]).await.is(403).shows("You cannot remove yourself");
    member.get(&remove(&ada)).await.is(403);
    member.post(&remove(&ada), &[]).await.is(403);
    owner.post(&remove(&oscar), &[]).await.goes_to("/settings/people");
    admin.post(&remove(&bo), &[]).await.goes_to("/settings/people");
    owner.get("/settings/people/usr_00000000000000000000000000/remove").await.is(404);
}

async fn a_tag_is_renamed_everywhere_or_merged_with_another(app: TestApp) {
    let key = app.key("read write").await;
    let mut ids = Vec::new();
    for (n, tags) in
        [json!(["late"]), json!(["late", "shipping"]), json!(["shipping"])].into_iter().enumerate()
    {
        let received = app.mail(&format!("c{n}@shop.example"), "Lamps", "Hello").await;
        app.on(&key, &received.conversation, "tags", json!({ "add": tags })).await.is(200);
        ids.push(received.conversation);
    }
    let browser = app.signed_in(&app.owner).await;
    let tags = app.get(&key, "/tags").await.is(200).json();
    let late = tags.as_array().unwrap().iter().find(|tag| tag["name"] == "late").unwrap()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let rename = format!("/settings/tags/{late}/rename");
    browser.post(&rename, &[("name", " ")]).await.is(422).shows("A tag has 1 to 40 characters");
    browser.post(&rename, &[("name", &"x".repeat(41))]).await.is(422);
    browser.post(&rename, &[("name", "Too  Late")]).await.goes_to("/settings/tags");
    assert_eq!(app.read(&key, &ids[1]).await["tags"], json!(["Too Late", "shipping"]));
    browser.get(&format!("/inbox?tag={late}")).await.is(200).shows("Too Late");
    browser.post(&rename, &[("name", "SHIPPING")]).await.goes_to("/settings/tags");
    let tags = app.get(&key, "/tags").await.is(200).json();
    assert_eq!(tags.as_array().unwrap().len(), 1);
    assert_eq!((&tags[0]["name"], &tags[0]["count"]), (&json!("shipping"), &json!(3)));
    for id in &ids {
        assert_eq!(app.read(&key, id).await["tags"], json!(["shipping"]));
    }
    browser.post(&rename, &[("name", "gone")]).await.is(404);
    let bo = app.person("Bo").await;
    let member = app.signed_in(&bo).await;
    let left = text_of(&tags[0], "id");
    member.post(&format!("/settings/tags/{left}/rename"), &[("name", "mine")]).await.is(403);
    member.get("/settings/tags").await.is(200).hides("Rename");
}

async fn an_inbox_is_renamed_on_its_page(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let path = format!("/settings/inboxes/{}", app.support.id);
    browser.get("/settings/inboxes").await.shows(&path);
    browser
        .get(&path)
        .await
        .is(200)
        .shows("support@acme.example")
        .shows("support+reference@acme.example");
    browser.post(&path, &[("name", "Help")]).await.goes_to(&path);
    browser.get(&path).await.shows("<h1>Help</h1>").shows("Renamed.");
    browser.post(&path, &[("name", " ")]).await.is(422).shows("Give the inbox a name");
    let bo = app.person("Bo").await;
    app.signed_in(&bo).await.post(&path, &[("name", "Mine")]).await.is(403);
}

async fn a_key_administers_only_when_that_is_ticked(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    let keys = "/settings/keys";
    owner.post(keys, &[("name", "Robo"), ("scope", "draft"), ("works", "live")]).await.is(200);
    let page = owner.get(keys).await.is(200);
    page.shows("Webhooks, and undoing").shows("value=\"admin\"").hides("read, administer");
    owner.post(keys, &[("name", "Ops"), ("scope", "admin"), ("works", "live")]).await.is(200);
    owner.get(keys).await.is(200).shows("read, administer");
}

async fn the_audit_log_says_who_changed_what_and_hides_what_is_private(app: TestApp) {
    let ada = app.person_with("Ada", Role::Admin).await;
    let (owner, admin) = (app.signed_in(&app.owner).await, app.signed_in(&ada).await);
    admin
        .post("/settings/keys", &[("name", "Ledger"), ("scope", "draft"), ("works", "live")])
        .await
        .is(200);
    let own = user(&ada).to_string();
    let fields =
        [("name", "Adas own"), ("address", "ada.own@acme.example"), ("private_to", own.as_str())];
    admin.post("/settings/inboxes", &fields).await.is(303);
    admin
        .post(
            "/settings/webhooks",
            &[("url", "https://private.example.com/x"), ("hears", "private")],
        )
        .await
        .is(200);
    owner.post("/settings/plan", &[("plan", "pro")]).await.is(303);
    owner.post(&format!("/settings/people/{own}/role"), &[("role", "owner")]).await.is(303);
    let page = owner.get("/settings/audit").await.is(200);
    page.shows("made the key <strong>Ledger</strong>")
        .shows("live, may read, draft")
        .shows("Ada Teammate");
    page.shows("changed the plan to <strong>pro</strong>")
        .shows("from admin to owner")
        .shows("The command line");
    page.hides("Adas own").hides("private.example.com");
    admin
        .get("/settings/audit")
        .await
        .is(200)
        .shows("Adas own")
        .shows("private.example.com")
        .shows("Ledger");
    let bo = app.person("Bo").await;
    let member = app.signed_in(&bo).await;
    member.get("/settings/audit").await.is(403);
    member.get("/settings/you").await.hides("/settings/audit");
    for n in 0..60 {
        let name = format!("Key {n:02}");
        app.key_of(&app.owner, &name, "read", true).await;
    }
    let page = owner.get("/settings/audit").await.is(200);
    page.shows("Key 59").hides("Key 05");
    let older = page.between("<p class=\"more\"><a class=\"btn\" href=\"", "\"").to_owned();
    owner.get(&older).await.is(200).shows("Key 05").hides("Key 59");
}

async fn a_key_tells_when_it_was_last_used(app: TestApp) {
    let key = app.key("read").await;
    let browser = app.signed_in(&app.owner).await;
    browser.get("/settings/keys").await.is(200).shows("<span class=\"quiet\">Never</span>");
    app.get(&key, "/me").await.is(200);
    eventually(async || !browser.get("/settings/keys").await.text.contains("Never")).await;
}
