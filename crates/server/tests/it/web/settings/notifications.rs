//! The page on which people choose what they are told of, and the browsers that tell them.

use crate::support::*;

on_both!(
    one_chooses_what_one_is_told_of_in_every_inbox_and_in_one,
    digests_and_quiet_hours_are_kept_and_mistakes_are_named,
    a_browser_is_subscribed_listed_and_removed_by_its_person,
    an_address_that_may_not_be_called_is_refused,
    a_test_notice_is_sent_from_the_page
);

const HERE: &str = "/settings/notifications";
const KEY: &str =
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
const AUTH: &str = "BTBZMqHH6r4Tts7J_aSIgg";

async fn one_chooses_what_one_is_told_of_in_every_inbox_and_in_one(app: TestApp) {
    let bo = app.person("Bo").await;
    let browser = app.signed_in(&bo).await;
    let page = browser.get(HERE).await.is(200);
    page.shows("Somebody mentions me in a note").shows("No browser gets notices yet");
    let mail = |name: &str| {
        let select = format!("name=\"mail-{name}\"");
        let page = page.text.split(&select).nth(1).unwrap().split("</select>").next().unwrap();
        page.split("\" selected").next().unwrap().rsplit('"').next().unwrap().to_owned()
    };
    assert_eq!((mail("mentioned"), mail("assigned")), ("at-once".into(), "no".into()));
    let chosen = [("mail-assigned", "digest"), ("browser-reply", "on"), ("mail-odd", "at-once")];
    browser.post(HERE, &chosen).await.goes_to(HERE);
    let page = browser.get(HERE).await.is(200);
    assert_eq!(page.text.matches("value=\"digest\" selected").count(), 1);
    assert_eq!(page.text.matches("value=\"at-once\" selected").count(), 0);
    page.shows("As everywhere");
    let inbox = format!("{HERE}/inboxes/{}", app.support.id);
    browser.get(&inbox).await.is(200).shows("As everywhere (In the digest)");
    let own = [("mail-new-conversation", "at-once"), ("browser-reply", "no")];
    browser.post(&inbox, &own).await.goes_to(HERE);
    browser.get(HERE).await.is(200).shows("Something else");
    let page = browser.get(&inbox).await.is(200);
    assert_eq!(page.text.matches(" selected").count(), 2);
    browser.post(&inbox, &[]).await.goes_to(HERE);
    browser.get(HERE).await.is(200).hides("Something else");
}

async fn digests_and_quiet_hours_are_kept_and_mistakes_are_named(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let how = format!("{HERE}/how");
    let good = [
        ("names", "on"),
        ("digest", "hourly"),
        ("digest_time", "09:30"),
        ("zone", "Europe/Berlin"),
        ("quiet", "on"),
        ("quiet_from", "21:15"),
        ("quiet_to", "06:45"),
        ("quiet_days", "mon"),
        ("quiet_days", "sun"),
    ];
    browser.post(&how, &good).await.goes_to(HERE);
    let page = browser.get(HERE).await.is(200);
    page.shows("value=\"09:30\"").shows("value=\"21:15\"").shows("value=\"06:45\"");
    page.shows("value=\"Europe/Berlin\" selected").shows("value=\"hourly\" checked");
    page.shows("value=\"mon\" checked").hides("value=\"tue\" checked");
    let bad = [
        ("digest", "weekly"),
        ("digest_time", "nine"),
        ("zone", "Moon/Base"),
        ("quiet", "on"),
        ("quiet_from", "25:00"),
        ("quiet_to", ""),
    ];
    let page = browser.post(&how, &bad).await.is(422);
    page.shows("This is no time zone.").shows("daily at a time such as 08:00");
    page.shows("begin and end at times").shows("Choose the days").shows("value=\"25:00\"");
    browser.get(HERE).await.is(200).shows("value=\"09:30\"");
}

async fn a_browser_is_subscribed_listed_and_removed_by_its_person(app: TestApp) {
    let (bo, cy) = (app.person("Bo").await, app.person("Cy").await);
    let (one, other) = (app.signed_in(&bo).await, app.signed_in(&cy).await);
    let key = one.post(&format!("{HERE}/key"), &[]).await.is(200);
    assert!(key.text.starts_with("{\"key\":\"B"), "{}", key.text);
    let given = [("endpoint", "https://push.example/1"), ("p256dh", KEY), ("auth", AUTH)];
    let browsers = format!("{HERE}/browsers");
    one.post(&browsers, &given).await.goes_to(HERE);
    let page = one.get(HERE).await.is(200);
    page.shows("This one").hides("data-subscribe>").hides("push.example");
    let id = format!("psh_{}", page.between("/browsers/psh_", "/remove"));
    let remove = format!("{browsers}/{id}/remove");
    other.post(&remove, &[]).await.is(404);
    other.post(&format!("{browsers}/psh_0/remove"), &[]).await.is(404);
    one.post(&remove, &[]).await.goes_to(HERE);
    one.get(HERE).await.is(200).shows("No browser gets notices yet");
    one.post(&remove, &[]).await.is(404);
    let worker = one.get("/service-worker.js").await.is(200);
    worker.shows("showNotification");
    let headers = worker.answer.header_list();
    assert!(
        headers
            .iter()
            .any(|(name, value)| name == "content-type" && value.starts_with("text/javascript")),
        "{headers:?}"
    );
}

async fn an_address_that_may_not_be_called_is_refused(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let browsers = format!("{HERE}/browsers");
    for endpoint in ["http://push.example/1", "https://127.0.0.1/1", "https://10.0.0.1/", "x", ""] {
        let given = [("endpoint", endpoint), ("p256dh", KEY), ("auth", AUTH)];
        browser.post(&browsers, &given).await.is(422).shows("push service cannot be used");
    }
    let given = [("endpoint", "https://push.example/1"), ("p256dh", AUTH), ("auth", KEY)];
    browser.post(&browsers, &given).await.is(422).shows("push service cannot be used");
    browser.get(HERE).await.is(200).shows("No browser gets notices yet");
}

async fn a_test_notice_is_sent_from_the_page(app: TestApp) {
    let bo = app.person("Bo").await;
    let browser = app.signed_in(&bo).await;
    let given = [("endpoint", "https://push.example/1"), ("p256dh", KEY), ("auth", AUTH)];
    browser.post(&format!("{HERE}/browsers"), &given).await.goes_to(HERE);
    browser.post(&format!("{HERE}/test"), &[]).await.goes_to(HERE);
    browser.get(HERE).await.is(200).shows("A test notice is on its way");
    app.work().await;
    let mails = app.outside.relay.attempts();
    assert!(mails.iter().any(|mail| mail.recipients == ["bo@acme.example"]));
    assert_eq!(app.outside.push_service.requests().len(), 1);
    browser.get(HERE).await.is(200).hides("not yet");
}
