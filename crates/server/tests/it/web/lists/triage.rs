//! Acting on many conversations from the list, what opens after an act, and search with operators.

use serde_json::json;

use crate::support::*;

on_both!(
    rows_are_ticked_acted_on_and_undone_without_script,
    after_an_act_the_next_conversation_opens_or_the_list,
    a_merge_is_chosen_on_a_page_and_undone_from_the_timeline,
    ticked_rows_become_one_conversation_and_are_taken_apart_again,
    ticked_rows_are_merged_all_or_none,
    a_search_shows_what_it_found_and_opens_there,
    a_search_is_saved_as_a_view_of_ones_own_or_the_teams
);

async fn rows_are_ticked_acted_on_and_undone_without_script(app: TestApp) {
    let mails = (0..35).map(|n| letter(&format!("c{n}@x.example"), &format!("Mail {n:02}"), "Hi"));
    let filed = app.deliver_all(&app.support, mails.collect()).await;
    let browser = app.signed_in(&app.owner).await;
    let page = browser.get("/inbox?view=open").await.is(200);
    page.shows("name=\"c\" value=\"cnv_").shows("name=\"act\" value=\"close\"");
    let ids: Vec<String> = filed.iter().map(|mail| mail.conversation.to_string()).collect();
    let list = ("from", "view=open");
    let fields = [("act", "close"), ("c", &ids[0]), ("c", &ids[1]), list];
    browser.post("/triage", &fields).await.goes_to("/inbox?view=open");
    let page = browser.get("/inbox?view=open").await.is(200);
    page.shows("Closed 2 conversations.").shows("Undo");
    let undo = page.between("name=\"undo\" value=\"", "\"").to_owned();
    browser.post("/undo", &[("undo", undo.as_str()), list]).await.goes_to("/inbox?view=open");
    browser.get("/inbox?view=open").await.is(200).shows("Undone.").hides("action=\"/undo\"");
    // All that match, not only this page.
    browser.post("/triage", &[("act", "spam"), ("all", "on"), list]).await.is(303);
    browser.get("/inbox?view=open").await.shows("Moved 35 conversations to the spam.");
    browser.get("/inbox?view=spam").await.is(200).shows("value=\"restore\"");
    let fields = [("act", "restore"), ("all", "on"), ("from", "view=spam")];
    browser.post("/triage", &fields).await.goes_to("/inbox?view=spam");
    browser.get("/inbox?view=spam").await.is(200).shows("No spam").shows("Restored 35");
    browser.post("/triage", &[("act", "close"), list]).await.is(400).shows("Tick one");
    browser.post("/triage", &[("act", "odd"), ("c", &ids[0]), list]).await.is(400);
    browser
        .post("/triage", &[("act", "tag"), ("tag", "Urgent"), ("c", &ids[0]), list])
        .await
        .is(303);
    browser.get("/inbox?view=open").await.shows("Tagged.");
    browser.get("/inbox?view=open&sort=oldest").await.is(200).shows("Oldest first");
    browser.get("/inbox?view=open&sort=odd").await.is(404);
}

async fn after_an_act_the_next_conversation_opens_or_the_list(app: TestApp) {
    let mut ids = Vec::new();
    for subject in ["Third", "Second", "First"] {
        app.advance(MINUTE);
        ids.push(app.mail("a@x.example", subject, "Hi").await.conversation.to_string());
    }
    let browser = app.signed_in(&app.owner).await;
    let close = |id: &str| format!("/conversations/{id}/status");
    let fields = [("status", "closed"), ("from", "view=open")];
    let next = format!("/conversations/{}?view=open", ids[1]);
    browser.post(&close(&ids[2]), &fields).await.goes_to(&next);
    browser.get(&next).await.is(200).shows("Closed. New mail").shows("action=\"/undo\"");
    browser.post("/triage/opens", &[("list", "on")]).await.is(303);
    browser.post(&close(&ids[1]), &fields).await.goes_to("/inbox?view=open");
    let page = browser.get(&format!("/conversations/{}?view=open", ids[0])).await.is(200);
    page.shows("Spam, and block the sender").shows("Mark unread");
    let fields = [("act", "delete"), ("c", ids[0].as_str()), ("from", "view=open")];
    browser.post("/triage", &fields).await.goes_to("/inbox?view=open");
    let page = browser.get(&format!("/conversations/{}?view=trash", ids[0])).await.is(200);
    page.shows("Take it out of the trash");
}

async fn a_search_shows_what_it_found_and_opens_there(app: TestApp) {
    let key = app.key("write").await;
    let mail = app.mail("ann@x.example Ann", "Lamp", "You owe 1.240,50 EUR by Friday").await;
    app.on(&key, &mail.conversation, "notes", json!({ "body": "He phoned about tulips" }))
        .await
        .is(201);
    let browser = app.signed_in(&app.owner).await;
    let page = browser.get("/search?q=from%3Aann+1240.50").await.is(200);
    page.shows("<mark>1.240,50</mark>").shows("Message, Ann");
    page.shows(&format!("/conversations/{}#{}", mail.conversation, mail.message));
    let page = browser.get("/search?q=tulips").await.is(200);
    page.shows("<mark>tulips</mark>").shows("Note, ").shows("#not_");
    browser.get("/search?q=from%3Abob").await.is(200).shows("No message says");
    browser.get("/search").await.is(200).shows("All operators").shows("data-word=\"is:unread\"");
}

async fn a_search_is_saved_as_a_view_of_ones_own_or_the_teams(app: TestApp) {
    let ines = app.person("Ines").await;
    let (browser, other) = (app.signed_in(&app.owner).await, app.signed_in(&ines).await);
    let own = [("name", "Mine alone"), ("q", "from:ann is:open")];
    browser.post("/views", &own).await.goes_to("/search?q=from%3Aann+is%3Aopen");
    let team = [("name", "For us"), ("q", "has:note"), ("team", "on")];
    browser.post("/views", &team).await.is(303);
    browser.post("/views", &[("name", ""), ("q", "x")]).await.is(400).shows("Give the view a name");
    let page = browser.get("/inbox?view=open").await.is(200);
    page.shows("Mine alone").shows("For us").shows("/search?q=from%3Aann+is%3Aopen");
    other.get("/inbox?view=open").await.is(200).hides("Mine alone").shows("For us");
    let page = browser.get("/search?q=from%3Aann+is%3Aopen").await.is(200);
    let view = page.between("name=\"view\" value=\"", "\"").to_owned();
    let fields = [("view", view.as_str()), ("q", "x")];
    other.post("/views/remove", &fields).await.is(404);
    browser.post("/views/remove", &fields).await.is(303);
    browser.get("/inbox?view=open").await.is(200).hides("Mine alone").shows("For us");
}

async fn a_merge_is_chosen_on_a_page_and_undone_from_the_timeline(app: TestApp) {
    let target = app.mail("ann@x.example Ann", "Lamp", "Broken").await.conversation.to_string();
    let source = app.mail("ann@x.example Ann", "Carrier", "Lost").await.conversation.to_string();
    app.mail("bob@y.example Bob", "Chair", "Wobbly").await;
    let browser = app.signed_in(&app.owner).await;
    let (old, new) = (format!("/conversations/{source}"), format!("/conversations/{target}"));
    browser.get(&old).await.is(200).shows("data-key=\"M\"");
    let page = browser.get(&format!("{old}/merge")).await.is(200);
    page.shows("Others with Ann").shows("Lamp").hides("Chair");
    browser.get(&format!("{old}/merge?q=chair")).await.is(200).shows("Chair").hides("Lamp");
    browser.get(&format!("{old}/merge?q=nothing")).await.is(200).shows("Nothing found");
    browser.post(&format!("{old}/merge"), &[("into", target.as_str())]).await.goes_to(&new);
    let page = browser.get(&new).await.is(200);
    page.shows("Merged. The old link leads here.").shows("merged the conversation").shows("Lost");
    browser.get(&old).await.is(303);
    let undone = [("source", source.as_str())];
    browser.post(&format!("{new}/unmerge"), &undone).await.goes_to(&new);
    browser.get(&new).await.is(200).hides("Undo the merge").shows("undid a merge");
    browser.get(&old).await.is(200).shows("Lost").shows("undid a merge");
    browser.post(&format!("{new}/unmerge"), &undone).await.is(404);
}

async fn ticked_rows_become_one_conversation_and_are_taken_apart_again(app: TestApp) {
    let mut ids = Vec::new();
    for subject in ["Lamp", "Carrier", "Chair"] {
        ids.push(app.mail("ann@x.example Ann", subject, "Hi").await.conversation.to_string());
        app.advance(MINUTE);
    }
    let browser = app.signed_in(&app.owner).await;
    let page = browser.get("/inbox?view=open").await.is(200);
    page.shows("name=\"act\" value=\"merge\"").shows("type=\"reset\"").shows("#i-unread");
    let (act, list) = (("act", "merge"), ("from", "view=open"));
    let fields = [act, ("c", ids[2].as_str()), ("c", &ids[0]), ("c", &ids[1]), list];
    browser.post("/triage", &fields).await.goes_to("/inbox?view=open");
    let page = browser.get("/inbox?view=open").await.is(200);
    page.shows("Merged 3 conversations into the oldest of them.").shows("Undo");
    for id in &ids[1..] {
        browser.get(&format!("/conversations/{id}")).await.is(303);
    }
    let undo = page.between("name=\"undo\" value=\"", "\"").to_owned();
    browser.post("/undo", &[("undo", undo.as_str()), list]).await.goes_to("/inbox?view=open");
    browser.get("/inbox?view=open").await.is(200).shows("Undone.").hides("action=\"/undo\"");
    for id in &ids {
        browser.get(&format!("/conversations/{id}")).await.is(200);
    }
    browser.post("/triage", &[act, ("c", &ids[1]), ("c", &ids[2]), list]).await.is(303);
    let page = browser.get("/inbox?view=open").await.is(200);
    page.shows("Merged 2 conversations into the older one.").shows("Lamp").shows("Carrier");
    browser.get(&format!("/conversations/{}", ids[2])).await.is(303);
    // Somebody else's list still showed both.
    browser.post("/triage", &[act, ("c", &ids[1]), ("c", &ids[2]), list]).await.is(303);
    browser.get("/inbox?view=open").await.is(200).shows("Nothing was changed: it was so already");
}

async fn ticked_rows_are_merged_all_or_none(app: TestApp) {
    let mut ids = Vec::new();
    for subject in ["Lamp", "Carrier"] {
        ids.push(app.mail("ann@x.example Ann", subject, "Hi").await.conversation.to_string());
        app.advance(MINUTE);
    }
    let sales = app.team_inbox("sales@acme.example", "Sales").await;
    let offer = app.deliver(&sales, letter("ann@x.example", "Offer", "How much?")).await;
    let ines = app.person("Ines").await;
    let private = app.private_inbox(&ines).await;
    let mine = app.deliver(&private, letter("ann@x.example", "Mine", "Private")).await;
    let (offer, mine) = (offer.conversation.to_string(), mine.conversation.to_string());
    let browser = app.signed_in(&app.owner).await;
    let (act, list) = (("act", "merge"), ("from", "view=open"));
    for (other, why) in [
        (&offer, "“Offer” is in another inbox than the oldest of them"),
        (&mine, "One of them is not there any more, or you cannot see it."),
    ] {
        let fields = [act, ("c", ids[0].as_str()), ("c", &ids[1]), ("c", other), list];
        let page = browser.post("/triage", &fields).await.is(400);
        page.shows(why).shows("Nothing was changed.").hides("Mine");
    }
    let few = "Tick two conversations or more to merge them.";
    browser.post("/triage", &[act, list]).await.is(400).shows(few);
    browser.post("/triage", &[act, ("c", &ids[0]), list]).await.is(400).shows(few);
    let mails = (0..30).map(|n| letter(&format!("c{n}@x.example"), &format!("Mail {n:02}"), "Hi"));
    app.deliver_all(&app.support, mails.collect()).await;
    let page = browser.post("/triage", &[act, ("all", "on"), list]).await.is(400);
    page.shows("Tick at most 20 conversations to merge them.");
    browser.post("/settings/you/language", &[("language", "de")]).await.is(303);
    let fields = [act, ("c", ids[0].as_str()), ("c", &ids[1]), ("c", &offer), list];
    let page = browser.post("/triage", &fields).await.is(400);
    page.shows("„Offer“ liegt in einem anderen Posteingang als die älteste davon");
    for id in &ids {
        browser.get(&format!("/conversations/{id}")).await.is(200);
    }
}
