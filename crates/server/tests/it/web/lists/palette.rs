//! The command palette: what it finds by a few letters, for whom, and the search page that shows places without it.

use base::actor::Role;
use serde_json::Value;

use crate::support::*;
use crate::web::browser::Browser;

on_both!(
    a_few_letters_find_people_and_conversations,
    of_words_that_much_mail_has_the_latest_conversations_are_found,
    an_order_number_leads_to_its_conversation,
    operators_are_words_in_the_palette,
    the_palette_finds_nothing_of_others,
    places_are_lists_pages_and_the_settings_that_the_reader_may_open,
    without_a_script_the_search_page_leads_to_the_places_that_fit,
    the_keys_of_the_palette_are_in_the_sheet_of_keys
);

/// The entries under one of the two headings, as text and address.
async fn find(browser: &Browser<'_>, q: &str, heading: &str) -> Vec<(String, String)> {
    let page = browser.get(&format!("/palette?{}", query(&[("q", q)]))).await.is(200);
    let groups: Value = serde_json::from_str(&page.text).unwrap();
    let group = groups.as_array().unwrap().iter().find(|group| group["title"] == heading).unwrap();
    let word = |entry: &Value, name: &str| entry[name].as_str().unwrap().to_owned();
    let entries = group["entries"].as_array().unwrap().iter();
    entries.map(|entry| (word(entry, "text"), word(entry, "href"))).collect()
}

async fn titles(browser: &Browser<'_>, q: &str) -> Vec<String> {
    find(browser, q, "Conversations").await.into_iter().map(|(text, _)| text).collect()
}

async fn a_few_letters_find_people_and_conversations(app: TestApp) {
    let mail = app.mail("giulia@wines.example Giulia Pellegrini", "Broken lamps", "Hello").await;
    app.mail("bo@x.example", "Chairs", "Nothing else").await;
    let browser = app.signed_in(&app.owner).await;
    let here = format!("/conversations/{}", mail.conversation);
    for q in ["lam", "broken la", "pelle", "LAMPS"] {
        assert_eq!(
            find(&browser, q, "Conversations").await,
            [("Broken lamps".to_owned(), here.clone())],
            "{q}"
        );
    }
    let giulia = ("Giulia Pellegrini".to_owned(), "/contacts/giulia@wines.example".to_owned());
    assert_eq!(find(&browser, "pelle", "People").await, [giulia]);
    for nothing in ["l", "zzz"] {
        assert_eq!(titles(&browser, nothing).await, Vec::<String>::new(), "{nothing}");
        assert_eq!(find(&browser, nothing, "People").await, []);
    }
    assert_eq!(app.browser().get("/palette?q=lam").await.status, 303);
}

async fn of_words_that_much_mail_has_the_latest_conversations_are_found(app: TestApp) {
    let mails =
        (0..12).map(|n| letter(&format!("c{n}@x.example"), &format!("Kiln {n:02}"), "clay"));
    app.deliver_all(&app.support, mails.collect()).await;
    app.advance(1_000);
    app.mail("ann@x.example", "Latest", "clay of the kiln").await;
    let browser = app.signed_in(&app.owner).await;
    let found = titles(&browser, "clay kil").await;
    assert_eq!((found.len(), found[0].as_str()), (8, "Latest"));
}

async fn an_order_number_leads_to_its_conversation(app: TestApp) {
    let tagged = mail::Mail {
        delivered_to: "support+order-77@acme.example".into(),
        ..letter("ann@x.example", "Where is it?", "Hello")
    };
    app.deliver(&app.support, tagged).await;
    app.mail("bo@x.example", "Chairs", "Hello").await;
    let browser = app.signed_in(&app.owner).await;
    assert_eq!(titles(&browser, "Order-77").await, ["Where is it?"]);
}

async fn operators_are_words_in_the_palette(app: TestApp) {
    app.mail("ann@x.example", "Lamp", "Is it open?").await;
    let browser = app.signed_in(&app.owner).await;
    assert_eq!(titles(&browser, "is:closed").await, Vec::<String>::new());
    assert_eq!(titles(&browser, "-lamp").await, ["Lamp"], "a minus excludes nothing");
}

async fn the_palette_finds_nothing_of_others(app: TestApp) {
    let (ann, bo) = (app.person("Ann").await, app.person("Bo").await);
    let private = app.private_inbox(&ann).await;
    app.deliver(&private, letter("zed@hidden.example Zed Hidden", "Secret lamps", "Hush")).await;
    let (own, other) = (app.signed_in(&ann).await, app.signed_in(&bo).await);
    assert_eq!(titles(&own, "secret").await, ["Secret lamps"]);
    assert_eq!(find(&own, "zed", "People").await.len(), 1);
    for q in ["secret", "hush", "zed"] {
        assert_eq!(titles(&other, q).await, Vec::<String>::new());
        assert_eq!(find(&other, q, "People").await, []);
    }
    own.get("/palette").await.is(200).shows("\"Private\"");
    other.get("/palette").await.is(200).hides("\"Private\"");
}

async fn places_are_lists_pages_and_the_settings_that_the_reader_may_open(app: TestApp) {
    let bo = app.person_with("Bo", Role::Member).await;
    let (owner, member) = (app.signed_in(&app.owner).await, app.signed_in(&bo).await);
    for browser in [&owner, &member] {
        let page = browser.get("/palette").await.is(200);
        for href in ["/inbox?view=mine", "/inbox?view=trash", "/reports", "/settings/replies"] {
            page.shows(&format!("\"href\":\"{href}\""));
        }
        page.shows("Passkeys · Authenticator app · Recovery codes");
    }
    owner
        .get("/palette")
        .await
        .is(200)
        .shows("\"/settings/webhooks\"")
        .shows("\"/settings/audit\"");
    let page = member.get("/palette").await.is(200);
    page.hides("\"/settings/webhooks\"").hides("\"/settings/audit\"");
    let places: Value = serde_json::from_str(&page.text).unwrap();
    for place in places.as_array().unwrap() {
        let href = place["href"].as_str().unwrap();
        let status = member.get(href).await.status;
        assert!(status < 400, "{href}: {status}");
    }
}

async fn without_a_script_the_search_page_leads_to_the_places_that_fit(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let page = browser.get("/search?q=passkey").await.is(200);
    page.shows("Go to").shows("<a href=\"/settings/sign-in\" dir=\"auto\">Signing in</a>");
    let page = browser.get("/search?q=web").await.is(200);
    page.shows("<a href=\"/settings/webhooks\" dir=\"auto\">Webhooks</a>");
    browser.get("/search?q=samovar").await.is(200).hides("places-h");
    let member = app.signed_in(&app.person("Bo").await).await;
    member.get("/search?q=web").await.is(200).hides("dir=\"auto\">Webhooks</a>");
}

async fn the_keys_of_the_palette_are_in_the_sheet_of_keys(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let page = browser.get("/keyboard").await.is(200);
    page.shows("Any conversation, person, list, setting or act")
        .shows("<kbd>Ctrl</kbd><kbd>K</kbd>");
    let script = browser.get("/assets/palette.js").await.is(200);
    script.shows("combobox").shows("listbox").hides("innerHTML");
}
