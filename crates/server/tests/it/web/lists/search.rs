//! What stands above the results of a search: the parts of the query, how many were found, and what the
//! conversations contain.

use serde_json::json;

use crate::support::*;

on_both!(
    the_link_of_a_part_leads_to_the_search_without_it,
    a_search_that_found_nothing_can_be_made_wider,
    the_first_page_says_how_many_were_found,
    what_is_not_counted_to_the_end_is_at_least_so_many,
    what_conversations_contain_is_asked_for_by_a_link,
    what_looks_like_an_operator_and_is_none_is_said
);

fn found_at(q: &str) -> String {
    format!("/search?{}", query(&[("q", q)]))
}

/// The link that removes a part, as the page has it.
fn removal(part: &str, rest: &str) -> String {
    let name = part.replace('"', "&#34;");
    format!("<a href=\"{}\" aria-label=\"Remove {name}\">", found_at(rest))
}

async fn the_link_of_a_part_leads_to_the_search_without_it(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let q = "from:ann \"late fee\" -broken tag:\"two words\" lamp";
    let page = browser.get(&found_at(q)).await.is(200);
    page.shows("<code class=\"k\">from</code>").shows("<code class=\"k\">tag</code>");
    for (part, rest) in [
        ("from:ann", "\"late fee\" -broken tag:\"two words\" lamp"),
        ("\"late fee\"", "from:ann -broken tag:\"two words\" lamp"),
        ("-broken", "from:ann \"late fee\" tag:\"two words\" lamp"),
        ("tag:\"two words\"", "from:ann \"late fee\" -broken lamp"),
        ("lamp", "from:ann \"late fee\" -broken tag:\"two words\""),
    ] {
        page.shows(&removal(part, rest));
    }
    page.shows("<a class=\"btn plain s\" href=\"/search\">Clear all</a>");
    let filtered = query(&[("q", "lamp chair"), ("view", "open"), ("cursor", "")]);
    let page = browser.get(&format!("/search?{filtered}")).await.is(200);
    page.shows("href=\"/search?q=chair&#38;view=open\" aria-label=\"Remove lamp\"");
    let bad = browser.get(&found_at("<b>x")).await.is(200);
    bad.hides("<b>x").shows("aria-label=\"Remove &#60;b&#62;x\"");
    browser.get("/search").await.is(200).hides("Parts of the search").hides("Save as view");
}

async fn a_search_that_found_nothing_can_be_made_wider(app: TestApp) {
    app.mail("ann@x.example", "Lamp", "Broken").await;
    let browser = app.signed_in(&app.owner).await;
    let page = browser.get(&found_at("broken absent")).await.is(200);
    page.shows("No message says").shows(&removal("absent", "broken")).shows("Save as view");
    browser.get(&found_at("broken")).await.is(200).shows("Lamp").hides("Clear all");
}

async fn the_first_page_says_how_many_were_found(app: TestApp) {
    let mails =
        (0..23).map(|n| letter(&format!("c{n}@x.example"), &format!("Mail {n:02}"), "kiln"));
    app.deliver_all(&app.support, mails.collect()).await;
    app.mail("ann@x.example", "Lamp", "A samovar").await;
    let browser = app.signed_in(&app.owner).await;
    browser.get(&found_at("samovar")).await.is(200).shows("<h2>1 conversation</h2>");
    browser.get(&found_at("from:c1@x.example kiln")).await.is(200).shows("<h2>1 conversation</h2>");
    let page = browser.get(&found_at("kiln")).await.is(200);
    page.shows("<h2>23 conversations</h2>");
    let older =
        page.between("<p class=\"more\"><a class=\"btn\" href=\"", "\"").replace("&#38;", "&");
    let page = browser.get(&older).await.is(200);
    page.shows("Mail ").hides("<h2>23 conversations</h2>").hides("At least");
    browser.get(&found_at("is:open")).await.is(200).shows("<h2>24 conversations</h2>");
    browser.get(&found_at("kiln is:closed")).await.is(200).hides("conversations</h2>");
}

async fn what_is_not_counted_to_the_end_is_at_least_so_many(app: TestApp) {
    let mails =
        (0..23).map(|n| letter(&format!("c{n}@x.example"), &format!("Mail {n:02}"), "kiln"));
    app.deliver_all(&app.support, mails.collect()).await;
    let browser = app.signed_in(&app.owner).await;
    // The beginning of a word, a word that must not be there and a test on each conversation.
    for q in ["kil", "-samovar", "is:unread"] {
        let page = browser.get(&found_at(q)).await.is(200);
        page.shows("<h2>At least 20 conversations</h2>");
    }
}

async fn what_conversations_contain_is_asked_for_by_a_link(app: TestApp) {
    let key = app.key("write").await;
    let noted = app.mail("ann@x.example", "Lamp", "A samovar").await;
    app.mail("bo@x.example", "Chair", "A samovar").await;
    app.on(&key, &noted.conversation, "notes", json!({ "body": "He phoned" })).await.is(201);
    let browser = app.signed_in(&app.owner).await;
    let link = |q: &str, state: &str, label: &str| {
        format!("<a href=\"{}\"{state}>{label}</a>", found_at(q))
    };
    let on = " aria-current=\"true\"";
    let page = browser.get(&found_at("samovar")).await.is(200);
    page.shows("Lamp").shows("Chair").shows(&link("samovar", on, "Everything"));
    page.shows(&link("has:note samovar", "", "With notes"));
    let page = browser.get(&found_at("has:note samovar")).await.is(200);
    page.shows("Lamp").hides("Chair").shows(&link("samovar", on, "With notes"));
    page.shows(&link("samovar", "", "Everything"));
    page.shows(&link("has:attachment has:note samovar", "", "With files"));
}

async fn what_looks_like_an_operator_and_is_none_is_said(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let page = browser.get(&found_at("is:foo before:gestern lamp")).await.is(200);
    for typed in ["is:foo", "before:gestern"] {
        page.shows(&format!("{typed} is no operator with such a value"));
    }
    let page = browser.get(&found_at("is:open before:2026-11-30 http://x.example")).await.is(200);
    page.hides("is no operator with such a value");
}
