//! The list of conversations.

use serde_json::json;

use crate::support::*;

on_both!(
    each_view_lists_what_the_api_lists_and_counts_it,
    a_row_is_marked_only_where_something_is_unusual,
    a_list_goes_on_page_by_page_without_gaps,
    held_mail_stands_under_held_until_a_person_releases_it,
    a_tag_lists_its_conversations_whatever_their_status,
    search_finds_what_the_api_finds,
    a_search_shows_the_others_when_one_conversation_cannot_be_read,
    mail_is_new_until_it_is_read,
    the_title_counts_what_waits_for_the_reader,
    what_customers_write_is_text_everywhere
);

async fn each_view_lists_what_the_api_lists_and_counts_it(app: TestApp) {
    let key = app.key("read write draft").await;
    let open = app.mail("ann@shop.example Ann Shop", "Lamps", "Where are they?").await;
    let mine = app.mail("bo@shop.example", "Chairs", "Two more please").await;
    let closed = app.mail("cy@shop.example", "Tables", "Thanks").await;
    let snoozed = app.mail("di@shop.example", "Shelves", "Later").await;
    let owner = format!("user:{}", user(&app.owner));
    app.on(&key, &mine.conversation, "assign", json!({ "to": owner })).await.is(200);
    app.on(&key, &closed.conversation, "status", json!({ "status": "closed" })).await.is(200);
    app.snooze(&app.owner, &snoozed.conversation, app.now() + HOUR).await;
    app.draft(&key, &open.conversation, "They left on Tuesday.").await;

    let browser = app.signed_in(&app.owner).await;
    browser.get("/").await.goes_to("/inbox?view=mine");
    let views = [
        ("open", vec!["Lamps", "Chairs"]),
        ("mine", vec!["Chairs"]),
        ("unassigned", vec!["Lamps"]),
        ("closed", vec!["Tables"]),
        ("snoozed", vec!["Shelves"]),
        ("waiting", vec![]),
        ("held", vec![]),
    ];
    for (view, subjects) in views {
        let page = browser.get(&format!("/inbox?view={view}")).await.is(200);
        for subject in ["Lamps", "Chairs", "Tables", "Shelves"] {
            let row = format!("class=\"row-subject\">{subject}</span>");
            assert_eq!(page.text.contains(&row), subjects.contains(&subject), "{view} {subject}");
        }
    }
    let page = browser.get("/inbox?view=open").await;
    page.shows("Draft to approve").shows("Ann Shop");
    assert_eq!(
        page.between("<span class=\"label\">To approve</span>", "</a>"),
        "<span class=\"count hot\">1</span>"
    );
    assert_eq!(
        page.between("<span class=\"label\">All open</span>", "</a>"),
        "<span class=\"count\">2</span>"
    );
    let inbox = format!("/inbox?mailbox={}", app.support.id);
    browser.get(&inbox).await.is(200).shows("Lamps").hides("Tables");
    browser.get("/inbox?view=nonsense").await.is(404);
    browser.get("/inbox?view=open&cursor=nonsense").await.is(400);
}

async fn a_row_is_marked_only_where_something_is_unusual(app: TestApp) {
    let key = app.key("read write draft").await;
    let received = app.mail("ann@shop.example Ann Shop", "Lamps", "Where are they?").await;
    let browser = app.signed_in(&app.owner).await;
    let list = "/inbox?view=open";
    browser.get(list).await.is(200).shows("row-snip").hides("row-marks");
    app.on(&key, &received.conversation, "sorting", json!({ "urgency": "high" })).await.is(200);
    app.draft(&key, &received.conversation, "They left on Tuesday.").await;
    let page = browser.get(list).await.is(200);
    let marks = page.between("<span class=\"row-marks\">", "</a>").to_owned();
    let first = marks.find("Draft to approve").unwrap();
    assert!(marks.find("High urgency").is_some_and(|second| first < second), "{marks}");
}

async fn a_list_goes_on_page_by_page_without_gaps(app: TestApp) {
    let mails =
        (0..65).map(|n| letter(&format!("p{n}@shop.example"), &format!("Letter {n:02}"), "Hello"));
    app.deliver_all(&app.support, mails.collect()).await;
    let browser = app.signed_in(&app.owner).await;
    let mut path = "/inbox?view=open".to_owned();
    let mut seen = Vec::new();
    for expected in [30, 30, 5] {
        let page = browser.get(&path).await.is(200);
        let subjects: Vec<String> = page
            .text
            .split("row-subject\">")
            .skip(1)
            .map(|rest| rest.split('<').next().unwrap().to_owned())
            .collect();
        assert_eq!(subjects.len(), expected);
        seen.extend(subjects);
        if expected == 30 {
            path =
                page.between("class=\"more\"><a class=\"btn\" href=\"", "\"").replace("&#38;", "&");
        }
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 65);
}

async fn held_mail_stands_under_held_until_a_person_releases_it(app: TestApp) {
    let mail =
        mail::Mail { warning: held_warning(), ..letter("eve@evil.example", "Prize", "Click") };
    let received = app.deliver(&app.support, mail).await;
    let browser = app.signed_in(&app.owner).await;
    browser.get("/inbox?view=held").await.is(200).shows("Prize").shows("Check before you act");
    let path = format!("/conversations/{}", received.conversation);
    let page = browser.get(&path).await.is(200);
    page.shows("Held: this is probably a scam").shows("The link leads elsewhere");
    let opening = page.between(" data-opens>", "</li>");
    assert!(opening.contains("autofocus") && opening.contains("id=\"risk\""), "{opening}");
    browser.post(&format!("{path}/release"), &[]).await.goes_to(&path);
    browser.get("/inbox?view=held").await.is(200).hides("Prize").shows("No suspicious mail");
}

async fn a_tag_lists_its_conversations_whatever_their_status(app: TestApp) {
    let key = app.key("read write").await;
    let open = app.mail("ann@shop.example", "Lamps", "Hello").await;
    let closed = app.mail("bo@shop.example", "Chairs", "Hello").await;
    app.mail("cy@shop.example", "Tables", "Hello").await;
    for received in [&open, &closed] {
        app.on(&key, &received.conversation, "tags", json!({ "add": ["shipping"] })).await.is(200);
    }
    app.on(&key, &closed.conversation, "status", json!({ "status": "closed" })).await.is(200);
    let tags: serde_json::Value = app.get(&key, "/tags").await.json();
    let browser = app.signed_in(&app.owner).await;
    let page = browser.get(&format!("/inbox?tag={}", text_of(&tags[0], "id"))).await.is(200);
    page.shows("Lamps").shows("Chairs").hides("Tables").shows("Closed");
    browser.get("/inbox?tag=tag_00000000000000000000000000").await.is(404);
}

async fn search_finds_what_the_api_finds(app: TestApp) {
    let key = app.key("read").await;
    app.mail("ann@shop.example", "Lamps", "The kiln was late").await;
    app.mail("bo@shop.example", "Chairs", "A late kilim").await;
    let browser = app.signed_in(&app.owner).await;
    for (q, found) in [("late kil", 2), ("\"kiln was\"", 1), ("KILN", 1), ("absent", 0)] {
        assert_eq!(app.search_subjects(&key, q).await.len(), found, "{q}");
        let page = browser.get(&format!("/search?{}", query(&[("q", q)]))).await.is(200);
        assert_eq!(page.text.matches("<p class=\"meta\">").count(), found, "{q}");
    }
    browser.get("/search?q=absent").await.shows("No message says “absent”");
    let long = query(&[("q", &"x".repeat(201))]);
    browser.get(&format!("/search?{long}")).await.is(200).shows("200");
    browser.get("/search").await.is(200).hides("Results");
}

async fn a_search_shows_the_others_when_one_conversation_cannot_be_read(app: TestApp) {
    for (from, subject) in [("ann", "Lamps"), ("bo", "Chairs"), ("cy", "Tables")] {
        app.mail(&format!("{from}@shop.example"), subject, "The kiln was late").await;
    }
    app.exec("UPDATE conversations SET tags = 'unreadable' WHERE subject = 'Chairs'").await;
    let browser = app.signed_in(&app.owner).await;
    let page = browser.get("/search?q=kiln").await.is(200);
    page.shows("Lamps").shows("Tables").hides("Chairs");
}

async fn mail_is_new_until_it_is_read(app: TestApp) {
    let received = app.mail("ann@shop.example", "Lamps", "Hello").await;
    let browser = app.signed_in(&app.owner).await;
    browser.get("/inbox?view=open").await.shows("class=\"row unread\"");
    browser.get(&format!("/conversations/{}", received.conversation)).await.is(200);
    app.app.background.finish().await;
    browser.get("/inbox?view=open").await.hides("class=\"row unread\"");
    app.advance(MINUTE);
    app.mail("ann@shop.example", "Re: Lamps", "Still here").await;
    browser.get("/inbox?view=open").await.shows("class=\"row unread\"");
    let page = browser.get(&format!("/conversations/{}", received.conversation)).await;
    page.shows("New since you were here");
}

async fn what_customers_write_is_text_everywhere(app: TestApp) {
    let bad = "<script>alert(1)</script>\"'&";
    let from = mail::Address::new(Some(bad), "eve@evil.example");
    let mail = mail::Mail { from, ..letter("eve@evil.example", bad, bad) };
    let received = app.deliver(&app.support, mail).await;
    let key = app.key("read write draft").await;
    app.draft(&key, &received.conversation, bad).await;
    app.on(&key, &received.conversation, "notes", json!({ "body": bad })).await.is(201);
    app.on(&key, &received.conversation, "tags", json!({ "add": ["<b>x"] })).await.is(200);
    let browser = app.signed_in(&app.owner).await;
    let conversation = format!("/conversations/{}", received.conversation);
    let found = format!("/search?{}", query(&[("q", "alert")]));
    for path in [
        "/inbox?view=open",
        &conversation,
        &format!("{conversation}?write=reply"),
        "/approvals",
        &found,
        "/contacts/eve@evil.example",
        "/settings/tags",
    ] {
        let page = browser.get(path).await.is(200);
        page.hides("<script>alert").hides("<b>x");
    }
}

async fn the_title_counts_what_waits_for_the_reader(app: TestApp) {
    let key = app.key("read write").await;
    let mail = app.mail("ann@shop.example", "Lamps", "Hello").await;
    let browser = app.signed_in(&app.owner).await;
    let page = browser.get("/inbox?view=open").await.is(200);
    page.shows("<title>All open · Mailroom</title>").hides("href=\"/assets/mark-news.");
    browser.get("/session?waiting").await.is(200).shows("\"waiting\":\"\"");
    let owner = format!("user:{}", user(&app.owner));
    app.on(&key, &mail.conversation, "assign", json!({ "to": owner })).await.is(200);
    let page = browser.get("/inbox?view=open").await.is(200);
    page.shows("<title>(1) All open · Mailroom</title>").shows("href=\"/assets/mark-news.");
    browser.get("/session?waiting").await.is(200).shows("\"waiting\":\"1\"");
    browser.get("/session").await.is(200).shows("\"waiting\":null");
}
