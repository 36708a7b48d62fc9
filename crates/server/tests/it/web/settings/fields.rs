//! Fields in the settings, and on the pages of conversations and contacts.

use base::actor::Role;

use crate::support::{TestApp, on_both};
use crate::web::browser::{Browser, Page};

on_both!(
    fields_are_added_and_removed_in_the_settings,
    a_conversation_has_a_form_of_its_fields,
    a_contact_has_a_form_of_its_fields
);

const PLACE: &str = "/settings/fields";

async fn add(browser: &Browser<'_>, key: &str, on: &str, kind: &str, choices: &str) -> Page {
    let form = [("key", key), ("on", on), ("type", kind), ("choices", choices)];
    browser.post(PLACE, &form).await
}

async fn fields_are_added_and_removed_in_the_settings(app: TestApp) {
    let bo = app.person_with("Bo", Role::Member).await;
    let (owner, member) = (app.signed_in(&app.owner).await, app.signed_in(&bo).await);
    member.get(PLACE).await.is(403);
    add(&member, "plan", "contact", "text", "").await.is(403);
    owner.get(PLACE).await.is(200).shows("No fields yet");
    add(&owner, "plan", "contact", "choice", "Free\r\nPro").await.goes_to(PLACE);
    let page = owner.get(PLACE).await.is(200);
    page.shows("Added.").shows("<code>plan</code>").shows("Free, Pro").shows("1 field");
    let page = add(&owner, "plan", "contact", "text", "").await.is(422);
    page.shows("There is a field “plan” already.").shows("value=\"plan\"");
    add(&owner, "size", "contact", "choice", "").await.is(422).shows("Name 1 to 50 choices.");
    add(&owner, "size", "contact", "sound", "").await.is(400);
    let remove = format!("{PLACE}/plan/remove");
    member.post(&remove, &[]).await.is(403);
    owner.post(&remove, &[]).await.goes_to(PLACE);
    owner.get(PLACE).await.is(200).shows("No fields yet");
    owner.post(&remove, &[]).await.is(404);
    owner.get("/settings/audit").await.is(200).shows("added the field").shows("removed the field");
}

async fn a_conversation_has_a_form_of_its_fields(app: TestApp) {
    let mail = app.mail("ann@x.example", "Lamp", "It is broken").await;
    let browser = app.signed_in(&app.owner).await;
    let path = format!("/conversations/{}", mail.conversation);
    let side = format!("{path}/side");
    browser.get(&side).await.is(200).hides("Save the fields");
    add(&browser, "order_no", "conversation", "reference", "").await.is(303);
    add(&browser, "items", "conversation", "number", "").await.is(303);
    browser.get(&side).await.is(200).shows("Order no").shows("Not set").shows("Save the fields");
    let form = format!("{path}/fields");
    let typed = [("f.order_no", "A-17"), ("f.items", "many")];
    let page = browser.post(&form, &typed).await.is(422);
    page.shows("must be a number").shows("value=\"many\"").shows("value=\"A-17\"");
    let typed = [("f.order_no", "A-17"), ("f.items", "2,5")];
    browser.post(&form, &typed).await.goes_to(&path);
    browser.get(&path).await.is(200).shows("set fields");
    browser.get(&side).await.is(200).shows("value=\"A-17\"").shows("value=\"2.5\"");
    // What somebody else changed meanwhile stays where this form changed nothing.
    let typed =
        [("f.items", "2.5"), ("was.items", "2.5"), ("f.order_no", ""), ("was.order_no", "A-17")];
    browser.post(&form, &typed).await.goes_to(&path);
    browser.get(&side).await.is(200).shows("value=\"2.5\"").hides("value=\"A-17\"");
    browser.get("/search?q=field.items%3E2").await.is(200).shows("Lamp");
    browser.get("/search?q=field.items%3C2").await.is(200).shows("No message says");
}

async fn a_contact_has_a_form_of_its_fields(app: TestApp) {
    app.mail("ann@x.example", "Lamp", "It is broken").await;
    let browser = app.signed_in(&app.owner).await;
    let page = "/contacts/ann@x.example";
    browser.get(page).await.is(200).hides("Save the fields");
    add(&browser, "site", "contact", "link", "").await.is(303);
    let form = format!("{page}/fields");
    browser
        .post(&form, &[("f.site", "javascript:alert(1)")])
        .await
        .is(422)
        .shows("must be an address");
    browser.post(&form, &[("f.site", "https://x.example/a")]).await.goes_to(page);
    let shown = browser.get(page).await.is(200);
    shown.shows("href=\"https://x.example/a\"").shows("The fields are saved.");
    browser.post("/contacts/nobody@x.example/fields", &[("f.site", "")]).await.is(404);
}
