//! The page of a contact, blocked senders, and what a reader keeps on top or follows.

use crate::support::*;

on_both!(
    a_contact_is_reached_from_conversation_list_and_search,
    addresses_are_merged_and_separated_on_the_page,
    notes_are_written_and_deleted_on_the_page,
    a_contact_is_blocked_on_the_page_and_unblocked_in_the_settings,
    everything_with_a_contact_goes_on_behind_older,
    a_conversation_is_pinned_and_followed_by_its_menu_and_undone,
    what_is_pinned_stands_on_top_of_the_readers_lists
);

const PAGE: &str = "/contacts/gia@wines.example";

async fn a_contact_is_reached_from_conversation_list_and_search(app: TestApp) {
    let mail = app.mail("gia@wines.example Gia Pellegrini", "Cellar", "Rent is due").await;
    app.mail("enzo@wines.example Enzo", "Corks", "Hello").await;
    let browser = app.signed_in(&app.owner).await;
    let link = format!("href=\"{PAGE}\"");
    browser.get(&format!("/conversations/{}", mail.conversation)).await.is(200).shows(&link);
    browser.get("/inbox?view=open").await.is(200).shows(&link);
    browser.get("/search?q=pelleg").await.is(200).shows(&link).shows("People");
    let page = browser.get(PAGE).await.is(200);
    page.shows("<h1 dir=\"auto\">Gia Pellegrini</h1>").shows("Cellar").shows("Rent is due");
    page.shows("Others at wines.example").shows("/contacts/enzo@wines.example");
    page.shows("/new?to=gia%40wines%2Eexample").hides("Takes part in");
    browser.get("/new?to=gia%40wines%2Eexample").await.is(200).shows("gia@wines.example");
    browser.get("/contacts/Gia%40Wines.Example").await.is(200);
    browser.get("/contacts/nobody@wines.example").await.is(404);
    browser.get(&format!("{PAGE}?cursor=odd")).await.is(400);
}

async fn addresses_are_merged_and_separated_on_the_page(app: TestApp) {
    app.mail("gia@wines.example Gia", "Cellar", "One").await;
    app.mail("gia@post.example", "Carnet", "Two").await;
    let browser = app.signed_in(&app.owner).await;
    let merge = format!("{PAGE}/merge");
    let page = browser.post(&merge, &[("with", "nobody@post.example")]).await.is(422);
    page.shows("There is no mail of this address that you can see.").shows("nobody@post.example");
    browser.post(&merge, &[("with", " GIA@post.example")]).await.goes_to(PAGE);
    let page = browser.get(PAGE).await.is(200);
    page.shows("Merged.").shows("Cellar").shows("Carnet").shows("<code>gia@post.example</code>");
    browser.get("/contacts/gia@post.example").await.goes_to(PAGE);
    browser.post(&merge, &[("with", "gia@post.example")]).await.is(422).shows("same contact");
    let separate = format!("{PAGE}/separate");
    browser.post(&separate, &[("email", "enzo@post.example")]).await.is(404);
    browser.post(&separate, &[("email", "gia@post.example")]).await.goes_to(PAGE);
    browser.get(PAGE).await.is(200).shows("Separated.").hides("Carnet");
    browser.get("/contacts/gia@post.example").await.is(200).shows("Carnet");
    browser.get("/settings/audit").await.is(200).shows("merged the contact").shows("separated");
}

async fn notes_are_written_and_deleted_on_the_page(app: TestApp) {
    app.mail("gia@wines.example Gia", "Cellar", "One").await;
    let bo = app.person("Bo").await;
    let (owner, member) = (app.signed_in(&app.owner).await, app.signed_in(&bo).await);
    let add = format!("{PAGE}/notes");
    owner.post(&add, &[("body", "  ")]).await.is(422).shows("Write 1 to 2,000 characters.");
    owner.post(&add, &[("body", "Prefers <b>calls</b>.")]).await.goes_to(PAGE);
    let page = member.get(PAGE).await.is(200);
    page.shows("Prefers &#60;b&#62;calls&#60;/b&#62;.").shows("Olive Owner").hides("/delete");
    let page = owner.get(PAGE).await.is(200);
    let note = page.between(&format!("{add}/"), "/delete").to_owned();
    member.post(&format!("{add}/{note}/delete"), &[]).await.is(403);
    owner.post(&format!("{add}/{note}/delete"), &[]).await.goes_to(PAGE);
    owner.get(PAGE).await.is(200).hides("Prefers");
}

async fn a_contact_is_blocked_on_the_page_and_unblocked_in_the_settings(app: TestApp) {
    app.mail("gia@wines.example Gia", "Cellar", "One").await;
    let browser = app.signed_in(&app.owner).await;
    browser.get("/settings/blocked").await.is(200).shows("Nobody is blocked");
    browser.post(&format!("{PAGE}/block"), &[]).await.goes_to(PAGE);
    browser.get(PAGE).await.is(200).shows("goes to the spam at once").shows("/unblock");
    app.mail("gia@wines.example", "Again", "Two").await;
    browser.get("/inbox?view=spam").await.is(200).shows("Again");
    browser.get("/settings/blocked").await.is(200).shows("gia@wines.example").shows("Olive Owner");
    let fields = [("email", "gia@wines.example")];
    browser.post("/settings/blocked", &fields).await.goes_to("/settings/blocked");
    browser.get("/settings/blocked").await.is(200).shows("Nobody is blocked");
    browser.post("/settings/blocked", &fields).await.is(404);
    browser.post(&format!("{PAGE}/unblock"), &[]).await.is(404);
}

async fn everything_with_a_contact_goes_on_behind_older(app: TestApp) {
    let mails = (0..35).map(|n| letter("gia@wines.example Gia", &format!("Mail {n:02}"), "Hi"));
    for mail in mails {
        app.advance(MINUTE);
        app.deliver(&app.support, mail).await;
    }
    let browser = app.signed_in(&app.owner).await;
    let page = browser.get(PAGE).await.is(200);
    page.shows("<b>35</b>").shows("Mail 34").shows("Mail 05").hides("Mail 04");
    let next = page.between(&format!("href=\"{PAGE}?cursor="), "\"").to_owned();
    let page = browser.get(&format!("{PAGE}?cursor={next}")).await.is(200);
    page.shows("Mail 04").shows("Mail 00").hides("Mail 05");
}

async fn a_conversation_is_pinned_and_followed_by_its_menu_and_undone(app: TestApp) {
    let mail = app.mail("gia@wines.example Gia", "Cellar", "One").await;
    let path = format!("/conversations/{}?view=open", mail.conversation);
    let watch = format!("/conversations/{}/watch", mail.conversation);
    let browser = app.signed_in(&app.owner).await;
    for (act, done, undoing) in [
        ("pin", "Pinned. It stays on top of your lists.", "Unpin"),
        ("follow", "You follow it.", "Unfollow"),
    ] {
        browser.post(&watch, &[("act", act), ("from", "view=open")]).await.goes_to(&path);
        let page = browser.get(&path).await.is(200);
        page.shows(done).shows(undoing);
        let undo = page.between("name=\"undo\" value=\"", "\"").to_owned();
        browser.post("/undo", &[("undo", undo.as_str()), ("from", "view=open")]).await.is(303);
        browser.get(&path).await.is(200).shows("Undone.").hides(undoing);
    }
    browser.post(&watch, &[("act", "odd")]).await.is(400);
    browser.post("/settings/you/following", &[("mentions", "on")]).await.is(303);
    let page = browser.get("/settings/you").await.is(200);
    page.shows("Follow every conversation in which a note mentions me");
}

async fn what_is_pinned_stands_on_top_of_the_readers_lists(app: TestApp) {
    let mut ids = Vec::new();
    for n in 0..35 {
        app.advance(MINUTE);
        let mail = app.mail(&format!("c{n}@x.example"), &format!("Mail {n:02}"), "Hi").await;
        ids.push(mail.conversation.to_string());
    }
    let browser = app.signed_in(&app.owner).await;
    browser.get("/inbox?view=open").await.is(200).hides("Mail 00");
    let fields = [("act", "pin"), ("c", &ids[0]), ("from", "view=open")];
    browser.post("/triage", &fields).await.goes_to("/inbox?view=open");
    let page = browser.get("/inbox?view=open").await.is(200);
    page.shows("Pinned</span>");
    let (first, second) = (page.text.find("Mail 00").unwrap(), page.text.find("Mail 34").unwrap());
    assert!(first < second);
    let next = page.between("href=\"/inbox?view=open&#38;cursor=", "\"").to_owned();
    let page = browser.get(&format!("/inbox?view=open&cursor={next}")).await.is(200);
    page.shows("Mail 04").hides("Mail 00");
    let bo = app.person("Bo").await;
    app.signed_in(&bo).await.get("/inbox?view=open").await.is(200).hides("Mail 00");
}
